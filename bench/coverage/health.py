"""Whether a sound judge is called ill, and an ill one is found: after 10 items, 20 and so on, at the end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.coverage.claims import Promise, at_most, simulated
from engine.core.health import Health, HealthVerdict
from engine.core.items import PREFERENCES, Preference
from engine.core.numeric import FloatArray
from engine.results.health import LEAST_ITEMS, Answer, answers_health

MOST_FALSE_ALARMS = 0.05
LEAST_FOUND = 0.95
_FIVE = ("a", "b", "c", "d", "e")
_SHORT, _LONG = 160, 2000
_FEWER = 20  # times fewer long runs are drawn, which take long

Columns = Mapping[str, list[Answer]]
Draw = Callable[[np.random.Generator, int], Columns]
"""The answers of a judge to so many items."""


@dataclass(frozen=True)
class Habit:
    """By criterion, one value for all or one each. `mass`: the mean format mass; `two_kinds`: of items
    understood wholly or hardly. `one`: how often its label is `label`; `alike`: 0 (independent within an
    item) to 1. `place`: the label that it sees in both orders.
    """

    flipped: tuple[float, ...] = (0.0,)
    mass: tuple[float, ...] = (0.99,)
    two_kinds: bool = False
    one: float = 0.25
    alike: float = 0.0
    label: Preference = Preference.BOTH_GOOD
    place: Preference | None = None
    unscored: float = 0.0
    wordless: float = 0.0
    cut: float = 0.0
    criteria: tuple[str, ...] = _FIVE

    def answers(self, random: np.random.Generator, items: int) -> Columns:
        spread = (1 - self.alike) / self.alike if self.alike else 0.0
        ones = random.beta(self.one * spread, (1 - self.one) * spread, items) if spread else self.one
        return {name: self._column(random, items, place, ones) for place, name in enumerate(self.criteria)}

    def _column(
        self, random: np.random.Generator, items: int, place: int, ones: FloatArray | float
    ) -> list[Answer]:
        others = [label for label in PREFERENCES if label is not self.label]
        labels = [
            self.label if one else others[other]
            for one, other in zip(random.random(items) < ones, random.integers(3, size=items), strict=True)
        ]
        flipped = (random.random(items) < _of(self.flipped, place)).tolist()
        masses = self._masses(random, items, _of(self.mass, place))
        lost, mute, cut = (
            (random.random(items) < share).tolist() for share in (self.unscored, self.wordless, self.cut)
        )
        return [
            Answer(None, None, unscored=True)
            if lost[item]
            else Answer(
                label=labels[item],
                text=None if mute[item] else "A is better.",
                cut=cut[item],
                answer_mass=masses[item],
                flipped=flipped[item] if self.place is None else True,
                seen=(self.place or labels[item],) * 2,
            )
            for item in range(items)
        ]

    def _masses(self, random: np.random.Generator, items: int, mean: float) -> list[float]:
        if self.two_kinds:
            high, low = 0.99, min(0.3, mean / 2)
            drawn = np.where(random.random(items) < (mean - low) / (high - low), high, low)
        else:
            drawn = random.beta(10 * mean, 10 * (1 - mean), items)
        return [float(mass) for mass in drawn]


def _of(each: tuple[float, ...], place: int) -> float:
    return each[place % len(each)]


_JUST_WITHIN = {
    "20 % flipped on five criteria": Habit(flipped=(0.2,)),
    "30 % flipped on five criteria": Habit(flipped=(0.3,)),
    "30 % flipped on one criterion": Habit(flipped=(0.3,), criteria=("a",)),
    "format mass .9 on five criteria": Habit(mass=(0.9,)),
    "format mass .9, most items wholly": Habit(mass=(0.9,), two_kinds=True),
    "90 % one label, alike 0": Habit(one=0.9),
    "90 % one label, alike .5": Habit(one=0.9, alike=0.5),
    "90 % one label on one criterion": Habit(one=0.9, criteria=("a",)),
    "10 % unscored": Habit(unscored=0.1),
    "5 % wordless": Habit(wordless=0.05),
    "20 % cut": Habit(cut=0.2),
}
_ALSO_LONG = ("20 % flipped on five criteria", "30 % flipped on five criteria", "90 % one label, alike .5")
_NEVER_SERIOUS = {
    "50 % flipped on five criteria": Habit(flipped=(0.5,)),
    "50 % flipped on one criterion": Habit(flipped=(0.5,), criteria=("a",)),
    "format mass .5 on five criteria": Habit(mass=(0.5,)),
    "format mass .5 on one criterion": Habit(mass=(0.5,), criteria=("a",)),
    "95 % one label, alike .5": Habit(one=0.95, alike=0.5),
    "50 % unscored": Habit(unscored=0.5),
}
_SMOLLM2 = Habit(flipped=(0.8, 1.0, 0.95, 0.92, 0.54), mass=(0.6, 0.56, 0.45, 0.48, 0.49))
_DO_NOT_JUDGE = {
    ("random weights", 10): Habit(flipped=(0.75,), mass=(0.01,)),
    ("random labels", 60): Habit(flipped=(0.75,)),
    ("SmolLM2's rates", 20): _SMOLLM2,
    ("always the first", 10): Habit(place=Preference.A),
    ("always both good", 80): Habit(one=1.0),
    ("all but 5 of 1,000 unscored", _LONG): Habit(unscored=0.995),
}
_LOOKED_AT = {
    ("always both good", 40): Habit(one=1.0),
    ("always both good on one criterion", 80): Habit(one=1.0, criteria=("a",)),
    ("45 % flipped", 160): Habit(flipped=(0.45,)),
}


def _costs(_name: str, items: int, *_habit: object) -> int:
    return 1 if items <= _SHORT else _FEWER


@simulated(
    "health",
    at_most("false alarms", MOST_FALSE_ALARMS),
    [
        (name, items, habit)
        for name, habit in _JUST_WITHIN.items()
        for items in (_SHORT, *((_LONG,) if name in _ALSO_LONG else ()))
    ],
    "{0}, {1} items",
    _costs,
)
def _is_ever_doubted(random: np.random.Generator, _name: str, items: int, habit: Habit) -> bool:
    """Judges that are just within a limit: whatever is looked at, and whenever, in few runs is one beyond."""
    return any(health.doubted for health in _looks(random, items, habit))


@simulated(
    "health",
    at_most("“does not judge” falsely", MOST_FALSE_ALARMS),
    [(name, _SHORT, habit) for name, habit in _NEVER_SERIOUS.items()],
    "{0}",
)
def _is_ever_condemned(random: np.random.Generator, _name: str, items: int, habit: Habit) -> bool:
    return any(health.verdict is HealthVerdict.DOES_NOT_JUDGE for health in _looks(random, items, habit))


def _looks(random: np.random.Generator, items: int, habit: Habit) -> Iterator[Health]:
    """Each look while the run goes on, and the one at its end."""
    answers, seen = habit.answers(random, items), LEAST_ITEMS
    while seen < items:
        yield _health(habit, {name: column[:seen] for name, column in answers.items()})
        seen *= 2
    yield _health(habit, answers)


_SOUND = {("10 % flipped", 40): Habit(flipped=(0.1,), mass=(0.97,))}
_VERDICTS: Sequence[tuple[str, Mapping[tuple[str, int], Habit], Callable[[Health], bool]]] = (
    ("“does not judge” found", _DO_NOT_JUDGE, lambda found: found.verdict is HealthVerdict.DOES_NOT_JUDGE),
    ("something to look at found", _LOOKED_AT, lambda found: found.doubted),
    ("a sound judge judges", _SOUND, lambda found: found.verdict is HealthVerdict.JUDGES),
)
"""Of judges at the end of short runs."""


def _is_found(
    random: np.random.Generator, _name: str, items: int, habit: Habit, is_so: Callable[[Health], bool]
) -> bool:
    return is_so(_health(habit, habit.answers(random, items)))


for _says, _judges, _is_so in _VERDICTS:
    _kinds = [(*called, habit, _is_so) for called, habit in _judges.items()]
    simulated("ill judges", Promise(_says, 1.0, LEAST_FOUND), _kinds, "{0}, {1} items", _costs)(_is_found)


def _health(habit: Habit, answers: Columns) -> Health:
    return answers_health(answers, explains=habit.wordless > 0 or habit.cut > 0)
