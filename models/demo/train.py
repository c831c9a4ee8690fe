"""Train the demo judge to judge by label tokens: more than an hour on two processor cores. teach.py goes on.

    python -m models.demo.train --out demo-letters.gguf

The same seed gives the same file on the same computer with the same packages, elsewhere a similar one.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from engine.core.items import Order
from engine.core.rubric import ELOQUENT
from engine.prompt.judge_prompt import build_prompt, explanation_reply
from models.demo.explanations import explain
from models.demo.gguf_files import TokenTable
from models.demo.network import DemoJudge, NetworkShape
from models.demo.rows import Content
from models.demo.trainer import Course, TimeEstimate, run_course
from models.demo.vocabulary import learn_vocabulary
from models.demo.world import QUALITIES, World

_VOCABULARY_ITEMS = 4000


@dataclass(frozen=True)
class Recipe(Course):
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
    def time_estimate(self) -> TimeEstimate:
        """See Course."""
        return TimeEstimate(self.rate, self.warm_up, self.schedule, self.weight_decay)

    @property
    def stages(self) -> tuple[tuple[int, Content], ...]:
        """See Course: first what each response is like, then how they compare."""
        return (
            (self.reading_steps, Content(self.reading_rows, labels=False)),
            (self.judging_steps, Content(self.judging_rows, explanations=self.explanations)),
        )

    @property
    def aided(self) -> bool:
        """See Course."""
        return True

    def table(self) -> TokenTable:
        """See Course: learned from the world and the prompt."""
        return learn_vocabulary(vocabulary_texts(self.seed, _VOCABULARY_ITEMS), self.vocabulary)

    def network(self) -> DemoJudge:
        """See Course: a new one."""
        shape = NetworkShape(self.vocabulary, self.layers, self.width, self.heads, self.feed_forward)
        return DemoJudge(shape, len(QUALITIES), len(World().topics.topics))


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


def add_options(parser: argparse.ArgumentParser, defaults: Any) -> None:
    """Add what every course is told: where its file goes, how often to report, and its own numbers."""
    parser.add_argument("--out", type=Path, required=True, help="the GGUF file")
    parser.add_argument("--every", type=int, default=500, help="steps between reports")
    for name, value in asdict(defaults).items():
        if isinstance(value, int | float | str):
            parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)


def options_of(
    parser: argparse.ArgumentParser, words: Sequence[str] | None = None
) -> tuple[dict[str, Any], Path, int]:
    """The course's own options, its file, and the steps between reports."""
    options = vars(parser.parse_args(words))
    out, every = options.pop("out"), options.pop("every")
    if not out.absolute().parent.is_dir():
        parser.error(f"there is no folder {out.absolute().parent}")
    if every < 1:
        parser.error("--every is the number of steps between reports: 1 or more")
    return options, out, every


def main() -> None:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description="Train the demo judge.")
    add_options(parser, Recipe())
    options, out, every = options_of(parser)
    run_course(Recipe(**options), out, every)


if __name__ == "__main__":
    main()
