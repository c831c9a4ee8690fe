"""Jobs of the tab Trust: find out which labels of a run may stand, and keep that with the run."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.errors import SetupError
from engine.core.formatting import counted, percent, words
from engine.core.tables import Section, Sentences, Sheet, Tone
from engine.settings.identity import TRUST
from gui.widgets.notice import problem_of
from gui.workspace.figures import FigureSource
from gui.workspace.threads import JobControl, job

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.operations.trust import Trusted
    from engine.results.run_results import RunResults
    from engine.results.trust import KeptTrust


@dataclass(frozen=True, eq=False)
class FoundTrust:
    """`more`: labels that would let something stand where nothing may, 0 where that is not known. `labelled`:
    the ids of the items that need no label for a larger sample.
    """

    in_short: str
    sheet: Sheet
    kept: "KeptTrust"
    stands: bool
    more: int
    labelled: frozenset[str]
    figure: FigureSource | None = None


@job
def find(
    control: JobControl,
    results: "RunResults",
    items: "Dataset",
    promise: Mapping[str, Any],
    by: str,
    *,
    jointly: bool,
    forecasts: bool,
) -> FoundTrust:
    """By labels of annotators on the run and those of `items`. `promise`: the arguments of Promise; `by`: one
    of CONFIDENCES. SetupError where no label counts.
    """
    from engine.metrics.matching import match_items, system_of_run
    from engine.metrics.trust import Promise
    from engine.operations.trust import TrustRequest, trust_of
    from engine.ranking.labelled_part import labelled_already, labelled_part
    from engine.report.trust import trust_sections
    from engine.results.trust import confidences

    matched = match_items(system_of_run(results), items, partial=True)
    system, answered = matched.system, items.only(matched.system.rows)
    request = TrustRequest([system], items, Promise(**promise), confidences(by), jointly, forecasts)
    found = trust_of(request, control.cancel)
    caveats = replace(matched, missing=()).left_out  # what the run lacks it has not come to yet
    said = [Section("caveats", "", [Sentences(caveats, Tone.CAVEAT)])] if caveats else []
    known = {name: each.trust for name, each in found.criteria.items() if each.trust}
    stands = any(trust.taken for trust in known.values())
    more = 0 if stands else min(filter(None, (trust.more_labels for trust in known.values())), default=0)
    parts = {name: labelled_part(system, answered, name) for name in known}
    labelled = set.intersection(*(labelled_already(system, answered, *each) for each in parts.items()))
    sheet = Sheet("", [*said, *trust_sections(found)])
    return FoundTrust(_in_short(found, more), sheet, found.kept, stands, more, frozenset(labelled))


def _in_short(found: "Trusted", more: int) -> str:
    stand = {name: each.accepted for name, each in found.criteria.items() if each.taken}
    if stand:
        shares = ", ".join(f"{percent(share)} on {words(name)}" for name, share in stand.items())
        others = "" if len(stand) == len(found.criteria) else " Trust none on the other criteria yet."
        return f"Labels that may stand: {shares}.{others}"
    if more:
        return f"Trust no label yet: about {counted(more, 'more label', 'more labels')} could be enough."
    if found.request.promise.anytime:
        return "Trust no label yet: label more of the random sample, and look again."
    return "Trust no label: people agree with this judge less often than the target asks."


@job
def keep(_control: JobControl, store_path: Path, run_id: int, kept: "KeptTrust") -> None:
    """RunBusyError, StoreError."""
    from engine.store.run_store import RunStore

    with RunStore(store_path) as store:
        kept.keep(store, run_id)


def kept_in_words(results: "RunResults | None") -> tuple[str, bool]:
    """What is kept with a run, empty for nothing, and whether that holds."""
    from engine.results.trust import kept_trust

    if results is None or TRUST not in results.run.manifest:
        return "", False
    try:
        kept = kept_trust(results)
    except SetupError as error:
        return " ".join(problem_of(error)), False
    shares = (
        f"{percent(kept.criteria[name].accepted)} on {words(name)}"
        for name in results.judgments
        if name in kept.criteria
    )
    promise = f"target {percent(kept.target)}, risk {percent(kept.risk)}"
    return f"Kept with {results.run.called} ({promise}): {', '.join(shares)}.", True
