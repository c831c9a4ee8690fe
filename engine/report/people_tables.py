"""How far people agree, as sections of a sheet.

Knows: which columns stand side by side, what they mean. Does not know: terminals, HTML, windows.
"""

from collections.abc import Sequence
from dataclasses import replace

from engine.core.formatting import interval, listed, number, percent, words, yes_or_no
from engine.core.sheets import Section, Sentences, Tone
from engine.core.value_tables import Column, Estimate, ItemsBehind, Kind, Row, Table
from engine.measure.alt_test import LEAST_ITEMS, AltTest, Annotators
from engine.measure.people_agreement import PeopleAgreement
from engine.report.columns import CRITERION, KAPPA

_ALL = "all together"
_LONGEST_NAME = 20  # letters
_IN_TURN = "each in turn"
_EQUAL = Column(
    "equal",
    "equal labels (%)",
    Kind.ESTIMATE,
    "The share of items to which both gave the same label, with its 95 % interval over instructions.",
)
_OTHERS = (
    replace(CRITERION, title="the others' majority"),
    Column(
        "who", "who", Kind.TEXT, "The person who is held against the others; the first row has each in turn."
    ),
    Column(
        "items",
        "labels",
        Kind.COUNT,
        "How many of the person's labels are of items on which more than half of the others say the same: on"
        " these alone person and judge are held against them.",
    ),
    Column(
        "undecided",
        "no majority",
        Kind.COUNT,
        "How many more of the person's labels are of items on which the others have no majority.",
    ),
    Column(
        "own",
        "the person (%)",
        Kind.ESTIMATE,
        "How often the person gives the label of the majority, with its 95 % interval over instructions.",
    ),
    Column("judge", "the judge (%)", Kind.ESTIMATE, "The same of the judge, on the very same items."),
    Column(
        "lead",
        "difference",
        Kind.ESTIMATE,
        "By how many points the judge gives it more often, with its 95 % interval over instructions: above 0"
        " throughout, the judge stands nearer to the others than the person does.",
    ),
)
_AMONG = (
    replace(CRITERION, title="people among themselves"),
    Column("people", "people", Kind.COUNT, "How many people labelled anything here."),
    Column("items", "items", Kind.COUNT, "How many labels two or more people gave to the same item."),
    replace(
        _EQUAL,
        meaning="How often two people give the same label, over all items that any two labelled, with its"
        " 95 % interval over instructions. It is no limit for a judge.",
    ),
    replace(
        KAPPA,
        meaning="The mean over each two people, by the items that both labelled, of Cohen's kappa: agreement"
        " beyond chance.",
    ),
    Column(
        "alpha",
        "alpha",
        Kind.NUMBER,
        "Krippendorff's alpha over all people, also where each labelled other items. 0 is chance, 1 is"
        " complete.",
    ),
)
_FIRST_KIND = next(iter(Annotators))
_STANDS_IN = (
    replace(CRITERION, title="the judge in a person's place"),
    Column("who", "who", Kind.TEXT, "The person who is left out; the first row is the mean over them."),
    Column("items", "labels", Kind.COUNT, "How many of the person's labels are of items that others have."),
    Column(
        "judge",
        "the judge (%)",
        Kind.ESTIMATE,
        "On what share of them the judge agrees with as many of the others as the person does, or with more:"
        " its advantage, rho. The mean has its 95 % interval over instructions.",
    ),
    Column(
        "person",
        "the person (%)",
        Kind.ESTIMATE,
        "On what share the person agrees with as many of the others as the judge does, or with more.",
    ),
    *(
        Column(
            kind.name.lower(),
            f"wins, {kind.in_words}",
            Kind.TEXT,
            "Whether the person's share is surely less than the number in brackets, epsilon, above the"
            " judge's: p, one-sided, before the correction for all people that the answer has. The first row"
            " has omega, the share of people against whom the judge wins."
            if kind is _FIRST_KIND
            else "The same with another epsilon.",
        )
        for kind in Annotators
    ),
)
_PAIRS = (
    Column("one", "who", Kind.TEXT, "A person who labelled items of this run, or the dataset."),
    Column(
        "other",
        "with",
        Kind.TEXT,
        "Another person, the judge alone, or the human labels of the dataset.",
    ),
    CRITERION,
    Column("items", "both labelled", Kind.COUNT, "How many labels both gave to the same item."),
    _EQUAL,
    KAPPA,
)


def people_sections(agreement: PeopleAgreement | None) -> list[Section]:
    """People among themselves, and each two sides; none where no people said anything."""
    if agreement is None:
        return []
    nobody = Sentences(["No two people labelled the same item of this run."])
    picked = [Sentences(agreement.picked, Tone.CAVEAT)] if agreement.picked else []
    return [
        Section(
            "others",
            "A person, and the judge in his place",
            [*picked, against_others_table(agreement) if agreement.against_others else nobody],
            "Each person is held against the majority of the other people, and the judge against the same"
            " majority on the same items. Items on which the others have no majority take no part. Labels"
            " that were given in sight of the judge's agree with him more than blind ones (on Review): he"
            " looks better by them.",
            help=("95 % interval",),
            spelt_out=True,
        ),
        *([_stands_in_section(agreement.alt_tests)] if agreement.alt_tests else ()),
        Section(
            "people",
            "People among themselves",
            [among_people_table(agreement) if agreement.among else nobody],
            "How often people who labelled the same items of this run gave equal labels. It is no limit for a"
            " judge: where people are split, he can be with more of them than any two are with each other.",
            help=("Kappa",),
            spelt_out=True,
        ),
        Section(
            "pairs",
            "Who agrees with whom",
            [people_pairs_table(agreement)],
            "Each two people, each of them with the judge alone, and with the human labels of the dataset.",
            spelt_out=True,
        ),
    ]


def _stands_in_section(tests: Sequence[AltTest]) -> Section:
    return Section(
        "stands_in",
        "May the judge stand in for a person?",
        [Sentences([_verdict(test) for test in tests]), stands_in_table(tests)],
        "The alternative annotator test (Calderon, Reichart and Dror 2025), for each two people or more who"
        f" labelled {LEAST_ITEMS} items. Epsilon is by how much a person may be better and yet not worth what"
        " he costs, as its authors propose it. Which of the three holds depends on who labelled, which only"
        " you know: choose it before you look.",
        spelt_out=True,
    )


def stands_in_table(tests: Sequence[AltTest]) -> Table:
    """The judge in the place of each person, on each criterion."""
    rows: list[Row] = []
    for test in tests:
        rates = [f"omega {test.winning_rate(kind):.2f}" for kind in Annotators]
        rows.append([_named(test.criterion), _IN_TURN, "", test.advantage, "", *rates])
        rows += [
            [
                _named(test.criterion),
                _short(held.person),
                held.items,
                held.judge,
                held.own,
                *(f"{yes_or_no(kind in held.beaten)}, p {_p(held.p_values[kind])}" for kind in Annotators),
            ]
            for held in test.people
        ]
    return Table(_STANDS_IN, rows)


def _p(value: float) -> str:
    return number(value, 3, 0.001)


def _verdict(test: AltTest) -> str:
    """For whom the judge may stand in; for the kind of people that is meant unless somebody says otherwise,
    first.
    """
    usual = Annotators.SKILLED
    kinds = [usual, *(kind for kind in Annotators if kind is not usual)]
    yes, no = ([kind.in_words for kind in kinds if test.may_replace(kind) is may] for may in (True, False))
    said = [f"the judge may stand in for {listed(yes, shown=str)}"] if yes else []
    said += [f"nothing shows that the judge may stand in for {listed(no, shown=str)}"] if no else []
    two = ""
    if len(test.people) == 2:
        two = (
            " With two people it is only known to whom of them the judge is nearer: the authors advise three."
        )
    return (
        f"{_named(test.criterion).capitalize()}: {'; '.join(said)}. Of {len(test.people):,} people taken in"
        f" turn it is as good or better on {_in_words(test.advantage)} of the labels; if they are skilled"
        f" annotators it wins against {test.wins(usual):,}, and half of them are needed.{two}"
    )


def against_others_table(agreement: PeopleAgreement) -> Table:
    """People and the judge against the majority of the others: on each criterion, and all together."""
    rows: list[Row] = [
        [
            _named(found.criterion),
            _IN_TURN if found.person is None else _short(found.person),
            found.items,
            found.undecided,
            found.own,
            found.judge,
            found.lead,
        ]
        for found in agreement.against_others
    ]
    behind = [
        _behind(
            found.differing,
            found.criterion,
            "somebody says otherwise than most others"
            if found.person is None
            else f"{_short(found.person)} says otherwise than most others",
        )
        for found in agreement.against_others
    ]
    return Table(_OTHERS, rows, behind=behind)


def among_people_table(agreement: PeopleAgreement) -> Table:
    """People among themselves on each criterion, and all together."""
    rows: list[Row] = [
        [
            _named(found.criterion),
            found.people,
            found.items,
            found.equal,
            found.kappa,
            found.alpha,
        ]
        for found in agreement.among.values()
    ]
    behind = [
        _behind(found.differing, found.criterion, "people differ") for found in agreement.among.values()
    ]
    return Table(_AMONG, rows, behind=behind)


def people_pairs_table(agreement: PeopleAgreement) -> Table:
    """Each two sides, people first: on each criterion, and all together."""
    rows: list[Row] = [
        [
            _short(pair.one),
            _short(pair.other),
            _named(pair.criterion),
            pair.items,
            pair.equal,
            pair.kappa,
        ]
        for pair in agreement.pairs
    ]
    behind = [
        _behind(pair.differing, pair.criterion, f"{_short(pair.one)} and {_short(pair.other)} differ")
        for pair in agreement.pairs
    ]
    return Table(_PAIRS, rows, behind=behind)


def among_in_words(agreement: PeopleAgreement) -> list[str]:
    """A sentence for each criterion on which annotators share items: how far two of them agree."""
    said = []
    for found in agreement.among.values():
        if found.criterion is not None:
            alpha = "" if found.alpha is None else f" (Krippendorff's alpha {found.alpha:.2f})"
            said.append(
                f"{words(found.criterion).capitalize()}: of {found.people:,} annotators, two give the same"
                f" label to {_in_words(found.equal)} of the items that both labelled{alpha}."
            )
    return said


def _behind(ids: frozenset[str], criterion: str | None, words_of: str) -> ItemsBehind:
    where = "" if criterion is None else f" on {words(criterion)}"
    return ItemsBehind(ids, criterion, f"{words_of}{where}")


def _in_words(share: Estimate) -> str:
    """`66.7 % (95 %: 50.1 to 80.3)`."""
    return percent(share.value) + ("" if share.ends is None else f" (95 %: {interval(share.ends, 100)})")


def _short(person: str) -> str:
    return person if len(person) <= _LONGEST_NAME else f"{person[:_LONGEST_NAME]}…"


def _named(criterion: str | None) -> str:
    return _ALL if criterion is None else words(criterion)
