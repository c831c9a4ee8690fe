"""`models`: the model files on this computer, or one of them checked.

Knows: its arguments and what it prints. Files are `model_files.py`'s, the trial `model_trial.py`'s.
"""

import argparse
from pathlib import Path

from engine.commands.console import DONE, command_parser, interruptible, printable, table, tell
from engine.errors import SetupError
from engine.model_files import (
    ModelFile,
    amount,
    available_memory,
    check_memory,
    fit,
    memory_needed,
    read_model_file,
)
from engine.model_finder import FoundModel, find_models, usual_folders
from engine.model_trial import checked_model, trial_report
from engine.settings import default_context

_CHECK = "check"


def parser() -> argparse.ArgumentParser:
    """The arguments of `models`."""
    arguments = command_parser(
        "models",
        "models [FOLDER ...]   list the GGUF files in these folders, or where programs usually keep them:\n"
        "                      LM Studio, Jan, GPT4All, Ollama, the Hugging Face cache and our own\n"
        "models check FILE     see whether FILE is sound and can judge: its header, then a trial",
    )
    arguments.usage = "main.py models [FOLDER ...] | models check FILE"
    arguments.add_argument("words", nargs="*", metavar="FOLDER")
    arguments.add_argument("--in-this-process", action="store_true", help=argparse.SUPPRESS)
    return arguments


def run(options: argparse.Namespace) -> int:
    """List or check; the exit code."""
    words: list[str] = options.words
    if words[:1] != [_CHECK]:
        return _list(_folders(words) or usual_folders())
    if len(words) != 2:
        raise SetupError("models check takes one file.", "Write: models check FILE.gguf")
    path = Path(words[1])
    if options.in_this_process:
        code, report = trial_report(path)
        print(report)
        return code
    return _check(path)


def _folders(words: list[str]) -> list[Path]:
    folders = [Path(word) for word in words]
    for folder in folders:
        if folder.is_file():
            raise SetupError(f"{folder} is a file.", f"To see whether it can judge: models check {folder}")
        if not folder.is_dir():
            raise SetupError(f"There is no folder {folder.absolute()}.", "Check its name.")
    return folders


def _check(path: Path) -> int:
    model = read_model_file(path)
    print(_description(model), flush=True)
    with interruptible() as cancel:
        checked = checked_model(model, cancel)
    print(f"SHA-256          {checked.hash}")
    warning = check_memory(model, default_context(model.trained_context))
    if warning:
        tell(warning)
    print("It loads, reads and writes: it can judge.")
    return DONE


def _list(folders: list[Path]) -> int:
    found = list(find_models(folders))
    usable = [(one, one.model) for one in found if one.model is not None]
    if usable:
        rows = [_row(one, model) for one, model in usable]
        print(
            table(
                ["model", "quantisation", "parameters", "size", "context", "memory", "fits", "from", "file"],
                rows,
            )
        )
        print("\nMemory is for a context of 8,192 tokens, or what the model was trained with.")
        for _, model in usable:
            if model.notice:
                print(f"{printable(model.name)}: {printable(model.notice)}")
    else:
        print("No usable models found in:\n" + "\n".join(f"  {folder}" for folder in folders))
    for one in found:
        if one.error is not None:
            tell(f"Not usable: {one.path}\n  {one.error.problem}\n  {one.error.remedy}")
    return DONE


def _row(one: FoundModel, model: ModelFile) -> list[str]:
    needed = memory_needed(model, default_context(model.trained_context))
    available, total = available_memory()
    return [
        model.name,
        model.quantisation,
        _count(model.parameters),
        amount(model.size_bytes),
        f"{model.trained_context:,}",
        amount(needed.total),
        fit(needed, available, total).value,
        one.source,
        str(one.path),
    ]


def _description(model: ModelFile) -> str:
    context = default_context(model.trained_context)
    needed = memory_needed(model, context)
    facts = {
        "file": str(model.path),
        "name": model.name,
        "architecture": model.architecture,
        "quantisation": model.quantisation,
        "parameters": _count(model.parameters),
        "size": amount(model.size_bytes),
        "trained context": f"{model.trained_context:,} tokens",
        "chat template": "its own" if model.has_chat_template else "none: plain text will be used",
        "memory needed": f"{amount(needed.total)} with a context of {context:,} tokens",
        "fits here": fit(needed, *available_memory()).value,
    }
    if model.notice:
        facts["notice"] = model.notice
    return "\n".join(f"{name:17}{printable(value)}" for name, value in facts.items())


def _count(parameters: int) -> str:
    return f"{parameters / 1e9:.1f} B" if parameters >= 1e9 else f"{parameters / 1e6:.1f} M"
