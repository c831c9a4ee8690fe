"""A model file written again with its weights in another format: whole, next to nothing that it replaces.

llama.cpp's quantiser cannot be stopped; so it works in a process of its own, whose end stops it.

Knows: what is checked before, what is reported meanwhile, what the new file says of its origin. Does not
know: what each format is worth, who asks.
"""

import re
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.core import VERSION
from engine.core.errors import Hint, SetupError, Step
from engine.core.events import CancelToken, MeasureProgress, Preparing
from engine.core.formatting import amount, file_stem
from engine.llama.library import library_version
from engine.llama.quantizer import quantise
from engine.models.checked_model import CheckedModel, checked_model
from engine.models.checks import precheck
from engine.models.model_file import ModelFile, describe, read_model_file, read_whole
from engine.models.weights import LABEL, SMALL_BITS, WeightFormat, bits_per_weight, expected_bytes
from engine.system.computer import default_threads
from engine.system.files import check_writable, free_room, make_folder, whole_file
from engine.system.paths import models_folder
from engine.system.places import is_there
from engine.system.subprocess_worker import Worker

_TICK = 0.1  # seconds between two looks at the growing file
_LONGEST_TEXT = 127  # bytes, as llama.cpp takes texts for a header
_LONGEST_STEM = 120  # bytes
_SPARE = 16 << 20  # bytes of the disk for others


@dataclass(frozen=True)
class Quantised:
    """What a process of its own is to write: `source` to `part`; about this many bytes are expected there."""

    source: Path
    part: Path
    to: WeightFormat
    texts: Mapping[str, str]
    expected: int


Converter = Worker[[Quantised], MeasureProgress, None]


@dataclass(frozen=True)
class Conversion:
    """A model to write again: `source` as `to` at `target`.

    `expected`: about how many bytes it takes, rather too many. `bits`: of a weight of the source.
    """

    source: ModelFile
    to: WeightFormat
    target: Path
    expected: int
    bits: float

    @property
    def lossy_source(self) -> bool:
        """Whether the source is a small quantisation already."""
        return self.bits < SMALL_BITS

    @property
    def cost(self) -> str:
        """What it costs, in sentences."""
        if not self.lossy_source:
            return self.to.cost
        if self.to.bits >= SMALL_BITS:
            return f"The precision lost by {self.source.quantisation} stays lost; no more is lost."
        return (
            f"Weights rounded by {self.source.quantisation} are rounded again, which may break the model: let"
            " both judge the same items and compare them before you rely on it."
        )


def plan_conversion(
    path: Path, to: WeightFormat, target: Path | None = None, lossy_source: bool = False
) -> Conversion:
    """What is to be written, checked; `target`: None for the folder of our own models.

    SetupError where the file is there, has no room or is in this format already, and where the source is a
    small quantisation but for `lossy_source`; ModelFileError where it is no model that can judge.
    """
    whole = read_whole(path)
    precheck(whole.header)
    source = describe(whole.header, *whole.files)
    if target is None:
        make_folder(models_folder())
        target = models_folder() / target_name(source, to)
    made = Conversion(
        source, to, target, expected_bytes(whole.header, to), bits_per_weight(whole.header.tensors)
    )
    _refuse(made, lossy_source)
    return made


def target_name(source: ModelFile, to: WeightFormat) -> str:
    """How a model is called in a format: its name with the format in the place of the one that it names."""
    stem = file_stem(re.sub(r"[^\w.+-]+", "-", source.name), _LONGEST_STEM)
    found = list(LABEL.finditer(stem))
    if not found:
        return f"{stem}-{to.label}.gguf"
    return f"{stem[: found[-1].start()]}{to.label}{stem[found[-1].end() :]}.gguf"


def _refuse(made: Conversion, lossy_source: bool) -> None:
    """SetupError for what shall not, or cannot, be written."""
    source, target = made.source, made.target
    if source.quantisation == made.to.label:
        raise SetupError(
            f"{source.name} is in {made.to.label} already.", "Choose another format, or use it as it is."
        )
    if made.lossy_source and not lossy_source:
        raise SetupError(
            f"{source.name} is a small quantisation already: {source.quantisation}, {made.bits:.1f} bits for"
            f" each weight. {made.cost}",
            Hint(Step.ALLOW_SMALL_SOURCE),
        )
    _refuse_taken(target)
    check_writable(target)
    free = free_room(target.parent)
    if free is not None and free < made.expected + _SPARE:
        raise SetupError(
            f"{target.parent} has room for {amount(free)}; {source.name} takes about"
            f" {amount(made.expected)} in {made.to.label}.",
            "Free some space, or choose another place for the new file.",
        )


def _refuse_taken(target: Path) -> None:
    if is_there(target) or target.is_symlink():
        raise SetupError(
            f"{target} exists already, and is not overwritten.",
            "Choose another name, or move that file elsewhere.",
        )


def convert(
    planned: Conversion, cancel: CancelToken, worker: Callable[[], Converter]
) -> Generator[Preparing | MeasureProgress, None, CheckedModel]:
    """Write what was planned, by `worker`, and try it; progress in percent. Where it raises, nothing is left.

    Raises SetupError, ModelFileError, ProcessEnded, Cancelled.
    """
    yield Preparing("Checking the model file")
    checked = checked_model(planned.source, cancel)
    texts = provenance(planned, checked)
    with whole_file(planned.target) as file:
        wanted = Quantised(checked.path, Path(file.name), planned.to, texts, planned.expected)
        with worker() as working:
            yield from working.do(wanted)
        checked.check_unchanged()
        cancel.raise_if_requested()
        _refuse_taken(planned.target)
    yield Preparing("Trying the new file")
    try:
        return checked_model(read_model_file(planned.target), cancel)
    except BaseException:
        planned.target.unlink(missing_ok=True)
        raise


def provenance(planned: Conversion, checked: CheckedModel) -> dict[str, str]:
    """What the header of the new file says of its origin."""
    made_by = f"Tiebreak {VERSION}, {library_version()}"
    return {
        key: _at_most(text, _LONGEST_TEXT)
        for key, text in {
            "general.quantized_by": made_by,
            "general.source.file": checked.path.name,
            "general.source.sha256": checked.hash,
            "general.source.quantization": planned.source.quantisation,
        }.items()
    }


def _at_most(text: str, most: int) -> str:
    """A text of at most this many bytes: a longer one lacks its end."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def quantising(cancel: CancelToken, wanted: Quantised) -> Generator[MeasureProgress, None, None]:
    """Write a file in another format: a work for a process of its own, whose end stops it.

    Raises what `quantise` raises, Cancelled.
    """
    failed: list[BaseException] = []

    def work() -> None:
        try:
            quantise(wanted.source, wanted.part, wanted.to.value, wanted.texts, default_threads())
        except BaseException as error:
            failed.append(error)

    # A daemon: this process may end while llama.cpp continues.
    thread = threading.Thread(target=work, name="quantises", daemon=True)
    thread.start()
    shown = -1
    while thread.is_alive():
        thread.join(_TICK)
        if cancel.requested:
            with suppress(OSError):
                wanted.part.unlink()
            cancel.raise_if_requested()
        # Never 100 before it is done: the expected size is a guess.
        share = min(99, 100 * _size(wanted.part) // max(wanted.expected, 1))
        if share > shown:
            shown = share
            yield MeasureProgress(share, 100)
    if failed:
        raise failed[0]
    yield MeasureProgress(100, 100)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
