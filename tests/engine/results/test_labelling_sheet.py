"""The labelling sheet as a file: what is in it, that no text leaves its place, and damaged files of it."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import InputError, SetupError
from engine.core.rubric import ELOQUENT
from engine.data.assignment import AssignmentDesign, write_assignment
from engine.data.dataset import Dataset, load_dataset
from engine.data.label_origins import in_drawn_order
from engine.data.submission import write_dataset
from engine.results.annotation_file import load_annotation_file, load_annotations
from engine.results.completeness import begin_by_hand
from engine.results.labelling_sheet import write_labelling_sheet
from engine.settings.sampling import ItemSample
from engine.store.run_store import RunStore
from tests.judged import GOOD, A, B, dataset

SAFETY = ELOQUENT.only(("safety",))
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    '"><img src=x onerror=alert(1)>@DATA@ @POLICY@',
    "\u202egnp.exe\u2066 \u2028 \0 é 😀",
    "w" * 300_000,
)


class Page(HTMLParser):
    """The scripts and styles of a page, and the names of all elements and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.blocks: list[tuple[str, dict[str, str | None], str]] = []
        self.names: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names += [tag, *(name for name, _ in attributes)]
        self.policy = dict(attributes).get("content") if "http-equiv" in dict(attributes) else self.policy
        if tag in ("script", "style"):
            self.blocks.append((tag, dict(attributes), ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            tag, attributes, text = self.blocks[-1]
            self.blocks[-1] = tag, attributes, text + data

    policy: str | None = None


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    labels = [A, B, GOOD, A, B]
    texts = [(text, text[::-1]) for text in HOSTILE]
    made = dataset({"safety": labels}, instructions=HOSTILE, outputs=texts)
    return replace(made, path=tmp_path / "pairs <b>.tsv")


def page_of(path: Path, data: Dataset, **how: Any) -> tuple[Page, dict[str, Any]]:
    write_labelling_sheet(path, data, SAFETY, **how)
    page = Page(path.read_bytes().decode("ascii"))
    (block,) = [text for _, attributes, text in page.blocks if attributes.get("id") == "data"]
    return page, json.loads(block)


def test_no_text_leaves_its_place_and_the_policy_allows_the_pages_own_script_alone(
    data: Dataset, tmp_path: Path
) -> None:
    page, held = page_of(tmp_path / "sheet.html", data)
    assert [(tag, attributes) for tag, attributes, _ in page.blocks] == [
        *(("style", {}), ("script", {"type": "application/json", "id": "data"}), ("script", {}))
    ]
    assert not {"img", "link", "a", "iframe", "src", "href", "action"} & {*page.names}
    assert not [name for name in page.names if name.startswith("on")]
    (_, _, style), _, (_, _, script) = page.blocks
    sums = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    assert page.policy is not None
    assert page.policy.startswith(
        f"default-src 'none'; script-src 'sha256-{sums[0]}'; style-src 'sha256-{sums[1]}'; base-uri 'none'"
    )
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script)
    assert held["items"][0]["output_a"] == HOSTILE[0]
    assert held["items"][3]["instruction"] == "\\u202egnp.exe\\u2066 \u2028 \\x00 é 😀"
    assert [len(held["items"][4][name]) for name in ("instruction", "output_b")] == [300_000] * 2


def test_it_holds_the_hashes_of_its_items_and_blind_no_label(data: Dataset, tmp_path: Path) -> None:
    _, held = page_of(tmp_path / "sheet.html", data)
    assert [(each["id"], each["sha256"]) for each in held["file"]["items"]] == [
        (item.id, item.content_hash) for item in data
    ]
    assert [each["human"]["safety"]["label"] for each in held["items"]] == ["A", "B", "both_good", "A", "B"]
    _, blind = page_of(tmp_path / "blind.html", data, blind=True)
    assert not [each for each in blind["items"] if "human" in each]
    assert blind["blind"]
    assert blind["id"] != held["id"]


def test_the_same_items_make_one_sheet_and_a_sample_is_in_drawn_order(data: Dataset, tmp_path: Path) -> None:
    one, other = tmp_path / "one.html", tmp_path / "other.html"
    for path in (one, other):
        page_of(path, data)
    assert one.read_bytes() == other.read_bytes()
    _, held = page_of(other, data, sample=ItemSample(3, 7))
    assert [each["id"] for each in held["items"]] == in_drawn_order(data.ids, 7)[:3]
    assert (held["origin"], held["seed"]) == ("random", 7)


def test_annotators_read_the_context_and_the_reference_answer(tmp_path: Path) -> None:
    path = tmp_path / "beside.tsv"
    row = {"id": "1", "instruction": "Who?", "output_a": "Ada", "output_b": "Ben"}
    row |= {"context": "<b>", "reference": "Ada"}
    write_dataset(path, {name: [text] for name, text in row.items()})
    _, content = page_of(tmp_path / "sheet.html", load_dataset(path))
    assert content["items"] == [row]
    write_assignment(load_dataset(path), AssignmentDesign(("Ada",)), tmp_path / "dealt")
    [dealt] = load_dataset(tmp_path / "dealt" / "Ada.tsv")
    assert dealt.background == {"context": "<b>", "reference": "Ada"}


def test_it_never_overwrites_its_dataset(data: Dataset) -> None:
    data = replace(data, path=data.path.with_name("pairs.tsv"))  # a name that Windows takes, too
    data.path.write_text("mine", "utf-8")
    with pytest.raises(SetupError, match="would be overwritten"):
        write_labelling_sheet(data.path, data, SAFETY)
    assert data.path.read_text("utf-8") == "mine"


def test_what_is_damaged_or_no_file_of_a_sheet_is_refused_with_the_place_and_the_next_step(
    data: Dataset, tmp_path: Path
) -> None:
    _, held = page_of(tmp_path / "sheet.html", data)
    said = {"item": "1", "author": "Ada", "said": "2026-11-02T08:00:00.000Z", "criterion": "safety"}
    lists = {"overrides": [said | {"label": "B"}], "confirmations": [], "marks": [], "notes": []}
    head = held["file"] | {"written": "2026-11-02T09:00:00Z"}
    whole = head | {"people": [{"name": "Ada", "known_as": []}], **lists}
    path = tmp_path / "ada.json"
    path.write_text(json.dumps(whole, indent=1), "utf-8")
    [label] = load_annotation_file(path).words
    assert (label.author, label.preference) == ("Ada", B)
    assert label.created.isoformat() == "2026-11-02T08:00:00+00:00"
    with RunStore(tmp_path / "runs.sqlite") as store:
        run = begin_by_hand(data, SAFETY, store)
        path.write_text(path.read_text("utf-8")[:-90], "utf-8")
        with pytest.raises(InputError) as cut:
            load_annotations(path, store, run.id)
        assert re.search(r"ada\.json: is not an annotation file: .*line \d+", cut.value.problem)
        assert str(cut.value.hint) == "Ask its sender to export it again."
        with pytest.raises(SetupError, match="is a page") as page:
            load_annotations(tmp_path / "sheet.html", store, run.id)
        assert "download the annotations" in str(page.value.hint)
