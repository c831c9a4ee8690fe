"""The devices of this computer besides the processor: looked for, tried with a model, chosen. All of it is
done in child processes: some drivers hang, or end the process that asks them. What is found is remembered for
the model, the build of llama.cpp and the processor, as long as the driver is the same.
"""

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import NamedTuple

from engine.core.codec import plain, plain_values, record_of
from engine.core.errors import DeviceFailed, Hint, ProcessEnded, Setting, SetupError
from engine.core.events import CancelToken, MeasureProgress, Preparing
from engine.core.items import digest
from engine.core.numeric import FloatArray
from engine.llama.library import devices, library_version, processor_features
from engine.llama.speed import (
    DeviceFinding,
    DeviceTrial,
    ModelSpeed,
    compared,
    measuring_speed,
    next_token_probabilities,
)
from engine.models.checked_model import CheckedModel, checked_model, in_use
from engine.models.model_file import ModelFile
from engine.models.opening import machine_on, machine_settings, remember_speed, session_to_measure
from engine.models.templates import model_memory
from engine.settings.rows import CPU, Device, MachineSettings
from engine.system.paths import CHILD, self_command
from engine.system.subprocess_worker import Worker, code_words, end_by_others, run_child

LIST_COMMAND = (CHILD, "devices")
_LIST_SECONDS = 60.0  # a driver that wakes a graphics card takes some
_VERSION = 2  # of the trial


class Tried(NamedTuple):
    """Probabilities of the next token at some places, and a speed: what one device or the processor gave."""

    probabilities: FloatArray
    speed: ModelSpeed


DeviceTrier = Worker[[CheckedModel, MachineSettings], MeasureProgress, Tried]


def found_devices(cancel: CancelToken) -> list[Device]:
    """All devices, looked for in a child process. SetupError where that crashes, Cancelled."""
    try:
        code, printed = run_child([*self_command(), *LIST_COMMAND], cancel, seconds=_LIST_SECONDS)
    except TimeoutError as error:
        raise _no_list(f"took more than {_LIST_SECONDS:.0f} seconds") from error
    with suppress(ValueError):
        if code == 0:
            return record_of(plain_values(printed), list[Device])
    raise _no_list(f"was {how}" if (how := end_by_others(code)) else f"crashed ({code_words(code)})")


def in_child() -> int:
    """Look for all devices in this process, which a driver may end, and print them for the parent."""
    print(json.dumps(plain(devices())))
    return 0


def _no_list(how: str) -> SetupError:
    return SetupError(
        f"The search for a GPU {how}: most likely a driver is faulty.",
        Hint("Update the driver, or compute without it: ", Setting.DEVICE.at(CPU), "."),
    )


def device_called(words: str, cancel: CancelToken) -> Device:
    """The one that words name: llama.cpp's name, or a part of its title. SetupError for none or several."""
    found = found_devices(cancel)
    wanted = words.casefold()
    meant = [each for each in found if each.is_called(words)]
    meant = meant or [each for each in found if wanted in each.title.casefold()]
    if len(meant) == 1:
        return meant[0]
    there = "; ".join(f"{each.name}, {each.title}" for each in found) or "none"
    which = "Several devices are" if meant else "No device is"
    raise SetupError(
        f"{which} called {words!r}. On this computer, besides the processor: {there}.",
        Hint(
            f"{'Name one of them' if found else 'Try again when it is connected'}, or use the processor: ",
            Setting.DEVICE.at(CPU),
            ".",
        ),
    )


def remembered_trial(file_hash: str) -> DeviceTrial | None:
    """What was found with a model here, by this build; None where it was not tried."""
    with model_memory() as memory:
        return memory.recall("devices", _key(file_hash), DeviceTrial)


def _remembered_best(file_hash: str) -> Device | None:
    trial = remembered_trial(file_hash)
    return trial.best if trial else None


def proposed_device(file_hash: str, cancel: CancelToken) -> Device | None:
    """The fastest with a model in a trial, if it is still there; None for the processor."""
    best = _remembered_best(file_hash)
    if best is None:
        return None
    # GPU libraries are loaded by a child process, and only where there is one to find.
    with suppress(SetupError):  # what worked then does not now
        return next(filter(best.is_still, found_devices(cancel)), None)
    return None


def lost_device(file_hash: str, used: Device | None) -> str:
    """What the user should know where the device that a trial proposed is not used."""
    best = _remembered_best(file_hash)
    if best is None or used is not None:
        return ""
    return (
        f"{best.title} was the fastest with this model. It is missing now, or its driver has changed: the"
        " processor computes. Test the GPU again."
    )


def wished_device(request: str | None, file_hash: str, cancel: CancelToken) -> Device | None:
    """What the user's choice means for a model; None for the processor alone. SetupError for no device."""
    if request is None:
        return proposed_device(file_hash, cancel)
    return None if request.strip().casefold() == CPU else device_called(request.strip(), cancel)


def try_device(
    cancel: CancelToken, checked: CheckedModel, machine: MachineSettings
) -> Generator[MeasureProgress, None, Tried]:
    """Read a text and measure, in a process of its own. Raises ModelFileError, DeviceFailed, Cancelled."""
    with session_to_measure(checked, machine, cancel) as (session, threads):
        probabilities = next_token_probabilities(session)
        speed = yield from measuring_speed(session, threads)
    return Tried(probabilities, speed)


def trying_devices(
    model: ModelFile,
    threads: int | None,
    cancel: CancelToken,
    worker: Callable[[], DeviceTrier],
    tried: Sequence[Device],
) -> Generator[Preparing | MeasureProgress, None, DeviceTrial]:
    """Try devices, each in a process of `worker`, after the processor. A failure is a finding."""
    yield Preparing("Checking the model file")
    checked, machine = checked_model(model, cancel), machine_settings(threads)
    yield Preparing("Testing the processor")
    with worker() as working, in_use(checked):
        processor = yield from working.do(checked, machine)
    # It was measured anyhow, and a plan can take its time from it.
    remember_speed(checked.hash, machine, processor.speed)
    findings = []
    for device in tried:
        yield Preparing(f"Testing {device.title}")
        on_device = machine_on(device, threads, None, model)
        try:
            with worker() as working, in_use(checked):
                own = yield from working.do(checked, on_device)
        # A driver that ends its process says as much of the device as one that reports.
        except (DeviceFailed, ProcessEnded) as error:
            findings.append(DeviceFinding(device, reason=error.as_clause))
            continue
        remember_speed(checked.hash, on_device, own.speed)
        findings.append(compared(device, processor.probabilities, own.probabilities, own.speed))
    trial = DeviceTrial(processor.speed, tuple(findings))
    with model_memory() as memory:
        memory.remember("devices", _key(checked.hash), trial)
    return trial


def _key(file_hash: str) -> str:
    return digest([_VERSION, file_hash, library_version(), processor_features()])
