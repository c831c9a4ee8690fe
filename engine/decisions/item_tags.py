"""The tags that people gave to the items of a dataset, whichever run they were looking at.

Knows: that notes are kept by the content of an item. Does not know: by what items are divided, windows.
"""

from engine.data.dataset import Dataset
from engine.data.slices import Tags
from engine.store.run_store import RunStore


def tags_of_items(store: RunStore, dataset: Dataset, author: str | None = None) -> Tags:
    """By item id, the tags of the items that have any; with an `author` those that he gave last."""
    if not store.tags():
        return {}
    hashes = {item.id: item.content_hash for item in dataset}
    notes = store.notes(hashes.values())
    found = {item_id: notes[content] for item_id, content in hashes.items() if content in notes}
    return {
        item_id: note.tags
        for item_id, note in found.items()
        if note.tags and (author is None or note.author == author)
    }
