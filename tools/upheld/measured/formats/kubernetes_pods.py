"""kubectl get pods -o json: what ran where and with how many devices, one row a pod.

The tag of an image is a name that somebody chose; the digest that the node pulled is stated.
"""

from __future__ import annotations

from upheld.corpus.strict_json import Json
from upheld.measured import kubernetes_objects
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.printed import exact, shown
from upheld.measured.reading import Reading, Row

NAME = "kubernetes-pods"
TOOL = "kubectl"
TITLE = "kubectl get pods: JSON"


def recognise(content: Content) -> bool:
    """A pod, or a list of nothing but pods."""
    return kubernetes_objects.all_of_kind(content, "Pod")


def read(content: Content) -> Reading:
    """One row a pod."""
    return Reading(tuple(_row(draft) for draft in kubernetes_objects.drafts(content)))


def _row(draft: RowDraft) -> Row:
    total = 0
    for container in _objects(draft.get("spec", "containers")):
        name = shown(str(container.get("name", "")))
        image = container.get("image")
        if isinstance(image, str):
            draft.stated[f"image_of_{name}"] = shown(image)
        resources = container.get("resources")
        limits = resources.get("limits") if isinstance(resources, dict) else None
        for resource, amount in kubernetes_objects.devices(limits):
            draft.stated[f"limit_of_{name}"] = f"{shown(amount)} × {resource}"
            count = exact(amount)
            total += count if isinstance(count, int) and resource == "nvidia.com/gpu" else 0
        arguments = [each for key in ("command", "args") for each in _texts(container.get(key))]
        if arguments:
            draft.stated[f"command_of_{name}"] = shown(" ".join(arguments))
    for status in _objects(draft.get("status", "containerStatuses")):
        name = shown(str(status.get("name", "")))
        if isinstance(status.get("imageID"), str):
            draft.stated[f"digest_of_{name}"] = shown(str(status["imageID"]))
        if isinstance(status.get("restartCount"), int) and status["restartCount"]:
            draft.stated[f"restarts_of_{name}"] = str(status["restartCount"])
    for name, keys in (("node", ("spec", "nodeName")), ("phase", ("status", "phase")),
                       ("started", ("status", "startTime"))):  # fmt: skip
        if fact := draft.text(*keys):
            draft.stated[name] = shown(fact)
    if total > 0:
        draft.envelope["device_count"] = total
    axes = ("model", "engine", "engine_version", "device", "device_count")
    return draft.finish(tuple(axis for axis in axes if axis not in draft.envelope))


def _objects(value: Json) -> list[dict[str, Json]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _texts(value: Json) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
