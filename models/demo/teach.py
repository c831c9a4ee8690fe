"""Train a demo judge on the second rubric and the other elicitation methods, and keep what it has learned.

    python -m models.demo.teach demo-letters.gguf --out demo-begun.gguf --first
    python -m models.demo.teach demo-begun.gguf --out demo-judge.gguf

The same seed and file give the same file on the same computer with the same packages, elsewhere a similar
one.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

from models.demo.export import read_network
from models.demo.gguf_files import TokenTable, read_vocabulary
from models.demo.network import DemoJudge
from models.demo.rows import Content
from models.demo.train import add_options, options_of
from models.demo.trainer import Course, TimeEstimate, run_course


@dataclass(frozen=True)
class Lessons(Course):
    """What can be varied from the command line. Batches are those of one of the processes.

    A row asks `drawn` criteria of both rubrics by label tokens, `always` among them, which is the hardest to
    keep. Of these it explains `explanations`, and asks `thorough` by the other methods, too. `text_weight`:
    what a token of the responses counts. `rate` falls as a cosine that would reach its end after `schedule`
    steps.
    """

    model: Path
    seed: int = 1
    lessons: int = 1200
    rows: int = 8
    drawn: int = 4
    always: str = "truthfulness"
    thorough: int = 1
    explanations: int = 1
    text_weight: float = 0.0
    rate: float = 4e-3
    warm_up: int = 50
    schedule: int = 1200
    weight_decay: float = 0.05

    @property
    def time_estimate(self) -> TimeEstimate:
        """See Course."""
        return TimeEstimate(self.rate, self.warm_up, self.schedule, self.weight_decay)

    @property
    def stages(self) -> tuple[tuple[int, Content], ...]:
        """See Course: all is taught together, so that nothing is unlearned."""
        content = Content(
            self.rows,
            explanations=self.explanations,
            drawn=self.drawn,
            always=self.always,
            thorough=self.thorough,
            text_weight=self.text_weight,
        )
        return ((self.lessons, content),)

    @property
    def aided(self) -> bool:
        """See Course: the heads are not in the file, and what they taught is."""
        return False

    def table(self) -> TokenTable:
        """See Course: that of the file."""
        return read_vocabulary(self.model)

    def network(self) -> DemoJudge:
        """See Course: that of the file."""
        return read_network(self.model)


def first_lessons(model: Path) -> Lessons:
    """Those with which the demo judge began: fewer, all criteria alike, the responses' text beside them."""
    return Lessons(model, lessons=400, always="", text_weight=0.5, rate=3e-3, warm_up=100, schedule=1400)


def main() -> None:
    """Teach as the command line says."""
    parser = argparse.ArgumentParser(description="Teach a trained demo judge more.")
    parser.add_argument("model", type=Path, help="the GGUF file to go on from")
    parser.add_argument("--first", action="store_true", help="its first lessons, whatever else is said")
    add_options(parser, Lessons(Path()))
    options, out, every = options_of(parser)
    if not options["model"].is_file():
        parser.error(f"there is no file {options['model']}")
    first = options.pop("first")
    run_course(first_lessons(options["model"]) if first else Lessons(**options), out, every)


if __name__ == "__main__":
    main()
