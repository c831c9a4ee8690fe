"""`models devices`: the GPUs of this computer, and what they are worth with a model.

Knows: what is printed. Does not know: how devices are looked for and tried.
"""

from functools import partial

from engine.commands.shared.console import DONE, interruptible, printable, table, tell
from engine.commands.shared.model_argument import model_file
from engine.commands.shared.progress import show_measure
from engine.core.cancel import CancelToken
from engine.core.formatting import amount
from engine.core.settings import Device
from engine.gguf.judge_file import read_model_file
from engine.llama.device_trial import DeviceFinding, DeviceTrial
from engine.llama.speed import ModelSpeed
from engine.loading.devices import device_called, found_devices, try_device, trying_devices
from engine.system.apart import Apart

_DEVICES = ("name", "device", "memory", "driver")
_TRIED = ("computes", "reads", "writes 10", "mean difference", "largest", "")
_NONE = (
    "No GPU is found that llama.cpp can use here. The processor does all the work.\n"
    "The bundles for Linux and Windows bring Vulkan along, which needs the driver of the GPU; from source,\n"
    "llama-cpp-python must be built for one (docs/install-and-bundle.md)."
)


def list_devices() -> int:
    """Print the devices of this computer beside the processor; the exit code."""
    with interruptible() as cancel:
        found = found_devices(cancel)
    if not found:
        print(_NONE)
        return DONE
    rows = [
        [each.name, printable(each.title), amount(each.memory) if each.memory else "", each.driver]
        for each in found
    ]
    print(table(_DEVICES, rows, texts=(0, 1, 3)))
    print("\nWhat each is worth with a model: models devices FILE.gguf")
    return DONE


def try_devices(word: str, wish: str | None, threads: int | None) -> int:
    """Try devices with the model that a word names, and print what came of it; the exit code.

    `wish`: words for the one device to try; None for all.
    """
    model = read_model_file(model_file(word))
    with interruptible() as cancel:
        found = _wished(wish, cancel)
        if not found:
            print(_NONE)
            return DONE
        worker = partial(Apart, try_device, cancel)
        trial = show_measure(printable(model.name), trying_devices(model, threads, cancel, worker, found))
    print(_table(trial))
    print(
        "\nSpeeds are in tokens a second. The difference is that of the probabilities of the next token from"
    )
    print("the processor's, 0 to 1: a sound device differs by rounding alone.")
    best = trial.best
    tell(
        f"{printable(model.name)} will be judged with {printable(best.title)}; --device cpu does without."
        if best
        else f"{printable(model.name)} will be judged by the processor."
    )
    return DONE


def _wished(wish: str | None, cancel: CancelToken) -> list[Device]:
    if wish is None:
        return found_devices(cancel)
    return [device_called(wish, cancel)]


def _table(trial: DeviceTrial) -> str:
    rows = [["the processor", *_speeds(trial.processor), "", "", ""], *map(_row, trial.findings)]
    return table(_TRIED, rows, texts=(0, 5))


def _row(found: DeviceFinding) -> list[str]:
    speeds = _speeds(found.speed) if found.speed else ["", ""]
    distances = [f"{found.mean:.4f}", f"{found.worst:.4f}"] if found.speed else ["", ""]
    return [printable(found.device.title), *speeds, *distances, printable(found.reason) or "sound"]


def _speeds(speed: ModelSpeed) -> list[str]:
    return [f"{speed.reading:,.1f}", f"{speed.writing_ten:,.1f}"]
