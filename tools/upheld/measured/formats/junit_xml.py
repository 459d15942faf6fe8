"""JUnit XML, as pytest and most test tools write it: one row a report, with each test's outcome.

Counts are taken from the test cases themselves; those in the attributes of a suite are held
against them. A test that is skipped has not passed. Which commit was tested is in the file only
where the tool was told to write it as a property.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from upheld.measured.content import NOT_READABLE, Content
from upheld.measured.draft import NOT_MEASURED
from upheld.measured.printed import PrintedDraft, exact, is_number, is_text, shown
from upheld.measured.reading import Reading, TestOutcome
from upheld.measured.strict_xml import Element, XmlRefusedError, parse, root_name
from upheld.records.finding import Finding, Place

NAME = "junit-xml"
TOOL = "JUnit XML"
TITLE = "JUnit XML: report of tests"

_ROOTS = ("testsuites", "testsuite")
_OUTCOMES: dict[str, TestOutcome] = {"failure": "failed", "error": "error", "skipped": "skipped"}
_WORST_FIRST: tuple[TestOutcome, ...] = ("failed", "error", "skipped", "passed")
_COUNTED: dict[str, TestOutcome] = {"failures": "failed", "errors": "error", "skipped": "skipped"}
_COMMIT = ("commit", "git.commit", "git_commit", "revision", "vcs.revision")
_COUNTS = {"tests": "tests.total", "failures": "tests.failed", "errors": "tests.errors",
           "skipped": "tests.skipped"}  # fmt: skip


def recognise(content: Content) -> bool:
    """XML whose root is a suite of tests or several."""
    return is_text(content) and root_name(content.text) in _ROOTS


def read(content: Content) -> Reading:
    """One row over all suites of the report."""
    try:
        root = parse(content.text)
    except XmlRefusedError as refused:
        place = Place(content.path, refused.line, refused.column)
        finding = Finding(NOT_READABLE, place, refused.message, refused.help)
        return Reading((), findings=(finding,))
    draft = PrintedDraft(content, Place(content.path, root.line, root.column))
    outcomes: list[TestOutcome] = []
    for case in root.all("testcase"):
        name = _name(case)
        outcome = _outcome(case)
        outcomes.append(outcome)
        draft.tests[name] = min(outcome, draft.tests.get(name, outcome), key=_WORST_FIRST.index)
    suites = list(_outermost(root))
    for attribute, figure in _COUNTS.items():
        _count(draft, suites, attribute, figure, outcomes)
    draft.recompute("tests.passed", "count", Fraction(outcomes.count("passed")))
    _read_duration(content, draft, root, suites)
    _read_facts(draft, root, suites)
    if all(outcome == "skipped" for outcome in outcomes):
        draft.find(
            NOT_MEASURED,
            "every test was skipped" if outcomes else "the report holds no test",
            "run the tests where they can run",
        )
    return Reading((draft.finish(()),))


def _name(case: Element) -> str:
    parts = (case.attributes.get("classname", ""), case.attributes.get("name", ""))
    return ".".join(part for part in parts if part)


def _outcome(case: Element) -> TestOutcome:
    found = {_OUTCOMES[child.name] for child in case.children if child.name in _OUTCOMES}
    return min(found, key=_WORST_FIRST.index, default="passed")


def _outermost(root: Element) -> Iterator[Element]:
    """The suites that count: those that lie in no other suite."""
    if root.name == "testsuite":
        yield root
    else:
        yield from (child for child in root.children if child.name == "testsuite")


def _count(
    draft: PrintedDraft,
    suites: list[Element],
    attribute: str,
    figure: str,
    outcomes: list[TestOutcome],
) -> None:
    counted = len(outcomes)
    if attribute != "tests":
        counted = outcomes.count(_COUNTED[attribute])
    stated = [
        exact(suite.attributes[attribute]) for suite in suites if attribute in suite.attributes
    ]
    numbers = [each for each in stated if isinstance(each, int) and each >= 0]
    if suites and len(numbers) == len(suites):
        if attribute == "tests" and sum(numbers) == len(draft.tests):
            # pytest has a second case for a test that fails and then fails to be torn down.
            counted = len(draft.tests)
        draft.keep(attribute, sum(numbers), draft.place())
        draft.recompute(figure, "count", Fraction(counted), attribute)
    else:
        draft.recompute(figure, "count", Fraction(counted))


def _read_duration(
    content: Content, draft: PrintedDraft, root: Element, suites: list[Element]
) -> None:
    whole = exact(root.attributes.get("time", ""))
    if is_number(whole):
        draft.keep("time", whole, draft.place())
        draft.report("duration", "s", "time")
        return
    times = [exact(suite.attributes.get("time", "")) for suite in suites]
    if times and all(map(is_number, times)):
        total = sum((Fraction(str(time)) for time in times), Fraction(0))
        draft.recompute("duration", "s", total, note="the suites one after another")


def _read_facts(draft: PrintedDraft, root: Element, suites: list[Element]) -> None:
    first = suites[0] if suites else root
    for name, attribute in (("suite", "name"), ("date", "timestamp"), ("host", "hostname")):
        if value := first.attributes.get(attribute):
            draft.stated[name] = shown(value)
    for each in root.all("property"):
        name, value = each.attributes.get("name", ""), each.attributes.get("value", "")
        if name.casefold() in _COMMIT and value:
            draft.stated.setdefault("commit", shown(value.strip()))
    wrong = [name for name, outcome in draft.tests.items() if outcome in ("failed", "error")]
    if wrong:
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        draft.stated["did_not_pass"] = shown(", ".join(wrong[:5]) + more)
