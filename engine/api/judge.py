"""A judge: a model with its settings, which judges frames and files in a process of its own.

Its words are those of the command `judge`, and so are its runs: what one began, the other goes on with.

Knows: parameters, how a run is asked for, stopped and resumed. Does not know: how anything is judged.
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

from engine.api.arguments import AnyPath, api_call, list_of, name_or_path, number_of, path_of, taken
from engine.api.cells import ids_as_texts
from engine.api.frames import FramedItems, called_the_frame, path_or_frame, text_column
from engine.api.refused import in_python, notice, stoppable
from engine.api.run import Run
from engine.api.stored import GivenFile
from engine.api.wording import PARAMETERS
from engine.commands.shared.anchors import Anchors, anchors_of, drift_since
from engine.commands.shared.column_arguments import rubric_of
from engine.commands.shared.console import told_to
from engine.commands.shared.item_arguments import seed_of
from engine.commands.shared.judging import (
    asking,
    judged_here,
    named_criteria,
    part_in_words,
    shown_to_its_end,
    stopped_in_words,
    tell_notices,
)
from engine.commands.shared.order_arguments import BOTH
from engine.commands.shared.progress import RunProgressBar
from engine.commands.shared.recipe_argument import model_of, named_recipe
from engine.commands.shared.run_outputs import warn_of_gaps
from engine.commands.shared.setup_arguments import setup_of
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.events import DeviceLeft, MeasureProgress, ModelOpened, RunEnded, RunEvent, followed
from engine.core.formatting import counted, duration, in_a_line
from engine.core.items import Way
from engine.core.rubric import ELOQUENT, Rubric
from engine.core.run_setup import RunSetup
from engine.core.settings import check_margin, rows_of
from engine.core.sheets import Sentences
from engine.core.until import Until
from engine.data.dataset import Dataset, load_dataset
from engine.data.id_list import read_ids
from engine.decisions.health import run_health
from engine.decisions.run_results import load_results
from engine.judge.forecast import forecast
from engine.judge.plan import RunPlan
from engine.judge.plan_facts import plan_facts
from engine.judge.prepare import PreparedRun, prepare_run
from engine.judge.work import time_plan
from engine.rank.until_sure import UntilSure, told_of
from engine.report.until_sheet import until_section
from engine.store.run_store import RunStore
from engine.system.apart import Apart
from engine.system.awake import KeepAwake
from engine.system.computer import available_memory
from engine.system.paths import default_store

Texts = str | Sequence[str]
"""Several names: a list, or one text with commas between them."""

_PATHS = ("examples", "calibration", "recipe")
_NAMES_OR_PATHS = ("model", "rubric")


@dataclass(frozen=True)
class Plan:
    """What a run would take.

    `items`: that are judged. `tokens`: that the model reads for them in all. `seconds`: for what is not
    judged yet; None where no item fits the context. `facts`: the same and more in words, columns fact and
    value.
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
    """A model and how it is asked. It cannot be changed: `dataclasses.replace` makes another one.

    `model`: the path of a GGUF file, a part of its name, or "demo"; None for that of the recipe. What is None
    elsewhere is as usual: the same as without the option of that name of the command `judge`.

    `mode`: "labels" or "explain". `rubric`: a name or a file; `criteria`: some of its criteria. `orders`:
    "both", "one" or "doubtful"; then `margin`, 0 to 1, is what doubtful is, or it is learned of the run in
    both orders whose number is `margin_from`. `ways`: of asking, as letters and permuted; `thoughts`: how
    many, of the way thinking, `max_thought_tokens`: how long they may be. `examples`: a file of labelled
    items to show, of these `shots`, and `choose` "fixed" or "near" ones. `calibration`, `recipe`: files.
    `shorten`: leave out the middle of responses that do not fit. `temperature`: of explanations, 0 for the
    likeliest words; `max_explanation_tokens`: how long they may be; `seed`: of all that is drawn. `context`:
    tokens that fit; `kv_type`: "f16" or "q8_0"; `threads`: processor cores; `device`: "cpu" or the name of a
    GPU; `gpu_layers`: of the model on it. `store`: the file of the runs.

    Raises Refused for a value that cannot be; names and files are looked for once there is something to do,
    from the current folder.

    >>> Judge(mode="labels", ways=["letters", "permuted"])
    Judge('demo', mode='labels', ways=('letters', 'permuted'))
    """

    model: AnyPath | None = "demo"
    _: KW_ONLY
    mode: Literal["labels", "explain"] | None = None
    rubric: AnyPath | None = None
    criteria: Texts | None = None
    orders: Literal["both", "one", "doubtful"] | None = None
    margin: float | None = None
    margin_from: int | None = None
    ways: Texts | None = None
    thoughts: int | None = None
    max_thought_tokens: int | None = None
    examples: AnyPath | None = None
    shots: int | None = None
    choose: Literal["fixed", "near"] | None = None
    calibration: AnyPath | None = None
    shorten: bool | None = None
    temperature: float | None = None
    seed: int | None = None
    context: int | None = None
    kv_type: Literal["f16", "q8_0"] | None = None
    threads: int | None = None
    device: str | None = None
    gpu_layers: int | None = None
    max_explanation_tokens: int | None = None
    store: AnyPath | None = None
    recipe: AnyPath | None = None

    @in_python()
    def __post_init__(self) -> None:
        for each in fields(self):
            _set(self, each.name, taken(each.name, each.type, getattr(self, each.name)))
        for row in rows_of(RunSetup):
            if row.kind in (int, float) and hasattr(self, row.name):
                row.check(getattr(self, row.name))
        if self.margin is not None:
            check_margin(self.margin)
        for name in ("criteria", "ways"):
            _set(self, name, _names(name, getattr(self, name)))
        if unknown := [way for way in self.ways or () if way not in tuple(Way)]:
            raise SetupError(f"No way of asking is called {unknown[0]!r}.", f"Use some of {', '.join(Way)}.")

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
        anchors: int | None = None,
    ) -> Plan:
        """What a run would take; no judgment is kept. Where no earlier run tells how fast the model is, it
        judges some items for that. The parameters are those of `run`, and so are errors.

        >>> judge.plan(demo_dataset(), items=4).items
        4
        """
        with stoppable() as cancel:
            made, _ = self._prepared(
                data, cancel, items=items, sample=sample, ids=ids, sample_by=sample_by, anchors=anchors
            )
            found = followed(forecast(made.plan, self._store, cancel), lambda _event: None)
            if found.template_note:
                notice(found.template_note)
            if found.seconds is None and len(found.too_long) < found.items:
                with Apart(time_plan, cancel) as worker:
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
        until: "float | Literal['sure'] | None" = None,
        anchors: int | None = None,
        gold: AnyPath | pd.DataFrame | None = None,
        keep_awake: Literal["mains", "yes", "no"] = "mains",
    ) -> Run:
        """Judge a frame or the file of a dataset, and give back the run, which the store keeps.

        `data` has the columns id, instruction, output_a and output_b, and may have human labels and others. A
        frame is written once beside the store, so that the run's dataset is found later. What was judged is
        kept: the same call goes on after a stop or a crash, and judges nothing twice; so does one with the
        same items and other labels, by which what it gives back is measured; `fresh`: a new run all the same.
        `items`: the first so many, `sample`: so many at random, as evenly as can be over the values of the
        column `sample_by`; `ids`: a list of ids, or a file of them. `until`: stop once it is "sure" which of
        each two candidates is better, or once intervals of win rates are so many points wide. `anchors`: the
        number of an earlier run of which `items` (50) are judged again, with all that this judge leaves open,
        the `model` too where it is None, as there; what changed says `Run.drift` of that run, beside how far
        rounding goes, for which they are read once more. `gold`: human labels of these where their dataset
        has none. `keep_awake`: the computer, on "mains" alone or not. `name`, `note`: of the run. `progress`:
        a bar on stderr.

        The model works in a process of its own: if that breaks down, Refused is raised; what was judged is
        kept. Ctrl-C stops; where long work would be lost, the first one lets it end. Then KeyboardInterrupt
        says how far the run came. What a person should know of data, model and run is warned of: Notice.
        Raises Refused for data, a model or settings that cannot be used.

        >>> judge.run(demo_dataset(), items=12, progress=False).complete
        True
        """
        bar = _NotebookBar(progress)
        with stoppable(bar.loss_of_a_stop) as cancel:
            chosen = {"items": items, "sample": sample, "sample_by": sample_by, "ids": ids, "until": until}
            called = {"anchors": anchors, "gold": gold, "name": name, "note": note, "fresh": fresh}
            made, asked = self._prepared(data, cancel, **chosen, **called)
            ended = self._judged(made.plan, asked, bar, KeepAwake(keep_awake), cancel)
        return self._ended(ended, bar, fresh, made.plan, asked.gold)

    def _judged(
        self, plan: RunPlan, asked: "_Asked", bar: "_NotebookBar", keep_awake: KeepAwake, cancel: CancelToken
    ) -> RunEnded:
        """Judge; where an earlier run is checked, also how far rounding goes."""
        if asked.framed is not None:
            asked.framed.keep()
        events = judged_here(plan, self._store, asked.fresh, cancel, apart=True)
        with told_to(None):
            ended = shown_to_its_end(events, bar, keep_awake)
        if asked.anchors is not None and not ended.stopped:
            also = partial(drift_since, asked.anchors, plan, run_id=ended.run_id, apart=True)
            with RunStore(self._store) as store:
                also(store, cancel=cancel, follow=_to_its_end)
        return ended

    def _ended(
        self, ended: RunEnded, bar: "_NotebookBar", fresh: bool, plan: RunPlan, gold: Path | None
    ) -> Run:
        """The run, with what a person should know of it; KeyboardInterrupt where it was stopped."""
        for said in bar.left:
            notice(said)
        if ended.stopped:
            raise KeyboardInterrupt(stopped_in_words(ended, f"call{' without fresh=True' if fresh else ''}"))
        with RunStore(self._store) as store:
            results = load_results(store, ended.run_id)
        health = run_health(results)
        if health.doubted:
            notice("\n".join(health.sentences(PARAMETERS.of)))
        if results.one_labels:
            notice(results.one_label_sentence)
        if isinstance(plan.inquiry, UntilSure):
            notice(_what_is_clear(told_of(plan.inquiry, results)))
        warn_of_gaps(results, partly=plan.inquiry is not None)
        given = GivenFile(plan.identity().dataset_path, plan.dataset.columns, gold)
        return Run(ended.run_id, self.store, _given=given)

    @property
    def _store(self) -> Path:
        return default_store() if self.store is None else path_of("store", self.store).absolute()

    def _prepared(self, data: object, cancel: CancelToken, **asked: object) -> "tuple[PreparedRun, _Asked]":
        """The plan of a run, and what else was asked for it; `asked`: of its options those that are given."""
        given = _given(data, asked.get("anchors"), self._store)
        framed = given if isinstance(given, FramedItems) else None
        options = self._options(given.path if isinstance(given, FramedItems) else given, **asked)
        until, recipe = _until(options), named_recipe(options)
        if framed is not None and options.anchors is not None:
            framed.keep()  # whose items are found in it
            framed = None
        anchors = anchors_of(options, cancel)
        setup, orders = setup_of(options, model_of(options, recipe, anchors), anchors, recipe)
        dataset = None if framed is None else framed.load(setup.rubric, cancel)
        if anchors is None:
            setup = replace(setup, ids=_chosen(options.ids, setup, dataset, cancel))
        with nullcontext() if framed is None else called_the_frame(framed.path.name):
            made = followed(prepare_run(setup, cancel, dataset), partial(tell_notices, word=PARAMETERS.of))
        fresh = options.fresh
        if anchors is not None:
            plan = anchors.planned(made.plan, options.store, options.name is not None)
            made, fresh = replace(made, plan=plan), fresh or anchors.begins_anew(plan, options.store)
        orders.check_fits(made.plan.identity())
        return asking(made, until), _Asked(framed, fresh, options.gold, anchors)

    def _options(self, dataset: Path | None, **asked: object) -> Namespace:
        """All that was given, as the options of the command."""
        chosen = ("items", "sample", "ids")
        if len(named := [name for name in chosen if asked.get(name) is not None]) > 1:
            raise SetupError(f"{' and '.join(named)} choose the items.", "Use one of them.")
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        paths = {name: path_of(name, own[name]) for name in _PATHS if own[name] is not None}
        lists = {name: ",".join(own[name]) for name in ("criteria", "ways") if own[name] is not None}
        texts = {name: name_or_path(name, own[name]) for name in _NAMES_OR_PATHS if own[name] is not None}
        if (gold := asked.get("gold")) is not None:
            asked["gold"] = _kept(gold, self._store)
        own |= {**paths, **lists, **texts, "dataset": dataset, "store": self._store}
        return Namespace(**{**_LEFT_OUT, **own, **asked})


@dataclass(frozen=True)
class _Asked:
    """Of a run: the frame that is its dataset, whose file is not written yet; whether it begins anew; where
    human labels of its items are, if not in its dataset; the earlier run that it checks.
    """

    framed: FramedItems | None
    fresh: bool
    gold: Path | None
    anchors: Anchors | None


def asked_by(judge: Judge) -> tuple[Rubric, bool]:
    """The criteria that a judge asks, as the rubric of these alone, and whether it reads both orders of each
    item. SetupError where its rubric, its criteria or its recipe cannot be used.
    """
    options = judge._options(Path())
    if (recipe := named_recipe(options)) is not None:
        return recipe.judge.asked, recipe.judge.both_orders
    rubric = rubric_of(options) or ELOQUENT
    return rubric.only(named_criteria(options.criteria, rubric)), options.orders in {None, BOTH}


_LEFT_OUT = {
    **dict.fromkeys(("items", "sample", "sample_by", "ids", "until", "anchors", "gold", "name", "note")),
    **dict.fromkeys(("fresh", "save_columns"), False),
    **dict.fromkeys(("columns", "labels")),
}
"""Options of the command as they are where a call does not give them; by other columns `read` reads."""


class _NotebookBar(RunProgressBar):
    """The bar of a run, perhaps not shown; `left`: what is to be warned of once it has ended."""

    def __init__(self, shown: bool) -> None:
        super().__init__()
        self._shown = shown
        self.left: list[str] = []

    def show(self, event: RunEvent) -> None:
        """Show one event; what a person should know is left for warnings."""
        if isinstance(event, ModelOpened) and event.note:
            self.left.append(event.note)
            event = replace(event, note="")
        if isinstance(event, DeviceLeft):
            self.left.append(event.in_words)
        if self._shown:
            super().show(event)
        else:
            self._follower.follow(event)


def _what_is_clear(until: UntilSure) -> str:
    parts = until_section(until).parts
    said = [text for part in parts if isinstance(part, Sentences) for text in part.texts]
    said += [f"{question.in_words}." for question in until.questions if not question.is_open]
    return "\n".join(said)


def _to_its_end(reading: Generator[MeasureProgress, None, None]) -> None:
    followed(reading, lambda _event: None)


def _set(judge: Judge, name: str, value: object) -> None:
    object.__setattr__(judge, name, value)


def _names(name: str, given: Texts | None) -> tuple[str, ...] | None:
    """Several names, of a list or of a text with commas."""
    if given is None:
        return None
    remedy = f"Use a list of names, as in {name}=['one', 'two']."
    names = given.split(",") if isinstance(given, str) else list_of(name, given, remedy)
    texts = [each.strip() for each in names if isinstance(each, str)]
    if not names or len(texts) < len(names) or not all(texts):
        raise SetupError(f"{name} is {in_a_line(given)}.", remedy)
    return tuple(texts)


def _given(data: object, anchors: object, store: Path) -> Path | FramedItems | None:
    """The dataset that is given; None for that of the run of anchors."""
    return None if data is None and anchors is not None else path_or_frame(data, store)


def _kept(gold: object, store: Path) -> Path:
    """The file of human labels, which of a frame is written."""
    given = path_or_frame(gold, store)
    if isinstance(given, Path):
        return given
    given.keep()
    return given.path


def _until(options: Namespace) -> Until | None:
    given = options.until
    if given is None:
        return None
    text = given if isinstance(given, str) else str(number_of("until", float, given))
    return Until.of_text(text, seed_of(options))


def _chosen(
    ids: "AnyPath | Iterable[object] | None", setup: RunSetup, dataset: Dataset | None, cancel: CancelToken
) -> tuple[str, ...]:
    """The ids of a list, or of the file that is named."""
    if ids is None:
        return ()
    if isinstance(ids, str | os.PathLike):
        known = dataset or load_dataset(setup.dataset_path, setup.rubric, cancel)
        return read_ids(path_of("ids", ids), known)
    listed = list_of("ids", ids, 'Use a list of ids, a column as frame["id"], or the path of a file of them.')
    chosen = tuple(dict.fromkeys(ids_as_texts(listed)))
    if not chosen:
        raise SetupError("ids is empty.", "Name some ids, or leave it out for all items.")
    return chosen
