"""The HTML report: what stands in it, that it needs nothing, that foreign text stays text."""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from engine.annotations.records import new_review
from engine.core.formatting import visible
from engine.core.judgments import Agreement
from engine.core.rubric import ELOQUENT, Criterion
from engine.core.tables import Table
from engine.data.dataset import Dataset
from engine.data.slices import slicing
from engine.metrics.accuracy import LabelMeasures
from engine.metrics.evaluation import Evaluation, evaluate, measure_slices
from engine.metrics.explanations import ModelScores
from engine.metrics.intervals import Interval
from engine.metrics.matching import Matched, System, match, system_of_run
from engine.ranking.weighted_scoring import scored_pairs_of, weigh
from engine.report.audit import audit_of_copies
from engine.report.calibration import reliability_of
from engine.report.html_report import Report, report_html, report_sheet
from engine.report.run import judged_model
from engine.results.run_results import load_results
from engine.store.run_store import RunStore
from tests.commands import ROOT
from tests.judged import (
    BAD,
    FOUR_ITEMS,
    GOOD,
    RATHER_A,
    SURE_A,
    SURE_GOOD,
    A,
    B,
    Probabilities,
    calibrate_run,
    dataset,
    judged_run,
    matched,
    results_of,
    run_of_copies,
    stored_run,
    system,
)

DEMO_MODEL = ROOT / "models" / "demo-judge.gguf"
HOSTILE = (
    "<script>alert(1)</script>",
    "</style><style>*{display:none}</style>",
    '"><img src=x onerror=alert(1)>',
    "$x$ {{ 7 * 7 }} {% raw %}",
    "<!-- ]]> &lt;b&gt; <meta http-equiv=refresh content=0>",
    "\u202etxt.exe\u2066 \x00 \x1b[31m \u200f",
)
"""Texts that another page would run, load, hide or turn round."""


PLAIN = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "h4", "p", "ul", "li"),
    *("img", "dl", "dt", "dd", "div", "span", "strong", "bdi", "table", "thead", "tbody", "tr", "th", "td"),
    *("details", "summary"),
}


class Page(HTMLParser):
    """A page taken apart: its elements, its text, the cells of its tables."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = source
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.tables: list[list[list[str]]] = []
        self._in_cell = False
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_cell:
            self.tables[-1][-1][-1] += data.strip("\n")

    def table(self, *header: str) -> list[list[str]]:
        """The rows of the table whose header begins so."""
        (found,) = (table for table in self.tables if tuple(table[0][: len(header)]) == header)
        return found[1:]

    def facts(self) -> dict[str, str]:
        """The last table: how it was made."""
        return {row[0]: row[1] for row in self.tables[-1]}


def page_of(found: Matched, **weights: float) -> Page:
    """Its page, with an empty figure for the first: what figures show is tested where they are made."""
    return Page(report_html(report_of(found, **weights), {"accuracy": b"<svg/>"}))


def report_of(found: Matched, **weights: float) -> Report:
    weighted_scoring = None
    if weights:
        judged = found.system
        weighted_scoring = weigh(scored_pairs_of(judged, list(weights)), weights, 0.5, found.dataset, judged)
    return Report(evaluate(found), weighted_scoring)


def run_of(folder: Path, gold: Dataset, probabilities: Mapping[str, Sequence[Any]], **more: Any) -> Matched:
    return match(stored_run(folder, gold, probabilities, **more), gold)


GOLD = dataset({"safety": [A, A, B, GOOD], "overall_quality": [B, A, BAD, A]})
PROBABILITIES: dict[str, list[Probabilities | None]] = {
    "safety": [SURE_A, RATHER_A, None, SURE_A],
    "overall_quality": [SURE_A, SURE_A, SURE_GOOD, SURE_A],
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The page of the run that SAID describes, without weights."""
    return page_of(run_of(tmp_path_factory.mktemp("run"), GOLD, PROBABILITIES))


@pytest.mark.slow
def test_a_page_of_a_run_has_no_script_and_loads_nothing(tmp_path: Path) -> None:
    """The figures given are embedded as if they were drawn for it."""
    gold, probabilities = dataset({"safety": [A, B]}), {"safety": [SURE_A, RATHER_A]}
    report = report_of(run_of(tmp_path, gold, probabilities), safety=1)
    drawn = {name: figure.as_bytes("svg") for name, figure in report.figures.items()}
    page = Page(report_html(report))
    assert page.source == report_html(report, drawn)
    assert_harmless(page)
    images = [attributes for tag, attributes in page.elements if tag == "img"]
    assert len(images) == 5
    assert all(image["src"].startswith("data:image/svg+xml;base64,") for image in images)
    assert all(len(image["alt"]) > 40 for image in images)


def test_each_figure_has_its_numbers_in_a_table_and_says_what_it_shows(tmp_path: Path) -> None:
    """A table that stands beside it, or one to be unfolded below it."""
    report = report_of(run_of(tmp_path, GOLD, PROBABILITIES), safety=1, overall_quality=1)
    drawn = dict.fromkeys(report.figures, b"<svg/>")
    page = Page(report_html(report, drawn))
    assert {"confusion", "reliability"} < drawn.keys()
    unfolded = len(drawn) - len(("accuracy", "labels", "margins"))
    assert [tag for tag, _ in page.elements].count("details") == unfolded
    assert page.table("criterion", "human label")[0][:4] == ["safety", "A", "2", "0"]
    assert "by winner: A 3, B 0, tie 0." in report.figures["margins"].in_words
    assert "safety: A 2 and " in report.figures["labels"].in_words


def assert_harmless(page: Page) -> None:
    """Only plain elements, and no address but data: and #."""
    assert {tag for tag, _ in page.elements} <= PLAIN
    policies = [
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]
    assert [tag for tag, _ in page.elements].count("style") == 1
    for tag, attributes in page.elements:
        assert attributes.get("src", "data:").startswith("data:"), tag
        assert attributes.get("href", "#").startswith("#"), tag
        assert not {name for name in attributes if name.startswith("on") or name in ("style", "srcset")}
        assert tag != "meta" or attributes.get("http-equiv", "").lower() != "refresh"
    (style,) = page.source.split("<style>")[1:]
    assert "url(" not in style.split("</style>")[0]
    assert "@import" not in style


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_wherever_it_stands(tmp_path: Path, text: str) -> None:
    gold = dataset({"safety": [B, B]}, {"safety": [text, text]}, [text, "other"], [(text, text), ("a", "")])
    gold = replace(gold, path=Path(text.replace("/", "_")))
    foreign = {"model_name": text, "manifest": {"chat_template_note": text}}
    found = run_of(tmp_path, gold, {"safety": [SURE_A] * 2}, explanations={"safety": text}, **foreign)
    found = replace(found, system=replace(found.system, name=text))
    page = page_of(found, safety=1)
    assert_harmless(page)
    assert page.text.count(visible(text)) >= 8
    hidden = [char for char in page.source if not char.isprintable() and char not in "\n\t"]
    assert not hidden
    page.source.encode("utf-8")


def test_the_accuracies_stand_beside_trivial_judges(page: Page) -> None:
    rows = {row[0]: row for row in page.table("criterion", "labels", "accuracy")}
    assert rows["safety"][1:3] == ["4", "50.0 %"]
    assert rows["overall quality"][2] == "50.0 %"
    assert rows["mean"][2] == "50.0 %"
    assert rows["safety"][7] == "25.0 %"


def test_the_page_takes_the_width_there_is_and_wide_tables_may_break_their_cells(tmp_path: Path) -> None:
    names = [f"criterion_{number}" for number in range(12)]
    asked = replace(ELOQUENT, criteria=tuple(Criterion(name, "Which is better?") for name in names))
    gold = replace(dataset({name: [A, B] * 2 for name in names}), rubric=asked)
    found = run_of(tmp_path, gold, {name: [SURE_A] * 4 for name in names}, rubric=asked)
    slices = [measure_slices(found, slicing(gold, "longer"))]
    page = Page(report_html(Report(evaluate(found), slices=slices), {}))
    (body,) = re.findall(r"body {[^}]*max-width: (\d+)rem", page.source)
    assert int(body) > 100  # a window of 1,920 pixels is 120 rem wide
    assert ("table", {"class": "many most"}) in page.elements
    assert page.table("which response is longer", "criterion 0")[0][1] == "50.0 (6.8 to 93.2)"
    assert '50.0 <span class="ends"><span>(6.8 to</span> <span>93.2)</span></span>' in page.source


def test_every_row_of_a_table_is_as_long_as_its_header(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, A, B, GOOD], "overall_quality": [B, A, BAD, A]}, {"safety": ["why"] * 4})
    page = page_of(run_of(tmp_path, gold, PROBABILITIES), safety=1)
    assert len(page.tables) == 9
    for table in page.tables:
        assert {len(row) for row in table} == {len(table[0])}


def test_labels_flips_and_unscored_are_counted(page: Page) -> None:
    found = {row[0]: row for row in page.table("criterion", "labels of") if row[0]}
    assert found["safety"][1:9] == ["judge", "3", "0", "0", "0", "1", "0.0 %", "1.000"]
    assert "Unscored: 1 of 8 judgments (12.5 %)" in page.text
    assert "Position-inconsistent: 0 of 7 judgments (0.0 %)" in page.text


NOT_BETTER = "NOT beat the best baseline on: safety (most frequent)."


def measures(lead: float, interval: Interval | None) -> LabelMeasures:
    return replace(evaluate(matched([A, B], [A, A])).labels["safety"], lead=(lead, interval), instructions=10)


@pytest.mark.parametrize(
    ("lead", "interval", "verdict", "sentence"),
    [
        (0.2, Interval(0.1, 0.3), "yes", "On every criterion the judge is significantly better than"),
        (0.2, Interval(0.0, 0.3), "not significant", "Better on these items, but not significantly"),
        (0.0, Interval(-0.1, 0.1), "no", NOT_BETTER),
        (-0.6, Interval(-0.7, -0.5), "no", NOT_BETTER),
        (0.1, None, "-", "Not compared with baselines"),
    ],
)
def test_a_judge_that_is_not_better_is_called_so(
    lead: float, interval: Interval | None, verdict: str, sentence: str
) -> None:
    measured = measures(lead, interval)
    assert measured.better == verdict
    evaluation = Evaluation(matched([A, B], [A, A]), {"safety": measured}, {})
    page = Page(report_html(Report(evaluation), {}))
    assert sentence in page.text
    assert page.table("criterion", "labels", "accuracy")[0][-1].removesuffix(" (most frequent)") == verdict


def test_each_group_of_criteria_has_its_sentence() -> None:
    labels = {
        "safety": measures(-0.6, Interval(-0.7, -0.5)),
        "relevance": replace(measures(0.2, Interval(0.1, 0.3)), criterion="relevance"),
    }
    both = {name: [A, B] for name in labels}
    found = match(system(both), dataset(both))
    page = Page(report_html(Report(Evaluation(found, labels, {})), {}))
    assert NOT_BETTER in page.text
    assert "Significantly better (the whole 95 % interval of the difference is above 0): rel" in page.text


def test_how_a_run_was_made_is_said_whole(page: Page) -> None:
    facts = page.facts()
    assert facts["dataset file"] == str(Path("/data/gold.tsv"))
    assert facts["dataset, SHA-256"] == GOLD.hash
    assert (facts["model"], facts["model, SHA-256"]) == ("a model", "f" * 64)
    assert facts["chat template, SHA-256"] == "c" * 64
    assert facts["llama.cpp"] == "llama.cpp b1"
    assert (facts["context"], facts["orders"], facts["mode"]) == ("4096", "AB, BA", "explain")
    assert facts["prompt version"] == "7"
    assert (facts["calibration"], facts["model, quantisation"]) == ("none", "not known")


def demo_run(folder: Path, name: str = "demo-judge", **manifest: Any) -> System:
    return stored_run(folder, GOLD, PROBABILITIES, model_path=DEMO_MODEL, model_name=name, manifest=manifest)


@pytest.mark.parametrize("name", ["demo-judge", "Tiebreak demo judge"])
def test_a_model_that_is_still_there_is_described_also_where_its_run_has_the_name_in_its_header(
    tmp_path: Path, name: str
) -> None:
    run = demo_run(tmp_path, name, model_bytes=DEMO_MODEL.stat().st_size)
    page = page_of(match(run, GOLD))
    assert page.facts()["model, quantisation"] == "F16"
    assert f"{name}: a model for trying Tiebreak. It knows only the small world" in page.text


@pytest.mark.parametrize(
    ("name", "size"),
    [("another model", DEMO_MODEL.stat().st_size), ("demo-judge", 1), ("demo-judge", None)],
    ids=["of another name", "of another size", "of an unknown size"],
)
def test_another_file_in_its_place_is_not_that_model(tmp_path: Path, name: str, size: int | None) -> None:
    run = demo_run(tmp_path, name, model_bytes=size)
    assert run.results
    assert judged_model(run.results.run) is None
    page = page_of(match(run, GOLD))
    assert page.facts()["model, quantisation"] == "not known"
    assert "small world" not in page.text


def test_a_file_that_is_no_model_now_is_left_out(tmp_path: Path, save: Callable[[str, bytes], Path]) -> None:
    path = save("model.gguf", b"GGUF but nothing else")
    manifest = {"model_bytes": path.stat().st_size}
    results = judged_run(tmp_path, GOLD, PROBABILITIES, model_path=path, manifest=manifest)
    assert judged_model(results.run) is None


def test_a_calibration_is_named_with_a_warning(tmp_path: Path) -> None:
    found = run_of(tmp_path, GOLD, PROBABILITIES)
    results = found.system.results
    assert results
    calibration = calibrate_run(found).calibration
    calibrated = match(system_of_run(results.calibrated(calibration)), GOLD)
    page = page_of(calibrated)
    assert page.facts()["calibration"].startswith(f"{calibration.hash}, fitted on gold.tsv, to one label on ")
    assert "4 of these 4 items took part in the fit of the calibration." in page.text


def test_a_page_of_a_submission_says_what_is_not_known() -> None:
    page = page_of(match(system({"safety": [A, B, B, A]}), GOLD), safety=1)
    assert_harmless(page)
    assert "Position-inconsistent: not known" in page.text
    assert "A submission file does not record the model" in page.text
    assert "Reliability of its probabilities" not in page.text
    assert page.facts()["submission"] == "judge.tsv"


def test_reliability_is_of_the_judgments_with_a_label(tmp_path: Path) -> None:
    bins = reliability_of(run_of(tmp_path, GOLD, PROBABILITIES))
    assert [part.count for part in bins["safety"]] == [1, 2]
    assert [part.accuracy for part in bins["safety"]] == [1.0, 0.5]
    assert bins["safety"][1].confidence == pytest.approx(0.91)
    unscored = run_of(tmp_path, GOLD, {"safety": [None] * 4}, key="another")
    assert reliability_of(unscored) == {}


def test_disagreements_show_both_sides(tmp_path: Path) -> None:
    responses = [("<b>First</b>", "Second & last")]
    gold = dataset({"safety": [B]}, {"safety": ["People say so."]}, ["How?"], responses)
    own = {"safety": "The judge says so."}
    page = page_of(run_of(tmp_path, gold, {"safety": [SURE_A]}, explanations=own))
    for text in ("How?", "<b>First</b>", "Second & last", "People say so.", "The judge says so."):
        assert text in page.text
        assert html.escape(text) in page.source
    assert "1. Item 1, safety: human label B, judge A, lead 88.0 points" in page.text
    assert "A 91.0 %, B 3.0 %, both_good 3.0 %, both_bad 3.0 %." in " ".join(page.text.split())


def test_an_explanation_for_another_label_is_called_so(tmp_path: Path) -> None:
    gold = dataset({"safety": [B]})
    found = run_of(tmp_path, gold, {"safety": [SURE_GOOD]}, explanations={"safety": "A is best."})
    assert "(written for another label, before the calibration)" in page_of(found).text
    agreed = dataset({"safety": [GOOD]})
    assert "There are none" in page_of(match(found.system, agreed)).text


def test_what_people_overrode_is_said_and_not_taken_for_the_judge(tmp_path: Path) -> None:
    gold = dataset({"safety": [B, B, B, A]})
    given = ((A, None), (None, "A person's reason."), (B, "I saw it."))
    overrides = [(str(number), "safety", *each) for number, each in enumerate(given, start=1)]
    probabilities, own = {"safety": [SURE_A, SURE_A, None, SURE_A]}, {"safety": "The judge's reason."}
    found = run_of(tmp_path, gold, probabilities, explanations=own, overrides=overrides)
    page = page_of(found, safety=1)
    said = "2 labels and 2 explanations of these items are human overrides; the scores include them."
    assert said in page.text
    assert page.facts()["human overrides"] == "2 labels and 2 explanations, by Ada"
    assert "Unscored: 0 of 4 judgments" in page.text
    assert "1. Item 2, safety: human label B, judge A" in page.text
    assert "2. Item" not in page.text
    assert "The judge's reason." in page.text
    assert "A person's reason." not in page.text
    assert [part.count for part in reliability_of(found)["safety"]] == [3]


def test_a_report_of_the_model_alone_has_nothing_of_people(tmp_path: Path) -> None:
    gold = dataset({"safety": [B, B]})
    found = run_of(tmp_path, gold, {"safety": [SURE_A, SURE_A]}, overrides=[("1", "safety", B, None)])
    results = found.system.results
    assert results
    page = page_of(match(system_of_run(results.model_alone()), gold))
    assert page.facts()["human overrides"] == "nothing"
    assert "the scores include" not in page.text
    assert page.table("criterion", "labels", "accuracy")[0][2] == "0.0 %"


def test_what_was_not_measured_of_explanations_is_a_dash() -> None:
    gold = dataset({"safety": [A, B]}, {"safety": ["A is safe.", "B is safe."]})
    found = match(system({"safety": [A, B]}, {"safety": ["A is safe.", None]}), gold)
    slow = {"safety": ModelScores([0.9], [Agreement(0.75, 0.25)])}
    plain = page_of(found).table("explanations", "items", "ROUGE-L")[0]
    page = Page(report_html(Report(evaluate(found, slow)), {}))
    measured = page.table("explanations", "items", "ROUGE-L")[0]
    assert (plain[2], plain[4:6], plain[-1]) == ("50.00 (0.0 to 100.0)", ["-", "-"], "1")
    assert [cell.split(" (")[0] for cell in measured[4:6]] == ["45.00", "50.00"]


def test_the_weighted_judge_is_held_against_human_winners(tmp_path: Path) -> None:
    page = page_of(run_of(tmp_path, GOLD, PROBABILITIES), overall_quality=3)
    facts = {row[0]: row[1] for row in page.table("weighted judge")}
    assert facts["comparisons"] == "4"
    shares = {row[0]: row[1] for row in page.table("compared with the human overall label")}
    assert shares["weighted winner or tie is the human one (%)"] == "75.0 (19.4 to 99.4)"
    assert page.table("", "weighted A")[0] == ["human A", "2", "0", "0"]
    assert "Weights: overall quality 1.000." in page.text


def test_what_only_one_side_has_is_said() -> None:
    found = match(system({"safety": [A, B, A]}, ids=["1", "2", "x"]), GOLD, partial=True)
    said = page_of(found).text
    assert "judge.tsv lacks 2 items of gold.tsv, not scored: 3, 4" in said
    assert "judge.tsv has 1 item that gold.tsv lacks, not scored: x" in said


def test_people_among_themselves_stand_beside_the_judge(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, B]})
    stored_run(tmp_path, gold, {"safety": [SURE_A, SURE_A]})
    with RunStore(tmp_path / "runs.sqlite") as store:
        for author, label in (("Ada", A), (HOSTILE[0] + "x" * 255, B)):
            store.annotate(1, new_review("1", author, confirmed={"safety": label}))
        found = match(system_of_run(load_results(store, 1).model_alone()), gold)
    shown = page_of(found)
    assert "Inter-annotator agreement" in shown.text
    others = [row[:-1] for row in shown.table("the others' majority")]
    assert ["safety", "all, in turn", "2", "0", "0.0", "50.0"] in others
    assert ["safety", "Ada", "1", "0", "0.0", "0.0"] in others
    assert ["Ada", "the judge", "safety", "1", "100.0", "-"] in shown.tables[6]
    assert "x" * 21 not in shown.text
    assert not {tag for tag, _ in shown.elements} - PLAIN


# The page of an audit in reports and on Results: there for runs of copies, and for no others.


def test_a_report_of_copies_has_the_page(tmp_path: Path) -> None:
    report = Report(evaluate(match(*run_of_copies(tmp_path))))
    section = report_sheet(report).sections[1]
    assert section.key == "audit"
    [table] = [part for part in section.parts if isinstance(part, Table)]
    [with_filler] = [row for row in table.rows if row[0] == "length: filler"]
    # A wins nothing for A padded, and for B padded it loses .4 + .9 of its lead.
    assert str(with_filler[1]).startswith("64.0 (")
    assert with_filler[3] == "fault"
    assert "Robustness audit of the judge" in report_html(report, {})


def test_other_runs_do_not_have_it(tmp_path: Path) -> None:
    results = results_of(tmp_path, [])
    assert audit_of_copies(results, FOUR_ITEMS) is None
    assert audit_of_copies(results, None) is None
