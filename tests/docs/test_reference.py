"""The reference pages say what the code says."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from fake_nvml import Card, FakeNvml
from markdown_blocks import BASE, DOCS, ROOT, blocks_of, corpus_with, table_of
from upheld.corpus.config import Config, read_config
from upheld.corpus.load import load
from upheld.judge.judge import judge_corpus
from upheld.measured.capture.capture_file import CAPTURE
from upheld.measured.capture.captured import Wanted, capture
from upheld.measured.capture.execution import Stops
from upheld.measured.capture.gpu_sampling import QUANTITIES
from upheld.measured.formats import FORMATS
from upheld.records.adr import Option
from upheld.records.claim import Axes, Claim
from upheld.records.formulas import FORMULAS
from upheld.records.kinds import KINDS
from upheld.records.mapping import Mapping, Samples
from upheld.records.metrics import BASES, METRICS, OPEN
from upheld.records.types import Part
from upheld.records.verdicts import BLOCKING, VERDICTS

RECORDS = (DOCS / "reference" / "records.md").read_text("utf-8")
METRICS_PAGE = (DOCS / "reference" / "metrics.md").read_text("utf-8")
CONFIGURATION = (DOCS / "reference" / "configuration.md").read_text("utf-8")
ARCHITECTURE = (DOCS / "contributing" / "architecture.md").read_text("utf-8")

PARTS: dict[str, type[Part]] = {
    **{f"## {kind}": model for kind, model in KINDS.items()},
    "### Option": Option,
    "## Claim": Claim,
    "## Axes": Axes,
    "### Mapping": Mapping,
    "### Samples": Samples,
}


def below(page: str, heading: str) -> str:
    _, found, rest = page.partition(f"\n{heading}\n")
    assert found, f"there is no {heading!r}"
    return re.split(r"^##", rest, maxsplit=1, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("heading", PARTS)
def test_the_fields_of_a_record_are_listed_with_those_that_it_needs(heading: str) -> None:
    listed = {row[0].strip("`"): row[2] for row in table_of(below(RECORDS, heading), "field")}
    fields = PARTS[heading].model_fields
    assert listed == {name: "yes" if field.is_required() else "" for name, field in fields.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_each_kind_is_one(kind: str) -> None:
    (example,) = blocks_of(below(RECORDS, f"## {kind}"))
    assert example.text.startswith(f"kind: {kind}\n")
    assert example.path
    # The rule pages stand beside these records, so what a reader sees here is what is there.
    if kind != "snapshot":
        assert example.text == (BASE / example.path).read_text("utf-8")


def test_the_examples_of_records_are_clean_together(tmp_path: Path) -> None:
    frozen = blocks_of((DOCS / "rules" / "UPH803.md").read_text("utf-8"))
    decision = [block for block in frozen if block.path and block.path.startswith("adrs/")][:1]
    judged = judge_corpus(load(corpus_with(blocks_of(RECORDS) + decision, tmp_path)))
    assert judged.findings == []


def test_every_metric_is_listed_with_the_bases_that_may_carry_it() -> None:
    listed = table_of(METRICS_PAGE, "metric")
    assert listed == [
        [
            f"`{metric.name}`",
            metric.title,
            metric.unit or "",
            "" if metric.better == "neither" else metric.better,
            "yes" if metric.distribution else "",
            ", ".join(basis for basis in BASES if basis in metric.shown_by),
        ]
        for metric in METRICS.values()
    ]
    assert all(metric.bases - metric.shown_by == OPEN for metric in METRICS.values())


def test_every_basis_is_listed() -> None:
    listed = [row[0].strip("`") for row in table_of(METRICS_PAGE, "basis")]
    assert listed == list(BASES)


@pytest.mark.parametrize("page", ["README.md", "docs/verdicts.md"])
def test_every_verdict_is_listed_with_whether_it_blocks(page: str) -> None:
    rows = table_of((ROOT / page).read_text("utf-8"), "verdict")
    listed = {row[0].strip("`"): row[2].startswith("yes") for row in rows}
    assert listed == {verdict: verdict in BLOCKING for verdict in VERDICTS}


def test_the_examples_of_configuration_are_read_alike(tmp_path: Path) -> None:
    found = []
    for block in blocks_of(CONFIGURATION):
        if block.path:
            root = tmp_path / block.path.removesuffix(".toml")
            root.mkdir()
            (root / block.path).write_text(block.text, "utf-8")
            found.append(read_config(root))
    assert len(found) == 2
    assert found[0] == found[1] != Config()


def test_the_defaults_of_configuration_are_as_stated() -> None:
    default = Config()
    listed = {row[0].strip("`"): row[1].strip("`") for row in table_of(CONFIGURATION, "key")}
    stated = {key: tomllib.loads(f"value = {text}")["value"] for key, text in listed.items()}
    assert stated == {
        "records": list(default.records),
        "gate.accepted": sorted(default.accepted),
        "gate.proposed": sorted(default.proposed),
    }


def test_the_options_of_the_plug_in_are_listed() -> None:
    from upheld.site.plugin import UpheldConfig

    listed = [row[0].strip("`") for row in table_of(CONFIGURATION, "option")]
    assert listed == [name for name, _ in UpheldConfig._schema]


def test_every_room_is_described_in_the_order_of_imports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    wanted = [
        {room.strip().removeprefix("upheld.") for room in layer.split("|")} for layer in layers
    ]
    described = [set(re.findall(r"\w+", row[0])) for row in table_of(ARCHITECTURE, "room")]
    assert described == wanted


def test_every_dependency_has_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    page = (DOCS / "contributing" / "dependencies.md").read_text("utf-8")
    listed = {row[0].strip("`"): row[1] for row in table_of(page, "package")}
    assert list(listed) == [re.match(r"[\w.-]+", each)[0] for each in wanted]  # type: ignore[index]
    assert all(listed.values())


def test_every_extra_has_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    page = (DOCS / "contributing" / "dependencies.md").read_text("utf-8")
    listed = {(row[0].strip("`"), row[1].strip("`")): row[2] for row in table_of(page, "extra")}
    assert set(listed) == {
        (extra, re.split("[<>=]", wanted)[0])
        for extra, packages in project["optional-dependencies"].items()
        for wanted in packages
    }
    assert all(listed.values())


@pytest.mark.parametrize("page", ["architecture.md", "dependencies.md", "index.md"])
def test_every_module_that_a_contributor_is_sent_to_exists(page: str) -> None:
    text = (DOCS / "contributing" / page).read_text("utf-8")
    for path in re.findall(r"`([\w/]+(?:\.py|/))`", text):
        assert any((root / path).exists() for root in (ROOT, ROOT / "tools" / "upheld")), path


def test_every_raw_file_format_is_named() -> None:
    for page in (DOCS / "reference" / "command-line.md", DOCS / "rules" / "UPH501.md"):
        text = page.read_text("utf-8")
        assert all(f"`{name}`" in text for name in FORMATS)


def test_every_formula_is_listed_with_its_inputs() -> None:
    rows = table_of(below(RECORDS, "### Derived figures"), "formula")
    assert [row[0].strip("`") for row in rows] == list(FORMULAS)
    for row, formula in zip(rows, FORMULAS.values(), strict=True):
        assert re.findall(r"`(\w+)`", row[1]) == list(formula.inputs)
        assert row[2] == formula.words


def test_every_key_of_a_capture_is_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(Card()))
    wanted = Wanted([sys.executable, "-c", ""], tmp_path, engine_url="http://127.0.0.1:1")
    with Stops() as stops:
        capture(wanted, tmp_path, stops)
    (shape,) = blocks_of(below(RECORDS, "### capture.json"))
    described = set(re.findall(r'"(\w+)"', shape.text)) | set(QUANTITIES)
    assert keys_of(json.loads((tmp_path / CAPTURE).read_text("utf-8"))) <= described


def keys_of(value: object) -> set[str]:
    """Every key but the names of variables."""
    if isinstance(value, list):
        return {key for each in value for key in keys_of(each)}
    if not isinstance(value, dict):
        return set()
    inner = (keys_of(each) for name, each in value.items() if name != "environment")
    return set(value).union(*inner)
