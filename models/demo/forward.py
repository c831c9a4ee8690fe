"""A batch of rows through the network, each token seeing what it may see."""

from typing import Any

import torch
from torch import Tensor

from models.demo.network import DemoJudge
from models.demo.rows import NONE, TRUNK, Batch


def hidden_states(network: DemoJudge, stem: Tensor, batch: Batch) -> Tensor:
    """The network's output for a batch of rows, [rows, tokens, width]."""
    return network(
        stem,
        torch.from_numpy(batch.tokens),
        torch.from_numpy(batch.positions),
        seen_from(torch.from_numpy(batch.branches), torch.from_numpy(batch.parents), len(stem)),
    )


def seen_from(branches: Tensor, parents: Tensor, stem: int) -> Tensor:
    """Where a token may look: the stem, the trunk, the branch that its own goes on from, and its own, up to
    itself.

    `branches`, `parents`: [rows, tokens]; the result is [rows, tokens, stem + tokens].
    """
    rows, tokens = branches.shape
    keys = branches[:, None, :]
    seen = (keys == TRUNK) | (keys == branches[:, :, None]) | (keys == parents[:, :, None])
    seen &= (keys != NONE) & torch.ones(tokens, tokens, dtype=torch.bool).tril()
    return torch.cat([torch.ones(rows, tokens, stem, dtype=torch.bool), seen], dim=2)


def at_places(hidden: Tensor, places: Any) -> Tensor:
    """The hidden states of some places of each row, [rows, places, width]."""
    return torch.take_along_dim(hidden, torch.from_numpy(places)[..., None], dim=1)
