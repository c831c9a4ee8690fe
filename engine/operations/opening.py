"""What a request names, opened: models, datasets with human labels, and what no output may replace. Does not
know: options, parameters, fields.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, FileKind, Hint, SetupError, Step, StoreError, WrongKindError
from engine.core.events import CancelToken, Note
from engine.core.formatting import visible
from engine.core.rubric import ELOQUENT, Rubric, rubric_for_labels, rubric_of_names
from engine.data.dataset import Dataset
from engine.data.file_kinds import kind_of
from engine.data.recognition import remember, remembered
from engine.metrics.matching import Matched, System
from engine.models.finder import ModelPlace, default_folders, models_named
from engine.results.run_dataset import dataset_of_run, load_as_judged
from engine.results.run_results import RunResults
from engine.store.opening import has_store
from engine.store.run_store import RunStore
from engine.system.paths import PathKind, demo_model, is_there, seen_at

DEMO = "demo"
_MOST_LISTED = 10


def find_model(word: str) -> Generator[Note, None, Path]:
    """The file of the model that a word names: a path, as it is, a part of the name of a listed model, or
    "demo"; it tells which one is found by name. SetupError if no model has the word in its name, or several
    have; WrongKindError for another kind of file.
    """
    path = Path(word)
    if word == DEMO:
        return demo_model()
    # A name may look like a path: `hf.co/someone/small-GGUF:Q8_0`, `Qwen3-8B/model`.
    there = seen_at(path) is not PathKind.NOTHING or path.is_absolute()
    places = [] if there else models_named(word, default_folders())
    if there or (path.name != word and not places):
        found = FileKind.MODEL
        if path.suffix.lower() != ".gguf":
            with suppress(SetupError):  # an unreadable file is reported when it is read
                found = kind_of(path) or found
        if found is not FileKind.MODEL:
            raise WrongKindError(path, found, FileKind.MODEL)
        return path
    if not places:
        if ":" not in word:  # which Ollama's names have, and no file on Windows
            is_there(path)  # says why no file can be called so
        raise SetupError(
            f"{visible(word)}: there is no such file here, and no model on this computer has this in its"
            " name.",
            Hint("Check the name. ", Step.LIST_MODELS),
        )
    if len(places) > 1:
        lines = [f"{visible(word)}: {len(places)} models on this computer have that in their names."]
        lines += [f"  {_shown(place)}" for place in places[:_MOST_LISTED]]
        if len(places) > _MOST_LISTED:
            lines.append(f"  and {len(places) - _MOST_LISTED} more.")
        raise SetupError("\n".join(lines), "Write more of the name, or the path of the file.")
    if (error := places[0].error) is not None:
        raise error
    yield Note(f"{visible(word)} is {_shown(places[0])}")
    return places[0].path


def _shown(place: ModelPlace) -> str:
    path = visible(str(place.path))
    known = place.name in (place.path.name, place.path.stem)
    return path if known else f"{path} ({visible(place.name)})"


def check_store(path: Path) -> Path:
    """The same path; StoreError if there is no run store."""
    if not has_store(path):
        raise StoreError(f"There is no run store {path}.", Hint(Step.CHOOSE_STORE))
    return path


def label_rubric(given: Rubric | None, systems: Iterable[System]) -> Rubric:
    """The criteria of the human labels of systems: those of a `given` rubric and their own."""
    known = given or ELOQUENT
    found = [given] if given else []
    return rubric_for_labels(
        [*found, *(system.asked or rubric_of_names(system.criteria, known) for system in systems)]
    )


def read_labels(
    path: Path, systems: Sequence[System], rubric: Rubric, cancel: CancelToken | None = None
) -> Generator[Note, None, Dataset]:
    """A dataset with human labels, a run's own file as the run read it; it tells what to know of that."""
    judged = [system.results.run for system in systems if system.results]
    dataset = load_as_judged(path, judged, cancel, rubric=rubric)
    if dataset.columns is not None and dataset.columns != remembered(dataset.file_columns):
        yield Note(f"{visible(path.name)} is read with the same columns as when it was judged.")
    if dataset.read_as:
        yield Note(dataset.read_as)
    return dataset


def remember_columns(dataset: Dataset) -> str:
    """Store the columns by which a dataset was read; a sentence on it, empty if they are Tiebreak's own."""
    if dataset.columns is None:
        return ""
    remember(dataset.file_columns, dataset.columns)
    return "The columns are stored: files with the same columns are read in this way from now on."


def dataset_beside(
    results: RunResults, path: Path | None, columns: ColumnMap | None, *, forms: Sequence[str]
) -> Generator[Note, None, Dataset | None]:
    """The items of a run, from `path` if given, None if they are gone; tells what the `forms` lack then."""
    try:
        return dataset_of_run(results.run, path, columns=columns)
    except SetupError as error:
        lacking = {
            "CSV": "The CSV is written without texts and human labels.",
            "JSON": "The JSON is written without the dataset's other columns.",
        }
        lines = "".join(f"\n{lacking[form]}" for form in forms)
        how = (" ", *error.hint.parts) if isinstance(error, ColumnsError) else ()
        yield Note(Hint(error.problem, *how, lines))
        return None


def files_of_runs(store: Path, run_ids: Iterable[int]) -> dict[str, Path]:
    """The datasets and models of runs, by what they are, so that no output overwrites them."""
    found: dict[str, Path] = {}
    with suppress(SetupError):  # what cannot be read is left out: reading it reports why
        if has_store(store):
            with RunStore(store) as opened:
                for run_id in run_ids:
                    identity = opened.run(run_id).identity
                    found[f"dataset of run {run_id}"] = identity.dataset_path
                    found[f"model of run {run_id}"] = identity.model_path
    return found


def left_out_in_words(matched: Matched) -> list[str]:
    """Which ids only one side has, and other caveats."""
    return [*matched.left_out, *(f"{matched.system.name}: {caveat}" for caveat in matched.caveats)]
