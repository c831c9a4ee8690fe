"""A model's tokenizer: text to token ids, and back.

Knows: llama_cpp's vocabulary calls. Does not know: chat templates, whose text it is, judging.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import llama_cpp

from engine.core.errors import ModelFileError
from engine.llama.model import LlamaModel

_NO_TOKEN = -1


@dataclass(frozen=True)
class SpecialToken:
    """A token with a meaning of its own.

    `control`: recognised only where control tokens are asked for. Otherwise user-defined: recognised in
    any text. `unknown`: a control token that stands for letters which the vocabulary lacks. `strips_left`,
    `strips_right`: white space next to it belongs to it.
    """

    id: int
    text: str
    control: bool
    unknown: bool = False
    strips_left: bool = False
    strips_right: bool = False


class Vocabulary:
    """The tokenizer of an open LlamaModel; it must not outlive the model."""

    def __init__(self, model: LlamaModel) -> None:
        self._file_name = model.path.name
        self._pointer = llama_cpp.llama_model_get_vocab(model.pointer)
        self.size = int(llama_cpp.llama_vocab_n_tokens(self._pointer))

    def tokenize(self, text: str, parse_special: bool = False) -> list[int]:
        """Token ids of `text`; nothing is added. Control tokens are recognised only with `parse_special`.

        ModelFileError where the tokenizer gives an id that the vocabulary does not have.
        """
        data = text.encode("utf-8")
        # A token stands for a byte or more, but for the few that a tokenizer adds.
        room = len(data) + 16
        while True:
            ids = (llama_cpp.llama_token * room)()
            count = llama_cpp.llama_tokenize(self._pointer, data, len(data), ids, room, False, parse_special)
            if count >= 0:
                return self._checked(ids[:count])
            room = -count

    def _checked(self, ids: list[int]) -> list[int]:
        # A tokenizer that knows no token for a text writes -1, which no model can read.
        if ids and not 0 <= min(ids) <= max(ids) < self.size:
            wrong = next(token for token in ids if not 0 <= token < self.size)
            raise ModelFileError(
                f"{self._file_name}: its tokenizer does not suit its vocabulary: it gives the token"
                f" {wrong:,}, but there are {self.size:,} tokens.",
                "The file is damaged: download it again, or choose another model.",
            )
        return ids

    def piece(self, token: int) -> bytes:
        """The bytes that a token writes; control tokens write nothing."""
        room = 64
        while True:
            buffer = ctypes.create_string_buffer(room)
            count = llama_cpp.llama_token_to_piece(self._pointer, token, buffer, room, 0, False)
            if count >= 0:
                return buffer.raw[:count]
            room = -count

    def ends_reply(self, token: int) -> bool:
        """True for a token with which a model ends its turn."""
        return bool(llama_cpp.llama_vocab_is_eog(self._pointer, token))

    @cached_property
    def reply_ends(self) -> frozenset[int]:
        """All tokens with which a model ends its turn."""
        return frozenset(filter(self.ends_reply, range(self.size)))

    @property
    def bos(self) -> int | None:
        """The token that begins a text, where the model has one."""
        return self._known(llama_cpp.llama_vocab_bos(self._pointer))

    @property
    def bos_text(self) -> str:
        """The literal of `bos`, empty where there is none."""
        return "" if self.bos is None else self._text(self.bos)

    @property
    def eos(self) -> int | None:
        """The token that ends a text, where the model has one."""
        return self._known(llama_cpp.llama_vocab_eos(self._pointer))

    @property
    def eos_text(self) -> str:
        """The literal of `eos`, empty where there is none."""
        return "" if self.eos is None else self._text(self.eos)

    @property
    def separator(self) -> int | None:
        """The token that ends a text for an encoder (`[SEP]`, `</s>`), where the model has one."""
        return self._known(llama_cpp.llama_vocab_sep(self._pointer))

    @property
    def byte_level(self) -> bool:
        """True for byte-level BPE, the tokenizer of GPT-2 and RoBERTa."""
        return int(llama_cpp.llama_vocab_type(self._pointer)) == llama_cpp.LLAMA_VOCAB_TYPE_BPE

    @property
    def wants_bos(self) -> bool:
        """True where each text must begin with `bos`."""
        return self.bos is not None and bool(llama_cpp.llama_vocab_get_add_bos(self._pointer))

    @cached_property
    def special_tokens(self) -> tuple[SpecialToken, ...]:
        """Control, unknown and user-defined tokens, the longest literal first (as llama.cpp matches them)."""
        found = []
        unknown = self._unknown_letter
        control = llama_cpp.LLAMA_TOKEN_ATTR_CONTROL | llama_cpp.LLAMA_TOKEN_ATTR_UNKNOWN
        wanted = control | llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED
        for token in range(self.size):
            attributes = int(llama_cpp.llama_vocab_get_attr(self._pointer, token))
            text = self._text(token) if attributes & wanted else ""
            if text:
                found.append(
                    SpecialToken(
                        id=token,
                        text=text,
                        control=bool(attributes & control),
                        unknown=token in unknown or bool(attributes & llama_cpp.LLAMA_TOKEN_ATTR_UNKNOWN),
                        strips_left=bool(attributes & llama_cpp.LLAMA_TOKEN_ATTR_LSTRIP),
                        strips_right=bool(attributes & llama_cpp.LLAMA_TOKEN_ATTR_RSTRIP),
                    )
                )
        return tuple(sorted(found, key=lambda special: -len(special.text.encode("utf-8"))))

    @cached_property
    def _unknown_letter(self) -> Sequence[int]:
        """What a letter becomes that hardly any vocabulary has: in some, a control token."""
        try:
            return self.tokenize("\U00012345")  # cuneiform
        except ModelFileError:
            return ()

    @staticmethod
    def _known(token: int) -> int | None:
        # llama.cpp ends the process when it is asked for the text of token -1.
        return None if token == _NO_TOKEN else int(token)

    def _text(self, token: int) -> str:
        text: bytes = llama_cpp.llama_vocab_get_text(self._pointer, token)
        return text.decode("utf-8", "replace")
