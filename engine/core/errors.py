"""The errors that the engine raises on purpose.

    EngineError
    ├── SetupError            the user can act: shown as problem + hint, never with a traceback
    │   ├── InputError        a file that was read is wrong; carries every problem found in it
    │   │   ├── ColumnsError  ... which may be read by other columns
    │   │   └── WrongKindError  ... which is a file of another kind
    │   ├── ProcessEnded      the process that did the work was ended, by a crash or from outside
    │   ├── DeviceFailed      a GPU does not compute, or wrongly; the processor would
    │   ├── ModelFileError    a model file cannot be used
    │   │   └── NoRoomError   ... for lack of memory at the moment
    │   └── StoreError        the run store cannot be read or written
    │       └── RunBusyError  the same run is being judged already
    └── EngineBug             we can act: logged whole

Knows: words for users. Does not know: files, models, Qt.
"""

from collections.abc import Sequence
from pathlib import Path

from engine.core.file_kinds import FileKind
from engine.core.formatting import without_middle
from engine.core.remedies import Hint, Setting

MOST_PROBLEMS_SHOWN = 50
_LONGEST_NAME = 255  # that a file can have; a longer one leads nowhere


class EngineError(Exception):
    """Root of everything that engine/ raises on purpose."""


class SetupError(EngineError):
    """The user can fix it: `problem` says where and what was found, `hint` names the next step.

    As text it is for logs: whoever shows it words the hint.
    """

    def __init__(self, problem: str, hint: Hint | str) -> None:
        super().__init__(problem, hint)
        self.problem = problem
        self.hint = hint if isinstance(hint, Hint) else Hint(hint)

    def __str__(self) -> str:
        return f"{self.problem}\n{self.hint}"


class InputError(SetupError):
    """A dataset, submission or scores file is wrong. `problems` lists all that was found, up to 50."""

    def __init__(self, path: Path, problems: Sequence[str], hint: Hint | str) -> None:
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
        super().__init__(text, hint)

    def __reduce__(self) -> tuple[object, ...]:
        # Copies and pickles are made without what was omitted, so not by another __init__.
        return SetupError.__new__, (type(self), self.problem, self.hint), self.__dict__


class ProcessEnded(SetupError):
    """The process of its own that did the work was ended; this one continues.

    `broke_down`: by itself, and not from outside.
    """

    def __init__(self, problem: str, hint: Hint | str, broke_down: bool = False) -> None:
        super().__init__(problem, hint)
        self.broke_down = broke_down

    @property
    def as_clause(self) -> str:
        """What happened, within a sentence."""
        return f"{self.problem[:1].lower()}{self.problem[1:].rstrip('.')}"


class DeviceFailed(SetupError):
    """A device besides the processor cannot be used or gives no numbers; `as_clause`: why."""

    def __init__(self, device: str, as_clause: str) -> None:
        super().__init__(f"{device}: {as_clause}.", Hint(Setting.DEVICE.at("cpu"), " computes without it."))
        self.device = device
        self.as_clause = as_clause

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.device, self.as_clause)


class ColumnsError(InputError):
    """A dataset cannot be read by these columns, or by these meanings of its labels; by others perhaps.

    `foreign`: it lacks the columns of a dataset, and they are not mapped yet.
    `unknown`: values of its labels that are none, in the order in which they were met.
    """

    def __init__(
        self,
        path: Path,
        problems: Sequence[str],
        hint: Hint | str,
        foreign: bool = False,
        unknown: Sequence[str] = (),
    ) -> None:
        super().__init__(path, problems, hint)
        self.foreign = foreign
        self.unknown = tuple(unknown)


class WrongKindError(InputError):
    """A file is of another kind than was wanted, `kind`; the hint is what takes that one."""

    def __init__(self, path: Path, kind: FileKind, wanted: FileKind) -> None:
        super().__init__(path, [f"is {kind.value}, not {wanted.value}."], Hint(kind))
        self.kind = kind


class ModelFileError(SetupError):
    """A model file cannot be used: not a GGUF, damaged, of the wrong kind, too large, or changed."""


class NoRoomError(ModelFileError):
    """There is no memory for it now; not a problem of the file."""


class StoreError(SetupError):
    """The run store cannot be opened, read or written."""


class RunBusyError(StoreError):
    """The same run is being judged already, by another process or by this one."""


class EngineBug(EngineError):
    """We got it wrong: logged whole, shown with a request for a report."""
