"""How far the group of items is that is judged now: events, a few in a second.

How fast a model reads and writes, by what it has done so far; what that makes of the work that is left.

Tokens are read many at once and written one after the other, so a written one takes several times as
long; how many depends on model and computer. Both are measured.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.events import GroupUnderWay, TokensEvaluated
from engine.core.items import Item
from engine.core.numeric import FloatArray
from engine.llama.session import LlamaSession

_LEAST_ITEMS = 4  # what fewer tell of the rest was up to 42 % off
_DEFAULT_LENGTH = 0.5  # of the longest explanation, before one is written


@dataclass
class TimeEstimate:
    """What was done since a session was opened, with the seconds that it took.

    `items`, `letters`, `tokens_of_items`: what the prompts of items came to that fit the context.
    `first_orders`: items of which one order could do; `second_orders`: those of them read in both.
    """

    tokens_read: int = 0
    seconds_reading: float = 0.0
    tokens_written: int = 0
    seconds_writing: float = 0.0
    texts: int = 0
    items: int = 0
    letters: int = 0
    tokens_of_items: int = 0
    first_orders: int = 0
    second_orders: int = 0

    def read(self, tokens: int, seconds: float) -> None:
        """Take in a prompt that was read."""
        self.tokens_read += tokens
        self.seconds_reading += seconds

    def wrote(self, tokens: int, texts: int, seconds: float) -> None:
        """Take in texts that were written together; what was read to begin them is part of it."""
        self.tokens_written += tokens
        self.texts += texts
        self.seconds_writing += seconds

    def sized(self, item: Item, tokens: int) -> None:
        """Take in what there is to read for an item."""
        self.items += 1
        self.letters += item.letters
        self.tokens_of_items += tokens

    def decided(self, second: int | None) -> None:
        """Take in whether one order was enough; else how many tokens there are to read in the other."""
        self.first_orders += 1
        if second is not None:
            self.second_orders += 1
            self.tokens_of_items += second

    @property
    def share_of_second_orders(self) -> float:
        """The share (0 to 1) of items read in both orders; 1 as long as nothing is known."""
        return self.second_orders / self.first_orders if self.first_orders else 1.0

    @property
    def seconds_per_token_read(self) -> float | None:
        """None where nothing was read yet."""
        return self.seconds_reading / self.tokens_read if self.tokens_read else None

    @property
    def seconds_per_text(self) -> float | None:
        """None where nothing was written yet."""
        return self.seconds_writing / self.texts if self.texts else None

    def tokens_per_text(self, longest: int) -> float:
        """How long an explanation will be that may have `longest` tokens."""
        return self.tokens_written / self.texts if self.texts else _DEFAULT_LENGTH * longest


class Remaining:
    """How long the items of a run take that come after a group, in proportion to their letters."""

    def __init__(self, letters_of_items: FloatArray, groups: Sequence[int], fixed: int, texts: int) -> None:
        """`letters_of_items`: shape (items,), those that are left, in the order of the run. `groups`: how
        many of them each group has. `fixed`: tokens that are read for an item without a letter. `texts`:
        explanations of each item.
        """
        self._ends = np.cumsum(groups)
        self._letters = np.concatenate([[0.0], np.cumsum(letters_of_items)])
        self._fixed = fixed
        self._texts = texts

    def after(self, group: int, time_estimate: TimeEstimate) -> float | None:
        """Seconds for all that comes after a group, None as long as something about it is not known."""
        end = int(self._ends[group])
        items, left = len(self._letters) - 1 - end, float(self._letters[-1] - self._letters[end])
        if not items:
            return 0.0
        reading, writing = time_estimate.seconds_per_token_read, time_estimate.seconds_per_text
        if reading is None or time_estimate.items < _LEAST_ITEMS or (self._texts and writing is None):
            return None
        # What every item takes is known; only what its texts add goes with their length.
        own = max(0.0, time_estimate.tokens_of_items - self._fixed * time_estimate.items)
        tokens = self._fixed * items + own * left / max(time_estimate.letters, 1)
        return tokens * reading + items * self._texts * (writing or 0.0)


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
