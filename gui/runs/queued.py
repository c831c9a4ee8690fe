"""A run that waits in the queue, is under way there or has ended there; how it is kept and worded.

Knows: setups of runs, plain values. Does not know: when runs begin, widgets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from engine.core.formatting import counted, duration, short_name
from engine.core.judgments import is_seconds
from engine.core.rubric import ELOQUENT
from engine.core.run_setup import RunSetup, orders_in_words
from engine.core.settings import CPU, DEFAULT_METHODS, ExampleKind, Mode, methods_in_words


class QueueState(StrEnum):
    """How far a run of the queue is; the value: for display."""

    WAITING = "waits"
    UNDER_WAY = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self in (QueueState.DONE, QueueState.FAILED, QueueState.SKIPPED)


@dataclass(frozen=True)
class Queued:
    """`setup`: the run as it was asked for. `run_id`: the one of the store that it is or goes on with, None
    before it began. `said`: how it ended, or how far it came. `seconds`: how long it took in the queue, all
    its beginnings together. `name`, `note`: of the user; it gets them when it begins.
    """

    setup: RunSetup
    state: QueueState = QueueState.WAITING
    run_id: int | None = None
    said: str = ""
    seconds: float = 0.0
    name: str = ""
    note: str = ""

    @property
    def next_setup(self) -> RunSetup:
        """What is to be started: the run that it began goes on, and is called as it is by now."""
        if self.run_id is not None:
            return replace(self.setup, fresh=False, resumes=self.run_id)
        return replace(self.setup, name=self.name or None, note=self.note or None)

    @property
    def resumable(self) -> bool:
        """Whether it was begun and is not done: it can go on where it stopped."""
        return self.run_id is not None and self.state in _STOPPED

    def is_in(self, other: "Queued") -> bool:
        """Whether another one judges it anyway: the same run, or where it names none, one of its setup."""
        return self.setup == other.setup if self.run_id is None else self.run_id == other.run_id

    @property
    def what(self) -> str:
        """The dataset and how much of it."""
        first = "" if self.setup.items is None else f"first {self.setup.items:,} of "
        return f"{first}{self.setup.dataset_in_words}"

    @property
    def title(self) -> str:
        """The same, with its name before it where it has one; long names without middle."""
        what = short_name(self.what)
        return f"“{short_name(self.name)}” {what}" if self.name else what

    @property
    def how(self) -> str:
        """The settings that most runs differ in."""
        setup = self.setup
        parts = [
            "labels" if setup.mode is Mode.LABELS else "explanations",
            orders_in_words(setup.both_orders, setup.second_order_below),
            _asked(setup),
        ]
        if setup.methods != DEFAULT_METHODS:
            parts.append(f"method: {methods_in_words(setup.methods, setup.reasoning_samples)}")
        if setup.context is not None:
            parts.append(f"context {setup.context:,}")
        if setup.examples_path is not None:
            near = ", the nearest" if setup.example_choice is ExampleKind.NEAR else ""
            parts.append(f"{counted(setup.shots, 'example', 'examples')}{near}")
        if setup.calibration_path is not None:
            parts.append("calibrated")
        if setup.device is not None:
            parts.append("processor only" if setup.device == CPU else f"on {short_name(setup.device)}")
        if setup.temperature:
            parts.append(f"temperature {setup.temperature:g}")
        return ", ".join(parts)

    @property
    def outcome(self) -> str:
        """Its state, and what is to be said of it."""
        return ": ".join(self.outcome_lines)

    @property
    def outcome_lines(self) -> tuple[str, ...]:
        """The same: what it is, and what is to be said of it, where that is known."""
        run = f", run {self.run_id}" if self.run_id is not None else ""
        took = duration(self.seconds) if self.seconds and self.state.ended else ""
        said = ", ".join(part for part in (self.said, took) if part)
        return (f"{self.state}{run}", said) if said else (f"{self.state}{run}",)

    @property
    def in_words(self) -> str:
        """All of it in a line, with long names short."""
        return f"{self.title}, {short_name(self.setup.model_path.name)}, {self.how}: {self.outcome}"

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "setup": replace(self.setup, name=self.name or None, note=self.note or None).as_json(),
            "state": self.state.name,
            "run": self.run_id,
            "said": self.said,
            "seconds": self.seconds,
        }

    @classmethod
    def of_json(cls, values: object, default: RunSetup) -> "Queued | None":
        """What was kept; None where it is damaged. What was under way then waits again."""
        if not isinstance(values, Mapping) or not isinstance(values.get("setup"), Mapping):
            return None
        setup = RunSetup.of_json(values["setup"], default)
        state = next((one for one in QueueState if one.name == values.get("state")), QueueState.WAITING)
        run, said, seconds = values.get("run"), values.get("said"), values.get("seconds")
        if state is QueueState.UNDER_WAY:
            state, said = QueueState.WAITING, "interrupted; will be resumed"
        return cls(
            replace(setup, name=None, note=None),
            state,
            run if type(run) is int and run > 0 else None,
            said if isinstance(said, str) else "",
            float(seconds) if is_seconds(seconds) else 0.0,
            setup.name or "",
            setup.note or "",
        )


_STOPPED = (QueueState.WAITING, QueueState.FAILED, QueueState.SKIPPED)


def _asked(setup: RunSetup) -> str:
    """How many criteria, and of which rubric where that is not the task's: `3 criteria of manners`."""
    count = counted(len(setup.criteria), "criterion", "criteria")
    return count if setup.rubric == ELOQUENT else f"{count} of {short_name(setup.rubric.name)}"
