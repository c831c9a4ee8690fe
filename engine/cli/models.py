"""`models`: the model files on this computer, listed, checked and measured; its devices; an encoder, cut."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.shared import console
from engine.cli.shared.arguments import add_settings, model_file
from engine.cli.shared.hints import OPTIONS
from engine.cli.shared.progress import show_measure
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.formatting import amount, counted, short_count
from engine.core.tables import Kind, value_text
from engine.models import encoder_file
from engine.models.checks import precheck
from engine.models.finder import FoundModel, by_reason, default_folders, find_models
from engine.models.memory import check_memory, memory_fit, memory_needed
from engine.models.model_file import NO_TEMPLATE, ModelFile, describe, read_model_file, read_whole
from engine.settings.rows import MachineSettings, default_context
from engine.system.computer import available_memory
from engine.system.files import check_targets, write_json
from engine.system.paths import PathKind, found_at, program
from engine.system.subprocess_worker import SubprocessWorker

if TYPE_CHECKING:
    from engine.llama.speed import DeviceFinding, ModelSpeed
    from engine.results.health import RunMass

_LISTED = ("model", "quantisation", "parameters", "size", "context", "memory", "fits", "from", "file")
_TEXTS = ("model", "quantisation", "fits", "from", "file")
_HOW_TO_CUT = "Write: models cut FILE.gguf --layers 17 --out SMALLER.gguf"
_OPTIONS = {"layers": ["cut"], "out": ["cut"], "again": ["speed"], "json": ["speed"], "device": ["devices"]}
_OPTIONS |= {"threads": ["speed", "devices"]}
"""The actions that take each option."""
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


def models() -> console.Parser:
    arguments = console.command_parser(models, _models, _ABOUT)
    arguments.usage = (
        f"{program()} models [FOLDER ...] | models check FILE | models speed FILE ..."
        " | models devices [FILE] | models cut FILE --layers N --out FILE"
    )
    arguments.add_argument("words", nargs="*", metavar="FOLDER")
    # Allows files after an option: models speed --again FILE.
    arguments.parse_args = arguments.parse_intermixed_args  # type: ignore[method-assign]
    speed = arguments.add_argument_group("models speed")
    speed.flag("--again", "measure again, ignoring stored results")
    speed.file("--json", "the same as JSON")
    speed.store("the runs whose answer mass is shown with the speed")
    computer = arguments.add_argument_group("models speed, models devices")
    add_settings(computer, "threads")
    computer.text("--device", "NAME", "devices: try only this one")
    cut = arguments.add_argument_group("models cut")
    cut.number("--layers", "number of layers to keep")
    cut.file("--out", "the file to write")
    return arguments


def _models(options: argparse.Namespace) -> int:
    action, *files = options.words or [""]
    for option, actions in _OPTIONS.items():
        if getattr(options, option) not in (None, False) and action not in actions:
            belongs = " and ".join(f"models {name}" for name in actions)
            raise SetupError(f"--{option} belongs to {belongs}.", "Remove it, or see models --help.")
    match action:
        case "cut":
            _cut(files, options.layers, options.out)
        case "speed":
            if not files:
                raise SetupError("models speed takes one file or more.", "Write: models speed FILE.gguf ...")
            return _measure_files(files, options)
        case "devices":
            if len(files) > 1:
                raise SetupError("models devices takes one file at most.", "Write: models devices FILE.gguf")
            if files:
                _try_devices(files[0], options.device, options.threads)
            else:
                _list_devices()
        case "check":
            if len(files) != 1:
                raise SetupError("models check takes one file.", "Write: models check FILE.gguf")
            _check_model(model_file(files[0]))
        case _:
            _list_models(_folders(options.words) or default_folders())
    return console.DONE


def _folders(words: list[str]) -> list[Path]:
    folders = [Path(word) for word in words]
    for folder in folders:
        found = found_at(folder)
        if found is PathKind.FILE:
            raise SetupError(f"{folder} is a file.", f"To see whether it can judge: models check {folder}")
        if found is not PathKind.FOLDER:
            raise SetupError(f"There is no folder {folder.absolute()}.", "Check its name.")
    return folders


def _check_model(path: Path) -> None:
    from engine.models.checked_model import checked_model
    from engine.models.opening import open_template

    header, files = read_whole(path)
    if encoder_file.is_encoder(header) and len(files) == 1:
        encoder_file.precheck_encoder(header)
        _check_encoder(encoder_file.describe_encoder(header, path))
        return
    precheck(header)
    model = describe(header, *files)
    print(_description(model), flush=True)
    with console.interruptible() as cancel:
        checked = checked_model(model, cancel)
        # What `judge` will report about the chat template.
        with open_template(model.path, cancel) as (_, template):
            note = template.frame.note if model.has_chat_template else f"none: {NO_TEMPLATE}"
    print(_lines({"SHA-256": checked.hash, "chat template": note or "its own"}))
    warning = check_memory(model, default_context(model.trained_context))
    if warning:
        console.tell(warning)
    print("It loads, reads and writes: it can be used.")


def _check_encoder(encoder: encoder_file.EncoderFile) -> None:
    from engine.models.checked_model import checked_model

    print(_description(encoder), flush=True)
    with console.interruptible() as cancel:
        checked = checked_model(encoder, cancel)
    print(f"SHA-256          {checked.hash}")
    if encoder.scored_layers < encoder.layers:
        console.tell(
            f"bert-score uses the first {encoder.scored_layers} layers of such a model. To get the same"
            f" scores: models cut {encoder.path} --layers {encoder.scored_layers} --out SMALLER.gguf"
        )
    print("It loads and reads. It is an encoder: it cannot judge, but can be used with --encoder.")


def _cut(files: list[str], layers: int | None, out: Path | None) -> None:
    if len(files) != 1 or layers is None or out is None:
        raise SetupError("models cut takes one file, --layers and --out.", _HOW_TO_CUT)
    path = Path(files[0])
    encoder = encoder_file.read_encoder_file(path)
    check_targets({"--out": out}, {"encoder itself": path})
    with console.interruptible() as cancel:
        cut = encoder_file.cut_encoder(encoder, layers, out, cancel)
    print(
        f"{out}: the first {cut.layers} of {encoder.layers} layers of {console.printable(encoder.name)},"
        f" {amount(cut.size_bytes)} of {amount(encoder.size_bytes)}."
    )


def _list_models(folders: list[Path]) -> None:
    found = list(find_models(folders))
    usable = [(file, file.model) for file in found if file.model is not None]
    if usable:
        rows = [_row(file, model) for file, model in usable]
        print(console.table(_LISTED, rows, texts=[_LISTED.index(name) for name in _TEXTS]))
        print("\nMemory: with a context of 8,192 tokens, or the trained context if that is smaller.")
        for _, model in usable:
            other_name = [f"called {model.other_name} in its header."] if model.other_name else []
            for remark in (*other_name, *model.remarks):
                print(f"{console.printable(model.name)}: {console.printable(remark)}")
    else:
        print("No usable models found in:\n" + "\n".join(f"  {folder}" for folder in folders))
    for (reason, hint), files in by_reason(found).items():
        names = "\n".join(f"Not usable: {console.printable(f'{file.name}, {file.path}')}" for file in files)
        console.tell(f"{names}\n  {console.printable(reason)}\n  {OPTIONS.of(hint)}")


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


def _description(file: ModelFile) -> str:
    if isinstance(file, encoder_file.EncoderFile):
        needed, with_context, parts, notice = encoder_file.encoder_memory(file), "", "", {}
        kind = {"family": file.family, "layers": f"{file.layers}, vectors of {file.width:,} numbers"}
        size = short_count(file.parameters)
    else:
        context, others = default_context(file.trained_context), len(file.more_files)
        needed, with_context = memory_needed(file, context), f" with a context of {context:,} tokens"
        parts = f", and its {counted(others, 'other part', 'other parts')}" if others else ""
        kind, size = {"architecture": file.architecture}, file.size_in_words
        told = {"notice": file.notice, "tokenizer": file.tokenizer_warning}
        notice = {name: text for name, text in told.items() if text}
    facts = {
        "file": f"{file.path}{parts}",
        "name": file.name,
        "name in header": file.title or "none",
        **kind,
        "quantisation": file.quantisation,
        "parameters": size,
        "size": amount(file.size_bytes),
        "trained context": f"{file.trained_context:,} tokens",
        "memory needed": f"{amount(needed.total)}{with_context}",
        "fits in memory": memory_fit(needed, available_memory()).value,
        **notice,
    }
    return _lines(facts)


def _lines(facts: Mapping[str, str]) -> str:
    return "\n".join(f"{name:17}{console.printable(value)}" for name, value in facts.items())


_NONE = (
    "No GPU was found that llama.cpp can use here. Everything is computed on the CPU.\n"
    "The bundles for Linux and Windows include Vulkan, which needs the driver of the GPU; from source,\n"
    "llama-cpp-python must be built for a GPU (docs/install-and-bundle.md)."
)


def _list_devices() -> None:
    from engine.models import devices

    with console.interruptible() as cancel:
        found = devices.found_devices(cancel)
    if not found:
        print(_NONE)
        return
    rows = [
        [each.name, console.printable(each.title), amount(each.memory) if each.memory else "", each.driver]
        for each in found
    ]
    print(console.table(("name", "device", "memory", "driver"), rows, texts=(0, 1, 3)))
    print("\nTo test each with a model: models devices FILE.gguf")


def _try_devices(word: str, request: str | None, threads: int | None) -> None:
    """Try the one device of this name, None: all, with the model that a word names."""
    from engine.models import devices

    model = read_model_file(model_file(word))
    with console.interruptible() as cancel:
        one = None if request is None else devices.device_called(request, cancel)
        found = devices.found_devices(cancel) if one is None else [one]
        if not found:
            print(_NONE)
            return
        worker = partial(SubprocessWorker, devices.try_device, cancel)
        trial = show_measure(
            console.printable(model.name), devices.trying_devices(model, threads, cancel, worker, found)
        )
    rows = [["CPU", *_speeds(trial.processor), "", "", ""], *map(_device_row, trial.findings)]
    print(console.table(("computes", "reads", "writes 10", "mean difference", "largest", ""), rows, (0, 5)))
    print(
        "\nSpeeds are in tokens per second. The difference is between next-token probabilities on the device"
    )
    print("and on the CPU, 0 to 1: a correct device differs only by rounding.")
    best = trial.best
    where = f"{console.printable(best.title)}; to use the CPU: --device cpu" if best else "the CPU"
    console.tell(f"{console.printable(model.name)} will run on {where}.")


def _device_row(found: "DeviceFinding") -> list[str]:
    measured = [""] * 4
    if found.speed:
        measured = [*_speeds(found.speed), f"{found.mean:.4f}", f"{found.worst:.4f}"]
    return [console.printable(found.device.title), *measured, console.printable(found.reason) or "correct"]


def _speeds(speed: "ModelSpeed") -> list[str]:
    return [f"{speed.reading:,.1f}", f"{speed.writing_ten:,.1f}"]


@dataclass(frozen=True)
class MeasuredModel:
    """A model file with its speed, and the answer mass of its newest run, None without a run."""

    model: ModelFile
    hash: str
    speed: "ModelSpeed"
    run: "RunMass | None" = None

    def as_json(self) -> dict[str, Any]:
        from engine.llama.speed import TEXTS

        run = self.run
        return {
            "file": str(self.model.path),
            "sha256": self.hash,
            "format": self.model.quantisation,
            "bytes": self.model.size_bytes,
            "reading": self.speed.reading,
            "writing_one_text": self.speed.writing_one,
            f"writing_{TEXTS}_texts": self.speed.writing_ten,
            "prompt_tokens": self.speed.prompt,
            "disturbed": self.speed.disturbed,
            "newest_run": {"id": run.run_id, "format_mass": run.mass, "items": run.items} if run else None,
        }


def _measure_files(words: Sequence[str], options: argparse.Namespace) -> int:
    from engine.models.opening import machine_settings

    check_targets({"--json": options.json}, {})
    machine = machine_settings(options.threads)
    found: list[MeasuredModel] = []
    try:
        with console.interruptible() as cancel:
            for word in dict.fromkeys(words):
                found += _measured(word, machine, options.again, cancel)
    finally:  # after a stop, what is measured is shown
        if found:
            _show(found, options)
    return console.DONE if len(found) == len(dict.fromkeys(words)) else console.WRONG_INPUT


def _measured(word: str, machine: MachineSettings, again: bool, cancel: CancelToken) -> list[MeasuredModel]:
    from engine.models.opening import measure_speed, speed_of

    try:
        model = read_model_file(model_file(word))
        measuring = speed_of(model, machine, cancel, partial(SubprocessWorker, measure_speed, cancel), again)
        file_hash, speed = show_measure(console.printable(model.name), measuring)
    except SetupError as error:
        console.tell(f"{error.problem}\n{OPTIONS.of(error.hint)}")
        return []
    return [MeasuredModel(model, file_hash, speed)]


def _show(found: Sequence[MeasuredModel], options: argparse.Namespace) -> None:
    from engine.llama.speed import TEXTS
    from engine.results.health import newest_masses

    runs = newest_masses(options.store, {each.hash for each in found})
    complete = [replace(each, run=runs.get(each.hash)) for each in found]
    if options.json:
        write_json(options.json, [each.as_json() for each in complete])
    header = ("model", "format", "size", "reads", "writes 1", f"writes {TEXTS}", "answer mass", "of run")
    fastest_first = sorted(complete, key=lambda each: -each.speed.reading)
    print(console.table(header, list(map(_speed_row, fastest_first))))
    print("\nSpeeds are in tokens per second on this computer. A fast format may judge worse: check the")
    print(
        "answer mass (well below 100 %: the model gives other answers), and compare runs on labelled items."
    )
    disturbed = [console.printable(each.model.name) for each in complete if each.speed.disturbed]
    if disturbed:
        console.tell(
            f"Other programs used the CPU during the measurement: {', '.join(disturbed)}. Close them, and"
            " measure again with --again."
        )


def _speed_row(measured: MeasuredModel) -> list[str]:
    model, speed, run = measured.model, measured.speed, measured.run
    # No more digits than a second measurement would reproduce.
    rates = (float(f"{rate:.3g}") for rate in (speed.reading, speed.writing_one, speed.writing_ten))
    shown = [value_text(rate, Kind.SHORTEST) for rate in rates]
    mass, number = (run.mass, run.run_id) if run else (None, None)
    of_run = value_text(mass, Kind.SHARE), value_text(number, Kind.COUNT)
    return [model.name, model.quantisation, amount(model.size_bytes), *shown, *of_run]
