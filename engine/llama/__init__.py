"""Whether llama.cpp can be loaded at all; all modules in here load it as they are imported."""

from importlib import import_module

from engine.core.errors import SetupError


def check_library() -> None:
    """Raises SetupError where llama.cpp cannot be loaded, or is another version; its cause is what failed."""
    try:
        import_module("engine.llama.library")
    except SetupError:
        raise
    except Exception as error:  # a library that is not there, is damaged, lacks a function: each its own kind
        raise SetupError(
            f"llama.cpp cannot be loaded: {type(error).__name__}: {error}.", "Set Tiebreak up again."
        ) from error
