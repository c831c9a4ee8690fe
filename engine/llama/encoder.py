"""An encoder at work: texts to one vector for each token, as BERTScore compares them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt

from engine.core.errors import Hint, ModelFileError, NoRoomError
from engine.core.events import CancelToken
from engine.llama.context import OwnContext, ThreadCount
from engine.llama.library import last_errors
from engine.llama.model import LlamaModel, Vocabulary, cannot_compute
from engine.llama.session import TokenBatch

LONGEST = 512
"""Tokens of a text that count, the first and the last special one included; bert-score cuts there too."""

_SMALLER = Hint("Close other programs, or choose a smaller encoder.")
_MANY_LETTERS = 32_768
FloatVectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Encoded:
    """A text as an encoder sees it. `vectors`: shape (tokens, width), each of length 1. `weights`: shape
    (tokens,), 0 for the special tokens that begin and end a text, 1 for all others.
    """

    vectors: FloatVectors
    weights: FloatVectors


class LlamaEncoder(OwnContext):
    def __init__(self, model: LlamaModel, threads: int | ThreadCount, cancel: CancelToken) -> None:
        """NoRoomError where there is no room for a text, ModelFileError for what is no encoder."""
        self._vocabulary = Vocabulary(model)
        # The tokens that begin and end each text: `<s>` and `</s>`, or `[CLS]` and `[SEP]`.
        begin, end = self._vocabulary.bos, self._vocabulary.separator
        if begin is None or end is None:
            raise ModelFileError(
                f"{model.path.name}: its tokenizer does not define how a text begins and ends.",
                "Choose a RoBERTa or BERT encoder.",
            )
        self._begin, self._end = begin, end
        self._longest = min(LONGEST, model.trained_context)
        self._width = int(llama_cpp.llama_model_n_embd(model.pointer))
        super().__init__(model, partial(self._new_context, model), threads, cancel)
        self._batch = TokenBatch(self._longest)

    def _new_context(self, model: LlamaModel, threads: int) -> Any:
        params = llama_cpp.llama_context_default_params()
        # An encoder reads a text in one piece: llama.cpp ends the process where n_ubatch is smaller.
        params.n_ctx = params.n_batch = params.n_ubatch = self._longest
        params.n_seq_max = 1
        params.n_threads = params.n_threads_batch = threads
        params.embeddings = True
        # A vector for each token, not one for the whole text.
        params.pooling_type = llama_cpp.LLAMA_POOLING_TYPE_NONE
        params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.kv_unified = True
        params.no_perf = True
        context = llama_cpp.llama_init_from_model(model.pointer, params)
        if not context:
            raise NoRoomError(
                f"{model.path.name}: llama.cpp cannot allocate memory for a text of {self._longest:,} tokens"
                f" ({last_errors() or 'it gives no reason'}).",
                _SMALLER,
            )
        return context

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """In their order; of a long text the first 512 tokens. Cancelled, ModelFileError for no numbers."""
        self._check_owner()
        encoded = []
        # Each by itself, so that its vectors depend on nothing else, to the last bit, and can be kept;
        # several in one batch are faster only where they are shorter than explanations are.
        for text in texts:
            ids = self.token_ids(text)
            weights = ~np.isin(ids, (self._begin, self._end))
            encoded.append(Encoded(self._vectors(ids), weights.astype(np.float32)))
        return encoded

    def token_ids(self, text: str) -> list[int]:
        """The tokens that stand for a text, cut to what counts, with those that begin and end it."""
        text = text.strip()
        if text and self._vocabulary.byte_level:
            # As RoBERTa learned it: its first word is a word like any other.
            text = f" {text}"
        # Here a text may name special tokens: bert-score takes them so, and an encoder obeys nobody.
        # Of a very long text, of which few tokens count, the first words are enough: llama.cpp takes time by
        # the square of a length in which it finds special tokens everywhere.
        end = max(text.rfind(space, 0, _MANY_LETTERS) for space in " \n\t")
        first_words = text[:end] if len(text) > _MANY_LETTERS and end > 0 else text
        ids = self._vocabulary.tokenize(first_words, parse_special=True)
        if len(ids) < self._longest - 2:
            ids = self._vocabulary.tokenize(text, parse_special=True)
        return [self._begin, *ids[: self._longest - 2], self._end]

    def _vectors(self, ids: Sequence[int]) -> FloatVectors:
        """What the last layer gives for each token, scaled to length 1: shape (tokens, width)."""
        self._cancel.raise_if_requested()
        count = len(ids)
        batch = self._batch.filled(ids, range(count), [0] * count, [True] * count)
        result = self._computed(llama_cpp.llama_encode, batch)
        if result != 0:
            raise cannot_compute(self._model, result, _SMALLER)
        pointer = llama_cpp.llama_get_embeddings(self._context)
        vectors = np.ctypeslib.as_array(pointer, shape=(count, self._width))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise ModelFileError(
                f"{self._model.path.name}: the encoder gives no finite numbers.",
                "The file is damaged: download it again, or choose another encoder.",
            )
        scaled: FloatVectors = vectors / lengths
        return scaled
