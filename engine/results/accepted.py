"""A run by the labels that may stand alone, and what its exports say about them."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from engine.core.errors import SetupError
from engine.core.formatting import capitalised, counted, words
from engine.core.judgments import AnyJudgment, Unscored
from engine.results.run_results import RunResults
from engine.results.trust import KeptTrust, kept_trust, may_stand

_MAY_NOT_STAND = "the label may not stand: the judge is not confident enough"


def valid_trust(results: RunResults) -> KeptTrust | None:
    """What is kept with a run of its labels that may stand; None where nothing is, or it holds no more."""
    with suppress(SetupError):
        return kept_trust(results)
    return None


def accepted_only(results: RunResults) -> RunResults:
    """The same where what may not stand is unscored. SetupError as `kept_trust` raises it."""
    stand = may_stand(results, kept_trust(results))

    def kept(judgment: AnyJudgment) -> AnyJudgment:
        if judgment.key in stand or isinstance(judgment, Unscored):
            return judgment
        return Unscored(judgment.item_id, judgment.criterion, _MAY_NOT_STAND)

    judgments = {name: tuple(map(kept, column)) for name, column in results.judgments.items()}
    return replace(results, judgments=judgments, whole=results.whole or results)


def without_label(results: RunResults, criterion: str) -> str:
    """`2 without a label`; of `accepted_only` results `2 without a label, 40 whose label may not stand`."""
    lacking = [each for each in results.judgments[criterion] if results.label(each) is None]
    barred = sum(map(_is_barred, lacking))
    also = f", {barred:,} whose label may not stand" if barred else ""
    return f"{len(lacking) - barred:,} without a label{also}"


def accepted_in_words(results: RunResults) -> Iterator[str]:
    """Of `accepted_only` results, what was promised, and how many labels are left out by which threshold."""
    kept = kept_trust(results)
    yield f"Only labels that may stand: {kept.in_words}."
    for name, column in results.judgments.items():
        found, barred = kept.criteria.get(name), sum(map(_is_barred, column))
        left = counted(barred, "label is", "labels are")
        yield f"{capitalised(words(name))}: {found.in_words if found else 'none'}; {left} left out."


def _is_barred(judgment: AnyJudgment) -> bool:
    return isinstance(judgment, Unscored) and judgment.reason == _MAY_NOT_STAND
