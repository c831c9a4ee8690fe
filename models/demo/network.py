"""The demo judge as a PyTorch network: a Llama, computed as llama.cpp computes it.

The stem, which begins every prompt, is read once for a whole batch. Auxiliary heads tell what a text is
about and each response's qualities; they teach the layers what to look for and are not exported.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.demo.gguf_files import NORM_EPSILON, ROPE_BASE

_MASKED_SCORE = -1e4

Turn = tuple[Tensor, Tensor]  # cosines and sines of the positions
KeyValue = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class NetworkShape:
    """The size of the network. `context`: the positions it has room for."""

    vocabulary: int
    layers: int
    width: int
    heads: int
    feed_forward: int
    context: int = 4096

    @property
    def head_width(self) -> int:
        """Numbers in one attention head."""
        return self.width // self.heads


class DemoJudge(nn.Module):
    """Logits over the vocabulary, and over the qualities and topics of what is read."""

    def __init__(self, shape: NetworkShape, qualities: int, topics: int) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList(_Layer(shape) for _ in range(shape.layers))
        self.norm = _Norm(shape.width)
        self.quality_head = nn.Linear(shape.width, qualities)
        self.topic_head = nn.Linear(shape.width, topics)
        angles = torch.outer(
            torch.arange(shape.context, dtype=torch.float32),
            ROPE_BASE ** (-torch.arange(0, shape.head_width, 2, dtype=torch.float32) / shape.head_width),
        )
        self.register_buffer("cosine", angles.cos(), persistent=False)
        self.register_buffer("sine", angles.sin(), persistent=False)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.02 if name.startswith("embedding") else shape.width**-0.5 * 0.6)

    def forward(self, stem: Tensor, rows: Tensor, positions: Tensor, seen: Tensor) -> Tensor:
        """The last layer's normalised output for the rows, shape [rows, tokens, width].

        `stem`: ids [stem]. `rows`: ids [rows, tokens]; `positions`: their places after the stem, likewise.
        `seen`: [rows, tokens, stem + tokens], true where a token may look.
        """
        stem_states, row_states = self.embedding(stem)[None], self.embedding(rows)
        stem_turn, row_turn = self._turn(torch.arange(len(stem))[None]), self._turn(positions)
        stem_mask = _mask(torch.ones(len(stem), len(stem), dtype=torch.bool).tril())
        row_mask = _mask(seen[:, None])
        for layer in self.layers:
            before = layer.key_value(stem_states, stem_turn)
            stem_states = layer(stem_states, stem_turn, None, stem_mask)
            row_states = layer(row_states, row_turn, before, row_mask)
        return self.norm(row_states)

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits of the next token; the embedding serves as the output matrix too."""
        return functional.linear(hidden, self.embedding.weight)

    def _turn(self, positions: Tensor) -> Turn:
        return self.cosine[positions][:, None], self.sine[positions][:, None]


class _Norm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, values: Tensor) -> Tensor:
        return functional.rms_norm(values, self.gain.shape, self.gain, NORM_EPSILON)


class _Layer(nn.Module):
    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self._head_count = shape.heads
        self.attention_norm = _Norm(shape.width)
        self.query = nn.Linear(shape.width, shape.width, bias=False)
        self.key = nn.Linear(shape.width, shape.width, bias=False)
        self.value = nn.Linear(shape.width, shape.width, bias=False)
        self.attention_output = nn.Linear(shape.width, shape.width, bias=False)
        self.feed_forward_norm = _Norm(shape.width)
        self.validator = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.up = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.down = nn.Linear(shape.feed_forward, shape.width, bias=False)

    def forward(self, values: Tensor, turn: Turn, before: KeyValue | None, mask: Tensor) -> Tensor:
        """The layer's output for `values`, [rows, tokens, width].

        `before`: keys and values of what stands before all rows. `mask`: what is added to the scores, of a
        shape that fits [rows, heads, tokens, tokens before and own].
        """
        normed = self.attention_norm(values)
        query = _turned(self._heads(self.query, normed), turn)
        key, value = self.key_value(values, turn)
        if before:
            key, value = (
                torch.cat([part.expand(len(values), -1, -1, -1), own], dim=2)
                for part, own in zip(before, (key, value), strict=True)
            )
        attended = _attention(query, key, value, mask)
        values = values + self.attention_output(attended.transpose(1, 2).flatten(2))
        normed = self.feed_forward_norm(values)
        return values + self.down(functional.silu(self.validator(normed)) * self.up(normed))

    def key_value(self, values: Tensor, turn: Turn) -> KeyValue:
        """What later tokens see of these."""
        normed = self.attention_norm(values)
        return _turned(self._heads(self.key, normed), turn), self._heads(self.value, normed)

    def _heads(self, part: nn.Linear, normed: Tensor) -> Tensor:
        return part(normed).unflatten(-1, (self._head_count, -1)).transpose(1, 2)


def _mask(seen: Tensor) -> Tensor:
    """What is added to the scores of attention, where a token may look and where not."""
    return torch.zeros(seen.shape).masked_fill(~seen, _MASKED_SCORE)


@torch.autocast("cpu", enabled=False)
def _attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Attention in the precision of its inputs; PyTorch's own is half as fast on processors in 16 bits."""
    scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-1, -2) + mask.to(query.dtype)
    return torch.softmax(scores, -1) @ value


def _turned(values: Tensor, turn: Turn) -> Tensor:
    """Rotary position embedding of neighbouring pairs, as llama.cpp does it for this architecture."""
    cosine, sine = (part.to(values.dtype) for part in turn)
    first, second = values[..., 0::2], values[..., 1::2]
    return torch.stack([first * cosine - second * sine, first * sine + second * cosine], -1).flatten(-2)
