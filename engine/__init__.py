"""Everything of Tiebreak but its windows. What is named here is light to import."""

from engine.core.errors import EngineBug, EngineError, InputError, SetupError
from engine.ranking.weighted_judge import pairwise_preference_judge

__all__ = ["EngineBug", "EngineError", "InputError", "pairwise_preference_judge", "SetupError"]
