"""A judge: a model with its settings, which judges frames and files in a process of its own.

Its words are those of the command `judge`, and so are its runs: what one began, the other goes on with.

Knows: parameters, how a run is asked for, stopped and resumed. Does not know: how anything is judged.
"""

import os
import signal
import threading
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Literal

import pandas as pd

from engine.api.arguments import list_of, name_or_path, number_of, path_of, text_of
from engine.api.cells import ids_as_texts
from engine.api.frames import (
    AnyPath,
    FramedItems,
    called_the_frame,
    path_or_frame,
    text_column,
)
from engine.api.refused import in_python, notice
from engine.api.run import Run
from engine.api.stored import GivenFile
from engine.api.wording import PARAMETERS
from engine.commands.shared.column_arguments import rubric_of
from engine.commands.shared.console import interruptible, told_to
from engine.commands.shared.judging import (
    judged_here,
    named_criteria,
    part_in_words,
    shown_to_its_end,
    stopped_in_words,
    tell_notices,
)
from engine.commands.shared.order_arguments import BOTH, DOUBTFUL, ONE
from engine.commands.shared.progress import RunProgressBar
from engine.commands.shared.recipe_argument import model_of, named_recipe
from engine.commands.shared.run_outputs import warn_of_gaps
from engine.commands.shared.setup_arguments import setup_of
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.events import DeviceLeft, ModelOpened, RunEnded, RunEvent, followed
from engine.core.formatting import counted, duration
from engine.core.items import Way
from engine.core.rubric import ELOQUENT, Rubric
from engine.core.run_setup import RunSetup
from engine.core.setting_row import SettingRow
from engine.core.settings import ExampleKind, KvType, Mode, check_margin, rows_of
from engine.data.dataset import Dataset, load_dataset
from engine.data.id_list import read_ids
from engine.decisions.health import run_health
from engine.decisions.run_results import load_results
from engine.judge.forecast import forecast
from engine.judge.plan_facts import plan_facts
from engine.judge.prepare import PreparedRun, prepare_run
from engine.judge.work import time_plan
from engine.store.run_store import RunStore
from engine.system.apart import Apart
from engine.system.awake import KeepAwake
from engine.system.computer import available_memory
from engine.system.paths import default_store

Texts = str | Sequence[str]
"""Several names: a list, or one text with commas between them."""

_CHOICES = {
    "mode": [mode.value for mode in Mode],
    "orders": [BOTH, ONE, DOUBTFUL],
    "choose": [kind.value for kind in ExampleKind],
    "kv_type": [kind.value for kind in KvType],
}
_PATHS = ("examples", "calibration", "recipe")
_NAMES_OR_PATHS = ("model", "rubric")
_ROWS = {row.name: row for row in rows_of(RunSetup)}


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
    "both", "one" or "doubtful"; then `margin`, 0 to 1, is what doubtful is. `ways`: of asking, as letters and
    permuted; `thoughts`: how many, of the way thinking. `examples`: a file of labelled items to show, of
    these `shots`, and `choose` "fixed" or "near" ones. `calibration`, `recipe`: files. `shorten`: leave out
    the middle of responses that do not fit. `temperature`: of explanations, 0 for the likeliest words;
    `max_explanation_tokens`: how long they may be; `seed`: of all that is drawn. `context`: tokens that fit;
    `kv_type`: "f16" or "q8_0"; `threads`: processor cores; `device`: "cpu" or the name of a GPU;
    `gpu_layers`: of the model on it. `store`: the file of the runs.

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
    ways: Texts | None = None
    thoughts: int | None = None
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
        for name, choices in _CHOICES.items():
            given = getattr(self, name)
            if given is not None and not (isinstance(given, str) and given in choices):
                raise SetupError(f"{name} is {given!r}.", f"Use {' or '.join(map(repr, choices))}.")
        for name in (*_PATHS, *_NAMES_OR_PATHS, "store"):
            if (given := getattr(self, name)) is not None:
                path_of(name, given)
        if self.device is not None:
            text_of("device", self.device)
        for name, row in _ROWS.items():
            if row.kind in (int, float) and hasattr(self, name):
                _set(self, name, _number(row, getattr(self, name)))
        if (margin := number_of("margin", float, self.margin)) is not None:
            check_margin(margin)
        if not isinstance(self.shorten, bool | None):
            raise SetupError(f"shorten is {self.shorten!r}.", "Use True or False.")
        for name in ("criteria", "ways"):
            _set(self, name, _names(name, getattr(self, name)))
        if unknown := [way for way in self.ways or () if way not in tuple(Way)]:
            raise SetupError(f"No way of asking is called {unknown[0]!r}.", f"Use some of {', '.join(Way)}.")

    def __repr__(self) -> str:
        given = ((each.name, getattr(self, each.name)) for each in fields(self)[1:])
        shown = [repr(self.model), *(f"{name}={value!r}" for name, value in given if value is not None)]
        return f"Judge({', '.join(shown)})"

    @in_python()
    def plan(
        self,
        data: AnyPath | pd.DataFrame,
        items: int | None = None,
        sample: int | None = None,
        ids: "AnyPath | Iterable[object] | None" = None,
    ) -> Plan:
        """What a run would take; nothing is kept. Where no earlier run tells how fast the model is, it judges
        some items for that. `items`, `sample`, `ids`: as for `run`, and so are errors.

        >>> judge.plan(demo_dataset(), items=4).items
        4
        """
        with _stoppable() as cancel:
            made, _ = self._prepared(data, cancel, items=items, sample=sample, ids=ids)
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

    @in_python()
    def run(
        self,
        data: AnyPath | pd.DataFrame,
        *,
        progress: bool = True,
        name: str | None = None,
        note: str | None = None,
        fresh: bool = False,
        items: int | None = None,
        sample: int | None = None,
        ids: "AnyPath | Iterable[object] | None" = None,
    ) -> Run:
        """Judge a frame or the file of a dataset, and give back the run, which the store keeps.

        `data` has the columns id, instruction, output_a and output_b, and may have human labels and others. A
        frame is written once beside the store, so that the run's dataset is found later. What was judged is
        kept: the same call goes on after a stop or a crash, and judges nothing twice; so does one with the
        same items and other labels, by which what it gives back is measured; `fresh`: a new run all the same.
        `items`: the first so many, `sample`: so many at random, `ids`: a list of ids, or a file of
        them. `name`, `note`: of the run. `progress`: show a bar on stderr.

        The model works in a process of its own: if that breaks down, Refused is raised; what was judged is
        kept. Ctrl-C stops; where long work would be lost, the first one lets it end. Then KeyboardInterrupt
        says how far the run came. What a person should know of data, model and run is warned of: Notice.

        Raises Refused for data, a model or settings that cannot be used.

        >>> judge.run(demo_dataset(), items=12, progress=False).complete
        True
        """
        bar = _NotebookBar(progress)
        with _stoppable(bar) as cancel:
            made, framed = self._prepared(
                data, cancel, items=items, sample=sample, ids=ids, name=name, note=note, fresh=fresh
            )
            if framed is not None:
                framed.keep()
            events = judged_here(made.plan, self._store, fresh, cancel, apart=True)
            with told_to(None):
                ended = shown_to_its_end(events, bar, KeepAwake.MAINS)
        dataset = made.plan.dataset
        given = GivenFile(made.plan.identity().dataset_path, dataset.columns)
        return self._ended(ended, bar, fresh, given)

    def _ended(self, ended: RunEnded, bar: "_NotebookBar", fresh: bool, given: GivenFile) -> Run:
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
        warn_of_gaps(results)
        return Run(ended.run_id, self.store, _given=given)

    @property
    def _store(self) -> Path:
        return default_store() if self.store is None else path_of("store", self.store).absolute()

    def _prepared(
        self,
        data: object,
        cancel: CancelToken,
        *,
        items: int | None,
        sample: int | None,
        ids: "AnyPath | Iterable[object] | None",
        name: str | None = None,
        note: str | None = None,
        fresh: bool = False,
    ) -> tuple[PreparedRun, FramedItems | None]:
        """The plan of a run, and the frame that is its dataset, whose file is not written yet."""
        given = path_or_frame(data, self._store)
        framed = given if isinstance(given, FramedItems) else None
        options = self._options(given if isinstance(given, Path) else given.path, items, sample, ids)
        for what, text in (("name", name), ("note", note)):
            if text is not None:
                text_of(what, text)
        options.name, options.note, options.fresh = name, note, fresh
        recipe = named_recipe(options)
        setup, orders = setup_of(options, model_of(options, recipe, None), None, recipe)
        dataset = None if framed is None else framed.load(setup.rubric, cancel)
        setup = replace(setup, ids=_chosen(ids, setup, dataset, cancel))
        with nullcontext() if framed is None else called_the_frame(framed.path.name):
            made = followed(prepare_run(setup, cancel, dataset), partial(tell_notices, word=PARAMETERS.of))
        orders.check_fits(made.plan.identity())
        return made, framed

    def _options(self, dataset: Path, items: int | None, sample: int | None, ids: object) -> Namespace:
        """All that was given, as the options of the command."""
        chosen = {"items": items, "sample": sample, "ids": ids}
        if len(given := [name for name, value in chosen.items() if value is not None]) > 1:
            raise SetupError(f"{' and '.join(given)} choose the items.", "Use one of them.")
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        paths = {name: path_of(name, own[name]) for name in _PATHS if own[name] is not None}
        named = {name: ",".join(own[name]) for name in ("criteria", "ways") if own[name] is not None}
        numbers = {
            "items": number_of("items", int, items),
            "sample": number_of("sample", int, sample),
        }
        text = {name: name_or_path(name, own[name]) for name in _NAMES_OR_PATHS if own[name] is not None}
        own |= {**paths, **named, **numbers, **text, "dataset": dataset, "store": self._store}
        return Namespace(**{**_LEFT_OUT, **own})


def asked_by(judge: Judge) -> tuple[Rubric, bool]:
    """The criteria that a judge asks, as the rubric of these alone, and whether it reads both orders of each
    item. SetupError where its rubric, its criteria or its recipe cannot be used.
    """
    options = judge._options(Path(), None, None, None)
    if (recipe := named_recipe(options)) is not None:
        return recipe.judge.asked, recipe.judge.both_orders
    rubric = rubric_of(options) or ELOQUENT
    return rubric.only(named_criteria(options.criteria, rubric)), options.orders in {None, BOTH}


_LEFT_OUT = {
    **dict.fromkeys(("anchors", "margin_from", "sample_by", "columns", "labels", "max_thought_tokens")),
    "save_columns": False,
}
"""Options of the command for which there is no parameter; the store is put in by its path."""


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


@contextmanager
def _stoppable(bar: RunProgressBar | None = None) -> Iterator[CancelToken]:
    """A token that Ctrl-C sets; elsewhere than on the main thread, which alone hears of it, one that nobody
    sets.
    """
    if threading.current_thread() is not threading.main_thread():
        yield CancelToken()
        return
    loss = (lambda: "") if bar is None else bar.loss_of_a_stop
    # One more Ctrl-C does not end the program, which is a notebook.
    with interruptible(loss, signal.default_int_handler) as cancel:
        yield cancel


def _set(judge: Judge, name: str, value: object) -> None:
    object.__setattr__(judge, name, value)


def _number(row: SettingRow, value: object) -> float | None:
    found = number_of(row.name, row.kind, value)
    row.check(found)
    return found


def _names(name: str, given: Texts | None) -> tuple[str, ...] | None:
    """Several names, of a list or of a text with commas."""
    if given is None:
        return None
    remedy = f"Use a list of names, as in {name}=['one', 'two']."
    names = given.split(",") if isinstance(given, str) else list_of(name, given, remedy)
    texts = [each.strip() for each in names if isinstance(each, str)]
    if not names or len(texts) < len(names) or not all(texts):
        raise SetupError(f"{name} is {given!r}.", remedy)
    return tuple(texts)


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
