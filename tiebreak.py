"""Tiebreak from Python."""

from engine.core import VERSION

__version__ = VERSION

__all__ = ["__version__"]
