"""`models check` and `models cut` of encoders: what they print, and how they refuse."""

from pathlib import Path

import pytest

from engine.models.encoder_file import read_encoder_file
from engine.system.paths import demo_model
from tests.commands import printed, refusal
from tests.encoders.rewritten import FAMILIES, FOLDER
from tests.random_models import HEADERS, byte_level_bpe, write_random_model
from tests.small_models import HEADER_TOKENS

BERT, ROBERTA = FOLDER / "bert.gguf", FOLDER / "roberta.gguf"


@pytest.mark.parametrize("family", FAMILIES)
def test_check_says_that_an_encoder_can_serve(family: str) -> None:
    done = printed("models", "check", FOLDER / f"{family}.gguf")
    assert "It is an encoder: it cannot judge, but can be used with --encoder" in done
    assert "3, vectors of 32 numbers" in done


def test_check_tries_an_encoder(tmp_path: Path) -> None:
    path = tmp_path / "damaged.gguf"
    path.write_bytes(BERT.read_bytes().replace(b"blk.1.ffn_up.weight", b"blk.1.ffn_uq.weight"))
    done = refusal("models", "check", path)
    assert "llama.cpp cannot load this model" in done
    assert "Traceback" not in done


def test_check_refuses_an_encoder_that_cannot_serve(tmp_path: Path) -> None:
    path = tmp_path / "damaged.gguf"
    path.write_bytes(BERT.read_bytes().replace(b"position_embd.weight", b"position_embx.weight"))
    assert "damaged.gguf: tensor 'position_embd.weight' is missing" in refusal("models", "check", path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "said"),
    [
        (HEADERS, "chat template    its own"),
        (None, "chat template    none: plain text is used"),
        ("{{ raise_exception('not today') }}", "cannot be used (not today): plain text is used."),
        (HEADERS + "{% if add_generation_prompt %}<think>\n{% endif %}", "opens a reasoning block (<think>)"),
    ],
)
def test_check_says_what_judging_will_make_of_the_chat_template(
    tmp_path: Path, template: str | None, said: str
) -> None:
    done = printed("models", "check", random_model(tmp_path, template))
    assert said in done
    assert "it can be used" in done


def random_model(folder: Path, template: str | None) -> Path:
    """A model with random weights and a template."""
    return write_random_model(folder / "model.gguf", byte_level_bpe(HEADER_TOKENS), template)


def test_cut_writes_a_smaller_encoder_and_says_so(tmp_path: Path) -> None:
    target = tmp_path / "cut.gguf"
    done = printed("models", "cut", ROBERTA, "--layers", 2, "--out", target)
    assert f"{target}: the first 2 of 3 layers of roberta," in done
    assert read_encoder_file(target).layers == 2


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["cut", BERT, "--layers", 9, "--out", "OUT"], "bert.gguf has 3 layers: it has no first 9"),
        (["cut", BERT, "--layers", 2, "--out", BERT], "bert.gguf is the encoder itself"),
        (["cut", BERT, "--layers", 2], "models cut takes one file, --layers and --out"),
        (["cut", "--layers", 2, "--out", "OUT"], "models cut takes one file, --layers and --out"),
        (["cut", "none.gguf", "--layers", 2, "--out", "OUT"], "there is no such file"),
        (["check", BERT, "--layers", 2], "--layers belongs to models cut"),
    ],
)
def test_what_cannot_be_cut_is_refused(tmp_path: Path, words: list[object], problem: str) -> None:
    target = tmp_path / "cut.gguf"
    assert problem in refusal("models", *(target if word == "OUT" else word for word in words))
    assert not target.exists()


def test_a_text_generator_cannot_be_cut(tmp_path: Path) -> None:
    done = refusal("models", "cut", demo_model(), "--layers", 2, "--out", tmp_path / "cut.gguf")
    assert "Choose a RoBERTa or BERT encoder" in done
