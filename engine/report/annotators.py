"""How far annotators agree, and what files of annotations come to in a run, as sections of a sheet."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from engine.core.formatting import counted, interval, listed, number, percent, words, yes_or_no
from engine.core.tables import Column, Estimate, ItemsBehind, Kind, Part, Row, Section, Sentences, Table, Tone
from engine.metrics.annotator_agreement import LEAST_ITEMS, AltTest, AnnotatorAgreement, Annotators
from engine.metrics.annotator_quality import AnnotatorQuality, LabellingQuality
from engine.metrics.intervals import FEW
from engine.report.columns import CRITERION, KAPPA, cells
from engine.results.annotation_import import AnnotatorJoined, FileJoined, Joining

_ALL = "all criteria"
_LONGEST_NAME = 20  # characters
_IN_TURN = "all, in turn"
_EQUAL = Column("equal", "agreement (%)", Kind.ESTIMATE).means(
    "The share of items with the same label from both, with its 95 % interval over instructions."
)
_OTHERS = (
    replace(CRITERION, title="the others' majority"),
    Column("who", "who", Kind.TEXT).means(
        "The annotator who is left out and compared with the others; the first row covers all, each in turn."
    ),
    Column("items", "labels", Kind.COUNT).means(
        "The number of the annotator's labels on items with a majority label of the others. Annotator"
        " and judge are compared on these items only."
    ),
    Column("undecided", "no majority", Kind.COUNT).means(
        "The number of the annotator's labels on items without a majority label of the others."
    ),
    Column("own", "annotator (%)", Kind.ESTIMATE).means(
        "How often the annotator gives the majority label, with its 95 % interval over instructions."
    ),
    Column("judge", "judge (%)", Kind.ESTIMATE, "The same for the judge, on the same items."),
    Column("lead", "difference", Kind.ESTIMATE).means(
        "Judge minus annotator, in percentage points, with its 95 % interval over instructions. If the"
        " interval is above 0, the judge agrees with the others significantly more than the annotator does."
    ),
)
_AMONG = (
    replace(CRITERION, title="labels on"),
    Column("people", "annotators", Kind.COUNT, "The number of annotators who gave any label here."),
    Column("items", "items", Kind.COUNT, "The number of labels on items with two or more annotators."),
    _EQUAL.means(
        "How often two annotators give the same label, over all items with two or more, with its 95"
        " % interval over instructions. It is not an upper bound for a judge."
    ),
    Column("kappa", "kappa", Kind.MEASURE).means(
        "Cohen's kappa, agreement beyond chance: the mean over all pairs of annotators, on the items"
        " that both labelled, with its 95 % interval over instructions."
    ),
    Column("alpha", "alpha", Kind.MEASURE).means(
        "Krippendorff's alpha over all annotators, also if they labelled different items, with its 95 %"
        " interval over instructions. 0 is chance, 1 is perfect agreement."
    ),
)
_FIRST_KIND = next(iter(Annotators))
_STANDS_IN = (
    replace(CRITERION, title="annotator left out"),
    Column("who", "who", Kind.TEXT, "The annotator who is left out; the first row is the mean over all."),
    Column("items", "labels", Kind.COUNT).means(
        "The number of the annotator's labels on items that others labelled too."
    ),
    Column("judge", "judge (%)", Kind.ESTIMATE).means(
        "The advantage probability, rho: the share of these items on which the judge agrees with at least as"
        " many of the others as the annotator does. The mean has its 95 % interval over instructions."
    ),
    Column("person", "annotator (%)", Kind.ESTIMATE).means(
        "The share on which the annotator agrees with at least as many of the others as the judge does."
    ),
    *(
        Column(kind.name.lower(), f"wins, {kind.in_words}", Kind.TEXT).means(
            "Whether the annotator's share is significantly less than epsilon (the number in brackets) above"
            " the judge's. p is one-sided and uncorrected; the answer is corrected for all annotators. The"
            " first row has the winning rate, omega: the share of annotators against whom the judge wins."
            if kind is _FIRST_KIND
            else "The same with another epsilon."
        )
        for kind in Annotators
    ),
)
_PAIRS = (
    Column("one", "who", Kind.TEXT, "An annotator of this run or of the dataset."),
    Column(
        "other", "with", Kind.TEXT, "Another annotator, the judge only, or the human labels of the dataset."
    ),
    CRITERION,
    Column("items", "both labelled", Kind.COUNT, "The number of labels on items that both labelled."),
    _EQUAL,
    replace(KAPPA, kind=Kind.MEASURE),
)


_WHO = Column("who", "who", Kind.TEXT, "An annotator of this run, or the judge.")
_SELF = (
    _WHO,
    Column("repeats", "labels again", Kind.COUNT, "Labels of hidden repeats; of the judge, in both orders."),
    Column("own", "same again (%)", Kind.ESTIMATE).means(
        "How often the label is the same as at first; of the judge, the same in both orders. With its 95 %"
        " interval over instructions."
    ),
    Column("judge", "judge agrees (%)", Kind.ESTIMATE, "How often the judge gives the annotator's label."),
    Column("lead", "difference", Kind.ESTIMATE).means(
        "The judge's agreement with the annotator minus the annotator's with themself, in points, with its"
        " 95 % interval."
    ),
)
_PACE = (
    _WHO,
    Column("gold_labels", "with human label", Kind.COUNT, "Their labels on items with a human label."),
    Column("gold", "human label (%)", Kind.ESTIMATE, "How often they give the dataset's human label."),
    Column("timed", "items timed", Kind.COUNT).means(
        "Items with a known time since the label of the item before; more than 10 minutes is a break."
    ),
    Column("seconds", "seconds an item", Kind.MEASURE, "The geometric mean of the times.", digits=1),
    Column("slower", "time, last half / first", Kind.MEASURE, "How much longer items of the last half take."),
    Column("later", "agreement, last half - first", Kind.ESTIMATE).means(
        "By how many points more often they give the human label, or the majority of the others, in the last"
        " half. Below 0: they tire."
    ),
)
_ANCHORING = (
    _WHO,
    Column("labels", "labels, seen", Kind.COUNT, "First labels where the judge's label was shown."),
    Column("seen", "judge's label, seen (%)", Kind.ESTIMATE, "How often the judge's label was given there."),
    Column("hidden_labels", "labels, hidden", Kind.COUNT, "First labels where it was hidden."),
    Column("hidden", "judge's label, hidden (%)", Kind.ESTIMATE, "How often it was given there."),
    Column("difference", "difference", Kind.ESTIMATE, "Seen minus hidden: what seeing it does to labels."),
)


def annotator_sections(agreement: AnnotatorAgreement | None, judge: bool = True) -> list[Section]:
    """Inter-annotator agreement, and each two sides; none where no annotators said anything. `judge`: whether
    there is one, who is compared with them.
    """
    if agreement is None:
        return []
    nobody = Sentences(["No item of this run was labelled by two annotators."])
    picked = [Sentences(agreement.picked, Tone.CAVEAT)] if agreement.picked else []
    with_judge = [
        Section(
            "others",
            "Leave-one-out agreement: each annotator, and the judge, against the others",
            [*picked, against_others_table(agreement) if agreement.against_others else nobody],
            "Each annotator is compared with the majority label of the other annotators, and the judge"
            " with the same majority label on the same items. Items without one are omitted. Labels that"
            " were given with the judge's label visible agree with it more than blind ones (on Review),"
            " which makes the judge look better.",
            help=("95 % interval",),
            spelt_out=True,
        ),
        *([_stands_in_section(agreement.alt_tests)] if agreement.alt_tests else ()),
    ]
    return [
        *(with_judge if judge else ()),
        Section(
            "people",
            "Inter-annotator agreement",
            [
                *([] if judge else picked),
                among_annotators_table(agreement) if agreement.among else nobody,
            ],
            "How often annotators of the same items of this run gave the same label. It is not an upper"
            " bound for a judge: if annotators are split, a judge can agree with more of them than they"
            " agree with each other.",
            help=("Kappa",),
            spelt_out=True,
        ),
        Section(
            "pairs",
            "Pairwise agreement",
            [annotator_pairs_table(agreement)],
            f"Each pair of annotators, and each annotator {'with the judge only and ' * judge}with the human"
            " labels of the dataset.",
            spelt_out=True,
        ),
        *_quality_sections(agreement.quality),
    ]


def _quality_sections(quality: LabellingQuality) -> Iterator[Section]:
    repeated = [each for each in quality.annotators if each.repeats]
    of_judge = [quality.judge] if repeated and quality.judge else []
    timed = quality.annotators if any(each.timed >= FEW for each in quality.annotators) else ()
    for key, title, columns, found, what in (
        (
            "themselves",
            "Annotators against themselves, and the judge against itself",
            _SELF,
            [*of_judge, *repeated],
            "By the hidden repeats of an assignment, which never count as labels.",
        ),
        (
            "pace",
            "Accuracy, pace and tiring of each annotator",
            _PACE,
            timed,
            "Halves of their items, by time: comparable where the items came in a random order.",
        ),
        (
            "anchoring",
            "Anchoring: the judge's label seen and hidden",
            _ANCHORING,
            quality.anchoring,
            "On a random share of the items other labels are hidden until the annotator has given theirs"
            " (File > Settings). First labels, of annotators who labelled blind on these items only.",
        ),
    ):
        nobody = "the judge" if columns is _SELF else "all"
        rows: list[Row] = [[_short(each.annotator or nobody), *cells(each, columns[1:])] for each in found]
        said = [_beside_judge(each) for each in repeated if each.lead] if columns is _SELF else []
        sentences = [Sentences(said)] if said else []
        if rows:
            yield Section(key, title, [*sentences, Table(columns, rows)], what, spelt_out=True)


def _beside_judge(each: AnnotatorQuality) -> str:
    who, lead = _short(each.annotator or ""), each.lead
    more = ("significantly more" if lead and lead.value < 0 else "significantly less") * each.differs
    how = more or "not significantly more or less"
    return f"The judge differs from {who} {how} than {who} from themself: {lead} points."


def _stands_in_section(tests: Sequence[AltTest]) -> Section:
    return Section(
        "stands_in",
        "Can the judge replace an annotator?",
        [Sentences([_verdict(test) for test in tests]), stands_in_table(tests)],
        "The alternative annotator test (Calderon, Reichart and Dror 2025), for two or more annotators"
        f" who each labelled {LEAST_ITEMS} items. Epsilon: by how much annotators may be better and still"
        " not be worth their cost, as its authors propose it. Which of the three applies depends on who"
        " labelled: choose it before you look at the results.",
        spelt_out=True,
    )


def stands_in_table(tests: Sequence[AltTest]) -> Table:
    rows: list[Row] = []
    for test in tests:
        rates = [f"omega {test.winning_rate(kind):.2f}" for kind in Annotators]
        rows.append([_named(test.criterion), _IN_TURN, "", test.advantage, "", *rates])
        rows += [
            [
                _named(test.criterion),
                _short(held.annotator),
                held.items,
                held.judge,
                held.own,
                *(
                    f"{yes_or_no(kind in held.beaten)}, p {number(held.p_values[kind], 3, 0.001)}"
                    for kind in Annotators
                ),
            ]
            for held in test.annotators
        ]
    return Table(_STANDS_IN, rows)


def _verdict(test: AltTest) -> str:
    """For whom the judge may stand in; first for the kind of annotators that is the default."""
    default = Annotators.SKILLED
    kinds = [default, *(kind for kind in Annotators if kind is not default)]
    yes, no = ([kind.in_words for kind in kinds if test.may_replace(kind) is may] for may in (True, False))
    said = [f"the judge can replace {listed(yes, shown=str)}"] if yes else []
    said += [f"not shown that the judge can replace {listed(no, shown=str)}"] if no else []
    two = ""
    if len(test.annotators) == 2:
        two = (
            " With two annotators the test only shows which of them the judge is closer to: its authors"
            " advise three."
        )
    return (
        f"{_named(test.criterion).capitalize()}: {'; '.join(said)}. It is at least as good as each of the"
        f" {len(test.annotators):,} annotators, taken in turn, on {_in_words(test.advantage)} of the labels."
        f" If they are skilled annotators it wins against {test.wins(default):,}; it needs half of them.{two}"
    )


def against_others_table(agreement: AnnotatorAgreement) -> Table:
    rows: list[Row] = [
        [
            _named(found.criterion),
            _IN_TURN if found.annotator is None else _short(found.annotator),
            *cells(found, _OTHERS[2:]),
        ]
        for found in agreement.against_others
    ]
    who = [_short(found.annotator or "") or "an annotator" for found in agreement.against_others]
    behind = [
        _behind(found.differing, found.criterion, f"{name} disagrees with most others")
        for name, found in zip(who, agreement.against_others, strict=True)
    ]
    return Table(_OTHERS, rows, behind=behind)


def among_annotators_table(agreement: AnnotatorAgreement) -> Table:
    rows: list[Row] = [
        [
            *(_named(found.criterion), found.annotators, *cells(found, _AMONG[2:-2])),
            *(found.kappa.estimate, found.alpha.estimate),
        ]
        for found in agreement.among.values()
    ]
    behind = [
        _behind(found.differing, found.criterion, "annotators disagree") for found in agreement.among.values()
    ]
    return Table(_AMONG, rows, behind=behind)


def annotator_pairs_table(agreement: AnnotatorAgreement) -> Table:
    rows: list[Row] = [
        [
            *(_short(pair.one), _short(pair.other), _named(pair.criterion)),
            *(*cells(pair, _PAIRS[3:-1]), pair.kappa.estimate),
        ]
        for pair in agreement.pairs
    ]
    behind = [
        _behind(pair.differing, pair.criterion, f"{_short(pair.one)} and {_short(pair.other)} disagree")
        for pair in agreement.pairs
    ]
    return Table(_PAIRS, rows, behind=behind)


def among_in_words(agreement: AnnotatorAgreement) -> list[str]:
    """A sentence for each criterion on which annotators share items: how far two of them agree."""
    said = []
    for found in agreement.among.values():
        if found.criterion is not None:
            alpha = "" if found.alpha.value is None else f" (Krippendorff's alpha {found.alpha.value:.2f})"
            said.append(
                f"{words(found.criterion).capitalize()}: of {found.annotators:,} annotators, two give the"
                f" same label to {_in_words(found.equal)} of the items that both labelled{alpha}."
            )
    return said


def _behind(ids: frozenset[str], criterion: str | None, words_of: str) -> ItemsBehind:
    where = "" if criterion is None else f" on {words(criterion)}"
    return ItemsBehind(ids, criterion, f"{words_of}{where}")


def _in_words(share: Estimate) -> str:
    """`66.7 % (95 %: 50.1 to 80.3)`."""
    return percent(share.value) + ("" if share.ends is None else f" (95 %: {interval(share.ends, 100)})")


def _short(annotator: str) -> str:
    return annotator if len(annotator) <= _LONGEST_NAME else f"{annotator[:_LONGEST_NAME]}…"


def _named(criterion: str | None) -> str:
    return _ALL if criterion is None else words(criterion)


_ANNOTATORS = (
    Column("person", "annotator", Kind.TEXT, "The annotator's name in the file."),
    Column("called", "name here", Kind.TEXT, "The annotator's name in this run store."),
    Column(
        "labels", "labels", Kind.COUNT, "New labels, explanations and accepted labels, including undone ones."
    ),
    Column("states", "states", Kind.COUNT, "New item marks: done, skipped or to do."),
    Column("notes", "notes", Kind.COUNT, "New notes and tags of items."),
    Column("turned", "changed", Kind.COUNT, "Annotations that this store has, undone or redone since."),
    Column("known", "here already", Kind.COUNT).means(
        "Annotations that this store already has; they are not added twice."
    ),
)

_MOST_SAID = 20  # contradictions, each a sentence


def joining_sections(joining: Joining) -> list[Section]:
    return [_file_section(place, file, joining) for place, file in enumerate(joining.files)]


def _file_section(place: int, file: FileJoined, joining: Joining) -> Section:
    made = file.made
    of = f"{made.run.title} ({made.run.judge}, {made.run.dataset})"
    facts = f"Annotations of {of}, written {made.written:%Y-%m-%d %H:%M} UTC."
    parts: list[Part] = [
        Sentences([facts, file.items_in_words]),
        imported_table(file.annotators, {namesake.name for namesake in file.namesakes}),
    ]
    if caveats := _caveats(file, joining):
        parts.insert(1, Sentences(caveats, Tone.CAVEAT))
    return Section(f"file-{place}", file.file, parts)


def imported_table(annotators: Sequence[AnnotatorJoined], asked: Container[str]) -> Table:
    """What is new of each annotator of a file; `asked`: names that may be one annotator or two."""
    rows: list[Row] = [
        [each.name, "?" if each.name in asked else each.called, *cells(each, _ANNOTATORS[2:])]
        for each in annotators
    ]
    return Table(_ANNOTATORS, rows)


def _caveats(file: FileJoined, joining: Joining) -> list[str]:
    said = []
    for ids, what in ((file.items.other_text, "Another text"), (file.items.missing, "Not in this run")):
        if ids:
            said.append(f"{what}: {listed(ids)}.")
    if skipped := file.made.skipped:
        rows = counted(len(skipped), "row that cannot be read is", "rows that cannot be read are")
        said.append(f"{rows} left out: {listed(skipped, _MOST_SAID, str)}")
    for criterion, count in sorted(file.lacking.items()):
        some = counted(count, "annotation", "annotations")
        said.append(f"{joining.run.title} has no criterion {words(criterion)}: {some} on it omitted.")
    said += file.contradicting[:_MOST_SAID]
    if more := len(file.contradicting[_MOST_SAID:]):
        said.append(
            f"{counted(more, 'other annotation contradicts', 'other annotations contradict')} one in this"
            " way."
        )
    if file.ahead:
        some = counted(file.ahead, "annotation is", "annotations are")
        said.append(f"{some} dated in the future: the clock of one of the two computers is wrong.")
    return said


def joined_sentence(joining: Joining) -> str:
    if not joining.new:
        return f"Nothing in this file is new to {joining.run.called}."
    annotators = sorted({each.called for file in joining.files for each in file.annotators if each.new})
    return (
        f"{counted(joining.new, 'annotation', 'annotations')} by {listed(annotators)} added to"
        f" {joining.run.called}."
    )
