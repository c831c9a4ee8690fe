"""What the program says, and how often it was so in drawn worlds."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

_OTHER_SEED = 1_000_000  # no kind of world has it
_ERRORS = 3  # so many standard errors beyond its bar nothing comes by chance, with hundreds of rows


Draw = Callable[[np.random.Generator], bool]
"""Draws one world; whether what is counted happened in it."""


@dataclass(frozen=True)
class Promise:
    """`nominal`: in which share of worlds it is to be so; `bar`: what the drawn must reach, or not pass."""

    says: str
    nominal: float
    bar: float
    at_most: bool = False


@dataclass(frozen=True)
class Claim:
    """`happened`: in how many `of` the worlds it did what is counted. `draw`: draws one world more; None
    where worlds are not drawn one by one.
    """

    promise: Promise
    world: str
    happened: int
    of: int
    draw: Draw | None = field(default=None, compare=False)

    @classmethod
    def drawn(cls, promise: Promise, world: str, draw: Draw, worlds: int, seed: int) -> Self:
        """Counted in so many worlds; the same seed draws the same."""
        return cls(promise, world, _count(draw, worlds, seed), worlds, draw)

    def again(self, times: int) -> Self | None:
        """The same in `times` as many worlds, which are others; None where they are not drawn one by one."""
        if self.draw is None:
            return None
        worlds = times * self.of
        return replace(self, happened=_count(self.draw, worlds, _OTHER_SEED), of=worlds)

    @property
    def rate(self) -> float:
        return self.happened / self.of

    @property
    def error(self) -> float:
        rate = min(max(self.rate, 1 / self.of), 1 - 1 / self.of)
        return math.sqrt(rate * (1 - rate) / self.of)

    @property
    def is_broken(self) -> bool:
        return self.within < -_ERRORS * self.error

    @property
    def within(self) -> float:
        beyond = self.rate - self.promise.bar
        return -beyond if self.promise.at_most else beyond

    @property
    def line(self) -> str:
        said = self.promise
        bar = f"at {'most' if said.at_most else 'least'} {said.bar:.3f}"
        mark = "BROKEN" if self.is_broken else ""
        rate = f"{self.rate:.3f} ± {self.error:.3f}"
        return f"{said.says:34} {self.world:58} {said.nominal:7.3f} {rate:15} {bar:15} {mark}".rstrip()


def _count(draw: Draw, worlds: int, seed: int) -> int:
    random = np.random.default_rng(seed)
    return sum(draw(random) for _ in range(worlds))


@dataclass(frozen=True)
class Mean(Claim):
    """A mean in the place of a share of worlds, with the spread of its values (a standard deviation)."""

    mean: float = 0.0
    spread: float = 0.0

    @classmethod
    def of_values(cls, promise: Promise, world: str, values: Sequence[float]) -> Self:
        return cls(promise, world, 0, len(values), mean=float(np.mean(values)), spread=float(np.std(values)))

    @property
    def rate(self) -> float:
        return self.mean

    @property
    def error(self) -> float:
        return max(self.spread / math.sqrt(self.of), 1e-9)


def worst(claims: Iterable[Claim]) -> Iterator[Claim]:
    """Of each thing that is said, the world in which it comes nearest to its bar, or misses it most."""
    found: dict[str, Claim] = {}
    for claim in claims:
        known = found.get(claim.promise.says)
        if known is None or claim.within / claim.error < known.within / known.error:
            found[claim.promise.says] = claim
    yield from found.values()


Part = Callable[[int], Iterator[Claim]]
"""Simulates so many worlds of each kind."""

PARTS: dict[str, list[Part]] = defaultdict(list)
"""By the names of the command line, as the modules of this package register them."""


def part(name: str) -> Callable[[Part], Part]:
    def register(claims: Part) -> Part:
        PARTS[name].append(claims)
        return claims

    return register


def simulated(
    name: str,
    promise: Promise,
    kinds: Iterable[Any],
    called: str = "{}",
    costs: int = 1,
    least: int = 1,
    seeds: int = 0,
    counts: Callable[..., bool] = lambda *_: True,
) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """Registers a function that draws one world and tells whether what is counted happened. `kinds`: what it
    is given for each kind of world, `called` by a format. `costs`: so many times fewer worlds, `least` at
    least. `seeds`: of the first kind. `counts`: of which the promise is made; the others keep their seed.
    """
    every = [kind if isinstance(kind, tuple) else (kind,) for kind in kinds]

    def register(happens: Callable[..., bool]) -> Callable[..., bool]:
        def claims(times: int) -> Iterator[Claim]:
            for seed, kind in enumerate(every, seeds):
                if counts(*kind):
                    draw = partial(_given, happens, kind)
                    worlds = max(times // costs, least)
                    yield Claim.drawn(promise, called.format(*kind), draw, worlds, seed)

        PARTS[name].append(claims)
        return happens

    return register


def _given(happens: Callable[..., bool], kind: tuple[Any, ...], random: np.random.Generator) -> bool:
    return happens(random, *kind)
