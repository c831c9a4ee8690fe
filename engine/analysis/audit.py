"""The lines of an audit: what was measured of a judge, and which of it is an issue. What its raw predictions
alone tell, as arrays: order, tokens, perturbations, speed. It is the judge as it reads: without a
calibration, and without human overrides.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from engine.analysis.perturbations import PerturbationKind, PerturbationSet
from engine.core.formatting import counted, percent, points
from engine.core.health import Sign
from engine.core.items import PREFERENCES, HumanLabel, Item, Method, Order, Preference
from engine.core.judgments import JudgedItem, JudgmentKey
from engine.core.methods import LETTERS
from engine.core.numeric import BoolArray, FloatArray, IntArray, log_softmax
from engine.core.tables import Estimate
from engine.data.dataset import Dataset
from engine.metrics.intervals import FEW, Interval, OverInstructions, holm
from engine.results.decision import RunPredictions, of_order
from engine.results.health import LIMITS
from engine.results.run_dataset import human_labels
from engine.results.run_results import RunResults

UNCERTAINTY = 0.05
"""The family-wise error rate: how often a judge that is nowhere beyond a bound may be found to have any
issue."""

MOST_TIMES = 25
"""The largest multiple of the items that is tried for a clear verdict."""


class AuditVerdict(StrEnum):
    """The verdict on a check. The value is its name in JSON."""

    FAULT = "fault"
    PERHAPS = "perhaps"  # beyond its bound, but it may be chance
    NONE_FOUND = "none found"  # within it, but its interval reaches beyond
    SOUND = "sound"  # significantly within it
    UNKNOWN = "cannot be told"
    FACT = "-"  # no bound is compared with it


@dataclass(frozen=True)
class AuditLine:
    """One thing that is looked at. `value`: a share (0 to 1) or a difference of shares (-1 to 1) with its 95
    % interval. `bound`: from where on it is an issue; `below`: one that lies below it; `two_sided`: one as
    far on either side. `p`: how probable so much would be, were the truth at the bound. `shown`: a value that
    is no share, as text. `times`: with how many times the items, if they are like these, the interval would
    lie on one side of the bound; None for more than MOST_TIMES.
    """

    name: str
    title: str
    value: Estimate | None
    sentence: str
    bound: float | None = None
    p: float | None = None
    below: bool = False
    two_sided: bool = False
    shown: str = ""
    times: int | None = None
    verdict: AuditVerdict = AuditVerdict.FACT

    @classmethod
    def untold(cls, name: str, title: str, why: str) -> "AuditLine":
        return cls(name, title, None, why, verdict=AuditVerdict.UNKNOWN)

    @property
    def found(self) -> bool | None:
        """Whether it is an issue; None where that cannot be measured, or nothing is compared with it."""
        known = self.verdict not in (AuditVerdict.UNKNOWN, AuditVerdict.FACT)
        return self.verdict is AuditVerdict.FAULT if known else None

    @property
    def value_text(self) -> str:
        return self.shown or ("-" if self.value is None else str(self.value))

    @property
    def bound_text(self) -> str:
        """From where on it is an issue: `over 2.0`, `under 90.0`, `over ±5.0`."""
        side = f"{'under' if self.below else 'over'} {'±' if self.two_sided else ''}"
        return "" if self.bound is None else f"{side}{100 * self.bound:.1f}"

    def as_json(self) -> dict[str, Any]:
        known = self.value is not None
        return {
            "line": self.name,
            "title": self.title,
            "value": self.value.value if self.value else None,
            "interval": list(self.value.ends) if self.value and self.value.ends else None,
            "bound": self.bound if known else None,
            "p": self.p,
            "verdict": self.verdict.value,
            "found": self.found,
            "sentence": self.sentence,
        }

    def is_told_by(self, estimate: Estimate) -> bool:
        """Whether an interval lies wholly on one side of the bound."""
        if estimate.ends is None:
            return False
        low, high = estimate.ends
        nearest = min(max(low, 0.0), high) if self.two_sided else (high if self.below else low)
        return max(map(self._how_far, (low, high))) <= 0 or self._how_far(nearest) > 0

    def _how_far(self, value: float) -> float:
        """By how much a value is beyond the bound; below 0 within it."""
        assert self.bound is not None
        if self.below:
            return self.bound - value
        return (abs(value) if self.two_sided else value) - self.bound

    def with_more(self, items: int) -> "AuditLine":
        """The same of so many items, saying how many more would tell what is not known."""
        if self.verdict not in (AuditVerdict.PERHAPS, AuditVerdict.NONE_FOUND):
            return self
        more = f"about {((self.times or 0) - 1) * items:,} more items would be enough"
        if self.times is None:
            more = f"{(MOST_TIMES - 1) * items:,} more items would not be enough"
        where = "beyond" if self.verdict is AuditVerdict.PERHAPS else "within"
        said = f"Not significant whether it is {where} its bound: {more}, if they are like these."
        return replace(self, sentence=f"{self.sentence} {said}")

    def judged(self, is_fault: bool) -> "AuditLine":
        assert self.value is not None
        if is_fault:
            verdict = AuditVerdict.FAULT
        elif self._how_far(self.value.value) > 0:
            verdict = AuditVerdict.PERHAPS
        elif self.value.ends is None or max(map(self._how_far, self.value.ends)) > 0:
            verdict = AuditVerdict.NONE_FOUND
        else:
            verdict = AuditVerdict.SOUND
        return replace(self, verdict=verdict)


# Several lines are looked at together, and chance finds something in one of many. So a line is an issue only
# where Holm's procedure says so: of all audits of a judge that is nowhere beyond a bound, at most 5 % call
# any line an issue (Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979).
def judged_together(lines: Iterable[AuditLine]) -> tuple[AuditLine, ...]:
    given = list(lines)
    known = [place for place, line in enumerate(given) if line.p is not None]
    corrected = holm([line.p for line in given if line.p is not None])
    faults = {place for place, p in zip(known, corrected, strict=True) if p <= UNCERTAINTY}
    return tuple(line if line.p is None else line.judged(place in faults) for place, line in enumerate(given))


def over_criteria(values: FloatArray, groups: Sequence[Hashable]) -> OverInstructions | None:
    """The mean over the criteria of the mean over items of values, shape (criteria, items), NaN for none;
    `groups`: the instruction of each item. None for too few instructions.
    """
    named: dict[str, list[float]] = {}
    groups_of: dict[str, list[Hashable]] = {}
    for row, of_one in enumerate(values):
        places = np.flatnonzero(np.isfinite(of_one)).tolist()
        if places:
            named[str(row)] = [float(of_one[place]) for place in places]
            groups_of[str(row)] = [groups[place] for place in places]
    return enough(OverInstructions.of(named, groups_of)) if named else None


def mean_known(values: FloatArray, axis: int) -> FloatArray:
    """The mean along an axis of those that are known; NaN where none is."""
    known = np.isfinite(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def enough(found: OverInstructions | None) -> OverInstructions | None:
    """None where there are too few instructions to say anything."""
    return found if found is not None and found.instructions >= FEW else None


class MeanKind(NamedTuple):
    """Of a mean: its interval, and, one-sided, how probable so large a one would be, were it at a bound."""

    estimate: Callable[[OverInstructions], Estimate]
    p: Callable[[OverInstructions, float], float]


def within(most: float, unseen: float, floor: float | None = None) -> MeanKind:
    """Of a mean of values up to `most`, of which a large one may be rare. At the lower end, by which it may
    be an issue, one instruction more loses no more than `unseen`; `floor`: how far values reach below that.
    """
    return MeanKind(
        lambda found: Estimate(found.mean, found.interval_within(-unseen, most, floor)),
        lambda found, bound: found.p_above_within(bound, -unseen),
    )


SHARE = MeanKind(
    lambda found: Estimate(found.mean, found.share_interval()),
    lambda found, bound: found.p_share_above(bound),
)
SCORE = within(1.0, 0.0)
WON = within(1.0, 0.25, -1.0)
"""What is won, -1 to 1. A loss that none of the instructions shows may be larger than .25, but counted as one
the issues that are planted in `bench/coverage/audits.py` would not be found with 40 items; with as much a
judge is hardly called faulty for what it wins everywhere but in 4 % of the items (the same file).
"""
DIFFERENCE = MeanKind(
    lambda found: Estimate(found.mean, found.difference_interval()),
    lambda found, bound: found.p_difference_above(bound),
)


def held(
    name: tuple[str, str],
    found: OverInstructions,
    kind: MeanKind,
    bound: float,
    sentence: str,
    *,
    among: int = 1,
    below: bool = False,
    two_sided: bool = False,
) -> AuditLine:
    """A mean compared with its bound; `below`: the mean is of what is lost, and the line of the rest.
    `among`: of how many it is the one that is most significantly beyond. `name`: its key and title.
    """

    def estimate(found: OverInstructions) -> Estimate:
        if below:  # that of the other side, whose ends are an Interval as well
            rest = kind.estimate(found).turned()
            return Estimate(rest.value, rest.ends and Interval(*rest.ends))
        if not is_negative:
            return kind.estimate(found)
        other = kind.estimate(found.mirrored())
        return Estimate(-other.value, other.ends and Interval(-other.ends[1], -other.ends[0]))

    is_negative = two_sided and found.mean < 0
    p = kind.p(found.mirrored() if is_negative else found, 1 - bound if below else bound)
    line = AuditLine(
        *name,
        estimate(found),
        sentence,
        bound,
        min(1.0, p * among * (2 if two_sided else 1)),
        below=below,
        two_sided=two_sided,
    )
    enough = (times for times in range(2, MOST_TIMES + 1) if line.is_told_by(estimate(found.repeated(times))))
    return replace(line, times=next(enough, None))


def too_few(name: str, title: str, instructions: int, what: str) -> AuditLine:
    found = counted(instructions, "instruction", "instructions")
    return AuditLine.untold(name, title, f"{found} {what}; {FEW} are needed.")


SHIFTS = len(PREFERENCES)
"""The number of questions with permuted label tokens: one for each label."""


@dataclass(frozen=True)
class JudgePredictions:
    """`by_order`: natural-log probabilities of the four labels, of the items' own A and B, in each order;
    shape (criteria, items, 2, 4), NaN where nothing was read. `mean`: of all raw predictions, (criteria,
    items, 4). `mass`: the answer mass, 0 to 1, (criteria, items). `letters`: log-probabilities of the label
    tokens A to D, whatever they stand for, in the questions that permute their meanings: (criteria, items, 2,
    4 questions, 4 tokens); None where the judge was not asked so. `reasons`: it wrote reasoning before some
    answers. `seconds`, `tokens`: what each item took, shape (items,).
    """

    items: tuple[Item, ...]
    criteria: tuple[str, ...]
    by_order: FloatArray
    mean: FloatArray
    mass: FloatArray
    letters: FloatArray | None = None
    reasons: bool = False
    human: Mapping[JudgmentKey, HumanLabel] = field(default_factory=dict)
    seconds: FloatArray = field(default_factory=lambda: np.zeros(0))
    tokens: FloatArray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of_run(cls, results: RunResults, dataset: Dataset, gold: Dataset | None = None) -> "JudgePredictions":
        """Of a run's judged items, as they are in its `dataset`; `gold`: whose labels count, None for its
        own. Items that the dataset has otherwise by now are omitted.
        """
        by_id = {item.id: item for item in dataset.same_items(results.content_hashes)}
        judged = [item for item in results.judged if item.item_id in by_id]
        criteria, read = results.run.identity.criteria, RunPredictions(judged, results.run.deciding_together)
        found = [read.of(name) for name in criteria]
        by_order = [np.stack([one.average(of_order(order)) for order in Order], axis=1) for one in found]
        facts = [[each.answer_mass for each in one.facts] for one in found]
        mean = np.array([one.mean for one in found])
        mass = np.where(np.isfinite(mean).all(axis=2), np.array(facts, dtype=np.float64), np.nan)
        return cls(
            items=tuple(by_id[item.item_id] for item in judged),
            criteria=criteria,
            by_order=np.array(by_order),
            mean=mean,
            mass=mass,
            letters=_letters(judged, criteria) if Method.PERMUTED_LABELS in results.methods else None,
            reasons=Method.CHAIN_OF_THOUGHT in results.methods,
            human=human_labels(results, dataset) if gold is None else human_labels(results, gold),
            seconds=np.array([item.seconds for item in judged]),
            tokens=np.array([float(item.tokens_read + item.tokens_generated) for item in judged]),
        )

    @cached_property
    def perturbations(self) -> PerturbationSet:
        return PerturbationSet.of(self.items)

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        return {item.id: place for place, item in enumerate(self.items)}

    @cached_property
    def own(self) -> IntArray:
        """The places of the items that are no perturbations, shape (own items,)."""
        return np.array([self.place_of[item.id] for item in self.perturbations.own], dtype=np.int64)

    @cached_property
    def probabilities(self) -> FloatArray:
        return np.asarray(np.exp(self.mean))

    @cached_property
    def lead(self) -> FloatArray:
        """P(A) less P(B), -1 to 1: shape (criteria, items)."""
        return np.asarray(self.probabilities[..., 0] - self.probabilities[..., 1])

    @cached_property
    def labels(self) -> IntArray:
        """The places of the likeliest labels in PREFERENCES, shape (criteria, items); -1 for none."""
        return likeliest_of(self.mean)

    def groups(self, places: IntArray | Sequence[int]) -> list[Hashable]:
        return [self.items[place].group for place in places]

    @cached_property
    def twice(self) -> BoolArray:
        """Which judgments were read in both orders, shape (criteria, items)."""
        return np.asarray(np.isfinite(self.by_order).all(axis=(2, 3)))

    @cached_property
    def scored(self) -> BoolArray:
        """Which judgments could be made, shape (criteria, items)."""
        return np.asarray(np.isfinite(self.mean).all(axis=2))


def likeliest_of(log_probs: FloatArray) -> IntArray:
    """The places of the highest along the last axis, of equal ones the first; -1 where one is not finite."""
    finite = np.isfinite(log_probs).all(axis=-1)
    return np.asarray(np.where(finite, np.nan_to_num(log_probs, nan=-np.inf).argmax(axis=-1), -1))


def _letters(judged: Sequence[JudgedItem], criteria: Sequence[str]) -> FloatArray:
    """The `letters` of JudgePredictions; NaN for an item whose questions are not all there."""
    found = np.full((len(criteria), len(judged), len(Order), SHIFTS, len(LETTERS)), np.nan)
    orders = {order: place for place, order in enumerate(Order)}
    for row, name in enumerate(criteria):
        for place, item in enumerate(judged):
            for reading in item.raw_predictions.get(name, ()):
                if reading.method is Method.PERMUTED_LABELS and len(reading.answers) == SHIFTS:
                    found[row, place, orders[reading.order]] = [each.log_probs for each in reading.answers]
    finite = np.isfinite(found).all(axis=(3, 4), keepdims=True)
    return np.asarray(np.where(finite, log_softmax(np.where(finite, found, 0.0)), np.nan))


MOST_FLIPPED = LIMITS[Sign.FLIPPED].look
LEAST_MASS = LIMITS[Sign.ANSWER_MASS].look
MOST_TOKEN_BIAS = 0.05
"""Of a position: how much more probable the response in it is. Of a label token: its probability minus one
fourth."""

_FLIPS = ("flips", "order: flip rate")
_PLACE = ("place", "order: position bias")
_WORDING = ("wording", "wording: the same in other words")
_LETTERS = ("letters", "label tokens: bias")
_MASS = ("format_mass", "answer mass")
_SPEED = ("speed", "speed: items per minute")
_LETTER = within(1 - 1 / SHIFTS, 1 / SHIFTS)  # a label token can lose its fourth, and get the rest
_BOTH = "Not all items were read in both orders; judge all items in both orders."
_LOWEST = 10  # percent of the judgments, in the sentence on the answer mass


def order_lines(received: JudgePredictions) -> list[AuditLine]:
    """How often the order alone decides, and towards which position the judge is biased."""
    if (received.scored & ~received.twice).any():
        # Items read twice because they are uncertain flip more often than the others would.
        return [AuditLine.untold(*name, _BOTH) for name in (_FLIPS, _PLACE)]
    groups = received.groups(received.own)
    by_order = received.by_order[:, received.own]
    both = received.twice[:, received.own]
    alone = likeliest_of(by_order)
    flips = np.where(both, alone[..., 0] != alone[..., 1], np.nan)
    # In the order AB the item's own A is the first, in BA its B.
    first = np.exp(by_order)[..., 0] - np.exp(by_order)[..., 1]
    token_biases = np.where(both, (first[..., 0] - first[..., 1]) / 2, np.nan)
    flipped, position_bias = over_criteria(flips, groups), over_criteria(token_biases, groups)
    if flipped is None or position_bias is None:
        return [too_few(*name, len(set(groups)), "in both orders") for name in (_FLIPS, _PLACE)]
    inconsistent = "of its labels are position-inconsistent: they change if the responses are swapped."
    flips_said = f"{percent(flipped.mean)} {inconsistent}"
    place_said = (
        f"The response in the {'first' if position_bias.mean > 0 else 'second'} position is preferred by"
        f" {points(abs(position_bias.mean))} over the other, whatever its text."
    )
    return [
        held(_FLIPS, flipped, SHARE, MOST_FLIPPED, flips_said),
        held(_PLACE, position_bias, WON, MOST_TOKEN_BIAS, place_said, two_sided=True),
    ]


def wording_line(received: JudgePredictions, reworded: Sequence[JudgePredictions]) -> AuditLine:
    """How often the words of the prompt alone decide: a mean over those in which items were judged again."""
    ids, own = [received.items[place].id for place in received.own], received.labels[:, received.own]
    moved = []
    for other in reworded:
        places = np.array([other.place_of.get(each, -1) for each in ids], dtype=np.int64)
        labels = np.where(places < 0, -1, other.labels[:, places])
        moved.append(np.where((own >= 0) & (labels >= 0), own != labels, np.nan))
    groups = received.groups(received.own)
    found = over_criteria(np.concatenate(moved), groups)
    if found is None:
        return too_few(*_WORDING, len(set(groups)), "judged in other words")
    said = f"{percent(found.mean)} of its labels change if the prompt says the same in other words"
    return held(_WORDING, found, SHARE, MOST_FLIPPED, f"{said}, on average over {len(reworded)} wordings.")


def label_token_line(received: JudgePredictions) -> AuditLine:
    """Towards which label token the judge is biased, whatever the label tokens mean."""
    # Each label stands once at each label token, so a judge that looks at the meanings alone gives each label
    # token a fourth of all probability, as the mean over the four questions.
    if received.letters is None:
        return AuditLine.untold(
            *_LETTERS, "The judge was not asked with permuted label tokens; use that elicitation method."
        )
    read = np.exp(received.letters[:, received.own])  # (criteria, items, 2 orders, 4 questions, 4 tokens)
    known = np.asarray(np.isfinite(read).all(axis=(3, 4)))
    of_each = np.where(known[..., None], read.mean(axis=3) - 1 / SHIFTS, np.nan)
    token_biases = mean_known(of_each, axis=2)  # over the orders
    groups = received.groups(received.own)
    found = [over_criteria(token_biases[..., letter], groups) for letter in range(len(LETTERS))]
    position_bias = [one for one in found if one is not None]
    if len(position_bias) < len(LETTERS):
        return too_few(*_LETTERS, len(set(groups)), "with permuted label tokens")
    # The one that is most significantly beyond the bound; of those alike the one that is favoured most.
    significantly = [(_LETTER.p(one, MOST_TOKEN_BIAS), -one.mean) for one in position_bias]
    place = significantly.index(min(significantly))
    most, letter = position_bias[place], list(LETTERS.values())[place]
    said = (
        f"The label token {letter} gets {points(abs(most.mean))} {'more' if most.mean >= 0 else 'less'}"
        " than one fourth of the probability, whatever label it stands for."
    )
    # Any of the label tokens might have been the one.
    return held(_LETTERS, most, _LETTER, MOST_TOKEN_BIAS, said, among=len(LETTERS))


def mass_line(received: JudgePredictions) -> AuditLine:
    mass = np.minimum(received.mass[:, received.own], 1.0)
    groups = received.groups(received.own)
    lost = over_criteria(1 - mass, groups)
    if lost is None:
        return too_few(*_MASS, len(set(groups)), "judged")
    lowest = float(np.nanpercentile(mass, _LOWEST))
    said = (
        f"The valid answers have {percent(1 - lost.mean)} of the total probability; in the lowest tenth"
        f" of the judgments {percent(lowest)} or less."
    )
    return held(_MASS, lost, SCORE, LEAST_MASS, said, below=True)


def speed_line(received: JudgePredictions) -> AuditLine:
    """How fast it judged, perturbations included."""
    took = received.seconds > 0
    seconds, groups = received.seconds[took].tolist(), received.groups(np.flatnonzero(took))
    found = OverInstructions.of_one(seconds, groups) if seconds else None
    if found is None:
        return AuditLine.untold(*_SPEED, "The judging time is not recorded.")
    ends = found.mean_interval()
    shown = f"{60 / found.mean:.1f}"
    if ends is not None and ends.low > 0:
        shown += f" ({60 / ends.high:.1f} to {60 / ends.low:.1f})"
    rate = received.tokens[took].sum() / received.seconds[took].sum()
    return AuditLine(*_SPEED, None, f"It read and generated {rate:,.0f} tokens per second.", shown=shown)


MOST_WON = 0.02
"""By how much a perturbation without content may raise P(preferred) minus P(the other preferred) of a
response."""
MOST_UNLIKE = 0.05
"""The share of labels that may change if the same question is repeated."""

_TITLES: Mapping[PerturbationKind, str] = {
    PerturbationKind.FILLER: "length: filler",
    PerturbationKind.FORMATTING: "formatting: a list or bold words",
    PerturbationKind.PROMPT_INJECTION: "prompt injection: “choose this one”",
    PerturbationKind.REPEAT: "repeatability: asked again",
}
_DOES: Mapping[PerturbationKind, str] = {
    PerturbationKind.FILLER: "A filler sentence",
    PerturbationKind.FORMATTING: "Markdown formatting of the same words",
    PerturbationKind.PROMPT_INJECTION: "A prompt injection that asks the judge to prefer its response",
}


@dataclass(frozen=True)
class PerturbedPairs:
    """Perturbations of a kind next to their items, shape (criteria, items), the mean over both responses:
    `won`: by how much each change moved the changed response's P less the other's; `moved`: whether the label
    came to it (1), left it (-1) or neither (0). NaN where nothing is known. `groups`: the instructions.
    """

    won: FloatArray
    moved: FloatArray
    groups: tuple[Hashable, ...]

    @classmethod
    def of(cls, received: JudgePredictions, kind: PerturbationKind) -> "PerturbedPairs":
        copies = received.perturbations.of_kind(kind)
        places = [received.place_of[item_id] for item_id in copies]
        found = np.full((2, len(received.criteria), len(places)), np.nan)
        for column, (place, of_item) in enumerate(zip(places, copies.values(), strict=True)):
            of_each = [
                _change(received, place, received.place_of[copy.id], perturbation.side)
                for perturbation, copy in of_item.items()
                if perturbation.side is not None
            ]
            found[:, :, column] = mean_known(np.stack(of_each), axis=0)
        return cls(found[0], found[1], tuple(received.groups(places)))


def change_lines(received: JudgePredictions) -> Iterator[AuditLine]:
    """What padding, form and an instruction to the judge win."""
    for kind, what in _DOES.items():
        name, title = kind.value, _TITLES[kind]
        if not received.perturbations:
            yield AuditLine.untold(name, title, NO_COPIES)
            continue
        beside = PerturbedPairs.of(received, kind)
        won, moved = over_criteria(beside.won, beside.groups), over_criteria(beside.moved, beside.groups)
        if won is None or moved is None:
            yield too_few(name, title, len(set(beside.groups)), "could be perturbed in this way")
            continue
        ends = moved.difference_interval()
        net = f"{100 * moved.mean:+.1f} % of the labels ({100 * ends.low:.1f} to {100 * ends.high:.1f})"
        said = (
            f"{what} {'wins' if won.mean >= 0 else 'costs'} a response {points(abs(won.mean))} of preference;"
            f" {net} moved to it (net of those that left it)."
        )
        yield held((name, title), won, WON, MOST_WON, said)


NO_COPIES = "The run has no perturbations of its items; audit its model with a dataset."


def again_line(received: JudgePredictions) -> AuditLine:
    """Whether the same question gets the same answer."""
    name, title = PerturbationKind.REPEAT.value, _TITLES[PerturbationKind.REPEAT]
    if not received.perturbations:
        return AuditLine.untold(name, title, NO_COPIES)
    if received.reasons:
        return AuditLine.untold(
            *(name, title),
            "The judge uses chain of thought, and the same texts get the same reasoning in every run; audit"
            " it without this elicitation method.",
        )
    pairs = [
        (received.place_of[item_id], received.place_of[copy.id])
        for item_id, copies in received.perturbations.of_kind(PerturbationKind.REPEAT).items()
        for copy in copies.values()
    ]
    if not pairs:
        return too_few(name, title, 0, "asked again")
    first, second = (np.array(places) for places in zip(*pairs, strict=True))
    labels, others = received.labels[:, first], received.labels[:, second]
    unlike = np.where((labels >= 0) & (others >= 0), labels != others, np.nan)
    groups = received.groups(first)
    found = over_criteria(unlike, groups)
    if found is None:
        return too_few(name, title, len(set(groups)), "asked again")
    apart = np.abs(received.probabilities[:, first] - received.probabilities[:, second]).sum(axis=2) / 2
    said = (
        f"{percent(found.mean)} of the labels change if the same question is repeated; the probabilities"
        f" differ by {points(float(np.nanmean(apart)))} on average."
    )
    return held((name, title), found, SHARE, MOST_UNLIKE, said)


def _change(received: JudgePredictions, place: int, copy: int, side: Preference) -> FloatArray:
    """What a change of one response won for it, and whether the label moved: shape (2, criteria)."""
    gained = received.lead[:, copy] - received.lead[:, place]
    label = PREFERENCES.index(side)
    before, after = received.labels[:, place], received.labels[:, copy]
    moved = (after == label).astype(np.float64) - (before == label)
    known = np.where((before >= 0) & (after >= 0), moved, np.nan)
    return np.stack([gained if side is Preference.A else -gained, known])
