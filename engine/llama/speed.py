"""How fast a model works on this computer, measured in a few seconds as a run works; and whether a device
computes what the processor computes.
"""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Annotated

import msgspec
import numpy as np

from engine.core.events import MeasureProgress
from engine.core.numeric import ROUNDING_AT_WORST, ROUNDING_ON_AVERAGE, FloatArray
from engine.llama.context import BATCH, SessionShape
from engine.llama.model import LONE_TOKEN_CELLS, BranchTokens
from engine.llama.session import Continuation, LlamaSession, Sampling
from engine.settings.rows import Device

TEXTS = 10  # written at once: two items on five criteria
PROMPT = 512  # tokens of a prompt of default length
_SHORT_PROMPT = 128  # where that takes long
_WARM_UP = 32
_LONG = 15.0  # seconds for a prompt
_ROUNDS = 3
_STEPS, _LEAST_STEPS = 16, 3  # tokens of each text
_ENOUGH = 3.0  # seconds of one measure
_SHORT = 0.5  # seconds that say nothing: small models are measured more often
_STAGES = 1 + _ROUNDS + 2
TokensPerSecond = Annotated[float, msgspec.Meta(ge=1e-6, le=1e9)]
_FREE = 0.75  # of each core that is used; with less, other programs had the rest
# Not one sentence again and again: a mixture would read it with few of its experts.
_TEXT = (
    "The river rises in the hills above the old mill, where three springs meet under alders. In March, "
    "when 40 cm of snow melt within a week, its water stands at the doors of the lower farms; by August a "
    "child can cross it dry. Surveyors measured the fall of each mile in 1887 and drew what they found on "
    "nine sheets of linen. Why does the second bridge have five arches, and the first only two? Nobody "
    "asked the mason, who was paid by the stone: he built what the money allowed, signed his work “J. "
    "Harrow”, and left for the coast. His daughter kept the accounts. She noted every cart, barrel and "
    "nail, and that the rain of October cost them eleven days. Today engineers read her pages with "
    "respect, since the estimates that a computer gives for the same work differ by less than four per "
    "cent. "
)


@dataclass(frozen=True)
class ModelSpeed:
    """In tokens a second. `record_of` refuses what cannot have been measured."""

    reading: TokensPerSecond  # of a prompt
    writing_one: TokensPerSecond  # of one text
    writing_ten: TokensPerSecond  # of TEXTS together
    prompt: Annotated[int, msgspec.Meta(ge=0)]  # its tokens
    cores: Annotated[float, msgspec.Meta(ge=0, le=1e9)]  # processor seconds in each second
    threads: Annotated[int, msgspec.Meta(ge=0)]  # 0 where a GPU may have computed

    @property
    def disturbed(self) -> bool:
        return self.cores < _FREE * self.threads

    def writing(self, texts: int) -> float:
        """Tokens a second where this many texts are written together: a step's time grows evenly."""
        one, ten = 1 / self.writing_one, TEXTS / self.writing_ten
        return texts / (one + max(0.0, ten - one) * (texts - 1) / (TEXTS - 1))


def speed_shape(trained_context: int) -> SessionShape:
    needed = PROMPT + TEXTS * (_STEPS + 1) + LONE_TOKEN_CELLS
    return SessionShape(min(-(-needed // 256) * 256, trained_context), slots=1, branches=TEXTS)


def measuring_speed(session: LlamaSession, threads: int) -> Generator[MeasureProgress, None, ModelSpeed]:
    """Of `speed_shape`, with at most this many threads (0: by a GPU). ModelFileError, Cancelled."""
    room = session.shape.context - TEXTS * (_STEPS + 1) - LONE_TOKEN_CELLS
    tokens = some_text(session, min(PROMPT, max(room, _WARM_UP)))
    yield MeasureProgress(0, _STAGES)
    began = time.monotonic()
    session.read_trunk(0, tokens[:_WARM_UP])  # weights that come from the disk are no measure
    if (time.monotonic() - began) * len(tokens) / _WARM_UP > _LONG:
        tokens = tokens[:_SHORT_PROMPT]
    began, processor = time.monotonic(), time.process_time()
    took: list[float] = []
    while sum(took) <= _ENOUGH and (len(took) < _ROUNDS or sum(took) <= _SHORT):
        yield MeasureProgress(min(1 + len(took), _ROUNDS), _STAGES)
        session.release([0])
        reading = time.monotonic()
        session.read_trunk(0, tokens)
        took.append(max(time.monotonic() - reading, 1e-9))
    yield MeasureProgress(1 + _ROUNDS, _STAGES)
    one = _seconds_of_a_step(session, tokens, 1)
    yield MeasureProgress(2 + _ROUNDS, _STAGES)
    ten = _seconds_of_a_step(session, tokens, TEXTS)
    cores = (time.process_time() - processor) / (time.monotonic() - began)
    yield MeasureProgress(_STAGES, _STAGES)
    return ModelSpeed(len(tokens) / _undisturbed(took), 1 / one, TEXTS / ten, len(tokens), cores, threads)


def some_text(session: LlamaSession, length: int) -> tuple[int, ...]:
    ids: list[int] = []
    while len(ids) < length:
        ids += session.vocabulary.tokenize(_TEXT)
    return tuple(ids[:length])


def _seconds_of_a_step(session: LlamaSession, trunk: tuple[int, ...], texts: int) -> float:
    """Of one more token in each of this many texts after a trunk; which token it is makes no difference."""
    words = trunk[: texts + _STEPS]
    prompts = [(*trunk, words[text % len(words)]) for text in range(texts)]
    session.score(0, [BranchTokens(prompt, ((words[0],),)) for prompt in prompts])
    took: list[float] = []
    for step in range(_STEPS):
        if step >= _LEAST_STEPS and sum(took) > _ENOUGH:
            break
        prompts = [(*prompt, words[(step + text) % len(words)]) for text, prompt in enumerate(prompts)]
        began = time.monotonic()
        session.generate(
            [Continuation(0, text, prompt) for text, prompt in enumerate(prompts)], Sampling(max_tokens=1)
        )
        took.append(max(time.monotonic() - began, 1e-9))
    return _undisturbed(took)


def _undisturbed(seconds: list[float]) -> float:
    """The median of the faster half: what other programs did for a moment is not the model's."""
    return median(sorted(seconds)[: (len(seconds) + 1) // 2])


_LEAST_TRUNK = 16  # tokens that all texts share; as many as a run reads at once where there is room
_OWN = tuple(1 + text * 32 // TEXTS for text in range(TEXTS))  # tokens of each text alone
# An item of typical length with explanations of typical length, in both orders and on five criteria.
_ITEM_READ, _ITEM_WRITTEN = 1_700, 250


def next_token_probabilities(session: LlamaSession) -> FloatArray:
    """The probabilities of the next token at places in a text: shape (places, vocabulary). For a session of
    `speed_shape`. The text is read in batches of all sizes that runs have: a full one, ten texts a few tokens
    each, one token for each of ten, one alone; some drivers fail at one size alone.
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
    processor's (total variation distance, 0 to 1) over the places of a text; `reason` against it: a clause.
    """

    device: Device
    mean: float = 1.0
    worst: float = 1.0
    speed: ModelSpeed | None = None
    reason: str = ""

    @property
    def sound(self) -> bool:
        """It computes what the processor computes, up to rounding."""
        within = self.mean <= ROUNDING_ON_AVERAGE and self.worst <= ROUNDING_AT_WORST
        return not self.reason and within


@dataclass(frozen=True)
class DeviceTrial:
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


def compared(device: Device, processor: FloatArray, own: FloatArray, speed: ModelSpeed) -> DeviceFinding:
    """What a device and what the processor gave: probabilities of shape (places, vocabulary)."""
    if own.shape != processor.shape or not np.isfinite(own).all():
        return DeviceFinding(device, speed=speed, reason="its results are not finite numbers")
    distances = np.abs(own - processor).sum(axis=1) / 2
    mean, worst = float(distances.mean()), float(distances.max())
    found = DeviceFinding(device, mean, worst, speed)
    return found if found.sound else replace(found, reason="its results differ from the processor's")


def seconds_of_an_item(speed: ModelSpeed) -> float:
    return _ITEM_READ / speed.reading + _ITEM_WRITTEN / speed.writing_ten
