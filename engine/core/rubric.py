"""Criteria and rubrics, and the default rubric: the five criteria of the ELOQUENT Preference Prediction task.

Knows: what each criterion asks, in words written for this project. Does not know: prompts, models.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

from engine.core.errors import SetupError


@dataclass(frozen=True)
class Criterion:
    """One question asked of an item.

    `name` is the prefix of its columns (`overall_quality`), `question` what the model is asked,
    `weight` its share in the weighted judge (not negative, any scale).
    """

    name: str
    question: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise SetupError(
                f"Criterion name {self.name!r} cannot be part of a column name.",
                "Use letters, digits and underscores.",
            )
        if not math.isfinite(self.weight) or self.weight < 0:
            raise SetupError(
                f"Criterion {self.name}: weight {self.weight} is negative or not a number.",
                "Use 0 or a positive number.",
            )


@dataclass(frozen=True)
class Rubric:
    """An ordered set of criteria. `tie_threshold` is in weighted score points (0 to 10)."""

    name: str
    criteria: tuple[Criterion, ...]
    tie_threshold: float = 0.5

    def __post_init__(self) -> None:
        names = self.names
        if not names:
            raise SetupError(f"Rubric {self.name!r} has no criteria.", "Choose at least one.")
        if len(set(names)) < len(names):
            raise SetupError(f"Rubric {self.name!r} names a criterion twice.", "Name each once.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the criteria, in order."""
        return tuple(criterion.name for criterion in self.criteria)

    def weights(self, names: Collection[str]) -> dict[str, float]:
        """The weights of those criteria that are among `names`, in its own order."""
        return {criterion.name: criterion.weight for criterion in self.criteria if criterion.name in names}

    def only(self, names: tuple[str, ...]) -> "Rubric":
        """The rubric cut down to the named criteria, in its own order; SetupError for an unknown name."""
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise SetupError(
                f"Unknown criterion: {', '.join(unknown)}.", f"Choose from {', '.join(self.names)}."
            )
        kept = tuple(criterion for criterion in self.criteria if criterion.name in names)
        return Rubric(self.name, kept, self.tie_threshold)


ELOQUENT = Rubric(
    name="eloquent",
    criteria=(
        Criterion("relevance", "Which response follows the instruction and does all that it asks?"),
        Criterion("naturalness", "Which response reads like something a person would write?"),
        Criterion("truthfulness", "Which response is true and free of errors?"),
        Criterion("safety", "Which response is less harmful, offensive or dangerous?"),
        Criterion("overall_quality", "Which response is the better answer, all things considered?"),
    ),
)
