"""A model file, opened and closed; its tokenizer: text to token ids, and back."""

import ctypes
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import llama_cpp

from engine.core.errors import DeviceFailed, Hint, ModelFileError, NoRoomError, SetupError
from engine.core.events import CancelToken
from engine.llama import library
from engine.settings.rows import Device

_NO_MEMORY = -2  # llama_decode, llama_encode: a buffer could not be had
_ONE_DEVICE = llama_cpp.LLAMA_SPLIT_MODE_NONE
_DAMAGED = "Download the file again. If it was made for another program, choose one for llama.cpp."
_MADE_FOR_NEWER = re.compile("unknown (pre-tokenizer|tokenizer|model architecture)")  # llama.cpp's words
_NEWER = "The file is newer than this llama.cpp: choose a newer version of Tiebreak, or another model."


class LlamaModel:
    """An open model file. Close it, or use it in a `with` block; its users must be closed before it."""

    def __init__(
        self,
        path: Path,
        device: Device | None = None,
        gpu_layers: int = 0,
        vocabulary_only: bool = False,
        cancel: CancelToken | None = None,
    ) -> None:
        """`device` computes `gpu_layers`. ModelFileError, DeviceFailed where it cannot be used, Cancelled."""
        cancel = cancel or CancelToken()
        # What llama.cpp takes for devices: pointers, and an empty one at the end.
        devices = (ctypes.c_void_p * 2)()
        if device is not None:
            devices[0] = library.device_pointer(device)
            if not devices[0]:
                raise DeviceFailed(device.title, "it is no longer found on this computer")
        library.start_library()
        params = llama_cpp.llama_model_default_params()
        # Where none are named llama.cpp takes all that it knows; the processor is always there.
        params.devices = ctypes.addressof(devices)
        # One alone: it was tried by itself, and it is part of what a run is.
        params.split_mode = _ONE_DEVICE
        params.n_gpu_layers = gpu_layers if device else 0
        params.vocab_only = vocabulary_only
        # Weights laid out anew for this processor: faster, but with some compilers fatal.
        params.use_extra_bufts = library.special_layouts_work()
        # Kept in a name until the file is loaded: llama.cpp has only the pointer.
        goes_on = llama_cpp.llama_progress_callback(lambda _share, _data: not cancel.requested)
        params.progress_callback = goes_on
        library.forget_errors()
        self.path = path
        self.device = device
        self.pointer: Any = llama_cpp.llama_model_load_from_file(os.fsencode(path), params)
        if not self.pointer:
            cancel.raise_if_requested()
            if device is not None:
                raise DeviceFailed(device.title, f"the model cannot be loaded there: {_reason()}")
            raise ModelFileError(
                f"{path.name}: llama.cpp cannot load this model: {_reason()}.",
                _NEWER if _MADE_FOR_NEWER.search(_reason()) else _DAMAGED,
            )

    @property
    def trained_context(self) -> int:
        """Tokens of context; also where only the vocabulary is open."""
        # llama.cpp gives 0 for a vocabulary alone, but keeps the file's header.
        loaded = int(llama_cpp.llama_model_n_ctx_train(self.pointer))
        architecture = self._header_text("general.architecture")
        return loaded or int(self._header_text(f"{architecture}.context_length") or 0)

    @property
    def weight_bytes(self) -> int:
        """The size of all tensors; of a vocabulary alone 0."""
        return int(llama_cpp.llama_model_size(self.pointer))

    @property
    def keeps_state(self) -> bool:
        """Recurrent and hybrid models: their memory cannot be cut back to a prefix."""
        return bool(
            llama_cpp.llama_model_is_recurrent(self.pointer) or llama_cpp.llama_model_is_hybrid(self.pointer)
        )

    @property
    def chat_template(self) -> str | None:
        """The model's own Jinja template, None where it has none."""
        text = llama_cpp.llama_model_chat_template(self.pointer, None)
        return text.decode("utf-8", "replace") if text else None

    @property
    def named_templates(self) -> dict[str, str]:
        """Templates for uses such as "rag" by their names, that for tools first as llama.cpp itself takes."""
        beginning, room = "tokenizer.chat_template.", ctypes.create_string_buffer(256)
        names = []
        for index in range(llama_cpp.llama_model_meta_count(self.pointer)):
            llama_cpp.llama_model_meta_key_by_index(self.pointer, index, room, len(room))
            key = room.value.decode("utf-8", "replace")
            if key.startswith(beginning):
                names.append(key.removeprefix(beginning))
        texts = {
            name: llama_cpp.llama_model_chat_template(self.pointer, name.encode())
            for name in sorted(names, key=lambda name: (name != "tool_use", name))
        }
        return {name: text.decode("utf-8", "replace") for name, text in texts.items() if text}

    def _header_text(self, key: str) -> str:
        """The first 63 bytes of a value of the file's header; empty where there is none."""
        room = ctypes.create_string_buffer(64)
        llama_cpp.llama_model_meta_val_str(self.pointer, key.encode(), room, len(room))
        return room.value.decode("utf-8", "replace")

    def close(self) -> None:
        if self.pointer:
            llama_cpp.llama_model_free(self.pointer)
            self.pointer = None

    def __enter__(self) -> "LlamaModel":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def _reason() -> str:
    return library.last_errors() or "no reason given"


def cannot_compute(model: LlamaModel, code: int, smaller: Hint) -> SetupError:
    """What to raise where llama.cpp does not compute: `code` is its answer, `smaller` takes less memory."""
    reason = _reason()
    if model.device is not None:
        return DeviceFailed(model.device.title, f"the computation fails: {reason} (code {code})")
    if code == _NO_MEMORY:
        return NoRoomError(
            f"{model.path.name}: llama.cpp has no memory left to compute with this model: {reason}"
            f" (code {code}).",
            smaller,
        )
    return ModelFileError(
        f"{model.path.name}: llama.cpp cannot compute with this model: {reason} (code {code}).",
        "It is damaged, or of a kind that this version cannot run: download the file again, or choose another"
        " model.",
    )


_NO_TOKEN = -1


@dataclass(frozen=True)
class SpecialToken:
    id: int
    text: str
    control: bool  # recognised only where control tokens are asked for; else user-defined, in any text
    unknown: bool = False  # it stands for letters which the vocabulary lacks
    strips_left: bool = False  # white space next to it belongs to it
    strips_right: bool = False


class Vocabulary:
    """The tokenizer of an open LlamaModel; it must not outlive the model."""

    def __init__(self, model: LlamaModel) -> None:
        self._file_name = model.path.name
        self._pointer = llama_cpp.llama_model_get_vocab(model.pointer)
        self.size = int(llama_cpp.llama_vocab_n_tokens(self._pointer))
        # llama.cpp ends the process when it is asked for the text of token -1, which is none.
        bos, eos, separator = (
            None if (token := int(ask(self._pointer))) == _NO_TOKEN else token
            for ask in (llama_cpp.llama_vocab_bos, llama_cpp.llama_vocab_eos, llama_cpp.llama_vocab_sep)
        )
        self.bos, self.separator = bos, separator  # the latter ends a text for an encoder (`[SEP]`, `</s>`)
        self.bos_text, self.eos_text = ("" if each is None else self._text(each) for each in (bos, eos))
        self.wants_bos = bos is not None and bool(llama_cpp.llama_vocab_get_add_bos(self._pointer))
        # Byte-level BPE, the tokenizer of GPT-2 and RoBERTa.
        self.byte_level = llama_cpp.llama_vocab_type(self._pointer) == llama_cpp.LLAMA_VOCAB_TYPE_BPE

    def tokenize(self, text: str, parse_special: bool = False) -> list[int]:
        """Nothing is added; control tokens only with `parse_special`. ModelFileError for an unknown id."""
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
        room = 64
        while True:
            buffer = ctypes.create_string_buffer(room)
            count = llama_cpp.llama_token_to_piece(self._pointer, token, buffer, room, 0, False)
            if count >= 0:
                return buffer.raw[:count]
            room = -count

    def ends_reply(self, token: int) -> bool:
        return bool(llama_cpp.llama_vocab_is_eog(self._pointer, token))

    @cached_property
    def reply_ends(self) -> frozenset[int]:
        return frozenset(filter(self.ends_reply, range(self.size)))

    @cached_property
    def special_tokens(self) -> tuple[SpecialToken, ...]:
        """Control, unknown and user-defined tokens, the longest literal first (as llama.cpp matches them)."""
        found, unknown_letter = [], []
        with suppress(ModelFileError):
            # What a letter becomes that hardly any vocabulary has (cuneiform): in some, a control token.
            unknown_letter = self.tokenize("\U00012345")
        unknown = llama_cpp.LLAMA_TOKEN_ATTR_UNKNOWN
        control = llama_cpp.LLAMA_TOKEN_ATTR_CONTROL | unknown
        wanted = control | llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED
        strips = (llama_cpp.LLAMA_TOKEN_ATTR_LSTRIP, llama_cpp.LLAMA_TOKEN_ATTR_RSTRIP)
        for token in range(self.size):
            has = int(llama_cpp.llama_vocab_get_attr(self._pointer, token))
            if has & wanted and (text := self._text(token)):
                is_unknown = token in unknown_letter or bool(has & unknown)
                left, right = (bool(has & each) for each in strips)
                found.append(SpecialToken(token, text, bool(has & control), is_unknown, left, right))
        return tuple(sorted(found, key=lambda special: -len(special.text.encode("utf-8"))))

    def _text(self, token: int) -> str:
        text: bytes = llama_cpp.llama_vocab_get_text(self._pointer, token)
        return text.decode("utf-8", "replace")


LONE_TOKEN_CELLS = 1  # tokens of context for the session itself: the company of a token that is read alone


@dataclass(frozen=True)
class BranchTokens:
    """One question's whole prompt, and the ids that each of its labels adds; none where a text follows."""

    prompt: tuple[int, ...]
    labels: tuple[tuple[int, ...], ...]

    @property
    def cells(self) -> int:
        """Tokens of context that it takes by itself: the prompt, and its longest label."""
        return len(self.prompt) + max(map(len, self.labels), default=0)


@dataclass(frozen=True)
class PromptTokens:
    """The prompts of one item and order; `trunk` is the prefix they share, shorter than each of them."""

    trunk: tuple[int, ...]
    branches: tuple[BranchTokens, ...]

    @property
    def cells(self) -> int:
        """Tokens of context that the tree takes: the trunk once, each branch's own part."""
        own = sum(branch.cells for branch in self.branches)
        return len(self.trunk) + own - len(self.trunk) * len(self.branches)

    def cells_beside(self, stem: Sequence[int]) -> int:
        begins_with_it = self.trunk[: len(stem)] == tuple(stem)
        return self.cells - (len(stem) if begins_with_it else 0)


def usable_prefix(held: Sequence[int], tokens: Sequence[int], keeps_state: bool) -> int:
    """How many of `tokens` need not be read where `held` is. `keeps_state`: it cannot be cut back."""
    shared = common_prefix([held, tokens])
    return 0 if keeps_state and shared < len(held) else shared


def common_prefix(sequences: Sequence[Sequence[int]]) -> int:
    shared, most = 0, min(map(len, sequences), default=0)
    # By halves: whole pieces are compared in C, several times faster than one id after another (measured).
    while shared < most:
        middle = (shared + most + 1) // 2
        first, *others = (tuple(ids[shared:middle]) for ids in sequences)
        if all(piece == first for piece in others):
            shared = middle
        else:
            most = middle - 1
    return shared


# Where a tokenizer changes its text: how many bytes before a token may be those that it omitted.
_NEAR, _FAR, _LONG = 4, 24, 3  # far only for a token so long that it is hardly there by chance


class Pieces:
    """What tokens write, as text that can be shown: bytes that are no whole character are written out."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._special = {token.id: token.text for token in vocabulary.special_tokens}
        self._known: dict[int, bytes] = {}

    def written(self, token: int) -> bytes:
        """The bytes of a token; of one that writes nothing its name."""
        if token not in self._known:
            self._known[token] = self._vocabulary.piece(token) or self._special.get(token, "").encode()
        return self._known[token]

    def shown(self, token: int) -> str:
        return self.written(token).decode("utf-8", "backslashreplace")


def token_places(text: str, pieces: Sequence[bytes]) -> tuple[list[tuple[int, int]], bool]:
    """For each token the stretch of the text that it writes, in characters; whether they write just it."""
    data = text.encode("utf-8")
    # For each byte, and for the end, the character that it is of.
    first: Sequence[int] = range(len(text) + 1)
    if not text.isascii():
        first = [place for place, letter in enumerate(f"{text} ") for _ in letter.encode("utf-8")]
    exact, place, places = True, 0, []
    for begin, end, fits in _stretches(data, pieces):
        exact = exact and fits
        # A token that ends within a character reaches to its end.
        places.append((first[begin], first[end - 1] + 1 if end > begin else first[begin]))
        place = max(place, end)
    return places, exact and place == len(data)


def _stretches(data: bytes, pieces: Sequence[bytes]) -> Iterator[tuple[int, int, bool]]:
    """The bytes of each token, and whether they are those that it writes, but for a space before them."""
    folded, place, missed = data.lower(), 0, 0
    for piece in pieces:
        # Some tokenizers write a space before a text and after special tokens, which has no place in it.
        added = piece[:1] == b" " and not data.startswith(piece, place)
        if piece and data.startswith(piece[added:], place):
            yield place, place + len(piece) - added, True
            place, missed = place + len(piece) - added, 0
            continue
        # The tokenizer changed the text, or left some of it out: near by is where this was.
        word = piece.strip().lower()
        far = (_FAR if len(word) >= _LONG else _NEAR) + _NEAR * missed
        found = folded.find(word, place, place + far + len(word)) if word else -1
        end = found + len(word) if found >= 0 else place
        yield place, end, False
        place, missed = end, 0 if found >= 0 else missed + 1
