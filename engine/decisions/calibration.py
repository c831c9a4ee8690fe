"""A calibration with what it was made for, as a file and in the run store.

Knows: the JSON form, which runs a calibration fits. Does not know: how one is fitted.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, NoReturn

from engine.core.errors import InputError, SetupError
from engine.core.formatting import quoted, without_middle, words
from engine.core.items import PREFERENCES, digest
from engine.core.judgments import CriterionCalibration
from engine.core.remedies import Remedy, Step
from engine.core.rubric import ELOQUENT, Rubric
from engine.core.run_records import RunIdentity
from engine.core.settings import USUAL_WAYS
from engine.data.file_format import read_data_file
from engine.system.files import write_json

FORMAT = 1
_MARK = "tiebreak_calibration"
_LONGEST_SHOWN = 120  # letters of a question
_MAKE_AGAIN = Remedy(Step.CALIBRATE_AGAIN)


@dataclass(frozen=True)
class AskedQuestion:
    """What was asked on a criterion. `sha256`: of all of it, with the meanings of good and bad and the words
    of the prompt around it; `question`: for people.
    """

    question: str
    sha256: str


def asked_questions(rubric: Rubric) -> dict[str, AskedQuestion]:
    """What a rubric asks, by criterion."""
    return {
        criterion.name: AskedQuestion(criterion.question, digest([list(criterion.asked), rubric.wording.own]))
        for criterion in rubric.criteria
    }


_OF_TASK = asked_questions(ELOQUENT)


@dataclass(frozen=True)
class JudgeIdentity:
    """What gives readings: a calibration is of use for no other.

    `orders`, `ways`: as in the settings of a run. `examples`: the hash of the labelled examples, empty for
    none. Of a judge that thinks, `ways` says how many thoughts of how many tokens.
    `model_name`: for people; the same model may have been called otherwise by another version, or renamed.
    `asked`: by criterion; of one that is missing, as in older files, it was what the task's rubric asks.
    """

    model_name: str
    model_hash: str
    prompt_version: str
    orders: tuple[str, ...]
    examples: str
    ways: tuple[str, ...] = USUAL_WAYS
    asked: Mapping[str, AskedQuestion] = field(default_factory=dict)

    def asked_of(self, criterion: str) -> AskedQuestion | None:
        """What was asked on a criterion; None where nobody knows."""
        return self.asked.get(criterion) or _OF_TASK.get(criterion)


def judge_of_run(identity: RunIdentity) -> JudgeIdentity:
    """The judge of a run."""
    return JudgeIdentity(
        model_name=identity.model_name,
        model_hash=identity.model_hash,
        prompt_version=identity.prompt_version,
        orders=tuple(identity.settings["orders"]),
        examples=identity.settings["examples"],
        ways=_ways(identity.settings),
        asked=asked_questions(identity.asked),
    )


def _ways(settings: Mapping[str, Any]) -> tuple[str, ...]:
    ways = tuple(map(str, settings.get("ways", USUAL_WAYS)))
    if "thoughts" not in settings:
        return ways
    thoughts = f"{settings['thoughts']} thoughts of {settings['max_thought_tokens']} tokens"
    return (*ways, thoughts)


@dataclass(frozen=True)
class Calibration:
    """Calibrations by criterion. `dataset`, `dataset_hash`: of the one whose labels it was fitted on.

    `measured`: the cross-validated figures, as plain values, for people. `alike`: whether A and B are treated
    alike, so that no label depends on the place of a response; older files do not.
    """

    judge: JudgeIdentity
    dataset: str
    dataset_hash: str
    criteria: Mapping[str, CriterionCalibration]
    measured: Mapping[str, Any]
    alike: bool = False

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of what it does; the names and figures take no part."""
        return digest({name: _numbers(fitted) for name, fitted in self.criteria.items()})

    @property
    def accuracies(self) -> tuple[float, float] | None:
        """The shares (0 to 1) of labels that were right before and after, cross-validated, as means over the
        criteria; None where that is not known.
        """
        try:
            before, after = (
                fmean(float(quality[when]["accuracy"]) for quality in self.measured.values())
                for when in ("before", "after")
            )
        except (
            ArithmeticError,
            KeyError,
            TypeError,
            ValueError,
        ):  # a file may hold anything there, or nothing
            return None
        return before, after

    @property
    def in_words(self) -> str:
        """Whether A and B are alike to it, and whether it lacks what decides items of one order."""
        said = f"A and B are {'' if self.alike else 'not '}treated alike."
        lacking = len(self.judge.orders) > 1 and any(not each.first_order for each in self.criteria.values())
        return f"{said} It was not fitted for items that are read in one order." if lacking else said

    def check_fits(self, judge: JudgeIdentity) -> None:
        """Raise SetupError where it was made for another judge; the model is known by its hash alone."""
        made_for = self.judge
        if made_for.model_hash != judge.model_hash:
            raise _made_for("the model", _model(made_for), _model(judge))
        for what, mine, other in (
            ("prompt version", made_for.prompt_version, judge.prompt_version),
            ("orders", " and ".join(made_for.orders), " and ".join(judge.orders)),
            ("ways of asking", " and ".join(made_for.ways), " and ".join(judge.ways)),
            ("labelled examples", made_for.examples[:12] or "none", judge.examples[:12] or "none"),
        ):
            if mine != other:
                raise _made_for(what, mine, other)
        self._check_questions(judge)

    def _check_questions(self, judge: JudgeIdentity) -> None:
        """SetupError where both have no criterion in common, or one that was asked in other words."""
        shared = [name for name in self.criteria if name in judge.asked]
        if self.criteria and judge.asked and not shared:
            raise _made_for("the criteria", ", ".join(self.criteria), ", ".join(judge.asked))
        for name in shared:
            mine, other = self.judge.asked_of(name), judge.asked[name]
            if mine is None or mine.question != other.question:
                raise _made_for(f"the question on {words(name)}", _question(mine), _question(other))
            if mine.sha256 != other.sha256:
                raise SetupError(
                    f"This calibration was made for the same question on {words(name)} in other words around"
                    " it: other meanings of good and bad, or another wording of the prompt.",
                    Remedy(Step.CALIBRATE),
                )

    def as_json(self) -> dict[str, Any]:
        """All of it, as plain values."""
        judge = self.judge
        return {
            _MARK: FORMAT,
            "made_for": {
                "model": {"name": judge.model_name, "sha256": judge.model_hash},
                "prompt_version": judge.prompt_version,
                "orders": list(judge.orders),
                "examples": judge.examples,
                # Left out as before there were other ways: such files stay what they were.
                **({"ways": list(judge.ways)} if judge.ways != USUAL_WAYS else {}),
                "asked": {name: asdict(asked) for name, asked in judge.asked.items()},
            },
            "dataset": {"name": self.dataset, "sha256": self.dataset_hash},
            "a_and_b_alike": self.alike,
            "criteria": {name: _criterion_json(fitted) for name, fitted in self.criteria.items()},
            "measured": dict(self.measured),
        }


def _numbers(fitted: CriterionCalibration) -> list[float]:
    first = fitted.first_order
    return [fitted.scale, *fitted.biases, *(_numbers(first) if first else ())]


def _made_for(what: str, mine: str, other: str) -> SetupError:
    return SetupError(
        f"This calibration was made for {what} {mine}, not for {other}.", Remedy(Step.CALIBRATE)
    )


def _question(asked: AskedQuestion | None) -> str:
    return f"“{without_middle(asked.question, _LONGEST_SHOWN)}”" if asked else "that nobody knows"


def _model(judge: JudgeIdentity) -> str:
    return f"{judge.model_name} ({judge.model_hash[:12]})"


def _criterion_json(calibration: CriterionCalibration) -> dict[str, Any]:
    biases = zip(PREFERENCES, calibration.biases, strict=True)
    return {
        "scale": calibration.scale,
        "biases": {label.value: bias for label, bias in biases},
        "strength": calibration.strength,
        "items": calibration.items,
        **({"first_order": _criterion_json(calibration.first_order)} if calibration.first_order else {}),
    }


def calibration_of(value: Mapping[str, Any]) -> Calibration:
    """The calibration that `as_json` gave.

    Raises KeyError, AttributeError, TypeError, ValueError or SetupError for anything else.
    """
    if value[_MARK] != FORMAT:
        raise ValueError(f"its version is {value[_MARK]!r}, this program knows {FORMAT}")
    made_for = value["made_for"]
    return Calibration(
        judge=JudgeIdentity(
            model_name=str(made_for["model"]["name"]),
            model_hash=str(made_for["model"]["sha256"]),
            prompt_version=str(made_for["prompt_version"]),
            orders=tuple(map(str, made_for["orders"])),
            examples=str(made_for["examples"]),
            ways=tuple(map(str, made_for.get("ways", USUAL_WAYS))),
            asked={
                str(name): AskedQuestion(str(of["question"]), str(of["sha256"]))
                for name, of in made_for.get("asked", {}).items()
            },
        ),
        dataset=str(value["dataset"]["name"]),
        dataset_hash=str(value["dataset"]["sha256"]),
        criteria={str(name): _criterion(values) for name, values in value["criteria"].items()},
        measured=dict(value["measured"]),
        alike=value.get("a_and_b_alike") is True,
    )


def _criterion(value: Mapping[str, Any]) -> CriterionCalibration:
    a, b, both_good, both_bad = (_number(value["biases"][label.value]) for label in PREFERENCES)
    strength, items = value["strength"], value["items"]
    if not isinstance(items, int) or isinstance(items, bool):
        raise TypeError(f"{quoted(str(items))} is no number of items")
    return CriterionCalibration(
        scale=_number(value["scale"]),
        biases=(a, b, both_good, both_bad),
        strength=None if strength is None else _number(strength),
        items=items,
        first_order=_criterion(value["first_order"]) if "first_order" in value else None,
    )


def _number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{quoted(str(value))} stands in the place of a number")
    return float(value)


def load_calibration(path: Path) -> Calibration:
    """The calibration in a file that `save_calibration` wrote. SetupError where it is none."""
    _, data = read_data_file(path)
    try:
        return calibration_of(
            json.loads(data, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
        )
    except KeyError as error:
        raise InputError(path, [f"is not a calibration: {error} is missing."], _MAKE_AGAIN) from error
    except RecursionError as error:
        problem = "is not a calibration: its lists or objects are nested too deeply."
        raise InputError(path, [problem], _MAKE_AGAIN) from error
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise InputError(path, [f"is not a calibration: {error}."], _MAKE_AGAIN) from error


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object; ValueError where it names a key twice, of which Python's json would keep the last alone."""
    for key, times in Counter(key for key, _ in pairs).items():
        if times > 1:
            raise ValueError(f"an object names the key {quoted(key)} {times} times")
    return dict(pairs)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        _no_number(text)
    return value


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} stands in the place of a number")


def save_calibration(path: Path, calibration: Calibration) -> None:
    """Write a calibration, whole or not at all. SetupError where it cannot be written."""
    write_json(path, calibration.as_json())
