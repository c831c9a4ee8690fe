"""Columns that several tables have.

Knows: titles, kinds and meanings. Does not know: measures, which tables have them, terminals, windows.
Imports nothing that measures: judging shows some of these columns too.
"""

from collections.abc import Sequence
from dataclasses import replace

from engine.core import measure_words
from engine.core.formatting import words
from engine.core.items import PREFERENCES, Tie
from engine.core.value_tables import Column, Kind

CRITERION = Column("criterion", "criterion", Kind.NAME, "The criterion that responses are judged by.")
LABELS = Column("labels", "labels", Kind.COUNT, "How many items have a human label here.")
LABELS_GIVEN = (
    *(
        Column(label.value, label.value, Kind.COUNT, f"How often the label “{words(label)}” was given.")
        for label in PREFERENCES
    ),
    Column("unscored", "unscored", Kind.COUNT, "Judgments that could not be made; never a default label."),
)
"""How often each label was given, and how often none."""

TIE = Column(
    Tie.TIE.value,
    Tie.TIE.value,
    Kind.COUNT,
    "Human labels that say tie and no more: “both good” and “both bad” both agree with one.",
)
"""Beside LABELS_GIVEN where people gave any."""

ACCURACY = Column(
    "accuracy",
    "accuracy",
    Kind.SHARE,
    "The share of human labels that the judge gives too, or any tie where people said “tie” and no more; an"
    " unscored judgment counts as wrong.",
)
MOST_FREQUENT = Column(
    "most_frequent",
    "most frequent",
    Kind.SHARE,
    "What always giving the most frequent human label reaches, without reading anything.",
)
KAPPA = Column("kappa", "kappa", Kind.NUMBER, measure_words.KAPPA)
INTERVAL = Column("interval", "95 % interval", Kind.INTERVAL, measure_words.INTERVAL)
SHARE_INTERVAL = replace(INTERVAL, kind=Kind.SHARE_INTERVAL)
FLIPPED = Column(
    "flipped",
    "flipped",
    Kind.SHARE,
    "The share of judgments where the order of the responses alone decides the label, of those that were read"
    " in both orders. Many mean that the judge looks at the place of a response, not at the response.",
)
IN_BOTH_ORDERS = Column(
    "in_both_orders",
    "in both orders",
    Kind.PAIR,
    "How many judgments were read in both orders, and how many there are: of the others it is not known"
    " whether the order decides them.",
)
"""Beside FLIPPED where a run read the second order only in doubt."""

FORMAT_MASS = Column(
    "format_mass",
    "format mass",
    Kind.NUMBER,
    "The share of probability on the offered answers; near 1: the model understood what it was asked.",
    digits=3,
)
ROUGE_L = Column("rouge_l", "ROUGE-L", Kind.NUMBER, measure_words.ROUGE_L)
BERTSCORE = Column(
    "bertscore",
    "BERTScore",
    Kind.NUMBER,
    "How alike the words of both explanations are to an encoder model, × 100.",
)
AGREEMENT = Column("agreement", "agreement", Kind.NUMBER, measure_words.AGREEMENT)


def with_both_orders(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The same columns with IN_BOTH_ORDERS after FLIPPED."""
    place = columns.index(FLIPPED) + 1
    return (*columns[:place], IN_BOTH_ORDERS, *columns[place:])


def with_human_ties(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The same columns with TIE after those of the four labels."""
    place = columns.index(LABELS_GIVEN[-1])
    return (*columns[:place], TIE, *columns[place:])
