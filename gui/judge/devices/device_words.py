"""What came of trying the devices of this computer, in words and figures.

Knows: trials, which device Automatic takes. Does not know: widgets, how devices are tried.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.core.formatting import visible, without_middle
from engine.core.settings import Device
from gui.judge.model_table import rate
from gui.kit.foreign_text import one_line

if TYPE_CHECKING:
    from engine.llama.device_trial import DeviceFinding, DeviceTrial
    from engine.llama.speed import ModelSpeed

_LONGEST_NAME = 80  # characters

NOT_TRIED = (
    "No GPU was tried with this model: the processor computes. Trying lets each GPU read what the processor"
    " reads, and says whether they agree and which is faster. Until then no driver of a GPU is loaded."
)
NONE_FOUND = (
    "No GPU was found that Tiebreak can use here: the processor does all the work. If the computer has one,"
    " its driver is missing, or this Tiebreak was built without a way to it; the bundles for Linux and"
    " Windows have one."
)
CHOOSE_OTHERWISE = "The chosen one is not there: choose Automatic or the processor."


def device_name(device: Device) -> str:
    """What a device is called, as one line that is not too long."""
    return one_line(without_middle(device.title, _LONGEST_NAME))


def outcome(trial: "DeviceTrial", model: str, found: Sequence[Device] | None) -> str:
    """What a trial found with a model, and what Automatic takes; `found`: the devices there are now, None
    where nobody has looked for them since the start.
    """
    lines = [
        f"Tried with {one_line(without_middle(model, _LONGEST_NAME))}; speeds are tokens a second.",
        f"• The processor {_speeds(trial.processor)}.",
        *(f"• {_finding(finding, found)}" for finding in trial.findings),
        _taken(trial, found),
    ]
    return "\n".join(lines)


def distances(trial: "DeviceTrial") -> str:
    """How far the devices are from the processor, for a tool tip."""
    lines = [
        f"{device_name(each.device)}: {each.mean:.4f} on average, {each.worst:.4f} at most"
        for each in trial.findings
        if each.speed is not None
    ]
    if not lines:
        return ""
    first = "How far the probabilities of the next token are from the processor's (0 to 1, at 21 places):"
    return "\n".join((first, *lines))


def _finding(finding: "DeviceFinding", found: Sequence[Device] | None) -> str:
    name = device_name(finding.device)
    speeds = f"{_speeds(finding.speed)}" if finding.speed else ""
    gone = "" if is_there(finding.device, found) else " Now it is not found, or has another driver."
    if finding.sound:
        return f"{name} computes what the processor computes, and {speeds}.{gone}"
    reason = visible(finding.reason) or "it computes something else than the processor"
    return f"{name} cannot be used: {reason}{f' (it {speeds})' if speeds else ''}.{gone}"


def _taken(trial: "DeviceTrial", found: Sequence[Device] | None) -> str:
    best = trial.best
    if best is not None and is_there(best, found):
        return f"Automatic takes {device_name(best)}: it is the fastest."
    if best is not None:
        return "Automatic takes the processor until it is tried again."
    sound = any(finding.sound for finding in trial.findings)
    return f"Automatic takes the processor: {'it is the fastest' if sound else 'no GPU can be used'}."


def _speeds(speed: "ModelSpeed") -> str:
    return f"reads {rate(speed.reading)} and writes {rate(speed.writing_ten)}"


def is_there(device: Device, found: Sequence[Device] | None) -> bool:
    """Whether a device of a trial is among those found, with its driver; taken for granted where none were
    looked for.
    """
    return found is None or any(map(device.is_still, found))
