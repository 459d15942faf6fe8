"""Objects as kubectl prints them in JSON: one, or a list of them."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.printed import shown

_DEVICES = ("nvidia.com/", "amd.com/gpu", "gpu.intel.com/", "google.com/tpu", "habana.ai/")


def all_of_kind(content: Content, kind: str) -> bool:
    """Whether the content is an object of that kind, or a list that holds nothing else."""
    found = list(_objects(content))
    return bool(found) and all(each.get("kind") == kind for _, each in found)


def drafts(content: Content) -> Iterator[RowDraft]:
    """A row in the making for each object, its case being its name."""
    for keys, value in _objects(content):
        draft = RowDraft(content, 0, keys, value)
        name, space = draft.text("metadata", "name"), draft.text("metadata", "namespace")
        draft.case = shown(f"{space}/{name}" if space else name or "an object without a name")
        yield draft


def devices(resources: Json) -> Iterator[tuple[str, str]]:
    """The resources that are devices, with how many."""
    for name, amount in resources.items() if isinstance(resources, dict) else ():
        if name.startswith(_DEVICES) and isinstance(amount, str | int) and str(amount) != "0":
            yield shown(name), str(amount)


def _objects(content: Content) -> Iterator[tuple[Keys, dict[str, Json]]]:
    if len(content.documents) != 1:
        return
    value = content.documents[0].value
    if not isinstance(value, dict) or not isinstance(value.get("apiVersion"), str):
        return
    kind, items = value.get("kind"), value.get("items")
    if not isinstance(kind, str):
        return
    if not kind.endswith("List"):
        yield (), value
        return
    for index, item in enumerate(items if isinstance(items, list) else []):
        found = dict(item) if isinstance(item, dict) else {}
        if kind != "List":
            # A typed list, such as a NodeList of the API, leaves the kind of its items out.
            found.setdefault("kind", kind.removesuffix("List"))
        yield ("items", index), found
