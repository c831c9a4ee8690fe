"""What two runs were asked that differs, clause by clause, and how far labels moved with it."""

from dataclasses import dataclass
from typing import NamedTuple

from engine.core.items import PREFERENCES, Preference
from engine.core.rubric import WORDING_PARTS, Rubric
from engine.core.tables import Estimate
from engine.metrics.intervals import SIGNIFICANT


class Clause(NamedTuple):
    """A part of what two runs were asked that differs, on a `criterion`, or around all (None). `about`: the
    label that it describes, if it is one's.
    """

    criterion: str | None
    title: str
    then: str
    now: str
    about: Preference | None


@dataclass(frozen=True)
class GuidelineDrift:
    """On a criterion, of the items that both runs read in both orders: `moved`, the share whose label changed
    with the wording; `noise`, of those whose two orders differ, as a mean of both runs; `beyond`, the first
    minus the second, with the `p_value` that it is 0, by Holm over all criteria; None for few instructions.
    `clauses`: what differs, each with the number of labels that changed, to or from the one that it is about.
    """

    criterion: str
    clauses: tuple[tuple[Clause, int], ...]
    moved: Estimate
    noise: Estimate
    beyond: Estimate
    p_value: float | None = None

    @property
    def is_beyond(self) -> bool:
        return self.p_value is not None and self.p_value < SIGNIFICANT and self.beyond.value > 0


_OF_CRITERION = {"question": "Question", "good": "Good means", "bad": "Bad means"}
_ABOUT = {label.value.lower(): label for label in PREFERENCES}
_ABOUT_OF_CRITERION = {"good": Preference.BOTH_GOOD, "bad": Preference.BOTH_BAD}


def clauses_that_differ(then: Rubric, now: Rubric) -> list[Clause]:
    """The parts of two rubrics that differ, of the criteria of both and of the wording around them."""
    later = {each.name: each for each in now.criteria}
    both = [(each, later[each.name]) for each in then.criteria if each.name in later]
    return [
        *(
            Clause(old.name, title, getattr(old, part), getattr(new, part), _ABOUT_OF_CRITERION.get(part))
            for old, new in both
            for part, title in _OF_CRITERION.items()
            if getattr(old, part) != getattr(new, part)
        ),
        *(
            Clause(None, of.title, getattr(then.wording, part), text, _ABOUT.get(part))
            for part, of in WORDING_PARTS.items()
            if (text := getattr(now.wording, part)) != getattr(then.wording, part)
        ),
    ]
