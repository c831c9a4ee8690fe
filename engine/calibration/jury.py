"""Panels: what several runs and submissions say of the same items, decided together and kept as a run. Of
each run a jury keeps the raw predictions of its judge, whatever annotators overrode and whatever it is
calibrated with. A label alone, of a submission, is a raw prediction of a stated certainty. Without a
calibration the mean of the judges' log-probabilities decides, so that the others break a judge's tie.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from engine.annotations.records import now
from engine.core.errors import Hint, SetupError, Step
from engine.core.events import CancelToken
from engine.core.formatting import counted, listed, words
from engine.core.items import PREFERENCES, Item, Order, Prediction, Preference, Tie, agreeing, digest
from engine.core.judgments import Explanation, JudgedItem, RawPrediction
from engine.core.rubric import ELOQUENT, rubric_of_names
from engine.data.dataset import Dataset
from engine.metrics.matching import System, match_items_together
from engine.results.calibration import Calibration, judge_of_run
from engine.results.run_dataset import dataset_of_run
from engine.results.run_results import RunResults
from engine.settings.identity import CERTAINTY, CHOSEN, COLUMNS, JUDGES, RunIdentity, RunKind, StoredRun
from engine.settings.rows import Mode
from engine.store.run_store import RunStore
from engine.system.files import file_hash

DEFAULT_CERTAINTY = 0.9
"""The probability of a label without probabilities: the confidence of its judge is not known."""
LEAST_JUDGES = 2
NOT_SAID = "no judge of the jury has a label"

_CHANCE = 1 / len(PREFERENCES)
_LEAST_SURE, _MOST_SURE = 0.26, 0.999  # of each label that another judge means: above chance, below 1
_MOST_NAMED = 3


@dataclass(frozen=True)
class Jury:
    """Judges, ready to be kept; `remarks`: sentences on items that some lack, and on what they were asked."""

    identity: RunIdentity
    judged: tuple[JudgedItem, ...]
    manifest: Mapping[str, Any]
    remarks: tuple[str, ...] = ()

    @cached_property
    def results(self) -> RunResults:
        """Decided without a calibration; of a run that no store holds yet."""
        run = StoredRun(0, now(), self.identity, len(self.judged), self.manifest)
        return RunResults(run, self.judged, {}).calibrated(None)

    def keep(self, store: RunStore, name: str = "", calibration: Calibration | None = None) -> StoredRun:
        """Keep it so called and calibrated; one made of the same stays, also out of the archive."""
        with store.begin(self.identity) as run:
            # What it is made of comes first: of a jury that was cut short here it is known who judged.
            store.describe(run.id, self.manifest)
            if not run.judged:
                store.add(run.id, self.judged)
            if name:
                store.name(run.id, name)
            store.calibrate(run.id, calibration.as_json() if calibration else None)
            store.restore([run.id])
        return store.run(run.id)


def items_of(systems: Sequence[System], gold: Dataset | None, cancel: CancelToken | None = None) -> Dataset:
    """The items of the first run; without one, or its file, those of `gold`. SetupError without these."""
    run = next((system.results.run for system in systems if system.results is not None), None)
    try:
        if run is not None:
            return dataset_of_run(run, cancel=cancel)
    except SetupError:  # its file is gone, or another by now
        if gold is None:
            raise
    if gold is None:
        raise SetupError("Submissions hold no texts, and there is no run among these.", Hint(Step.GIVE_ITEMS))
    return gold


def make_jury(
    systems: Sequence[System], dataset: Dataset, partial: bool = False, certainty: float = DEFAULT_CERTAINTY
) -> Jury:
    """`partial`: on the items that all have. `certainty`: the probability of a submission's label, above
    chance, below 1. SetupError for fewer than two judges, the same one twice, a jury among them, other items
    or texts, and no criterion in common.
    """
    _check(systems, certainty)
    matched = match_items_together(systems, dataset, partial)
    shared = matched[0].dataset
    criteria, otherwise = _criteria(systems)
    remarks = [sentence for each in matched if each.missing for sentence in each.left_out]
    if otherwise:
        named = ", ".join(map(words, otherwise))
        remarks.append(f"Omitted, because the runs were asked different questions there: {named}.")
    ties = sum(label is Tie.TIE for each in matched for label in each.system.labels.values())
    if ties:
        said = counted(ties, "label of the judges is", "labels of the judges are")
        remarks.append(f"{said} only “tie”: where nothing else tells which, the jury says both_good.")
    judges = [PanelJudge(number, each.system, certainty) for number, each in enumerate(matched, start=1)]
    keys = [judge.key for judge in judges]
    for place, judge in enumerate(judges):
        if judge.key in keys[:place]:
            other = judges[keys.index(judge.key)].system.name
            raise SetupError(f"{judge.system.name} and {other} are the same judge.", Hint(Step.JUDGE_ONCE))
    manifest = panel_manifest(judges, shared)
    if any(judge.gives_labels for judge in judges):
        manifest[CERTAINTY] = certainty
    return Jury(
        panel_identity(judges, shared, criteria, certainty, is_whole=matched[0].whole is None),
        tuple(panel_item(place, item, judges, criteria) for place, item in enumerate(shared)),
        manifest,
        tuple(remarks),
    )


def _criteria(systems: Sequence[System]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The criteria of all, in the first's order, and those asked otherwise; SetupError without any of all."""
    names = [name for name in systems[0].criteria if all(name in each.criteria for each in systems[1:])]
    asked: dict[str, set[str]] = {name: set() for name in names}
    for system in systems:
        for criterion in system.asked.criteria if system.asked else ():
            if criterion.name in asked:
                asked[criterion.name].add(criterion.question)
    otherwise = tuple(name for name in names if len(asked[name]) > 1)
    alike = tuple(name for name in names if name not in otherwise)
    if not alike:
        asked_so = "were asked different questions on what they share"
        why = asked_so if otherwise else "have no criterion in common"
        hint = Hint(Step.CHOOSE_JUDGES, " that judged the same criteria.")
        raise SetupError(f"{listed([system.name for system in systems])} {why}.", hint)
    return alike, otherwise


@dataclass(frozen=True)
class PanelJudge:
    """One judge of a jury: its number there, from 1; a run counts without human overrides."""

    number: int
    system: System
    certainty: float

    @cached_property
    def judged(self) -> Mapping[str, JudgedItem]:
        results = self.system.results
        return {item.item_id: item for item in results.judged} if results else {}

    @property
    def key(self) -> list[Any]:
        if self.system.results is None:
            return [file_hash(self.system.path)] if self.system.path else [self.system.name]
        run = self.system.results.run
        return [run.identity.key, run.judged]

    @property
    def gives_labels(self) -> bool:
        """Whether it gives labels alone, as a submission does."""
        return self.system.results is None or self.system.results.run.submitted

    def identity(self, criteria: Sequence[str]) -> list[Any]:
        """What gives its raw predictions, whatever the items: see JudgeIdentity; of a submission its name."""
        results = self.system.results
        if results is None or results.run.submitted:
            return ["submission", self.system.name]
        judge = judge_of_run(results.run.identity)
        asked = {name: found.sha256 for name, found in judge.asked.items() if name in criteria}
        return [judge.model_hash, judge.prompt_version, judge.orders, judge.methods, judge.examples, asked]

    @property
    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = {"name": self.system.name, "what": self.system.description}
        if self.system.results is not None:
            run = self.system.results.run
            found |= {"run": run.id, "key": run.identity.key, "orders": list(run.identity.orders)}
        return found

    def raw_predictions(self, item_id: str, criterion: str) -> Iterator[RawPrediction]:
        judged, given = self.judged.get(item_id), self._given(item_id, criterion)
        if judged is not None and criterion not in judged.unscored and not judged.given:
            read = judged.raw_predictions.get(criterion, ())
            # One that failed in one of its orders or methods has no label alone, and none here.
            if all(math.isfinite(number) for reading in read for number in reading.log_probs):
                yield from (replace(reading, judge=self.number, answers=()) for reading in read)
        elif given.preference is not None:
            # The label has the certainty, of a tie both ties share it; the others share the rest.
            meant, certainty = agreeing(given.preference), self.certainty
            if given.confidence is not None:
                certainty = min(max(given.confidence, len(meant) * _LEAST_SURE), _MOST_SURE)
            other = (1 - certainty) / (len(PREFERENCES) - len(meant))
            shares = (certainty / len(meant) if each in meant else other for each in PREFERENCES)
            a, b, good, bad = map(math.log, shares)
            yield RawPrediction(Order.AB, (a, b, good, bad), judge=self.number, label_alone=True)

    def texts(self, item_id: str, criterion: str) -> Iterator[Explanation]:
        judged = self.judged.get(item_id)
        if judged is None or judged.given:
            given = self._given(item_id, criterion)
            if isinstance(given.preference, Preference) and given.explanation:
                yield Explanation(given.explanation, given.preference)
            return
        if criterion in judged.explanations:
            yield judged.explanations[criterion]
        yield from (text for (name, _), text in judged.rewritten.items() if name == criterion)

    def _given(self, item_id: str, criterion: str) -> Prediction:
        results = self.system.results
        if results is not None:
            judged = self.judged.get(item_id)
            return judged.given.get(criterion, Prediction()) if judged else Prediction()
        return self.system.rows[item_id].predictions[criterion]


def _check(systems: Sequence[System], certainty: float) -> None:
    if len(systems) < LEAST_JUDGES:
        raise SetupError("A jury has two judges or more.", Hint(Step.CHOOSE_JUDGES, "."))
    if not _CHANCE < certainty < 1:
        raise SetupError(
            f"The certainty of a label is {certainty:g}.",
            f"Use a probability above {_CHANCE:g}, which is chance, and below 1, for example"
            f" {DEFAULT_CERTAINTY:g}.",
        )
    seen: set[str] = set()
    for system in systems:
        if system.results is not None and (run := system.results.run).panel:
            raise SetupError(
                f"A jury cannot be a judge of another jury, and {system.name} is a {run.kind_word}.",
                "Use its judges instead: each counts as one.",
            )
        if system.name in seen:
            raise SetupError(f"The judge {system.name} is listed twice.", Hint(Step.JUDGE_ONCE))
        seen.add(system.name)


def panel_manifest(judges: Sequence[PanelJudge], dataset: Dataset) -> dict[str, Any]:
    columns = {} if dataset.columns is None else {COLUMNS: dataset.columns.as_json()}
    return {JUDGES: [judge.record for judge in judges], **columns}


def panel_identity(
    judges: Sequence[PanelJudge],
    dataset: Dataset,
    criteria: tuple[str, ...],
    certainty: float,
    is_whole: bool,
) -> RunIdentity:
    names = [judge.system.name for judge in judges]
    mode = Mode.EXPLAIN if any(judge.system.explains for judge in judges) else Mode.LABELS
    # What its runs were asked, as the first of them has it; of submissions alone what the names say.
    asked = [judge.system.asked for judge in judges if judge.system.asked is not None]
    rubric = asked[0].only(criteria) if asked else rubric_of_names(criteria, dataset.rubric)
    # How its items are taken out of their file: as for a run of the same ones, else by their ids, but where
    # they are all of it.
    runs = [judge.system.results.run.identity for judge in judges if judge.system.results]
    chosen: Mapping[str, Any] = {} if is_whole else {CHOSEN: list(dataset.ids)}
    chosen = next((run.how_chosen for run in runs if run.dataset_hash == dataset.hash), chosen)
    certain = certainty if any(judge.gives_labels for judge in judges) else None
    keys = [[judge.key for judge in judges], certain, list(criteria), list(dataset.ids)]
    return RunIdentity(
        key=digest([RunKind.PANEL, dataset.hash, *keys]),
        dataset_path=dataset.path.absolute(),
        dataset_hash=dataset.hash,
        items=len(dataset),
        model_path=dataset.path.absolute(),
        model_name=f"jury of {listed(names, _MOST_NAMED)}",
        model_hash=digest([RunKind.PANEL, certain, [judge.identity(criteria) for judge in judges]]),
        prompt_version="",
        criteria=criteria,
        settings={"mode": mode.value, "orders": [], "examples": None, **chosen},
        kind=RunKind.PANEL,
        rubric=None if rubric.is_part_of(ELOQUENT) else rubric,
    )


def panel_item(place: int, item: Item, judges: Sequence[PanelJudge], criteria: Sequence[str]) -> JudgedItem:
    """What all judges said of an item, and what that took. For each label the first judge explains it."""
    said = {
        name: [each for judge in judges for each in judge.raw_predictions(item.id, name)] for name in criteria
    }
    texts = {name: [text for judge in judges for text in judge.texts(item.id, name)] for name in criteria}
    own = [judge.judged[item.id] for judge in judges if item.id in judge.judged]
    return JudgedItem(
        position=place,
        item_id=item.id,
        content_hash=item.content_hash,
        raw_predictions={name: tuple(own) for name, own in said.items() if own},
        explanations={name: found[0] for name, found in texts.items() if found and said[name]},
        unscored={name: NOT_SAID for name, own in said.items() if not own},
        seconds=sum(each.seconds for each in own),
        tokens_read=sum(each.tokens_read for each in own),
        tokens_generated=sum(each.tokens_generated for each in own),
        rewritten={
            (name, text.preference): text
            for name, found in texts.items()
            if said[name]
            for text in reversed(found[1:])
            if text.preference is not found[0].preference
        },
        lengths=item.lengths,
    )
