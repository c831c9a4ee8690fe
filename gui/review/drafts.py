"""Explanations that a person began to write and did not save, kept from loss.

Knows: texts by judgment, how they are remembered. Does not know: who writes, where.
"""

import json
from collections.abc import Sequence

from PySide6.QtCore import SignalInstance

from engine.core.judgments import JudgmentKey
from gui.work.state import State

DRAFTS = "review/drafts"  # their name in the state


class Drafts:
    """Drafts by run and judgment; `deleted`: gives the numbers of runs that are gone."""

    def __init__(self, state: State, deleted: SignalInstance) -> None:
        self._state = state
        deleted.connect(self._forget_runs)
        texts = state.record(DRAFTS)
        self._texts = {key: text for key, text in texts.items() if isinstance(text, str)}

    def of(self, run_id: int, key: JudgmentKey) -> str | None:
        """A draft, None where there is none."""
        return self._texts.get(_name(run_id, key))

    def keep(self, run_id: int, key: JudgmentKey, text: str) -> None:
        """Keep a draft in the place of the one before."""
        self._texts[_name(run_id, key)] = text
        self._state.set_record(DRAFTS, self._texts)

    def drop(self, run_id: int, key: JudgmentKey) -> None:
        """Forget a draft, if there is one."""
        if self._texts.pop(_name(run_id, key), None) is not None:
            self._state.set_record(DRAFTS, self._texts)

    def _forget_runs(self, run_ids: Sequence[int]) -> None:
        """Forget all drafts of runs that were deleted."""
        beginnings = tuple(f"[{run_id}," for run_id in run_ids)
        left = {key: text for key, text in self._texts.items() if not key.startswith(beginnings)}
        if len(left) < len(self._texts):
            self._texts = left
            self._state.set_record(DRAFTS, self._texts)


def _name(run_id: int, key: JudgmentKey) -> str:
    return json.dumps([run_id, key.criterion, key.item_id])
