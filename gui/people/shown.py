"""What is shown of one judgment, and in which words it is told who said what.

Knows: a judgment and what people said of it. Does not know: widgets, where it comes from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.formatting import visible
from engine.core.items import Gold, Preference
from engine.core.judgments import AnyJudgment, Explanation, JudgedItem, JudgmentKey, Override, Unscored
from engine.core.people import Reviews
from gui.kit.label_words import LABEL_WORDS

if TYPE_CHECKING:
    from engine.data.dataset import Dataset


@dataclass(frozen=True)
class Shown:
    """What a card shows. `label`, `explanation`: in force. `history`: all overrides, the oldest first.

    `doubt`: 0 to 1, None where it is not known. `maker`: who judged, `model` or `submission`.
    `human_from`: the dataset that the human label is from, or those that have none.
    `people`: who gave which label, also by agreeing. `undoable`:
    whether there is an override of the person who looks. `hidden`: whether all this is kept from him.
    """

    judgment: AnyJudgment
    label: Preference | None
    explanation: str | None
    outdated: bool
    override: Override | None
    history: Sequence[Override]
    human: Gold | None
    human_from: Sequence[Path] = ()
    draft: bool = False
    doubt: float | None = None
    maker: str = "model"
    people: Sequence[tuple[str, Preference]] = ()
    undoable: bool = False
    hidden: bool = False


def hidden(key: JudgmentKey) -> Shown:
    """What a card shows of a judgment that a person labels blind: nothing of it is known to the card."""
    return Shown(
        Unscored(*key, ""),
        label=None,
        explanation=None,
        outdated=False,
        override=None,
        history=(),
        human=None,
        hidden=True,
    )


def label_from(said: Reviews, key: JudgmentKey) -> str | None:
    """Whose label stands for the model's: of each person the last override counts, as a whole."""
    last = (said.standing(key, author) for author in said.people)
    labels = [override for override in last if override is not None and override.preference is not None]
    return max(labels, key=lambda override: override.id).author if labels else None


def human_label(
    places: "Sequence[tuple[Dataset | None, int | None]]", judged: JudgedItem, criterion: str
) -> tuple[Gold | None, Sequence[Path]]:
    """What the first of the datasets with a label says of an item, at its row there, and which one that is.

    Where none has a label: an explanation alone, else nothing, and all datasets that were looked into.
    """
    found: list[tuple[Gold, Path]] = []
    looked_into: dict[Path, None] = {}
    for dataset, row in places:
        if dataset is None:
            continue
        looked_into[dataset.path] = None
        item = dataset[row] if row is not None and row < len(dataset) else None
        same = item is not None and (item.id, item.content_hash) == (judged.item_id, judged.content_hash)
        if item is not None and same and (human := item.gold.get(criterion)):
            found.append((human, dataset.path))
    if not found:
        return None, tuple(looked_into)
    labelled = [pair for pair in found if pair[0].label is not None]
    human, path = (labelled or found)[0]
    return human, (path,)


def own_explanation(shown: Shown) -> Explanation | None:
    """What the model wrote for the label in force, else its first text."""
    judgment = shown.judgment
    return None if isinstance(judgment, Unscored) else judgment.explanation_for(shown.label)


def is_cut(shown: Shown) -> bool:
    """True where the explanation in force is the model's and ended at the length limit."""
    own = own_explanation(shown)
    return own is not None and own.cut and own.text == shown.explanation


def by_whom(shown: Shown) -> str:
    """Who overrode what, in a line or two; what the model had written, where it is replaced."""
    lines = [f"{in_words(shown.override)}."] if shown.override else []
    own = shown.judgment.explanation if not isinstance(shown.judgment, Unscored) else None
    if shown.override and shown.override.explanation and own:
        lines.append(f"The {shown.maker}'s own explanation: {own.text}")
    earlier = len(shown.history) - (1 if shown.override else 0)
    if earlier:
        lines.append(f"{earlier} earlier change{'' if earlier == 1 else 's'}.")
    if shown.draft:
        lines.append("There is a draft of an explanation: E opens it.")
    return visible("\n".join(lines))


def in_words(override: Override) -> str:
    """`Label both good, explanation by Ada, 2026-03-01 14:05, undone 14:07`, in local time."""
    parts = []
    if override.preference is not None:
        parts.append(f"label {LABEL_WORDS[override.preference]}")
    if override.explanation is not None:
        parts.append("explanation")
    text = f"{' and '.join(parts)} by {override.author}, {override.created.astimezone():%Y-%m-%d %H:%M}"
    undone = f", taken back {override.undone.astimezone():%Y-%m-%d %H:%M}" if override.undone else ""
    return f"{text[0].upper()}{text[1:]}{undone}"
