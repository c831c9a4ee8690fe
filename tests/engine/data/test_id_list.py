"""Lists of ids, as people and programs write them, and what is said of wrong ones."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.core.errors import InputError, SetupError
from engine.data.dataset import Dataset, load_dataset
from engine.data.id_list import read_ids

Save = Callable[[str, bytes], Path]
LIST = Path("ids.txt")


@pytest.fixture
def dataset(save: Save) -> Dataset:
    ids = ["1", "2", "é", "a b", " x", "p,q", "id,1"]
    lines = [f'{item_id}\tHow?\tSo.\t"So\nit is."\n' for item_id in ids]
    return load_dataset(save("data.tsv", ("id\tinstruction\toutput_a\toutput_b\n" + "".join(lines)).encode()))


@pytest.mark.parametrize(
    ("data", "ids"),
    [
        (b"2\n1\n", ("2", "1")),
        (b"1", ("1",)),
        (b"\xef\xbb\xbf1\r\n\r\n  \r\n a b \r\n", ("1", "a b")),
        (b"1\r2\r", ("1", "2")),
        ("é\n x\np,q\n".encode(), ("é", " x", "p,q")),
        (b"id\n2\n1\n", ("2", "1")),
        (b'"id"\n"p,q"\n', ("p,q",)),
        (b"id\tnote\n2\tlook\n\n1\t\n", ("2", "1")),
        (b'\xef\xbb\xbfid,note\r\n"p,q","two\r\nlines"\r\n1,\r\n', ("p,q", "1")),
        (b'"id"\tnote\n"a b"\tsee\n', ("a b",)),
    ],
)
def test_ids_are_read(dataset: Dataset, data: bytes, ids: tuple[str, ...]) -> None:
    assert read_ids(LIST, dataset, data) == ids


def test_a_dataset_and_its_submission_are_lists_of_ids_too(dataset: Dataset, save: Save) -> None:
    assert read_ids(dataset.path, dataset) == tuple(dataset.ids)
    packed = save("predictions.tsv.gz", gzip.compress(b"id\tsafety_preference\n2\tA\n"))
    assert read_ids(packed, dataset) == ("2",)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"1\n\n3\n", "ids.txt: line 3: data.tsv has no item '3'."),
        (b"1\n2\n 1\n", "ids.txt: line 3: id '1' is already on line 1."),
        (b"1 2\n", "ids.txt: line 1: data.tsv has no item '1 2'."),
        (b"1\n\xe9\n", "ids.txt: line 2: byte 0xe9 at offset 2 is not UTF-8."),
        (b'id\tnote\n2\t"two\nlines"\n2\tb\n', "ids.txt: line 4: id '2' is already on line 2."),
        (b"id,note\n1,a,b\n", "ids.txt: line 2: cells found: 3; the header has 2."),
        (b"ID\n1\n", "ids.txt: line 1: data.tsv has no item 'ID'."),
        (b"\n \n", "ids.txt: contains no ids."),
        (b"id\n", "ids.txt: contains no ids."),
        (b"", "ids.txt: contains no ids."),
    ],
)
def test_what_is_wrong_is_named_by_line(dataset: Dataset, data: bytes, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read_ids(LIST, dataset, data)
    assert caught.value.problem == problem
    assert str(caught.value.hint)


def test_all_that_is_wrong_is_said_at_once(dataset: Dataset) -> None:
    with pytest.raises(InputError) as caught:
        read_ids(LIST, dataset, b"7\n1\n8\n1\n")
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("ids.txt", b"PK\x03\x04", "ZIP archive"),
        ("ids.txt", "1\n".encode("utf-16"), "UTF-16"),
        ("ids.txt.gz", b"1\n", "not gzip-compressed"),
        ("ids.txt", b"", "is empty"),
    ],
)
def test_what_is_no_list_is_refused(dataset: Dataset, save: Save, name: str, data: bytes, found: str) -> None:
    with pytest.raises(InputError, match=found):
        read_ids(save(name, data), dataset)


def test_a_list_that_is_not_there_is_named(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"gone\.txt does not exist"):
        read_ids(tmp_path / "gone.txt", dataset)
