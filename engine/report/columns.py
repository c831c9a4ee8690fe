"""Columns that several tables have. Imports nothing that measures: judging shows some of them too."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.core import formatting
from engine.core.formatting import words
from engine.core.items import PREFERENCES, Tie
from engine.core.tables import Column, Kind

CRITERION = Column("criterion", "criterion", Kind.NAME, "The criterion that responses are judged on.")
LABELS = Column("labels", "labels", Kind.COUNT, "How many items have a human label here.")
LABELS_GIVEN = (
    *(
        Column(label.value, label.value, Kind.COUNT, f"How often the label “{words(label)}” was given.")
        for label in PREFERENCES
    ),
    Column("unscored", "unscored", Kind.COUNT, "Judgments that could not be made; never a default label."),
)
"""How often each label was given, and how often none."""

TIE = Column(Tie.TIE.value, Tie.TIE.value, Kind.COUNT).means(
    "Labels that are only “tie”: “both good” and “both bad” both agree with one."
)
"""Added to LABELS_GIVEN if there are any."""

ACCURACY = Column("accuracy", "accuracy", Kind.SHARE).means(
    "The share of human labels that the judge also gives. If the human label is only “tie”, any tie is"
    " right. An unscored judgment counts as wrong."
)
MOST_FREQUENT = Column("most_frequent", "most frequent", Kind.SHARE).means(
    "The accuracy of always giving the most frequent human label, without reading the responses."
)
KAPPA = Column("kappa", "kappa", Kind.NUMBER, formatting.KAPPA)
INTERVAL = Column("interval", "95 % interval", Kind.INTERVAL, formatting.INTERVAL)
SHARE_INTERVAL = replace(INTERVAL, kind=Kind.SHARE_INTERVAL)
FLIPPED = Column("flipped", "flip rate", Kind.SHARE).means(
    "The share of position-inconsistent judgments, of those read in both orders: the label changes if"
    " the responses are swapped. A high rate means that the judge looks at the position of a response,"
    " not at its text."
)
IN_BOTH_ORDERS = Column("in_both_orders", "in both orders", Kind.PAIR).means(
    "How many judgments were read in both orders, of how many. It is not known whether the others are"
    " position-inconsistent."
)
"""Added to FLIPPED if a run read the second order of uncertain items only."""

ANSWER_MASS = Column("format_mass", "answer mass", Kind.NUMBER, digits=3).means(
    "Total probability of the valid answers; near 1: the model understood the question."
)
ROUGE_L = Column("rouge_l", "ROUGE-L", Kind.NUMBER, formatting.ROUGE_L)
BERTSCORE = Column(
    "bertscore", "BERTScore", Kind.NUMBER, "The similarity of both explanations by an encoder model, × 100."
)
AGREEMENT = Column("agreement", "agreement", Kind.NUMBER, formatting.AGREEMENT)
CANDIDATE = Column("candidate", "candidate", Kind.TEXT, "A model that wrote responses.")


def ends(digits: int = 3, of: str = "the") -> tuple[Column, Column]:
    """The two ends of an interval over instructions, `of` what, in columns of their own."""
    low = f"The lower end of {of} 95 % interval over instructions."
    return (
        Column("low", "from", Kind.NUMBER, low, digits),
        Column("high", "to", Kind.NUMBER, "Its upper end.", digits),
    )


def cells(record: object, columns: Sequence[Column]) -> list[Any]:
    """The fields of a record that some columns are named after."""
    return [getattr(record, column.key) for column in columns]


def with_both_orders(columns: Sequence[Column]) -> tuple[Column, ...]:
    place = columns.index(FLIPPED) + 1
    return (*columns[:place], IN_BOTH_ORDERS, *columns[place:])


def with_human_ties(columns: Sequence[Column]) -> tuple[Column, ...]:
    place = columns.index(LABELS_GIVEN[-1])
    return (*columns[:place], TIE, *columns[place:])
