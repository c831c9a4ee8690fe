"""The options of the commands that measure for slices: divide the items, or use only one slice.

What the commands that measure share: gold labels, measures that need a model, weights, files written.

The methods paragraph for a paper, with its bibliography, for the commands that write one.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from engine.annotations.records import LabelSourceKind
from engine.cli.shared.console import printable, tell
from engine.cli.shared.data_arguments import (
    MODEL_WORDS,
    add_columns,
    add_rubric,
    model_file,
    read_labels,
    rubric_of,
)
from engine.cli.shared.judging import show_measure
from engine.cli.shared.setting_arguments import add_settings
from engine.core import VERSION
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.formatting import SLICES_NOTE
from engine.core.items import Method
from engine.core.judgments import Agreement, KeptFit, Unscored
from engine.core.rubric import Rubric, rubric_of_names
from engine.core.tables import Part, Section
from engine.data.dataset import Dataset
from engine.data.slices import Noted, Slicing, is_by_annotators, select, slicing
from engine.metrics.explanations import ModelScores
from engine.metrics.matching import Matched, System, match, open_system
from engine.metrics.model_measures import (
    agreement_warnings,
    ask_questions,
    measure_agreements,
    measure_bertscore,
    score_texts,
)
from engine.metrics.slices import SlicedMeasures, measure_slices
from engine.models.checked_model import CheckedModel, checked_encoder, checked_model
from engine.models.encoder_file import read_encoder_file
from engine.models.memory import check_memory
from engine.models.model_file import read_model_file
from engine.models.opening import machine_settings
from engine.ranking.weight_fit import load_fitted_weights
from engine.ranking.weighted_scoring import (
    ScoredPairs,
    SlicedWeightedScoring,
    WeightedScoring,
    scored_pairs_of,
    weigh,
)
from engine.report.methods import Statement, bibliography, methods_latex, methods_text
from engine.results.run_dataset import noted_of_items
from engine.settings.rows import default_context
from engine.store.opening import has_store
from engine.store.run_store import RunStore
from engine.system.files import check_targets, write_whole
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker


def add_gold(arguments: argparse.ArgumentParser, required: bool = True) -> None:
    """--gold and --partial, with the columns and criteria by which the labels are read."""
    arguments.add_argument(
        "--gold", type=Path, required=required, metavar="DATASET", help="the dataset with human labels"
    )
    arguments.add_argument(
        "--partial", action="store_true", help="use the items that both have, and print how many"
    )
    add_rubric(arguments, "the criteria of submissions and labels; a run has its own")
    add_columns(arguments, "human labels")


def add_calibration_wishes(arguments: argparse.ArgumentParser) -> None:
    """--places-matter and --lengths: features of a calibration."""
    arguments.add_argument(
        "--places-matter",
        action="store_true",
        help="fit A and B separately: for data where the position has a meaning, for example if A is always"
        " the new model's response. By default both are treated alike, and no label depends on the position",
    )
    arguments.add_argument(
        "--lengths",
        action="store_true",
        help="use the lengths of the responses as a feature (annotators may prefer longer ones): such labels"
        " depend less on the content",
    )


def add_labels_of(arguments: argparse.ArgumentParser) -> None:
    """--labels-of, and --judge-only for one of its values."""
    arguments.add_argument(
        "--labels-of",
        metavar="WHOSE",
        default=LabelSourceKind.LAST.option,
        help="the labels of a run that are used: effective (adjudicated labels, else the latest of the"
        " annotators, else the judge's), adjudicated, majority, judge (only the judge's), or an"
        " annotator's name",
    )
    arguments.add_argument(
        "--judge-only",
        action="store_const",
        dest="labels_of",
        const=LabelSourceKind.JUDGE.option,
        help="the same as --labels-of judge",
    )


def add_model_measures(arguments: argparse.ArgumentParser) -> None:
    """--encoder, --judge-model and --threads."""
    group = arguments.add_argument_group("measures that need a model")
    group.add_argument("--encoder", type=Path, metavar="FILE.gguf", help="a RoBERTa or BERT, for BERTScore")
    group.add_argument(
        "--judge-model", metavar="MODEL", help=f"judges whether explanations agree: {MODEL_WORDS}"
    )
    add_settings(group, "threads")


def find_judge_model(options: argparse.Namespace) -> None:
    """Replace --judge-model by the file that it names. SetupError if there is none."""
    if options.judge_model:
        options.judge_model = model_file(options.judge_model)


class ModelMeasures:
    """The measures that --encoder and --judge-model request; the files are checked when it is made. `apart`:
    in processes of their own, whose crash affects no other.
    """

    def __init__(self, options: argparse.Namespace, cancel: CancelToken, *, apart: bool = False) -> None:
        self._cancel = cancel
        self._worker = SubprocessWorker if apart else InProcessWorker
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
        """The name of the judge model for agreement."""
        return self._judge.name if self._judge else None

    @property
    def encoder_name(self) -> str | None:
        """The name of the encoder for BERTScore."""
        return self._encoder.name if self._encoder else None

    def of(self, matched: Matched) -> dict[str, ModelScores]:
        """The scores of one system by criterion, with progress; empty if none are requested."""
        if not (self._encoder or self._judge):
            return {}
        if not matched.system.explains:
            tell(f"{matched.system.name} has no explanations: BERTScore and agreement are not computed.")
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
    """Check before long work that the outputs can be written, and overwrite no input."""
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
    """The datasets and models of runs, by what they are, so that no output overwrites them. What cannot be
    read is left out; reading it reports why.
    """
    found: dict[str, Path] = {}
    with suppress(SetupError):
        if has_store(store):
            with RunStore(store) as opened:
                for run_id in run_ids:
                    identity = opened.run(run_id).identity
                    found |= {f"dataset of run {run_id}": identity.dataset_path}
                    found |= {f"model of run {run_id}": identity.model_path}
    return found


def matched_predictions(options: argparse.Namespace, cancel: CancelToken) -> Matched:
    """The run with the labels of --gold, by its judge only, for measures of raw predictions. Prints what is
    left out.
    """
    system = open_system(options.run, options.store, labels_of=LabelSourceKind.JUDGE)
    matched = match(system, read_labels(options, options.gold, [system], cancel), options.partial)
    say_what_was_left_out(matched)
    return matched


def say_what_was_left_out(matched: Matched, by_judge: str = "--labels-of judge") -> None:
    """Print which ids only one side has, and other caveats; `by_judge`: how to measure the judge only."""
    for sentence in (*matched.left_out, *(f"{matched.system.name}: {caveat}" for caveat in matched.caveats)):
        tell(printable(sentence))
    if matched.system.overrides:
        tell(f"To measure the judge only: {by_judge}.")


def add_weights(arguments: argparse.ArgumentParser) -> None:
    """--weights and --tie-threshold."""
    arguments.add_argument(
        "--weights",
        metavar="NAME=W,...",
        help="quality=0.6,relevance=0.4, or a FILE.json written by weighted-score --fit-weights --json"
        " (default: those of the rubric)",
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
        help=f"use the grades of the model as scores (a run with the method {Method.POINTWISE_GRADE.option})",
    )


def weigh_system(
    options: argparse.Namespace, system: System, matched: Matched | None, items: Dataset | None = None
) -> tuple[ScoredPairs, WeightedScoring]:
    """The response scores of a system, and its items decided on them by --weights, else by the rubric's.

    With `matched`, only the items that have human labels; else `items` give the instructions, for intervals.
    SetupError if there is no item to decide. Scores that are not informative decide nothing.
    """
    rubric = scoring_rubric(options, system)
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
            "Use other criteria, or see why these are unscored: runs show",
        )
    with weight_errors():
        gold = matched.dataset if matched else None
        threshold = tie_threshold(options, given, rubric)
        weighted_scoring = weigh(pairs, weights, threshold, gold, system, items=items)
    return pairs, replace(weighted_scoring, fit_in_words=_fit_in_words(given, system, matched))


def tie_threshold(options: argparse.Namespace, given: "GivenWeights | None", rubric: Rubric) -> float:
    """That of --tie-threshold, else of fitted weights, else of the rubric."""
    if options.tie_threshold is not None:
        return float(options.tie_threshold)
    return rubric.tie_threshold if given is None or given.threshold is None else given.threshold


def _fit_in_words(given: "GivenWeights | None", system: System, matched: Matched | None) -> str:
    """How many of the items the weights were fitted on; empty if none."""
    if given is None or given.kept is None:
        return given.unknown if given else ""
    fitted_on = given.kept.fitted_on
    if matched is None:
        return given.kept.in_words(fitted_on.overlap_of_hashes(system.content_hashes.values()))
    return given.kept.in_words(fitted_on.overlap(matched.items_of_both))


def scoring_rubric(options: argparse.Namespace, system: System) -> Rubric:
    """The rubric whose weights and tie threshold are used: that of --rubric, else the run's own."""
    given = rubric_of(options)
    if given is None and system.results is not None:
        return system.results.run.identity.asked
    return given or rubric_of_names(system.criteria)


@contextmanager
def weight_errors() -> Iterator[None]:
    """Refused weights and thresholds are errors of the user."""
    try:
        yield
    except ValueError as error:
        raise SetupError(str(error), "Fix --weights or --tie-threshold.") from error


@dataclass(frozen=True)
class GivenWeights:
    """The weights of --weights. `threshold`, `kept`: of fitted ones in a file; `unknown`: a sentence for a
    file whose training items are not known.
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
    if isinstance(text, Mapping):  # from Python
        return GivenWeights(text)
    if not text.lower().endswith(".json"):
        return GivenWeights(parse_weights(text))
    fitted = load_fitted_weights(
        Path(text), "Write it again: weighted-score SYSTEM --gold DATASET --fit-weights --json FILE.json"
    )
    unknown = "" if fitted.kept else f"The items that {printable(text)} was fitted on are not known."
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


def add_methods(arguments: argparse.ArgumentParser) -> None:
    """--methods-text and --bib."""
    arguments.add_argument(
        "--methods-text",
        type=Path,
        metavar="FILE",
        help="a paragraph on the methods for a paper, with references",
    )
    arguments.add_argument(
        "--bib",
        type=Path,
        metavar="FILE.bib",
        help="with --methods-text: its references as BibTeX; the paragraph is then LaTeX",
    )


def methods_targets(options: argparse.Namespace) -> Mapping[str, Path | None]:
    """The files to write, to be checked before long work. SetupError for --bib alone."""
    if options.bib and not options.methods_text:
        raise SetupError(
            "--bib writes the references of a methods paragraph, and none is requested.",
            "Also name a file for the paragraph: --methods-text FILE.tex",
        )
    return {"--methods-text": options.methods_text, "--bib": options.bib}


def write_methods(options: argparse.Namespace, command: str, statements: Sequence[Statement]) -> None:
    """Write the requested files, and print their paths."""
    if not options.methods_text:
        return
    made_by = f"Made by Tiebreak {VERSION}, command {command}"
    text = methods_latex(statements, made_by) if options.bib else methods_text(statements)
    write_whole(options.methods_text, text.encode("utf-8"))
    print(f"Methods: {options.methods_text}\n")
    if options.bib:
        works = chain.from_iterable(each.works for each in statements)
        write_whole(options.bib, bibliography(works).encode("utf-8"))
        print(f"References: {options.bib}\n")


def add_slices(arguments: argparse.ArgumentParser) -> None:
    """--by and --slice."""
    group = arguments.add_argument_group("slices of the items")
    group.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="WHAT",
        help="add a table with a row for each slice: a COLUMN of the dataset, length (of both responses),"
        " instruction (its length), longer (which response), script, label (label:CRITERION), tag, or"
        " random-sample; column:NAME for a column with one of these names; may be repeated",
    )
    group.add_argument(
        "--slice",
        action="append",
        default=[],
        metavar="WHAT=VALUE",
        help="use only this slice: COLUMN=value, length=short, longer=A, random-sample=labelled; if repeated,"
        " only items that are in all of them",
    )


def divided(options: argparse.Namespace, gold: Dataset) -> list[Slicing]:
    """The divisions that --by requests. SetupError, before long work, if one or a --slice does not exist."""
    noted = _noted(options, gold)
    for request in options.slice:
        select(gold, request, noted)
    return [slicing(gold, by, noted) for by in dict.fromkeys(options.by)]


def _noted(options: argparse.Namespace, dataset: Dataset) -> Noted:
    """What the run store knows of the items, if the options divide by it."""
    if not any(map(is_by_annotators, (*options.by, *options.slice))) or not has_store(options.store):
        return Noted()
    with RunStore(options.store) as store:
        return noted_of_items(store, dataset)


def kept(options: argparse.Namespace, matched: Matched) -> Matched:
    """The items of all slices that --slice names; all items without it."""
    if not options.slice:
        return matched
    noted = _noted(options, matched.dataset)
    chosen = [select(matched.dataset, request, noted) for request in options.slice]
    ids = frozenset.intersection(*(part.known for _, part in chosen))
    names = " and ".join(division.in_words(part) for division, part in chosen)
    return matched.only(ids, names, *(part.caveat for _, part in chosen))


def sliced(matched: Matched, divisions: Sequence[Slicing]) -> list[SlicedMeasures]:
    """The measures of each slice of each division."""
    return [measure_slices(matched, division) for division in divisions]


def slices_json(found: Sequence[SlicedMeasures | SlicedWeightedScoring]) -> dict[str, Any]:
    """The slices for a JSON file; nothing if nothing was divided."""
    return {"slices": [measured.as_json() for measured in found]} if found else {}


def table_sections(parts: Sequence[Part]) -> list[Section]:
    """Tables of slices, their caveats and their note; empty if there are none."""
    return [Section("slices", "", parts, SLICES_NOTE)] if parts else []
