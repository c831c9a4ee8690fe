"""Measures that need a model, weighted scoring, calibrations and juries, of systems that are open. Does not
know: where the systems and labels come from, how anything is shown.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from engine.calibration.jury import DEFAULT_CERTAINTY, items_of, make_jury
from engine.calibration.jury_worth import JuryWorth, jury_worth
from engine.calibration.run_calibration import CalibratedRun, Wishes, calibrating
from engine.core.errors import Given, Hint, SetupError, Step
from engine.core.events import CancelToken, MeasureProgress, Note
from engine.core.formatting import visible
from engine.core.judgments import KeptFit
from engine.core.rubric import Rubric, rubric_of_names
from engine.core.tables import Section
from engine.data.dataset import Dataset
from engine.metrics.matching import Matched, System, match, system_of_run
from engine.operations.opening import left_out_in_words
from engine.ranking.weight_fit import WeightFit, fit_weights, kept_of, load_fitted_weights
from engine.ranking.weighted_judge import not_zero
from engine.ranking.weighted_scoring import (
    ScoredPairs,
    WeightedScoring,
    human_winners,
    scored_pairs_of,
    weigh,
)
from engine.report.calibration import calibration_sections, calibration_warnings
from engine.report.run import labels_given_section
from engine.results.calibration import Calibration, load_calibration
from engine.results.run_results import RunResults, load_results
from engine.settings.identity import CERTAINTY, StoredRun, checked_name
from engine.store.run_store import RunStore


@dataclass(frozen=True)
class GivenWeights:
    """Weights by criterion. `threshold`, `kept`: of fitted ones; `unknown`: why their items are not known."""

    weights: Mapping[str, float]
    threshold: float | None = None
    kept: KeptFit | None = None
    unknown: str = ""

    @classmethod
    def of_file(cls, path: Path, hint: str) -> "GivenWeights":
        """Those that were fitted and written to a file. SetupError with this hint for another file."""
        fitted = load_fitted_weights(path, hint)
        unknown = "" if fitted.kept else f"The items that {visible(str(path))} was fitted on are not known."
        return cls(fitted.weights, fitted.tie_threshold, fitted.kept, unknown)


@dataclass(frozen=True)
class Weighing:
    """How items are decided by weighted criteria; None: as the rubric says. `grades`: by the model's."""

    rubric: Rubric | None = None
    weights: GivenWeights | None = None
    tie_threshold: float | None = None
    grades: bool = False

    def threshold(self, rubric: Rubric) -> float:
        """The tie threshold: the one given, else that of fitted weights, else the rubric's."""
        if self.tie_threshold is not None:
            return self.tie_threshold
        fitted = self.weights.threshold if self.weights else None
        return rubric.tie_threshold if fitted is None else fitted

    def of_system(
        self, system: System, matched: Matched | None, items: Dataset | None = None
    ) -> tuple[ScoredPairs, WeightedScoring]:
        """The response scores of a system, and its items decided on them: with `matched` only those that have
        human labels, else `items` give the instructions, for intervals. SetupError if there are none.
        """
        rubric, given = self.rubric, self.weights
        if rubric is None:
            results = system.results
            rubric = rubric_of_names(system.criteria) if results is None else results.run.identity.asked
        weights = rubric.weights(system.criteria) if given is None else given.weights
        if not weights:
            raise SetupError(
                f"{system.name} has none of {', '.join(rubric.names)}.",
                Hint("Name its criteria: ", Given("weights", f"{system.criteria[0]}=1")),
            )
        unknown = [name for name in weights if name not in system.criteria]
        if unknown:
            raise SetupError(
                Hint(Given("weights"), f": {system.name} has no criterion {', '.join(unknown)}."),
                f"It has {', '.join(system.criteria)}.",
            )
        weights, known = not_zero(weights), set(matched.dataset.ids) if matched else None
        pairs = scored_pairs_of(system, list(weights), known, by_grades=self.grades)
        if not pairs.rows:
            raise SetupError(
                f"{system.name} has no item with a judgment on each of {', '.join(weights)}.",
                Hint("Use other criteria, ", Step.SEE_UNSCORED),
            )
        gold = matched.dataset if matched else None
        with weight_errors():
            made = weigh(pairs, weights, self.threshold(rubric), gold, system, items=items)
        fit_in_words = given.unknown if given else ""
        if given is not None and given.kept is not None:
            fitted_on = given.kept.fitted_on
            overlap = (
                fitted_on.overlap_of_hashes(system.content_hashes.values())
                if matched is None
                else fitted_on.overlap(matched.items_of_both)
            )
            fit_in_words = given.kept.in_words(overlap)
        return pairs, replace(made, fit_in_words=fit_in_words)


@contextmanager
def weight_errors() -> Iterator[None]:
    """Refused weights and thresholds are errors of the user."""
    try:
        yield
    except ValueError as error:
        hint = Hint("Fix ", Given("weights"), " or ", Given("tie_threshold"), ".")
        raise SetupError(str(error), hint) from error


def fit_weights_to(gold: Dataset, pairs: ScoredPairs, criteria: Sequence[str]) -> tuple[WeightFit, KeptFit]:
    """Weights and a tie threshold, fitted to human overall labels, and the fit as it is kept. SetupError."""
    human = human_winners(gold)
    fit = fit_weights(pairs.rows, human, gold.groups, criteria)
    return fit, kept_of(fit, gold, human.keys() & {row["id"] for row in pairs.rows})


def fit_calibration(
    system: System, gold: Dataset, wishes: Wishes, cancel: CancelToken, *, partial: bool
) -> Generator[Note | MeasureProgress, None, tuple[Matched, CalibratedRun]]:
    """Calibrate the raw predictions of a system. SetupError for too few labels, and for a submission."""
    matched = match(system, gold, partial)
    yield from map(Note, left_out_in_words(matched))
    made = yield from calibrating(matched, cancel, wishes)
    yield from map(Note, calibration_warnings(made))
    return matched, made


@dataclass(frozen=True)
class JurySetup:
    """Several systems that decide together, by the mean of all or a calibration: of the file `calibration`,
    or fitted to the human labels of `gold`. `items`: their dataset, None for that of the first run, else
    `gold`. `partial`: on the items that all have. `certainty`: of a label of a submission.
    """

    systems: Sequence[System]
    name: str = ""
    items: Dataset | None = None
    gold: Dataset | None = None
    calibration: Path | None = None
    partial: bool = False
    lengths: bool = False
    certainty: float = DEFAULT_CERTAINTY

    def __post_init__(self) -> None:
        if self.gold is not None and self.calibration is not None:
            why = " are both given: one fits a calibration, the other loads one."
            raise SetupError(Hint(Given("gold"), " and ", Given("calibration"), why), "Remove one of them.")
        if self.lengths and self.gold is None:
            raise SetupError(
                Hint(Given("lengths"), " is a feature of the calibration that ", Given("gold"), " fits."),
                Hint("Add ", Given("gold"), ", or remove ", Given("lengths"), "."),
            )
        checked_name(self.name, "the jury")


@dataclass(frozen=True)
class KeptJury:
    """A jury that is stored as a run. `sections`: what shows its fit and its labels."""

    run: StoredRun
    results: RunResults
    sections: tuple[Section, ...]


def decide_together(
    setup: JurySetup, store_path: Path, cancel: CancelToken
) -> Generator[Note | MeasureProgress, None, KeptJury]:
    """Make a jury and store it as a run. SetupError, StoreError, Cancelled."""
    items = setup.items or items_of(setup.systems, setup.gold, cancel)
    made = make_jury(setup.systems, items, setup.partial, setup.certainty)
    yield from map(Note, made.remarks)  # how it is joined, told before the fit, a slow step
    sections = list[Section]()
    calibration: Calibration | None = None
    if setup.calibration is not None:
        calibration = load_calibration(setup.calibration)
        if lacking := calibration.check_run(made.results.run, made.judged):
            yield Note(lacking)
        if CERTAINTY in made.manifest:
            yield Note(
                "A submission is known only by its name: its judge may be another than that of the fit."
            )
    if setup.gold is not None:
        wishes, judged = Wishes(lengths=setup.lengths), system_of_run(made.results)
        _, fitted = yield from fit_calibration(judged, setup.gold, wishes, cancel, partial=True)
        calibration = fitted.calibration
        sections += calibration_sections(fitted)
    cancel.raise_if_requested()
    with RunStore(store_path) as store:
        kept = made.keep(store, checked_name(setup.name, "the jury"), calibration)
        results = load_results(store, kept.id)
    return KeptJury(kept, results, (*sections, labels_given_section(results)))


def worth_together(setup: JurySetup, cancel: CancelToken) -> Generator[MeasureProgress, None, JuryWorth]:
    """What the judges of a jury are worth by the labels of `gold`, which is given; stores nothing."""
    assert setup.gold is not None
    items = setup.items or items_of(setup.systems, setup.gold, cancel)
    return (
        yield from jury_worth(
            setup.systems, items, setup.gold, cancel, partial=setup.partial, certainty=setup.certainty
        )
    )
