"""A calibration with what it was made for, as a file and in the run store."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec.structs import astuple

from engine.core.codec import plain, record_of
from engine.core.errors import FileKind, Hint, SetupError, Step
from engine.core.formatting import without_middle, words
from engine.core.items import METHOD_TITLES, PREFERENCES, Method, Preference, digest
from engine.core.judgments import (
    LENGTHS,
    CriterionCalibration,
    Feature,
    FeatureKind,
    FittedOn,
    JudgedItem,
    Overlap,
    Share,
    parts_in_words,
)
from engine.core.rubric import ELOQUENT, Rubric
from engine.core.tables import Estimate
from engine.data.file_kinds import expecting
from engine.data.json_records import load_record
from engine.results.decision import CriterionPredictions, PredictionSource, of_part
from engine.settings.identity import RunIdentity, RunKind, StoredRun
from engine.settings.rows import DEFAULT_METHODS
from engine.system.files import write_json
from engine.system.sandbox import sandboxed

FORMAT = 2
_WITHOUT_PARTS = 1  # as earlier versions wrote it, and read it
_MARK = "tiebreak_calibration"
_WHEN = ("before", "after", "more")
_LONGEST_SHOWN = 120  # characters of a question
_MAKE_AGAIN = Hint(Step.CALIBRATE_AGAIN)

RECIPE_MARK = "tiebreak_recipe"
"""The parts of a recipe besides its calibration."""


@dataclass(frozen=True)
class AskedQuestion:
    """What was asked on a criterion; `sha256`: of all of it, with the labels' meanings and the wording."""

    question: str
    sha256: str


def asked_questions(rubric: Rubric) -> dict[str, AskedQuestion]:
    return {
        criterion.name: AskedQuestion(criterion.question, digest([list(criterion.asked), rubric.wording.own]))
        for criterion in rubric.criteria
    }


_OF_TASK = asked_questions(ELOQUENT)


@dataclass(frozen=True)
class JudgeIdentity:
    """What gives raw predictions: a calibration is of use for no other.

    `orders`, `methods`: as in the settings of a run; `methods` also says which texts of
    BACKGROUND are shown and, with chain of thought, how many reasoning samples of how many tokens.
    `examples`: the hash of the labelled examples, empty for none.
    `model_name`: for display alone. `asked`: by criterion.
    """

    model_name: str
    model_hash: str
    prompt_version: str
    orders: tuple[str, ...]
    examples: str
    methods: tuple[str, ...] = DEFAULT_METHODS
    asked: Mapping[str, AskedQuestion] = field(default_factory=dict)

    def asked_of(self, criterion: str) -> AskedQuestion | None:
        # Older files have no questions: theirs were those of the task's rubric.
        return self.asked.get(criterion) or _OF_TASK.get(criterion)


def judge_of_run(identity: RunIdentity) -> JudgeIdentity:
    return JudgeIdentity(
        model_name=identity.model_name,
        model_hash=identity.model_hash,
        prompt_version=identity.prompt_version,
        orders=identity.orders,
        examples=identity.examples,
        methods=_methods(identity),
        asked=asked_questions(identity.asked),
    )


def asked_by(identity: RunIdentity) -> set[PredictionSource]:
    """By whom and how the raw predictions of a run are made that a model judges."""
    settings = identity.judge_settings
    return {PredictionSource(0, method, order) for method in settings.methods for order in settings.orders}


def _methods(identity: RunIdentity) -> tuple[str, ...]:
    methods = (*map(str, identity.methods), *(f"with {name}" for name in identity.shows))
    if Method.CHAIN_OF_THOUGHT not in identity.methods:
        return methods
    settings = identity.judge_settings
    # Stored in calibrations and compared with them: this text never changes.
    reasoning = f"{settings.reasoning_samples} thoughts of {settings.max_reasoning_tokens} tokens"
    return (*methods, reasoning)


@dataclass(frozen=True)
class Calibration:
    """Calibrations by criterion. `dataset`, `dataset_hash`: of the one whose labels it was fitted on.

    `measured`: the cross-validated figures, as plain values, for display. `accuracies`: the shares of labels
    that were right `before` and `after`, and how many `more` were, cross-validated, as means over the
    criteria. `of_recipe`: whether it is one of a recipe, whose settings were chosen with it. `alike`: whether
    no label depends on the place of a response; older files do not. `fitted_on`: the items that took part in
    the fit of any criterion. What an earlier version did not write is None.
    """

    judge: JudgeIdentity
    dataset: str
    dataset_hash: str
    criteria: Mapping[str, CriterionCalibration]
    measured: Mapping[str, Any]
    alike: bool = False
    fitted_on: FittedOn | None = None
    accuracies: Mapping[str, Estimate] | None = None
    of_recipe: bool = field(default=False, compare=False)

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of what it does; the names and figures take no part."""
        return digest({name: _done_by(fitted) for name, fitted in self.criteria.items()})

    @property
    def leaves_out(self) -> bool:
        """Whether what took part in its fit is decided by a fit without it, on each criterion."""
        return all(fitted.folds for fitted in self.criteria.values())

    def overlap_in_words(self, overlap: Overlap) -> str:
        """How much of what is scored took part in the fit, and what that means; empty where nothing did."""
        said = [overlap.in_words("the calibration")]
        if overlap.items and self.leaves_out:
            said.append("Items that took part in the fit are predicted out of fold, by a fit without them.")
        elif overlap.items:
            said.append("Measured on these items, it looks better than it is.")
        if overlap.instructions:
            said.append("Measured on other items of the same instructions, it may look better than it is.")
        return " ".join(filter(None, said))

    @property
    def parts(self) -> tuple[Feature, ...]:
        """What it looks at next to the mean of an item's raw predictions, on any criterion."""
        decide = (each for fitted in self.criteria.values() for each in (fitted, *fitted.folds))
        return tuple(dict.fromkeys(part for fitted in decide for part in fitted.parts))

    @property
    def looks_at(self) -> str:
        """What it looks at, in a sentence; empty where that is the mean of all raw predictions alone."""
        own = (part for fitted in self.criteria.values() for part in fitted.parts)
        used = parts_in_words(tuple(dict.fromkeys(own)))
        return f"Besides the mean raw prediction, its features are {used}." if used else ""

    @property
    def in_words(self) -> str:
        """What it looks at, and what it treats alike or was not fitted for."""
        alike = f"A and B are {'' if self.alike else 'not '}treated alike."
        said = " ".join(filter(None, (self.looks_at, alike)))
        lacking = len(self.judge.orders) > 1 and any(not each.first_order for each in self.criteria.values())
        return f"{said} It was not fitted for items read in one order." if lacking else said

    def in_one_order(self, judge: JudgeIdentity) -> "Calibration":
        """What decides the items of a judge that reads the first order alone, as far as that is known."""
        # Without the figures, which are of both orders.
        alone = {name: fitted.in_one_order for name, fitted in self.criteria.items()}
        known = {name: fitted for name, fitted in alone.items() if fitted is not None}
        return replace(self, judge=judge, criteria=known, measured={}, accuracies=None)

    def check_lengths(self, judged: Iterable[JudgedItem], run: str) -> None:
        """Raise SetupError where it looks at the lengths of responses and a run does not know them."""
        if LENGTHS in self.parts and any(item.lengths is None for item in judged):
            raise lengths_unknown(run)

    def check_run(self, run: StoredRun, judged: Sequence[JudgedItem]) -> str:
        """All that must be right before it decides what was judged of a run, as in the other checks."""
        self.check_fits(judge_of_run(run.identity))
        self.check_lengths(judged, run.title)
        identity = run.identity
        if identity.kind is RunKind.JUDGED:
            return self.check_parts(asked_by(identity), run.called)
        read = (CriterionPredictions(judged, name).read_by for name in identity.criteria)
        return self.check_parts(set().union(*read), run.called)

    def check_parts(self, read_by: Collection[PredictionSource], run: str) -> str:
        """A sentence on parts that a run, read so, lacks; empty without any. SetupError where it has none."""
        lacking = [
            part
            for part in self.parts
            if part.kind is FeatureKind.RAW_PREDICTIONS and not any(map(of_part(part), read_by))
        ]
        if not lacking:
            return ""
        named = "; ".join(part.in_words for part in lacking)
        if len(lacking) == len(self.parts):
            raise SetupError(
                f"This calibration uses {named}: {run} has no such raw predictions.", Hint(Step.CALIBRATE)
            )
        return (
            f"The calibration also uses {named}, and {run} has no such raw predictions. They are replaced"
            " by their mean over the items of the fit."
        )

    def check_fits(self, judge: JudgeIdentity) -> None:
        """Raise SetupError where it was made for another judge; the model is known by its hash alone."""
        made_for = self.judge
        if made_for.model_hash != judge.model_hash:
            raise self._made_for("the model", _model(made_for), _model(judge))
        for what, mine, other in (
            ("prompt version", made_for.prompt_version, judge.prompt_version),
            ("orders", " and ".join(made_for.orders), " and ".join(judge.orders)),
            ("elicitation methods", *(_in_words(each.methods) for each in (made_for, judge))),
            ("labelled examples", made_for.examples[:12] or "none", judge.examples[:12] or "none"),
        ):
            if mine != other:
                raise self._made_for(what, mine, other)
        self._check_questions(judge)

    def _check_questions(self, judge: JudgeIdentity) -> None:
        shared = [name for name in self.criteria if name in judge.asked]
        if self.criteria and judge.asked and not shared:
            raise self._made_for("the criteria", ", ".join(self.criteria), ", ".join(judge.asked))
        for part in self.parts if judge.asked else ():
            if part.kind is FeatureKind.CRITERION and part.criterion not in judge.asked:
                raise SetupError(
                    f"{self._called} also uses {part.in_words}, which this judge is not asked.",
                    Hint("Also judge that criterion. ", *self._other.parts),
                )
        for name in shared:
            mine, other = self.judge.asked_of(name), judge.asked[name]
            if mine is None or mine.question != other.question:
                raise self._made_for(f"the question on {words(name)}", _question(mine), _question(other))
            if mine.sha256 != other.sha256:
                raise SetupError(
                    f"{self._called} was made for the same question on {words(name)} in another prompt:"
                    " with other meanings of good and bad, or another wording.",
                    self._other,
                )

    def _made_for(self, what: str, mine: str, other: str) -> SetupError:
        return SetupError(f"{self._called} was made for {what} {mine}, not for {other}.", self._other)

    @property
    def _called(self) -> str:
        return "The calibration of this recipe" if self.of_recipe else "This calibration"

    @property
    def _other(self) -> Hint:
        # A calibration alone would lose what the recipe chose.
        return Hint(Step.TUNE, " Or use another recipe.") if self.of_recipe else Hint(Step.CALIBRATE)

    def as_json(self) -> dict[str, Any]:
        values: dict[str, Any] = plain(_file_of(self))
        return values


def _done_by(fitted: CriterionCalibration) -> list[Any]:
    first = fitted.first_order
    numbers = [fitted.scale, *fitted.biases, *plain(_factors(fitted)), *(_done_by(first) if first else ())]
    folds = [list(map(_done_by, fitted.folds)), dict(fitted.fold_of)]
    # Without folds as before there were any: runs know those calibrations by this hash.
    return [*numbers, *folds] if fitted.folds else numbers


def _in_words(methods: Sequence[str]) -> str:
    titles = (METHOD_TITLES.get(each, each) for each in methods)
    return " and ".join(titles).replace(" thoughts of ", " reasoning samples of ")


def _question(asked: AskedQuestion | None) -> str:
    return f"“{without_middle(asked.question, _LONGEST_SHOWN)}”" if asked else "that is not known"


def lengths_unknown(run: str) -> SetupError:
    return SetupError(
        f"{run} was judged by an earlier version, which did not store the lengths of responses.",
        "Judge its items again, or use a calibration without the lengths of responses.",
    )


def _model(judge: JudgeIdentity) -> str:
    return f"{judge.model_name} ({judge.model_hash[:12]})"


class _Content(msgspec.Struct):
    """A model or a dataset: how it was called, for display, and by what it is known."""

    name: str
    sha256: str


class _MadeFor(msgspec.Struct, kw_only=True):
    model: _Content
    prompt_version: str
    orders: tuple[str, ...]
    examples: str
    ways: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    asked: Mapping[str, AskedQuestion] = {}


_OfLabels = Annotated[
    tuple[float, ...], msgspec.Meta(min_length=len(PREFERENCES), max_length=len(PREFERENCES))
]


class _Factor(Feature, kw_only=True, frozen=True, omit_defaults=True):
    factor: float
    mean: _OfLabels | msgspec.UnsetType = msgspec.UNSET

    @property
    def feature(self) -> Feature:
        return Feature(self.kind, self.judge, self.method, self.order, self.criterion)


class _Fitted(msgspec.Struct, kw_only=True):
    """A criterion, or one of its folds with the places of the items that it omits."""

    # What there is none of is omitted, as before there was any: such files stay what they were.

    scale: float
    biases: Mapping[Preference, float]
    strength: float | None
    items: int
    parts: tuple[_Factor, ...] | msgspec.UnsetType = msgspec.UNSET
    strength_of_parts: float | msgspec.UnsetType = msgspec.UNSET
    first_order: "_Fitted | msgspec.UnsetType" = msgspec.UNSET
    left_out: tuple[int, ...] | msgspec.UnsetType = msgspec.UNSET
    folds: "tuple[_Fitted, ...] | msgspec.UnsetType" = msgspec.UNSET


class _Accuracy(msgspec.Struct):
    share: Share
    interval: tuple[Share, Share] | None


class _Version(msgspec.Struct, kw_only=True):
    version: int = msgspec.field(name=_MARK)


class _File(_Version, kw_only=True):
    made_for: _MadeFor
    dataset: _Content
    alike: bool = msgspec.field(name="a_and_b_alike", default=False)
    criteria: Mapping[str, _Fitted]
    measured: Mapping[str, Any]
    took_part: FittedOn | msgspec.UnsetType = msgspec.UNSET
    mean_accuracy: Mapping[str, _Accuracy] | msgspec.UnsetType = msgspec.UNSET


def _file_of(made: Calibration) -> _File:
    judge = made.judge
    return _File(
        version=FORMAT if made.parts else _WITHOUT_PARTS,
        made_for=_MadeFor(
            model=_Content(judge.model_name, judge.model_hash),
            prompt_version=judge.prompt_version,
            orders=judge.orders,
            examples=judge.examples,
            ways=judge.methods if judge.methods != DEFAULT_METHODS else msgspec.UNSET,
            asked=judge.asked,
        ),
        dataset=_Content(made.dataset, made.dataset_hash),
        alike=made.alike,
        criteria={
            name: _written(fitted, made.fitted_on.items if made.fitted_on else ())
            for name, fitted in made.criteria.items()
        },
        measured=made.measured,
        took_part=made.fitted_on or msgspec.UNSET,
        mean_accuracy={name: _Accuracy(each.value, each.ends) for name, each in made.accuracies.items()}
        if made.accuracies
        else msgspec.UNSET,
    )


def _written(
    fitted: CriterionCalibration,
    items: Sequence[str],
    left_out: tuple[int, ...] | msgspec.UnsetType = msgspec.UNSET,
) -> _Fitted:
    folds = [
        _written(fold, (), tuple(at for at, item in enumerate(items) if fitted.fold_of.get(item) == place))
        for place, fold in enumerate(fitted.folds)
    ]
    return _Fitted(
        scale=fitted.scale,
        biases=dict(zip(PREFERENCES, fitted.biases, strict=True)),
        strength=fitted.strength,
        items=fitted.items,
        parts=_factors(fitted) or msgspec.UNSET,
        strength_of_parts=msgspec.UNSET if fitted.penalty_of_features is None else fitted.penalty_of_features,
        first_order=_written(fitted.first_order, ()) if fitted.first_order else msgspec.UNSET,
        left_out=left_out,
        folds=tuple(folds) or msgspec.UNSET,
    )


def _factors(fitted: CriterionCalibration) -> tuple[_Factor, ...]:
    return tuple(
        _Factor(*astuple(part), factor=factor, mean=fitted.part_means.get(part, msgspec.UNSET))
        for part, factor in fitted.parts.items()
    )


def calibration_of(values: Any) -> Calibration:
    """The calibration that `as_json` gave. KeyError, ValueError or SetupError for anything else."""
    if (version := record_of(values, _Version).version) not in {FORMAT, _WITHOUT_PARTS}:
        raise ValueError(f"its version is {version!r}, this program knows {FORMAT}")
    file = record_of(values, _File)
    judge, fitted_on, accuracies = file.made_for, file.took_part or None, file.mean_accuracy or None
    return Calibration(
        judge=JudgeIdentity(
            model_name=judge.model.name,
            model_hash=judge.model.sha256,
            prompt_version=judge.prompt_version,
            orders=judge.orders,
            examples=judge.examples,
            methods=judge.ways or DEFAULT_METHODS,
            asked=judge.asked,
        ),
        dataset=file.dataset.name,
        dataset_hash=file.dataset.sha256,
        criteria={
            name: _read(fitted, fitted_on.items if fitted_on else ())
            for name, fitted in file.criteria.items()
        },
        measured=file.measured,
        alike=file.alike,
        fitted_on=fitted_on,
        accuracies=accuracies
        and {when: Estimate(accuracies[when].share, accuracies[when].interval) for when in _WHEN},
        of_recipe=RECIPE_MARK in values,
    )


def _read(fitted: _Fitted, items: Sequence[str] = ()) -> CriterionCalibration:
    """With its folds, each of which omits some of `items`, and no two the same one."""
    folds, fold_of = fitted.folds or (), dict[str, int]()
    for place, fold in enumerate(folds):
        if fold.left_out is msgspec.UNSET:
            raise KeyError("left_out")
        for at in fold.left_out:
            if not 0 <= at < len(items) or fold_of.setdefault(items[at], place) != place:
                raise ValueError(f"a fold omits item {at}, which it cannot")
    parts = fitted.parts or ()
    if fitted.parts is not msgspec.UNSET and fitted.strength_of_parts is msgspec.UNSET:
        raise KeyError("strength_of_parts")
    if len({part.feature for part in parts}) < len(parts):
        raise ValueError("a part is there twice")
    a, b, both_good, both_bad = (fitted.biases[label] for label in PREFERENCES)
    return CriterionCalibration(
        scale=fitted.scale,
        biases=(a, b, both_good, both_bad),
        strength=fitted.strength,
        items=fitted.items,
        first_order=_read(fitted.first_order) if fitted.first_order else None,
        folds=tuple(map(_read, folds)),
        fold_of=fold_of,
        parts={part.feature: part.factor for part in parts},
        penalty_of_features=None if fitted.strength_of_parts is msgspec.UNSET else fitted.strength_of_parts,
        part_means={part.feature: part.mean for part in parts if part.mean},
    )


@sandboxed
def load_calibration(path: Path) -> Calibration:
    """The calibration in a file that `save_calibration` wrote. SetupError where it is none."""
    with expecting(path, FileKind.CALIBRATION):
        return load_record(path, "a calibration", calibration_of, _MAKE_AGAIN)


def save_calibration(path: Path, calibration: Calibration) -> None:
    """Write a calibration, whole or not at all. SetupError where it cannot be written."""
    write_json(path, calibration.as_json())
