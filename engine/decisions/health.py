"""Whether a run judged at all: no human label is needed to see that it did not.

Knows: what each sign is, from where on it counts, what to do. Does not know: human labels, who shows it.
The limits, and why they are these, are in docs/how-it-judges.md.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean

from engine.core.formatting import listed, percent, words
from engine.core.health import Health, Sign, Symptom
from engine.core.items import PREFERENCES, Preference, Way
from engine.core.judgments import AnyJudgment, Judgment, SubmittedLabel, Unscored
from engine.core.remedies import Remedy, Setting
from engine.core.rubric import Rubric
from engine.data.submission import Submission
from engine.decisions.run_results import RunResults
from engine.decisions.sentences import repeats_a_sentence

LEAST_ITEMS = 10
FEWEST_ITEMS = 3  # from these on, and below LEAST_ITEMS, what is plain already is said
MOST_ITEMS = 2000  # that are looked at: more say the same, and take seconds


@dataclass(frozen=True)
class Limit:
    """From where on a measure (0 to 1) is a sign; from where on it alone says that the model did not judge.

    `serious`: None for what says too little.
    """

    look: float
    serious: float | None = None

    @property
    def from_serious(self) -> float:
        """`serious`, of a sign that has one."""
        assert self.serious is not None
        return self.serious


# Where they come from: docs/how-it-judges.md, "Does the model judge?".
LIMITS: Mapping[Sign, Limit] = {
    Sign.FORMAT_MASS: Limit(0.9, 0.5),  # below; of all others above
    Sign.WAY_MASS: Limit(0.9),  # below, too
    Sign.FLIPPED: Limit(0.3, 0.5),
    Sign.ONE_LABEL: Limit(0.9, 0.98),
    Sign.UNEXPLAINED: Limit(0.05),
    Sign.REPEATED: Limit(0.1),
    Sign.CUT: Limit(0.2),
    Sign.NAMELESS: Limit(0.25),
}
_LEAST_CRITERIA = 3  # of one label: on truthfulness and safety people, too, give one for nearly everything
_LARGER = Remedy("Choose a larger model.")
_LARGER_OR_CALIBRATED = Remedy("Choose a larger model, or calibrate this one on labelled items.")


@dataclass(frozen=True)
class Answer:
    """What a judge gave for one item and criterion: its label, None for unscored, and its explanation.

    `cut`, `format_mass`, `flipped`: as in a Judgment and its Explanation; a submission does not know them.
    `way_masses`: the format mass of each way, where the model was asked in several; `format_mass` is then
    that of the way which it understood best.
    """

    label: Preference | None
    text: str | None
    cut: bool = False
    format_mass: float | None = None
    flipped: bool | None = None
    way_masses: Mapping[Way, float] = field(default_factory=dict)


Answers = Mapping[str, Sequence[Answer]]  # by criterion, the items in one order


def run_health(results: RunResults) -> Health:
    """The health of a run's model, without what people overrode."""
    places = _spread(len(results.judged))
    answers = {
        name: [_answer(column[place]) for place in places] for name, column in results.judgments.items()
    }
    return answers_health(answers, results.explains, in_english(results.run.identity.asked))


def submission_health(submission: Submission) -> Health:
    """The health of the judge that made a submission, as far as labels and explanations alone can say it."""
    rows = [submission.rows[place] for place in _spread(len(submission.rows))]
    answers = {
        name: [Answer(row.predictions[name].preference, row.predictions[name].explanation) for row in rows]
        for name in submission.criteria
    }
    return answers_health(answers, submission.with_explanations)


class HealthWatch:
    """Follows a run that is under way, item by item."""

    def __init__(self, rubric: Rubric, explains: bool) -> None:
        self._answers: dict[str, list[Answer]] = {name: [] for name in rubric.names}
        self._explains = explains
        self._in_english = in_english(rubric)
        self.items = 0

    def add(self, judgments: Iterable[AnyJudgment]) -> None:
        """Take the judgments of one more item; after MOST_ITEMS they are only counted."""
        self.items += 1
        if self.items <= MOST_ITEMS:
            for judgment in judgments:
                self._answers[judgment.criterion].append(_answer(judgment))

    @property
    def health(self) -> Health:
        """What was found by now."""
        return answers_health(self._answers, self._explains, self._in_english)


def in_english(rubric: Rubric) -> bool:
    """Whether a judge is asked in the usual words, so that its explanations are in English."""
    return not rubric.wording.own


def answers_health(answers: Answers, explains: bool, english: bool = True) -> Health:
    """What was found, the signs of labels before those of explanations; unscored items are not counted.

    `english`: the explanations are; others are not searched for words.
    """
    labelled = [any(answer.label for answer in given) for given in zip(*answers.values(), strict=True)]
    items = sum(labelled)
    if items < LEAST_ITEMS:
        return Health(items, False, tuple(_plain_signs(answers)))
    found = [*_label_signs(answers), *(_text_signs(answers, english) if explains else ())]
    return Health(items, True, tuple(found))


def _spread(items: int) -> list[int]:
    """The places of at most MOST_ITEMS items, evenly spaced."""
    looked_at = min(items, MOST_ITEMS)
    # Evenly: files are often sorted, by subset or by system.
    return [number * items // looked_at for number in range(looked_at)]


def _answer(judgment: AnyJudgment) -> Answer:
    if isinstance(judgment, Unscored):
        return Answer(None, None)
    if isinstance(judgment, SubmittedLabel):
        return Answer(judgment.preference, judgment.text)
    own, masses = judgment.explanation, _way_masses(judgment)
    return Answer(
        label=judgment.preference,
        text=own.text if own else None,
        cut=own is not None and own.cut,
        # A model that understands one way judges; that it does not understand another is a sign of its own.
        format_mass=max(masses.values(), default=judgment.format_mass),
        flipped=judgment.flipped,
        way_masses=masses,
    )


def _way_masses(judgment: Judgment) -> dict[Way, float]:
    """The mean of each way over the orders; empty where there is one way only."""
    found: dict[Way, list[float]] = {}
    for reading in judgment.readings:
        found.setdefault(reading.way, []).append(reading.format_mass)
    return {way: fmean(masses) for way, masses in found.items()} if len(found) > 1 else {}


# Labels


def _label_signs(answers: Answers) -> Iterator[Symptom]:
    yield from _mass_sign(answers)
    yield from _way_sign(answers)
    yield from _flipped_sign(answers)
    yield from _one_label(answers)


def _plain_signs(answers: Answers) -> Iterator[Symptom]:
    """What is beyond the serious limit already, of few items; one label for most is no sign yet."""
    found = chain(_mass_sign(answers, FEWEST_ITEMS), _flipped_sign(answers, FEWEST_ITEMS))
    yield from (symptom for symptom in found if symptom.serious)


def _mass_sign(answers: Answers, least: int = LEAST_ITEMS) -> Iterator[Symptom]:
    mass, limit = _means(answers, lambda answer: answer.format_mass, least), LIMITS[Sign.FORMAT_MASS]
    low = {name: value for name, value in mass.items() if value < limit.look}
    if low:
        yield Symptom(
            Sign.FORMAT_MASS,
            low,
            limit.look,
            _more_than_half(mass, lambda value: value < limit.from_serious),
            f"The four labels hold {_range(low)} of the probability on {_names(low, mass)} (expected: at"
            f" least {percent(limit.look)}): the model would rather write something else, so it did not"
            " understand what to do.",
            Remedy("Choose an instruction-tuned model with its own chat template."),
        )


def _way_sign(answers: Answers) -> Iterator[Symptom]:
    """Ways of asking, of several, that the model did not understand, in the mean over the criteria."""
    masses: dict[Way, list[float]] = {}
    for answer in chain.from_iterable(answers.values()):
        for way, mass in answer.way_masses.items():
            masses.setdefault(way, []).append(mass)
    limit = LIMITS[Sign.WAY_MASS]
    low = {way.value: mean for way, own in masses.items() if (mean := fmean(own)) < limit.look}
    if low:
        said = listed([f"{way} ({percent(mean)})" for way, mean in low.items()], shown=str)
        yield Symptom(
            Sign.WAY_MASS,
            low,
            limit.look,
            False,
            f"The offered answers hold little of the probability where the model is asked by {said}; expected"
            f" are at least {percent(limit.look)}. These ways say little of what it thinks.",
            Remedy("Leave them out of the ", Setting.WAYS, "."),
        )


def _flipped_sign(answers: Answers, least: int = LEAST_ITEMS) -> Iterator[Symptom]:
    """The share of flipped labels; where some were read in one order only, what it is at least."""
    known = [[answer.flipped is not None for answer in column if answer.label] for column in answers.values()]
    read, labels = sum(map(sum, known)), sum(map(len, known))
    partly = 0 < read < labels
    limit = LIMITS[Sign.FLIPPED]
    flipped = _means(answers, _surely_flipped if partly else lambda answer: answer.flipped, least)
    high = {name: share for name, share in flipped.items() if share > limit.look}
    if not high:
        return
    share = f"{_range(high)} of the" if least == LEAST_ITEMS else _flips(answers, high)
    shown = f"At least {share}" if partly else share
    some = f"; {read:,} of {labels:,} labels were read in both orders" if partly else ""
    yield Symptom(
        Sign.FLIPPED,
        high,
        limit.look,
        _more_than_half(flipped, lambda share: share > limit.from_serious),
        f"{shown} labels on {_names(high, flipped)} change when the responses change"
        f" places (expected: at most {percent(limit.look)}{some}): there the order decides, not the text.",
        _LARGER,
    )


def _flips(answers: Answers, criteria: Iterable[str]) -> str:
    """How many labels are flipped, of few: `8 of 8`."""
    labels = [answer for name in criteria for answer in answers[name] if answer.label]
    return f"{sum(answer.flipped is True for answer in labels):,} of {len(labels):,}"


def _surely_flipped(answer: Answer) -> float | None:
    """1 for a label that is known to be flipped, 0 for any other: the mean is what the share is at least."""
    return None if answer.label is None else float(answer.flipped is True)


def _one_label(answers: Answers) -> Iterator[Symptom]:
    labels = Counter(answer.label for column in answers.values() for answer in column if answer.label)
    if len(answers) < _LEAST_CRITERIA or not labels:
        return
    label = max(PREFERENCES, key=lambda preference: labels[preference])
    share, limit = labels[label] / labels.total(), LIMITS[Sign.ONE_LABEL]
    if share > limit.look:
        yield Symptom(
            Sign.ONE_LABEL,
            {label.value: share},
            limit.look,
            share > limit.from_serious,
            f"{percent(share)} of all labels are “{words(label)}”, whatever the item and the criterion.",
            _LARGER_OR_CALIBRATED,
        )


def _more_than_half(values: Mapping[str, float], serious: Callable[[float], bool]) -> bool:
    """Whether most criteria are that bad: one alone may be ill-suited to the data."""
    return 2 * sum(map(serious, values.values())) > len(values)


def _means(
    answers: Answers, measure: Callable[[Answer], float | None], least: int = LEAST_ITEMS
) -> dict[str, float]:
    """The mean of a measure by criterion, over the answers that have it; without criteria with too few."""
    known = {
        name: [value for answer in column if (value := measure(answer)) is not None]
        for name, column in answers.items()
    }
    return {name: math.fsum(values) / len(values) for name, values in known.items() if len(values) >= least}


# Explanations


_RESPONSE = re.compile(
    r"\b(?:both|neither|none|either|each|first|second|former|latter|responses|answers)\b"
    r"|\b(?:response|answer|assistant|option|model|output|candidate)\W{0,3}(?-i:[ABb12])\b"
    r"|(?-i:\bB\b|\bA\b(?!\s+[a-z]))"
    # A as a name, before a verb; an article stands before a noun, which seldom ends in one s.
    r"|(?-i:\bA\s+(?:and|or|but|did|gave|said|wrote|can|could|would|may|might|should|also|only|[a-z]*[^s\W]s)\b)",
    re.IGNORECASE,
)


def names_a_response(text: str) -> bool:
    """True where a text in English names response A or B, or speaks of both."""
    return _RESPONSE.search(text) is not None


_NOT_UNREAD = Remedy("Read some of the explanations before you use them.")


@dataclass(frozen=True)
class _TextSign:
    """`found`: whether an answer has it; `wordless`: whether answers without a text count too. `of_words`: it
    looks for English words.
    """

    sign: Sign
    found: Callable[[Answer], bool]
    sentence: str
    remedy: Remedy
    wordless: bool = False
    of_words: bool = False


_TEXT_SIGNS = (
    _TextSign(
        Sign.UNEXPLAINED,
        lambda answer: not answer.text,
        "{} of the labels on {} have no explanation: the model wrote no words.",
        Remedy("Judge labels alone, or choose a larger model."),
        wordless=True,
    ),
    _TextSign(
        Sign.REPEATED,
        lambda answer: repeats_a_sentence(answer.text or ""),
        "{} of the explanations on {} say a sentence twice: the model went round in circles.",
        _NOT_UNREAD,
    ),
    _TextSign(
        Sign.CUT,
        lambda answer: answer.cut,
        "{} of the explanations on {} were cut at the limit of their length.",
        Remedy("Allow longer explanations (", Setting.EXPLANATION_TOKENS, ")."),
    ),
    _TextSign(
        Sign.NAMELESS,
        lambda answer: not names_a_response(answer.text or ""),
        "{} of the explanations on {} name neither response A nor response B.",
        _NOT_UNREAD,
        of_words=True,
    ),
)


def _text_signs(answers: Answers, english: bool) -> Iterator[Symptom]:
    for wanted in _TEXT_SIGNS:
        if wanted.of_words and not english:
            continue
        asked = {
            name: [answer for answer in column if answer.label and (answer.text or wanted.wordless)]
            for name, column in answers.items()
        }
        shares, limit = _means(asked, wanted.found), LIMITS[wanted.sign].look
        high = {name: share for name, share in shares.items() if share > limit}
        if high:
            text = wanted.sentence.format(_range(high), _names(high, shares))
            yield Symptom(wanted.sign, high, limit, False, text, wanted.remedy)


# Words


def _range(values: Mapping[str, float]) -> str:
    """The shares as people read them: `43.0 %`, `28.8 % to 42.8 %`."""
    low, high = min(values.values()), max(values.values())
    return percent(low) if percent(low) == percent(high) else f"{percent(low)} to {percent(high)}"


def _names(some: Mapping[str, float], measured: Mapping[str, float]) -> str:
    """The criteria as people read them."""
    if len(some) == len(measured) > 1:
        return "all criteria"
    *others, last = map(words, some)
    return f"{', '.join(others)} and {last}" if others else last
