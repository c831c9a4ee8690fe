"""What the program says, and how often it was so in drawn worlds."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

NOMINAL, LEAST = 0.95, 0.94  # of an interval: in which share of worlds it is to hold, and must
_OTHER_SEED = 1_000_000  # no kind of world has it
_ERRORS = 3  # so many standard errors beyond its bar nothing comes by chance, with hundreds of rows

Value = float | Sequence[float] | npt.NDArray[Any] | None
"""Of one world: whether a promise was kept, or how much it was; several of these; None: not counted."""
Draw = Callable[[np.random.Generator], Value]


@dataclass(frozen=True)
class Kind:
    """A kind of world; its fields. Its name tells those that are not as they mostly are."""

    def __str__(self) -> str:
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        other = [each.name for each in fields(self) if said[each.name] != each.default]
        return ", ".join(f"{name} {_shown(said[name])}" for name in other)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "/".join(map(_shown, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Promise:
    """`nominal`: in which share of worlds it is to be so, or its mean (`is_mean`); `bar`: what the drawn must
    reach, or not pass (`at_most`).
    """

    says: str
    nominal: float = NOMINAL
    bar: float = LEAST
    at_most: bool = False
    is_mean: bool = False


def at_most(says: str, nominal: float, bar: float | None = None, is_mean: bool = False) -> Promise:
    return Promise(says, nominal, nominal if bar is None else bar, at_most=True, is_mean=is_mean)


@dataclass(frozen=True)
class Claim:
    """A rate, or a mean, with its standard error, `of` so many values. `draw`: draws one world more; None
    where worlds are not drawn one by one.
    """

    promise: Promise
    world: str
    rate: float
    error: float
    of: int
    draw: Draw | None = field(default=None, compare=False)

    @classmethod
    def of_values(
        cls, promise: Promise, world: str, drawn: Iterable[Value], draw: Draw | None = None
    ) -> Self:
        values = np.hstack([[], *(each for each in drawn if each is not None)])
        mean = float(values.mean())
        spread = float(values.std())
        if not promise.is_mean:  # never 0, as if no world could be otherwise
            rate = min(max(mean, 1 / len(values)), 1 - 1 / len(values))
            spread = math.sqrt(rate * (1 - rate))
        return cls(promise, world, mean, max(spread / math.sqrt(len(values)), 1e-9), len(values), draw)

    def again(self, times: int) -> Self | None:
        """The same in `times` as many worlds, which are others; None where they are not drawn one by one."""
        if self.draw is None:
            return None
        random = np.random.default_rng(_OTHER_SEED)
        drawn = (self.draw(random) for _ in range(times * self.of))
        return self.of_values(self.promise, self.world, drawn, self.draw)

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
    promises: Promise | Sequence[Promise],
    kinds: Iterable[Any],
    called: str = "{}",
    costs: int | Callable[..., int] = 1,
    least: int = 1,
    seeds: int = 0,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function that draws one world and gives a Value for each promise. `kinds`: what it is given
    for each kind of world, `called` by a format. `costs`: so many times fewer worlds, `least` at least.
    `seeds`: of the first kind.
    """
    each_kind = [kind if isinstance(kind, tuple) else (kind,) for kind in kinds]
    is_one = isinstance(promises, Promise)
    said = (promises,) if isinstance(promises, Promise) else promises

    def register(happens: Callable[..., Any]) -> Callable[..., Any]:
        def values(kind: tuple[Any, ...], random: np.random.Generator) -> Sequence[Value]:
            found = happens(random, *kind)
            return (found,) if is_one else found

        def claims(times: int) -> Iterator[Claim]:
            for seed, kind in enumerate(each_kind, seeds):
                random = np.random.default_rng(seed)
                fewer = costs if isinstance(costs, int) else costs(*kind)
                drawn = [values(kind, random) for _ in range(max(times // fewer, least))]
                for place, promise in enumerate(said):
                    draw = partial(lambda kind, place, random: values(kind, random)[place], kind, place)
                    own = [each[place] for each in drawn]
                    if any(each is not None for each in own):
                        yield Claim.of_values(promise, called.format(*kind), own, draw)

        PARTS[name].append(claims)
        return happens

    return register
