"""Predictions of systems, from runs or submission files, joined by id with human labels of the same items."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from engine.annotations.effective import (
    EffectiveAnnotation,
    count_overrides,
    picked_in_words,
    skipped_in_words,
)
from engine.annotations.records import LabelSource, LabelSourceKind
from engine.core.column_map import NO_COLUMN, JudgeColumn
from engine.core.errors import FileKind, Hint, Setting, SetupError, Step
from engine.core.formatting import counted, listed, short_name
from engine.core.health import Health
from engine.core.items import Gold, HumanLabel, Item, Prediction, Tie
from engine.core.judgments import Judgment, JudgmentKey, Origin
from engine.core.rubric import Rubric
from engine.data.dataset import Dataset
from engine.data.file_kinds import expecting
from engine.data.label_origins import label_origins, skipped_items
from engine.data.submission import Submission, SubmissionRow
from engine.data.verdicts import Verdicts, placed, read_system
from engine.results.completeness import incomplete, origins_in_words
from engine.results.health import run_health, submission_health
from engine.results.run_results import RunResults, load_results, submission_of
from engine.settings.rows import DEFAULT_METHODS
from engine.store.opening import has_store
from engine.store.run_store import RunStore

_SAVED_OTHERWISE = ". If its texts were only saved in another format, "


@dataclass(frozen=True)
class System:
    """One judge's predictions. `results`: the run they come from, None for a submission file."""

    name: str
    submission: Submission
    results: RunResults | None = None

    @property
    def criteria(self) -> tuple[str, ...]:
        return self.submission.criteria

    @property
    def asked(self) -> Rubric | None:
        """What the run was asked that it comes from; None for submissions: it is not known of them."""
        run = self.results.run if self.results else None
        return run.identity.asked if run is not None and (run.by_hand or not run.submitted) else None

    @property
    def explains(self) -> bool:
        return self.submission.with_explanations

    @property
    def description(self) -> str:
        """What it is, for display: a run's model, dataset, orders and calibration, or the file."""
        if self.results is None:
            return f"submission {self.submission.path or self.name}"
        identity, calibration = self.results.run.identity, self.results.calibrated_in_words
        calibrated = f", calibrated {calibration}" if calibration else ""
        annotators = f", {self.results.overridden.in_words} by annotators" if self.overrides else ""
        if self.results.run.submitted:
            what = identity.model_name if self.results.run.by_hand else f"submission {identity.model_name}"
            return f"{what} on {identity.dataset_path.name}{annotators}"
        if self.results.run.panel:
            return f"{identity.model_name} on {identity.dataset_in_words}{annotators}{calibrated}"
        below = identity.second_order_below
        joint = " and ".join(identity.orders)
        orders = joint if below is None else f"{joint} where a margin is below {below:g}"
        asked = self.results.methods
        methods = "" if asked == DEFAULT_METHODS else f", by {' and '.join(asked)}"
        rubric = f", rubric {short_name(identity.rubric.name)}" if identity.rubric else ""
        shown = "".join(f", {name} shown" for name in identity.shows)
        made = f"{orders}{methods}{rubric}{shown}{calibrated}{annotators}"
        return f"{identity.model_name} on {identity.dataset_in_words}, {made}"

    @property
    def path(self) -> Path | None:
        """The file of a submission, also of one that was opened to be reviewed; None for a judged run."""
        run = self.results.run if self.results else None
        opened = run is not None and run.submitted and not run.by_hand
        return run.identity.model_path if run and opened else self.submission.path

    @cached_property
    def rows(self) -> Mapping[str, SubmissionRow]:
        return {row.id: row for row in self.submission.rows}

    @property
    def labels(self) -> dict[JudgmentKey, HumanLabel | None]:
        """Its labels, the effective ones of a run; None for unscored."""
        return {
            JudgmentKey(row.id, criterion): said.preference
            for row in self.submission.rows
            for criterion, said in row.predictions.items()
        }

    @cached_property
    def judgments(self) -> Mapping[JudgmentKey, Judgment]:
        """The model's own judgments of a run; empty for a submission file."""
        every = chain.from_iterable(self.results.judgments.values() if self.results else ())
        return {judgment.key: judgment for judgment in every if isinstance(judgment, Judgment)}

    @cached_property
    def health(self) -> Health:
        """Whether it judged, as far as that shows without human labels."""
        return run_health(self.results) if self.results else submission_health(self.submission)

    def only(self, ids: Container[str]) -> "System":
        rows = tuple(row for row in self.submission.rows if row.id in ids)
        results = self.results and self.results.only(ids)
        return replace(self, submission=replace(self.submission, rows=rows), results=results)

    @property
    def overrides(self) -> Mapping[JudgmentKey, EffectiveAnnotation]:
        """What annotators overrode in a run; empty for a submission file."""
        return self.results.overrides if self.results else {}

    @cached_property
    def content_hashes(self) -> Mapping[str, str]:
        """The content hash of each item that a run judged, by id; empty for a submission file."""
        return self.results.content_hashes if self.results else {}


def system_of_run(results: RunResults) -> System:
    """A stored run by its number and name; an opened submission by its file, without unanswered items."""
    run = results.run
    name = run.identity.model_name if run.submitted and not run.by_hand else run.called
    return System(name, submission_of(results), results.answered)


def system_of_file(path: Path, column: JudgeColumn = NO_COLUMN) -> System:
    """A submission file, or another one with a judge's verdicts. Raises what read_system raises."""
    submission = read_system(path, column)
    return System(submission.called if isinstance(submission, Verdicts) else path.name, submission)


def told_apart(systems: Sequence[System]) -> list[System]:
    """The systems, those that share a name and are files named with their folders too."""
    names = Counter(system.name for system in systems)
    return [
        replace(system, name=str(system.path)) if names[system.name] > 1 and system.path else system
        for system in systems
    ]


def open_system(
    word: str,
    store_path: Path,
    labels_of: str = LabelSourceKind.LAST,
    column: JudgeColumn = NO_COLUMN,
) -> System:
    """The system that a word names: the id of a run in the store, else the path of a submission file (`./3`
    for one whose name is a number). `labels_of`: whose labels of a run stand in the place of the judge's: a
    LabelSourceKind, or an annotator's name. `column`: where a file holds the verdicts of a judge. SetupError.
    """
    if not word.isdecimal():
        return system_of_file(Path(word), column)
    if not has_store(store_path):
        raise SetupError(
            f"There is no run store {store_path} that could hold run {word}.",
            Hint(Step.CHOOSE_STORE, f", or a submission file: ./{word}"),
        )
    with expecting(store_path, FileKind.RUN_STORE), RunStore(store_path) as store:
        results = load_results(store, int(word))
    return system_of_run(results.by(LabelSource.of_text(labels_of, tuple(results.reviews.labels))))


@dataclass(frozen=True, slots=True)
class Pair:
    """One item with a human label and what a system said of it, on one criterion. `prediction` without a
    preference is unscored. `judgment`: the model's own in a run; another where there is an `override`.
    """

    item: Item
    gold: Gold
    prediction: Prediction
    judgment: Judgment | None = None
    override: EffectiveAnnotation | None = None

    @property
    def labelled_by_annotator(self) -> bool:
        """True where the label of the prediction is an annotator's, who overrode the judge."""
        return self.override is not None and self.override.preference is not None


@dataclass(frozen=True)
class Matched:
    """A system compared with a dataset. `pairs`: by criterion, in the order of the dataset, of the items that
    have a label there; criteria without any are omitted, and all where no labels were asked for. `items`: how
    many both have; `missing`: ids that the system lacks; `extra`: ids that the dataset lacks. `part`: of
    which slice all of this is, for display, `part_caveats` what is to be known of that. `whole`: the dataset
    that this is a part of, be it a slice or what several systems share; None for all of it.
    """

    system: System
    dataset: Dataset
    pairs: Mapping[str, Sequence[Pair]]
    items: int
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    part: str = ""
    whole: Dataset | None = None
    part_caveats: tuple[str, ...] = ()

    def only(self, ids: Container[str], part: str, *caveats: str) -> "Matched":
        """These items alone; `part`, `caveats` (some empty): as shown. SetupError where no label is left."""
        found = {
            name: tuple(pair for pair in pairs if pair.item.id in ids) for name, pairs in self.pairs.items()
        }
        labelled = {name: pairs for name, pairs in found.items() if pairs}
        if self.pairs and not labelled:
            raise SetupError(f"No item of the slice {part} has a human label.", "Choose another slice.")
        dataset, system = self.dataset.only(ids), self.system.only(ids)
        missing = tuple(item_id for item_id in self.missing if item_id in ids)
        items, whole = sum(item_id not in missing for item_id in dataset.ids), self.whole or self.dataset
        shown = (part, whole, tuple(filter(None, caveats)))
        return Matched(system, dataset, labelled, items, missing, (), *shown)

    @property
    def items_of_both(self) -> Iterator[Item]:
        missing = frozenset(self.missing)
        return (item for item in self.dataset if item.id not in missing)

    @property
    def labelled_items(self) -> tuple[Item, ...]:
        return tuple({pair.item.id: pair.item for pairs in self.pairs.values() for pair in pairs}.values())

    @property
    def items_in_words(self) -> str:
        items, labelled = counted(self.items, "item", "items"), len(self.labelled_items)
        return items if labelled == self.items else f"{items}, {labelled:,} of them labelled"

    @property
    def joined(self) -> str:
        """How much of a submission is joined by ids alone; empty for a run, whose texts were compared."""
        if self.system.results is not None:
            return self.system.results.joined_in_words
        ids, submission = len(self.system.rows), self.system.submission
        if isinstance(submission, Verdicts) and submission.said:
            return f"{ids - len(self.extra):,} of {ids:,} verdicts are of {self.dataset.name}. " + " ".join(
                submission.said
            )
        return (
            f"{ids - len(self.extra):,} of {ids:,} ids of {self.system.name} are in {self.dataset.name}. A"
            " submission holds no texts, so the items are matched only by their ids."
        )

    @property
    def left_out(self) -> list[str]:
        name, gold = self.system.name, self.dataset.name
        missing, extra = (counted(len(ids), "item", "items") for ids in (self.missing, self.extra))
        said = [self.joined] if self.joined else []
        if self.missing:
            said.append(f"{name} lacks {missing} of {gold}, not scored: {listed(self.missing)}")
        if self.extra:
            said.append(f"{name} has {extra} that {gold} lacks, not scored: {listed(self.extra)}")
        return said

    @property
    def caveats(self) -> list[str]:
        results = self.system.results
        whole = self.whole or self.dataset
        caveats = []
        if self.part:
            items = counted(self.items, "item", "items")
            caveats.append(f"Only a slice is measured: {self.part}, {items} of {len(whole):,}.")
        caveats += (*self.part_caveats, *filter(None, [self._ties_in_words]), *self.labels_in_words)
        if results is None:
            return caveats
        run = results.run
        if not run.complete and not run.submitted:  # of a submission, `joined` says so
            caveats.append(incomplete(results))
        if run.device_left:
            caveats.append(run.device_left_in_words)
        caveats += filter(None, [self._fit_in_words])
        return caveats + annotator_caveats(self.system, set(self.dataset.ids))

    @cached_property
    def _fit_in_words(self) -> str:
        """How many of the items took part in the fit of the run's calibration; empty where none did."""
        calibration = self.system.results.calibration if self.system.results else None
        if calibration is None:
            return ""
        if calibration.fitted_on is not None:
            return calibration.overlap_in_words(calibration.fitted_on.overlap(self.items_of_both))
        if calibration.dataset_hash == (self.whole or self.dataset).hash:
            return (
                "The run is calibrated on these labels: measured on them it looks better than it is. The"
                " measures of the calibration itself are cross-validated."
            )
        return (
            "The calibration is of an earlier version: which items took part in its fit is not known."
            " Measured on these it looks better than it is."
        )

    @property
    def labels_in_words(self) -> list[str]:
        """Sentences on human labels of items that were picked in a review of a run, as the dataset says."""
        origins: list[Origin | None] = []
        for name in self.system.criteria:
            known = label_origins(self.dataset, name)
            if known is not None:
                labelled = self.dataset.labels(name).keys() & self.system.rows.keys()
                origins += [origin for item_id, origin in known.items() if item_id in labelled]
        sampled = origins.count(Origin.RANDOM)
        skipped = skipped_in_words(len(skipped_items(self.dataset)), sampled) if sampled else ""
        return [*picked_in_words(origins), *filter(None, [skipped])]

    @property
    def _ties_in_words(self) -> str:
        """A sentence on human labels that are only “tie”; empty where there are none."""
        ties = sum(pair.gold.label is Tie.TIE for pairs in self.pairs.values() for pair in pairs)
        if not ties:
            return ""
        return (
            f"{counted(ties, 'human label is', 'human labels are')} only “tie”, without whether both"
            " responses are good or bad: both_good and both_bad count as right there."
        )


def annotator_caveats(system: System, ids: Container[str] | None = None) -> list[str]:
    """Sentences on human overrides in a run, with `ids` only in these items; none where nothing."""
    effective = [each for each in system.overrides.values() if ids is None or each.item_id in ids]
    counted = count_overrides(effective)
    if not (counted.labels or (counted.explanations and system.explains)):
        return []
    one = counted.labels + counted.explanations == 1
    verb = "is a human override" if one else "are human overrides"
    labels = [(each.item_id, each.origin) for each in effective if each.preference is not None]
    results = system.results
    overrides = f"{counted.in_words} of these items {verb}; the scores include {'it' if one else 'them'}."
    return [
        *([] if results is not None and results.run.by_hand else [overrides]),
        *(origins_in_words(labels, results.reviews) if results is not None else ()),
    ]


def match(system: System, gold: Dataset, partial: bool = False) -> Matched:
    return match_together([system], gold, partial)[0]


def match_together(systems: Sequence[System], gold: Dataset, partial: bool = False) -> list[Matched]:
    """Join systems by id with the human labels, all on the same items: what one of them lacks is scored for
    none, and is named. SetupError for missing or extra ids, unless `partial`, and where they share no item,
    where no shared criterion has a label, and where a run judged other texts under the same ids.
    """
    joined = _joined(systems, gold, partial)
    return [replace(one, pairs=_labelled(one.system, gold, shared)) for one, shared in joined]


def match_items(system: System, dataset: Dataset, partial: bool = False) -> Matched:
    return _joined([system], dataset, partial)[0][0]


def match_items_together(systems: Sequence[System], dataset: Dataset, partial: bool = False) -> list[Matched]:
    """The same for several systems, all on the same items."""
    return [matched for matched, _ in _joined(systems, dataset, partial)]


def _joined(systems: Sequence[System], gold: Dataset, partial: bool) -> list[tuple[Matched, list[Item]]]:
    """Each without `pairs`, and the items that all have."""
    # The texts of a run are compared with its own.
    whole = any(system.results for system in systems)
    items = list(gold if whole else gold.items_in_short())
    known = {item.id for item in items}
    systems = [replace(each, submission=placed(each.submission, gold)) for each in systems]
    apart = [
        (
            system,
            tuple(item.id for item in items if item.id not in system.rows),
            tuple(item_id for item_id in system.rows if item_id not in known),
        )
        for system in systems
    ]
    for system, missing, extra in apart:
        if (missing or extra) and not partial:
            raise SetupError(_differences(system, gold, missing, extra), _hint(system, shared=True))
    shared = [item for item in items if all(item.id in system.rows for system in systems)]
    if not shared:
        names = ", ".join(system.name for system in systems)
        raise SetupError(f"{names} and {gold.name} have no id in common.", _hint(systems[-1]))
    # One system keeps all labels around it: other pages look for its other items there.
    cut = len(systems) > 1 and len(shared) < len(items)
    dataset, uncut = (gold.only({item.id for item in shared}), gold) if cut else (gold, None)
    for system in systems:
        _check_texts(system, gold, shared)
    return [
        (Matched(system, dataset, {}, len(shared), missing, extra, whole=uncut), shared)
        for system, missing, extra in apart
    ]


def _labelled(system: System, gold: Dataset, shared: Sequence[Item]) -> Mapping[str, Sequence[Pair]]:
    pairs = {name: _pairs(system, name, shared) for name in gold.rubric.names}
    labelled = {name: found for name, found in pairs.items() if found}
    if not labelled:
        raise SetupError(
            f"{gold.name} has no human label for what {system.name} predicts ({', '.join(system.criteria)}).",
            f"Use a labelled dataset: it has columns such as {system.criteria[0]}_preference.",
        )
    return labelled


def _hint(system: System, shared: bool = False) -> Hint:
    results = system.results
    run = results and results.run
    share = (", or score what both have with ", Setting.PARTIAL, ".") if shared else (".",)
    if results and run and not run.complete and not run.submitted:
        return Hint(f"{incomplete(results)} ", Step.RESUME, *share)
    if run and run.by_hand:
        return Hint("Label the other items", *share)
    if run and run.identity.chosen:
        judged = f"The run judged only {run.identity.dataset_in_words}. "
        return Hint(judged, Step.CHOOSE_JUDGED_DATASET, *share)
    return Hint(Step.CHOOSE_JUDGED_DATASET, *share)


def _differences(system: System, gold: Dataset, missing: Sequence[str], extra: Sequence[str]) -> str:
    by_hand = system.results is not None and system.results.run.by_hand
    said = f"{system.name} {'do not cover' if by_hand else 'does not answer'} {gold.name}:"
    if missing:
        said += f"\n  ids missing ({len(missing):,} of {len(gold):,}): {listed(missing)}"
    if extra:
        said += f"\n  ids that are not in {gold.name} ({len(extra):,}): {listed(extra)}"
    return said


def _check_texts(system: System, gold: Dataset, shared: Sequence[Item]) -> None:
    if not (hashes := system.content_hashes):
        return
    other = [item.id for item in shared if hashes.get(item.id, item.content_hash) != item.content_hash]
    if other:
        raise SetupError(
            f"{gold.name} has other texts than {system.name} judged under the same ids"
            f" ({len(other):,} of {len(shared):,}): {listed(other)}.",
            Hint(Step.CHOOSE_JUDGED_DATASET, _SAVED_OTHERWISE, Step.EXPORT_RUN, "."),
        )


def _pairs(system: System, criterion: str, shared: Sequence[Item]) -> Sequence[Pair]:
    if criterion not in system.criteria:
        return ()
    labelled = [item for item in shared if (gold := item.gold.get(criterion)) and gold.label is not None]
    if system.results is None:
        return _SubmittedPairs(system.rows, criterion, labelled)
    pairs = []
    for item in labelled:
        key = JudgmentKey(item.id, criterion)
        prediction = system.rows[item.id].predictions[criterion]
        judgment, override = system.judgments.get(key), system.overrides.get(key)
        pairs.append(Pair(item, item.gold[criterion], prediction, judgment, override))
    return tuple(pairs)


class _SubmittedPairs(Sequence[Pair]):
    """Made anew whenever they are wanted: of 300,000 items and five criteria they would take 120 MB."""

    def __init__(self, rows: Mapping[str, SubmissionRow], criterion: str, items: Sequence[Item]) -> None:
        self._rows, self._criterion, self._items = rows, criterion, items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(map(self._pair, self._items[index]))
        return self._pair(self._items[index])

    def __iter__(self) -> Iterator[Pair]:
        return map(self._pair, self._items)

    def _pair(self, item: Item) -> Pair:
        prediction = self._rows[item.id].predictions[self._criterion]
        return Pair(item, item.gold[self._criterion], prediction)
