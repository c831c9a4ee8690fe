"""What is measured of a run, as frames and small records.

Knows: which numbers stand in which column. Does not know: how they are measured, where labels come from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from engine.api.arguments import AnyPath, api_call, path_of
from engine.api.frames import text_column
from engine.api.refused import notice
from engine.api.tables import Columns, frame_of, frame_of_rows, frames_of
from engine.api.wording import PARAMETERS
from engine.calibrate.run_calibration import CalibratedRun
from engine.core.errors import SetupError
from engine.core.health import Health
from engine.core.sheets import Sentences, Sheet
from engine.decisions.calibration import save_calibration
from engine.measure.evaluation import Evaluation, wordless_in_words
from engine.measure.intervals import Interval
from engine.measure.label_measures import LabelMeasures
from engine.report.calibration_tables import calibration_sections, quality_table
from engine.system.files import check_targets

MEAN = "mean"
_EVALUATED: Columns = {
    "items": ("Int64", "How many items have a human label."),
    "instructions": ("Int64", "How many different instructions these have."),
    "accuracy": ("float64", "The share of human labels that the judge gives, too; unscored ones are wrong."),
    "low": ("float64", "The lower end of its 95 % interval over instructions."),
    "high": ("float64", "The upper end."),
    "trivial": ("float64", "What the best of the trivial judges reaches, which read nothing."),
    "trivial_judge": ("string", "Which one that is."),
    "lead": ("float64", "By how much the judge is above it."),
    "lead_low": ("float64", "The lower end of the 95 % interval of the lead."),
    "lead_high": ("float64", "The upper end."),
    "kappa": ("float64", "Cohen's kappa: agreement beyond chance, at most 1."),
    "macro_f1": ("float64", "The mean of F1 over the labels, 0 to 1."),
    "flipped": ("float64", "The share of judgments that the order of the responses alone would change."),
    "unscored": ("Int64", "How many of the items have no label."),
}
_EXPLAINED: Columns = {
    "explained_items": ("Int64", "How many items have a human explanation."),
    "rouge_l": ("float64", "The mean ROUGE-L of the explanations against human ones, 0 to 1."),
    "rouge_l_low": ("float64", "The lower end of its 95 % interval over instructions."),
    "rouge_l_high": ("float64", "The upper end."),
    "rouge_l_typical": ("float64", "What always giving one most typical human explanation reaches."),
}
_BY_A_MODEL: Mapping[str, Columns] = {
    "bertscore": {
        "bertscore": ("float64", "The mean BERTScore F1 of the explanations against human ones, at most 1."),
        "bertscore_low": ("float64", "The lower end of its 95 % interval over instructions."),
        "bertscore_high": ("float64", "The upper end."),
    },
    "agreement": {
        "agreement": (
            "float64",
            "The share of explanations that agree with human ones, by the judge model.",
        ),
        "agreement_low": ("float64", "The lower end of its 95 % interval over instructions."),
        "agreement_high": ("float64", "The upper end."),
        "unmeasured": ("Int64", "How many explanations it could not be asked about, which are left out."),
    },
}

_SIGNS: Columns = {
    "sign": ("string", "What speaks against the judge."),
    "where": ("string", "The criterion, the label or the way of asking where it was found."),
    "value": ("float64", "What was measured, 0 to 1."),
    "limit": ("float64", "Beyond which it speaks against the judge."),
    "serious": ("boolean", "Whether it says by itself that the model did not judge."),
    "sure": ("boolean", "Whether it is no matter of chance."),
}


def evaluation_frame(evaluation: Evaluation) -> pd.DataFrame:
    """A row for each criterion, and one of their mean; with explanations where any are measured."""
    rows = {name: _label_row(measures) for name, measures in evaluation.labels.items()}
    lead = evaluation.accuracy - evaluation.trivial
    rows[MEAN] = [
        *(None, None, evaluation.accuracy, *_ends(evaluation.interval)),
        *(evaluation.trivial, None, lead, None, None, None, None, None, None),
    ]
    columns = dict(_EVALUATED)
    if evaluation.explanations:
        if wordless := wordless_in_words(evaluation.explanations.values()):
            notice(wordless)
        columns |= _EXPLAINED
        rows = {name: [*row, *_explained(evaluation, name)] for name, row in rows.items()}
        for measure, own in _BY_A_MODEL.items():
            if any(getattr(one, measure) is not None for one in evaluation.explanations.values()):
                columns |= own
                rows = {name: [*row, *_by_a_model(evaluation, name, measure)] for name, row in rows.items()}
    return frame_of_rows(columns, rows.values(), pd.Index(text_column(rows), name="criterion"))


def _explained(evaluation: Evaluation, name: str) -> list[object]:
    """The columns of explanations in the row of a criterion, or of the mean."""
    if name == MEAN:
        of, ends = evaluation.explanation_mean, evaluation.explanation_interval("rouge_l")
        return [None, *map(_share, (of("rouge_l"), *_ends(ends), of("typical")))]
    one = evaluation.explanations.get(name)
    if one is None:
        return [None] * len(_EXPLAINED)
    ends = one.intervals.get("rouge_l")
    return [one.items, *map(_share, (one.rouge_l, *_ends(ends), one.typical))]


def _by_a_model(evaluation: Evaluation, name: str, measure: str) -> list[object]:
    """The columns of a measure that needs a model, in the row of a criterion, or of the mean."""
    one = evaluation.explanations.get(name)
    unmeasured = None if one is None else one.unmeasured
    if name == MEAN:
        value, ends = evaluation.explanation_mean(measure), evaluation.explanation_interval(measure)
    else:
        value, ends = (None, None) if one is None else (getattr(one, measure), one.intervals.get(measure))
    found: list[object] = [*map(_share, (value, *_ends(ends)))]
    return [*found, unmeasured] if "unmeasured" in _BY_A_MODEL[measure] else found


def _label_row(measures: LabelMeasures) -> list[object]:
    lead, interval = measures.lead
    return [
        *(measures.items, measures.instructions, measures.accuracy, *_ends(measures.interval)),
        *(measures.rival_accuracy, measures.rival, lead, *_ends(interval)),
        *(measures.kappa, measures.macro_f1, measures.flipped, measures.unscored),
    ]


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _share(value: float | None) -> float | None:
    """Of what is measured x 100."""
    return None if value is None else value / 100


@dataclass(frozen=True)
class JudgeHealth:
    """Whether a model judged at all, which shows without human labels.

    `verdict`: judges, look_closely, does_not_judge, or too_few_items. `sentences`: the same in words, each
    sign, and what to do. `signs`: a frame with a row for each sign and where it was found: sign, where (a
    criterion, label or way), value and limit (0 to 1), serious, sure.
    """

    verdict: str
    sentences: tuple[str, ...]
    signs: pd.DataFrame = field(repr=False, compare=False)

    @classmethod
    def of(cls, health: Health) -> "JudgeHealth":
        """The same of what the engine found."""
        rows = [
            (each.sign.value, where, value, each.limit, each.serious, each.sure)
            for each in (*health.symptoms, *health.unsure)
            for where, value in each.values.items()
        ]
        signs = frame_of_rows(_SIGNS, rows)
        return cls(health.verdict.value, tuple(health.sentences(PARAMETERS.of)), signs)

    def __repr__(self) -> str:
        return "\n".join(self.sentences)


@dataclass(frozen=True, eq=False)
class FittedCalibration:
    """A calibration of a run's judge, and what it is worth.

    `made`: the engine's own record. `read`: the files that it came from, which `save` overwrites for nobody.
    """

    made: CalibratedRun
    read: dict[str, Path]

    @property
    def table(self) -> pd.DataFrame:
        """Accuracy before and after, cross-validated, 0 to 1: a row for each criterion, and one of the mean.

        >>> calibration.table.columns[:3].tolist()
        ['criterion', 'labels', 'accuracy_before']
        """
        return frame_of(quality_table(self.made.reports))

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """All that is known of it: quality, what each source of readings adds, what was fitted.

        >>> sorted(calibration.tables)
        ['parameters', 'quality', 'quality_2', 'sources']
        """
        return frames_of(calibration_sections(self.made))

    @api_call
    def save(self, path: AnyPath) -> Path:
        """Write it as JSON, for `Judge(calibration=...)`, `Run.apply` and the commands; the path.

        Raises Refused for another suffix, and where the file is one that the run was made of.

        >>> calibration.save("calibration.json").name
        'calibration.json'
        """
        target = path_of("path", path)
        if target.suffix.lower() != ".json":
            raise SetupError(f"{target.name}: a calibration is JSON.", f"Name it {target.stem}.json")
        check_targets({"path": target}, self.read)
        save_calibration(target, self.made.calibration)
        return target

    def __repr__(self) -> str:
        calibrated = ", ".join(self.made.reports)
        return f"<calibration of {calibrated}: {self.made.calibration.in_words}>"


@dataclass(frozen=True, eq=False)
class CandidateRanking:
    """Candidates, the models that wrote responses, ranked by a run's labels.

    `title`: by whom, on what. `sentences`: the verdict, and what is to be known of the correction, or why
    there is none. `candidates`: a row for each candidate, the best first. `pairs`: what the candidate of a
    row won against that of a column. `corrected`: the candidates' win rates with the help of people's labels;
    None where these cannot correct them. Shares are 0 to 1, a tie counts half; intervals are of 95 %.
    """

    title: str
    sentences: tuple[str, ...]
    candidates: pd.DataFrame = field(repr=False)
    pairs: pd.DataFrame = field(repr=False)
    corrected: pd.DataFrame | None = field(repr=False)

    @classmethod
    def of(
        cls,
        sheet: Sheet,
        candidates: pd.DataFrame,
        pairs: pd.DataFrame,
        corrected: pd.DataFrame | None,
    ) -> "CandidateRanking":
        """The same out of the sheet that is shown of it."""
        first, *others = sheet.sections
        said = [first, *(section for section in others if section.key == "corrected")]
        parts = [part for section in said for part in section.parts if isinstance(part, Sentences)]
        in_short: Sequence[str] = [text for part in parts for text in part.texts]
        return cls(sheet.title, tuple(in_short), candidates, pairs, corrected)

    def __repr__(self) -> str:
        return "\n".join([self.title, *self.sentences])
