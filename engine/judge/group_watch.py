"""How far the group of items is that is judged now: events, a few in a second.

Knows: the clock, a session's count of tokens, the pace so far. Does not know: prompts, what is decided.
"""

import time
from collections.abc import Iterator

from engine.core.events import GroupUnderWay, TokensEvaluated
from engine.judge.pace import TimeEstimate
from engine.llama.session import LlamaSession

_SECONDS_BETWEEN = 0.15
_LEAST_SHARE = 0.05  # of the explanations is left until their end is reported


class GroupWatch:
    """Tells of one group after the other, as a session goes through them."""

    def __init__(self, session: LlamaSession, time_estimate: TimeEstimate, longest_text: int) -> None:
        """`longest_text`: tokens that an explanation or reasoning sample may have."""
        self._session = session
        self._time_estimate = time_estimate
        self._longest = longest_text
        self._reported = session.tokens_read + session.tokens_generated
        self._told = float("-inf")
        self._first = self._last = self._to_read = self._texts = 0
        self._began = 0.0
        self._read_before = 0

    def begin(self, first: int, last: int, to_read: int, texts: int) -> None:
        """A group begins: its first and last place in the dataset, tokens to read, texts to write."""
        self._first, self._last, self._to_read, self._texts = first, last, to_read, texts
        self._began = time.perf_counter()
        self._read_before = self._session.tokens_read

    def thought(self, texts: int) -> None:
        """So many of the group's texts are written, between what is read."""
        self._texts -= texts

    def expect(self, tokens: int) -> None:
        """There are this many more tokens to read in the group than expected, or fewer."""
        self._to_read += tokens

    def reading(self, position: int, item_id: str, read_before: int, tokens: int) -> Iterator[GroupUnderWay]:
        """Tell of an item of which `tokens` are to be read, since the session had read `read_before`."""
        if self._is_time():
            done = self._session.tokens_read - read_before
            left = self._left_from_reading()
            yield self._far(position, item_id, writing=False, done=min(done, tokens), total=tokens, left=left)

    def writing(
        self, position: int, item_id: str, written_before: int, began: float
    ) -> Iterator[GroupUnderWay]:
        """Tell of explanations that are written together since `began`, when this many tokens were
        written.
        """
        if self._is_time():
            done = self._session.tokens_generated - written_before
            tokens = max(done, round(self._texts * self._time_estimate.tokens_per_text(self._longest)))
            left = None
            if done:
                seconds = (time.perf_counter() - began) / done
                left = seconds * max(tokens - done, _LEAST_SHARE * tokens)
            yield self._far(position, item_id, writing=True, done=done, total=tokens, left=left)

    def tokens(self) -> Iterator[TokensEvaluated]:
        """All tokens since this was asked last, if there are any."""
        now = self._session.tokens_read + self._session.tokens_generated
        tokens, self._reported = now - self._reported, now
        if tokens:
            yield TokensEvaluated(tokens)

    def _is_time(self) -> bool:
        now = time.perf_counter()
        if now - self._told < _SECONDS_BETWEEN:
            return False
        self._told = now
        return True

    def _far(
        self, position: int, item_id: str, *, writing: bool, done: int, total: int, left: float | None
    ) -> GroupUnderWay:
        place, seconds = (self._first, self._last, position), time.perf_counter() - self._began
        return GroupUnderWay(*place, item_id, writing, done, total, seconds, left)

    def _left_from_reading(self) -> float | None:
        """Seconds until the group is judged, while it is read; None before that can be known."""
        read = self._session.tokens_read - self._read_before
        seconds = time.perf_counter() - self._began
        text = self._time_estimate.seconds_per_text
        if not read or (self._texts and text is None):
            return None
        time_estimate = self._time_estimate.seconds_per_token_read or seconds / read
        return time_estimate * max(0, self._to_read - read) + self._texts * (text or 0.0)
