"""Model files side by side: how each is stored, how fast it is on this computer, how its newest run went.

Knows: what stands in the table, and its plain values. Does not know: how speeds are measured, who shows it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.formatting import amount
from engine.core.value_tables import Column, Kind, Table
from engine.decisions.format_mass import RunMass
from engine.gguf.judge_file import ModelFile
from engine.llama.speed import TEXTS, ModelSpeed


@dataclass(frozen=True)
class MeasuredModel:
    """A model file with its speed, and what its newest run gave, None where the store holds none."""

    model: ModelFile
    hash: str
    speed: ModelSpeed
    run: RunMass | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values; speeds in tokens a second."""
        run = self.run
        return {
            "file": str(self.model.path),
            "sha256": self.hash,
            "format": self.model.quantisation,
            "bytes": self.model.size_bytes,
            "reading": self.speed.reading,
            "writing_one_text": self.speed.writing_one,
            f"writing_{TEXTS}_texts": self.speed.writing_ten,
            "prompt_tokens": self.speed.prompt,
            "disturbed": self.speed.disturbed,
            "newest_run": {"id": run.run_id, "format_mass": run.mass, "items": run.items} if run else None,
        }


COLUMNS = (
    Column("model", "model", Kind.TEXT, "The name of the file."),
    Column("format", "format", Kind.TEXT, "How its weights are stored."),
    Column("size", "size", Kind.TEXT, "The size of the file, of all parts where it is split."),
    Column("reads", "reads", Kind.SHORTEST, "Tokens a second of a prompt of 512 tokens."),
    Column("writes", "writes 1", Kind.SHORTEST, "Tokens a second of one text that is written."),
    Column("together", f"writes {TEXTS}", Kind.SHORTEST, "Tokens a second of 10 texts together."),
    Column("mass", "format mass", Kind.SHARE, "The mean format mass of its newest run in the store."),
    Column("run", "of run", Kind.COUNT, "The run that the format mass is of."),
)


def speed_table(measured: Sequence[MeasuredModel]) -> Table:
    """The fastest reader first."""
    rows = sorted(measured, key=lambda each: -each.speed.reading)
    return Table(
        COLUMNS,
        [
            (
                each.model.name,
                each.model.quantisation,
                amount(each.model.size_bytes),
                _rounded(each.speed.reading),
                _rounded(each.speed.writing_one),
                _rounded(each.speed.writing_ten),
                each.run.mass if each.run else None,
                each.run.run_id if each.run else None,
            )
            for each in rows
        ],
    )


def _rounded(rate: float) -> float:
    """No more digits than a second measure would give again."""
    return float(f"{rate:.3g}")
