"""What a judge makes of perturbations: what a change wins that should win nothing, and whether it repeats
itself.

Knows: an item next to its perturbations. Does not know: how perturbations are made, human labels.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from engine.audit.heard import JudgePredictions
from engine.audit.lines import AuditLine
from engine.audit.means import SHARE, WON, held, mean_known, over_criteria, too_few
from engine.audit.probes import PerturbationKind
from engine.core.formatting import percent, points
from engine.core.items import PREFERENCES, Preference
from engine.core.log_probs import FloatArray
from engine.measure.intervals import OverInstructions

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
    """Perturbations of a kind next to their items: by how much each change moved `lead`, the changed
    response's P less the other's, and whether its label came to the changed response (1), left it (-1) or
    neither (0); the mean over both responses, shape (criteria, items), NaN where nothing is known. `groups`:
    the instructions.
    """

    won: FloatArray
    moved: FloatArray
    groups: tuple[Hashable, ...]

    @classmethod
    def of(cls, received: JudgePredictions, kind: PerturbationKind) -> "PerturbedPairs":
        """Of all perturbations of a kind."""
        won: list[FloatArray] = []
        moved: list[FloatArray] = []
        groups: list[Hashable] = []
        for item_id, copies in received.perturbations.of_kind(kind).items():
            place = received.place_of[item_id]
            sides = [
                (perturbation.side, received.place_of[copy.id])
                for perturbation, copy in copies.items()
                if perturbation.side is not None
            ]
            for rows, change in ((won, _won), (moved, _moved)):
                of_each = [change(received, place, copy, side) for side, copy in sides]
                rows.append(mean_known(np.stack(of_each), axis=0))
            groups.append(received.items[place].group)
        nothing = np.zeros((len(received.criteria), 0))
        return cls(
            np.stack(won, axis=1) if won else nothing,
            np.stack(moved, axis=1) if moved else nothing,
            tuple(groups),
        )


def change_lines(received: JudgePredictions) -> Iterator[AuditLine]:
    """What padding, form and an instruction to the judge win."""
    for kind in _DOES:
        yield _change_line(received, kind)


def _change_line(received: JudgePredictions, kind: PerturbationKind) -> AuditLine:
    title = _TITLES[kind]
    if not received.perturbations:
        return AuditLine.untold(kind.value, title, NO_COPIES)
    beside = PerturbedPairs.of(received, kind)
    won, moved = over_criteria(beside.won, beside.groups), over_criteria(beside.moved, beside.groups)
    if won is None or moved is None:
        return too_few(kind.value, title, len(set(beside.groups)), "could be perturbed in this way")
    return held((kind.value, title), won, WON, MOST_WON, _change_sentence(kind, won, moved))


def _change_sentence(kind: PerturbationKind, won: OverInstructions, moved: OverInstructions) -> str:
    does = "wins" if won.mean >= 0 else "costs"
    ends = moved.difference_interval()
    net = f"{100 * moved.mean:+.1f} % of the labels ({100 * ends.low:.1f} to {100 * ends.high:.1f})"
    return (
        f"{_DOES[kind]} {does} a response {points(abs(won.mean))} of preference; {net} moved to it (net"
        " of those that left it)."
    )


_SAME_THOUGHTS = (
    "The judge uses chain of thought, and the same texts get the same reasoning in every run; audit it"
    " without this elicitation method."
)
NO_COPIES = "The run has no perturbations of its items; audit its model with a dataset."


def again_line(received: JudgePredictions) -> AuditLine:
    """Whether the same question gets the same answer."""
    name, title = PerturbationKind.REPEAT.value, _TITLES[PerturbationKind.REPEAT]
    if not received.perturbations:
        return AuditLine.untold(name, title, NO_COPIES)
    if received.reasons:
        return AuditLine.untold(name, title, _SAME_THOUGHTS)
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


def _won(received: JudgePredictions, place: int, copy: int, side: Preference) -> FloatArray:
    """What a change of one response won for it, on each criterion."""
    gained = received.lead[:, copy] - received.lead[:, place]
    return gained if side is Preference.A else -gained


def _moved(received: JudgePredictions, place: int, copy: int, side: Preference) -> FloatArray:
    label = PREFERENCES.index(side)
    before, after = received.labels[:, place], received.labels[:, copy]
    moved = (after == label).astype(np.float64) - (before == label)
    return np.where((before >= 0) & (after >= 0), moved, np.nan)
