"""A judge: a model with its settings, which judges frames and files in a process of its own.

Parameters and runs are those of the command `judge`: each resumes the runs of the other.

Knows: parameters, how a run is requested, stopped and resumed. Does not know: how anything is judged.
"""

import os
from argparse import Namespace
from collections.abc import Generator, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Literal

import pandas as pd

from engine.api.arguments import (
    AnyPath,
    FramedItems,
    api_call,
    called_the_frame,
    ids_as_texts,
    in_python,
    list_of,
    name_or_path,
    notice,
    number_of,
    path_of,
    path_or_frame,
    stoppable,
    taken,
    text_column,
)
from engine.api.run import Run
from engine.api.stored import GivenFile
from engine.api.wording import PARAMETERS
from engine.cli.shared.console import told_to
from engine.cli.shared.data_arguments import rubric_of, seed_of
from engine.cli.shared.judging import (
    RunProgressBar,
    asking,
    judged_here,
    named_criteria,
    part_in_words,
    shown_to_its_end,
    stopped_in_words,
    tell_notices,
)
from engine.cli.shared.outputs import warn_of_gaps
from engine.cli.shared.regression_check import RegressionCheck, drift_since, regression_check_of
from engine.cli.shared.setting_arguments import BOTH
from engine.cli.shared.setup_arguments import model_of, named_recipe, setup_of
from engine.core.errors import SetupError
from engine.core.events import (
    CancelToken,
    DeviceLeft,
    MeasureProgress,
    ModelOpened,
    RunEnded,
    RunEvent,
    followed,
)
from engine.core.formatting import counted, duration, in_a_line
from engine.core.items import Method
from engine.core.rubric import ELOQUENT, Rubric
from engine.core.tables import Sentences
from engine.data.dataset import Dataset, load_dataset
from engine.data.id_list import read_ids
from engine.judging.forecast import forecast
from engine.judging.plan import RunPlan
from engine.judging.prepare import PreparedRun, prepare_run
from engine.judging.work import plan_facts, time_plan
from engine.ranking.stopping import UntilSignificant, told_of
from engine.report.stopping import until_section
from engine.results.health import run_health
from engine.results.run_results import load_results
from engine.settings.rows import check_margin, row_of, rows_of
from engine.settings.run_setup import RunSetup
from engine.settings.sampling import StoppingRule
from engine.store.run_store import RunStore
from engine.system.computer import KeepAwake, available_memory
from engine.system.paths import default_store
from engine.system.subprocess_worker import SubprocessWorker

Texts = str | Sequence[str]
"""Several names: a list, or one comma-separated text."""

_PATHS = ("examples", "calibration", "recipe")
_NAMES_OR_PATHS = ("model", "rubric")


@dataclass(frozen=True)
class Plan:
    """The forecast of a run.

    `items`: number of items to judge. `tokens`: tokens that the model reads in total. `seconds`: time for the
    items not judged yet; None if no item fits the context. `facts`: the same and more as text, in the
    columns fact and value.
    """

    items: int
    tokens: int
    seconds: float | None
    facts: pd.DataFrame = field(repr=False, compare=False)

    def __repr__(self) -> str:
        time = "time not known" if self.seconds is None else f"about {duration(self.seconds)}"
        return f"<Plan: {counted(self.items, 'item', 'items')}, {self.tokens:,} tokens to read, {time}>"


@dataclass(frozen=True, repr=False)
class Judge:
    """A model and its settings. It is immutable: `dataclasses.replace` makes another one.

    `model`: the path of a GGUF file, a part of its name, or "demo"; None for that of the recipe. Every other
    None is the default of the option with the same name of the command `judge`.

    `rubric`: a name or a file; `criteria`: some of its criteria. `orders`: "both", "one" or "uncertain",
    which reads the second order only if the margin of the first is below `margin_threshold` (0 to 1), or
    below the threshold learned from the run in both orders with the id `margin_threshold_from`. `methods`:
    elicitation methods, such as "label-tokens" and "permuted-labels". `examples`: a file of labelled items to
    show; `few_shot`: how many of them; `few_shot_selection`: "fixed" or "nearest". `calibration`, `recipe`:
    files. `device`: "cpu" or the name of a GPU. `store`: the file of the runs. The others are settings of
    `judge`, such as `mode`, "labels" or "explain"; each is described where it is declared.

    Raises Refused for an invalid value. Names and files are looked up when the judge is first used, from the
    current folder.

    >>> Judge(mode="labels", methods=["label-tokens", "permuted-labels"])
    Judge('demo', mode='labels', methods=('label-tokens', 'permuted-labels'))
    """

    model: AnyPath | None = "demo"
    _: KW_ONLY
    # [[[cog import cog; from tests.generated import api_fields; cog.outl(api_fields()) ]]]
    mode: Literal["labels", "explain"] | None = None
    """Labels only (no text is generated), or labels and explanations (default)."""
    context: int | None = None
    """Context length in tokens (8192, or what the model was trained with)."""
    max_explanation_tokens: int | None = None
    """The longest explanation (120)."""
    temperature: float | None = None
    """Sample explanations; 0 decodes greedily (default). Labels are never sampled."""
    seed: int | None = None
    """Seed of the item sample, and of explanations with a temperature above 0 (0)."""
    shorten: bool | None = None
    """Omit the middle of responses that do not fit."""
    kv_type: Literal["f16", "q8_0"] | None = None
    """KV-cache type: f16 (default), or q8_0, which takes about half the memory."""
    reasoning_samples: int | None = None
    """With chain-of-thought: reasoning samples for each criterion and order (1)."""
    max_reasoning_tokens: int | None = None
    """With chain-of-thought: the longest reasoning (512)."""
    threads: int | None = None
    """Processor cores to use (the physical ones, fewer while other programs need them)."""
    gpu_layers: int | None = None
    """Layers of the model on the GPU (as many as fit its memory)."""
    # [[[end]]]
    rubric: AnyPath | None = None
    criteria: Texts | None = None
    orders: Literal["both", "one", "uncertain"] | None = None
    margin_threshold: float | None = None
    margin_threshold_from: int | None = None
    methods: Texts | None = None
    examples: AnyPath | None = None
    few_shot: int | None = None
    few_shot_selection: Literal["fixed", "nearest"] | None = None
    calibration: AnyPath | None = None
    device: str | None = None
    store: AnyPath | None = None
    recipe: AnyPath | None = None

    @in_python()
    def __post_init__(self) -> None:
        for each in fields(self):
            _set(self, each.name, taken(each.name, each.type, getattr(self, each.name)))
        for row in rows_of(RunSetup):
            if row.kind in (int, float) and hasattr(self, row.name):
                row.check(getattr(self, row.name))
        if self.margin_threshold is not None:
            check_margin(self.margin_threshold)
        for name in ("criteria", "methods"):
            _set(self, name, _names(name, getattr(self, name)))
        row_of("shots").check(self.few_shot)
        known = [method.option for method in Method]
        if unknown := [method for method in self.methods or () if method not in known]:
            raise SetupError(f"There is no method {unknown[0]!r}.", f"Use some of {', '.join(known)}.")

    def __repr__(self) -> str:
        given = ((each.name, getattr(self, each.name)) for each in fields(self)[1:])
        shown = [repr(self.model), *(f"{name}={value!r}" for name, value in given if value is not None)]
        return f"Judge({', '.join(shown)})"

    @api_call
    def plan(
        self,
        data: AnyPath | pd.DataFrame | None = None,
        items: int | None = None,
        sample: int | None = None,
        ids: "AnyPath | Iterable[object] | None" = None,
        *,
        sample_by: str | None = None,
        regression_check: int | None = None,
    ) -> Plan:
        """The forecast of a run; no judgment is stored. If no earlier run shows the speed of the model, some
        items are judged to measure it. Parameters and errors are those of `run`.

        >>> judge.plan(demo_dataset(), items=4).items
        4
        """
        with stoppable() as cancel:
            made, _ = self._prepared(
                data,
                cancel,
                items=items,
                sample=sample,
                ids=ids,
                sample_by=sample_by,
                regression_check=regression_check,
            )
            found = followed(forecast(made.plan, self._store, cancel), lambda _event: None)
            if found.template_note:
                notice(found.template_note)
            if found.seconds is None and len(found.too_long) < found.items:
                with SubprocessWorker(time_plan, cancel) as worker:
                    found = found.with_rate(followed(worker.do(made.plan), lambda _event: None))
        pairs = [
            ("judges", f"{made.plan.model.name} on {part_in_words(made)}"),
            *plan_facts(found, made.model, available_memory()).pairs,
            ("time", found.time_in_words),
        ]
        names, values = zip(*pairs, strict=True)
        facts = pd.DataFrame({"fact": text_column(names), "value": text_column(values)})
        return Plan(found.items, found.tokens_to_read, found.seconds, facts)

    @api_call
    def run(
        self,
        data: AnyPath | pd.DataFrame | None = None,
        *,
        progress: bool = True,
        name: str | None = None,
        note: str | None = None,
        fresh: bool = False,
        items: int | None = None,
        sample: int | None = None,
        sample_by: str | None = None,
        ids: "AnyPath | Iterable[object] | None" = None,
        until: "float | Literal['significant'] | None" = None,
        regression_check: int | None = None,
        gold: AnyPath | pd.DataFrame | None = None,
        keep_awake: Literal["mains", "yes", "no"] = "mains",
    ) -> Run:
        """Judge a frame or a dataset file, and return the run, which is saved in the store.

        `data` has the columns id, instruction, output_a and output_b, and may have human labels and others. A
        frame is written once next to the store, so that the run's dataset is found later. Every judgment is
        stored: the same call resumes after a stop or a crash, and judges nothing twice. A call with the same
        items and other labels resumes, too; the returned run is then scored by these labels. `fresh`: start a
        new run instead. `items`: only the first items; `sample`: the size of a random sample, stratified by
        the column `sample_by`; `ids`: a list of ids, or a file of them. `until`: stop when every two
        candidates differ significantly ("significant"), or when intervals of win rates are at most this many
        points wide. `regression_check`: the id of an earlier run, of which `items` (50) are judged again;
        settings that this judge leaves at None, and the `model` if it is None, are those of that run.
        `Run.drift` of that run then shows what changed, and the effect of rounding. `gold`: human labels of
        these items, if their dataset has none.

        If the model crashes, Refused is raised, and all judgments are stored. Ctrl-C stops the run; if long
        work would be lost, the first one lets it end. Then KeyboardInterrupt reports the progress. Notices
        are warnings. Raises Refused for data, a model or settings that cannot be used.

        >>> judge.run(demo_dataset(), items=12, progress=False).complete
        True
        """
        bar = _NotebookBar(progress)
        with stoppable(bar.loss_of_a_stop) as cancel:
            chosen = {"items": items, "sample": sample, "sample_by": sample_by, "ids": ids, "until": until}
            called = {
                "regression_check": regression_check,
                "gold": gold,
                "name": name,
                "note": note,
                "fresh": fresh,
            }
            made, asked = self._prepared(data, cancel, **chosen, **called)
            ended = self._judged(made.plan, asked, bar, KeepAwake(keep_awake), cancel)
        return self._ended(ended, bar, fresh, made.plan, asked.gold)

    def _judged(
        self, plan: RunPlan, asked: "_Asked", bar: "_NotebookBar", keep_awake: KeepAwake, cancel: CancelToken
    ) -> RunEnded:
        """Judge; for a regression check, also measure the effect of rounding."""
        if asked.framed is not None:
            asked.framed.keep()
        events = judged_here(plan, self._store, asked.fresh, cancel, apart=True)
        with told_to(None):
            ended = shown_to_its_end(events, bar, keep_awake)
        if asked.regression is not None and not ended.stopped:
            also = partial(drift_since, asked.regression, plan, run_id=ended.run_id, apart=True)
            with RunStore(self._store) as store:
                also(store, cancel=cancel, follow=_to_its_end)
        return ended

    def _ended(
        self, ended: RunEnded, bar: "_NotebookBar", fresh: bool, plan: RunPlan, gold: Path | None
    ) -> Run:
        """The run, with notices on it; KeyboardInterrupt if it was stopped."""
        for text in bar.left:
            notice(text)
        if ended.stopped:
            raise KeyboardInterrupt(stopped_in_words(ended, f"call{' without fresh=True' if fresh else ''}"))
        with RunStore(self._store) as store:
            results = load_results(store, ended.run_id)
        health = run_health(results)
        if health.doubted:
            notice("\n".join(health.sentences(PARAMETERS.of)))
        if results.one_labels:
            notice(results.one_label_sentence)
        if isinstance(plan.question_plan, UntilSignificant):
            notice(_what_is_clear(told_of(plan.question_plan, results)))
        warn_of_gaps(results, partly=plan.question_plan is not None)
        given = GivenFile(plan.identity().dataset_path, plan.dataset.columns, gold)
        return Run(ended.run_id, self.store, _given=given)

    @property
    def _store(self) -> Path:
        return default_store() if self.store is None else path_of("store", self.store).absolute()

    def _prepared(self, data: object, cancel: CancelToken, **asked: object) -> "tuple[PreparedRun, _Asked]":
        """The plan of a run, and the rest of the request; `asked`: the options that are given."""
        given = _given(data, asked.get("regression_check"), self._store)
        framed = given if isinstance(given, FramedItems) else None
        options = self._options(given.path if isinstance(given, FramedItems) else given, **asked)
        until, recipe = _until(options), named_recipe(options)
        if framed is not None and options.regression_check is not None:
            framed.keep()  # its items are found in this file
            framed = None
        regression = regression_check_of(options, cancel)
        setup, orders = setup_of(options, model_of(options, recipe, regression), regression, recipe)
        dataset = None if framed is None else framed.load(setup.rubric, cancel)
        if regression is None:
            setup = replace(setup, ids=_chosen(options.ids, setup, dataset, cancel))
        with nullcontext() if framed is None else called_the_frame(framed.path.name):
            made = followed(prepare_run(setup, cancel, dataset), partial(tell_notices, word=PARAMETERS.of))
        fresh = options.fresh
        if regression is not None:
            plan = regression.planned(made.plan, options.store, options.name is not None)
            made, fresh = replace(made, plan=plan), fresh or regression.begins_anew(plan, options.store)
        orders.check_fits(made.plan.identity())
        return asking(made, until), _Asked(framed, fresh, options.gold, regression)

    def _options(self, dataset: Path | None, **asked: object) -> Namespace:
        """All given values, as the options of the command."""
        chosen = ("items", "sample", "ids")
        if len(named := [name for name in chosen if asked.get(name) is not None]) > 1:
            raise SetupError(f"{' and '.join(named)} choose the items.", "Use one of them.")
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        paths = {name: path_of(name, own[name]) for name in _PATHS if own[name] is not None}
        lists = {name: ",".join(own[name]) for name in ("criteria", "methods") if own[name] is not None}
        texts = {name: name_or_path(name, own[name]) for name in _NAMES_OR_PATHS if own[name] is not None}
        if (gold := asked.get("gold")) is not None:
            asked["gold"] = _kept(gold, self._store)
        own |= {
            **paths,
            **lists,
            **texts,
            "method": lists.get("methods"),
            "dataset": dataset,
            "store": self._store,
        }
        return Namespace(**{**_LEFT_OUT, **own, **asked})


@dataclass(frozen=True)
class _Asked:
    """The rest of a request: the frame of its dataset, if its file is not written yet; whether a new run is
    started; the file of human labels, if not the dataset; the regression check.
    """

    framed: FramedItems | None
    fresh: bool
    gold: Path | None
    regression: RegressionCheck | None


def asked_by(judge: Judge) -> tuple[Rubric, bool]:
    """The criteria of a judge, as a rubric of only these, and whether it reads both orders of each item.
    SetupError if its rubric, its criteria or its recipe cannot be used.
    """
    options = judge._options(Path())
    if (recipe := named_recipe(options)) is not None:
        return recipe.judge.asked, recipe.judge.both_orders
    rubric = rubric_of(options) or ELOQUENT
    return rubric.only(named_criteria(options.criteria, rubric)), options.orders in {None, BOTH}


_LEFT_OUT = {
    **dict.fromkeys(
        ("items", "sample", "sample_by", "ids", "until", "regression_check", "gold", "name", "note")
    ),
    **dict.fromkeys(("fresh", "save_columns"), False),
    **dict.fromkeys(("columns", "labels")),
}
"""Defaults of the command's options that a call may not give; other columns are for `read`."""


class _NotebookBar(RunProgressBar):
    """The progress bar of a run, possibly hidden; `left`: warnings to give when it has ended."""

    def __init__(self, shown: bool) -> None:
        super().__init__()
        self._shown = shown
        self.left: list[str] = []

    def show(self, event: RunEvent) -> None:
        """Show one event; notices are collected for warnings."""
        if isinstance(event, ModelOpened) and event.note:
            self.left.append(event.note)
            event = replace(event, note="")
        if isinstance(event, DeviceLeft):
            self.left.append(event.in_words)
        if self._shown:
            super().show(event)
        else:
            self._follower.follow(event)


def _what_is_clear(until: UntilSignificant) -> str:
    parts = until_section(until).parts
    texts = [text for part in parts if isinstance(part, Sentences) for text in part.texts]
    texts += [f"{question.in_words}." for question in until.questions if not question.is_open]
    return "\n".join(texts)


def _to_its_end(reading: Generator[MeasureProgress, None, None]) -> None:
    followed(reading, lambda _event: None)


def _set(judge: Judge, name: str, value: object) -> None:
    object.__setattr__(judge, name, value)


def _names(name: str, given: Texts | None) -> tuple[str, ...] | None:
    """Several names, from a list or a comma-separated text."""
    if given is None:
        return None
    hint = f"Use a list of names, as in {name}=['one', 'two']."
    names = given.split(",") if isinstance(given, str) else list_of(name, given, hint)
    texts = [each.strip() for each in names if isinstance(each, str)]
    if not names or len(texts) < len(names) or not all(texts):
        raise SetupError(f"{name} is {in_a_line(given)}.", hint)
    return tuple(texts)


def _given(data: object, regression: object, store: Path) -> Path | FramedItems | None:
    """The given dataset; None for that of the earlier run of a regression check."""
    return None if data is None and regression is not None else path_or_frame(data, store)


def _kept(gold: object, store: Path) -> Path:
    """The file of human labels; for a frame it is written."""
    given = path_or_frame(gold, store)
    if isinstance(given, Path):
        return given
    given.keep()
    return given.path


def _until(options: Namespace) -> StoppingRule | None:
    given = options.until
    if given is None:
        return None
    text = given if isinstance(given, str) else str(number_of("until", float, given))
    return StoppingRule.of_text(text, seed_of(options))


def _chosen(
    ids: "AnyPath | Iterable[object] | None", setup: RunSetup, dataset: Dataset | None, cancel: CancelToken
) -> tuple[str, ...]:
    """The ids of a list or of a file."""
    if ids is None:
        return ()
    if isinstance(ids, str | os.PathLike):
        known = dataset or load_dataset(setup.dataset_path, setup.rubric, cancel)
        return read_ids(path_of("ids", ids), known)
    listed = list_of("ids", ids, 'Use a list of ids, a column as frame["id"], or the path of a file of them.')
    chosen = tuple(dict.fromkeys(ids_as_texts(listed)))
    if not chosen:
        raise SetupError("ids is empty.", "Name some ids, or omit it for all items.")
    return chosen
