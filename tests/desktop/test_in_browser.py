"""The report in a real browser: narrow and wide, light, dark and on paper, for eyes, keys and ears."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from engine.core.rubric import ELOQUENT, Criterion
from engine.data.slices import slicing
from engine.metrics.evaluation import evaluate, measure_slices
from engine.metrics.matching import match
from engine.ranking.weighted_scoring import scored_pairs_of, weigh
from engine.report.html_report import Report, report_html
from tests.commands import run_here
from tests.desktop.browser import Tab, found_browser, tab
from tests.judged import BAD, GOOD, RATHER_A, SURE_A, SURE_B, SURE_GOOD, A, B, dataset, stored_run, text_table

pytestmark = pytest.mark.skipif(
    not found_browser(), reason="there is no Chromium (make test-desktop installs it)"
)
WIDTHS = (320, 360, 480, 768, 1024, 1280, 1600)
# The width between the margins of a page of A4, in CSS pixels: upright, and across for the widest tables.
PAPER, ACROSS = (round((width - 2 * 14) / 25.4 * 96) for width in (210, 297))
LEAST_CONTRAST = 4.5
LONG = "w" * 255
FOREIGN = (
    "<script>alert(1)</script> <b>bold</b>",
    "هل الجواب صحيح؟ " * 40,
    "这个回答正确吗？" * 80,
    f"{LONG} {LONG}",
)

OVERFLOWING = """
[...document.querySelectorAll("body *")].filter(element => {
  const box = element.getBoundingClientRect();
  if (box.right <= document.documentElement.clientWidth + 1 && box.left >= -1) return false;
  for (let around = element.parentElement; around; around = around.parentElement)
    if (["auto", "scroll"].includes(getComputedStyle(around).overflowX)) return false;
  return true;
}).map(element => element.outerHTML.slice(0, 120))
"""
"""What stands out of the page to the left or right, and cannot be scrolled to in a box of its own."""

CUT = """
[...document.querySelectorAll("body *")].filter(element => {
  const style = getComputedStyle(element);
  return (style.overflowX === "hidden" && element.scrollWidth > element.clientWidth + 1)
    || (style.overflowY === "hidden" && element.scrollHeight > element.clientHeight + 1)
    || style.textOverflow === "ellipsis";
}).map(element => element.outerHTML.slice(0, 120))
"""

LOW_CONTRAST = """
(least => {
  const parts = colour => {
    const [red, green, blue, alpha = 1] = colour.match(/[\\d.]+/g).map(Number);
    return [red, green, blue, alpha];
  };
  const light = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = (upper, lower) =>
    [0, 1, 2].map(n => upper[n] * upper[3] + lower[n] * (1 - upper[3])).concat(1);
  const ground = element => {
    if (!element) return [255, 255, 255, 1];
    const own = parts(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(element.parentElement));
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.getClientRects().length) continue;
    const behind = ground(element);
    const letters = over(parts(getComputedStyle(element).color), behind);
    const [high, low] = [light(letters), light(behind)].sort((one, other) => other - one);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < least) found.push(`${contrast.toFixed(2)}: ${node.textContent.trim().slice(0, 60)}`);
  }
  return found;
})
"""

FAULTS = """
(() => {
  const all = name => [...document.querySelectorAll(name)];
  const found = [];
  const say = (what, elements) =>
    elements.forEach(one => found.push(`${what}: ${one.outerHTML.slice(0, 150)}`));
  if (!document.documentElement.lang) found.push("no language");
  if (!document.title) found.push("no title");
  if (all("h1").length !== 1 || all("main").length !== 1) found.push("not one h1 in one main part");
  let level = 0;
  for (const heading of all("h1, h2, h3, h4, h5, h6")) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1 || !heading.textContent.trim()) say("a level was left out, or no words", [heading]);
    level = own;
  }
  say("no alternative", all("img").filter(image => !image.alt.trim()));
  say("a header that says not of what", all("th").filter(cell => !cell.scope));
  say("a table without headers", all("table").filter(table => !table.querySelector("th")));
  say("not reached by keys", all("body *").filter(box =>
    ["auto", "scroll"].includes(getComputedStyle(box).overflowX)
    && (box.tabIndex < 0 || !box.ariaLabel || !box.role)));
  const ids = all("[id]").map(element => element.id);
  say("an id twice", all("[id]").filter(element => ids.filter(id => id === element.id).length > 1));
  say("leads nowhere", all("a").filter(link => !ids.includes(decodeURIComponent(link.hash.slice(1)))));
  return found;
})()
"""
REPORTS = ("of a run", "of foreign names", "of a submission")


@pytest.fixture(scope="module")
def browser() -> Iterator[Tab]:
    with tab() as made:
        yield made


@pytest.fixture(scope="module")
def reports(demo_store: Path, demo_gold: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    made = {name: folder / f"{name}.html" for name in REPORTS}
    weights = ("--weights", "overall_quality=0.6,safety=0.4")
    more = ("--store", demo_store, "--curve", "--by", "length", "--by", "label", *weights)
    submission = demo_store.with_name("submission.tsv")
    for what, words in (("of a run", ("1", *more)), ("of a submission", (submission,))):
        done = run_here("report", *words, "--gold", demo_gold, "--out", made[what])
        assert done.returncode == 0, done.stderr
    made["of foreign names"].write_text(_of_foreign_names(folder), encoding="utf-8")
    return made


def _of_foreign_names(folder: Path) -> str:
    """The most criteria, four candidates of long names, texts that other pages would run or turn round."""
    criteria = [f"criterion_{number}_{LONG}"[:60] for number in range(24)]
    texts = [FOREIGN[place % len(FOREIGN)] for place in range(40)]
    labels = [A, B, GOOD, BAD] * 11
    human = {name: labels[shift % 4 :][:40] for shift, name in enumerate(criteria)}
    asked = replace(ELOQUENT, criteria=tuple(Criterion(name, LONG) for name in criteria))
    outputs = [(text, text[::-1]) for text in texts]
    names = [f"{one}{LONG}" for one in "mnop"]
    others = {
        "candidate_a": names * 10,
        "candidate_b": [names[(place + 1 + place // 20) % 4] for place in range(40)],
        "part": [FOREIGN[place % 3] for place in range(40)],
    }
    instructions = [f"{place}. {text}" for place, text in enumerate(texts)]
    gold = replace(
        dataset(human, instructions=instructions, outputs=outputs),
        path=Path(f"{LONG}.tsv"),
        rubric=asked,
        others=text_table(others),
    )
    said = {name: [SURE_A, SURE_B, SURE_GOOD, RATHER_A] * 10 for name in criteria}
    judge = stored_run(folder, gold, said, dict.fromkeys(criteria, FOREIGN[1]), model_name=LONG, rubric=asked)
    found = match(judge, gold)
    weights = {name: 1 / len(criteria) for name in criteria}
    weighted_scoring = weigh(scored_pairs_of(judge, criteria), weights, 0.5, gold, judge)
    slices = [measure_slices(found, slicing(gold, "part"))]
    return report_html(Report(evaluate(found), weighted_scoring, slices=slices))


@pytest.fixture(params=REPORTS)
def page(request: pytest.FixtureRequest, browser: Tab, reports: dict[str, Path]) -> Tab:
    """A report, opened in a window of 1280 pixels by somebody who likes it light."""
    browser.prefer("light")
    browser.resize(1280)
    browser.open(reports[request.param])
    return browser


def test_it_asks_for_nothing_but_itself_and_is_told_to_those_who_do_not_see_it(page: Tab) -> None:
    (address,) = page.asked_for()
    assert address.startswith("file:")
    assert page.complaints() == []
    assert page.run("document.scripts.length") == 0
    assert page.run(FAULTS) == []


def test_nothing_stands_out_of_it_or_is_cut_at_any_width(page: Tab) -> None:
    for width in WIDTHS:
        page.resize(width)
        assert page.run("document.documentElement.scrollWidth <= innerWidth"), width
        assert (width, page.run(OVERFLOWING), page.run(CUT)) == (width, [], [])


def test_letters_of_twice_the_size_fit_too(page: Tab) -> None:
    page.run("document.documentElement.style.fontSize = '200%'")
    for width in (480, 1280):
        page.resize(width)
        assert (width, page.run(OVERFLOWING), page.run(CUT)) == (width, [], [])


def test_all_letters_stand_out_from_their_ground(page: Tab) -> None:
    for scheme, medium in product(("light", "dark"), ("", "print")):
        page.prefer(scheme, medium)
        assert (scheme, medium, page.run(f"{LOW_CONTRAST}({LEAST_CONTRAST})")) == (scheme, medium, [])


def test_on_paper_no_table_is_cut(page: Tab) -> None:
    page.prefer("dark")
    pages = len(re.findall(rb"/Type\s*/Page\b", page.printed()))
    page.prefer("light", "print")
    page.resize(ACROSS)
    height = page.run("document.documentElement.scrollHeight")
    assert pages < height / 400, "pages with little on them"
    assert page.run(OVERFLOWING) == []
    page.run("document.querySelectorAll('.across').forEach(table => table.remove())")
    page.resize(PAPER)
    assert page.run(OVERFLOWING) == []
