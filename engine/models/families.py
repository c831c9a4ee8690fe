"""Which family a model is of, such as Qwen or Llama: by the words of its name, and by its GGUF header."""

import re
from pathlib import Path

from engine.core.errors import ModelFileError
from engine.models.header import read_header

_WORDS = {
    "llama": "llama|codellama|tinyllama|vicuna|alpaca",
    "mistral": "mistral|mixtral|ministral|codestral|devstral|magistral|zephyr",
    "qwen": "qwen|qwq",
    "gemma": "gemma|codegemma|medgemma|shieldgemma",
    "gpt": r"gpt[\W_]*(?:[345]o?|oss)|chatgpt",  # not Cerebras-GPT 6.7B, nor GPT-J or GPT-NeoX
    "glm": "glm|chatglm",
    "bloom": "bloomz?",
    **{name: name for name in ("phi", "claude", "gemini", "deepseek", "falcon", "opt", "pythia", "olmo")},
    **{name: name for name in ("granite", "smollm", "internlm", "yi")},
}
"""Names of published models, also of those made of another's weights under a name of their own."""
_FAMILIES = {family: re.compile(rf"(?<![a-z])(?:{words})(?![a-z])") for family, words in _WORDS.items()}
_BASE_NAME = re.compile(r"general\.(name|basename|base_model\.\d+\.name)")
_OF_MANY = "llama"


def families_named(name: str) -> frozenset[str]:
    """The families that a name tells by one of its words: `DeepSeek-R1-Distill-Qwen-7B` two."""
    return frozenset(family for family, words in _FAMILIES.items() if words.search(name.casefold()))


def families_of_file(path: Path) -> frozenset[str]:
    """What the header of a model file tells: its own name and those of its base models; the architecture only
    where these tell nothing. Empty for a file that is not there, or is no model.
    """
    try:
        header = read_header(path)
        named = [header.text(key) or "" for key in header.metadata if _BASE_NAME.fullmatch(key)]
    except ModelFileError:
        return frozenset()
    found = frozenset[str]().union(*map(families_named, named))
    # Models of many families are converted as `llama`: Mistral 7B, SmolLM, Yi.
    return found or families_named(header.architecture) - {_OF_MANY}
