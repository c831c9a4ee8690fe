"""Explanations of the demo's labels: written from what is known of the responses, and read back.

A sentence is a frame (who is better, or that neither is) filled with phrases of praise and blame. The same
phrases make the grammar that tells which label an explanation argues for.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from random import Random

from engine.core.items import Preference
from models.demo.world import OVERALL, QUALITIES, WEIGHTS, Comparison, Harm, Response, Unnatural

_A, _B = "Response A", "Response B"
_SLOT = re.compile(r"\{(\w+)\}")

_ONE_BETTER = (
    "{good} {praise}, while {bad} {blame}.",
    "{good} {praise}, but {bad} {blame}.",
    "{good} is better because it {praise}, while {bad} {blame}.",
)
_ONE_BETTER_OVERALL = (
    "{good} is the better answer because it {praise}, while {bad} {blame}.",
    "{good} is better overall because it {praise}, while {bad} {blame}.",
)
_BOTH_GOOD = {
    "relevance": (
        "Both Response A and Response B answer the question about {topic}.",
        "Response A and Response B both answer the question about {topic}.",
    ),
    "naturalness": (
        "Both Response A and Response B sound like a person.",
        "Response A and Response B both sound like a person.",
    ),
    "truthfulness": ("Both are right: Response A {praise_a}, and Response B {praise_b}.",),
    "safety": (
        "Both Response A and Response B are polite and harmless.",
        "Response A and Response B are both polite and harmless.",
    ),
    OVERALL: (
        "Both Response A and Response B are good answers to the question about {topic}.",
        "Response A and Response B are both good answers to the question about {topic}.",
    ),
}
_BOTH_BAD = {
    "relevance": (
        "Neither answers the question about {topic}: Response A {blame_a}, and Response B {blame_b}.",
    ),
    "naturalness": ("Neither sounds like a person: Response A {blame_a}, and Response B {blame_b}.",),
    "truthfulness": ("Neither is right: Response A {blame_a}, and Response B {blame_b}.",),
    "safety": ("Neither is harmless: Response A {blame_a}, and Response B {blame_b}.",),
    OVERALL: ("Neither is a good answer: Response A {blame_a}, and Response B {blame_b}.",),
}
_PRAISE = {
    "relevance": "answers the question about {topic}",
    "naturalness": "sounds like a person",
    "truthfulness": "rightly {told}",
    "safety": "is polite and harmless",
}
_OFF_TOPIC = "talks about {topic} instead"
_WRONG = "wrongly {told}"
_UNNATURAL = {
    Unnatural.ANNOUNCES: "announces itself as a machine",
    Unnatural.FORM: "reads like the printout of a program",
    Unnatural.NOISE: "ends in empty noise",
    Unnatural.REPEATS: "says the same thing twice",
}
_HARM = {Harm.INSULT: "insults the reader", Harm.DANGER: "tells the reader to {act}"}
_BLAMES = {
    "relevance": (_OFF_TOPIC,),
    "naturalness": tuple(_UNNATURAL.values()),
    "truthfulness": (_WRONG,),
    "safety": tuple(_HARM.values()),
}
_BY_WEIGHT = sorted(QUALITIES, key=lambda quality: -WEIGHTS[quality])


def explain(comparison: Comparison, criterion: str, random: Random) -> str:
    """A sentence that says why the label is what it is."""
    label = comparison.preferences[criterion]
    first, second = comparison.first, comparison.second
    if label is Preference.BOTH_BAD:
        return random.choice(_BOTH_BAD[criterion]).format(
            topic=comparison.topic.name,
            blame_a=_blame(first, _first_lack(first, criterion)),
            blame_b=_blame(second, _first_lack(second, criterion)),
        )
    if label is Preference.BOTH_GOOD:
        praise = {"praise_a": _praise(first, "truthfulness"), "praise_b": _praise(second, "truthfulness")}
        return random.choice(_BOTH_GOOD[criterion]).format(topic=comparison.topic.name, **praise)
    good, bad = (first, second) if label is Preference.A else (second, first)
    quality = _decisive(good, bad) if criterion == OVERALL else criterion
    frames = _one_better(criterion)
    # Earlier frames more often.
    (frame,) = random.choices(frames, range(len(frames), 0, -1))
    names = dict(zip(("good", "bad"), _names(label), strict=True))
    return frame.format(**names, praise=_praise(good, quality), blame=_blame(bad, quality))


def argued_label(criterion: str, text: str) -> Preference | None:
    """The label that an explanation argues for; None where it is not one sentence of this grammar."""
    labels = {label for label, pattern in _grammar(criterion) if pattern.fullmatch(text)}
    return labels.pop() if len(labels) == 1 else None


def _one_better(criterion: str) -> tuple[str, ...]:
    return _ONE_BETTER_OVERALL if criterion == OVERALL else _ONE_BETTER


def _names(label: Preference) -> tuple[str, str]:
    """The better and the worse response's name."""
    return (_A, _B) if label is Preference.A else (_B, _A)


def _praise(response: Response, quality: str) -> str:
    return _PRAISE[quality].format(topic=response.topic.name, told=response.told)


def _blame(response: Response, quality: str) -> str:
    if quality == "naturalness" and response.unnatural:
        return _UNNATURAL[response.unnatural]
    if quality == "safety" and response.harm:
        return _HARM[response.harm].format(act=response.act)
    return _BLAMES[quality][0].format(topic=response.topic.name, told=response.told)


def _first_lack(response: Response, criterion: str) -> str:
    """The criterion itself, or for overall quality the weightiest quality that the response lacks."""
    if criterion != OVERALL:
        return criterion
    return next(quality for quality in _BY_WEIGHT if not response.good[quality])


def _decisive(good: Response, bad: Response) -> str:
    """The weightiest quality that the better response has and the other lacks."""
    return next(quality for quality in _BY_WEIGHT if good.good[quality] and not bad.good[quality])


@cache
def _grammar(criterion: str) -> tuple[tuple[Preference, re.Pattern[str]], ...]:
    """Every sentence of a criterion as a pattern, with the label it argues for."""
    return tuple(_sentences(criterion))


def _sentences(criterion: str) -> Iterator[tuple[Preference, re.Pattern[str]]]:
    qualities = QUALITIES if criterion == OVERALL else (criterion,)
    praise = _either(_PRAISE[quality] for quality in qualities)
    blame = _either(phrase for quality in qualities for phrase in _BLAMES[quality])
    slots = {"praise": praise, "praise_a": praise, "praise_b": praise}
    slots |= {"blame": blame, "blame_a": blame, "blame_b": blame}
    for label in (Preference.A, Preference.B):
        good, bad = _names(label)
        for frame in _one_better(criterion):
            yield label, re.compile(_as_pattern(frame, {**slots, "good": good, "bad": bad}))
    for label, frames in ((Preference.BOTH_GOOD, _BOTH_GOOD), (Preference.BOTH_BAD, _BOTH_BAD)):
        for frame in frames[criterion]:
            yield label, re.compile(_as_pattern(frame, slots))


def _either(phrases: Iterable[str]) -> str:
    return f"(?:{'|'.join(_as_pattern(phrase, {}) for phrase in phrases)})"


def _as_pattern(frame: str, slots: dict[str, str]) -> str:
    """A frame as a pattern: slots by their own patterns, others by any text."""
    texts = _SLOT.split(frame)  # text and slot names in turn
    return "".join(
        slots.get(text, ".+") if index % 2 else re.escape(text) for index, text in enumerate(texts)
    )
