"""A network trained in two processes, step by step, with reports on questions that it never saw."""

import logging
import math
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, distributed, multiprocessing
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset

from engine.core.items import Method
from engine.llama.model import LlamaModel
from models.demo.export import write_judge, write_vocabulary
from models.demo.forward import at_places, hidden_states
from models.demo.gguf_files import TokenTable
from models.demo.network import DemoJudge
from models.demo.questions import all_questions
from models.demo.rows import Batch, Content, RowWriter, batches
from models.demo.vocabulary import TEMPLATE
from models.demo.world import QUALITIES, World

log = logging.getLogger("train")

_HELD_OUT_BATCHES = 40
_PROCESSES = 2  # faster on two cores than one process of two threads


@dataclass(frozen=True)
class TimeEstimate:
    """How fast is learned. `rate` falls as a cosine that would reach its end after `schedule` steps."""

    rate: float
    warm_up: int
    schedule: int
    weight_decay: float


class Course(ABC):
    """What is learned, from what, and how; processes are given it."""

    seed: int

    @property
    @abstractmethod
    def time_estimate(self) -> TimeEstimate:
        """How fast."""

    @property
    @abstractmethod
    def stages(self) -> tuple[tuple[int, Content], ...]:
        """Steps, and what a process's batch holds in them."""

    @property
    @abstractmethod
    def aided(self) -> bool:
        """Whether the auxiliary heads teach, too."""

    @abstractmethod
    def table(self) -> TokenTable:
        """The vocabulary."""

    @abstractmethod
    def network(self) -> DemoJudge:
        """The network to begin with."""

    @property
    def steps(self) -> int:
        """All steps."""
        return sum(steps for steps, _ in self.stages)


class _Batches(IterableDataset[Batch]):
    """Batches made in a process of their own."""

    def __init__(self, vocabulary: Path, course: Course, rank: int) -> None:
        self._vocabulary = vocabulary
        self._course = course
        self._rank = rank

    def __iter__(self) -> Iterator[Batch]:
        random = Random(f"{self._course.seed} {self._rank}")
        world = World()
        comparisons = world.comparisons(random, held_out=False)
        with LlamaModel(self._vocabulary, vocabulary_only=True) as model:
            writer = RowWriter(model, TEMPLATE, world.topics)
            for steps, content in self._course.stages:
                yield from islice(batches(writer, comparisons, random, content), steps)


class Trainer:
    """A network on its way, in one of the processes that train it together."""

    def __init__(self, course: Course, vocabulary: Path) -> None:
        torch.manual_seed(course.seed)
        self._course = course
        self.network = course.network()
        self._optimizers = self._make_optimizers()
        random, world = Random(f"{course.seed} held out"), World()
        with LlamaModel(vocabulary, vocabulary_only=True) as model:
            writer = RowWriter(model, TEMPLATE, world.topics)
            self.stem = torch.tensor(writer.stem)
            comparisons = world.comparisons(random, held_out=True)
            _, content = course.stages[-1]
            self._held_out = list(islice(batches(writer, comparisons, random, content), _HELD_OUT_BATCHES))

    def _make_optimizers(self) -> list[torch.optim.Optimizer]:
        """Muon for the layers' matrices, AdamW for everything else."""
        matrices = [weight for weight in self.network.layers.parameters() if weight.dim() == 2]
        chosen = {id(weight) for weight in matrices}
        others = [weight for weight in self.network.parameters() if id(weight) not in chosen]
        time_estimate = self._course.time_estimate
        return [
            torch.optim.Muon(
                matrices,
                time_estimate.rate,
                weight_decay=time_estimate.weight_decay,
                adjust_lr_fn="match_rms_adamw",
            ),
            torch.optim.AdamW(others, time_estimate.rate, betas=(0.9, 0.98), weight_decay=0.0),
        ]

    def step(self, number: int, batch: Batch) -> dict[str, float]:
        """Learn from one batch; the losses."""
        self._set_rate(number)
        losses = self._losses(batch)
        loss = sum(losses.values())
        for optimizer in self._optimizers:
            optimizer.zero_grad()
        loss.backward()
        self._share_gradients()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        for optimizer in self._optimizers:
            optimizer.step()
        return {name: value.item() for name, value in losses.items()}

    def _share_gradients(self) -> None:
        """Every process goes on with the mean of all gradients."""
        gradients = [weight.grad for weight in self.network.parameters() if weight.grad is not None]
        joined = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(joined)
        joined /= distributed.get_world_size()
        parts = joined.split([gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))

    def _losses(self, batch: Batch) -> dict[str, Tensor]:
        """Mean losses: of the next tokens by their weights, of what the heads say at tokens of blocks."""
        weights = torch.from_numpy(batch.weights).flatten()
        counted = weights.nonzero()[:, 0]
        targets = torch.from_numpy(batch.targets).flatten()[counted]
        with torch.autocast("cpu", torch.bfloat16):
            hidden = hidden_states(self.network, self.stem, batch)
            logits = self.network.logits(hidden.flatten(0, 1)[counted])
        each = functional.cross_entropy(logits.float(), targets, reduction="none")
        text = {"text": (each * weights[counted]).sum() / weights.sum()}
        return {**text, **self._losses_of_heads(hidden, batch)} if self._course.aided else text

    def _losses_of_heads(self, hidden: Tensor, batch: Batch) -> dict[str, Tensor]:
        topics, in_block = _of_blocks(batch.topics, batch.blocks)
        qualities, in_response = _of_blocks(batch.qualities, batch.blocks - 1)
        with torch.autocast("cpu", torch.bfloat16):
            topic_logits = self.network.topic_head(hidden[in_block])
            quality_logits = self.network.quality_head(hidden[in_response])
        return {
            "topic": functional.cross_entropy(topic_logits.float(), topics),
            "quality": functional.binary_cross_entropy_with_logits(quality_logits.float(), qualities),
        }

    def _set_rate(self, number: int) -> None:
        time_estimate = self._course.time_estimate
        warm = min(1.0, number / time_estimate.warm_up)
        fall = 0.5 * (1 + math.cos(math.pi * number / time_estimate.schedule))
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = time_estimate.rate * warm * (0.02 + 0.98 * fall)

    @torch.no_grad()
    def accuracies(self) -> dict[str, float]:
        """Share of right answers, by criterion for label tokens and by method for all else, and of
        right qualities where the heads teach; on questions never trained on.
        """
        asked, right, qualities = [], [], []
        for batch in self._held_out:
            hidden = hidden_states(self.network, self.stem, batch)
            predicted = self.network.logits(at_places(hidden, batch.label_places)).argmax(-1)
            asked += batch.asked.flatten().tolist()
            right += (predicted.numpy() == batch.labels).flatten().tolist()
            if self._course.aided:
                guessed = self.network.quality_head(at_places(hidden, batch.ends[:, 1:])) > 0
                qualities.append((guessed.numpy() == (batch.qualities > 0.5)).mean((0, 1)))
        shares = _shares(asked, right)
        if qualities:
            named = (f"{quality} of one response" for quality in QUALITIES)
            shares |= dict(zip(named, np.mean(qualities, 0), strict=True))
        return shares


def _shares(asked: list[int], right: list[bool]) -> dict[str, float]:
    """Share of right answers; `asked`: the numbers of their questions."""
    found: dict[str, list[bool]] = {}
    questions = all_questions()
    for number, one in sorted(zip(asked, right, strict=True)):
        question = questions[number]
        name = question.criterion if question.method is Method.LABEL_TOKENS else question.method.value
        found.setdefault(name, []).append(one)
    return {name: float(np.mean(each)) for name, each in found.items()}


def _of_blocks(values: npt.NDArray[Any], blocks: npt.NDArray[Any]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """For each token of a block what is known of that block, and the rows and places of these tokens."""
    rows, places = (blocks >= 0).nonzero()
    known = torch.from_numpy(values[rows, blocks[rows, places]])
    return known, (torch.from_numpy(rows), torch.from_numpy(places))


def run_course(course: Course, out: Path, every: int) -> None:
    """Train in two processes and write the file; an unfinished file is kept next to it until then."""
    table = course.table()
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = write_vocabulary(Path(folder) / "vocabulary.gguf", table)
        job = _Job(course, table, vocabulary, Path(folder) / "meeting", out, every)
        multiprocessing.spawn(_work, (job,), nprocs=_PROCESSES)


@dataclass(frozen=True)
class _Job:
    """What the processes are told."""

    course: Course
    table: TokenTable
    vocabulary: Path
    meeting: Path
    out: Path
    every: int


def _work(rank: int, job: _Job) -> None:
    """One process: its own rows, one thread, the same network as all others. The first one reports."""
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"file://{job.meeting}", rank=rank, world_size=_PROCESSES)
    course = job.course
    trainer = Trainer(course, job.vocabulary)
    size = sum(weight.numel() for weight in trainer.network.parameters())
    log.info("%s\nparameters %d, stem %d tokens", course, size, len(trainer.stem))
    supply = DataLoader(
        _Batches(job.vocabulary, course, rank), batch_size=None, num_workers=1, prefetch_factor=8
    )
    unfinished = job.out.with_name(f"{job.out.stem}-unfinished.gguf")
    started = time.monotonic()
    for number, batch in enumerate(supply, start=1):
        losses = trainer.step(number, batch)
        if rank > 0 or (number % job.every and number < course.steps):
            continue
        figures = {**losses, **trainer.accuracies()}
        shown = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
        log.info("step %d, %.0f s: %s", number, time.monotonic() - started, shown)
        write_judge(unfinished, trainer.network, job.table)
    distributed.destroy_process_group()
    if rank == 0:
        unfinished.replace(job.out)
