"""Measures of a run as frames and small records; one converter for every table of the program."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from engine.api.arguments import AnyPath, api_call, path_of, text_column
from engine.api.refused import PARAMETERS, notice
from engine.calibration.run_calibration import CalibratedRun
from engine.core.errors import SetupError
from engine.core.health import Health
from engine.core.tables import Estimate, Kind, Section, Table, in_parts, parts_of
from engine.metrics.accuracy import LabelMeasures
from engine.metrics.evaluation import Evaluation, wordless_in_words
from engine.metrics.intervals import Interval
from engine.report.calibration import calibration_sections, quality_table
from engine.results.calibration import save_calibration
from engine.system.files import check_targets

Columns = Mapping[str, tuple[Any, str]]
"""The dtype and the meaning of each column, by its name."""
MEANING = "meaning"
"""The key in the `attrs` of a frame for the meaning of each column, by its name."""
_DTYPES: dict[Kind, str] = {
    Kind.NAME: "string",
    Kind.TEXT: "string",
    Kind.FLAG: "boolean",
    Kind.COUNT: "Int64",
    Kind.PAIR: "Int64",
    Kind.PART: "Int64",
    Kind.FACT: "object",
}
_COUNTED = {"left_out": "Int64"}


def frame_of(table: Table) -> pd.DataFrame:
    """A table as a frame. A column is named by its key, a user's by its own name; an interval becomes
    `<name>_low` and `<name>_high`, beside the value if it has one. Unknown values are missing; shares are 0
    to 1.
    """
    made: dict[str, Any] = {}
    meaning: dict[str, str] = {}
    for place, column in enumerate(table.columns):
        ends = parts_of(column.kind)
        name = column.title if column.foreign else column.key
        own = [(f"{name}_{part}" if part else name, part, end) for part, end in ends]
        if any(each in made for each, _, _ in own):  # a user's name that is already taken
            own = [(f"{column.key}_{part}" if part else column.key, part, end) for _, part, end in own]
        columns = list(zip(*(in_parts(row[place], column.kind) for row in table.rows), strict=True))
        columns = columns or [()] * len(own)
        for (each, part, end), values in zip(own, columns, strict=True):
            made[each] = _typed(values, _COUNTED.get(part) or _DTYPES.get(column.kind, "float64"))
            meaning[each] = f"{column.meaning} {end}".strip()
    frame = pd.DataFrame(made)
    frame.attrs[MEANING] = meaning
    return frame


def frame_of_rows(columns: Columns, rows: Iterable[Iterable[object]], index: Any = None) -> pd.DataFrame:
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    parts = zip(columns.items(), cells, strict=True)
    frame = pd.DataFrame({name: array_of(own, dtype) for (name, (dtype, _)), own in parts}, index=index)
    frame.attrs[MEANING] = {name: text for name, (_, text) in columns.items()}
    return frame


def array_of(values: Iterable[object], dtype: Any) -> Any:
    return pd.array(list(values), dtype=dtype)


def frames_of(sections: Iterable[Section]) -> dict[str, pd.DataFrame]:
    made = {}
    for section in sections:
        tables = [part for part in section.parts if isinstance(part, Table)]
        for number, table in enumerate(tables, start=1):
            made[section.key if number == 1 else f"{section.key}_{number}"] = frame_of(table)
    return made


def _typed(values: Sequence[object], dtype: str) -> Any:
    known = [None if value == "" else value for value in values]
    words_among_numbers = dtype != "string" and any(isinstance(value, str) for value in known)
    return array_of(known, "object" if words_among_numbers else dtype)


def _with_ends(name: str, meaning: str) -> Columns:
    ends = {f"{name}_{suffix}": said for suffix, said in parts_of(Kind.ESTIMATE) if suffix}
    return {each: ("float64", said) for each, said in {name: meaning, **ends}.items()}


MEAN = "mean"
_EVALUATED: Columns = {
    "items": ("Int64", "How many items have a human label."),
    "instructions": ("Int64", "How many different instructions these have."),
    "accuracy": (
        "float64",
        "Accuracy: the share of items whose label is the human one; unscored items are wrong.",
    ),
    "low": ("float64", "The lower end of its 95 % interval over instructions."),
    "high": ("float64", "The upper end."),
    "trivial": ("float64", "The accuracy of the best baseline, which reads no text."),
    "trivial_judge": ("string", "The name of this baseline."),
    "lead": ("float64", "The accuracy of the judge minus that of the baseline."),
    "lead_low": ("float64", "The lower end of the 95 % interval of this difference."),
    "lead_high": ("float64", "The upper end."),
    **_with_ends("kappa", "Cohen's kappa: agreement beyond chance, at most 1."),
    **_with_ends("ac1", "Gwet's AC1: agreement beyond chance, at most 1."),
    **_with_ends("macro_f1", "The mean of F1 over the labels, 0 to 1."),
    "flipped": (
        "float64",
        "Flip rate: the share of judgments whose label changes with the order of the responses.",
    ),
    "unscored": ("Int64", "How many of these items have no label."),
}
_EXPLAINED: Mapping[str, Columns] = {
    "rouge_l": {
        "explained_items": ("Int64", "How many items have a human explanation."),
        **_with_ends("rouge_l", "The mean ROUGE-L of the explanations against human ones, 0 to 1."),
        "rouge_l_typical": (
            "float64",
            "The ROUGE-L of a baseline that always gives the same, most typical human explanation.",
        ),
    },
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
        "unmeasured": ("Int64", "How many explanations it could not judge; they are left out."),
    },
}

_SIGNS: Columns = {
    "sign": ("string", "The symptom."),
    "where": ("string", "The criterion, label or elicitation method where it was found."),
    "value": ("float64", "What was measured, 0 to 1."),
    "limit": ("float64", "The limit beyond which it is a symptom."),
    "serious": ("boolean", "Whether this symptom alone shows that the model did not judge."),
    "sure": ("boolean", "Whether it is significant."),
}


def evaluation_frame(evaluation: Evaluation, mixed: Mapping[str, Estimate] | None = None) -> pd.DataFrame:
    """`mixed`: the accuracies for a stated mix, by criterion and MEAN."""
    rows = {name: _label_row(measures) for name, measures in evaluation.labels.items()}
    lead = evaluation.accuracy - evaluation.baseline
    columns = dict(_EVALUATED)
    of_mean = [None, None, evaluation.accuracy, *_ends(evaluation.interval), evaluation.baseline, None, lead]
    rows[MEAN] = [*of_mean, *[None] * (len(columns) - len(of_mean))]
    if evaluation.explanations:
        if wordless := wordless_in_words(evaluation.explanations.values()):
            notice(wordless)
        for measure, own in _EXPLAINED.items():
            found = [getattr(one, measure) for one in evaluation.explanations.values()]
            if measure == "rouge_l" or found.count(None) < len(found):  # others need a model
                columns |= own
                rows = {name: [*row, *_explained(evaluation, name, measure)] for name, row in rows.items()}
    if mixed is not None:
        columns |= _with_ends("mixed", "The accuracy for the stated mix of slices.")
        for name, row in rows.items():
            rows[name] = [*row, mixed[name].value, *(mixed[name].ends or (None, None))]
    return frame_of_rows(columns, rows.values(), pd.Index(text_column(rows), name="criterion"))


def _explained(evaluation: Evaluation, name: str, measure: str) -> list[object]:
    one = evaluation.explanations.get(name)
    if name == MEAN:
        of, ends = evaluation.explanation_mean, evaluation.explanation_interval(measure)
        found = (of(measure), *_ends(ends), of("typical"))
    elif one is None:
        return [None] * len(_EXPLAINED[measure])
    else:
        found = (getattr(one, measure), *_ends(one.intervals.get(measure)), one.typical)
    *values, typical = (each and each / 100 for each in found)
    if measure == "rouge_l":
        return [one and one.items, *values, typical]
    return [*values, *([one and one.unmeasured] if measure == "agreement" else ())]


def _label_row(measures: LabelMeasures) -> list[object]:
    lead, interval = measures.lead
    beyond = (measures.kappa, measures.ac1, measures.macro_f1)
    return [
        *(measures.items, measures.instructions, measures.accuracy, *_ends(measures.interval)),
        *(measures.rival_accuracy, measures.rival, lead, *_ends(interval)),
        *chain.from_iterable((each.value, *_ends(each.interval)) for each in beyond),
        *(measures.flipped, measures.unscored),
    ]


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


@dataclass(frozen=True)
class JudgeHealth:
    """Whether a model judged at all; this needs no human labels.

    `verdict`: judges, look_closely, does_not_judge, or too_few_items. `sentences`: the verdict, each symptom,
    and what to do. `signs`: a frame with a row for each symptom: sign, where (a criterion, label or method),
    value and limit (0 to 1), serious, sure (significant).
    """

    verdict: str
    sentences: tuple[str, ...]
    signs: pd.DataFrame = field(repr=False, compare=False)

    @classmethod
    def of(cls, health: Health) -> "JudgeHealth":
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
    """A calibration of a run's judge, with its gains.

    `made`: the engine's own record. `read`: the files that it came from, which `save` never overwrites.
    """

    made: CalibratedRun
    read: dict[str, Path]

    @property
    def table(self) -> pd.DataFrame:
        """Accuracy before and after, cross-validated, 0 to 1: a row for each criterion, and one for the mean.

        >>> calibration.table.columns[:3].tolist()
        ['criterion', 'labels', 'accuracy_before']
        """
        return frame_of(quality_table(self.made.reports))

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """All its tables: quality, the gain of each source of raw predictions, the fitted parameters.

        >>> sorted(calibration.tables)
        ['parameters', 'quality', 'quality_2', 'sources']
        """
        return frames_of(calibration_sections(self.made))

    @api_call
    def save(self, path: AnyPath) -> Path:
        """Write it as JSON, for `Judge(calibration=...)`, `Run.apply` and the commands; the path.

        Raises Refused for another suffix, and if the file is an input of the run.

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
    """Candidate models ranked by a run's labels.

    `title`: the judge and the criterion. `sentences`: the verdict, and notes on the correction, or why there
    is none. `candidates`: a row for each candidate, the best first. `pairs`: the win rate of the row's
    candidate against the column's. `corrected`: win rates corrected by human labels; None if these do not
    suffice. `favour`: the win rate by the judge minus that by human labels, -1 to 1; None without these.
    `features`: by how much features of a response, such as length, move the one away from the other. Shares
    are 0 to 1, a tie counts half; intervals are 95 %.
    """

    title: str
    sentences: tuple[str, ...]
    candidates: pd.DataFrame = field(repr=False)
    pairs: pd.DataFrame = field(repr=False)
    corrected: pd.DataFrame | None = field(repr=False)
    favour: pd.DataFrame | None = field(repr=False)
    features: pd.DataFrame | None = field(repr=False)

    def __repr__(self) -> str:
        return "\n".join([self.title, *self.sentences])
