"""Whether a device computes what the processor computes, and how fast: the same text read by both.

Knows: what is read for it, when two results are the same. Does not know: files, processes, memory of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from engine.core.log_probs import ROUNDING_AT_WORST, ROUNDING_ON_AVERAGE, FloatArray
from engine.core.settings import Device
from engine.llama.context import BATCH
from engine.llama.session import LlamaSession
from engine.llama.speed import TEXTS, ModelSpeed, some_text
from engine.llama.token_tree import LONE_TOKEN_CELLS, BranchTokens

_LEAST_TRUNK = 16  # tokens that all texts share; as many as a run reads at once where there is room
_OWN = tuple(1 + text * 32 // TEXTS for text in range(TEXTS))  # tokens of each text alone
# An item of typical length with explanations of typical length, in both orders and on five criteria.
_ITEM_READ, _ITEM_WRITTEN = 1_700, 250


def next_token_probabilities(session: LlamaSession) -> FloatArray:
    """The probabilities of the next token at places in a text: shape (places, vocabulary).

    For a session of `speed_shape`. The text is read in batches of all sizes that runs have: a full one, ten
    texts a few tokens each, one token for each of ten, one alone; devices compute each in another way, and
    some drivers fail at one size alone.
    """
    room = session.shape.context - sum(_OWN) - TEXTS - LONE_TOKEN_CELLS
    tokens = some_text(session, max(_LEAST_TRUNK, min(BATCH, room)) + TEXTS + max(_OWN))
    trunk, rest = tokens[: -TEXTS - max(_OWN)], tokens[-TEXTS - max(_OWN) :]
    session.read_trunk(0, trunk)
    prompts = [(*trunk, *rest[k : k + own]) for k, own in enumerate(_OWN)]
    rows = _rows(session, prompts)
    longer = [(*prompt, rest[k]) for k, prompt in enumerate(prompts)]
    rows += _rows(session, longer)
    rows += _rows(session, [(*longer[0], rest[0])])
    session.release([0])
    return np.exp(np.array(rows))


def _rows(session: LlamaSession, prompts: Sequence[tuple[int, ...]]) -> list[FloatArray]:
    _, rows = session.score_among_all(0, [BranchTokens(prompt, ((prompt[0],),)) for prompt in prompts])
    return rows


@dataclass(frozen=True)
class DeviceFinding:
    """What came of a device. `mean`, `worst`: how far its probabilities of the next token are from the
    processor's (total variation distance, 0 to 1) over all places of a text, and at the worst of them;
    `speed`: its own. `reason`: why it cannot be used, as a clause; empty where it can.
    """

    device: Device
    mean: float = 1.0
    worst: float = 1.0
    speed: ModelSpeed | None = None
    reason: str = ""

    @property
    def sound(self) -> bool:
        """Whether it computes what the processor computes, up to rounding."""
        within = self.mean <= ROUNDING_ON_AVERAGE and self.worst <= ROUNDING_AT_WORST
        return not self.reason and within

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {**asdict(self), "device": self.device.as_json()}

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> "DeviceFinding":
        """What `as_json` gave. KeyError, TypeError or ValueError for anything else."""
        speed = values["speed"]
        return cls(
            Device.of_json(values["device"]),
            float(values["mean"]),
            float(values["worst"]),
            None if speed is None else ModelSpeed.of_json(speed),
            str(values["reason"]),
        )


@dataclass(frozen=True)
class DeviceTrial:
    """The devices of a computer tried with one model, and the processor's speed in the same trial."""

    processor: ModelSpeed
    findings: tuple[DeviceFinding, ...]

    @property
    def best(self) -> Device | None:
        """The fastest of the sound devices; None where the processor is faster than each."""
        best, seconds = None, seconds_of_an_item(self.processor)
        for finding in self.findings:
            if finding.sound and finding.speed and seconds_of_an_item(finding.speed) < seconds:
                best, seconds = finding.device, seconds_of_an_item(finding.speed)
        return best

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"processor": self.processor.as_json(), "findings": [each.as_json() for each in self.findings]}

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> "DeviceTrial":
        """What `as_json` gave. KeyError, TypeError or ValueError for anything else."""
        findings = tuple(map(DeviceFinding.of_json, values["findings"]))
        return cls(ModelSpeed.of_json(values["processor"]), findings)


def compared(device: Device, processor: FloatArray, own: FloatArray, speed: ModelSpeed) -> DeviceFinding:
    """What a device gave next to what the processor gave, both probabilities of shape (places,
    vocabulary).
    """
    if own.shape != processor.shape or not np.isfinite(own).all():
        return DeviceFinding(device, speed=speed, reason="its results are not finite numbers")
    distances = np.abs(own - processor).sum(axis=1) / 2
    mean, worst = float(distances.mean()), float(distances.max())
    found = DeviceFinding(device, mean, worst, speed)
    return found if found.sound else replace(found, reason="its results differ from the processor's")


def seconds_of_an_item(speed: ModelSpeed) -> float:
    """About how long an item of typical length takes, with explanations."""
    return _ITEM_READ / speed.reading + _ITEM_WRITTEN / speed.writing_ten
