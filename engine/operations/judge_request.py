"""What is asked of a judge, before any file is read: what a request may not combine, which orders it means.
Does not know: how a run is planned or judged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.analysis.recipe import IN_RECIPE
from engine.core.column_map import ColumnMap, check_targets
from engine.core.errors import Given, Hint, HintPart, SetupError
from engine.core.events import CancelToken, Note
from engine.core.items import Method
from engine.core.rubric import Rubric
from engine.data.dataset import Dataset
from engine.operations.opening import check_store
from engine.results.calibration import judge_of_run, load_calibration
from engine.results.second_order import KEEP, learned_from
from engine.settings.identity import RunIdentity, StoredRun
from engine.settings.rows import DEFAULT_MARGIN, DEFAULT_SHOTS, EXAMPLE_KINDS, check_margin, rows_of
from engine.settings.run_setup import RunSetup
from engine.settings.sampling import DEFAULT_SEED, ItemSample, StoppingRule
from engine.store.run_store import RunStore

BOTH, ONE, UNCERTAIN = "both", "one", "uncertain"

_DECIDED_BY_RECIPE = (
    *("methods", "orders", "margin_threshold", "margin_threshold_from", "rubric", "criteria"),
    *("examples", "few_shot", "few_shot_selection"),
    "calibration",
    *(row.name for row in IN_RECIPE if row.help),
)


def given_settings(values: object) -> dict[str, Any]:
    """The settings of a RunSetup that have an option made from their row, out of some attributes."""
    given = ((row, getattr(values, row.name, None)) for row in rows_of(RunSetup) if row.help)
    return {row.name: row.kind(value) for row, value in given if value is not None}


def example_settings(path: Path | None, shots: int | None, kind: str | None) -> dict[str, Any]:
    """The labelled examples of a request, by their names in a RunSetup. SetupError without their file."""
    for setting, given, aim in (
        (Given("few_shot"), shots, "show"),
        (Given("few_shot_selection"), kind, "choose from"),
    ):
        if given is not None and path is None:
            raise SetupError(
                Hint(setting, " without ", Given("examples"), f" has nothing to {aim}."),
                Hint("Name a file with ", Given("examples"), "."),
            )
    return {
        "examples_path": path,
        "shots": DEFAULT_SHOTS if shots is None else shots,
        "example_choice": EXAMPLE_KINDS[kind or "fixed"],
    }


@dataclass(frozen=True)
class JudgeRequest:
    """None leaves a value to the recipe, to the earlier run of a regression check, or to the default."""

    store: Path
    dataset: Path | None = None
    load: Callable[[Rubric, CancelToken], Dataset] | None = None
    """Reads the dataset where it is not in its file yet; None: it is read from its file."""
    model: str | None = None
    """As `find_model` takes it."""
    recipe: Path | None = None
    rubric: str | None = None
    criteria: tuple[str, ...] | None = None
    methods: tuple[Method, ...] | None = None
    orders: str | None = None
    """BOTH, ONE or UNCERTAIN."""
    margin_threshold: float | None = None
    margin_threshold_from: int | None = None
    examples: Path | None = None
    few_shot: int | None = None
    few_shot_selection: str | None = None
    """One of EXAMPLE_KINDS."""
    calibration: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """As `given_settings` gives them."""
    device: str | None = None
    judged_on: Callable[[], str | None] | None = None
    """Asks other computers for their devices, where these judge; called once all that is quick is checked."""
    columns: ColumnMap | None = None
    save_columns: bool = False
    accept_reading: bool = False
    """Judge although what is read looks as if it were something else: see `Dataset.signs`."""
    accept_own_candidates: bool = False
    """Judge although the judge is one of the candidates, or of their family: see `own_candidates`."""
    items: int | None = None
    sample: int | None = None
    sample_by: str | None = None
    ids: Path | bytes | tuple[str, ...] | None = None
    """A file of ids, the content of one, or the ids."""
    until: str | None = None
    """As `StoppingRule.of_text` takes it."""
    regression_check: int | None = None
    gold: Path | None = None
    """Human labels of the items of a regression check."""
    escalate: int | None = None
    """A run: what may not stand of it is judged, and put together with what may."""
    below: str | None = None
    """From which confidence on its labels may stand: `.8`, or by criterion `relevance=.8,safety=.9`."""
    name: str | None = None
    note: str | None = None
    fresh: bool = False
    written: Mapping[str, Path | None] = field(default_factory=dict)
    """The files to write, by their options, checked before anything slow begins."""

    @property
    def seed(self) -> int:
        """That of all samples."""
        return int(self.settings.get("seed", DEFAULT_SEED))

    def check(self) -> None:
        """SetupError for what excludes each other, as far as no file tells."""
        checks_run = self.regression_check is not None
        if len(given := self.given("ids", "items", "sample")) > 1:
            both = "both" if len(given) == 2 else "all"
            raise SetupError(Hint(*joined(given), f" {both} choose the items."), "Use one of them.")
        if self.items is not None and self.items < 1:
            raise SetupError(Hint(Given("items"), f" is {self.items}."), "Use 1 or more.")
        if self.recipe is not None and checks_run:
            of_run = (Given("regression_check"), " uses the settings of an earlier run, ")
            raise SetupError(
                Hint(*of_run, Given("recipe"), " its own."),
                "Remove one of them; runs diff shows how two runs of the same items differ.",
            )
        decided = _DECIDED_BY_RECIPE
        given = [each for each in decided if each in self.settings or getattr(self, each, None) is not None]
        if self.recipe is not None and given:
            raise SetupError(
                Hint(Given("recipe"), " sets what ", *joined(given), " would."),
                "Remove one of them: a recipe is used with all its settings.",
            )
        if self.gold is not None and not checks_run:
            raise SetupError(
                Hint(Given("gold"), " names human labels for a regression check."),
                Hint("Add ", Given("regression_check"), ", or use evaluate after judge."),
            )
        if checks_run and (given := self.given("sample", "sample_by", "ids", "until")):
            of_run = (Given("regression_check"), " samples the items of the earlier run; ")
            instead = (Given("items"), " sets their number, ", Given("seed"), " another sample.")
            raise SetupError(
                Hint(*of_run, *joined(given), " would choose others."),
                Hint("Remove ", Given(given[0]), "; ", *instead),
            )
        if self.escalate is None and self.below is not None:
            raise SetupError(Hint(Given("below"), " is for a run."), Hint("Name it: ", Given("escalate")))
        others = ("regression_check", "sample", "sample_by", "ids", "items", "until")
        if self.escalate is not None and (given := self.given(*others)):
            which = " judges what may not stand of a run; "
            raise SetupError(
                Hint(Given("escalate"), which, *joined(given), " would choose other items."),
                Hint("Remove ", Given(given[0]), "."),
            )
        if checks_run and self.calibration is not None:
            alike = " decides both runs alike: by the calibration of the earlier run if it fits, else"
            raise SetupError(
                Hint(Given("regression_check"), f"{alike} uncalibrated."),
                Hint("Remove ", Given("calibration"), "."),
            )

    @property
    def stopping_rule(self) -> StoppingRule | None:
        return None if self.until is None else StoppingRule.of_text(self.until, self.seed)

    def given(self, *names: str) -> list[str]:
        return [name for name in names if getattr(self, name) is not None]

    def columns_for(self, rubric: Rubric) -> ColumnMap | None:
        """The columns of the dataset. SetupError for labels on other criteria than those of a rubric."""
        if self.columns is not None:
            check_targets(self.columns.source_of, rubric)
        return self.columns

    def item_sample(self) -> ItemSample | None:
        """The requested sample. SetupError if it is impossible."""
        if self.sample is not None:
            return ItemSample(self.sample, self.seed, self.sample_by or "")
        if self.sample_by is not None:
            raise SetupError(
                Hint(Given("sample_by"), " needs the number of items."), Hint("Add ", Given("sample"), ".")
            )
        return None


def joined(names: Sequence[str]) -> Iterator[HintPart]:
    """Values of a request by name, with "and" between them."""
    for number, name in enumerate(names):
        yield from ([" and "] if number else [])
        yield Given(name)


@dataclass(frozen=True)
class Orders:
    """`below`: the margin threshold for the second order, `learned_from` a run if any; None: always."""

    both: bool = True
    below: float | None = None
    learned_from: StoredRun | None = None

    def check_fits(self, identity: RunIdentity) -> None:
        """SetupError if the margin threshold was learned from a run of another judge."""
        if self.learned_from is None:
            return
        run, judge = self.learned_from, judge_of_run(identity)
        before, named = judge_of_run(run.identity), Given("margin_threshold_from", run.id)
        for what, then, now in (
            ("model content", before.model_hash, judge.model_hash),
            ("prompts", before.prompt_version, judge.prompt_version),
            ("labelled examples", before.examples, judge.examples),
        ):
            if then != now:
                unlike = f": that run had other {what} ({then[:12] or 'none'}) than this one"
                raise SetupError(
                    Hint(named, f"{unlike} ({now[:12] or 'none'})."),
                    Hint("Name a run of the same judge, or give a number: ", Given("margin_threshold")),
                )
        if other := [name for name, asked in judge.asked.items() if before.asked_of(name) != asked]:
            raise SetupError(
                Hint(named, f": that run had other questions for {', '.join(other)}."),
                Hint("Name a run of the same rubric, or give a number: ", Given("margin_threshold")),
            )


def orders_of(
    request: JudgeRequest, criteria: Sequence[str], default: Orders | None = None
) -> tuple[Orders, list[Note]]:
    """The requested orders, else `default`, and whence a threshold is. SetupError for contradictions."""
    named = request.given("margin_threshold", "margin_threshold_from")
    if default is not None and request.orders is None and not named:
        return default, []
    asked = request.orders or BOTH
    if asked != UNCERTAIN:
        if named:
            raise SetupError(
                Hint(Given(named[0]), " has no effect with ", Given("orders", asked), "."),
                Hint("Add ", Given("orders", UNCERTAIN), ", or remove ", Given(named[0]), "."),
            )
        return Orders(asked == BOTH), []
    if len(named) > 1:
        raise SetupError(Hint(*joined(named), " both set the margin threshold."), "Remove one of them.")
    if request.margin_threshold is not None:
        check_margin(request.margin_threshold)
        return Orders(below=request.margin_threshold), []
    if request.margin_threshold_from is None:
        told = (
            f"Margin threshold: {DEFAULT_MARGIN:g}, the default. A run in both orders shows whether it suits"
            " this model: see the command orders."
        )
        return Orders(below=DEFAULT_MARGIN), [Note(told)]
    with RunStore(check_store(request.store)) as store, store.reading():
        run = store.run(request.margin_threshold_from)
        calibration = load_calibration(request.calibration) if request.calibration else None
        found = learned_from(run, tuple(store.judged(run.id)), criteria, calibration)
    below = found.least_margin(KEEP)
    told = f"Margin threshold: {below:g}, learned from {len(found.ids):,} items of run {run.id}."
    return Orders(below=below, learned_from=run), [Note(told)]
