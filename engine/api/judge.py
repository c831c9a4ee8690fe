"""A judge: a model with its settings, which judges frames and files in a process of its own. Its runs are
those of the command `judge`: each resumes the other's. Does not know: how anything is judged.
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from io import StringIO
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from engine.analysis.recipe import load_recipe
from engine.api.arguments import (
    FRAME,
    AnyPath,
    FramedItems,
    api_call,
    ids_as_texts,
    list_of,
    name_or_path,
    number_of,
    path_of,
    path_or_frame,
    take_fields,
    text_column,
)
from engine.api.refused import PARAMETERS, in_python, notice, print_beside, stoppable, with_notices
from engine.api.run import Run
from engine.api.stored import GivenFile
from engine.core.errors import SetupError
from engine.core.events import CancelToken, DeviceLeft, ModelOpened, RunEvent, followed
from engine.core.formatting import counted, duration, in_a_line
from engine.core.items import Method
from engine.core.methods import parse_methods
from engine.core.rubric import ELOQUENT, Rubric
from engine.core.tables import Facts, Sentences
from engine.data.rubrics.files import find_rubric
from engine.operations import judge as judging
from engine.operations.judge_request import BOTH, JudgeRequest, given_settings
from engine.operations.judged_again import drift_since
from engine.operations.progress_bar import RunProgressBar
from engine.report.stopping import until_section
from engine.results.completeness import gaps, incomplete
from engine.results.health import run_health
from engine.settings.rows import check_margin, row_of, rows_of
from engine.settings.run_setup import RunSetup
from engine.system.computer import KeepAwake, available_memory
from engine.system.paths import default_store

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
    show_context: bool | None = None
    """Show the judge the context of an item, its column context."""
    show_reference: bool | None = None
    """Show the judge the reference answer of an item, its column reference."""
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
        take_fields(self)
        for row in rows_of(RunSetup):
            if row.kind in (int, float) and hasattr(self, row.name):
                row.check(getattr(self, row.name))
        if self.margin_threshold is not None:
            check_margin(self.margin_threshold)
        for name in ("criteria", "methods"):
            object.__setattr__(self, name, _names(name, getattr(self, name)))
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
        escalate: int | None = None,
        below: float | Mapping[str, float] | None = None,
    ) -> Plan:
        """The forecast of a run; no judgment is stored. If no earlier run shows the speed of the model, some
        items are judged to measure it. Parameters and errors are those of `run`.

        >>> judge.plan(demo_dataset(), items=4).items
        4
        """
        with stoppable() as cancel:
            asked: dict[str, Any] = {"items": items, "sample": sample, "sample_by": sample_by}
            asked |= {"regression_check": regression_check, "escalate": escalate, "below": below}
            request = self._request(data, ids, **asked, accept_reading=True, accept_own_candidates=True)
            ready = _prepared(request, cancel)
            found = with_notices(judging.forecast_of(ready, request.store, cancel))
            found = followed(judging.timed(ready, found, cancel, apart=True))
            cost = Facts([])
            if ready.escalation is not None:
                cost = with_notices(ready.escalation.cost(ready.plan, found, request.store, cancel))
        pairs = [
            ("judges", f"{ready.plan.model.name} on {ready.part_in_words}"),
            *ready.facts(found, available_memory()).pairs,
            ("time", found.time_in_words),
            *cost.pairs,
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
        accept_reading: bool = False,
        accept_own_candidates: bool = False,
        items: int | None = None,
        sample: int | None = None,
        sample_by: str | None = None,
        ids: "AnyPath | Iterable[object] | None" = None,
        until: "float | Literal['significant'] | None" = None,
        regression_check: int | None = None,
        gold: AnyPath | pd.DataFrame | None = None,
        escalate: int | None = None,
        below: float | Mapping[str, float] | None = None,
        keep_awake: Literal["mains", "yes", "no"] = "mains",
    ) -> Run:
        """Judge a frame or a dataset file, and return the run, which is saved in the store.

        `data` has the columns id, instruction, output_a and output_b, and may have human labels and others. A
        frame is written once next to the store, so that the run's dataset is found later. Every judgment is
        stored: the same call resumes after a stop or a crash, and judges nothing twice. A call with the same
        items and other labels resumes, too; the returned run is then scored by these labels. `fresh`: start a
        new run instead. `accept_reading`: judge although a foreign file seems to be read wrong.
        `accept_own_candidates`: judge although the judge is one of the candidates, or of their family.
        `items`: only the first items; `sample`: the size of a random sample, stratified by the column
        `sample_by`; `ids`: a list of ids, or a file of them. `until`: stop when every two candidates differ
        significantly ("significant"), or when intervals of win rates are at most this many points wide.
        `regression_check`: the id of an earlier run, of which `items` (50) are judged again; settings that
        this judge leaves at None, and the `model` if it is None, are those of that run. `Run.drift` of that
        run then shows what changed, and the effect of rounding. `gold`: human labels of these items, if their
        dataset has none. `escalate`: the id of an earlier run, of which only the items are judged whose
        labels may not all stand: by the thresholds that are kept with it, or `below` a confidence, which may
        be by criterion. Other settings are those of that run, too; returned is the cascade of both judges.

        If the model crashes, Refused is raised, and all judgments are stored. Ctrl-C stops the run; if long
        work would be lost, the first one lets it end. Then KeyboardInterrupt reports the progress. Notices
        are warnings. Raises Refused for data, a model or settings that cannot be used.

        >>> judge.run(demo_dataset(), items=12, progress=False).complete
        True
        """
        bar = _NotebookBar(progress)
        with stoppable(bar.loss_of_a_stop) as cancel:
            asked: dict[str, Any] = {"items": items, "sample": sample, "sample_by": sample_by, "gold": gold}
            asked |= {"regression_check": regression_check, "accept_reading": accept_reading, "until": until}
            asked |= {"escalate": escalate, "below": below, "accept_own_candidates": accept_own_candidates}
            request = self._request(data, ids, **asked, name=name, note=note, fresh=fresh)
            ready = _prepared(request, cancel)
            if request.frame is not None:
                request.frame.keep()
            work = judging.judge(ready, request.store, cancel, apart=True)
            judged = bar.to_its_end(work, KeepAwake(keep_awake))
            if ready.regression is not None and judged.results is not None:
                of_run = request.store, judged.ended.run_id
                with_notices(drift_since(ready.regression, ready.plan, *of_run, cancel, apart=True))
        for text in bar.left:
            notice(text)
        if judged.results is None:
            raise KeyboardInterrupt(judged.stopped_in_words(f"call{' without fresh=True' if fresh else ''}"))
        for text in _caveats(judged):
            notice(text)
        given = GivenFile(ready.plan.identity().dataset_path, ready.plan.dataset.columns, request.gold)
        return Run(judged.results.run.id, self.store, _given=given)

    def _request(self, data: object, ids: Any = None, **asked: Any) -> "_FramedRequest":
        store = default_store() if self.store is None else path_of("store", self.store).absolute()
        gold, until, below = asked.get("gold"), asked.get("until"), asked.get("below")
        again = asked.get("regression_check") is not None or asked.get("escalate") is not None
        given = None if data is None and again else path_or_frame(data, store)
        frame = given if isinstance(given, FramedItems) else None
        if frame is not None and again:
            frame.keep()  # its items are found in this file
        if gold is not None and isinstance(gold := path_or_frame(gold, store), FramedItems):
            gold.keep()
            gold = gold.path
        if until is not None and not isinstance(until, str):
            until = str(number_of("until", float, until))
        if isinstance(below, Mapping):
            below = ",".join(f"{name}={number_of('below', float, each)!r}" for name, each in below.items())
        elif below is not None:
            below = repr(number_of("below", float, below))
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        known = {each.name for each in fields(JudgeRequest)}
        own |= {name: path_of(name, own[name]) for name in _PATHS if own[name] is not None}
        own |= {name: name_or_path(name, own[name]) for name in _NAMES_OR_PATHS if own[name] is not None}
        own |= {
            "store": store,
            "dataset": given.path if isinstance(given, FramedItems) else given,
            "load": frame.load if frame is not None and not again else None,
            "methods": None if self.methods is None else parse_methods(",".join(self.methods)),
            "settings": given_settings(self),
            "ids": _ids(ids),
            **asked,
            "gold": gold,
            "until": until,
            "below": below,
        }
        own = {name: value for name, value in own.items() if name in known}
        return _FramedRequest(**own, frame=None if again else frame)


@dataclass(frozen=True)
class _FramedRequest(JudgeRequest):
    frame: FramedItems | None = None


def _prepared(request: _FramedRequest, cancel: CancelToken) -> judging.ReadyRun:
    name = "" if request.frame is None else request.frame.path.name
    return with_notices(judging.prepare(request, cancel), name, FRAME)


def _caveats(judged: judging.Judged) -> Iterable[str]:
    results = judged.results
    assert results is not None
    health = run_health(results)
    if health.doubted:
        yield "\n".join(health.sentences(PARAMETERS.of))
    if results.one_labels:
        yield results.one_label_sentence
    if judged.until is not None:
        parts = until_section(judged.until).parts
        texts = [text for part in parts if isinstance(part, Sentences) for text in part.texts]
        texts += [f"{question.in_words}." for question in judged.until.questions if not question.is_open]
        yield "\n".join(texts)
    elif results.left:
        yield incomplete(results, results.run.title)
    yield from (gap.sentence for gap in gaps(results))


def asked_by(judge: Judge) -> tuple[Rubric, bool]:
    """Its rubric of only its criteria, and whether it reads both orders. SetupError."""
    request = judge._request(Path())
    request.check()
    if request.recipe is not None:
        recipe = load_recipe(request.recipe)
        return recipe.judge.asked, recipe.judge.both_orders
    rubric = ELOQUENT if request.rubric is None else find_rubric(request.rubric)
    return rubric.only(request.criteria or rubric.names), request.orders in {None, BOTH}


class _NotebookBar(RunProgressBar):
    def __init__(self, shown: bool) -> None:
        super().__init__(lambda: sys.stderr or StringIO(), print_beside, PARAMETERS.of)
        self._shown = shown
        self.left: list[str] = []

    def show(self, event: RunEvent) -> None:
        if isinstance(event, ModelOpened) and event.note:
            self.left.append(event.note)
            event = replace(event, note="")
        if isinstance(event, DeviceLeft):
            self.left.append(event.in_words)
        if self._shown:
            super().show(event)
        else:
            self.follow(event)


def _names(name: str, given: Texts | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    hint = f"Use a list of names, as in {name}=['one', 'two']."
    names = given.split(",") if isinstance(given, str) else list_of(name, given, hint)
    texts = [each.strip() for each in names if isinstance(each, str)]
    if not names or len(texts) < len(names) or not all(texts):
        raise SetupError(f"{name} is {in_a_line(given)}.", hint)
    return tuple(texts)


def _ids(ids: "AnyPath | Iterable[object] | None") -> Path | tuple[str, ...] | None:
    if ids is None:
        return None
    if isinstance(ids, str | os.PathLike):
        return path_of("ids", ids)
    listed = list_of("ids", ids, 'Use a list of ids, a column as frame["id"], or the path of a file of them.')
    chosen = tuple(dict.fromkeys(ids_as_texts(listed)))
    if not chosen:
        raise SetupError("ids is empty.", "Name some ids, or omit it for all items.")
    return chosen
