"""What a stored run lacks, and what in it is not the model's: a sentence for each.

Knows: how gaps are worded. Does not know: what can be done about them, who shows them.
"""

from dataclasses import dataclass
from enum import Enum, auto

from engine.core.people import count_overrides
from engine.decisions.run_results import RunResults


class IncompleteKind(Enum):
    """What a gap is about: each may have a next step of its own."""

    OVERRIDDEN = auto()
    COMPLETED = auto()
    UNSCORED = auto()
    UNEXPLAINED = auto()
    STALE = auto()


@dataclass(frozen=True)
class IncompletePart:
    """So many judgments or explanations, and what is to be known of them.

    `plural`: how its sentence goes on after the number; `singular`: the same for a number of 1.
    """

    kind: IncompleteKind
    number: int
    plural: str
    singular: str

    @property
    def sentence(self) -> str:
        """All of it, for example `1 judgment is unscored; its cell is empty.`."""
        return f"{self.number:,} {self.singular if self.number == 1 else self.plural}"


def incomplete(results: RunResults, name: str = "The run") -> str:
    """A sentence on how far a run is that is not complete; an opened submission, with annotators' help."""
    run = results.run
    if said := results.joined_in_words:
        return said
    if run.is_sample:
        return f"{name} is {run.sample_in_words}."
    return f"{name} is not complete: {run.judged:,} of {run.identity.items:,} items are judged."


def gaps(results: RunResults) -> list[IncompletePart]:
    """The gaps of a run in what is judged of it; `incomplete` says the rest."""
    lacked, results = results.model_alone().unanswered, results.answered
    effective = results.overrides.values()
    own = [each for each in effective if each.item_id not in lacked]
    added = count_overrides(each for each in effective if each.item_id in lacked)
    run, annotators = f"of {results.run.called}", f"overridden by annotators: {count_overrides(own).by_whom}."
    unanswered = f"that {results.run.called} does not answer"
    completed = f"labelled by annotators: {added.by_whom}."
    another = "written for another label than the effective one (stale): a submission omits"
    wordless = "no explanation" + ("." if results.run.submitted else ": the model generated no text.")
    found = [
        IncompletePart(
            IncompleteKind.OVERRIDDEN,
            len(own),
            f"judgments {run} are {annotators}",
            f"judgment {run} is {annotators}",
        ),
        IncompletePart(
            IncompleteKind.COMPLETED,
            len(lacked & results.content_hashes.keys()),
            f"items {unanswered} are {completed}",
            f"item {unanswered} is {completed}",
        ),
        IncompletePart(
            IncompleteKind.UNSCORED,
            results.unscored,
            "judgments are unscored; their cells are empty.",
            "judgment is unscored; its cell is empty.",
        ),
        IncompletePart(
            IncompleteKind.UNEXPLAINED,
            results.unexplained,
            f"judgments have {wordless}",
            f"judgment has {wordless}",
        ),
        IncompletePart(
            IncompleteKind.STALE,
            results.stale,
            f"explanations were {another} them.",
            f"explanation was {another} it.",
        ),
    ]
    return [gap for gap in found if gap.number]
