"""A bug in a method that Qt calls is shown as an error; else it would end the process.

On Python 3.11 an exception that C code raises (a list's index, say) is not yet an object when it leaves the
method that raised it. PySide takes it for one where Qt called that method in the middle of a call of ours,
and the process ends by a segmentation fault (seen with PySide 6.8 to 6.12). Python makes an object of an
exception that is caught: caught and raised again, it reaches whoever made the call.

Knows: classes, which of their methods Qt calls. Does not know: what they do.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from PySide6.QtCore import QObject


def guard_overrides() -> None:
    """See to every class of ours that is made of one of Qt's, now and from now on; before any is used."""
    for made in list(_made_of(QObject)):
        _guard(made)
    QObject.__init_subclass__ = classmethod(_guard)  # type: ignore[assignment, method-assign]


def _made_of(parent: type) -> Iterator[type]:
    children: list[type] = type.__subclasses__(parent)
    for child in children:
        yield child
        yield from _made_of(child)


def _guard(made: type) -> None:
    """Raise again what leaves the class's own methods that stand in the place of one of Qt's."""
    if _is_qt(made):
        return
    bases = [base for base in made.__mro__ if _is_qt(base)]
    for name, method in list(vars(made).items()):
        is_public = callable(method) and not name.startswith("_")
        if is_public and not hasattr(method, _GUARDED) and any(hasattr(base, name) for base in bases):
            setattr(made, name, _raised_again(method))


_GUARDED = "raised_again"


def _raised_again(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def guarded(*arguments: Any, **named: Any) -> Any:
        try:
            return method(*arguments, **named)
        except Exception:
            raise  # it is an object by now

    setattr(guarded, _GUARDED, True)
    return guarded


def _is_qt(made: type) -> bool:
    return made.__module__.startswith(("PySide6", "Shiboken"))
