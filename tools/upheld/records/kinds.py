"""The kinds of record there are: one explicit table, no discovery."""

from __future__ import annotations

from upheld.records.adr import Adr
from upheld.records.assumption import Assumption
from upheld.records.deployment import Deployment
from upheld.records.device import Device
from upheld.records.model import Model
from upheld.records.policy import Policy
from upheld.records.run import Run
from upheld.records.snapshot import Snapshot
from upheld.records.source import Source
from upheld.records.types import Record

KINDS: dict[str, type[Record]] = {
    "adr": Adr,
    "model": Model,
    "device": Device,
    "deployment": Deployment,
    "run": Run,
    "policy": Policy,
    "source": Source,
    "assumption": Assumption,
    "snapshot": Snapshot,
}
