"""A stored run as it counts: its judgments with human overrides, and what it said when it was read again."""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import chain, compress
from typing import NamedTuple

from engine.annotations import effective
from engine.annotations.effective import EffectiveAnnotation, Reviews, standing_notes
from engine.annotations.records import JUDGE_ALONE, LAST, Annotation, LabelSource
from engine.core.formatting import counted, short_name, words
from engine.core.items import PREFERENCES, HumanLabel, Method, Order, Prediction, Preference, certain, digest
from engine.core.judgments import (
    AnyJudgment,
    CriterionCalibration,
    Explanation,
    JudgedItem,
    Judgment,
    JudgmentKey,
    RawPrediction,
    Unscored,
)
from engine.data.submission import Submission, SubmissionRow
from engine.results.calibration import Calibration, calibration_of
from engine.results.decision import RunPredictions, decide_all
from engine.settings.identity import StoredRun, refuse_submitted, what_is_joined
from engine.settings.rows import Mode
from engine.store.row_validator import RowValidator
from engine.store.run_store import RunStore
from engine.store.run_table import key_with_run


@dataclass(frozen=True)
class OneLabel:
    """The label of all `items` that were scored, two or more; or two that are always equally likely."""

    labels: tuple[Preference, ...]
    items: int

    @property
    def in_words(self) -> str:
        """Such as `A`, or `A or B`."""
        return " or ".join(map(words, self.labels))


def _one_label(column: Sequence[AnyJudgment], fitted: CriterionCalibration) -> OneLabel | None:
    given = [judgment.preference for judgment in column if isinstance(judgment, Judgment)]
    labels = tuple(each for each in PREFERENCES if each in given)
    # A fit that trusts no raw prediction may find two labels equally likely: the model then decides between.
    judges = any(each.judges for each in (fitted, *fitted.folds))
    return None if len(given) < 2 or (judges and len(labels) > 1) else OneLabel(labels, len(given))


def one_label_sentence(found: Mapping[str, OneLabel], out_of_fold: Container[str] = ()) -> str:
    """Of a calibration that gives one label to all, else empty; `out_of_fold`: where other fits do, too."""
    if not found:
        return ""
    named = ", ".join(
        f"{words(name)} (“{one.in_words}” for all {one.items:,} items"
        f"{', cross-validated too' if name in out_of_fold else ''})"
        for name, one in found.items()
    )
    return (
        f"This calibration gives one label to everything on {named}. Its accuracy there is that of always"
        " giving this label."
    )


ALL_METHODS = "all combined"
"""All elicitation methods of a run combined, in addition to each one."""


@dataclass(frozen=True)
class RunResults:
    """A run with all its judged items, decided with the `calibration`.

    `judgments`: the model's own, by criterion, in the order of `judged`. `overrides`: what stands of
    annotations, by `source`: whose labels count. `reviews`: all that annotators said of it. `notes`: all that
    was noted of its items, the oldest first, by the hash of their content. A label or explanation is
    effective where it is an annotator's, or the model's own and no annotator's stands in its place. For an
    opened submission the model is whoever made it. `whole`: of all items and labels, where these are some.
    """

    run: StoredRun
    judged: tuple[JudgedItem, ...]
    judgments: Mapping[str, tuple[AnyJudgment, ...]]
    calibration: Calibration | None = None
    overrides: Mapping[JudgmentKey, EffectiveAnnotation] = field(default_factory=dict)
    reviews: Reviews = field(default_factory=Reviews)
    notes: Mapping[str, tuple[Annotation, ...]] = field(default_factory=dict)
    source: LabelSource = LAST
    whole: "RunResults | None" = None
    read: RunPredictions | None = field(default=None, compare=False, repr=False)
    """The raw predictions as arrays, kept to decide them again."""

    def label(self, judgment: AnyJudgment) -> HumanLabel | None:
        """The effective label for one of `judgments`; None where it is unscored and no annotator gave one."""
        override = self.overrides.get(judgment.key)
        if override is not None and override.preference is not None:
            return override.preference
        return None if isinstance(judgment, Unscored) else judgment.preference

    def probabilities(self, judgment: AnyJudgment) -> tuple[float, ...] | None:
        """As they count: the model's, 1 for an annotator's or a submission's label; None without any."""
        label, override = self.label(judgment), self.overrides.get(judgment.key)
        if isinstance(judgment, Judgment) and (override is None or override.preference is None):
            return judgment.probabilities
        return None if label is None else certain(label)

    def explanation(self, judgment: AnyJudgment) -> str | None:
        return self._told(judgment)[0]

    def model_explanation(self, judgment: AnyJudgment) -> Explanation | None:
        """What the model wrote for the effective label, else its first text."""
        if isinstance(judgment, Unscored):
            return None
        return judgment.explanation_for(self.label(judgment))

    def is_stale(self, judgment: AnyJudgment) -> bool:
        return self._told(judgment)[1]

    def fitting_explanation(self, judgment: AnyJudgment) -> str | None:
        text, stale = self._told(judgment)
        return None if stale else text

    def _told(self, judgment: AnyJudgment) -> tuple[str | None, bool]:
        """The effective explanation, and if it is stale: an annotator's, but where only the judge's fits."""
        label, override = self.label(judgment), self.overrides.get(judgment.key)
        own = self.model_explanation(judgment)
        if override is not None and override.explanation is not None:
            fits = override.fits(label)
            if fits or own is None or own.preference is not label:
                return override.explanation, not fits
        if isinstance(judgment, Unscored):
            return judgment.text, False
        return (own.text, own.preference is not label) if own else (None, False)

    def decided_by_annotator(self, judgment: AnyJudgment) -> bool:
        """True where an annotator overrode it and it has a label: nothing of it is uncertain any more."""
        return self.overrides.get(judgment.key) is not None and self.label(judgment) is not None

    def label_by(self, judgment: AnyJudgment) -> Sequence[str]:
        """Who gave the effective label, or accepted it; nobody where it is the judge's alone."""
        override, label = self.overrides.get(judgment.key), self.label(judgment)
        if override is not None and override.preference is not None:
            return override.label_by
        if self.source != LAST:  # of others than the chosen ones nothing counts
            return ()
        given = self.reviews.given_on(judgment.key)
        return [name for name, each in given.items() if each.preference is label]

    def notes_on(self, content_hash: str) -> tuple[Annotation, ...]:
        return standing_notes(self.notes.get(content_hash, ()))

    @property
    def all_notes(self) -> Iterator[Annotation]:
        return chain.from_iterable(map(standing_notes, self.notes.values()))

    def steps(self, item: JudgedItem, author: str) -> list[effective.AnnotatorStep]:
        """What an annotator did with an item, the oldest first; also what was undone."""
        said = self.reviews.words_of(item.item_id)
        return effective.steps_of([*said, *self.notes.get(item.content_hash, ())], author)

    def last_said(self, place: str) -> tuple[frozenset[str], datetime | None]:
        """Of an item, by its id or content hash: both, and when anybody said or undid anything last (UTC)."""
        items = [item for item in self.judged if place in (item.item_id, item.content_hash)]
        places = frozenset(name for item in items for name in (item.item_id, item.content_hash))
        notes = chain.from_iterable(self.notes.get(name, ()) for name in places)
        said = chain(notes, *(self.reviews.words_of(item.item_id) for item in items))
        times = (at for word in said for at in (word.created, word.undone) if at is not None)
        return places, max(times, default=None)

    def _all(self) -> Iterator[AnyJudgment]:
        return chain.from_iterable(self.judgments.values())

    @property
    def content_hashes(self) -> dict[str, str]:
        return {item.item_id: item.content_hash for item in self.judged}

    @property
    def one_labels(self) -> dict[str, OneLabel]:
        """Where the calibration gives one label to everything that the model scored, by criterion."""
        by = self.calibration.criteria if self.calibration else {}
        found = {name: _one_label(column, by[name]) for name, column in self.judgments.items() if name in by}
        return {name: one for name, one in found.items() if one is not None}

    @property
    def judges_missing_sentence(self) -> str:
        """What is to be said of a jury's judgments that not all of its judges decided; empty for none."""
        scored = [each for each in self._all() if isinstance(each, Judgment)]
        some = [each.judges for each in scored if each.judges_missing]
        if not some:
            return ""
        by_number = (f"{some.count(number):,} by {number}" for number in sorted({*filter(None, some)}))
        return (
            f"Not all {len(self.run.judges)} judges of the jury decided {len(some):,} of"
            f" {counted(len(scored), 'judgment', 'judgments')} ({', '.join(by_number)}): the others have no"
            " answer there. A judge without an answer counts as giving all four labels the same probability."
        )

    @property
    def calibrated_in_words(self) -> str:
        """On what it is calibrated: `on gold.tsv, to one label on safety (A)`; empty where it is not."""
        if self.calibration is None:
            return ""
        named = ", ".join(f"{words(name)} ({one.in_words})" for name, one in self.one_labels.items())
        return f"on {self.calibration.dataset}{f', to one label on {named}' if named else ''}"

    @property
    def fit_in_words(self) -> str:
        """How many items took part in the fit of its calibration; empty for none, or where it is unknown."""
        calibration = self.calibration
        if calibration is None or calibration.fitted_on is None:
            return ""
        overlap = calibration.fitted_on.overlap_of_hashes(self.content_hashes.values())
        return calibration.overlap_in_words(overlap)

    @property
    def one_label_sentence(self) -> str:
        return one_label_sentence(self.one_labels)

    @cached_property
    def unanswered(self) -> frozenset[str]:
        """The ids of items that an opened submission does not answer, nor annotators on each criterion; of
        labels by hand those without any label.
        """
        if not self.run.submitted:
            return frozenset()
        by_item, by_hand = zip(self.judged, *self.judgments.values(), strict=True), self.run.by_hand
        labels = ((item, list(map(self.label, own))) for item, *own in by_item if not item.given)
        lacking = (item for item, own in labels if (not any(own) if by_hand else None in own))
        return frozenset(item.item_id for item in lacking)

    @property
    def joined_in_words(self) -> str:
        """Which items an opened submission answers, with annotators' help; empty for a run of a model."""
        if self.whole is not None:
            return self.whole.joined_in_words
        if not self.run.submitted:
            return ""
        given = {item.item_id for item in self.judged if item.given}
        added = {item.item_id for item in self.judged} - given - self.unanswered
        by = {name for each in self.overrides.values() if each.item_id in added for name in each.label_by}
        return what_is_joined(self.run, len(added), sorted(by))

    @cached_property
    def answered(self) -> "RunResults":
        """The same without its unanswered items: all that is measured, and exported as a submission."""
        if not self.unanswered:
            return self
        kept = self.only({item.item_id for item in self.judged} - self.unanswered)
        return replace(kept, reviews=self.reviews)

    @property
    def left(self) -> int:
        """How many items of the run lack an answer, be it the model's or annotators'."""
        return self.run.identity.items - len(self.judged) + len(self.unanswered)

    @property
    def unscored(self) -> int:
        return sum(self.label(judgment) is None for judgment in self._all())

    @property
    def overridden(self) -> effective.OverrideCount:
        return effective.count_overrides(self.overrides.values())

    @property
    def explains(self) -> bool:
        return self.run.identity.mode is Mode.EXPLAIN

    @property
    def unexplained(self) -> int:
        """How many judgments of an explaining run have an effective label and no explanation."""
        labelled = (each for each in self._all() if self.explains and self.label(each) is not None)
        return sum(self.explanation(each) is None for each in labelled)

    @property
    def stale(self) -> int:
        return sum(self.is_stale(judgment) for judgment in self._all())

    def by(self, source: LabelSource) -> "RunResults":
        """The same with the labels of another source in the place of the judge's, where it has any."""
        whole = self.whole and self.whole.by(source)
        overrides = self._standing(self.reviews, source, self.judgments)
        return replace(self, overrides=overrides, source=source, whole=whole)

    def with_annotators(self, reviews: Reviews, notes: Mapping[str, tuple[Annotation, ...]]) -> "RunResults":
        overrides = self._standing(reviews, self.source, self.judgments)
        return replace(self, reviews=reviews, overrides=overrides, notes=notes)

    def _standing(
        self, reviews: Reviews, source: LabelSource, judgments: Mapping[str, Sequence[AnyJudgment]]
    ) -> Mapping[JudgmentKey, EffectiveAnnotation]:
        """What stands of annotations. With the last ones also labels that were accepted and that nothing else
        gives any more: the run was calibrated otherwise since, or it was another judge who said so.
        """
        standing = reviews.standing_by(source)
        if source != LAST or not reviews.accepted:
            return standing
        places = {item.item_id: place for place, item in enumerate(self.judged)}
        found = {}
        for key, said in reviews.accepted.items():
            if key.item_id in places and key.criterion in judgments:
                judgment, now = judgments[key.criterion][places[key.item_id]], standing.get(key)
                own = None if isinstance(judgment, Unscored) else judgment.preference
                if ((now and now.preference) or own) is not said.preference:
                    found[key] = said
        return {**standing, **found}

    def model_alone(self) -> "RunResults":
        return self.by(JUDGE_ALONE)

    def only(self, ids: Container[str]) -> "RunResults":
        """The same of these items alone; `run` stays what is stored of all of them."""
        kept = [item.item_id in ids for item in self.judged]
        return replace(
            self,
            judged=tuple(compress(self.judged, kept)),
            judgments={name: tuple(compress(column, kept)) for name, column in self.judgments.items()},
            overrides={key: said for key, said in self.overrides.items() if key.item_id in ids},
            reviews=self.reviews.only(ids),
            whole=self.whole or self,
        )

    @property
    def methods(self) -> tuple[Method, ...]:
        """By which methods the model was asked; none for an opened submission."""
        return self.run.identity.methods if self.run.by_a_model else ()

    def by_method(self) -> dict[str, "RunResults"]:
        """What the model itself would have said, without a calibration: asked as it was, and by each of its
        methods alone; of a jury each of its judges alone. Empty for a run of one method, and for a cascade.
        """
        judges = self.run.judges if self.run.deciding_together else ()
        if len(self.methods) < 2 and not judges:
            return {}
        of_model = self.model_alone().calibrated(None)
        found = {ALL_METHODS: of_model}
        found |= {method.value: of_model.of_method(method) for method in self.methods}
        for number, name in enumerate(judges, start=1):
            found[f"{number}: {short_name(name)}"] = of_model._of_judge(number)
        return found

    def _of_judge(self, judge: int) -> "RunResults":
        judged = tuple(item.only(lambda reading: reading.judge == judge) for item in self.judged)
        return replace(self, judged=judged, read=RunPredictions(judged)).calibrated(self.calibration)

    def as_asked(self, methods: Sequence[Method], orders: Sequence[Order]) -> "RunResults":
        """What a run would hold that asks by these methods and in these orders only, all of which this one
        has: the raw predictions of each do not depend on the others. Without a calibration.
        """
        asked = [
            item.only(lambda read: read.method in methods and read.order in orders) for item in self.judged
        ]
        identity = self.run.identity.as_asked(tuple(methods), tuple(orders))
        return replace(self, run=replace(self.run, identity=identity), judged=tuple(asked)).calibrated(None)

    def of_method(self, method: Method) -> "RunResults":
        """The same decided by the raw predictions of one method alone, calibrated as before."""
        judged = tuple(item.of_method(method) for item in self.judged)
        return replace(self, judged=judged).calibrated(self.calibration)

    def calibrated(self, calibration: Calibration | None) -> "RunResults":
        """The same raw predictions and overrides, decided with another calibration, or with none."""
        by_criterion = calibration.criteria if calibration else {}
        read = self.read
        if read is None or read.judged is not self.judged:
            read = RunPredictions(self.judged, self.run.deciding_together)
        judgments = {
            name: decide_all(self.judged, name, by_criterion.get(name), read)
            for name in self.run.identity.criteria
        }
        accepts = self.source == LAST and self.reviews.accepted
        overrides = self._standing(self.reviews, LAST, judgments) if accepts else self.overrides
        return replace(self, judgments=judgments, overrides=overrides, calibration=calibration, read=read)


def load_results(store: RunStore, run_id: int) -> RunResults:
    """A run's judged items with their decisions, calibrated where the run is. Raises StoreError."""
    with store.reading():  # so that none of it is of a moment later, when the run went on or was deleted
        run = store.run(run_id)
        calibration = calibration_of_run(run)
        reviews = load_reviews(store, run_id)
        judged = tuple(store.judged(run_id))
        notes = store.notes(item.content_hash for item in judged)
    return RunResults(run, judged, {}).with_annotators(reviews, notes).calibrated(calibration)


class DecidedAgain(NamedTuple):
    """The results before and after; `lacking`: a sentence on what the calibration uses and the run lacks."""

    before: RunResults
    after: RunResults
    lacking: str


def decided_again(store: RunStore, run_id: int, calibration: Calibration | None) -> DecidedAgain:
    """Decide a run with another calibration, or none, from now on. StoreError; SetupError: no fit."""
    before = load_results(store, run_id)
    refuse_submitted(before.run, "be calibrated")
    lacking = "" if calibration is None else calibration.check_run(before.run, before.judged)
    after = before.calibrated(calibration)
    with store.hold(run_id):
        store.calibrate(run_id, calibration.as_json() if calibration else None)
    return DecidedAgain(before, after, lacking)


def calibration_of_run(run: StoredRun) -> Calibration | None:
    """What a run is calibrated with, from the store, if it is. DamagedError where that is no calibration."""
    if not run.calibration:
        return None
    stored = run.calibration
    return RowValidator(f"Run {run.id}").made("calibration", stored, lambda: calibration_of(stored))


def load_reviews(store: RunStore, run_id: int) -> Reviews:
    return Reviews(tuple(store.annotations(run_id)))


def submission_of(results: RunResults, with_stale: bool = False) -> Submission:
    """The run's effective predictions; those without a label are empty, unanswered items are omitted.
    Explanations are those of a run that makes them: what annotators wrote for a run of labels alone is
    omitted.
    """
    rows, results = [], results.answered
    text = results.explanation if with_stale else results.fitting_explanation
    for index, item in enumerate(results.judged):
        predictions = {
            name: Prediction(results.label(column[index]), text(column[index]))
            for name, column in results.judgments.items()
        }
        rows.append(SubmissionRow(item.item_id, predictions))
    return Submission(tuple(rows), results.run.identity.criteria, results.explains)


_NO_NUMBER = 1.0  # no log-probability; JSON has no infinity


def keep_read_again(store: RunStore, results: RunResults, again: Sequence[JudgedItem]) -> None:
    """Keep what was read of the items of a run, `again` in their order; omitted is what the run did not read
    of an item, and items that were shortened otherwise, as without room for explanations.
    """
    numbers: list[float] = []
    for item, other in zip(results.judged, again, strict=True):
        for name, reading in _raw_predictions(item, results.run):
            alike = other.raw_predictions.get(name, ()) if item.shortening == other.shortening else ()
            said = {(each.method, each.order): each.log_probs for each in alike}
            log_probs = said.get((reading.method, reading.order), (-math.inf,) * len(reading.log_probs))
            numbers += (each if math.isfinite(each) else _NO_NUMBER for each in log_probs)
    store.remember({_key(results.run): numbers})


def results_read_again(store: RunStore, results: RunResults) -> RunResults | None:
    """The same run as it was read again, decided as `results` are; None where it was not, or not this."""
    key = _key(results.run)
    numbers = list(store.recall([key]).get(key, ()))
    read = [each for item in results.judged for _, each in _raw_predictions(item, results.run)]
    if not numbers or len(numbers) != sum(len(each.log_probs) for each in read):
        return None
    rest = iter(-math.inf if number == _NO_NUMBER else number for number in numbers)
    judged = tuple(replace(item, raw_predictions=_with(item, results.run, rest)) for item in results.judged)
    return replace(results, judged=judged).calibrated(results.calibration)


def _with(
    item: JudgedItem, run: StoredRun, numbers: Iterator[float]
) -> Mapping[str, tuple[RawPrediction, ...]]:
    raw_predictions: dict[str, list[RawPrediction]] = {}
    for name, reading in _raw_predictions(item, run):
        a, b, both_good, both_bad = (next(numbers) for _ in reading.log_probs)
        raw_predictions.setdefault(name, []).append(replace(reading, log_probs=(a, b, both_good, both_bad)))
    return {name: tuple(own) for name, own in raw_predictions.items()}


def _raw_predictions(item: JudgedItem, run: StoredRun) -> Iterator[tuple[str, RawPrediction]]:
    for name in run.identity.criteria:
        for reading in item.raw_predictions.get(name, ()):
            yield name, reading


def _key(run: StoredRun) -> str:
    return f"{key_with_run(run.id)}read again, {digest([run.identity.key, run.created.isoformat()])}"
