"""kubectl get nodes -o json: what devices nodes say that they have, one row a node.

The product is a label that NVIDIA's GPU feature discovery sets. A product that is shared or cut
into instances (`-SHARED`, `-MIG-1g.10gb`) is not a whole device and is no device of an envelope.
"""

from __future__ import annotations

from upheld.measured import kubernetes_objects
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.printed import exact, shown
from upheld.measured.reading import Reading, Row

NAME = "kubernetes-nodes"
TOOL = "kubectl"
TITLE = "kubectl get nodes: JSON"

_LABELS = {
    "driver": "nvidia.com/cuda.driver-version.full",
    "driver_major": "nvidia.com/cuda.driver.major",
    "device_memory_mib": "nvidia.com/gpu.memory",
    "mig_strategy": "nvidia.com/mig.strategy",
    "sharing": "nvidia.com/gpu.sharing-strategy",
    "machine_type": "node.kubernetes.io/instance-type",
}


def recognise(content: Content) -> bool:
    """A node, or a list of nothing but nodes."""
    return kubernetes_objects.all_of_kind(content, "Node")


def read(content: Content) -> Reading:
    """One row a node."""
    rows = tuple(_row(draft) for draft in kubernetes_objects.drafts(content))
    return Reading(rows)


def _row(draft: RowDraft) -> Row:
    product = draft.text("metadata", "labels", "nvidia.com/gpu.product")
    if product is not None:
        if product.endswith("-SHARED") or "-MIG-" in product:
            draft.stated["product"] = f"{shown(product)}: a part of a device"
        else:
            draft.envelope["device"] = shown(product)
    for where in ("capacity", "allocatable"):
        for resource, amount in kubernetes_objects.devices(draft.get("status", where)):
            draft.stated[f"{where}_of_{resource}"] = shown(amount)
    count = exact(draft.text("status", "capacity", "nvidia.com/gpu") or "")
    if isinstance(count, int) and count > 0 and "device" in draft.envelope:
        draft.envelope["device_count"] = count
    for name, label in _LABELS.items():
        if fact := draft.text("metadata", "labels", label):
            draft.stated[name] = shown(fact)
    info = ("status", "nodeInfo")
    for name, key in (("kubelet", "kubeletVersion"), ("runtime", "containerRuntimeVersion"),
                      ("kernel", "kernelVersion")):  # fmt: skip
        if fact := draft.text(*info, key):
            draft.stated[name] = shown(fact)
    if system := draft.text(*info, "osImage"):
        draft.envelope["operating_system"] = shown(system)
    axes = ("device", "device_count", "operating_system")
    return draft.finish(tuple(axis for axis in axes if axis not in draft.envelope))
