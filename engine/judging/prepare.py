"""The one way from a run as it was asked for to its plan: files read, defaults chosen, the model checked."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, Hint, Setting, SetupError, Step
from engine.core.events import CancelToken, FilesRead, Preparing
from engine.core.formatting import counted, listed
from engine.core.items import unwritable_ids
from engine.core.rubric import Rubric
from engine.data.dataset import Dataset, load_dataset
from engine.data.label_origins import drawn, sorted_by_label
from engine.data.submission import rewritten_ids
from engine.judging.plan import RunPlan, check_resumed
from engine.models.checked_model import CheckedModel, checked_model
from engine.models.devices import found_devices, lost_device, wished_device
from engine.models.families import families_named, families_of_file
from engine.models.memory import check_memory
from engine.models.model_file import ModelFile, read_model_file
from engine.models.opening import machine_on, machine_settings
from engine.prompt.examples import ExamplePool, choose_examples
from engine.results.calibration import load_calibration
from engine.settings import rows
from engine.settings.identity import StoredRun
from engine.settings.run_setup import RunSetup
from engine.settings.sampling import ItemSample


@dataclass(frozen=True)
class PreparedRun:
    """A plan, its model file, what the user should know, and of how many items in the file. `favours`: which
    candidates the judge may favour, as a sentence; empty where there are none.
    """

    plan: RunPlan
    model: ModelFile
    notices: tuple[Hint | str, ...]
    items_in_file: int
    favours: str = ""


@dataclass(frozen=True)
class _Part:
    whole: Dataset
    items: Dataset
    chosen: bool = False  # they are not the first ones of the whole
    sample: ItemSample | None = None  # how they were drawn
    notes: tuple[Hint | str, ...] = ()


def prepare_run(
    setup: RunSetup, cancel: CancelToken, current: Dataset | None = None, resumed: StoredRun | None = None
) -> Generator[FilesRead | Preparing, None, PreparedRun]:
    """The plan of a run as it was asked for; reports what is read, and what is done then. `current`: the open
    dataset, taken where its file is that of the setup. `resumed`: the run to resume. What is quick to refuse
    comes before the check of the model, which may take minutes. SetupError where something cannot be used, or
    the plan would not resume `resumed`; ModelFileError, Cancelled.
    """
    # A run resumes its own questions, whatever became of their file.
    own_questions = resumed is not None and set(resumed.identity.criteria) == set(setup.criteria)
    rubric = resumed.identity.asked if resumed is not None and own_questions else setup.asked
    model = read_model_file(setup.model_path)
    # Impossible numbers are refused at once.
    replace(machine_settings(setup.threads), gpu_layers=setup.gpu_layers or 0)
    settings = judge_settings(setup, model)
    if resumed is not None:
        # It may be older than the limit of sentences.
        limit = resumed.identity.judge_settings.max_explanation_sentences
        settings = replace(settings, max_explanation_sentences=limit)
    calibration = load_calibration(setup.calibration_path) if setup.calibration_path else None
    part = _part(setup, current, resumed, cancel)
    notices = (*part.notes, *plan_notices(part.items, model, settings))
    yield FilesRead(model.name, model.notice, notices)
    examples = examples_of_setup(setup, rubric, cancel)
    yield Preparing("Checking the model file")
    checked = checked_model(model, cancel)
    machine, began_on = _machine(setup, model, checked, resumed, cancel)
    if resumed is None and setup.device is None and (lost := lost_device(checked.hash, machine.device)):
        notices = (*notices, lost)
        yield FilesRead(model.name, "", (lost,))
    plan = RunPlan(
        dataset=part.items,
        rubric=rubric,
        settings=settings,
        machine=machine,
        model=checked,
        examples=examples,
        calibration=calibration,
        chosen=part.chosen,
        sample=part.sample,
        name=setup.name,
        note=setup.note,
        began_on=began_on,
    )
    if resumed is not None:
        check_resumed(plan, resumed)
    if lacking := plan.parts_lacking:
        notices = (*notices, lacking)
        yield FilesRead(model.name, "", (lacking,))
    return PreparedRun(plan, model, notices, len(part.whole), own_candidates(part.items, checked))


def own_candidates(dataset: Dataset, judge: CheckedModel) -> str:
    """Says which candidates of a dataset are the judge itself, by name or by the hash that `generate` notes,
    and which are of its family, by their names and the header of its file. Empty where none is.
    """
    found: dict[str, list[str]] = {"itself": [], "of its family": []}
    families = families_named(judge.name) | families_of_file(judge.path)
    for name, made_with in dataset.candidates.items():
        if name == judge.name or judge.hash in made_with:
            found["itself"].append(name)
        elif families & families_named(name):
            found["of its family"].append(name)
    said = [f"{listed(names)} ({how})" for how, names in found.items() if names]
    return f"{judge.name} may favour its own: candidates are {' and '.join(said)}." if said else ""


def examples_of_setup(setup: RunSetup, rubric: Rubric, cancel: CancelToken) -> ExamplePool:
    if setup.examples_path is None:
        return ExamplePool()
    return example_pool(
        setup.examples_path, setup.shots, rubric, cancel, setup.example_columns, choice=setup.example_choice
    )


def _machine(
    setup: RunSetup, model: ModelFile, checked: CheckedModel, resumed: StoredRun | None, cancel: CancelToken
) -> tuple[rows.MachineSettings, str | None]:
    """What a run computes with, and what it began with where that is another device: it continues on the
    device that it began with, on the processor where that is not there any more.
    """
    began_on, device = None, None
    if resumed is None:
        device = wished_device(setup.device, checked.hash, cancel)
    elif (began_on := resumed.identity.device) is not None and not resumed.device_left:
        device = next((each for each in found_devices(cancel) if each.key == began_on), None)
    return machine_on(device, setup.threads, setup.gpu_layers, model), began_on


def judge_settings(setup: RunSetup, model: ModelFile) -> rows.JudgeSettings:
    """The settings of a run with this model, whose default context it takes. Raises SetupError."""
    default = rows.default_context(model.trained_context)
    margin = setup.second_order_below if setup.both_orders else None
    return rows.JudgeSettings(
        **{**setup.chosen, "second_order_below": margin},
        orders=setup.orders,
        context=default if setup.context is None else setup.context,
        items_at_once=rows.ITEMS_AT_ONCE if setup.explains else 1,
    )


def example_pool(
    path: Path,
    shots: int,
    rubric: Rubric,
    cancel: CancelToken,
    columns: ColumnMap | None = None,
    *,
    choice: rows.ExampleKind = rows.ExampleKind.FIXED,
) -> ExamplePool:
    """The labelled examples of a file. InputError, and SetupError where there are too few of them."""
    try:
        dataset = load_dataset(path, rubric, cancel, columns=columns)
    except ColumnsError as error:
        if not error.foreign:
            raise
        # The options that the hint names would speak of the items that are judged.
        hint = Hint(Step.MAP_EXAMPLES, *error.hint.parts[1:])
        raise ColumnsError(path, error.problems, hint, foreign=True) from error
    return choose_examples(dataset, rubric, shots, choice)


def background_notices(dataset: Dataset, settings: rows.JudgeSettings) -> Iterator[str]:
    """How many items lack a context or reference answer that is to be shown. SetupError where all do."""
    for name in settings.shows:
        lacking = int((dataset.lengths(name) == 0).sum())
        if lacking == len(dataset):
            raise SetupError(
                f"{dataset.name} has no {name} to show to the judge.",
                Hint("Name its column: ", Setting.COLUMNS.at(f"{name}=COLUMN"), ", or do not show it."),
            )
        if lacking:
            items = counted(lacking, "item has", "items have")
            yield f"{dataset.name}: {items} no {name} to show."


def plan_notices(dataset: Dataset, model: ModelFile, settings: rows.JudgeSettings) -> list[str]:
    """What the user should know before the run: of the dataset, the model, and this computer's memory.
    SetupError where a submission could not name the items, ModelFileError where the model does not fit.
    """
    if unwritable := unwritable_ids(dataset.ids):
        raise SetupError(
            f"{dataset.name}: a submission cannot hold these ids, which pandas takes for missing:"
            f" {listed(unwritable)}.",
            "Rename them in the dataset.",
        )
    notices = [f"{dataset.name}: {notice}" for notice in dataset.notices]
    notices += background_notices(dataset, settings)
    if rewritten := rewritten_ids(dataset.ids):
        notices.append(
            f"{dataset.name}: pandas reads these ids of the submission as numbers: {listed(rewritten)}."
        )
    notices += [f"{model.name}: {warning}" for warning in model.warnings]
    if warning := check_memory(model, settings.context, kv_type=settings.kv_type):
        notices.append(warning)
    return notices


def _part(setup: RunSetup, current: Dataset | None, resumed: StoredRun | None, cancel: CancelToken) -> _Part:
    """The items of a setup, out of those current where these are its file, and what a resumed run judged."""
    judged = resumed.identity if resumed is not None else None
    if judged is not None and judged.chosen and setup.sample == judged.sample is not None:
        # Its own items, whatever would be drawn from its file by now.
        setup = replace(setup, sample=None, ids=judged.chosen)
    part = None
    if current is not None and current.path.absolute() == setup.dataset_path.absolute():
        same_columns = setup.columns is None or setup.columns == current.columns
        part = _part_of(current, setup) if same_columns else None
    if part is None or (judged is not None and judged.dataset_hash != part.items.hash):
        columns = setup.columns or (resumed.columns if resumed is not None else None)
        part = _part_of(load_dataset(setup.dataset_path, setup.rubric, cancel, columns=columns), setup)
    if judged is not None and judged.dataset_hash == part.items.hash:
        # The file may hold other items around them by now; the run stays what it was.
        part = replace(part, chosen=bool(judged.chosen), sample=judged.sample)
    return part


def _part_of(dataset: Dataset, setup: RunSetup) -> _Part:
    """All items, the first ones, drawn ones or chosen ones. SetupError for an unknown id or column."""
    if setup.sample is not None:
        drawing = drawn(dataset, setup.sample)
        if len(drawing.items) == len(dataset):
            return _Part(dataset, dataset, notes=drawing.notes)
        chosen = _are_chosen(drawing.items, dataset)
        return _Part(dataset, drawing.items, chosen, setup.sample, drawing.notes)
    if not setup.ids:
        if setup.items is None or setup.items >= len(dataset):
            return _Part(dataset, dataset)
        first = dataset.head(setup.items)
        note = sorted_by_label(dataset, first)
        return _Part(dataset, first, notes=() if note is None else (note,))
    items = dataset.only(frozenset(setup.ids))
    there = items.ids
    if missing := sorted(set(setup.ids).difference(there)):
        raise SetupError(
            f"{dataset.name} lacks {counted(len(missing), 'chosen item', 'chosen items')}:"
            f" {listed(missing)}.",
            "Choose the items again.",
        )
    if len(items) == len(dataset):
        return _Part(dataset, dataset)
    return _Part(dataset, items, _are_chosen(items, dataset))


def _are_chosen(items: Dataset, whole: Dataset) -> bool:
    """The first items are the same run, however they were asked for."""
    return items.ids != whole.head(len(items)).ids
