"""The text of a prompt: whose each stretch of it is, and which stretch each token is for."""

from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """Whose a piece of what a model is shown is; of a response, which one of the item it is."""

    CONTROL = "control"  # a control token that the chat template wrote
    TEMPLATE = "template"  # other text of the chat template
    OWN = "own"  # words of this project
    INSTRUCTION = "instruction"
    RESPONSE_A = "response_a"
    RESPONSE_B = "response_b"
    CONTEXT = "context"
    REFERENCE = "reference"
    EXPLANATION = "explanation"  # of an annotator or another model
    THOUGHT = "thought"  # of the model itself
    FOREIGN = "foreign"  # other text of somebody else

    @property
    def foreign(self) -> bool:
        return self not in (Source.CONTROL, Source.TEMPLATE, Source.OWN)


@dataclass(frozen=True)
class Span:
    start: int
    end: int
    source: Source


@dataclass(frozen=True, slots=True)
class PlacedToken:
    """A token, what it writes, and the stretch of the text that it is for, in characters. `sources`: whose
    text it holds, own and foreign where it reaches into both.
    """

    id: int
    piece: str
    start: int
    end: int
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Preview:
    """The prompt of one criterion in one order. `stem`, `trunk`, `branch`: how many of the tokens belong to
    each. `exact`: the tokens write just this text; false where the tokenizer changes it before it reads it.
    """

    text: str
    spans: tuple[Span, ...]
    tokens: tuple[PlacedToken, ...]
    stem: int
    trunk: int
    exact: bool

    @property
    def branch(self) -> int:
        return len(self.tokens) - self.stem - self.trunk
