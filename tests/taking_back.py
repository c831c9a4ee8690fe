"""Taking the newest override of a judgment back, as its author does."""

from engine.annotations.records import Annotation, AnnotationKind, Undo
from engine.core.judgments import JudgmentKey
from engine.store.run_store import RunStore


def take_back(store: RunStore, run_id: int, key: JudgmentKey, author: str | None = None) -> Annotation | None:
    """The override, undone, and all that was said with it; None where none of this person stands."""
    standing = [
        each
        for each in store.annotations(run_id, AnnotationKind.OVERRIDE)
        if each.key == key and each.undone is None and author in (None, each.author)
    ]
    if not standing:
        return None
    newest = standing[-1]
    assert store.take_back(run_id, Undo(newest.item_id, "", newest.author, newest.created))
    return next(
        each
        for each in store.annotations(run_id, AnnotationKind.OVERRIDE)
        if each.identity == newest.identity
    )
