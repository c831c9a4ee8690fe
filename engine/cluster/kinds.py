"""Which kind of computer judged which items of a run, as its manifest keeps it: compact.

Knows: the record in the manifest. Does not know: stores, workers.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engine.core.run_records import PLACES


class KindRecord:
    """The kinds of computers that judged a run, each with the places of its items, from 0."""

    def __init__(self, kept: Sequence[Mapping[str, Any]] = ()) -> None:
        """`kept`: what `as_json` gave; a record that cannot be read is begun anew."""
        self._kinds: list[dict[str, str]] = []
        self._spans: list[list[range]] = []
        for each in kept:
            self._kinds.append({name: str(fact) for name, fact in each.items() if name != PLACES})
            self._spans.append(_spans_of(str(each.get(PLACES, ""))))

    @property
    def kinds(self) -> list[dict[str, str]]:
        """What is known of each kind."""
        return list(self._kinds)

    def add(self, kind: Mapping[str, str], positions: Iterable[int]) -> None:
        """These items were judged by a computer of this kind; what was said of them before is forgotten."""
        own = dict(kind)
        if own not in self._kinds:
            self._kinds.append(own)
            self._spans.append([])
        place, new = self._kinds.index(own), sorted(positions)
        for other, spans in enumerate(self._spans):
            if other != place and any(position in span for span in spans for position in new):
                self._spans[other] = _joined(_without(spans, new))
        self._spans[place] = _joined([*self._spans[place], *(range(each, each + 1) for each in new)])

    def as_json(self) -> list[dict[str, str]]:
        """The record as plain values: `{"llama_cpp": …, "processor": …, "judged": "0-15,32-47"}`."""
        return [
            {**kind, PLACES: ",".join(map(_text, spans))}
            for kind, spans in zip(self._kinds, self._spans, strict=True)
        ]


def _text(span: range) -> str:
    return str(span.start) if len(span) == 1 else f"{span.start}-{span.stop - 1}"


def _spans_of(text: str) -> list[range]:
    spans = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            spans.append(range(int(first), int(last or first) + 1))
    return _joined(spans)


def _without(spans: Sequence[range], positions: Iterable[int]) -> list[range]:
    gone = set(positions)
    left: list[range] = []
    for span in spans:
        if gone.isdisjoint(span):
            left.append(span)
        else:
            left += [range(each, each + 1) for each in span if each not in gone]
    return left


def _joined(spans: Iterable[range]) -> list[range]:
    """The same places in as few spans as can be, in order."""
    joined: list[range] = []
    for span in sorted(spans, key=lambda each: each.start):
        if joined and span.start <= joined[-1].stop:
            joined[-1] = range(joined[-1].start, max(span.stop, joined[-1].stop))
        else:
            joined.append(span)
    return joined
