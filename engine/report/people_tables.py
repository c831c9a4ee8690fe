"""How far people agree, as sections of a sheet.

Knows: which columns stand side by side, what they mean. Does not know: terminals, HTML, windows.
"""

from dataclasses import replace

from engine.core.formatting import percent, words
from engine.core.sheets import Section, Sentences
from engine.core.value_tables import Column, Kind, Row, Table
from engine.measure.people_agreement import PeopleAgreement
from engine.report.columns import CRITERION, KAPPA

_ALL = "all together"
_LONGEST_NAME = 20  # letters
_EQUAL = Column("equal", "equal labels", Kind.SHARE, "The share of items to which both gave the same label.")
_AMONG = (
    replace(CRITERION, title="people among themselves"),
    Column("people", "people", Kind.COUNT, "How many people labelled anything here."),
    Column("items", "items", Kind.COUNT, "How many labels two or more people gave to the same item."),
    replace(
        _EQUAL,
        meaning="The mean over each two people of their share of equal labels: no judge can agree with all of"
        " them more than that.",
    ),
    replace(KAPPA, meaning="The mean over each two people of Cohen's kappa: agreement beyond chance."),
    Column(
        "alpha",
        "alpha",
        Kind.NUMBER,
        "Krippendorff's alpha over all people, also where each labelled other items. 0 is chance, 1 is"
        " complete.",
    ),
)
_PAIRS = (
    Column("one", "who", Kind.TEXT, "A person who labelled items of this run, or the dataset."),
    Column(
        "other",
        "with",
        Kind.TEXT,
        "Another person, the model alone (without what people overrode), or the human labels of the dataset.",
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
    return [
        Section(
            "people",
            "People among themselves",
            [among_people_table(agreement) if agreement.among else nobody],
            "How often people who labelled the same items of this run gave equal labels: no judge can be"
            " right for two people where they differ.",
            help=("Kappa",),
            spelt_out=True,
        ),
        Section(
            "pairs",
            "Who agrees with whom",
            [people_pairs_table(agreement)],
            "Each two people, each of them with the model alone, and with the human labels of the dataset."
            " Labels that were given blind (on Review) say more than labels that were given in sight of the"
            " model's, which agree with it more.",
            spelt_out=True,
        ),
    ]


def among_people_table(agreement: PeopleAgreement) -> Table:
    """People among themselves on each criterion, and all together."""
    rows: list[Row] = [
        [_named(found.criterion), found.people, found.items, found.equal, found.kappa, found.alpha]
        for found in agreement.among.values()
    ]
    return Table(_AMONG, rows)


def people_pairs_table(agreement: PeopleAgreement) -> Table:
    """Each two sides, people first: on each criterion, and all together."""
    rows: list[Row] = [
        [_short(pair.one), _short(pair.other), _named(pair.criterion), pair.items, pair.equal, pair.kappa]
        for pair in agreement.pairs
    ]
    return Table(_PAIRS, rows)


def among_in_words(agreement: PeopleAgreement) -> list[str]:
    """A sentence for each criterion on which annotators share items: how far two of them agree."""
    said = []
    for found in agreement.among.values():
        if found.criterion is not None:
            alpha = "" if found.alpha is None else f" (Krippendorff's alpha {found.alpha:.2f})"
            said.append(
                f"{words(found.criterion).capitalize()}: of {found.people:,} annotators, two give the same"
                f" label to {percent(found.equal)} of the items that both labelled{alpha}."
            )
    return said


def _short(person: str) -> str:
    return person if len(person) <= _LONGEST_NAME else f"{person[:_LONGEST_NAME]}…"


def _named(criterion: str | None) -> str:
    return _ALL if criterion is None else words(criterion)
