"""Tiebreak in Python: judge pairs of responses in a notebook or a script, and work with runs as frames.

    import tiebreak

    run = tiebreak.Judge(mode="labels").run(tiebreak.demo_dataset())
    run.evaluate()

Light to import: a name is loaded when it is first used. docs/notebook.md lists all names and columns.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from engine.core import VERSION

if TYPE_CHECKING:
    from engine.api.generation import generate
    from engine.api.judge import Judge, Plan
    from engine.api.labelling import label_by_hand, labelling_sheet, plan_labels
    from engine.api.pairwise import PairwiseJudge, demo_dataset, pairwise_preference_judge, read
    from engine.api.refused import Refused
    from engine.api.refused import TiebreakNotice as Notice
    from engine.api.run import Run, runs

__version__ = VERSION
__all__ = [
    "Judge",
    "Notice",
    "pairwise_preference_judge",
    "PairwiseJudge",
    "Plan",
    "Refused",
    "Run",
    "__version__",
    "demo_dataset",
    "generate",
    "label_by_hand",
    "labelling_sheet",
    "plan_labels",
    "read",
    "runs",
]

_WHERE = {
    "Judge": ("engine.api.judge", "Judge"),
    "Notice": ("engine.api.refused", "TiebreakNotice"),
    "pairwise_preference_judge": ("engine.api.pairwise", "pairwise_preference_judge"),
    "PairwiseJudge": ("engine.api.pairwise", "PairwiseJudge"),
    "Plan": ("engine.api.judge", "Plan"),
    "Refused": ("engine.api.refused", "Refused"),
    "Run": ("engine.api.run", "Run"),
    "demo_dataset": ("engine.api.pairwise", "demo_dataset"),
    "generate": ("engine.api.generation", "generate"),
    "label_by_hand": ("engine.api.labelling", "label_by_hand"),
    "labelling_sheet": ("engine.api.labelling", "labelling_sheet"),
    "plan_labels": ("engine.api.labelling", "plan_labels"),
    "read": ("engine.api.pairwise", "read"),
    "runs": ("engine.api.run", "runs"),
}

if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> object:
        """Load a name when it is used for the first time (PEP 562)."""
        if name not in _WHERE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, known_as = _WHERE[name]
        found = getattr(import_module(module), known_as)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        """All names, also those that are not loaded yet."""
        return sorted({*globals(), *__all__})
