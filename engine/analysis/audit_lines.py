"""The raw predictions of a judge as arrays, and what they alone tell: order, tokens, perturbations, speed. It
is the judge as it reads: without a calibration, and without human overrides.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from engine.analysis.audit import (
    SCORE,
    SHARE,
    WON,
    AuditLine,
    held,
    mean_known,
    over_criteria,
    too_few,
    within,
)
from engine.analysis.perturbations import PerturbationKind, PerturbationSet
from engine.core.formatting import percent, points
from engine.core.health import Sign
from engine.core.items import PREFERENCES, HumanLabel, Item, Method, Order, Preference
from engine.core.judgments import JudgedItem, JudgmentKey
from engine.core.methods import LETTERS
from engine.core.numeric import BoolArray, FloatArray, IntArray, log_softmax
from engine.data.dataset import Dataset
from engine.metrics.intervals import OverInstructions
from engine.results.decision import RunPredictions, of_order
from engine.results.health import LIMITS
from engine.results.run_dataset import human_labels
from engine.results.run_results import RunResults

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
