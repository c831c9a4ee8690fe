"""A library of llama.cpp whose structures are not those that llama-cpp-python declares is refused.

Libraries for the tests are compiled: each answers one question in its own way, all others by the real one.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import llama_cpp
import pytest

from engine.core.errors import SetupError
from engine.llama.layout_check import check_layout
from engine.llama.library import library_folder
from tests.commands import ROOT

CONTEXT = bytes(llama_cpp.llama_context_default_params())
MODEL = bytes(llama_cpp.llama_model_default_params())
SWITCHES = int(vars(llama_cpp.llama_context_params)["embeddings"].offset)
MEASURED = platform.machine().lower() in ("amd64", "x86_64")
compiled = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc"), reason="compiles a library as Linux has them"
)


@pytest.mark.parametrize("machine", ["x86_64", "arm64"])
def test_the_library_that_is_used_fits(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if machine == "x86_64" and not MEASURED:
        pytest.skip("this processor returns structures in another way")
    monkeypatch.setattr(platform, "machine", lambda: machine)
    check_layout(llama_cpp.llama_cpp._lib)


def answering(folder: Path, function: str, answer: bytes) -> Path:
    """A library that returns these bytes as a structure; a text, where they end with a zero."""
    members = ", ".join(map(str, answer))
    text = f"const unsigned char text[] = {{{members}}};\nconst void *{function}(void) {{ return text; }}\n"
    struct = f"struct s {{ unsigned char b[{len(answer)}]; }};\n"
    struct += f"struct s {function}(void) {{ struct s r = {{{{{members}}}}}; return r; }}\n"
    (folder / "answer.c").write_text(text if function == "llama_version" else struct, encoding="utf-8")
    real = library_folder()
    links = ("-Wl,--no-as-needed", f"-L{real}", "-l:libllama.so", f"-Wl,-rpath,{real}")
    made = folder / "libllama.so"
    subprocess.run(["cc", "-shared", "-fPIC", folder / "answer.c", "-o", made, *links], check=True)
    return made


def said_of(library: Path) -> str:
    """What the program says when it is started with a library; nothing where that fits."""
    script = "from engine.llama import check_library; check_library()"
    made = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "LLAMA_CPP_LIB_PATH": str(library.parent)},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return made.stderr


@compiled
@pytest.mark.parametrize(
    ("function", "answer", "said"),
    [
        (
            "llama_context_default_params",
            CONTEXT[:SWITCHES] + bytes(8) + CONTEXT[SWITCHES:],
            "llama_context_params has another default for offload_kqv",
        ),
        (
            "llama_model_default_params",
            MODEL[8:],
            "llama_model_params has another default for tensor_buft_overrides",
        ),
        ("llama_version", b"0.6.0-dev\0", "it is version 0.6.0-dev, not 0.5.0"),
    ],
    ids=["a member more", "a member less", "another version"],
)
def test_another_layout_is_refused(function: str, answer: bytes, said: str, tmp_path: Path) -> None:
    error = said_of(answering(tmp_path, function, answer))
    assert f"SetupError: The library {tmp_path / 'libllama.so'} does not fit" in error
    assert said in error


@compiled
@pytest.mark.skipif(not MEASURED, reason="where the size of an answer cannot be seen")
@pytest.mark.parametrize("more", [8, 512 - len(CONTEXT)])
def test_a_member_more_at_the_end_is_refused(more: int, tmp_path: Path) -> None:
    error = said_of(answering(tmp_path, "llama_context_default_params", CONTEXT + bytes(more)))
    assert f"llama_context_params has {len(CONTEXT) + more} bytes, not {len(CONTEXT)}" in error


@compiled
def test_a_library_that_answers_alike_is_taken(tmp_path: Path) -> None:
    assert said_of(answering(tmp_path, "llama_context_default_params", CONTEXT)) == ""


def test_a_refusal_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.llama.layout_check.VERSION", "0.4.0")
    with pytest.raises(SetupError) as refused:
        check_layout(llama_cpp.llama_cpp._lib)
    assert "LLAMA_CPP_LIB_PATH" in str(refused.value.hint)
