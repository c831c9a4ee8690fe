"""A run of the store for notebooks: its results, its measures, and its files. Long because each of these is a
method of one class.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pandas as pd

from engine.analysis.audit_run import audit, reworded_runs
from engine.analysis.trust import TrustRequest, trust_of
from engine.annotations.records import LabelSourceKind
from engine.api import arguments
from engine.api.refused import PARAMETERS, notice, stoppable, with_notices
from engine.api.stored import RunAsStored
from engine.api.tables import CandidateRanking, FittedCalibration, evaluation_frame, frame_of, frames_of
from engine.calibration.learning import run_curve
from engine.calibration.run_calibration import Wishes
from engine.core.errors import FileKind, Hint, SetupError, Step
from engine.core.events import CancelToken, followed
from engine.core.formatting import in_a_line
from engine.core.rubric import default_criterion
from engine.core.tables import Sentences
from engine.data.dataset import Dataset
from engine.data.file_kinds import expecting
from engine.data.slices import Noted, is_by_annotators, slicing
from engine.data.submission import write_submission
from engine.metrics.annotator_agreement import agreement_of_annotators
from engine.metrics.comparison import compare, match_all
from engine.metrics.evaluation import evaluate, mixed_accuracies
from engine.metrics.matching import Matched, System, match, match_items, told_apart
from engine.metrics.mix import Mix
from engine.metrics.run_drift import stored_drift
from engine.metrics.trust import RISK, TARGET, Promise
from engine.operations import opening
from engine.operations.export import ToolExport
from engine.operations.measuring import GivenWeights, JurySetup, Weighing, fit_calibration, worth_together
from engine.operations.model_scores import ModelMeasures
from engine.ranking.labelled_part import by_labels
from engine.ranking.ranking import rank
from engine.report.annotators import annotator_sections
from engine.report.audit import audit_section
from engine.report.calibration import learning_section
from engine.report.comparison import comparison_sheet
from engine.report.correction import corrected_candidates, favour_table, feature_table
from engine.report.drift import drift_sections
from engine.report.evaluation import run_sheet
from engine.report.jury import judge_table, jury_table
from engine.report.ranking import candidate_table, pair_table, ranking_sheet
from engine.report.rankings import RankedBy
from engine.report.run import changes_table
from engine.report.trust import trust_sections
from engine.results.calibration import load_calibration
from engine.results.exports import as_json, write_results_csv
from engine.results.run_dataset import noted_of_items
from engine.results.run_results import RunResults, decided_again, submission_of
from engine.results.trust import accepted_in_words, accepted_only, confidences
from engine.settings.identity import refuse_submitted
from engine.settings.sampling import DEFAULT_SEED, checked_seed
from engine.store.opening import has_store
from engine.store.run_store import RunStore
from engine.system.files import check_targets, write_json, write_whole
from engine.system.paths import default_store

if TYPE_CHECKING:
    from engine.report.html_report import Report

Gold = arguments.AnyPath | pd.DataFrame | None
"""Human labels: a file, a frame, or None for the run's own dataset."""


class Run(RunAsStored):
    """A run of a store, by its id. It reads the current state of the store on each access.

    `store`: its file, None for the default one. `labels_of`: the labels that are used: "effective",
    "adjudicated", "majority", "judge", or an annotator's name.

    Raises Refused for what the store does not have, and for files that cannot be used.
    """

    # Measures

    @arguments.api_call
    def evaluate(
        self,
        gold: Gold = None,
        partial: bool = False,
        *,
        encoder: arguments.AnyPath | None = None,
        judge_model: arguments.AnyPath | None = None,
        threads: int | None = None,
        by: str | None = None,
        mix: Mapping[str, float] | None = None,
    ) -> pd.DataFrame:
        """Agreement of the labels with human ones: a row for each criterion and one for their mean, by name.
        Shares and measures are 0 to 1.

        `partial`: use the items that the run and `gold` both have; by default missing items are Refused.
        Without `gold` the run's own dataset is used, as far as it is judged. For explanations: `encoder`, the
        file of a RoBERTa or BERT, for BERTScore; `judge_model`, a model that judges whether they agree;
        `threads`: processor cores, None for the default number. `mix`: shares of slices that add up to 1, for
        an accuracy of such items; `by`: what these are slices by, "length" or a column, as the command says.

        >>> run.evaluate().index.tolist()
        ['relevance', 'overall_quality', 'mean']
        """
        path, model = None if encoder is None else arguments.path_of("encoder", encoder), None
        if judge_model is not None:
            word = arguments.name_or_path("judge_model", judge_model)
            model = with_notices(opening.find_model(word))
        matched = self._matched(gold, partial)
        stated = self._mix(matched.dataset, by, mix)
        mixed = None if stated is None else mixed_accuracies(matched, stated)
        with stoppable() as cancel:
            measures = with_notices(ModelMeasures.of(self._path(), path, model, threads, cancel, apart=True))
            scores = with_notices(measures.scores(matched))
        return evaluation_frame(evaluate(matched, scores), mixed)

    @arguments.api_call
    def tables(self, gold: Gold = None, partial: bool = False) -> dict[str, pd.DataFrame]:
        """Every table of the run's report, by the name of its section; without human labels, the tables that
        need none. The meaning of each column is in the `attrs["meaning"]` of its frame.

        `partial`: as for `evaluate`, here and below.

        >>> run.tables()["accuracy"]["criterion"].tolist()
        ['relevance', 'overall quality', 'mean']
        """
        from engine.report.html_report import report_sheet  # noqa: PLC0415 - loads Jinja

        system = self._system()
        dataset = self._gold(gold, system)
        if not dataset.criteria and gold is None:
            return frames_of(run_sheet(system, (), (), own=dataset).sections)
        matched = _matched(system, dataset, partial or gold is None)
        return frames_of(report_sheet(_gathered(matched)).sections)

    @arguments.api_call
    def calibrate(
        self, gold: Gold = None, places_matter: bool = False, lengths: bool = False, partial: bool = False
    ) -> FittedCalibration:
        """Calibrate the run's probabilities on human labels, and measure the gains.

        `places_matter`: fit A and B separately. `lengths`: use the lengths of the responses as a feature.
        `apply` puts it into effect. Refused for a submission and for too few labels.

        >>> run.calibrate().table["criterion"].tolist()[-1]
        'mean'
        """
        system = self.by(LabelSourceKind.JUDGE.option)._system()
        wishes, labels = Wishes(places_matter, lengths), self._gold(gold, system)
        fitting = fit_calibration(system, labels, wishes, CancelToken(), partial=partial or gold is None)
        _, made = with_notices(fitting)
        return FittedCalibration(made, self._files(gold))

    @arguments.api_call
    def apply(self, calibration: FittedCalibration | arguments.AnyPath | None) -> pd.DataFrame:
        """Apply a calibration, or a file of one, to the run; None removes it. Nothing is judged again.
        Returns the changes for each criterion.

        >>> changed = run.apply(calibration)
        >>> run.apply(None)["calibrated"].tolist()
        [False, False]
        """
        chosen = None
        if isinstance(calibration, FittedCalibration):
            chosen = calibration.made.calibration
        elif calibration is not None:
            chosen = load_calibration(arguments.path_of("calibration", calibration))
        with RunStore(self._path()) as store:
            decided = decided_again(store, self.id, chosen)
        for text in filter(None, (decided.lacking, decided.after.one_label_sentence)):
            notice(text)
        return frame_of(changes_table(decided.before, decided.after))

    @arguments.api_call
    def trust(
        self,
        gold: Gold = None,
        *,
        target: float = TARGET,
        risk: float = RISK,
        confidence: Literal["probability", "agreement", "both"] = "probability",
        jointly: bool = False,
        anytime: bool = False,
        keep: bool = False,
    ) -> dict[str, pd.DataFrame]:
        """Which labels may stand: from which confidence on at least the share `target` of them agrees with
        people, at a `risk` of being wrong about that, both 0 to 1; by `gold` or labels of annotators, of
        items drawn at random. `confidence`: "probability", "agreement" (that times the share of orders,
        methods, samples and judges that agree), or both at half of the risk each. `jointly`: the risk is of
        all criteria together. `anytime`: the promise holds after each label. `keep`: the thresholds, with
        the run.

        >>> run.trust()["trust"].columns[:2].tolist()
        ['criterion', 'confidence']
        """
        system = self._system()
        items = self._gold(gold, system)
        matched = match_items(system, items, partial=True)
        _warn_of_the_rest(matched)
        request = TrustRequest(
            [matched.system], items, Promise(target, risk, anytime), confidences(confidence), jointly
        )
        found = trust_of(request, CancelToken())
        if keep:
            with RunStore(self._path()) as store:
                found.kept.keep(store, self.id)
        return frames_of(trust_sections(found))

    @arguments.api_call
    def rank(
        self,
        criterion: str | None = None,
        weighted: bool = False,
        weights: Mapping[str, float] | arguments.AnyPath | None = None,
        tie_threshold: float | None = None,
        seed: int = DEFAULT_SEED,
        *,
        many_candidates: bool = False,
        by: str | None = None,
        mix: Mapping[str, float] | None = None,
    ) -> CandidateRanking:
        """Rank the candidate models that the run's dataset names in candidate_a and candidate_b.

        By one `criterion`, None for the overall quality; or, `weighted`, by weighted decisions on all
        criteria, with these `weights` (or a file of fitted ones) and this `tie_threshold`; None for those of
        the rubric. `seed`: of the bootstrap. `many_candidates`: also where nearly all candidates are in only
        one or two items, so that their names look like ids. `by`, `mix`: as for `evaluate`, for win rates.

        Refused if the dataset names no candidates, or the arguments contradict each other.

        >>> of_candidates.rank().candidates.columns[0]
        'candidate'
        """
        ranked = self._ranked(criterion, weighted, weights, tie_threshold)
        seed = checked_seed(seed)
        stated, many = self._mix(ranked.dataset, by, mix), many_candidates
        ranking = followed(
            rank(ranked.comparisons, seed, many_candidates=many, dataset=ranked.dataset, mix=stated)
        )
        found = ranked.judge and followed(by_labels(*ranked.judge, seed=seed))
        sheet = ranking_sheet(
            ranking, ranked.title, found, until=ranked.until, remark=ranked.remark, word=PARAMETERS.of
        )
        said = {sheet.sections[0].key, "corrected", "favour", "features"}
        shown = [each for each in sheet.sections if each.key in said]
        parts = [part for section in shown for part in section.parts if isinstance(part, Sentences)]
        return CandidateRanking(
            sheet.title,
            tuple(text for part in parts for text in part.texts),
            frame_of(candidate_table(ranking)),
            frame_of(pair_table(ranking)),
            frame_of(corrected_candidates(found.correction)) if found and found.correction else None,
            frame_of(favour_table(found.favour)) if found and found.favour else None,
            frame_of(feature_table(found.features)) if found and found.features else None,
        )

    @arguments.api_call
    def curve(self, gold: Gold = None, partial: bool = False) -> dict[str, pd.DataFrame]:
        """The learning curve of the run's calibration, by number of human labels, and the gain of the last
        doubling of the labels on each criterion. Refused for too few labels.

        >>> sorted(run.curve())
        ['learning', 'learning_2']
        """
        matched = self.by(LabelSourceKind.JUDGE.option)._matched(gold, partial)
        return frames_of([learning_section(followed(run_curve(matched)))])

    @arguments.api_call
    def audit(self, gold: Gold = None) -> pd.DataFrame:
        """The robustness audit of the judge, as far as this run shows it: a row for each line of the audit.

        >>> run.audit().columns[0]
        'line'
        """
        results = self._results()
        refuse_submitted(results.run, "be audited")
        labels = None if gold is None else self._gold(gold, self._system())
        with RunStore(self._path()) as store:
            reworded = reworded_runs(store, results.run)
        return frames_of([audit_section(audit(results, self._own_dataset(), labels, reworded))])["audit"]

    @arguments.api_call
    def compare(self, *others: "Run", gold: Gold = None, partial: bool = False) -> dict[str, pd.DataFrame]:
        """Compare this run with others, on the items that all judged: all measures, with ranks; Borda counts;
        and for each pair of runs their agreement and accuracy difference. Without `gold` the human labels are
        those of this run's dataset. Runs with the same name are distinguished by their stores, or by their
        `labels_of`: `run.compare(run.by("judge"))`.

        >>> run.compare(other)["agreement"].columns[:2].tolist()
        ['systems', 'criterion']
        """
        systems = self._with(others)
        matched = match_all(systems, self._gold(gold, systems[0]), partial or gold is None)
        for one in matched:
            _warn_of_the_rest(one)
        found = compare([evaluate(one) for one in matched])
        for text in found.not_compared:
            notice(text)
        return frames_of(comparison_sheet(found, matched).without("published").sections)

    @arguments.api_call
    def jury_worth(self, *others: "Run", gold: Gold = None, partial: bool = False) -> dict[str, pd.DataFrame]:
        """How many independent judges this run and others are worth as a jury, before it is made. `jury`, one
        row: Kish's effective number (1965, 5.4), which is 1 where they err alike and their number where they
        err independently, and the correlation of their errors, -1 to 1. `judges`, a row for each: its
        accuracy, 0 to 1, and what it adds to that of the mean of all, -1 to 1. Human overrides and
        calibrations do not count. Without `gold` the human labels are those of this run's dataset. Nothing is
        stored.

        Refused for fewer than two runs, and for labels of fewer than ten instructions that all judged.

        >>> run.jury_worth(other)["judges"].columns[:2].tolist()
        ['judge', 'accuracy']
        """
        systems = self._with(others)
        labels = self._gold(gold, systems[0])
        setup = JurySetup(systems, gold=labels, partial=partial or gold is None)
        found = followed(worth_together(setup, CancelToken()))
        return {"jury": frame_of(jury_table(found)), "judges": frame_of(judge_table(found))}

    @arguments.api_call
    def annotators(self, gold: Gold = None) -> dict[str, pd.DataFrame]:
        """How far the run's annotators agree with each other, the judge and themselves; their pace; how far
        the judge's label moves them. Empty without annotations. `gold`: human labels, if not the dataset's.
        """
        results, own = self._results(), self._own_dataset()
        labels = own if gold is None else self._gold(gold, self._system())
        found = agreement_of_annotators(results, labels, own)
        return frames_of(annotator_sections(found, judge=not results.run.by_hand))

    @arguments.api_call
    def drift(self, other: "Run | int", gold: Gold = None) -> dict[str, pd.DataFrame]:
        """The drift from this run to another of the same store, on the items that both judged. `gold`: human
        labels of these, if the dataset has none.

        >>> run.drift(other)["drift"].columns[0]
        'criterion'
        """
        path = self._path()
        if isinstance(other, Run) and other._path() != path:
            raise SetupError(
                f"{self.title} and {other.title} are in different stores.", Hint(Step.CHOOSE_RUN)
            )
        # The run of a regression check knows the labels that the check was given.
        if gold is None and isinstance(other, Run) and other._given is not None:
            gold = other._given.gold
        labels = None if gold is None else self._gold(gold, self._system())
        with RunStore(path) as store:
            number = other.id if isinstance(other, Run) else arguments.whole_number("other", other)
            return frames_of(drift_sections(stored_drift(store, self.id, number, gold=labels)))

    # Its files

    @arguments.api_call
    def report(self, path: arguments.AnyPath, gold: Gold = None, partial: bool = False) -> Path:
        """Write the HTML report of the run against human labels; its path.

        >>> run.report("report.html").name
        'report.html'
        """
        from engine.report.html_report import report_html  # noqa: PLC0415 - loads Jinja

        target = self._target(path, "HTML", ".html", ".htm", gold=gold)
        matched = self._matched(gold, partial)
        write_whole(target, report_html(_gathered(matched)).encode("utf-8"))
        return target

    @arguments.api_call
    def submission(
        self, path: arguments.AnyPath, with_stale: bool = False, *, accepted: bool = False
    ) -> Path:
        """Write the effective predictions as a submission, TSV; its path. `with_stale`: include stale
        explanations, which were written for another label than the effective one. `accepted`, here and
        below: leave out labels that may not stand, by the thresholds that `trust` kept.

        >>> run.submission("submission.tsv").stat().st_size > 0
        True
        """
        target = self._target(path, "TSV", ".tsv")
        write_submission(target, submission_of(self._exported(accepted), with_stale))
        return target

    @arguments.api_call
    def export(
        self,
        path: arguments.AnyPath,
        tool: Literal["dpo", "inspect", "alpaca-eval"],
        criterion: str | None = None,
        with_stale: bool = False,
        *,
        accepted: bool = False,
    ) -> Path:
        """Write the effective labels for another tool; the path of the file.

        `tool`: "dpo" for pairs of a chosen and a rejected response, as JSON Lines or Parquet; "inspect" for a
        log of inspect_ai, "alpaca-eval" for annotations, as JSON. `criterion`: of pairs and annotations, None
        for the overall quality, else the last one. `with_stale`: in a log, as for `submission`. A warning
        reports what is left out.

        >>> run.export("pairs.jsonl", "dpo").name
        'pairs.jsonl'
        """
        target = arguments.path_of("path", path)
        asked = ToolExport(tool, target, criterion, with_stale)
        check_targets({"path": target}, self._files(None))
        made = asked.made(self._exported(accepted), self._own_dataset())
        made.write(target)
        if made.left_out:
            notice(made.in_words)
        return target

    @arguments.api_call
    def json(self, path: arguments.AnyPath, *, accepted: bool = False) -> Path:
        """Write every judgment with its raw predictions as JSON; its path.

        >>> run.json("run.json").name
        'run.json'
        """
        target, results = self._target(path, "JSON", ".json"), self._exported(accepted)
        write_json(target, as_json(results, self._beside(results, "JSON")))
        return target

    @arguments.api_call
    def csv(self, path: arguments.AnyPath, *, accepted: bool = False) -> Path:
        """Write all data of the run as CSV, a row for each judgment; its path.

        >>> run.csv("run.csv").name
        'run.csv'
        """
        target, results = self._target(path, "CSV", ".csv"), self._exported(accepted)
        write_results_csv(target, results, self._beside(results, "CSV"))
        return target

    def _exported(self, accepted: bool) -> RunResults:
        if not accepted:
            return self._results()
        results = accepted_only(self._results())
        notice(" ".join(accepted_in_words(results)))
        return results

    def _target(self, path: arguments.AnyPath, form: str, *suffixes: str, gold: Gold = None) -> Path:
        """A path to write to. SetupError for a wrong suffix, and for an input of the run."""
        target = arguments.target_of(path, form, *suffixes)
        check_targets({"path": target}, self._files(gold))
        return target

    def _with(self, others: Sequence["Run"]) -> list[System]:
        for each in others:
            if not isinstance(each, Run):
                raise SetupError(f"{in_a_line(each)} is not a run.", "Pass runs, such as tiebreak.Run(2).")
        return _told_apart((self, *others))

    # Human labels

    def _gold(self, gold: Gold, system: System) -> Dataset:
        if gold is None and self._given is not None:
            gold = self._given.gold
        if gold is None:
            return self._own_dataset()
        given = arguments.path_or_frame(gold, self._path())
        if isinstance(given, arguments.FramedItems):
            return replace(given.load(opening.label_rubric(None, [system])), path=Path(arguments.FRAME))
        return with_notices(opening.read_labels(given, [system], opening.label_rubric(None, [system])))

    def _matched(self, gold: Gold, partial: bool) -> Matched:
        system = self._system()
        return _matched(system, self._gold(gold, system), partial or gold is None)

    def _mix(self, dataset: Dataset, by: str | None, mix: Mapping[str, float] | None) -> Mix | None:
        if by is None and mix is None:
            return None
        if by is None or mix is None:
            raise SetupError("mix has shares of slices, and by says what these are by.", "Pass both.")
        noted = Noted()
        if is_by_annotators(by):
            with RunStore(self._path()) as store:
                noted = noted_of_items(store, dataset)
        return Mix(slicing(dataset, by, noted), _numbers("mix", "share", mix))

    def _ranked(
        self,
        criterion: str | None,
        weighted: bool,
        weights: Mapping[str, float] | arguments.AnyPath | None,
        tie_threshold: float | None,
    ) -> RankedBy:
        if weighted and criterion is not None:
            raise SetupError("weighted uses all criteria, criterion one.", "Remove one of them.")
        if not weighted and (weights is not None or tie_threshold is not None):
            raise SetupError("weights and tie_threshold need weighted=True.", "Add weighted=True.")
        system = self._system()
        matched = match_items(system, self._own_dataset(), partial=True)
        _warn_of_the_rest(matched)
        if weighted:
            _, weighed = _weighing(weights, tie_threshold).of_system(system, None, matched.dataset)
            return RankedBy.by_weights(system, matched.dataset, weighed)
        return RankedBy.by_system(system, matched.dataset, criterion or default_criterion(system.criteria))

    def _beside(self, results: RunResults, form: str) -> Dataset | None:
        columns = None if self._given is None else self._given.columns
        return with_notices(opening.dataset_beside(results, None, columns, forms=[form]))

    def _files(self, gold: Gold) -> dict[str, Path]:
        path = self._path()
        own = gold is None or isinstance(gold, pd.DataFrame)
        labels = {} if own else {"gold": arguments.path_of("gold", gold)}
        given = {} if self._given is None else {"dataset": self._given.path}
        if self._given is not None and self._given.gold is not None:
            labels = {"gold": self._given.gold, **labels}
        return {"run store": path, **opening.files_of_runs(path, [self.id]), **given, **labels}


def _told_apart(runs: Sequence[Run]) -> list[System]:
    systems = told_apart([run._system() for run in runs])
    stores = [run._path() for run in runs]
    names_differ = len({path.name for path in stores}) == len(set(stores))
    names = [system.name for system in systems]
    names = _with_words(names, [f"of {path.name if names_differ else path}" for path in stores])
    names = _with_words(names, [f"by {run.labels_of}" for run in runs])
    return [replace(system, name=name) for system, name in zip(systems, names, strict=True)]


def _with_words(names: Sequence[str], words: Sequence[str]) -> list[str]:
    pairs = list(zip(names, words, strict=True))
    words_of = {name: {word for other, word in pairs if other == name} for name in names}
    return [f"{name} {word}" if len(words_of[name]) > 1 else name for name, word in pairs]


def _matched(system: System, dataset: Dataset, partial: bool) -> Matched:
    matched = match(system, dataset, partial)
    _warn_of_the_rest(matched)
    return matched


def _warn_of_the_rest(matched: Matched) -> None:
    for sentence in opening.left_out_in_words(matched):
        notice(sentence)
    if matched.system.overrides:
        notice(f'To measure the judge only: run.by("{LabelSourceKind.JUDGE.option}").')


def _gathered(matched: Matched) -> "Report":
    from engine.report.html_report import Report  # noqa: PLC0415 - loads Jinja

    _, weighted_scoring = Weighing().of_system(matched.system, matched)
    return Report(evaluate(matched), weighted_scoring)


def _weighing(
    weights: Mapping[str, float] | arguments.AnyPath | None, tie_threshold: float | None
) -> Weighing:
    given = None
    if isinstance(weights, Mapping):
        given = GivenWeights(_numbers("weights", "weight", weights))
    elif weights is not None:
        again = "Fit the weights again with Tiebreak's command `weighted-score`."
        given = GivenWeights.of_file(arguments.path_of("weights", weights), again)
    return Weighing(weights=given, tie_threshold=tie_threshold)


def _numbers(argument: str, what: str, given: Mapping[str, float]) -> dict[str, float]:
    names = [arguments.text_of(f"a name in {argument}", name) for name in given]
    return {name: arguments.number_of(f"the {what} of {name}", float, given[name]) for name in names}


@arguments.api_call
def runs(store: arguments.AnyPath | None = None, archived: bool = False) -> list[Run]:
    """The runs of a store, the newest last; None for the default store, which need not exist yet.

    `archived`: include archived runs. A damaged run is left out, with a warning.

    >>> runs()[0].title
    'Run 1'
    """
    if store is None and not has_store(default_store()):
        return []
    path = Run(0, store)._path()
    with expecting(path, FileKind.RUN_STORE), RunStore(path) as opened, opened.reading():
        found, damaged = opened.runs(), opened.damaged_runs()
    for run in damaged:
        notice(run.problem)
    return [Run(run.id, store) for run in found if archived or not run.archived]
