"""Train the demo judge: more than an hour on two processor cores.

    python -m models.demo.train --out demo-judge.gguf

The same seed gives the same file on the same computer with the same packages, elsewhere a similar one.

Knows: the whole way from the world to the file. Does not know: how well the file judges (score.py).
"""

import argparse
import logging
import math
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
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

from engine.core.items import Order
from engine.core.rubric import ELOQUENT
from engine.llama.model import LlamaModel
from engine.prompt.judge_prompt import build_prompt, explanation_reply
from models.demo.explanations import explain
from models.demo.export import write_judge, write_vocabulary
from models.demo.forward import at_places, hidden_states
from models.demo.gguf_files import TokenTable
from models.demo.network import DemoJudge, NetworkShape
from models.demo.rows import Batch, Content, RowWriter, batches
from models.demo.vocabulary import TEMPLATE, learn_vocabulary
from models.demo.world import QUALITIES, World

log = logging.getLogger("train")

_VOCABULARY_ITEMS = 4000
_HELD_OUT_BATCHES = 40
_PROCESSES = 2  # faster on two cores than one process of two threads


@dataclass(frozen=True)
class Recipe:
    """What can be varied from the command line. Batches are those of one of the processes.

    `rate` falls as a cosine that would reach its end after `schedule` steps.
    """

    seed: int = 1
    reading_steps: int = 2500
    reading_rows: int = 24
    judging_steps: int = 7500
    judging_rows: int = 8
    explanations: int = 2
    vocabulary: int = 2048
    layers: int = 4
    width: int = 128
    heads: int = 4
    feed_forward: int = 384
    rate: float = 1e-2
    warm_up: int = 200
    schedule: int = 12_500
    weight_decay: float = 0.05

    @property
    def steps(self) -> int:
        """All steps."""
        return self.reading_steps + self.judging_steps

    @property
    def reading(self) -> Content:
        """A process's batch while the network learns what each response is like."""
        return Content(self.reading_rows, labels=False)

    @property
    def judging(self) -> Content:
        """A process's batch while it learns to compare."""
        return Content(self.judging_rows, labels=True, explanations=self.explanations)


def vocabulary_texts(seed: int, count: int) -> Iterator[str]:
    """What the vocabulary is learned from: prompts with their replies, as the model will see them."""
    random = Random(seed)
    for comparison in islice(World().comparisons(random, held_out=False), count):
        tree = build_prompt(comparison.item("vocabulary"), Order.AB, ELOQUENT)
        for number, (criterion, label) in enumerate(comparison.preferences.items()):
            reply = f"{explanation_reply(label)} {explain(comparison, criterion, random)}"
            conversation = tree.question(number, reply)
            parts = (*conversation.system, *conversation.user)
            yield "".join(part.text for part in parts) + "\n\n" + conversation.reply


class _Batches(IterableDataset[Batch]):
    """Batches made in a process of their own."""

    def __init__(self, vocabulary: Path, recipe: Recipe, rank: int) -> None:
        self._vocabulary = vocabulary
        self._recipe = recipe
        self._rank = rank

    def __iter__(self) -> Iterator[Batch]:
        recipe, random = self._recipe, Random(f"{self._recipe.seed} {self._rank}")
        world = World()
        comparisons = world.comparisons(random, held_out=False)
        with LlamaModel(self._vocabulary, vocabulary_only=True) as model:
            writer = RowWriter(model, TEMPLATE, world.topics)
            yield from islice(batches(writer, comparisons, random, recipe.reading), recipe.reading_steps)
            yield from islice(batches(writer, comparisons, random, recipe.judging), recipe.judging_steps)


class Trainer:
    """A network on its way, in one of the processes that train it together."""

    def __init__(self, recipe: Recipe, vocabulary: Path, tokens: int) -> None:
        torch.manual_seed(recipe.seed)
        shape = NetworkShape(tokens, recipe.layers, recipe.width, recipe.heads, recipe.feed_forward)
        self._recipe = recipe
        world = World()
        self.network = DemoJudge(shape, len(QUALITIES), len(world.topics.topics))
        self._optimizers = self._make_optimizers()
        random = Random(f"{recipe.seed} held out")
        with LlamaModel(vocabulary, vocabulary_only=True) as model:
            writer = RowWriter(model, TEMPLATE, world.topics)
            self.stem = torch.tensor(writer.stem)
            comparisons = world.comparisons(random, held_out=True)
            held_out = batches(writer, comparisons, random, Content(recipe.judging_rows))
            self._held_out = list(islice(held_out, _HELD_OUT_BATCHES))

    def _make_optimizers(self) -> list[torch.optim.Optimizer]:
        """Muon for the layers' matrices, AdamW for everything else."""
        matrices = [weight for weight in self.network.layers.parameters() if weight.dim() == 2]
        chosen = {id(weight) for weight in matrices}
        others = [weight for weight in self.network.parameters() if id(weight) not in chosen]
        rate, decay = self._recipe.rate, self._recipe.weight_decay
        return [
            torch.optim.Muon(matrices, rate, weight_decay=decay, adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW(others, rate, betas=(0.9, 0.98), weight_decay=0.0),
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
        topics, in_block = _of_blocks(batch.topics, batch.blocks)
        qualities, in_response = _of_blocks(batch.qualities, batch.blocks - 1)
        with torch.autocast("cpu", torch.bfloat16):
            hidden = hidden_states(self.network, self.stem, batch)
            logits = self.network.logits(hidden.flatten(0, 1)[counted])
            topic_logits = self.network.topic_head(hidden[in_block])
            quality_logits = self.network.quality_head(hidden[in_response])
        each = functional.cross_entropy(logits.float(), targets, reduction="none")
        return {
            "text": (each * weights[counted]).sum() / weights.sum(),
            "topic": functional.cross_entropy(topic_logits.float(), topics),
            "quality": functional.binary_cross_entropy_with_logits(quality_logits.float(), qualities),
        }

    def _set_rate(self, number: int) -> None:
        warm = min(1.0, number / self._recipe.warm_up)
        fall = 0.5 * (1 + math.cos(math.pi * number / self._recipe.schedule))
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self._recipe.rate * warm * (0.02 + 0.98 * fall)

    @torch.no_grad()
    def accuracies(self) -> dict[str, float]:
        """Share of right labels and of right qualities, on questions never trained on."""
        labels, qualities = [], []
        for batch in self._held_out:
            hidden = hidden_states(self.network, self.stem, batch)
            predicted = self.network.logits(at_places(hidden, batch.label_places)).argmax(-1)
            labels.append((predicted.numpy() == batch.labels).mean(0))
            guessed = self.network.quality_head(at_places(hidden, batch.ends[:, 1:])) > 0
            qualities.append((guessed.numpy() == (batch.qualities > 0.5)).mean((0, 1)))
        shares = dict(zip(ELOQUENT.names, np.mean(labels, 0), strict=True))
        named = (f"{quality} of one response" for quality in QUALITIES)
        return {**shares, **dict(zip(named, np.mean(qualities, 0), strict=True))}


def _of_blocks(values: npt.NDArray[Any], blocks: npt.NDArray[Any]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """For each token of a block what is known of that block, and the rows and places of these tokens."""
    rows, places = (blocks >= 0).nonzero()
    known = torch.from_numpy(values[rows, blocks[rows, places]])
    return known, (torch.from_numpy(rows), torch.from_numpy(places))


def train(recipe: Recipe, out: Path, every: int) -> None:
    """Train in two processes and write the file; until then what there is stands beside it as unfinished."""
    table = learn_vocabulary(vocabulary_texts(recipe.seed, _VOCABULARY_ITEMS), recipe.vocabulary)
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = write_vocabulary(Path(folder) / "vocabulary.gguf", table)
        job = _Job(recipe, table, vocabulary, Path(folder) / "meeting", out, every)
        multiprocessing.spawn(_work, (job,), nprocs=_PROCESSES)


@dataclass(frozen=True)
class _Job:
    """What the processes are told."""

    recipe: Recipe
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
    recipe = job.recipe
    trainer = Trainer(recipe, job.vocabulary, len(job.table.tokens))
    size = sum(weight.numel() for weight in trainer.network.parameters())
    log.info("%s\nparameters %d, stem %d tokens", recipe, size, len(trainer.stem))
    supply = DataLoader(
        _Batches(job.vocabulary, recipe, rank), batch_size=None, num_workers=1, prefetch_factor=8
    )
    unfinished = job.out.with_name(f"{job.out.stem}-unfinished.gguf")
    started = time.monotonic()
    for number, batch in enumerate(supply, start=1):
        losses = trainer.step(number, batch)
        if rank > 0 or (number % job.every and number < recipe.steps):
            continue
        figures = {**losses, **trainer.accuracies()}
        shown = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
        log.info("step %d, %.0f s: %s", number, time.monotonic() - started, shown)
        write_judge(unfinished, trainer.network, job.table)
    distributed.destroy_process_group()
    if rank == 0:
        unfinished.replace(job.out)


def main() -> None:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description="Train the demo judge.")
    parser.add_argument("--out", type=Path, required=True, help="the GGUF file")
    parser.add_argument("--every", type=int, default=500, help="steps between reports")
    for name, value in asdict(Recipe()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    options = vars(parser.parse_args())
    out, every = options.pop("out"), options.pop("every")
    if not out.absolute().parent.is_dir():
        parser.error(f"there is no folder {out.absolute().parent}")
    if every < 1:
        parser.error("--every is the number of steps between reports: 1 or more")
    train(Recipe(**options), out, every)


if __name__ == "__main__":
    main()
