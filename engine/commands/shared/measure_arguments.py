"""What the commands that measure share: gold labels, measures that need a model, weights, files written.

Knows: arguments and how they are used. The measures themselves are other modules'.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from engine.commands.shared.column_arguments import add_columns, add_rubric, read_labels, rubric_of
from engine.commands.shared.console import printable, tell
from engine.commands.shared.model_argument import MODEL_WORDS, model_file
from engine.commands.shared.progress import show_measure
from engine.commands.shared.setting_arguments import add_settings
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.fitted_on import KeptFit
from engine.core.judgments import Agreement, Unscored
from engine.core.label_sources import Whose
from engine.core.rubric import Rubric, rubric_of_names
from engine.core.settings import default_context
from engine.data.dataset import Dataset
from engine.gguf.encoder_file import read_encoder_file
from engine.gguf.judge_file import read_model_file
from engine.gguf.memory import check_memory
from engine.loading.checked_model import CheckedModel, checked_encoder, checked_model
from engine.loading.opening import machine_settings
from engine.measure.explanation_measures import ModelScores
from engine.measure.matching import Matched, match
from engine.measure.model_measures import (
    agreement_warnings,
    ask_questions,
    measure_agreements,
    measure_bertscore,
    score_texts,
)
from engine.measure.systems import System, open_system
from engine.store.opening import is_there
from engine.store.run_store import RunStore
from engine.system.apart import Apart, Here
from engine.system.files import check_targets
from engine.weigh.fitted_weights import load_fitted_weights
from engine.weigh.system_weighing import ScoredPairs, Weighing, scored_pairs_of, weigh


def add_gold(arguments: argparse.ArgumentParser, required: bool = True) -> None:
    """--gold and --partial, and by which columns and criteria the former is read."""
    arguments.add_argument(
        "--gold", type=Path, required=required, metavar="DATASET", help="the dataset with human labels"
    )
    arguments.add_argument(
        "--partial", action="store_true", help="use the items that both have, and say how many"
    )
    add_rubric(arguments, "the criteria of submissions and labels; a run brings its own")
    add_columns(arguments, "human labels")


def add_calibration_wishes(arguments: argparse.ArgumentParser) -> None:
    """--places-matter and --lengths: what a calibration may look at."""
    arguments.add_argument(
        "--places-matter",
        action="store_true",
        help="let A and B differ: where it means something in the data which response is A, as where A is"
        " always the new model's. Else both are treated alike, and no label depends on the place",
    )
    arguments.add_argument(
        "--lengths",
        action="store_true",
        help="let the lengths of the responses count, as people prefer longer ones, say: such labels say less"
        " of what is in the responses",
    )


def add_labels_of(arguments: argparse.ArgumentParser) -> None:
    """--labels-of, and the word for one of its values that came before it."""
    arguments.add_argument(
        "--labels-of",
        metavar="WHOSE",
        default=Whose.LAST.value,
        help="whose labels of a run count where there are any: last (what people said last, settled labels"
        " first), settled, majority, judge (nobody's but the judge's), or a person's name",
    )
    arguments.add_argument(
        "--model-alone",
        action="store_const",
        dest="labels_of",
        const=Whose.JUDGE.value,
        help="the same as --labels-of judge",
    )


def add_model_measures(arguments: argparse.ArgumentParser) -> None:
    """--encoder, --judge-model and what they need of the computer."""
    group = arguments.add_argument_group("measures that need a model")
    group.add_argument("--encoder", type=Path, metavar="FILE.gguf", help="a RoBERTa or BERT, for BERTScore")
    group.add_argument(
        "--judge-model", metavar="MODEL", help=f"is asked whether explanations agree: {MODEL_WORDS}"
    )
    add_settings(group, "threads")


def find_judge_model(options: argparse.Namespace) -> None:
    """Put the file of the model that --judge-model names in its place. SetupError where there is none."""
    if options.judge_model:
        options.judge_model = model_file(options.judge_model)


class ModelMeasures:
    """The measures that --encoder and --judge-model ask for; the files are checked when it is made. `apart`:
    by processes of their own, whose end nobody else meets.
    """

    def __init__(self, options: argparse.Namespace, cancel: CancelToken, *, apart: bool = False) -> None:
        self._cancel = cancel
        self._worker = Apart if apart else Here
        self._store = options.store
        self._machine = machine_settings(options.threads)
        self._encoder: CheckedModel | None = None
        self._judge: CheckedModel | None = None
        if options.encoder:
            described = read_encoder_file(options.encoder)
            if described.notice:
                tell(f"{described.notice} See: models cut")
            self._encoder = checked_encoder(described, cancel)
        if options.judge_model:
            judge = read_model_file(options.judge_model)
            if warning := check_memory(judge, default_context(judge.trained_context)):
                tell(warning)
            self._judge = checked_model(judge, cancel)

    @property
    def judge_name(self) -> str | None:
        """The name of the model that is asked for agreement."""
        return self._judge.name if self._judge else None

    @property
    def encoder_name(self) -> str | None:
        """The name of the model that BERTScore is computed with."""
        return self._encoder.name if self._encoder else None

    def of(self, matched: Matched) -> dict[str, ModelScores]:
        """The scores of one system by criterion, with progress; empty where nothing is asked for."""
        if not (self._encoder or self._judge):
            return {}
        if not matched.system.explains:
            tell(f"{matched.system.name} has no explanations: nothing to measure with a model.")
            return {}
        bertscores: Mapping[str, Sequence[float]] = {}
        agreements: Mapping[str, Sequence[Agreement | Unscored]] = {}
        name = matched.system.name
        if self._encoder:
            with self._worker(score_texts, self._cancel) as scores:
                score = partial(scores.do, self._encoder, self._machine, self._store)
                bertscores = show_measure(f"BERTScore of {name}", measure_bertscore(matched, score))
        if self._judge:
            with self._worker(ask_questions, self._cancel) as asks:
                ask = partial(asks.do, self._judge, self._machine, self._store)
                agreements = show_measure(f"agreement of {name}", measure_agreements(matched, ask))
            for warning in agreement_warnings(agreements):
                tell(printable(warning))
        return {
            criterion: ModelScores(bertscores.get(criterion), agreements.get(criterion))
            for criterion in matched.pairs
        }


def check_measure_outputs(
    options: argparse.Namespace, written: Mapping[str, Path | None], systems: Sequence[str]
) -> None:
    """See before long work that the outputs can be written, and are none of what is read."""
    read = {"run store": options.store}
    read |= {
        what: path
        for what, path in (
            ("dataset", options.gold),
            ("encoder", getattr(options, "encoder", None)),
            ("judge model", getattr(options, "judge_model", None)),
        )
        if path
    }
    read |= {f"file {word}": Path(word) for word in systems if not word.isdecimal()}
    read |= files_of_runs(options.store, [int(word) for word in systems if word.isdecimal()])
    check_targets(written, read)


def files_of_runs(store: Path, run_ids: Iterable[int]) -> dict[str, Path]:
    """The datasets and models of runs, for who writes something: as what a person would lose they are named.
    Nothing of what cannot be read; whoever reads it says so.
    """
    found: dict[str, Path] = {}
    with suppress(SetupError):
        if is_there(store):
            with RunStore(store) as opened:
                for run_id in run_ids:
                    identity = opened.run(run_id).identity
                    found |= {f"dataset of run {run_id}": identity.dataset_path}
                    found |= {f"model of run {run_id}": identity.model_path}
    return found


def matched_readings(options: argparse.Namespace, cancel: CancelToken) -> Matched:
    """The run that is named beside the labels of --gold, for what its readings tell: by its judge alone. Says
    what is left out.
    """
    system = open_system(options.run, options.store, labels_of=Whose.JUDGE)
    matched = match(system, read_labels(options, options.gold, [system], cancel), options.partial)
    say_what_was_left_out(matched)
    return matched


def say_what_was_left_out(matched: Matched, by_judge: str = "with --labels-of judge") -> None:
    """Say which ids only one side has, and what else a reader must know; `by_judge`: how the judge alone is
    measured.
    """
    for sentence in (*matched.left_out, *(f"{matched.system.name}: {caveat}" for caveat in matched.caveats)):
        tell(printable(sentence))
    if matched.system.overrides:
        tell(f"The judge alone is measured {by_judge}.")


def add_weights(arguments: argparse.ArgumentParser) -> None:
    """--weights and --tie-threshold."""
    arguments.add_argument(
        "--weights",
        metavar="NAME=W,...",
        help="quality=0.6,relevance=0.4, or a FILE.json that weigh --fit-weights --json wrote (default: those"
        " of the rubric)",
    )
    arguments.add_argument(
        "--tie-threshold",
        type=float,
        metavar="T",
        help="differences up to T are ties (default: that of the rubric)",
    )
    arguments.add_argument(
        "--grades",
        action="store_true",
        help="the scores of responses are the grades that the model gave them (a run judged with `graded`)",
    )


def weigh_system(
    options: argparse.Namespace, system: System, matched: Matched | None, items: Dataset | None = None
) -> tuple[ScoredPairs, Weighing]:
    """The response scores of a system, and its items decided on them by --weights, else by the rubric's.

    With `matched`, only the items that have human labels; else `items` give the instructions, for intervals.
    SetupError where there is no item to decide; where the scores carry nothing, nothing is decided.
    """
    rubric = weighing_rubric(options, system)
    given = given_weights(options)
    weights = rubric.weights(system.criteria) if given is None else given.weights
    if not weights:
        raise SetupError(
            f"{system.name} has none of {', '.join(rubric.names)}.",
            f"Name its criteria: --weights {system.criteria[0]}=1",
        )
    unknown = [name for name in weights if name not in system.criteria]
    if unknown:
        raise SetupError(
            f"--weights: {system.name} has no criterion {', '.join(unknown)}.",
            f"It has {', '.join(system.criteria)}.",
        )
    known = set(matched.dataset.ids) if matched else None
    pairs = scored_pairs_of(system, list(weights), known, by_grades=options.grades)
    if not pairs.rows:
        raise SetupError(
            f"{system.name} has no item with a judgment on each of {', '.join(weights)}.",
            "Weigh other criteria, or see why they are unscored: runs show",
        )
    with weight_errors():
        gold = matched.dataset if matched else None
        threshold = tie_threshold(options, given, rubric)
        weighing = weigh(pairs, weights, threshold, gold, system, items=items)
    return pairs, replace(weighing, fit_in_words=_fit_in_words(given, system, matched))


def tie_threshold(options: argparse.Namespace, given: "GivenWeights | None", rubric: Rubric) -> float:
    """That of --tie-threshold, else of fitted weights, else of the rubric."""
    if options.tie_threshold is not None:
        return float(options.tie_threshold)
    return rubric.tie_threshold if given is None or given.threshold is None else given.threshold


def _fit_in_words(given: "GivenWeights | None", system: System, matched: Matched | None) -> str:
    """How many of the items that are weighed took part in the fit of the weights; empty where none did."""
    if given is None or given.kept is None:
        return given.unknown if given else ""
    fitted_on = given.kept.fitted_on
    if matched is None:
        return given.kept.in_words(fitted_on.overlap_of_hashes(system.content_hashes.values()))
    return given.kept.in_words(fitted_on.overlap(matched.items_of_both))


def weighing_rubric(options: argparse.Namespace, system: System) -> Rubric:
    """By whose weights and tie threshold a system is weighed: those of --rubric, else of the run itself."""
    given = rubric_of(options)
    if given is None and system.results is not None:
        return system.results.run.identity.asked
    return given or rubric_of_names(system.criteria)


@contextmanager
def weight_errors() -> Iterator[None]:
    """Weights and thresholds that the weighted judge refuses are the user's to mend."""
    try:
        yield
    except ValueError as error:
        raise SetupError(str(error), "Mend --weights or --tie-threshold.") from error


@dataclass(frozen=True)
class GivenWeights:
    """What --weights says. `threshold`, `kept`: of fitted ones in a file; `unknown`: a sentence on a file of
    which nobody knows what took part.
    """

    weights: Mapping[str, float]
    threshold: float | None = None
    kept: KeptFit | None = None
    unknown: str = ""


def given_weights(options: argparse.Namespace) -> GivenWeights | None:
    """The weights of --weights, or of the file that it names; None without. SetupError for anything else."""
    text = options.weights
    if text is None:
        return None
    if isinstance(text, Mapping):  # of Python
        return GivenWeights(text)
    if not text.lower().endswith(".json"):
        return GivenWeights(parse_weights(text))
    fitted = load_fitted_weights(
        Path(text), "Write it again: weigh SYSTEM --gold DATASET --fit-weights --json FILE.json"
    )
    unknown = "" if fitted.kept else f"Which items took part in the fit of {printable(text)} is not known."
    return GivenWeights(fitted.weights, fitted.tie_threshold, fitted.kept, unknown)


def parse_weights(text: str) -> dict[str, float]:
    """`quality=0.6,relevance=0.4` as a dict. SetupError for anything else."""
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        try:
            weight = float(value)
        except ValueError:
            equals = ""
        if not name or not equals or name in weights:
            raise SetupError(
                f"--weights: cannot read {part!r}.",
                "Write each criterion once, as NAME=NUMBER, with commas between: quality=0.6,relevance=0.4",
            )
        weights[name] = weight
    return weights
