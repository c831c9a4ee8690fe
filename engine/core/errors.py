"""The errors that the engine raises on purpose.

    EngineError
    ├── SetupError            the user can act: shown as problem + remedy, never with a traceback
    │   ├── InputError        a file that was read is wrong; carries every problem found in it
    │   │   ├── ColumnsError  ... which may be read by other columns
    │   │   └── WrongKindError  ... which is a file of another kind
    │   ├── ProcessEnded      the process that did the work was ended, by a crash or from outside
    │   ├── DeviceFailed      a GPU does not compute, or wrongly; the processor would
    │   ├── ModelFileError    a model file cannot be used
    │   │   └── NoRoomError   ... for want of memory at the moment
    │   └── StoreError        the run store cannot be read or written
    │       └── RunBusyError  the same run is being judged already
    └── EngineBug             we can act: logged whole

Knows: words for people. Does not know: files, models, Qt.
"""

from collections.abc import Sequence
from pathlib import Path

from engine.core.file_kinds import FileKind
from engine.core.formatting import without_middle
from engine.core.remedies import Remedy, Setting

MOST_PROBLEMS_SHOWN = 50
_LONGEST_NAME = 255  # that a file can have; a longer one leads nowhere


class EngineError(Exception):
    """Root of everything that engine/ raises on purpose."""


class SetupError(EngineError):
    """The user can mend it: `problem` says where and what was found, `remedy` names the next step.

    As text it is for logs: whoever shows it words the remedy.
    """

    def __init__(self, problem: str, remedy: Remedy | str) -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy if isinstance(remedy, Remedy) else Remedy(remedy)

    def __str__(self) -> str:
        return f"{self.problem}\n{self.remedy}"


class InputError(SetupError):
    """A dataset, submission or scores file is wrong. `problems` lists all that was found, up to 50."""

    def __init__(self, path: Path, problems: Sequence[str], remedy: Remedy | str) -> None:
        self.path = path
        self.problems = tuple(problems[:MOST_PROBLEMS_SHOWN])
        left_out = len(problems) - len(self.problems)
        name = without_middle(path.name, _LONGEST_NAME)
        if len(problems) == 1:
            text = f"{name}: {problems[0]}"
        else:
            text = f"{name}: {len(problems)} problems.\n" + "\n".join(f"  {p}" for p in self.problems)
        if left_out:
            text += f"\n  and {left_out} more."
        super().__init__(text, remedy)

    def __reduce__(self) -> tuple[object, ...]:
        # Copies and pickles are made without what was left out, so not by another __init__.
        return SetupError.__new__, (type(self), self.problem, self.remedy), self.__dict__


class ProcessEnded(SetupError):
    """The process of its own that did the work was ended; this one goes on.

    `broke_down`: by itself, and not from outside.
    """

    def __init__(self, problem: str, remedy: Remedy | str, broke_down: bool = False) -> None:
        super().__init__(problem, remedy)
        self.broke_down = broke_down

    @property
    def as_clause(self) -> str:
        """What happened, within a sentence."""
        return f"{self.problem[:1].lower()}{self.problem[1:].rstrip('.')}"


class DeviceFailed(SetupError):
    """A device beside the processor cannot be used or gives no numbers; `as_clause`: why."""

    def __init__(self, device: str, as_clause: str) -> None:
        super().__init__(
            f"{device}: {as_clause}.", Remedy(Setting.DEVICE.at("cpu"), " computes all the same.")
        )
        self.device = device
        self.as_clause = as_clause

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.device, self.as_clause)


class ColumnsError(InputError):
    """A dataset cannot be read by these columns, or by these meanings of its labels; by others perhaps.

    `foreign`: it has not the columns of a dataset, and nobody has said yet which of its own stand for them.
    `unknown`: values of its labels that are none, in the order in which they were met.
    """

    def __init__(
        self,
        path: Path,
        problems: Sequence[str],
        remedy: Remedy | str,
        foreign: bool = False,
        unknown: Sequence[str] = (),
    ) -> None:
        super().__init__(path, problems, remedy)
        self.foreign = foreign
        self.unknown = tuple(unknown)


class WrongKindError(InputError):
    """A file is of another kind than was wanted, `kind`; the remedy is what takes that one."""

    def __init__(self, path: Path, kind: FileKind, wanted: FileKind) -> None:
        super().__init__(path, [f"is {kind.value}, not {wanted.value}."], Remedy(kind))
        self.kind = kind


class ModelFileError(SetupError):
    """A model file cannot be used: not a GGUF, damaged, of the wrong kind, too large, or changed."""


class NoRoomError(ModelFileError):
    """There is no memory for it now; says nothing of the file."""


class StoreError(SetupError):
    """The run store cannot be opened, read or written."""


class RunBusyError(StoreError):
    """The same run is being judged already, by another process or by this one."""


class EngineBug(EngineError):
    """We got it wrong: logged whole, shown with the wish for a report."""
