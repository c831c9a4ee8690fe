"""`models`: list the model files on this computer; check or measure some; cut an encoder.

Knows: its arguments and what it prints.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from engine.cli.model_files import list_devices, measure_files, try_devices
from engine.cli.shared.console import DONE, add_store, command_parser, interruptible, printable, table, tell
from engine.cli.shared.data_arguments import model_file
from engine.cli.shared.hints import OPTIONS
from engine.cli.shared.setting_arguments import add_settings
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.formatting import amount, counted, short_count
from engine.models.checked_model import checked_encoder, checked_model
from engine.models.checks import precheck
from engine.models.encoder_file import (
    EncoderFile,
    cut_encoder,
    describe_encoder,
    encoder_memory,
    is_encoder,
    precheck_encoder,
    read_encoder_file,
)
from engine.models.finder import FoundModel, by_reason, default_folders, find_models
from engine.models.memory import check_memory, memory_fit, memory_needed
from engine.models.model_file import NO_TEMPLATE, ModelFile, describe, read_whole
from engine.models.opening import open_template
from engine.settings.rows import default_context
from engine.system.computer import available_memory
from engine.system.files import check_targets
from engine.system.paths import PathKind, found_at, program

_CUT, _SPEED, _DEVICES = "cut", "speed", "devices"
_COLUMNS = ("model", "quantisation", "parameters", "size", "context", "memory", "fits", "from", "file")
_TEXTS = ("model", "quantisation", "fits", "from", "file")
_HOW_TO_CUT = "Write: models cut FILE.gguf --layers 17 --out SMALLER.gguf"
_OPTIONS = {
    "--layers": (_CUT,),
    "--out": (_CUT,),
    "--again": (_SPEED,),
    "--json": (_SPEED,),
    "--threads": (_SPEED, _DEVICES),
    "--device": (_DEVICES,),
}
"""The options, and the actions that take each."""


_ABOUT = """\
models [FOLDER ...]   list the GGUF files in these folders, or in the default folders of LM Studio, Jan,
                      GPT4All, Ollama, llama.cpp, the Hugging Face cache and Tiebreak
models check FILE     test whether FILE is valid and can judge, or serve as encoder for BERTScore:
                      its header, then a trial; FILE may be a part of the name
models speed FILE ... measure how fast each reads and writes on this computer; the result is stored
models devices [FILE] list the GPUs of this computer; with FILE, test which of them compute it correctly
                      and faster than the processor: `judge` then uses the fastest
models cut FILE       write a smaller encoder with only the layers that BERTScore uses:
                      --layers 17 --out FILE for roberta-large"""


def parser() -> argparse.ArgumentParser:
    """The arguments of `models`."""
    arguments = command_parser("models", _ABOUT)
    arguments.usage = (
        f"{program()} models [FOLDER ...] | models check FILE | models speed FILE ..."
        " | models devices [FILE] | models cut FILE --layers N --out FILE"
    )
    arguments.add_argument("words", nargs="*", metavar="FOLDER")
    _add_options(arguments)
    # Allows files after an option: models speed --again FILE.
    arguments.parse_args = arguments.parse_intermixed_args  # type: ignore[method-assign]
    return arguments


def _add_options(arguments: argparse.ArgumentParser) -> None:
    """The options that only one action takes."""
    speed = arguments.add_argument_group("models speed")
    speed.add_argument("--again", action="store_true", help="measure again, ignoring stored results")
    speed.add_argument("--json", type=Path, metavar="FILE", help="the same as JSON")
    add_store(speed, "the runs whose answer mass is shown with the speed")
    computer = arguments.add_argument_group("models speed, models devices")
    add_settings(computer, "threads")
    computer.add_argument("--device", metavar="NAME", help="devices: try only this one")
    cut = arguments.add_argument_group("models cut")
    cut.add_argument("--layers", type=int, metavar="N", help="number of layers to keep")
    cut.add_argument("--out", type=Path, metavar="FILE", help="the file to write")


def run(options: argparse.Namespace) -> int:
    """List, check, measure or cut; the exit code."""
    action, *files = options.words or [""]
    _refuse_stray_options(options, action)
    match action:
        case "cut":
            return _cut(files, options.layers, options.out)
        case "speed":
            if not files:
                raise SetupError("models speed takes one file or more.", "Write: models speed FILE.gguf ...")
            return measure_files(files, options)
        case "devices":
            return _devices(files, options)
        case "check":
            return _check_one(files)
        case _:
            return _list(_folders(options.words) or default_folders())


def _refuse_stray_options(options: argparse.Namespace, action: str) -> None:
    """SetupError for an option that belongs to another action."""
    for option, actions in _OPTIONS.items():
        given = getattr(options, option.removeprefix("--").replace("-", "_"))
        if given not in (None, False) and action not in actions:
            belongs = " and ".join(f"models {name}" for name in actions)
            raise SetupError(f"{option} belongs to {belongs}.", "Remove it, or see models --help.")


def _check_one(files: list[str]) -> int:
    if len(files) != 1:
        raise SetupError("models check takes one file.", "Write: models check FILE.gguf")
    return _check(model_file(files[0]))


def _devices(files: list[str], options: argparse.Namespace) -> int:
    if len(files) > 1:
        raise SetupError("models devices takes one file at most.", "Write: models devices FILE.gguf")
    return try_devices(files[0], options.device, options.threads) if files else list_devices()


def _folders(words: list[str]) -> list[Path]:
    folders = [Path(word) for word in words]
    for folder in folders:
        found = found_at(folder)
        if found is PathKind.FILE:
            raise SetupError(f"{folder} is a file.", f"To see whether it can judge: models check {folder}")
        if found is not PathKind.FOLDER:
            raise SetupError(f"There is no folder {folder.absolute()}.", "Check its name.")
    return folders


def _check(path: Path) -> int:
    header, files = read_whole(path)
    if is_encoder(header) and len(files) == 1:
        precheck_encoder(header)
        return _check_encoder(describe_encoder(header, path))
    precheck(header)
    model = describe(header, *files)
    print(_description(model), flush=True)
    with interruptible() as cancel:
        checked = checked_model(model, cancel)
        note = _template_note(model, cancel)
    print(_lines({"SHA-256": checked.hash, "chat template": note or "its own"}))
    warning = check_memory(model, default_context(model.trained_context))
    if warning:
        tell(warning)
    print("It loads, reads and writes: it can be used.")
    return DONE


def _template_note(model: ModelFile, cancel: CancelToken) -> str:
    """What `judge` will report about the chat template; empty if it is used unchanged."""
    with open_template(model.path, cancel) as (_, template):
        note = template.frame.note
    return note if model.has_chat_template else f"none: {NO_TEMPLATE}"


def _check_encoder(encoder: EncoderFile) -> int:
    print(_encoder_description(encoder), flush=True)
    with interruptible() as cancel:
        checked = checked_encoder(encoder, cancel)
    print(f"SHA-256          {checked.hash}")
    if encoder.scored_layers < encoder.layers:
        tell(
            f"bert-score uses the first {encoder.scored_layers} layers of such a model. To get the same"
            f" scores: models cut {encoder.path} --layers {encoder.scored_layers} --out SMALLER.gguf"
        )
    print("It loads and reads. It is an encoder: it cannot judge, but can be used with --encoder.")
    return DONE


def _cut(files: list[str], layers: int | None, out: Path | None) -> int:
    if len(files) != 1 or layers is None or out is None:
        raise SetupError("models cut takes one file, --layers and --out.", _HOW_TO_CUT)
    path = Path(files[0])
    encoder = read_encoder_file(path)
    check_targets({"--out": out}, {"encoder itself": path})
    with interruptible() as cancel:
        cut = cut_encoder(encoder, layers, out, cancel)
    print(
        f"{out}: the first {cut.layers} of {encoder.layers} layers of {printable(encoder.name)},"
        f" {amount(cut.size_bytes)} of {amount(encoder.size_bytes)}."
    )
    return DONE


def _list(folders: list[Path]) -> int:
    found = list(find_models(folders))
    usable = [(file, file.model) for file in found if file.model is not None]
    if usable:
        rows = [_row(file, model) for file, model in usable]
        print(table(_COLUMNS, rows, texts=[_COLUMNS.index(name) for name in _TEXTS]))
        print("\nMemory: with a context of 8,192 tokens, or the trained context if that is smaller.")
        for _, model in usable:
            other_name = [f"called {model.other_name} in its header."] if model.other_name else []
            for remark in (*other_name, *model.remarks):
                print(f"{printable(model.name)}: {printable(remark)}")
    else:
        print("No usable models found in:\n" + "\n".join(f"  {folder}" for folder in folders))
    for (reason, hint), files in by_reason(found).items():
        names = "\n".join(f"Not usable: {printable(f'{file.name}, {file.path}')}" for file in files)
        tell(f"{names}\n  {printable(reason)}\n  {OPTIONS.of(hint)}")
    return DONE


def _row(file: FoundModel, model: ModelFile) -> list[str]:
    needed = memory_needed(model, default_context(model.trained_context))
    return [
        model.name,
        model.quantisation,
        short_count(model.parameters),
        amount(model.size_bytes),
        f"{model.trained_context:,}",
        amount(needed.total),
        memory_fit(needed, available_memory()).value,
        file.source,
        str(file.path),
    ]


def _description(model: ModelFile) -> str:
    context = default_context(model.trained_context)
    needed = memory_needed(model, context)
    parts = (
        f", and its {counted(len(model.more_files), 'other part', 'other parts')}" if model.more_files else ""
    )
    facts = {
        "file": f"{model.path}{parts}",
        "name": model.name,
        "name in header": model.title or "none",
        "architecture": model.architecture,
        "quantisation": model.quantisation,
        "parameters": model.size_in_words,
        "size": amount(model.size_bytes),
        "trained context": f"{model.trained_context:,} tokens",
        "memory needed": f"{amount(needed.total)} with a context of {context:,} tokens",
        "fits in memory": memory_fit(needed, available_memory()).value,
    }
    if model.notice:
        facts["notice"] = model.notice
    return _lines(facts)


def _encoder_description(encoder: EncoderFile) -> str:
    needed = encoder_memory(encoder)
    return _lines(
        {
            "file": str(encoder.path),
            "name": encoder.name,
            "name in header": encoder.title or "none",
            "family": encoder.family,
            "layers": f"{encoder.layers}, vectors of {encoder.width:,} numbers",
            "quantisation": encoder.quantisation,
            "parameters": short_count(encoder.parameters),
            "size": amount(encoder.size_bytes),
            "trained context": f"{encoder.trained_context:,} tokens",
            "memory needed": amount(needed.total),
            "fits in memory": memory_fit(needed, available_memory()).value,
        }
    )


def _lines(facts: Mapping[str, str]) -> str:
    return "\n".join(f"{name:17}{printable(value)}" for name, value in facts.items())
