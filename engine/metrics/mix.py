"""A rate for a stated mix of slices, such as the user's own traffic: that of each slice, weighted by its
share there (post-stratification). What a judge gets wrong is no part of the mix: shares are constants.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.core.errors import SetupError
from engine.core.formatting import did_you_mean, listed, quoted
from engine.core.tables import Estimate
from engine.data.slices import Slicing
from engine.metrics.intervals import OverInstructions

Measured = tuple[str, Hashable, float]  # the id of an item, its instruction, its value, 0 to 1
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Mix:
    """`shares`: of slices of `division`, by their keys, sum 1; the other slices do not count."""

    division: Slicing
    shares: Mapping[str, float]

    def __post_init__(self) -> None:
        """SetupError for a slice without items, a share that is not above 0, and a sum that is not 1."""
        known = [part.key for part in self.division.slices]
        for key, share in self.shares.items():
            if key not in known:
                raise SetupError(
                    f"The mix has the slice {quoted(key)}, and no item is in it.",
                    f"{did_you_mean(key, known)}Slices by {self.division.words}: {listed(known)}.",
                )
            if not share > 0:
                raise SetupError(f"The share of {quoted(key)} is {share:g}.", "Use more than 0, up to 1.")
        total = sum(self.shares.values())
        if abs(total - 1) > _ROUNDING:
            raise SetupError(f"The shares of the mix add up to {total:g}, not 1.", "Correct them.")

    def rate(self, values: Mapping[str, Sequence[Measured]], what: str = "value") -> Estimate:
        """The mean over names of the mixed means of their values, with its 95 % interval over instructions;
        no interval where a slice has a single instruction. SetupError where one has no `what`. Simulated:
        `bench/coverage/mixes.py`.
        """
        parts = {part.key: part.known for part in self.division.slices}
        named: dict[str, list[float]] = {}
        groups: dict[str, list[Hashable]] = {}
        shares: dict[str, float] = {}
        met: dict[str, set[Hashable]] = {key: set() for key in self.shares}
        for name, of_one in values.items():
            for key, share in self.shares.items():
                inside = [each for each in of_one if each[0] in parts[key]]
                if not inside:
                    raise SetupError(
                        f"The mix has the slice {quoted(key)}, and no item in it has a {what}.",
                        "Label items there, or leave it out of the mix.",
                    )
                row = f"{name}\n{key}"
                named[row] = [value for _, _, value in inside]
                groups[row] = [group for _, group, _ in inside]
                shares[row] = share / len(values)
                met[key].update(groups[row])
        mean = sum(shares[row] * sum(each) / len(each) for row, each in named.items())
        found = OverInstructions.of(named, groups, shares)
        if found is None:
            return Estimate(mean)
        # Satterthwaite's (1946), of strata whose values vary alike: a large share of few instructions counts.
        each = [(share**2 / len(met[key]), len(met[key]) - 1) for key, share in self.shares.items()]
        freedom = sum(own for own, _ in each) ** 2 / sum(own**2 / count for own, count in each)
        return Estimate(mean, replace(found, freedom=freedom).share_interval())
