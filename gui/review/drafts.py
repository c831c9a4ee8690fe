"""Explanations that a person began to write and did not save, kept from loss.

Knows: texts by judgment, how they are remembered. Does not know: who writes, where.
"""

import json

from gui.work.state import State

DRAFTS = "review/drafts"  # their name in the state


class Drafts:
    """Drafts by run, criterion and item id."""

    def __init__(self, state: State) -> None:
        self._state = state
        texts = state.record(DRAFTS)
        self._texts = {key: text for key, text in texts.items() if isinstance(text, str)}

    def of(self, run_id: int, criterion: str, item_id: str) -> str | None:
        """A draft, None where there is none."""
        return self._texts.get(_key(run_id, criterion, item_id))

    def keep(self, run_id: int, criterion: str, item_id: str, text: str) -> None:
        """Keep a draft in the place of the one before."""
        self._texts[_key(run_id, criterion, item_id)] = text
        self._state.set_record(DRAFTS, self._texts)

    def drop(self, run_id: int, criterion: str, item_id: str) -> None:
        """Forget a draft, if there is one."""
        if self._texts.pop(_key(run_id, criterion, item_id), None) is not None:
            self._state.set_record(DRAFTS, self._texts)


def _key(run_id: int, criterion: str, item_id: str) -> str:
    return json.dumps([run_id, criterion, item_id])
