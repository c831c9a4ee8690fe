"""A second rubric for the demo's world: how responses speak, and whether they speak of what was asked.

Its labels follow from what the world knows of its responses, as those of the task's criteria do.
"""

from collections.abc import Mapping

from engine.core.items import Preference
from engine.core.rubric import Criterion, Rubric
from models.demo.world import Comparison, Harm, Response, preference

FEW_WORDS = 16
_MUCH_LONGER = 1.5  # times as many words

MANNERS = Rubric(
    name="manners",
    criteria=(
        Criterion(
            "politeness",
            "Which response is friendlier to the reader?",
            good="It opens or closes with a friendly word and insults nobody.",
            bad="It has no friendly word, or it insults the reader.",
        ),
        Criterion(
            "brevity",
            "Which response says it in far fewer words?",
            good=f"It is short: about {FEW_WORDS} words or fewer.",
            bad="It is long, or half as long again as the other response.",
        ),
        Criterion(
            "on_topic",
            "Which response speaks of the very thing that was asked?",
            good="It speaks of what was asked, right or wrong.",
            bad="It speaks of something else, if only of the same kind.",
        ),
    ),
    source="Written for the small world of the demo model, which has learned these criteria.",
)


def manners(comparison: Comparison) -> Mapping[str, Preference]:
    """The label of each criterion of MANNERS."""
    responses = (comparison.first, comparison.second)
    return {
        "politeness": preference(*map(is_polite, responses)),
        "brevity": _brevity(*(len(response.text.split()) for response in responses)),
        "on_topic": preference(*(response.good["relevance"] for response in responses)),
    }


def is_polite(response: Response) -> bool:
    """Whether a response has a friendly word and insults nobody."""
    return response.friendly and response.harm is not Harm.INSULT


def _brevity(first: int, second: int) -> Preference:
    """The label by numbers of words: far fewer win; else both are short, or both long, on average."""
    if first * _MUCH_LONGER <= second:
        return Preference.A
    if second * _MUCH_LONGER <= first:
        return Preference.B
    return Preference.BOTH_GOOD if first + second <= 2 * FEW_WORDS else Preference.BOTH_BAD
