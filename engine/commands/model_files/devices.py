"""`models devices`: the GPUs of this computer, and their speed and accuracy with a model.

Knows: what is printed. Does not know: how devices are found and tried.
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
from engine.system.apart import SubprocessWorker

_DEVICES = ("name", "device", "memory", "driver")
_TRIED = ("computes", "reads", "writes 10", "mean difference", "largest", "")
_NONE = (
    "No GPU was found that llama.cpp can use here. Everything is computed on the CPU.\n"
    "The bundles for Linux and Windows include Vulkan, which needs the driver of the GPU; from source,\n"
    "llama-cpp-python must be built for a GPU (docs/install-and-bundle.md)."
)


def list_devices() -> int:
    """Print the GPUs of this computer; the exit code."""
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
    print("\nTo test each with a model: models devices FILE.gguf")
    return DONE


def try_devices(word: str, request: str | None, threads: int | None) -> int:
    """Try devices with the model that a word names, and print the results; the exit code.

    `request`: the name of the one device to try; None for all.
    """
    model = read_model_file(model_file(word))
    with interruptible() as cancel:
        found = _wished(request, cancel)
        if not found:
            print(_NONE)
            return DONE
        worker = partial(SubprocessWorker, try_device, cancel)
        trial = show_measure(printable(model.name), trying_devices(model, threads, cancel, worker, found))
    print(_table(trial))
    print(
        "\nSpeeds are in tokens per second. The difference is between next-token probabilities on the device"
    )
    print("and on the CPU, 0 to 1: a correct device differs only by rounding.")
    best = trial.best
    tell(
        f"{printable(model.name)} will run on {printable(best.title)}; to use the CPU: --device cpu."
        if best
        else f"{printable(model.name)} will run on the CPU."
    )
    return DONE


def _wished(request: str | None, cancel: CancelToken) -> list[Device]:
    if request is None:
        return found_devices(cancel)
    return [device_called(request, cancel)]


def _table(trial: DeviceTrial) -> str:
    rows = [["CPU", *_speeds(trial.processor), "", "", ""], *map(_row, trial.findings)]
    return table(_TRIED, rows, texts=(0, 5))


def _row(found: DeviceFinding) -> list[str]:
    speeds = _speeds(found.speed) if found.speed else ["", ""]
    distances = [f"{found.mean:.4f}", f"{found.worst:.4f}"] if found.speed else ["", ""]
    return [printable(found.device.title), *speeds, *distances, printable(found.reason) or "correct"]


def _speeds(speed: ModelSpeed) -> list[str]:
    return [f"{speed.reading:,.1f}", f"{speed.writing_ten:,.1f}"]
