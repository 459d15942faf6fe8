from __future__ import annotations

import pytest

from records.record_texts import TEXTS, record_in
from upheld.control.guarantees import REQUIREMENTS, Declared, declared
from upheld.records.metrics import METRICS
from upheld.records.policy import Policy

KEPT = {
    "admission": """\
admission:
  route_approved: true
  access_current: true
  max_prompt_tokens: 100 tokens
  max_output_tokens: 28 tokens
""",
    "readiness": """\
readiness:
  requires: [model_loaded, model_digest, engine_version, envelope_covers_request]
""",
    "drain": """\
drain:
  stop_new_work: true
  on_deadline: unknown
  termination_grace_period: 60 s
  pre_stop: 5 s
  shutdown_timeout: 30 s
""",
    "outcome": """\
outcome:
  on_timeout: unknown
  retain_unknown: true
  reconcile: {by: request_id, window: 1 h}
""",
    "fallback": """\
fallback:
  when: [failed_known]
  after_output: never
  max_hops: 0
  providers: [{id: b, data: [public], regions: [eu], behaviour: [chat]}]
""",
    "attempts": "attempts: {max_per_provider: 1, deadline: 0 s, retry_layer: gateway}\n",
    "queue": "queue: {max_requests: 1, max_prompt_tokens: 1 tokens, overflow: reject_429}\n",
    "budget": """\
budget: {slots: 4, context: 128 tokens, reserve_at: admission, hold_while_unknown: true}
""",
}


def policy(without: str = "", old: str = "", new: str = "") -> Policy:
    """A policy that keeps every promise, but for one part or one rule."""
    text = TEXTS["policy"] + "".join(part for name, part in KEPT.items() if name != without)
    assert not old or text.count(old) == 1
    record = record_in(text.replace(old, new) if old else text)
    assert isinstance(record, Policy)
    return record


def test_every_safety_metric_says_what_it_needs_and_nothing_else_does() -> None:
    assert set(REQUIREMENTS) == {name for name in METRICS if name.startswith("safety.")}


def test_every_field_that_is_needed_is_one_of_a_policy() -> None:
    for requirements in REQUIREMENTS.values():
        for requirement in requirements:
            part, field = requirement.field.split(".")
            assert field in type(getattr(policy(), part)).model_fields


@pytest.mark.parametrize("metric", REQUIREMENTS)
def test_kept(metric: str) -> None:
    fields = tuple(requirement.field for requirement in REQUIREMENTS[metric])
    assert declared(policy(), metric) == Declared(fields, (), ())


@pytest.mark.parametrize(
    ("metric", "old", "new", "broken"),
    [
        ("safety.ready_before_routing", "route_approved: true", "route_approved: false",
         "admission.route_approved is false, not true"),
        ("safety.ready_before_routing", "model_digest, ", "",
         "readiness.requires is model_loaded, engine_version, envelope_covers_request, not "
         "model_loaded, model_digest, engine_version and envelope_covers_request"),
        ("safety.no_work_while_draining", "stop_new_work: true", "stop_new_work: false",
         "drain.stop_new_work is false, not true"),
        ("safety.no_duplicate_effect", "on_timeout: unknown", "on_timeout: failed",
         "outcome.on_timeout is failed, not unknown"),
        ("safety.no_duplicate_effect", "after_output: never", "after_output: allowed",
         "fallback.after_output is allowed, not never"),
        ("safety.approved_fallback",
         "[{id: b, data: [public], regions: [eu], behaviour: [chat]}]", "[]",
         "fallback.providers is empty, not each provider with its data and behaviour"),
        ("safety.no_erased_outcome", "retain_unknown: true", "retain_unknown: false",
         "outcome.retain_unknown is false, not true"),
        ("safety.no_erased_outcome", "on_deadline: unknown", "on_deadline: failed",
         "drain.on_deadline is failed, not unknown"),
        ("safety.no_replay_after_output", "after_output: never", "after_output: allowed",
         "fallback.after_output is allowed, not never"),
        ("safety.budget_reserved", "reserve_at: admission", "reserve_at: completion",
         "budget.reserve_at is completion, not admission"),
        ("safety.budget_reserved", "hold_while_unknown: true", "hold_while_unknown: false",
         "budget.hold_while_unknown is false, not true"),
    ],
)  # fmt: skip
def test_broken(metric: str, old: str, new: str, broken: str) -> None:
    found = declared(policy(old=old, new=new), metric)
    assert found.broken == (broken,)
    assert found.absent == ()
    assert len(found.kept) == len(REQUIREMENTS[metric]) - 1


@pytest.mark.parametrize("metric", REQUIREMENTS)
@pytest.mark.parametrize("part", KEPT)
def test_what_is_absent_is_not_guaranteed(metric: str, part: str) -> None:
    found = declared(policy(without=part), metric)
    fields = [requirement.field for requirement in REQUIREMENTS[metric]]
    assert found.absent == tuple(field for field in fields if field.startswith(f"{part}."))
    assert found.broken == ()
    assert set(found.kept) == set(fields) - set(found.absent)


def test_a_way_to_reconcile_may_be_absent_alone() -> None:
    text = policy(old="  reconcile: {by: request_id, window: 1 h}\n", new="")
    assert declared(text, "safety.no_erased_outcome").absent == ("outcome.reconcile",)


def test_another_metric_has_no_requirement() -> None:
    with pytest.raises(KeyError):
        declared(policy(), "latency.ttft")
