"""`models`: files listed, or why they cannot judge; encoders checked and cut; speeds; what is refused."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from engine.models.encoder_file import read_encoder_file
from engine.models.opening import remember_speed, remembered_speed
from engine.settings.rows import MachineSettings
from engine.system.files import file_hash
from engine.system.paths import demo_model
from tests.commands import ROOT, ended, facts, printed, refusal, run_here
from tests.encoders.rewritten import FAMILIES, FOLDER
from tests.model_files import JUDGES, OTHERS, Listed, PublishedFile
from tests.random_models import HEADERS, byte_level_bpe, write_random_model
from tests.small_models import HEADER_TOKENS, SPLIT, split_model

BERT, ROBERTA = FOLDER / "bert.gguf", FOLDER / "roberta.gguf"
DEMO = ROOT / "examples" / "demo.tsv"


@pytest.mark.parametrize(("file", "listed"), JUDGES, ids=[file.path for file, _ in JUDGES])
def test_a_judge_is_listed_as_people_know_it(tmp_path: Path, file: PublishedFile, listed: Listed) -> None:
    file.write(tmp_path)
    done = run_here("models", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    _header, line, *_ = done.stdout.splitlines()
    name, quantisation, _parameters, _size, context, _memory, fits, source, path = re.split(" {2,}", line)
    assert (name, quantisation, context) == (listed.name, listed.quantisation, listed.context)
    assert (fits, source, Path(path).is_file()) == ("fits", tmp_path.name, True)
    said = [one for one in done.stdout.splitlines() if one.startswith(f"{listed.name}: ")]
    assert len(said) == len(listed.remarks)
    for remark, one in zip(listed.remarks, said, strict=True):
        assert remark in one


@pytest.mark.parametrize(("file", "name", "why"), OTHERS, ids=[file.path for file, *_ in OTHERS])
def test_what_cannot_judge_is_named_and_why(tmp_path: Path, file: PublishedFile, name: str, why: str) -> None:
    path = file.write(tmp_path)
    done = run_here("models", tmp_path)
    assert "No usable models found" in done.stdout
    first, problem, _hint = done.stderr.splitlines()
    assert first == f"Not usable: {name}, {path}"
    assert why in problem
    assert why in run_here("models", "check", path).stderr


def test_a_check_tells_both_names_and_all_parts(tmp_path: Path) -> None:
    first = split_model(tmp_path)
    done = printed("models", "check", first.with_name(SPLIT[1]))
    told = facts(done)
    assert told["file"] == f"{first}, and its 2 other parts"
    assert (told["name"], told["name in header"]) == ("Split-1B-Instruct-F16", "random weights")


def test_a_mixture_is_described_with_its_experts(tmp_path: Path) -> None:
    (mixture,) = [file for file, _ in JUDGES if file.architecture == "qwen3moe"]
    done = run_here("models", "check", mixture.write(tmp_path))
    assert "0.3 M (8 of 128 experts at a time)" in done.stdout


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


def test_a_tokenizer_that_does_not_tell_how_it_splits_is_named_by_list_check_and_plan(tmp_path: Path) -> None:
    """llama.cpp loads it and splits otherwise; it warns in its log alone."""
    path = random_model(tmp_path, HEADERS)
    path.write_bytes(path.read_bytes().replace(b"tokenizer.ggml.pre", b"tokenizer.ggml.not"))
    said = "how text is split before it is tokenized (tokenizer.ggml.pre)"
    assert said in facts(printed("models", "check", path))["tokenizer"]
    assert said in printed("models", tmp_path)
    assert said in run_here("judge", DEMO, "--model", path, "--items", 1, "--plan").stderr


def test_a_tokenizer_of_a_newer_llama_cpp_needs_a_newer_version_and_no_new_download(tmp_path: Path) -> None:
    table = byte_level_bpe(HEADER_TOKENS, pre="of-tomorrow")
    done = refusal("models", "check", write_random_model(tmp_path / "model.gguf", table, HEADERS))
    assert "unknown pre-tokenizer type: 'of-tomorrow'" in done
    assert "choose a newer version of Tiebreak" in done
    assert "ownload" not in done


def random_model(folder: Path, template: str | None) -> Path:
    return write_random_model(folder / "model.gguf", byte_level_bpe(HEADER_TOKENS), template)


def test_cut_writes_a_smaller_encoder_and_says_so(tmp_path: Path) -> None:
    target = tmp_path / "cut.gguf"
    done = printed("models", "cut", ROBERTA, "--layers", 2, "--out", target)
    assert f"{target}: the first 2 of 3 layers of roberta," in done
    assert read_encoder_file(target).layers == 2


@pytest.mark.usefixtures("demo_tried")
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["cut", BERT, "--layers", 9, "--out", "OUT"], "bert.gguf has 3 layers: it has no first 9"),
        (["cut", BERT, "--layers", 2, "--out", BERT], "bert.gguf is the encoder itself"),
        (["cut", BERT, "--layers", 2], "models cut takes one file, --layers and --out"),
        (["cut", "--layers", 2, "--out", "OUT"], "models cut takes one file, --layers and --out"),
        (["cut", "none.gguf", "--layers", 2, "--out", "OUT"], "there is no such file"),
        (["cut", demo_model(), "--layers", 2, "--out", "OUT"], "Choose a RoBERTa or BERT encoder"),
        (["check", BERT, "--layers", 2], "--layers belongs to models cut"),
        (["speed"], "models speed takes one file or more"),
        (["devices", "demo", "demo"], "models devices takes one file at most"),
        (["check", "none.gguf"], "none.gguf: there is no such file"),
        (["check", "demo", "--again"], "--again belongs to models speed"),
        (["speed", "demo", "--out", "x.gguf"], "--out belongs to models cut"),
        (["speed", "demo", "--json", "nowhere/x.json"], "nowhere does not exist"),
        (["nowhere"], "There is no folder"),
        ([demo_model()], "To see whether it can judge: models check"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, words: list[object], problem: str) -> None:
    target = tmp_path / "cut.gguf"
    assert problem in refusal("models", *(target if word == "OUT" else word for word in words))
    assert not target.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("demo_tried")
def test_the_speed_of_models_is_a_table_beside_format_mass_and_tells_a_plan_its_time(tmp_path: Path) -> None:
    store, out, broken = tmp_path / "runs.sqlite", tmp_path / "speed.json", tmp_path / "broken.gguf"
    judge = ["judge", DEMO, "--model", "demo", "--mode", "labels", "--threads", 1]
    ended(*judge, "--items", 2, "--store", store, "--out", tmp_path / "out.tsv")
    broken.write_bytes(demo_model().read_bytes()[:5000])
    words = ["--store", store, "--threads", 1, "--json", out]
    done = run_here("models", "speed", broken, "demo", tmp_path / "none.gguf", *words)
    # A file that cannot be opened is an error for it alone.
    assert done.returncode == 2
    assert "broken.gguf" in done.stderr
    assert "none.gguf: there is no such file" in done.stderr
    header, line, *_ = done.stdout.splitlines()
    titles = ["model", "format", "size", "reads", "writes 1", "writes 10", "answer mass", "of run"]
    assert re.split(" {2,}", header) == titles
    assert line.startswith("demo-judge     F16")
    assert line.split()[-1] == "1"
    (found,) = json.loads(out.read_bytes())
    assert found["file"] == str(demo_model())
    assert found["newest_run"]["id"] == 1
    assert 0.5 < found["newest_run"]["format_mass"] <= 1
    assert min(found[name] for name in ("reading", "writing_one_text", "writing_10_texts")) > 0
    # Remembered: the very same numbers, until they are wanted anew.
    ended("models", "speed", "demo", *words)
    assert json.loads(out.read_bytes()) == [found]
    asked = [*judge, "--items", 4, "--store", tmp_path / "none.sqlite", "--plan"]
    plan = run_here(*asked)
    assert "at the speed of this model file when it was measured here." in plan.stdout
    assert "judging some items" not in plan.stderr
    assert "measured here, with explanations of 50 tokens." in run_here(*asked, "--mode", "explain").stdout
    assert "at the speed of some items of typical length" in run_here(*asked, "--threads", 2).stdout
    of_demo = (file_hash(demo_model()), MachineSettings(threads=1))
    known = remembered_speed(*of_demo)
    assert known is not None
    remember_speed(*of_demo, replace(known, reading=1e-6))  # so slow is none
    ended("models", "speed", "demo", *words)
    assert json.loads(out.read_bytes())[0]["reading"] == 1e-6
    ended("models", "speed", "--again", "demo", *words)
    assert json.loads(out.read_bytes())[0]["reading"] > 1e-3
