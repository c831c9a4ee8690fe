"""The labelling sheet: one HTML file in which somebody labels items in a browser, without this program, a
network or an account, and which gives back an annotation file.

Knows: what a sheet holds, and which head the annotation file has. Does not know: what it looks like and what
its script does (labelling_sheet.html), to which run its labels go.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from engine.annotations import records
from engine.core import VERSION
from engine.core.formatting import capitalised, counted, file_stem, visible, words
from engine.core.items import Item, digest
from engine.core.judgments import Origin
from engine.core.rubric import Rubric
from engine.data.dataset import Dataset
from engine.data.label_origins import drawn, in_drawn_order
from engine.results.annotation_file import AnnotationFile, RunFacts, as_json
from engine.settings.identity import BY_HAND
from engine.settings.sampling import ItemSample, dataset_in_words
from engine.system.files import check_targets, write_whole

_LONGEST_STEM = 60  # bytes of the dataset's name in that of the annotation file


def write_labelling_sheet(
    path: Path, dataset: Dataset, rubric: Rubric, blind: bool = False, sample: ItemSample | None = None
) -> str:
    """Write a sheet of the items and the rubric's criteria, whole or not at all; a sentence on it.

    `blind`: the dataset's own labels and explanations are not in the file, else they are shown. `sample`:
    only these items, in the order in which they are drawn. SetupError where it cannot be written.
    """
    check_targets({"The sheet": path}, {"dataset": dataset.path})
    content = _content(dataset, rubric, blind, sample)
    write_whole(path, _page(content).encode("ascii"))
    return f"{path.name}: {content['what']}. Whoever has this file can read these texts."


def _content(dataset: Dataset, rubric: Rubric, blind: bool, sample: ItemSample | None) -> dict[str, Any]:
    """What the script reads. Its `id` comes of all the rest: of the same items it is the same sheet again."""
    ids = dataset.ids
    if sample is not None:
        ids = in_drawn_order(drawn(dataset, sample).items.ids, sample.seed)
        sample = ItemSample(len(ids), sample.seed)
    by_id = {item.id: item for item in dataset.only(set(ids))}
    of = dataset_in_words(dataset.path, sample=sample)
    items = of if sample is not None else f"{counted(len(ids), 'item', 'items')} of {of}"
    on = counted(len(rubric.criteria), "criterion", "criteria")
    content: dict[str, Any] = {
        "what": f"{visible(items)}, {on}{', blind' if blind else ''}",
        "dataset": visible(dataset.name),
        "stem": file_stem(dataset.path.stem, _LONGEST_STEM) or "labels",
        "blind": blind,
        "origin": Origin.DATASET if sample is None else Origin.RANDOM,
        "seed": None if sample is None else sample.seed,
        "criteria": [
            {
                "name": each.name,
                "title": capitalised(words(each.name)),
                **{part: visible(getattr(each, part)) for part in ("question", "good", "bad")},
            }
            for each in rubric.criteria
        ],
        "items": [_shown(by_id[item_id], {} if blind else by_id[item_id].gold) for item_id in ids],
    }
    sheet = digest([content, *(by_id[item_id].content_hash for item_id in ids)])[:16]
    title = f"labelling sheet {sheet} of Tiebreak {VERSION}"
    facts = RunFacts(title, BY_HAND, rubric.names, dataset.name, dataset.hash)
    hashes = {item_id: by_id[item_id].content_hash for item_id in ids}
    head = as_json(AnnotationFile(f"sheet {sheet}", records.NEVER, facts, hashes, ()))
    return {**content, "id": sheet, "file": head}


def _shown(item: Item, human: Mapping[str, Any]) -> dict[str, Any]:
    """An item as it is read: what could reorder or hide text is written out, as in the window."""
    own = ("id", "instruction", "output_a", "output_b", *item.background)
    texts = {name: visible(getattr(item, name)) for name in own}
    said = {
        name: {"label": gold.label, "explanation": visible(gold.explanation or "")}
        for name, gold in human.items()
    }
    return {**texts, "human": said} if said else texts


def _page(content: Mapping[str, Any]) -> str:
    # Beside this module, also in a PyInstaller bundle. Line ends of a checkout on Windows are none of the
    # texts that browsers hash.
    page = Path(__file__).with_suffix(".html").read_text("utf-8")
    script, style = (
        b64encode(sha256(found[1].encode()).digest()).decode()
        for name in ("script", "style")
        if (found := re.search(f"<{name}>(.*?)</{name}>", page, re.DOTALL))
    )
    policy = (
        f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; base-uri 'none';"
        " form-action 'none'; require-trusted-types-for 'script'"
    )
    # ASCII alone, and no `<`: no text can end the block of data that it is in.
    data = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    before, after = page.replace("@POLICY@", policy).split("@DATA@")
    return f"{before}{data}{after}"
