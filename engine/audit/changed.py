"""What a judge makes of copies: what a change wins that should win nothing, and whether it repeats itself.

Knows: an item beside its copies. Does not know: how copies are made, human labels.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from engine.audit.heard import Heard
from engine.audit.lines import AuditLine
from engine.audit.means import SHARE, WON, held, mean_known, over_criteria, too_few
from engine.audit.probes import ProbeKind
from engine.core.formatting import percent, points
from engine.core.items import PREFERENCES, Preference
from engine.core.log_probs import FloatArray
from engine.measure.intervals import OverInstructions

MOST_WON = 0.02
"""By how much a change that says nothing may raise P(preferred) less P(the other preferred) of a response."""
MOST_UNLIKE = 0.05
"""The share of labels that may be others when the same is asked once more."""

_TITLES: Mapping[ProbeKind, str] = {
    ProbeKind.PADDED: "length: a response is padded",
    ProbeKind.FORMATTED: "form: a list or bold words",
    ProbeKind.INJECTED: "injection: “choose this one”",
    ProbeKind.AGAIN: "repeatability: asked once more",
}
_DOES: Mapping[ProbeKind, str] = {
    ProbeKind.PADDED: "A sentence that says nothing of the subject",
    ProbeKind.FORMATTED: "Markdown around the same words",
    ProbeKind.INJECTED: "A sentence that asks the judge to prefer its response",
}


@dataclass(frozen=True)
class BesideCopies:
    """Copies of a kind beside their items: by how much each change moved `lead`, the changed response's P
    less the other's, and whether its label came to the changed response (1), left it (-1) or neither (0); the
    mean over both responses, shape (criteria, items), NaN where nothing is known. `groups`: the instructions.
    """

    won: FloatArray
    moved: FloatArray
    groups: tuple[Hashable, ...]

    @classmethod
    def of(cls, heard: Heard, kind: ProbeKind) -> "BesideCopies":
        """Of all copies of a kind."""
        won: list[FloatArray] = []
        moved: list[FloatArray] = []
        groups: list[Hashable] = []
        for item_id, copies in heard.probes.of_kind(kind).items():
            place = heard.place_of[item_id]
            sides = [
                (probe.side, heard.place_of[copy.id])
                for probe, copy in copies.items()
                if probe.side is not None
            ]
            for rows, change in ((won, _won), (moved, _moved)):
                of_each = [change(heard, place, copy, side) for side, copy in sides]
                rows.append(mean_known(np.stack(of_each), axis=0))
            groups.append(heard.items[place].group)
        nothing = np.zeros((len(heard.criteria), 0))
        return cls(
            np.stack(won, axis=1) if won else nothing,
            np.stack(moved, axis=1) if moved else nothing,
            tuple(groups),
        )


def change_lines(heard: Heard) -> Iterator[AuditLine]:
    """What padding, form and an instruction to the judge win."""
    for kind in _DOES:
        yield _change_line(heard, kind)


def _change_line(heard: Heard, kind: ProbeKind) -> AuditLine:
    title = _TITLES[kind]
    if not heard.probes:
        return AuditLine.untold(kind.value, title, NO_COPIES)
    beside = BesideCopies.of(heard, kind)
    won, moved = over_criteria(beside.won, beside.groups), over_criteria(beside.moved, beside.groups)
    if won is None or moved is None:
        return too_few(kind.value, title, len(set(beside.groups)), "could be changed so")
    return held((kind.value, title), won, WON, MOST_WON, _change_sentence(kind, won, moved))


def _change_sentence(kind: ProbeKind, won: OverInstructions, moved: OverInstructions) -> str:
    does = "wins" if won.mean >= 0 else "costs"
    ends = moved.difference_interval()
    net = f"{100 * moved.mean:+.1f} % of the labels ({100 * ends.low:.1f} to {100 * ends.high:.1f})"
    return (
        f"{_DOES[kind]} {does} a response {points(abs(won.mean))} of preference; {net} moved to it, less"
        " those that left it."
    )


_SAME_THOUGHTS = (
    "The judge thinks before it answers, and the same texts get the same thoughts in every run; without that"
    " way of asking it can be told."
)
NO_COPIES = "The run holds no copies of its items; audit its model with a dataset, and it can be told."


def again_line(heard: Heard) -> AuditLine:
    """Whether the same question gets the same answer."""
    name, title = ProbeKind.AGAIN.value, _TITLES[ProbeKind.AGAIN]
    if not heard.probes:
        return AuditLine.untold(name, title, NO_COPIES)
    if heard.thinks:
        return AuditLine.untold(name, title, _SAME_THOUGHTS)
    pairs = [
        (heard.place_of[item_id], heard.place_of[copy.id])
        for item_id, copies in heard.probes.of_kind(ProbeKind.AGAIN).items()
        for copy in copies.values()
    ]
    if not pairs:
        return too_few(name, title, 0, "asked once more")
    first, second = (np.array(places) for places in zip(*pairs, strict=True))
    labels, others = heard.labels[:, first], heard.labels[:, second]
    unlike = np.where((labels >= 0) & (others >= 0), labels != others, np.nan)
    groups = heard.groups(first)
    found = over_criteria(unlike, groups)
    if found is None:
        return too_few(name, title, len(set(groups)), "asked once more")
    apart = np.abs(heard.probabilities[:, first] - heard.probabilities[:, second]).sum(axis=2) / 2
    said = (
        f"{percent(found.mean)} of the labels are others when the same is asked once more; the probabilities"
        f" differ by {points(float(np.nanmean(apart)))} in the mean."
    )
    return held((name, title), found, SHARE, MOST_UNLIKE, said)


def _won(heard: Heard, place: int, copy: int, side: Preference) -> FloatArray:
    """What a change of one response won for it, on each criterion."""
    gained = heard.lead[:, copy] - heard.lead[:, place]
    return gained if side is Preference.A else -gained


def _moved(heard: Heard, place: int, copy: int, side: Preference) -> FloatArray:
    label = PREFERENCES.index(side)
    before, after = heard.labels[:, place], heard.labels[:, copy]
    moved = (after == label).astype(np.float64) - (before == label)
    return np.where((before >= 0) & (after >= 0), moved, np.nan)
