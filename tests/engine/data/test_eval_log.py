"""Logs of inspect_ai as they are on disk: a ZIP file whose members zipfile cannot read before Python 3.14."""

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path

import pyarrow as pa
import pytest

from engine.core.errors import InputError
from engine.data.outputs import read_outputs


def sample(item_id: str, asked: str, answer: str) -> bytes:
    message = {"role": "assistant", "content": answer}
    output = {"model": "mockllm/m", "choices": [{"message": message, "stop_reason": "stop"}]}
    asked_so = [{"role": "user", "content": asked}]
    values = {"id": item_id, "epoch": 1, "input": asked, "messages": asked_so, "output": output}
    return json.dumps(values).encode()


SAMPLES = {
    "header.json": b"{}",
    "samples/a_epoch_1.json": sample("a", "Name a fruit.", "An apple."),
    "samples/b_epoch_1.json": sample("b", "Name a tree.", "An oak."),
}


def packed(data: bytes, method: int) -> bytes:
    if method == zipfile.ZIP_DEFLATED:
        return zlib.compress(data, wbits=-15)
    return bytes(pa.compress(data, codec="zstd", asbytes=True)) if method else data


def log(path: Path, members: dict[str, bytes], method: int) -> Path:
    """A ZIP file as inspect_ai writes it; zipfile itself writes no Zstandard before Python 3.14."""
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as made:
        for name, data in members.items():
            made.writestr(name, packed(data, method))
    whole = bytearray(plain.getvalue())
    with zipfile.ZipFile(io.BytesIO(bytes(whole))) as listed:
        directory = listed.start_dir
        for entry in listed.infolist():
            data = members[entry.filename]
            for start in (entry.header_offset, directory + 2):
                struct.pack_into("<H", whole, start + 8, method)
                struct.pack_into("<L", whole, start + 14, zlib.crc32(data))
                struct.pack_into("<L", whole, start + 22, len(data))
            directory += 46 + len(entry.filename)
    path.write_bytes(bytes(whole))
    return path


@pytest.mark.parametrize("method", [0, 8, 93])
def test_the_answers_of_a_log_are_the_outputs_of_its_model(method: int, tmp_path: Path) -> None:
    found = read_outputs(log(tmp_path / "m.eval", SAMPLES, method))
    assert found.candidate == "mockllm/m"
    assert [(one.id, one.instruction, one.output) for one in found.responses] == [
        ("a-1", "Name a fruit.", "An apple."),
        ("b-1", "Name a tree.", "An oak."),
    ]


def test_what_is_no_log_and_what_is_damaged_is_told(tmp_path: Path) -> None:
    whole = log(tmp_path / "m.eval", SAMPLES, 93).read_bytes()
    empty = log(tmp_path / "empty.eval", {"header.json": b"{}"}, 93).read_bytes()
    at = whole.index(b"a_epoch_1.json") + 25  # within what is packed
    bits, no_log = whole[:at] + b"\0\0\0\0" + whole[at + 4 :], "is no log of inspect_ai, or a damaged one"
    no_logs = ((data, no_log) for data in (b"id,verdict\n", whole[:-40], bits))
    for data, says in (*no_logs, (empty, "has no samples")):
        (tmp_path / "x.eval").write_bytes(data)
        with pytest.raises(InputError, match=says):
            read_outputs(tmp_path / "x.eval")


def test_a_log_that_unpacks_to_more_than_any_is_refused_before_it_is_there(tmp_path: Path) -> None:
    path = log(tmp_path / "large.eval", {"samples/a_epoch_1.json": b" " * (100 << 20)}, 93)
    with pytest.raises(InputError, match="unpacks to more than"):
        read_outputs(path)


def test_a_log_whose_directory_tells_of_more_than_is_there_is_damaged(tmp_path: Path) -> None:
    path = log(tmp_path / "m.eval", SAMPLES, 0)
    data = bytearray(path.read_bytes())
    for size in (20, 24):  # of what is packed, of what is unpacked
        struct.pack_into("<L", data, data.rindex(b"samples/b_epoch_1.json") - 46 + size, 1 << 20)
    path.write_bytes(data)
    with pytest.raises(InputError, match="is no log of inspect_ai, or a damaged one"):
        read_outputs(path)
