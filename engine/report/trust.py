"""Which judgments may stand: tables, sentences, JSON; their figure, and how they were found, as methods."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.core import VERSION
from engine.core.codec import plain
from engine.core.formatting import capitalised, counted, percent, words
from engine.core.tables import Column, Estimate, Kind, Part, Picture, Row, Section, Sentences, Table
from engine.report import columns, drawing, methods
from engine.results.run_results import RunResults
from engine.results.trust import ConfidenceMeasure, KeptThreshold, KeptTrust, valid_trust

if TYPE_CHECKING:  # most who read this tell what is kept, and find nothing out
    from engine.analysis.trust import CriterionTrust, Trusted
    from engine.metrics.trust import Promise, Trust

TRUST_FIGURE = "trust"
_TITLE = "Which labels may stand"
_READ = (
    "A point for each threshold: the share of all labels from it on, and how often these agree with people;"
    " band: the 95 % interval. Dashed: the target. Diamond: the threshold taken."
)
_NOTE = (
    "A label may stand where its confidence is at least the threshold. The thresholds are tenths of all"
    " judged items. Each is tested on labels of items that were drawn at random."
)
_FIXED = (
    "The promise holds for a number of labels that was fixed before. To look again after more labels is"
    " another test."
)
_ANYTIME = "The promise holds whenever it is looked at: each instruction counts once, by bets."
_CONFIDENCE = Column(
    "confidence", "threshold", Kind.NUMBER, "The lowest confidence of a label that may stand.", 3
)
_TAKEN = (
    columns.CRITERION,
    _CONFIDENCE,
    Column("measure", "confidence by", Kind.TEXT, "What the confidence of a label is."),
    Column("accepted", "may stand", Kind.SHARE, "The share of all judged items whose label may stand."),
    Column("labels", "labels", Kind.COUNT, "The human labels of these items."),
    Column("agreement", "agreement (%)", Kind.ESTIMATE).means(
        "How often the human labels of these items agree with the judge's, with the 95 % interval."
    ),
    Column("most_frequent", "most-frequent label (%)", Kind.ESTIMATE).means(
        "How often their most frequent human label would agree: a judge that says only this is as good."
    ),
    Column("people", "annotators (%)", Kind.ESTIMATE).means(
        "How often one annotator agrees with the majority of the others, on all labelled items."
    ),
)
_TESTED = (
    *(columns.CRITERION, _CONFIDENCE, *_TAKEN[3:6]),
    Column("p", "p", Kind.NUMBER, digits=4).means(
        "How probable so much agreement is if the true one is below the target."
    ),
    Column("level", "level", Kind.NUMBER, digits=4).means(
        "The test is passed if p is no larger; empty: too few labels."
    ),
    Column("passed", "passed?", Kind.FLAG, "Whether all labels from this confidence on may stand."),
)
_FORECAST = (
    columns.CRITERION,
    Column("labels", "labels", Kind.COUNT, "The number of labels in all, of items drawn at random."),
    Column("something", "chance of any", Kind.SHARE, "How probable it is that some labels may stand."),
    Column("middle", "may stand", Kind.SHARE, "The share of all items whose label may stand, in the middle."),
    Column("low", "or as few as", Kind.SHARE, "Fewer in one draw of ten."),
    Column("high", "or as many as", Kind.SHARE, "More in one draw of ten."),
)


def trust_sections(found: "Trusted") -> list[Section]:
    taken = Table(_TAKEN, [_taken_row(name, each) for name, each in found.criteria.items()])
    promise = found.request.promise
    sentences = [said for name, each in found.criteria.items() for said in _sentences(name, each, promise)]
    remarks = dict.fromkeys(said for each in found.criteria.values() for said in each.remarks)
    how = [_ANYTIME if promise.anytime else _FIXED]
    if found.request.jointly:
        how.append("The risk is of all criteria together.")
    parts: list[Part] = [Picture(TRUST_FIGURE, _READ), Sentences(sentences), taken]
    parts.append(Sentences([*how, *remarks]))
    tested: list[Row] = [
        [words(name), *columns.cells(each, _TESTED[1:])]
        for name, of_one in found.criteria.items()
        for each in (of_one.trust.thresholds if of_one.trust else ())
    ]
    sections = [
        Section(TRUST_FIGURE, _TITLE, parts, _NOTE),
        Section("thresholds", "Each threshold", [Table(_TESTED, tested)]),
    ]
    expected: list[Row] = [
        [words(name), each.labels, each.something, each.middle, each.low, each.high]
        for name, of_one in found.criteria.items()
        for each in of_one.forecasts
    ]
    if expected:
        sections.append(Section("forecast", "With more labels", [Table(_FORECAST, expected)], _FORECAST_NOTE))
    return sections


_FORECAST_NOTE = "If labels agree by confidence as those so far do. Few labels say little about that."


def _taken_row(name: str, each: "CriterionTrust") -> Row:
    taken = each.taken
    if taken is None:
        return [words(name), None, "", 0.0, None, None, None, each.people]
    return [
        *(words(name), taken.confidence, each.confidence.value, taken.accepted, taken.labels),
        *(taken.agreement, each.most_frequent, each.people),
    ]


def _sentences(name: str, each: "CriterionTrust", promise: "Promise") -> Iterator[str]:
    if each.refused is not None:
        yield f"On {words(name)}, nothing is known: {each.refused.problem}"
        return
    assert each.trust is not None
    trust, taken = each.trust, each.taken
    labels = counted(trust.labels, "label", "labels")
    if taken is None:
        none = f"On {words(name)}, trust no label yet: no threshold passed its test, by {labels}."
        yield f"{none} {_more(trust)}".rstrip()
        return
    target, risk = percent(promise.target), percent(promise.risk)
    yield (
        f"On {words(name)}, {percent(taken.accepted)} of the labels may stand: at least {target} of them"
        f" agree with people, at a risk of {risk}, by {labels}."
    )
    if len(each.by_judge) > 1:
        shares = " and ".join(
            f"{percent(share)} by judge {number}" for number, share in enumerate(each.by_judge, start=1)
        )
        yield f"Decided: {shares}; {percent(1 - each.by_judge[0])} reach judge 2."


def _more(trust: "Trust") -> str:
    if trust.promise.anytime:
        return ""
    if trust.more_labels is None:
        return "More labels would change nothing if agreement stays as seen: it is not above the target."
    more = counted(trust.more_labels, "more label", "more labels")
    return f"About {more} would be needed if agreement stays as seen."


def trust_json(found: "Trusted") -> dict[str, Any]:
    """By criterion; shares and confidences from 0 to 1."""
    promise = found.request.promise
    return {
        "target": promise.target,
        "risk": promise.risk,
        "jointly": found.request.jointly,
        "anytime": promise.anytime,
        "criteria": {name: _criterion_json(each) for name, each in found.criteria.items()},
    }


def _criterion_json(each: "CriterionTrust") -> dict[str, Any]:
    refused = str(each.refused.problem) if each.refused else None
    said: dict[str, Any] = plain(replace(each, refused=None, labelled=frozenset()))
    del said["labelled"]  # ids, for the window
    return {**said, "threshold": each.kept.confidence, "accepted": each.accepted, "refused": refused}


def kept_section(kept: KeptTrust) -> Section:
    """Of what is kept with a run."""
    rows: list[Row] = [
        [words(name), at.confidence, at.measure.value, at.accepted, *_measured(at)]
        for name, at in kept.criteria.items()
    ]
    promised = [f"{capitalised(kept.in_words)}.", _ANYTIME if kept.anytime else _FIXED]
    parts: list[Part] = [Picture(TRUST_FIGURE, _READ), Sentences(promised), Table(_TAKEN[:6], rows)]
    return Section(TRUST_FIGURE, _TITLE, parts, f"By labels of {kept.dataset}. {_NOTE}", spelt_out=True)


def _measured(at: KeptThreshold) -> tuple[int, Estimate | None]:
    return at.labels, None if at.agreement is None else Estimate(at.agreement, at.agreement_interval)


def trust_figure(kept: KeptTrust, title: str = "", dark: bool = False) -> drawing.Figure:
    """Agreement by the share of labels that stand, with intervals, the target and what was taken."""
    return drawing.draw_panels(
        [each for each in kept.criteria.items() if each[1].tested] or list(kept.criteria.items()),
        partial(_draw_thresholds, 100 * kept.target),
        2.2,
        ("labels that stand (%)", "agreement (%)"),
        f"Agreement with people by the share of labels that stand\n{drawing.drawable(title)}".rstrip(),
        dark=dark,
        legend_columns=4,
    )


def _draw_thresholds(
    target: float, axes: drawing.Axes, shown: tuple[str, KeptThreshold], theme: drawing.Theme
) -> None:
    name, taken = shown
    known = [(each, each.agreement_interval) for each in taken.tested]
    shares = [100 * each.accepted for each, ends in known if ends]
    low, high = ([100 * ends[end] for _, ends in known if ends] for end in (0, 1))
    agreement = [100 * (each.agreement or 0) for each, ends in known if ends]
    axes.fill_between(shares, low, high, color=theme.judge, alpha=0.25, linewidth=0, label="95 % interval")
    # One threshold alone, as of a judge that is always as confident, is a band without a width.
    axes.vlines(shares, low, high, color=theme.judge, linewidth=0.6)
    line: dict[str, Any] = {"color": theme.judge, "marker": "o", "markersize": 3, "linewidth": 1.4}
    axes.plot(shares, agreement, **line, label="agreement")
    axes.axhline(target, color=theme.marked, linestyle="--", linewidth=1.2, label="target")
    at = [] if taken.agreement is None else [100 * taken.agreement]
    mark: dict[str, Any] = {"color": theme.marked, "linestyle": "", "marker": "D", "zorder": 3}
    axes.plot([100 * taken.accepted] * len(at), at, **mark, label="threshold taken")
    axes.set_title(f"{drawing.drawn_words(name)}{'' if at else ': none may stand'}", loc="left")
    axes.set_xlim(0, 105)
    axes.grid()


def trust_report_figure(kept: KeptTrust, title: str) -> drawing.ReportFigure:
    rows: list[Row] = [
        [words(name), each.confidence, each.accepted, *_measured(each)]
        for name, taken in kept.criteria.items()
        for each in taken.tested
    ]
    shown = f"Agreement with people by the share of labels that stand; target {percent(kept.target)}."
    in_words = f"{shown} May stand: {kept.thresholds_in_words}."
    return drawing.ReportFigure(partial(trust_figure, kept, title), in_words, Table(_TESTED[:5], rows))


_SURE = {
    ConfidenceMeasure.PROBABILITY: "its probability of the label",
    ConfidenceMeasure.AGREEMENT: "its probability of the label, times the share of its orders, methods,"
    " reasoning samples and judges that agree",
}


def trust_statements(found: "Trusted") -> list[methods.Statement]:
    of_judges = [said for each in found.request.systems for said in methods.labels_of_system(each, None)]
    source = f"{found.request.gold.path.name}, the human labels; its texts' SHA-256 {found.request.gold.hash}"
    return [*of_judges, *trust_methods(found.kept, source), methods.COMPUTED]


def methods_of_kept(results: RunResults | None) -> Iterator[methods.Statement]:
    kept = valid_trust(results) if results is not None else None
    if results is not None and kept is not None:
        yield from trust_methods(kept, f"Tiebreak's store, run {results.run.id}")


def trust_methods(kept: KeptTrust, source: str) -> Iterator[methods.Statement]:
    """What is to be said of thresholds; `source`: where they are kept."""
    measures = dict.fromkeys(_SURE[at.measure] for at in kept.criteria.values())
    yield methods.Statement(
        f"Labels of the judge may stand by its confidence ({' or '.join(measures)}):"
        f" {kept.thresholds_in_words}. {capitalised(kept.in_words)}, after {methods.JUNG.said}.",
        source,
        (methods.JUNG,),
    )
    work = methods.WAUDBY_SMITH if kept.anytime else methods.KORN_GRAUBARD
    how = (
        f"by bets, one an instruction, which may be looked at after each label ({work.short})"
        if kept.anytime
        else "by an exact binomial test of as many independent labels as those of repeated instructions are"
        f" worth ({work.short})"
    )
    yield methods.Statement(
        "Thresholds are tenths of all judged items. Each was tested on human labels of items drawn at random,"
        f" {how}; the fallback procedure ({methods.WIENS.short}) keeps the risk of all tests together.",
        f"Tiebreak {VERSION}, engine/metrics/trust.py",
        (work, methods.WIENS),
    )
