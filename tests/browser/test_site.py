"""The built site in a real browser: readable, reachable, quiet on the network."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from mkdocs.commands.build import build
from mkdocs.config import load_config
from playwright.sync_api import Browser, BrowserContext, Page, Route, sync_playwright

from small_corpus import ADR, SmallCorpus

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
FULL = ROOT / "tests/site/corpus"
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

# One page of every kind: in the project's own site, and in one with a blocked claim.
OWN = {
    "": "Every claim, upheld or blocked",
    "claims/": "computed",
    "contributing/": "Contributing",
    "decisions/": "ADR-009",
    "decisions/adr-009/": "Failure signals",
    "engine-reports/": "Predicted by arithmetic",
    "evidence/": "Deployments",
    "evidence/assumptions/runtime-memory/": "What is assumed",
    "evidence/deployments/one-device/": "71.68 GiB",
    "evidence/devices/h100-sxm5-80gb/": "Stated facts",
    "evidence/models/llama-3.1-8b-instruct/": "KV heads",
    "evidence/policies/gateway/": "Declared rules",
    "evidence/sources/vllm-paged-attention/": "Not used for",
    "memory-calculators/": "Where another tool does better",
    "rules/UPH602/": "UPH602",
    "untested/": "Nothing here may be read as a result",
}
SMALL = {
    "": "blocked",
    "decisions/adr-001/": "blocked",
    "decisions/adr-002/": "Exit gates",
    "evidence/runs/serve-16/": "nobody said",
    "evidence/snapshots/small-then/": "Verdicts then",
}


@dataclass(frozen=True, slots=True)
class Site:
    folder: Path
    address: str
    pages: dict[str, str]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


def serve(folder: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("own")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    for address in serve(folder):
        yield Site(folder, address, OWN)


@pytest.fixture(scope="session")
def small_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    corpus = SmallCorpus(tmp_path_factory.mktemp("small") / "corpus")
    shutil.copytree(FULL, corpus.root, dirs_exist_ok=True)
    corpus.replace(ADR, '"<= 0.5 GiB"', '"<= 0.2 GiB"')
    shutil.copytree(ROOT / "docs/stylesheets", corpus.root / "docs/stylesheets")
    (corpus.root / "mkdocs.yml").write_text(
        f"INHERIT: {ROOT / 'mkdocs.yml'}\n"
        'docs_dir: docs\nnot_in_nav: ""\n'
        "nav:\n  - index.md\n  - decisions/index.md\n  - evidence/index.md\n  - untested.md\n"
    )
    folder = corpus.root / "built"
    build(load_config(str(corpus.root / "mkdocs.yml"), site_dir=str(folder)))
    for address in serve(folder):
        yield Site(folder, address, SMALL)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        reason = f"no browser: none of {', '.join(names)} is installed"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=CHROMIUM_ARGS)
        yield chromium
        chromium.close()


@dataclass(slots=True)
class Watched:
    """A page, with the requests that left this machine and what its console complained of."""

    page: Page
    outside: list[str]
    complaints: list[str]


def open_page(context: BrowserContext) -> Watched:
    page = context.new_page()
    watched = Watched(page, [], [])

    def only_here(route: Route) -> None:
        if urlsplit(route.request.url).hostname == "127.0.0.1":
            route.continue_()
        else:
            watched.outside.append(route.request.url)
            route.abort()

    page.route("**/*", only_here)
    page.on("pageerror", lambda error: watched.complaints.append(str(error)))
    page.on(
        "console",
        lambda message: (
            watched.complaints.append(message.text)
            if message.type in ("error", "warning")
            else None
        ),
    )
    return watched


@pytest.fixture(params=["own", "small_site"])
def site(request: pytest.FixtureRequest) -> Site:
    found: Site = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_read_by_everyone(site: Site, browser: Browser, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    watched = open_page(context)
    axe = Axe()
    problems: list[str] = []
    for path, text in site.pages.items():
        watched.page.goto(site.address + path)
        watched.page.wait_for_function("document.body.dataset.mdColorScheme !== undefined")
        wanted = {"light": "default", "dark": "slate"}[scheme]
        assert watched.page.evaluate("document.body.dataset.mdColorScheme") == wanted
        assert watched.page.locator("h1").count() == 1, path
        assert watched.page.locator("h1").is_visible(), path
        assert text in watched.page.locator("article.md-content__inner").inner_text(), path
        options = {"runOnly": {"type": "tag", "values": WCAG}, "resultTypes": ["violations"]}
        for violation in axe.run(watched.page, options=options).response["violations"]:
            problems.extend(
                f"{path}: {violation['id']}: {node['html'][:200]}" for node in violation["nodes"]
            )
    context.close()
    assert problems == []
    assert watched.outside == []
    assert watched.complaints == []


def test_nothing_scrolls_sideways_on_a_phone(site: Site, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = open_page(context).page
    wide = []
    for path in site.pages:
        page.goto(site.address + path)
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(path)
    context.close()
    assert wide == []


def test_a_phone_shows_the_whole_of_a_row(own: Site, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = open_page(context).page
    cut = []
    for path in (
        "decisions/",
        "decisions/adr-009/",
        "engine-reports/",
        "evidence/assumptions/runtime-memory/",
        "evidence/deployments/one-device/",
        "evidence/models/llama-3.1-8b-instruct/",
        "memory-calculators/",
        *(
            f"evidence/snapshots/{each.name}/"
            for each in (own.folder / "evidence/snapshots").iterdir()
        ),
    ):
        page.goto(own.address + path)
        cut += [
            f"{path}: {frame.get_attribute('aria-label')}"
            for frame in page.locator(".uph-scroll").all()
            if frame.evaluate("e => e.scrollWidth > e.clientWidth")
        ]
    context.close()
    assert cut == []


def test_a_blocked_claim_is_seen_without_scrolling(small_site: Site, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = open_page(context).page
    for path in ("", "decisions/adr-001/"):
        page.goto(small_site.address + path)
        box = page.locator(".uph-banner").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 720, path
    context.close()


def test_the_search_finds_a_claim(own: Site, browser: Browser) -> None:
    context = browser.new_context()
    watched = open_page(context)
    watched.page.goto(own.address)
    watched.page.locator("input.md-search__input").click()
    watched.page.keyboard.type("second effect at another provider", delay=5)
    hit = watched.page.locator('a.md-search-result__link[href*="#claim-no-second-effect"]')
    hit.wait_for(timeout=10_000)
    assert "decisions/adr-009/" in (hit.get_attribute("href") or "")
    assert watched.outside == []
    assert watched.complaints == []
    context.close()


def test_the_search_finds_a_decision_by_its_number(own: Site, browser: Browser) -> None:
    context = browser.new_context()
    page = open_page(context).page
    page.goto(own.address)
    page.locator("input.md-search__input").click()
    page.keyboard.type("ADR-009", delay=5)
    first = "li.md-search-result__item:first-child a[href*='/decisions/adr-009/']"
    page.locator(first).first.wait_for(timeout=10_000)
    context.close()


def test_a_card_hides_its_answer_until_asked(own: Site, browser: Browser) -> None:
    context = browser.new_context()
    page = open_page(context).page
    page.goto(own.address + "decisions/adr-009/")
    card = page.locator("details.uph-card").first
    answer = card.locator(".uph-prose")
    assert not answer.is_visible()
    card.locator("summary").focus()
    page.keyboard.press("Enter")
    assert answer.is_visible()
    context.close()


def test_measured_is_never_the_word_for_a_computed_value(site: Site, browser: Browser) -> None:
    context = browser.new_context()
    page = open_page(context).page
    looks: dict[str, set[str]] = {}
    for path in site.pages:
        page.goto(site.address + path)
        for badge in page.locator(".uph-basis").all():
            style = (
                "e => [getComputedStyle(e).borderRadius, getComputedStyle(e).borderStyle].join()"
            )
            looks.setdefault(badge.inner_text(), set()).add(badge.evaluate(style))
        for claim in page.locator("article.uph-claim").all():
            basis = claim.locator(".uph-badges .uph-basis").inner_text()
            terms = claim.locator("dt").all_inner_texts()
            assert "Measured" not in terms or basis == "measured", path
            assert "Computed" not in terms or basis in ("computed", "control"), path
    context.close()
    assert looks["computed"].isdisjoint(looks["measured"])


class _Links(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is not None and name == "id":
                self.anchors.add(value)
            if value is not None and name in ("href", "src") and tag != "base":
                self.links.append(value)


def test_no_link_leads_nowhere(site: Site) -> None:
    pages: dict[str, _Links] = {}
    for file in sorted(site.folder.rglob("*.html")):
        parser = pages[file.relative_to(site.folder).as_posix()] = _Links()
        parser.feed(file.read_text(encoding="utf-8"))
    broken = []
    for page, parser in pages.items():
        # What this page links to is written for any address that it may be served from.
        if page == "404.html":
            continue
        for link in parser.links:
            target, anchor = urldefrag(urljoin(f"http://here/{page}", link))
            if urlsplit(target).hostname != "here":
                continue
            path = unquote(urlsplit(target).path).lstrip("/")
            path = f"{path}index.html" if path.endswith("/") or not path else path
            if not (site.folder / path).is_file():
                broken.append(f"{page}: {link}")
            elif anchor and path in pages and anchor not in pages[path].anchors:
                broken.append(f"{page}: {link}: no such anchor")
    assert broken == []
