"""Encoder files: described by their headers, refused where they cannot serve, tried before they are used."""

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from engine.core.errors import Hint, ModelFileError
from engine.core.events import Cancelled, CancelToken
from engine.models import encoder_file
from engine.models.checked_model import CheckedModel, checked_model, trial_report
from engine.models.header import GgufHeader, HeaderValue, read_header
from engine.models.opening import encoder_hash, open_encoder
from engine.settings.rows import MachineSettings
from tests.encoders.rewritten import FAMILIES, FOLDER, rewritten
from tests.engine.models.damaged import flipped, how_many_are_refused
from tests.steps import refused

F16, F64 = 1, 28
ChildThat = Callable[[str], None]

families = pytest.mark.parametrize("family", FAMILIES)


def file_of(family: str) -> Path:
    return FOLDER / f"{family}.gguf"


def changed(family: str, changes: dict[str, HeaderValue | None]) -> GgufHeader:
    """The header of a small encoder with keys replaced, or left out where the value is None."""
    header = read_header(file_of(family))
    metadata = {key: value for key, value in {**header.metadata, **changes}.items() if value is not None}
    return dataclasses.replace(header, metadata=metadata)


def with_tensor(family: str, name: str, **changes: Any) -> GgufHeader:
    """The header of a small encoder with one tensor changed, or left out where nothing is given."""
    header = read_header(file_of(family))
    tensors = [tensor for tensor in header.tensors if tensor.name != name]
    old = [tensor for tensor in header.tensors if tensor.name == name and changes]
    return dataclasses.replace(
        header, tensors=(*tensors, *(dataclasses.replace(each, **changes) for each in old))
    )


def refusal(header: GgufHeader) -> str:
    error = refused(lambda: encoder_file.precheck_encoder(header))
    assert isinstance(error, ModelFileError)
    assert error.problem.startswith(f"{header.file_name}: ")
    assert error.hint
    return error.problem


@pytest.mark.parametrize(
    ("family", "name", "parameters", "tokens"),
    [("roberta", "RoBERTa", 54_304, 381), ("bert", "BERT", 47_648, 172)],
)
def test_an_encoder_is_described_by_its_header(family: str, name: str, parameters: int, tokens: int) -> None:
    path = file_of(family)
    encoder = encoder_file.read_encoder_file(path)
    assert (encoder.files, encoder.size_bytes, encoder.name) == ((path,), path.stat().st_size, family)
    assert (encoder.family, encoder.layers, encoder.width) == (name, 3, 32)
    assert (encoder.architecture, encoder.quantisation) == ("bert", "F32")
    assert (encoder.parameters, encoder.trained_context, encoder.vocabulary_size) == (parameters, 512, tokens)
    assert (encoder.title, encoder.notice) == (f"small random {name}", "")


@pytest.mark.parametrize(
    ("family", "layers", "width", "scored"),
    [("RoBERTa", 24, 1024, 17), ("RoBERTa", 17, 1024, 17), ("BERT", 12, 768, 9), ("BERT", 3, 32, 3)],
)
def test_the_layer_that_bert_score_takes_is_known_of_published_models(
    family: str, layers: int, width: int, scored: int
) -> None:
    encoder = encoder_file.read_encoder_file(file_of("bert"))
    assert dataclasses.replace(encoder, family=family, layers=layers, width=width).scored_layers == scored


def test_a_file_with_more_layers_than_count_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(encoder_file._SCORED_LAYERS, ("BERT", 3, 32), 2)
    notice = encoder_file.read_encoder_file(file_of("bert")).notice
    assert notice.startswith("bert.gguf is not cut: bert-score computes with its first 2 layers")


def test_memory_is_the_file_and_a_batch_of_logits() -> None:
    encoder = dataclasses.replace(
        encoder_file.read_encoder_file(file_of("roberta")), size_bytes=1_060_000_000, vocabulary_size=50_265
    )
    assert encoder_file.encoder_memory(encoder).total == 1_060_000_000 + 512 * 50_265 * 4 + (45 << 20)


@families
def test_an_encoder_is_known_by_its_architecture_and_without_tensors_it_is_a_vocabulary(
    family: str, small_model: Callable[[str], Path]
) -> None:
    assert encoder_file.is_encoder(read_header(file_of(family)))
    assert not encoder_file.is_encoder(read_header(small_model("headers")))
    assert "vocabulary only" in refusal(dataclasses.replace(read_header(file_of(family)), tensors=()))


def test_a_text_generator_is_refused_and_what_to_choose_is_said(small_model: Callable[[str], Path]) -> None:
    wrong = "architecture 'llama' is not that of RoBERTa and BERT"
    error = refused(lambda: encoder_file.read_encoder_file(small_model("headers")), wrong)
    assert str(error.hint) == "Choose a RoBERTa or BERT encoder in GGUF format."
    assert trial_report(file_of("bert"), as_encoder=True) == (0, "{}")
    code, report = trial_report(small_model("headers"), as_encoder=True)
    assert code == 2
    assert "RoBERTa or BERT" in str(Hint.of_json(json.loads(report)["remedy"]))


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("bert", {"tokenizer.ggml.pre": None}),
        ("bert", {"tokenizer.ggml.token_type": None}),
        ("roberta", {"tokenizer.ggml.pre": "gpt-2"}),
        ("roberta", {"tokenizer.ggml.unknown_token_id": None, "tokenizer.ggml.mask_token_id": None}),
        ("roberta", {"bert.attention.head_count_kv": 4, "bert.attention.key_length": 8}),
        ("roberta", {"bert.pooling_type": 2, "bert.attention.causal": None, "general.name": None}),
    ],
)
def test_sound_variants_are_accepted(family: str, changes: dict[str, HeaderValue | None]) -> None:
    encoder_file.precheck_encoder(changed(family, changes))


@families
@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"split.count": 2}, "part 1 of a model that was split into 2 files"),
        ({"general.architecture": None}, "'general.architecture' is missing"),
        ({"general.architecture": "nomic-bert"}, "'nomic-bert' is not that of RoBERTa and BERT"),
        ({"bert.block_count": 0}, "'bert.block_count' is 0"),
        ({"bert.context_length": 3}, "context of 3 tokens is too small"),
        (
            {"bert.context_length": 514},
            "'position_embd.weight' has shape (32, 512), but should have (32, 514)",
        ),
        ({"bert.attention.head_count": None}, "there are 0"),
        ({"bert.attention.head_count": 5}, "do not share vectors of 32 numbers: there are 5"),
        ({"bert.attention.head_count": np.array([4, 4, 4], "u4")}, "not a whole number"),
        ({"bert.attention.head_count_kv": 2}, "'bert.attention.head_count_kv' is 2, but should be 4"),
        ({"bert.expert_count": 4}, "no experts"),
        ({"tokenizer.ggml.model": "t5"}, "tokenizer 't5' is neither RoBERTa's ('gpt2') nor BERT's ('bert')"),
        ({"tokenizer.ggml.model": None}, "no tokenizer"),
        ({"tokenizer.ggml.tokens": [b"a", b"b"], "tokenizer.ggml.token_type": None}, "2 tokens"),
        ({"tokenizer.ggml.seperator_token_id": 99_999}, "'tokenizer.ggml.seperator_token_id' is 99,999"),
        ({"tokenizer.ggml.seperator_token_id": None}, "'tokenizer.ggml.seperator_token_id' is missing"),
        ({"tokenizer.ggml.bos_token_id": 50}, "token 50 is an ordinary one"),
    ],
)
def test_what_cannot_serve_is_refused(family: str, changes: dict[str, HeaderValue | None], what: str) -> None:
    assert what in refusal(changed(family, changes))


@pytest.mark.parametrize(
    ("family", "changes", "what"),
    [
        ("roberta", {"tokenizer.ggml.pre": "llama-bpe"}, "split words like RoBERTa"),
        ("bert", {"tokenizer.ggml.token_type": np.full(172, 6, dtype=np.int32)}, "as bytes"),
    ],
)
def test_words_split_in_another_way_and_tokens_marked_as_bytes_are_refused(
    family: str, changes: dict[str, HeaderValue | None], what: str
) -> None:
    assert what in refusal(changed(family, changes))


@families
@pytest.mark.parametrize(
    ("name", "changes", "what"),
    [
        ("token_embd.weight", {}, "'token_embd.weight' is missing"),
        ("token_embd_norm.bias", {}, "'token_embd_norm.bias' is missing"),
        (
            "token_embd_norm.weight",
            {"shape": (16,)},
            "'token_embd_norm.weight' has shape (16,), but should have (32,)",
        ),
        ("token_types.weight", {"type_id": F16}, "'token_types.weight' has "),
        ("blk.1.ffn_up.bias", {"type_id": F16}, "one dimension and type F16"),
        ("blk.1.ffn_up.weight", {"type_id": F64}, "has type F64"),
    ],
)
def test_useless_tensors_are_refused(family: str, name: str, changes: dict[str, object], what: str) -> None:
    assert what in refusal(with_tensor(family, name, **changes))


@families
def test_random_changes_raise_nothing_but_a_model_file_error(family: str, tmp_path: Path) -> None:
    end = read_header(file_of(family)).data_offset
    changed_files = flipped(file_of(family), tmp_path / "changed.gguf", end, 100)
    assert 0 < how_many_are_refused(encoder_file.read_encoder_file, changed_files) < 100


def check(path: Path) -> CheckedModel:
    return checked_model(encoder_file.read_encoder_file(path), CancelToken())


@families
def test_a_sound_encoder_passes_its_trial_and_is_not_tried_again(family: str, child_that: ChildThat) -> None:
    first = check(file_of(family))
    child_that("raise SystemExit('no trial was expected')")
    assert check(file_of(family)) == first


def test_what_llama_cpp_refuses_is_said_in_its_words_and_nan_is_found(tmp_path: Path) -> None:
    path = tmp_path / "damaged.gguf"
    path.write_bytes(file_of("bert").read_bytes().replace(b"blk.1.ffn_up.weight", b"blk.1.ffn_uq.weight"))
    refused(lambda: check(path), r"cannot load this model: .*blk\.1\.ffn_up\.weight")
    tensors = {"blk.1.ffn_up.weight": lambda rows: rows * np.nan}
    path = rewritten(file_of("bert"), tmp_path / "nan.gguf", tensors=tensors)
    refused(lambda: check(path), "no finite numbers")


def test_a_checked_model_opens_unless_changed_since_its_trial(tmp_path: Path, child_that: ChildThat) -> None:
    child_that("print('{}')")
    path = tmp_path / "bert.gguf"
    path.write_bytes(file_of("bert").read_bytes())
    checked, one_thread = check(path), MachineSettings(threads=1, gpu_layers=0)
    with open_encoder(checked, one_thread, CancelToken()) as encoder:
        (encoded,) = encoder.encode(["Good."])
    assert encoded.vectors.shape[1] == 32
    os.utime(path, (1, 1))
    refused(lambda: open_encoder(checked, one_thread, CancelToken()).__enter__(), "has changed")


def test_vectors_depend_on_the_file(child_that: ChildThat) -> None:
    child_that("print('{}')")
    one, other = (check(file_of(name)) for name in FAMILIES)
    assert encoder_hash(one) != encoder_hash(other)
    assert encoder_hash(one) == encoder_hash(dataclasses.replace(one, path=Path("elsewhere.gguf")))


# An encoder cut to its first layers: the same bytes, fewer of them


def cut(source: Path, layers: int, target: Path) -> Path:
    return encoder_file.cut_encoder(
        encoder_file.read_encoder_file(source), layers, target, CancelToken()
    ).path


def keys(path: Path) -> dict[str, Any]:
    return {key: plain(value) for key, value in read_header(path).metadata.items()}


def plain(value: HeaderValue) -> object:
    """A value, and the type of its elements, that can be compared."""
    return (value.dtype.str, value.tolist()) if isinstance(value, np.ndarray) else value


def tensors(path: Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    return {
        tensor.name: (tensor.tensor_type.name, tuple(tensor.shape.tolist()), tensor.data.tobytes())
        for tensor in gguf.GGUFReader(path).tensors
    }


@families
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_number_of_layers_is_all_that_changes(family: str, layers: int, tmp_path: Path) -> None:
    source = FOLDER / f"{family}.gguf"
    target = cut(source, layers, tmp_path / "cut.gguf")
    assert keys(target) == {**keys(source), "bert.block_count": layers}
    left_out = tuple(f"blk.{number}." for number in range(layers, 3))
    kept = {name: tensor for name, tensor in tensors(source).items() if not name.startswith(left_out)}
    assert tensors(target) == kept
    assert len(kept) == 5 + 16 * layers


@pytest.mark.parametrize("kind", ["F16", "Q8_0", "BF16"])
def test_quantised_layers_keep_their_bytes(kind: str, tmp_path: Path) -> None:
    stored_as = gguf.GGMLQuantizationType[kind]
    source = rewritten(FOLDER / "bert.gguf", tmp_path / "quantised.gguf", stored_as=stored_as)
    target = cut(source, 1, tmp_path / "cut.gguf")
    assert tensors(target)["blk.0.ffn_up.weight"][0] == kind
    assert tensors(target).items() <= tensors(source).items()


def test_a_file_with_another_alignment_keeps_it(tmp_path: Path) -> None:
    source = rewritten(FOLDER / "bert.gguf", tmp_path / "wide.gguf", alignment=128)
    target = cut(source, 2, tmp_path / "cut.gguf")
    assert keys(target)["general.alignment"] == 128
    assert {tensor.offset % 128 for tensor in read_header(target).tensors} == {0}
    assert tensors(target).items() <= tensors(source).items()


@pytest.mark.parametrize("layers", [-1, 0, 4])
def test_a_number_of_layers_that_does_not_fit_is_refused(layers: int, tmp_path: Path) -> None:
    target = tmp_path / "cut.gguf"
    wrong = rf"roberta\.gguf has 3 layers: it has no first {layers}"
    error = refused(lambda: cut(file_of("roberta"), layers, target), wrong)
    assert str(error.hint) == "Choose a number between 1 and 3."
    assert not target.exists()


def test_a_place_that_cannot_be_written_and_a_header_that_is_no_text_are_refused(tmp_path: Path) -> None:
    nowhere, source = tmp_path / "nowhere" / "cut.gguf", tmp_path / "odd.gguf"
    refused(lambda: cut(file_of("bert"), 2, nowhere), "nowhere does not exist")
    source.write_bytes(
        file_of("bert").read_bytes().replace(b"small random", b"small \xff\xfe\xfd\xfc\xfb\xfa")
    )
    refused(lambda: cut(source, 2, tmp_path / "cut.gguf"), r"odd\.gguf: it cannot be copied: .*utf-8")


def test_a_stopped_cut_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    target, cancel = tmp_path / "cut.gguf", CancelToken()
    target.write_bytes(b"old")
    cancel.cancel()
    with pytest.raises(Cancelled):
        encoder_file.cut_encoder(encoder_file.read_encoder_file(FOLDER / "bert.gguf"), 2, target, cancel)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["cut.gguf"]
    assert target.read_bytes() == b"old"
