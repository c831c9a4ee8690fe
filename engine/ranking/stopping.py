"""Judging until it is significant which of each two candidates is better, or how often each wins: by betting.

Whoever bets against "the mean is m", and cannot win on average if it is so, has made a fortune of 1 / error
with a chance of `error` at most, however often one looks (Ville). Several bets of a fixed part of what one
has stand side by side, and their mean is the fortune, so that no bet must be chosen beforehand (Waudby-Smith
& Ramdas, Estimating means of bounded random variables by betting, JRSS-B 2024, sections 4 and 5: a mixture of
constant bets, on both sides). A fixed part makes the fortune fall as m rises, so what is not refuted is one
interval; and it depends on how often each number came, not on their order: counts are all there is to keep.

The numbers are taken as drawn from a population, not out of the dataset without replacement: what is said
holds of instructions like these, as the intervals of a ranking do. Without replacement, 50.1 % would be a
significant win once the dataset is used up, and the ranking of the same labels would say that it is none.

An instruction is one bet: of its comparisons the mean counts, for they are alike.

All answers together are wrong with 5 % at most, however often one looks: Holm over the questions with
e-values (the largest of k open ones must reach k / 0.05; Vovk & Wang, E-values, Annals of Statistics 2021),
which holds at all moments together: before the first wrong answer all answered questions were true
differences, so k is no less than the number of those that are none. Intervals of a given width hold for each
question by itself.
"""

import math
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from engine.core.errors import Step
from engine.core.formatting import interval, percent
from engine.core.items import HumanLabel
from engine.core.judgments import label_of
from engine.core.numeric import BoolArray, FloatArray, IntArray
from engine.data.dataset import Dataset
from engine.data.label_origins import drawn_instructions
from engine.metrics.intervals import FEW
from engine.ranking.comparisons import (
    SCORES,
    PairComparisons,
    comparisons_of,
    comparisons_of_places,
    labels_said,
    unnamed,
)
from engine.results.run_results import RunResults
from engine.settings.sampling import DEFAULT_SEED, StoppingRule

ERROR = 0.05
_BETS = ((np.arange(12) + 0.5) / 12) ** 1.5
_LOG_STAKES = np.log((0.02 + (_BETS * (1 - _BETS)) ** 1.5) / np.sum(0.02 + (_BETS * (1 - _BETS)) ** 1.5))
"""Bets as shares of the wealth, and the initial wealth of each, of 1 in total. Most is on the bets that
become significant first for candidates 15 to 35 points from one half; a little is on small bets, for narrow
intervals with many numbers.
"""
_STEPS = 40  # halvings of an interval between 0 and 1: to a thousandth of a billionth


def growth(values: FloatArray, mean: float) -> FloatArray:
    """The logarithm of each bet's factor; `values`: 0 to 1, `mean` > 0. Shape (...) to (..., bets)."""
    return np.asarray(np.log1p(_BETS * (values[..., None] / mean - 1)))


def log_wealth(grown: FloatArray) -> FloatArray:
    """The logarithm of what one has of 1, by the sums of `growth`, shape (..., bets): shape (...)."""
    return np.asarray(np.logaddexp.reduce(grown + _LOG_STAKES, axis=-1))


def needed(error: float = ERROR, questions: int = 1) -> float:
    """The logarithm of the fortune on one side that refutes a mean. An e-value is compared with the number of
    questions over `error` (Holm, for the largest), and half of what one has is bet on either side.
    """
    return math.log(2 * questions / error)


@dataclass
class ValueCounts:
    """How often each number came: a plain record, to which numbers are added."""

    counts: Counter[float] = field(default_factory=Counter)

    @classmethod
    def of(cls, values: Iterable[float]) -> "ValueCounts":
        return cls(Counter(values))

    def add(self, value: float) -> None:
        """One number more, 0 to 1."""
        self.counts[value] += 1

    def __len__(self) -> int:
        return self.counts.total()

    @property
    def mean(self) -> float:
        return sum(value * count for value, count in self.counts.items()) / len(self)

    @property
    def turned(self) -> "ValueCounts":
        """What the other side has of it: 1 less each number."""
        turned = ValueCounts()
        for value, count in self.counts.items():
            turned.counts[1 - value] += count  # of two values near 0 it may be the same
        return turned

    def wealth_above(self, mean: float) -> float:
        """The logarithm of what betting that the mean is above this one, more than 0, has made of 1."""
        return float(log_wealth(self._grown(mean)))

    def lead(self) -> tuple[int, float]:
        """The side that is ahead of one half, 1 above and -1 below, and the logarithm of its fortune."""
        above, below = self.wealth_above(0.5), self.turned.wealth_above(0.5)
        return (1, above) if above >= below else (-1, below)

    def interval(self, error: float = ERROR) -> tuple[float, float]:
        """The means (0 to 1) not refuted: the true one, but for a chance of `error`, however often asked."""
        return self._low(error), 1 - self.turned._low(error)

    def more_for_half(self, log_wealth_needed: float) -> float:
        """About how many such numbers more until the leading side has this fortune; infinite without one."""
        side, has = self.lead()
        grown = (self if side > 0 else self.turned)._grown(0.5)
        each = float(grown.max()) / max(len(self), 1)
        return max(0.0, log_wealth_needed - has) / each if each > 0 else math.inf

    def _grown(self, mean: float) -> FloatArray:
        values = np.array(list(self.counts), np.float64)
        times = np.array(list(self.counts.values()), np.float64)
        return np.asarray(times @ growth(values, mean))

    def _low(self, error: float) -> float:
        """The least mean that is not refuted from below."""
        if not self.counts:
            return 0.0
        low, high = 0.0, self.mean
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if middle > 0 and self.wealth_above(middle) >= needed(error):
                low = middle
            else:
                high = middle
        return low


@dataclass(eq=False)
class WhoWins:
    """Against one `opponent`, or all. `turns`: the instructions to come, the next one last: see `_turns`.
    `won`: an instruction each. `answered`: the side of one half that it is
    significantly on, or of a narrow interval (0 for neither); None while open.
    """

    candidate: str
    opponent: str | None
    turns: list[tuple[IntArray, BoolArray]]
    won: ValueCounts = field(default_factory=ValueCounts)
    answered: int | None = None
    _lead: tuple[int, float] = (1, 0.0)
    _next_look: int = FEW

    @property
    def is_open(self) -> bool:
        return self.answered is None

    @property
    def in_words(self) -> str:
        """What is clear: `llama is better than opt: it wins 71.0 % (55.1-84.0) of 31 instructions`."""
        rate = f"{percent(self.won.mean)} ({interval(self.ends)}) of {len(self.won):,} instructions"
        if self.opponent is None or not self.answered:
            against = f" against {self.opponent}" if self.opponent is not None else ""
            return f"{self.candidate}{against} wins {rate}"
        worse = self.answered < 0
        return f"{self.candidate} is {'worse' if worse else 'better'} than {self.opponent}: it wins {rate}"

    @property
    def ends(self) -> tuple[float, float]:
        """Of its interval, which holds however often it is looked at, in percent."""
        low, high = self.won.interval()
        return 100 * low, 100 * high

    def add(self, won: float) -> None:
        """What the candidate won on one instruction more, 0 to 1."""
        self.won.add(won)
        self._lead = self.won.lead()

    def sure_side(self, least: float) -> int | None:
        """The side of one half on which it is, once the fortune of that side has this logarithm."""
        side, has = self._lead
        return side if has >= least and len(self.won) >= FEW else None

    def narrow_side(self, width: float) -> int | None:
        """Once its interval is no wider than this, 0 to 1: the side on which all of it is, 0 for neither."""
        if len(self.won) < self._next_look:
            return None
        low, high = self.won.interval()
        if high - low <= width:
            return (low > 0.5) - (high < 0.5)
        # An interval takes a millisecond, so it is not made while it is significantly far too wide.
        self._next_look = len(self.won) + max(1, int(more_for_width(self.won, width) / 2))
        return None


class UntilSignificant:
    """What is said of items is added as it comes. `comparisons`: instructions with lower numbers are drawn
    earlier. `width`: of the interval asked for, 0 to 1; None: which side of one half. `seed`, `criterion`:
    how instructions are drawn, by whose labels it is answered.
    """

    def __init__(
        self,
        comparisons: PairComparisons,
        width: float | None = None,
        seed: int = DEFAULT_SEED,
        criterion: str = "",
    ) -> None:
        self.width, self.seed, self.criterion = width, seed, criterion
        self.left_out = comparisons.left_out
        self._row_of = {item_id: row for row, item_id in enumerate(comparisons.ids)}
        self._scores: FloatArray = np.full(len(comparisons), np.nan)
        self._is_known: BoolArray = np.zeros(len(comparisons), np.bool_)
        self._of_row: list[list[WhoWins]] = [[] for _ in range(len(comparisons))]
        self.questions: list[WhoWins] = []
        for candidate, opponent, rows in _asked(comparisons, width):
            question = WhoWins(candidate, opponent, _turns(comparisons, candidate, rows)[::-1])
            self.questions.append(question)
            for row in rows:
                self._of_row[row].append(question)

    @property
    def is_tuning(self) -> bool:
        return False

    @property
    def leaves_out(self) -> bool:
        """Whether items of what is answered are omitted while other questions are open."""
        return len(self.questions) > 1

    @property
    def is_exhausted(self) -> bool:
        return bool(self._is_known.all())

    @property
    def is_answered(self) -> bool:
        return not self.open

    @property
    def open(self) -> list[WhoWins]:
        return [question for question in self.questions if question.is_open]

    def wants(self, item_id: str) -> bool:
        """Whether an item is of a question that is open."""
        row = self._row_of.get(item_id)
        return row is not None and any(question.is_open for question in self._of_row[row])

    def add(self, labels: Mapping[str, HumanLabel | None]) -> list[str]:
        """Labels of items, None where none could be made; returns what became clear, in words."""
        before = self.open
        rows = np.array([self._row_of[item_id] for item_id in labels if item_id in self._row_of], np.int64)
        said = labels_said(label for item_id, label in labels.items() if item_id in self._row_of)
        self._scores[rows] = said @ SCORES
        self._is_known[rows] = True
        self._take({question for row in rows for question in self._of_row[row]})
        return [question.in_words for question in before if not question.is_open]

    def left(self, question: WhoWins) -> int:
        """How many instructions of a question are not judged yet, or not whole."""
        return sum(not self._is_known[rows].all() for rows, _ in question.turns)

    def more(self, question: WhoWins) -> float:
        """About how many instructions more an open question needs, if they are like those that are known."""
        if self.width is None:
            return question.won.more_for_half(needed(questions=len(self.open)))
        return more_for_width(question.won, self.width)

    # Each instruction as soon as all of its comparisons are known, in the order drawn: neither the order of
    # judging nor what was judged before can lean to one side.
    def _take(self, questions: Container[WhoWins]) -> None:
        """Go on with questions, instruction after instruction, as far as what is known reaches."""
        waiting = [question for question in self.open if question in questions]
        while waiting:
            waiting = [question for question in waiting if question.is_open and self._take_one(question)]
            self._answer()

    def _take_one(self, question: WhoWins) -> bool:
        """Take the next instruction of a question; whether it was known."""
        if not question.turns or not self._is_known[question.turns[-1][0]].all():
            return False
        rows, turned = question.turns.pop()
        scores = self._scores[rows]
        won = np.where(turned, 1 - scores, scores)
        if not np.isnan(won).all():
            question.add(float(np.nanmean(won)))
        return True

    def _answer(self) -> None:
        """Answer what can be, one question after another: each makes the next one easier."""
        is_open, before = self.open, 0
        while len(is_open) != before:
            before = len(is_open)
            least = needed(questions=before) if before else 0.0
            for question in is_open:
                question.answered = (
                    question.sure_side(least) if self.width is None else question.narrow_side(self.width)
                )
            is_open = [question for question in is_open if question.is_open]


def until_significant(dataset: Dataset, criterion: str, until: StoppingRule) -> UntilSignificant:
    """By the judge's labels on a criterion. Where candidates are not named, a width is that of the share that
    A wins. SetupError where nobody is named who could be better.
    """
    if dataset.names_candidates:
        comparisons = comparisons_of(dataset)
    elif until.width is None:
        raise unnamed(dataset, Step.STOP_AT_A_WIDTH, " ")
    else:
        comparisons = comparisons_of_places(dataset)
    places = dict(zip(dataset.ids, drawn_instructions(dataset.group_column, until.seed), strict=True))
    drawn = replace(
        comparisons, instructions=np.array([places[item_id] for item_id in comparisons.ids], np.int64)
    )
    return UntilSignificant(drawn, None if until.width is None else until.width / 100, until.seed, criterion)


def told_of(asked: UntilSignificant, results: RunResults) -> UntilSignificant:
    """The same questions with all that a run holds of the judge: another process may have judged."""
    judgments = results.judgments[asked.criterion]
    asked.add({judgment.item_id: label_of(judgment) for judgment in judgments})
    return asked


def more_for_width(won: ValueCounts, width: float) -> float:
    """About how many more instructions: four times as many for half the width, 0 to 1."""
    low, high = won.interval()
    return max(len(won), 1) * max(0.0, ((high - low) / width) ** 2 - 1)


def _asked(comparisons: PairComparisons, width: float | None) -> Iterable[tuple[str, str | None, IntArray]]:
    """What is asked of comparisons: candidate, opponent, rows. Of two candidates alone it is one question."""
    names = comparisons.names
    if width is not None and len(names) > 2:
        for number, name in enumerate(names):
            yield name, None, np.flatnonzero((comparisons.first == number) | (comparisons.second == number))
        return
    low, high = np.sort(np.stack([comparisons.first, comparisons.second]), axis=0)
    for one, other in np.unique(np.stack([low, high], axis=1), axis=0).tolist():
        yield names[one], names[other], np.flatnonzero((low == one) & (high == other))


def _turns(comparisons: PairComparisons, candidate: str, rows: IntArray) -> list[tuple[IntArray, BoolArray]]:
    """The rows of each instruction in the order of drawing, and where the candidate stands as B in them."""
    number = comparisons.names.index(candidate)
    order = rows[np.argsort(comparisons.instructions[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(comparisons.instructions[order])) + 1
    return [(part, comparisons.second[part] == number) for part in np.split(order, starts)]
