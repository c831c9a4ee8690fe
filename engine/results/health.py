"""Whether a run judged at all: no human label is needed to see that it did not."""

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from statistics import fmean

from engine.core.errors import Hint, Setting
from engine.core.formatting import listed, percent, words
from engine.core.health import NO_JUDGE, Health, Sign, Symptom
from engine.core.items import HUMAN_LABELS, PREFERENCES, HumanLabel, Method, Preference, grouped
from engine.core.judgments import AnyJudgment, Judgment, SubmittedLabel, Unscored
from engine.core.methods import together
from engine.core.numeric import clopper_pearson, worth_of
from engine.core.rubric import Rubric
from engine.data.submission import Submission
from engine.results.decision import NO_LABEL, decide_all
from engine.results.run_results import RunResults
from engine.store.opening import has_store
from engine.store.run_store import RunStore


@dataclass(frozen=True)
class Limit:
    """Beyond `look` (0 to 1) is a sign, beyond `serious` no judging; `below`: beyond is less than it."""

    look: float
    serious: float | None = None
    below: bool = False


# Where they come from: docs/how-it-judges.md, "Does the model judge?".
LIMITS: Mapping[Sign, Limit] = {
    Sign.UNSCORED: Limit(0.1, 0.5),
    Sign.ANSWER_MASS: Limit(0.9, 0.5, below=True),
    Sign.METHOD_MASS: Limit(0.9, below=True),
    Sign.FLIPPED: Limit(0.3, 0.5),
    Sign.ONE_LABEL: Limit(0.9, 0.95),
    Sign.UNEXPLAINED: Limit(0.05),
    Sign.REPEATED: Limit(0.1),
    Sign.CUT: Limit(0.2),
    Sign.NAMELESS: Limit(0.25),
}
UNCERTAINTY = 0.008
"""The significance level: how probable it may be that chance alone exceeds a limit.

A run is looked at up to ten times until it ends, and chance makes a sign at any of these in at most 5 % of
runs that are just within a limit: simulated in `bench/coverage/health.py`.
"""


@dataclass(frozen=True)
class Mean:
    """The mean of values from 0 to 1; `worth`: of how many independent ones of 0 or 1 it is as sure."""

    value: float
    worth: float

    def is_significantly_beyond(self, limit: float, below: bool, uncertainty: float) -> bool:
        """Also where chance brought it nearer than it is, but for this probability."""
        low, high = clopper_pearson(self.value, self.worth, uncertainty)
        return high < limit if below else low > limit


def mean_of(values: Sequence[float]) -> Mean:
    return Mean(math.fsum(values) / len(values), worth_of(values))


def looked_for(
    sign: Sign,
    measured: Mapping[str, Mean],
    text: Callable[[Mapping[str, float]], str],
    hint: Hint,
    may_be_serious: bool = True,
) -> Iterator[Symptom]:
    """The sign of what is beyond its limit significantly, or else may be so by chance; `text`: says it."""
    limit = LIMITS[sign]
    look, below = limit.look, limit.below
    # The more is measured, the more is beyond a limit by chance (Bonferroni).
    uncertainty = UNCERTAINTY / max(len(measured), 1)
    known = measured.items()
    beyond = {name: mean for name, mean in known if mean.value != look and (mean.value < look) is below}
    sure = [name for name in beyond if beyond[name].is_significantly_beyond(look, below, uncertainty)]
    values = {name: beyond[name].value for name in sure or beyond}
    serious = False
    if sure and may_be_serious and (worse := limit.serious) is not None:
        # Most criteria must be that bad: one alone may be ill-suited to the data. Chance alone would have to
        # do it on most of them, so none of it is divided among them.
        bad = sum(mean.is_significantly_beyond(worse, below, UNCERTAINTY) for mean in measured.values())
        serious = 2 * bad > len(measured)
    if values:
        yield Symptom(sign, values, look, serious, text(values), hint, sure=bool(sure))


# Abbreviations and the numbers of a list have a full stop, and the sentence goes on.
_NO_END = (
    *("[a-z]", r"[A-Z]\.[A-Z]", r"\d", r"\d\d", r"e\.g", r"i\.e"),
    *("vs", "etc", "Dr", "Mr", "Mrs", "Ms", "St"),
)
_END = re.compile(
    "(?<=[.!?])" + "".join(rf"(?<!\b{word}\.)" for word in _NO_END) + r"[\"'”’)\]]*\s+|(?<=[。！？])|\n+"
)
_CLOSED = re.compile(r"[.!?。！？][\"'”’)\]]*\s*$")
_LEAST_WORDS = 3  # of a sentence that can be a repeated one


def repeats_a_sentence(text: str) -> bool:
    """True where a sentence of three words or more stands in a text twice, but for case and punctuation."""
    return _first_repeat([text[start:end] for start, end in _sentences(text)]) is not None


def complete_length(text: str, most_sentences: int, ended: bool = False) -> int | None:
    """Where a text that a model writes is to end, in characters: before a sentence that it has said already,
    and after `most_sentences`; None where it stays as it is. `ended`: whether the last sentence is whole.
    """
    found = _sentences(text)
    whole = found if ended else found[:-1]
    repeat = _first_repeat([text[start:end] for start, end in whole])
    if repeat is not None:
        return found[repeat - 1][1]
    return found[most_sentences - 1][1] if len(found) > most_sentences else None


def without_half_sentence(text: str) -> str:
    """A text that was cut, without what was begun of its last sentence, unless that is all of it."""
    found = _sentences(text)
    return text if len(found) == 1 or _CLOSED.search(text) else text[: found[-2][1]]


def _sentences(text: str) -> list[tuple[int, int]]:
    """Where each sentence begins and ends, in characters; the last one may go on."""
    found, start = [], 0
    for end in _END.finditer(text):
        if text[start : end.start()].strip():
            found.append((start, end.start()))
            start = end.end()
    return [*found, (start, len(text))] if text[start:].strip() or not found else found


def _first_repeat(sentences: Sequence[str]) -> int | None:
    known = set()
    for place, sentence in enumerate(sentences):
        words = tuple(re.findall(r"\w+", sentence.lower()))
        if len(words) >= _LEAST_WORDS and words in known:
            return place
        known.add(words)
    return None


LEAST_ITEMS = 10
MOST_ITEMS = 2000  # that are looked at: more say the same, and take seconds
# On truthfulness and safety annotators, too, give one label to nearly all items.
_LEAST_CRITERIA = 3  # of one label
_ALIKE = 0.5  # how alike labels of one item are taken to be; annotators', on four datasets: at most .47
_LARGER = Hint("Choose a larger model.")
_LARGER_OR_CALIBRATED = Hint("Choose a larger model, or calibrate this one on labelled items.")
_HELD_AGAINST_ANNOTATORS = Hint("Compare some of its labels with human ones.")


@dataclass(frozen=True)
class Answer:
    """What a judge gave for one item and criterion: its label, None for unscored, and its explanation.

    `method_masses`: the answer mass of each method, where the model was asked in several; `answer_mass` is
    then that of the method that it understood best. `seen`: the label that each order alone gives, as the
    model saw the responses and before a calibration; empty where that is not known. `unscored`: the model was
    asked, and its answer is no label; a submission that leaves a label out may never have asked for it.
    """

    label: HumanLabel | None
    text: str | None
    cut: bool = False
    answer_mass: float | None = None
    flipped: bool | None = None
    method_masses: Mapping[Method, float] = field(default_factory=dict)
    seen: tuple[Preference, ...] = ()
    unscored: bool = False


Answers = Mapping[str, Sequence[Answer]]  # by criterion, the items in one order


def run_health(results: RunResults) -> Health:
    if results.run.by_hand:
        return NO_JUDGE
    results = results.model_alone().answered
    places, columns = _spread(len(results.judged)), results.judgments.items()
    answers = {name: [_answer(column[place]) for place in places] for name, column in columns}
    found = answers_health(answers, results.explains, in_english(results.run.identity.asked))
    return _of_all(found, len(results.judged))


def submission_health(submission: Submission) -> Health:
    rows = [submission.rows[place] for place in _spread(len(submission.rows))]
    answers = {
        name: [Answer(row.predictions[name].preference, row.predictions[name].explanation) for row in rows]
        for name in submission.criteria
    }
    return _of_all(answers_health(answers, submission.with_explanations), len(submission.rows))


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
    def is_due(self) -> bool:
        """Whether it is time for a look: after LEAST_ITEMS, and whenever the items have doubled."""
        # A look at each item would find by chance what DOUBT allows at each.
        times, rest = divmod(self.items, LEAST_ITEMS)
        return rest == 0 and times.bit_count() == 1

    @property
    def health(self) -> Health:
        return _of_all(answers_health(self._answers, self._explains, self._in_english), self.items)


def in_english(rubric: Rubric) -> bool:
    """Whether a judge is asked in the usual words, so that its explanations are in English."""
    return not rubric.wording.own


def answers_health(answers: Answers, explains: bool, english: bool = True) -> Health:
    """What was found, the signs of labels first; only English explanations are searched for words."""
    by_item = list(zip(*answers.values(), strict=True))
    labelled = sum(any(answer.label for answer in given) for given in by_item)
    items = sum(any(answer.label or answer.unscored for answer in given) for given in by_item)
    if labelled < LEAST_ITEMS:
        # Of few items what is beyond the serious limit already; one label for most is no sign yet.
        found = chain(_unscored_sign(answers, 1), _mass_sign(answers, 1), _flipped_sign(answers, 1))
        plain = tuple(symptom for symptom in found if symptom.serious)
        unscored = any(symptom.sign is Sign.UNSCORED for symptom in plain)
        return Health(items, items >= LEAST_ITEMS and unscored, plain)
    signs = (_unscored_sign, _mass_sign, _method_sign, _flipped_sign, _one_label)
    symptoms = [symptom for sign in signs for symptom in sign(answers)]
    symptoms += _text_signs(answers, english) if explains else ()
    sure = tuple(symptom for symptom in symptoms if symptom.sure)
    unsure = tuple(symptom for symptom in symptoms if not symptom.sure)
    return Health(items, len(sure) > 0 or not unsure, sure, unsure)


def _of_all(found: Health, items: int) -> Health:
    """What was found, of so many items; of more than MOST_ITEMS only these were looked at."""
    return replace(found, whole=items) if items > MOST_ITEMS else found


def _spread(items: int) -> list[int]:
    """The places of at most MOST_ITEMS items, evenly spaced."""
    looked_at = min(items, MOST_ITEMS)
    # Evenly: files are often sorted, by subset or by system.
    return [number * items // looked_at for number in range(looked_at)]


def _answer(judgment: AnyJudgment) -> Answer:
    if isinstance(judgment, Unscored):
        return Answer(None, None, unscored=judgment.reason != NO_LABEL)
    if isinstance(judgment, SubmittedLabel):
        return Answer(judgment.preference, judgment.text)
    own, masses = judgment.explanation, _method_masses(judgment)
    return Answer(
        label=judgment.preference,
        text=own.text if own else None,
        cut=own is not None and own.cut,
        # A model that understands one method judges; not understanding another one is a separate sign.
        answer_mass=max(masses.values(), default=judgment.answer_mass),
        flipped=judgment.flipped,
        method_masses=masses,
        # The likeliest, the first of equal ones.
        seen=tuple(
            PREFERENCES[each.log_probs.index(max(each.log_probs))]
            for each in together(judgment.raw_predictions)
        ),
    )


def _method_masses(judgment: Judgment) -> dict[Method, float]:
    """The mean of each method over the orders; empty for a single method."""
    told = (reading for reading in judgment.raw_predictions if not reading.label_alone)
    found = grouped(told, key=attrgetter("method"))
    if len(found) < 2:
        return {}
    return {method: fmean(reading.answer_mass for reading in own) for method, own in found.items()}


# Labels


def _unscored_sign(answers: Answers, least: int = LEAST_ITEMS) -> Iterator[Symptom]:
    unscored = _means(
        answers,
        lambda answer: float(answer.unscored) if (answer.unscored or answer.label is not None) else None,
        least,
    )
    yield from looked_for(
        Sign.UNSCORED,
        unscored,
        lambda high: f"{_range(high)} of the judgments on {_names(high, unscored)} have no label.",
        Hint(
            "Read the reasons next to the items; if they are too long, use a larger ",
            *(Setting.CONTEXT, ", or ", Setting.SHORTEN, "."),
        ),
    )


def _mass_sign(answers: Answers, least: int = LEAST_ITEMS) -> Iterator[Symptom]:
    mass, limit = _means(answers, lambda answer: answer.answer_mass, least), LIMITS[Sign.ANSWER_MASS]
    yield from looked_for(
        Sign.ANSWER_MASS,
        mass,
        lambda low: (
            f"The answer mass on {_names(low, mass)} is {_range(low)} (expected: at least"
            f" {percent(limit.look)}): the model prefers to generate other text, so it did not understand"
            " the task."
        ),
        Hint("Choose an instruction-tuned model with its own chat template."),
    )


def _method_sign(answers: Answers) -> Iterator[Symptom]:
    """Elicitation methods, of several, that the model did not understand, as the mean over the criteria."""
    masses: dict[Method, list[float]] = {}
    for given in zip(*answers.values(), strict=True):
        for method in Method:
            of_item = [answer.method_masses[method] for answer in given if method in answer.method_masses]
            if of_item:
                masses.setdefault(method, []).append(fmean(of_item))
    yield from looked_for(
        Sign.METHOD_MASS,
        {method.value: mean_of(own) for method, own in masses.items()},
        lambda low: (
            "The answer mass of these elicitation methods is low:"
            f" {listed([f'{method} ({percent(mean)})' for method, mean in low.items()], shown=str)};"
            f" expected: at least {percent(LIMITS[Sign.METHOD_MASS].look)}. Their labels mean little."
        ),
        Hint("Omit them from the ", Setting.METHODS, "."),
    )


def _flipped_sign(answers: Answers, least: int = LEAST_ITEMS) -> Iterator[Symptom]:
    """The share of flipped labels; where some were read in one order only, what it is at least."""
    known = [[answer.flipped is not None for answer in column if answer.label] for column in answers.values()]
    read, labels = sum(map(sum, known)), sum(map(len, known))
    partly = 0 < read < labels

    def measure(answer: Answer) -> float | None:
        # Of those that are not known none counts as flipped: the mean is what the share is at least.
        return answer.flipped if not partly else None if answer.label is None else answer.flipped is True

    flipped = _means(answers, measure, least)

    def said(high: Mapping[str, float]) -> str:
        some = f"; {read:,} of {labels:,} labels were read in both orders" if partly else ""
        return (
            f"{'At least ' if partly else ''}{_range(high)} of the labels on {_names(high, flipped)} are"
            f" position-inconsistent (expected: at most {percent(LIMITS[Sign.FLIPPED].look)}{some}): they"
            " change if the responses are swapped, so the order decides, not the text."
        )

    yield from looked_for(Sign.FLIPPED, flipped, said, _LARGER)


def _one_label(answers: Answers) -> Iterator[Symptom]:
    """One label for nearly everything, as the model saw it: by place, that is another one in each order."""
    given = [answer for column in answers.values() for answer in column if answer.label]
    seen = [answer.seen or (answer.label,) for answer in given]
    if not seen:
        return
    shares = {label: fmean(own.count(label) / len(own) for own in seen) for label in HUMAN_LABELS}
    label = max(HUMAN_LABELS, key=shares.__getitem__)
    by_place = label.swapped is not label
    # Of one order, or of labels alone, it is not known whether it is the place or the text.
    known = not by_place or all(len(own) > 1 for own in seen)
    enough = len(answers) >= _LEAST_CRITERIA

    def said(high: Mapping[str, float]) -> str:
        share = percent(high[label.value])
        if by_place and known:
            place = "first" if label is Preference.A else "second"
            return f"{share} of all answers prefer the response shown {place}, whichever it is."
        of_all = f"{share} of all labels are “{words(label)}”, whatever the item and the criterion."
        if not enough:
            return (
                f"{of_all} Annotators also give one label to nearly all items on some criteria, for"
                " example on safety."
            )
        return of_all if known else f"{of_all} Both orders would show whether this is position bias."

    yield from looked_for(
        Sign.ONE_LABEL,
        {label.value: Mean(shares[label], len(seen) / (1 + _ALIKE * (len(answers) - 1)))},
        said,
        _LARGER_OR_CALIBRATED if known and enough else _HELD_AGAINST_ANNOTATORS,
        may_be_serious=known and enough,
    )


def _means(
    answers: Answers, measure: Callable[[Answer], float | None], least: int = LEAST_ITEMS
) -> dict[str, Mean]:
    """The mean of a measure by criterion, over the answers that have it; without criteria with too few."""
    known = {
        name: [value for answer in column if (value := measure(answer)) is not None]
        for name, column in answers.items()
    }
    return {name: mean_of(values) for name, values in known.items() if len(values) >= least}


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


_NOT_UNREAD = Hint("Read some of the explanations before you use them.")


@dataclass(frozen=True)
class _TextSign:
    """`found`: whether an answer has it, `wordless` ones too; `of_words`: it looks for English words."""

    sign: Sign
    found: Callable[[Answer], bool]
    sentence: str
    hint: Hint
    wordless: bool = False
    of_words: bool = False


_TEXT_SIGNS = (
    _TextSign(
        Sign.UNEXPLAINED,
        lambda answer: not answer.text,
        "{} of the labels on {} have no explanation: the model generated no text.",
        Hint("Judge labels only, or choose a larger model."),
        wordless=True,
    ),
    _TextSign(
        Sign.REPEATED,
        lambda answer: repeats_a_sentence(answer.text or ""),
        "{} of the explanations on {} repeat a sentence: the model looped.",
        _NOT_UNREAD,
    ),
    _TextSign(
        Sign.CUT,
        lambda answer: answer.cut,
        "{} of the explanations on {} were cut at the length limit.",
        Hint("Allow longer explanations (", Setting.EXPLANATION_TOKENS, ")."),
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
        shares = _means(asked, wanted.found)
        said = partial(_in_words, wanted.sentence, shares)
        yield from looked_for(wanted.sign, shares, said, wanted.hint)


def _in_words(sentence: str, measured: Mapping[str, object], high: Mapping[str, float]) -> str:
    """A sentence with the shares and the criteria: `43.0 %`, `28.8 % to 42.8 %`; `safety and relevance`."""
    return sentence.format(_range(high), _names(high, measured))


def _range(values: Mapping[str, float]) -> str:
    low, high = min(values.values()), max(values.values())
    return percent(low) if percent(low) == percent(high) else f"{percent(low)} to {percent(high)}"


def _names(some: Mapping[str, object], measured: Mapping[str, object]) -> str:
    if len(some) == len(measured) > 1:
        return "all criteria"
    *others, last = map(words, some)
    return f"{', '.join(others)} and {last}" if others else last


_MOST_ITEMS = 500  # of a run: more say the same


@dataclass(frozen=True)
class RunMass:
    """The mean answer mass (0 to 1) of a run over its criteria, and of how many items; of several methods
    that of the first: how a model answers one says nothing of another.
    """

    run_id: int
    mass: float
    items: int


def newest_masses(store_path: Path, hashes: Container[str]) -> Mapping[str, RunMass]:
    """By the hash of a model's file: what its newest run that judged something gave; StoreError."""
    found: dict[str, RunMass] = {}
    if not has_store(store_path):
        return found
    with RunStore(store_path) as store, store.reading():
        for run in reversed(store.runs()):
            model = run.identity.model_hash
            counts = run.judged and run.by_a_model and not run.is_tuning  # of settings that were given up
            if counts and model in hashes and model not in found:
                judged = tuple(islice(store.judged(run.id), _MOST_ITEMS))
                first = run.identity.judge_settings.methods[0]
                alone = [item.of_method(first) for item in judged]
                decided = [one for name in run.identity.criteria for one in decide_all(alone, name, None)]
                scored = [one.answer_mass for one in decided if isinstance(one, Judgment)]
                masses = [mass for mass in scored if mass is not None]
                if masses:
                    found[model] = RunMass(run.id, fmean(masses), len(judged))
    return found
