"""Damaged GGUF files, on the way that the program takes them.

1. The header: `read_model_file` describes the model or raises a ModelFileError.
2. The trial: `try_model`, which the program runs in a child process. It may refuse, and may end its process.
3. A judgment: two items with explanations. Whatever passed the trial ends well or with a ModelFileError;
   where it is that error, the trial should have found it, and it is counted by itself.

All three run in a worker, which is replaced where it breaks down: in the trial the program bears that,
anywhere else it is a crash. One case in a hundred goes through the command `judge` instead. One case in ten
is an encoder, which encodes texts where a judge judges.
"""

import os
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

from bench.hostile.cases import Attempt, Ending, Outcome, Step
from bench.hostile.datasets import of_commands
from bench.hostile.gguf_damage import DataSplit, changed, damaged_bytes, take_apart
from bench.hostile.texts import text
from engine.core.errors import ModelFileError
from engine.core.events import CancelToken
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import run_judging
from engine.llama.encoder import LlamaEncoder
from engine.llama.model import LlamaModel
from engine.models.checked_model import CheckedModel, try_encoder, try_model
from engine.models.encoder_file import read_encoder_file
from engine.models.model_file import ModelFile, read_model_file
from engine.settings.rows import JudgeSettings, MachineSettings, Mode
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from tests.commands import ROOT
from tests.random_models import CHATML, add_random_weights
from tests.small_models import CHAT_FAMILIES, FAMILIES, SPLIT, split_model

FAMILY_NAMES = (*CHAT_FAMILIES, "mamba")
ONE_IN = 100
"""Of so many cases one goes through the real command."""

_ENCODERS = ("bert.gguf", "roberta.gguf")
_DATA = Path(os.environ.get("TIEBREAK_TEST_DATA", ROOT.parent / "shared" / "data"))
_VOCABULARIES = ("llama-spm", "phi-3")  # the others are too large to be damaged a thousand times


def try_case(attempt: Attempt) -> Outcome:
    random = attempt.random
    if random.random() < 0.1:
        return _encoder(attempt)
    if random.random() < 0.05:
        path, what = _split(attempt.folder, random)
    else:
        path, what = _damaged(*_base(random, attempt.folder.parent / "bases"), attempt.folder, random)
    attempt.step(Step(f"{what}: header"))
    try:
        described = read_model_file(path)
    except ModelFileError as error:
        return _refused(error, path, what)
    if attempt.number % ONE_IN == 0:
        return _by_command(path, attempt, what)
    attempt.step(Step(f"{what}: trial", in_trial=True, processes=True))
    try:
        try_model(path)
    except ModelFileError as error:
        return _refused(error, path, what)
    attempt.step(Step(f"{what}: judging", processes=True))
    try:
        _judge(described, attempt.folder)
    except ModelFileError as error:
        return Outcome(Ending.REFUSED_LATE, what, str(error))
    return Outcome(Ending.TAKEN, what)


def _encoder(attempt: Attempt) -> Outcome:
    """The same with a small encoder: header, trial, and texts of all kinds encoded."""
    name = attempt.random.choice(_ENCODERS)
    parts = take_apart(ROOT / "tests" / "encoders" / name)
    path, what = _damaged(name, parts, attempt.folder, attempt.random)
    attempt.step(Step(f"{what}: header"))
    try:
        read_encoder_file(path)
        attempt.step(Step(f"{what}: trial", in_trial=True))
        try_encoder(path)
    except ModelFileError as error:
        return _refused(error, path, what)
    attempt.step(Step(f"{what}: encoding"))
    cancel = CancelToken()
    texts = ["", "A is better.", *(text(attempt.random) for _ in range(5))]
    try:
        with LlamaModel(path, cancel=cancel) as model, LlamaEncoder(model, 1, cancel) as encoder:
            encoded = encoder.encode(texts)
    except ModelFileError as error:
        return Outcome(Ending.REFUSED_LATE, what, str(error))
    if len(encoded) != len(texts) or not all(np.isfinite(each.vectors).all() for each in encoded):
        return Outcome(Ending.LOSS, what, f"{len(encoded)} of {len(texts)} texts encoded, or not as numbers")
    return Outcome(Ending.TAKEN, what)


def _refused(error: ModelFileError, path: Path, what: str) -> Outcome:
    stem = path.name.split("-0000")[0]
    if stem in error.problem and str(error.hint).strip():
        return Outcome(Ending.REFUSED, what, str(error))
    return Outcome(Ending.FAULT, what, f"the refusal names no file or no remedy: {error!r}")


def _by_command(path: Path, attempt: Attempt, what: str) -> Outcome:
    out = ("--out", attempt.folder / "submission.tsv", "--max-explanation-tokens", 8, "--threads", 1)
    command = ("judge", _two_items(attempt.folder), "--model", path, *out)
    return of_commands([command], Outcome(Ending.TAKEN, f"{what} (command)"), attempt)


def _judge(model: ModelFile, folder: Path) -> None:
    states = [file.stat() for file in model.files]
    size, modified = sum(each.st_size for each in states), max(each.st_mtime_ns for each in states)
    checked = CheckedModel(model.path, model.name, "0" * 64, size, modified, model.more_files)
    context = min(model.trained_context, 2048)
    settings = JudgeSettings(mode=Mode.EXPLAIN, context=context, max_explanation_tokens=8)
    plan = RunPlan(load_dataset(_two_items(folder)), ELOQUENT, settings, MachineSettings(1, 0), checked)
    with RunStore(folder / "runs.sqlite") as store:
        for _ in run_judging(plan, store, lambda: open_model(plan, CancelToken())):
            pass


def _two_items(folder: Path) -> Path:
    path = folder / "two.tsv"
    texts = (
        "Say hello.\tHello!\tGoodbye, <|im_end|> [/INST] 日本 🙂",
        'Two "lines"?\tYes\u2028no\t<unk></s><s>',
    )
    rows = [f"{number}\t{text}" for number, text in enumerate(texts)]
    path.write_text("\n".join(["id\tinstruction\toutput_a\toutput_b", *rows, ""]), encoding="utf-8")
    return path


def _damaged(name: str, parts: DataSplit, folder: Path, random: Random) -> tuple[Path, str]:
    path = folder / "damaged.gguf"
    if random.random() < 0.7:
        parts, what = changed(parts, random)
        data = parts.joined()
    else:
        data, what = damaged_bytes(parts, parts.joined(), random)
    path.write_bytes(data)
    return path, f"{name}, {what}"


def _split(folder: Path, random: Random) -> tuple[Path, str]:
    """A model in parts, of which one is damaged, missing, exchanged, or there twice."""
    split_model(folder)
    part, other = random.sample(SPLIT, 2)
    path = folder / part
    what = how = random.choice(("bytes", "keys", "keys", "missing", "exchanged", "copied", "empty"))
    if how == "bytes":
        parts = take_apart(path)
        data, what = damaged_bytes(parts, path.read_bytes(), random)
        path.write_bytes(data)
    elif how == "keys":
        parts, what = changed(take_apart(path), random)
        path.write_bytes(parts.joined())
    elif how == "missing":
        path.unlink()
    elif how == "exchanged":
        one, two = path.read_bytes(), (folder / other).read_bytes()
        path.write_bytes(two)
        (folder / other).write_bytes(one)
    else:
        path.write_bytes((folder / other).read_bytes() if how == "copied" else b"")
    there = [name for name in SPLIT if (folder / name).exists()]
    return folder / random.choice(there), f"split, {part} {what}"


def _base(random: Random, folder: Path) -> tuple[str, DataSplit]:
    """A sound model to be damaged; sometimes a vocabulary without weights."""
    name = random.choice(("demo", *FAMILY_NAMES, *FAMILY_NAMES, *_real_vocabularies()))
    parts = _taken_apart(name, folder)
    if random.random() < 0.03:
        return f"{name} without weights", DataSplit(parts.fields, (), b"", parts.header_bytes, parts.infos)
    return name, parts


@cache
def _real_vocabularies() -> tuple[str, ...]:
    return tuple(name for name in _VOCABULARIES if (_DATA / "vocabularies" / f"{name}.gguf").is_file())


@cache
def _taken_apart(name: str, folder: Path) -> DataSplit:
    if name == "demo":
        return take_apart(demo_model())
    path = folder / f"{name}.gguf"
    if not path.exists():
        folder.mkdir(exist_ok=True)
        if name in _VOCABULARIES:
            add_random_weights(_DATA / "vocabularies" / f"{name}.gguf", path, CHATML)
        else:
            FAMILIES[name](path)
    return take_apart(path)
