"""Whether the rate for a stated mix of slices lies where its interval says."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from bench.coverage.claims import Kind, Promise, simulated
from bench.coverage.intervals import World, holds
from engine.data.slices import Slice, Slicing
from engine.metrics.mix import Mix

_RATES = {"alike": (0.7, 0.7, 0.7), "unlike": (0.9, 0.6, 0.3), "nearly all": (0.97, 0.9, 0.95)}
_SIZES = {"even": (1, 1, 1), "one small": (0.1, 1, 1), "two small": (0.15, 0.15, 1)}
_SHARES = {"as sampled": None, "even": (1 / 3, 1 / 3, 1 / 3), "small first": (0.7, 0.2, 0.1)}


@dataclass(frozen=True)
class MixWorld(Kind):
    """Three slices: as many of the `instructions` each as `sizes` says; a slice has its own rate."""

    instructions: int
    each: int
    alike: float
    rates: str
    sizes: str
    shares: str

    def drawn(self, random: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        sizes = np.array(_SIZES[self.sizes]) / sum(_SIZES[self.sizes])
        shares = sizes if (stated := _SHARES[self.shares]) is None else np.array(stated)
        values: list[tuple[str, str, float]] = []
        slices = []
        for name, size, rate in zip("xyz", sizes, _RATES[self.rates], strict=True):
            world = World(max(round(size * self.instructions), 3), self.each, self.alike)
            groups = world.groups(random)
            right = world.right(random, groups, rate)
            ids = tuple(f"{name}{place}" for place in range(len(groups)))
            slices.append(Slice(name, name, ids))
            values += [
                (one, f"{name}{group}", value) for one, group, value in zip(ids, groups, right, strict=True)
            ]
        mix = Mix(Slicing("kind", "kind", tuple(slices)), dict(zip("xyz", shares.tolist(), strict=True)))
        return mix.rate({"": values}).ends, float(np.dot(shares, _RATES[self.rates]))


@simulated(
    "mixes",
    Promise("a rate for a stated mix"),
    [MixWorld(*kind) for kind in product((60, 300), (1, 5), (0.3,), _RATES, _SIZES, _SHARES)],
)
def _mixes_held(random: np.random.Generator, world: MixWorld) -> bool:
    return holds(*world.drawn(random))
