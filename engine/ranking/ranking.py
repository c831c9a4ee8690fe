"""How often each candidate won, ties counting half, the ranking that follows, its caveats, and its JSON."""

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any

import numpy as np

from engine.core.errors import SetupError
from engine.core.events import CancelToken, MeasureProgress, Preparing
from engine.core.formatting import counted, listed, percent, short_name
from engine.core.items import HUMAN_LABELS, Preference, Tie
from engine.core.numeric import BoolArray, FloatArray, IntArray
from engine.core.tables import Estimate
from engine.data.dataset import Dataset
from engine.metrics.intervals import FEW, OverInstructions
from engine.metrics.mix import Mix
from engine.ranking.bradley_terry import BradleyTerryScores, bradley_terry
from engine.ranking.comparisons import PairComparisons, check_candidates, left_out_in_words
from engine.ranking.correction import Corrected
from engine.ranking.favour import Favour
from engine.ranking.features import style_differences
from engine.ranking.labelled_part import CorrectedShares, RankedByLabels
from engine.ranking.length_control import LengthControl, StyleControl, length_control, style_control
from engine.settings.sampling import DEFAULT_SEED


@dataclass(frozen=True)
class WinRate:
    """`rate`: the mean of what it won (0 to 1, half a tie), 95 % interval over instructions;
    `standard_error`: None for a single one. `good_ties`, `bad_ties`, `other_ties`: shares that ended in
    both_good, both_bad, a plain tie.
    """

    comparisons: int
    instructions: int
    rate: Estimate
    standard_error: float | None
    good_ties: float
    bad_ties: float
    other_ties: float

    @property
    def few(self) -> bool:
        """True where it rests on too few instructions to be called better or worse than another."""
        return self.instructions < FEW

    @property
    def is_significantly(self) -> int:
        """1 where the whole interval is above one half, -1 where it is below, else 0."""
        if self.few or self.rate.ends is None:
            return 0
        low, high = self.rate.ends
        return (low > 0.5) - (high < 0.5)

    def turned(self) -> "WinRate":
        return replace(self, rate=self.rate.turned())


@dataclass(frozen=True)
class WinRates:
    """`candidates`: by name, against all others. `pairs`: of two candidates that met, in both directions."""

    candidates: dict[str, WinRate]
    pairs: dict[tuple[str, str], WinRate]

    @cached_property
    def cycles(self) -> "Cycles":
        """Three candidates that each won more than half against the next, in a ring."""
        return self._cycles({pair for pair, met in self.pairs.items() if met.rate.value > 0.5})

    @cached_property
    def sure_cycles(self) -> "Cycles":
        """Those of which no comparison can be chance alone."""
        return self._cycles({pair for pair, met in self.pairs.items() if met.is_significantly > 0})

    def _cycles(self, won: Collection[tuple[str, str]]) -> "Cycles":
        names = [*self.candidates]
        place = {name: number for number, name in enumerate(names)}
        beats = np.zeros((len(names), len(names)), np.bool_)
        for one, other in won:
            beats[place[one], place[other]] = True
        return Cycles(names, beats)


@dataclass(frozen=True, eq=False)
class Cycles:
    """Rings of three of candidates, by who `beats` whom: (candidates, candidates)."""

    names: Sequence[str]
    beats: BoolArray

    def __len__(self) -> int:
        beats = self.beats.astype(np.float64)
        return round(float(np.sum((beats @ beats) * beats.T)) / 3)

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        for one, won in enumerate(self.beats if len(self) else ()):
            lost = self.beats[:, one]
            onwards = won[:, None] & self.beats & lost
            for two, three in np.argwhere(np.triu(onwards | onwards.T)[one:, one:]) + one:
                ring = (one, two, three) if onwards[two, three] else (one, three, two)
                yield self.names[ring[0]], self.names[ring[1]], self.names[ring[2]]


def win_rates(
    comparisons: PairComparisons, cancel: CancelToken | None = None
) -> Generator[MeasureProgress, None, WinRates]:
    """Of all candidates of which something was said; of many pairs it tells how far it is. Cancelled."""
    candidates: dict[str, WinRate] = {}
    met: dict[tuple[int, int], WinRate] = {}
    for number, (name, places) in enumerate(zip(comparisons.names, comparisons.of, strict=True)):
        if len(places):
            candidates[name] = _rate(comparisons, places, comparisons.won(number, places))
    pairs = len(comparisons.between)
    for done, ((one, other), places) in enumerate(comparisons.between.items()):
        if done % _PAIRS_AT_ONCE == 0 and cancel is not None:
            cancel.raise_if_requested()
        if done % _PAIRS_AT_ONCE == 0 and pairs > _MANY_PAIRS:
            yield MeasureProgress(done, pairs)
        found = _rate(comparisons, places, comparisons.won(one, places))
        met[one, other], met[other, one] = found, found.turned()
    names = comparisons.names
    if pairs > _MANY_PAIRS:
        yield MeasureProgress(pairs, pairs)
    return WinRates(candidates, {(names[one], names[other]): met[one, other] for one, other in sorted(met)})


_MANY_PAIRS, _PAIRS_AT_ONCE = 10_000, 1000  # of a thousand a tenth of a second


def _rate(comparisons: PairComparisons, places: IntArray, won: FloatArray) -> WinRate:
    rate, error = _estimate(comparisons, places, won)
    shares = dict(zip(HUMAN_LABELS, comparisons.said[places].mean(axis=0).tolist(), strict=True))
    return WinRate(
        comparisons=len(places),
        instructions=len(np.unique(comparisons.instructions[places])),
        rate=rate,
        standard_error=error,
        good_ties=shares[Preference.BOTH_GOOD],
        bad_ties=shares[Preference.BOTH_BAD],
        other_ties=shares[Tie.TIE],
    )


def _estimate(
    comparisons: PairComparisons, places: IntArray, won: FloatArray
) -> tuple[Estimate, float | None]:
    """The mean with its interval, and its standard error."""
    found = OverInstructions.of_one(won, comparisons.instructions[places])
    if found is None:
        return Estimate(float(won.mean())), None
    return Estimate(found.mean, found.share_interval()), found.standard_error


_MOST_CYCLES = _MOST_GROUPS = 3  # that are named
_NEARLY_ALL_TIES = 0.95


@dataclass(frozen=True, eq=False)
class Ranking:
    """`comparisons`: what it rests on. `bradley_terry`: None where comparisons do not hold all candidates
    together, or there are fewer than FEW instructions. `lengths`, `style`: None where these say nothing.
    `places`: how often the response that stood as A won. `mixed`: win rates for a stated mix, where one was
    stated.
    """

    comparisons: PairComparisons
    rates: WinRates
    bradley_terry: BradleyTerryScores | None
    lengths: LengthControl | None
    places: Estimate
    style: StyleControl | None = None
    mixed: Mapping[str, Estimate] = field(default_factory=dict)

    @cached_property
    def ids_of(self) -> list[frozenset[str]]:
        """By candidate, the ids of its labelled comparisons."""
        return [frozenset(map(self.comparisons.ids.__getitem__, each)) for each in self.comparisons.of]

    @cached_property
    def ids_between(self) -> dict[tuple[int, int], frozenset[str]]:
        """The same of `PairComparisons.between`."""
        between = self.comparisons.between.items()
        return {pair: frozenset(map(self.comparisons.ids.__getitem__, each)) for pair, each in between}

    @property
    def order(self) -> list[str]:
        if self.bradley_terry is not None:
            return self.bradley_terry.order
        rates = self.rates.candidates
        return sorted(rates, key=lambda name: -rates[name].rate.value)

    @property
    def caveats(self) -> list[str]:
        ties = ties_caveat(self.bradley_terry)
        return [*self._few(), *self._apart(), *ties, *self._cycles(), *self._lengths(), *self._unsaid()]

    def _few(self) -> Iterator[str]:
        instructions = len(np.unique(self.comparisons.instructions[self.comparisons.known]))
        if instructions < FEW:
            labelled = counted(instructions, "instruction is", "instructions are")
            yield f"{labelled} labelled; with fewer than {FEW} no candidate is called better than another."
            return
        few = [name for name, rate in self.rates.candidates.items() if rate.few]
        if few:
            have = "has" if len(few) == 1 else "have"
            said = f"{_named(few)} {have} comparisons on fewer than {FEW} instructions"
            yield f"{said}: too few for an estimate."

    def _apart(self) -> Iterator[str]:
        groups = self.comparisons.labelled.components
        if len(groups) > 1:
            shown = "; ".join(map(_named, groups[:_MOST_GROUPS]))
            if len(groups) > _MOST_GROUPS:
                shown = f"{shown}; and {len(groups) - _MOST_GROUPS:,} more"
            yield (
                f"The candidates fall into {len(groups)} groups without a common opponent: {shown}."
                " Candidates of different groups cannot be compared; Bradley-Terry scores are omitted."
            )

    def _cycles(self) -> Iterator[str]:
        cycles, certain = self.rates.cycles, self.rates.sure_cycles
        if not cycles:
            return
        first = [*islice(certain, _MOST_CYCLES)]
        named = islice(chain(first, (cycle for cycle in cycles if cycle not in first)), _MOST_CYCLES)
        rings = ([*cycle, cycle[0]] for cycle in named)
        shown = "; ".join(" over ".join(map(short_name, ring)) for ring in rings)
        sure = len(certain)
        chance = "None is significant: such cycles occur by chance."
        if sure:
            chance = f"In {sure:,} of {len(cycles):,} each pair is significant (uncorrected): then no single"
            chance += " order of the candidates is true."
        run = "a cycle:" if len(cycles) == 1 else f"{len(cycles):,} cycles, such as"
        yield f"Win rates of pairs run in {run} {shown}. {chance}"

    def _lengths(self) -> Iterator[str]:
        far = self.lengths.beyond_seen if self.lengths is not None else ()
        if far:
            yield (
                f"Longer than the opponent in hardly any comparison, or shorter in hardly any: {_named(far)}."
                " The length-controlled win rate lies beyond what was seen there, and its interval does not"
                " cover that."
            )

    def _unsaid(self) -> Iterator[str]:
        if self.comparisons.left_out:
            yield left_out_in_words(self.comparisons.left_out)
        unsaid = int(np.sum(~self.comparisons.known))
        if unsaid:
            items = counted(unsaid, "item has", "items have")
            yield f"{items} no label here and {'is' if unsaid == 1 else 'are'} omitted."
        ends = self.places.ends
        if ends is not None and not ends[0] <= 0.5 <= ends[1]:
            yield (
                f"The response in position A won {percent(self.places.value)}: positions decide some"
                " comparisons. The ranking is fair only if each candidate was A as often as B."
            )


def ties_caveat(found: BradleyTerryScores | None) -> list[str]:
    """A sentence where Bradley-Terry scores say little, as nearly all are ties to the model; else none."""
    # There is hardly a largest likelihood: nu and the score of whoever never loses grow without end.
    if found is None or found.equals_tie < _NEARLY_ALL_TIES:
        return []
    return [
        "Use the win rates, not those against the mean: nearly all comparisons are ties, or a candidate"
        " never loses and often ties. In this case the Bradley-Terry model assumes that equal candidates"
        " nearly always tie."
    ]


def _named(names: Sequence[str]) -> str:
    return listed(names, shown=short_name)


def rank(
    comparisons: PairComparisons,
    seed: int = DEFAULT_SEED,
    cancel: CancelToken | None = None,
    *,
    many_candidates: bool = False,
    dataset: Dataset | None = None,
    mix: Mix | None = None,
) -> Generator[MeasureProgress | Preparing, None, Ranking]:
    """`seed`: of the bootstrap; tells its draws, and what comes before. `dataset`: whose texts have a style,
    which is controlled with it alone. `mix`: for which there are win rates, too. SetupError where no item has
    a label, for a slice of the mix in which a candidate has none, and, unless `many_candidates` are meant,
    what `check_candidates` raises; Cancelled.
    """
    mixed = {} if mix is None else _mixed_rates(comparisons, mix)
    known = comparisons.labelled
    if not len(known):
        raise SetupError(
            "No item with two candidates has a label here.", "Choose another criterion, or label items first."
        )
    check_candidates(comparisons, many_candidates)
    yield Preparing("win rates of pairs")
    rates = yield from win_rates(comparisons, cancel)
    yield Preparing("bootstrap")
    enough = len(np.unique(known.instructions)) >= FEW and len(known.components) == 1
    found = (yield from bradley_terry(known, seed, cancel=cancel)) if enough else None
    # Half a tie: one half where places decide nothing.
    scored = np.flatnonzero(comparisons.known)
    place = _estimate(comparisons, scored, comparisons.scores[scored])[0]
    lengths, style = length_control(comparisons, cancel), None
    if dataset is not None and lengths is not None:
        of_style = style_differences(dataset.only(frozenset(comparisons.ids)))
        style = style_control(comparisons, of_style, cancel)
    return Ranking(comparisons, rates, found, lengths, place, style, mixed)


def _mixed_rates(comparisons: PairComparisons, mix: Mix) -> dict[str, Estimate]:
    rates = {}
    for number, (name, places) in enumerate(zip(comparisons.names, comparisons.of, strict=True)):
        ids = [comparisons.ids[place] for place in places]
        columns = (comparisons.instructions[places].tolist(), comparisons.won(number, places).tolist())
        won = [*zip(ids, *columns, strict=True)]
        rates[name] = mix.rate({name: won}, f"labelled comparison of {short_name(name)}")
    return rates


def ranking_json(
    ranking: Ranking, corrected: RankedByLabels | None = None, remark: str = ""
) -> dict[str, Any]:
    """`candidates`, the best first, `pairs` and so on, in percent. `corrected`: what human labels make of a
    judge's ranking. `remark`: one more caveat, or empty.
    """
    correction = corrected.correction if corrected else None
    found, lengths = ranking.bradley_terry, ranking.lengths
    candidates = []
    for name in ranking.order:
        one = {"name": name, **_ranking_json_rate(ranking.rates.candidates[name])}
        if found is not None:
            one |= {
                **_percent("against_mean", found.scores[name]),
                "elo": found.elo[name].value,
                "elo_interval": found.elo[name].ends,
                "strength": float(found.fit.bradley_terry[0][found.names.index(name)]),
                "ranks": list(found.ranks[name]),
            }
        if name in ranking.mixed:
            one |= _percent("win_rate_for_the_mix", ranking.mixed[name])
        for alike, control in (("length", lengths), ("style", ranking.style)):
            if control is not None and name in control.rates:
                one |= _percent(f"win_rate_at_equal_{alike}", control.rates[name])
        if correction is not None and name in correction.candidates:
            one["corrected"] = corrected_json(correction.candidates[name])
            if correction.bradley_terry is not None:
                one["corrected"] |= _percent("against_mean", correction.bradley_terry.scores[name])
        if corrected is not None and name in corrected.favour:
            one["favour"] = _favour_json(corrected.favour[name])
        candidates.append(one)
    pairs = []
    for (name, other), rate in ranking.rates.pairs.items():
        met = {"name": name, "against": other, **_ranking_json_rate(rate)}
        if correction is not None and (name, other) in correction.pairs:
            met["corrected"] = corrected_json(correction.pairs[name, other])
        pairs.append(met)
    caveats = [*([remark] if remark else ()), *ranking.caveats]
    made: dict[str, Any] = {"candidates": candidates, "pairs": pairs, "caveats": caveats}
    if found is not None:
        made |= {"groups": found.groups, "tie_parameter": float(found.fit.tie[0])}
    made |= _controls_json(ranking)
    if corrected is not None:
        made["by_labels"] = _by_labels_json(corrected)
    return {**made, **_percent("first_won", ranking.places)}


def _controls_json(ranking: Ranking) -> dict[str, Any]:
    """In log odds what length does, and what style."""
    made: dict[str, Any] = {}
    if (lengths := ranking.lengths) is not None:
        ends = None if lengths.shrunk else list(lengths.effect_ends)
        effect = {"effect": lengths.effect, "interval": ends}
        made["length"] = {**effect, **_percent("longer_won", lengths.longer_won)}
    if ranking.style is not None:
        effects = ranking.style.effects.items()
        made["style"] = {name: {"effect": one.value, "interval": one.ends} for name, one in effects}
    return made


def corrected_json(one: Corrected, name: str = "win_rate") -> dict[str, Any]:
    """A corrected share, in percent, under its name; next to it the labels and the judge alone."""
    return {
        **_percent(name, one.rate),
        f"{name}_of_these_items_interval": [100 * end for end in one.of_these],
        **_percent("labels_alone", one.labels),
        "labels_alone_of_these_items_interval": [100 * end for end in one.labels_of_these],
        "judge_alone": 100 * one.judge,
        "standard_error": 100 * one.error,
        "weight": one.weight,
        "worth": one.worth,
        "labelled": one.labelled,
        "items": one.items,
    }


def _favour_json(one: Favour) -> dict[str, Any]:
    """In percentage points, the judge minus annotators."""
    return {
        **_percent("points", one.difference),
        "standard_error": 100 * one.standard_error,
        "p_holm": one.p_holm,
        "items": one.items,
        "instructions": one.instructions,
        **({"candidates": list(one.members)} if one.members else {}),
    }


def favour_json(found: RankedByLabels) -> dict[str, Any]:
    """Whom and what a judge favours, where nothing is ranked; only what is known."""
    known = {"favour": found.favour, "features": found.features}
    return {key: {name: _favour_json(one) for name, one in of.items()} for key, of in known.items() if of}


def shares_json(found: Mapping[str, CorrectedShares | SetupError]) -> dict[str, Any]:
    """By criterion, slice and label the corrected shares, or why they are not corrected."""
    return {
        criterion: {"refused": of_one.problem}
        if isinstance(of_one, SetupError)
        else {
            part: {label: corrected_json(one, "share") for label, one in shares.items()}
            for part, shares in of_one.shares.items()
        }
        for criterion, of_one in found.items()
    }


def _by_labels_json(found: RankedByLabels) -> dict[str, Any]:
    made: dict[str, Any] = {"labels": found.part.whose if found.part else None}
    if found.same_family:
        made["same_family"] = {family: list(names) for family, names in found.same_family.items()}
    families = {name: _favour_json(one) for name, one in found.favour.items() if one.members}
    made |= {"favour_of_families": families} if families else {}
    if found.features:
        made["features"] = {name: _favour_json(one) for name, one in found.features.items()}
    if found.part is not None:
        made["sentences"] = list(found.part.remarks if found.correction else found.part.sentences)
    if found.refused is not None:
        made["refused"] = found.refused.problem
    if (correction := found.correction) is not None:
        made |= {
            "labelled": correction.labelled,
            "items": correction.items,
            "of_the_part_without_a_label": correction.missing,
            "correlation": correction.correlation,
            "worth": correction.worth,
            "shares": {name: corrected_json(one, "share") for name, one in correction.shares.items()},
        }
        if correction.bradley_terry is not None:
            made["groups"] = correction.bradley_terry.groups
    if (many := found.sample_size) is not None:
        made["how_many"] = {
            "labels": many.labels,
            "items": many.items,
            "smallest_difference": None if many.smallest is None else 100 * many.smallest,
            "half_width": None if many.half is None else 100 * many.half,
            "half_width_with_more": {str(more): 100 * half for more, half in many.with_more.items()},
            "needed": [
                {
                    "correlation": correlation,
                    "difference": 100 * each.difference,
                    "items": each.items,
                    "labels": each.labels,
                    "labels_alone": each.alone,
                }
                for correlation, all_needed in many.needed.items()
                for each in all_needed
            ],
        }
    return made


def _ranking_json_rate(rate: WinRate) -> dict[str, Any]:
    return {
        **_percent("win_rate", rate.rate),
        "standard_error": None if rate.standard_error is None else 100 * rate.standard_error,
        "both_good": 100 * rate.good_ties,
        "both_bad": 100 * rate.bad_ties,
        "tie": 100 * rate.other_ties,
        "contests": rate.comparisons,
        "instructions": rate.instructions,
    }


def _percent(name: str, estimate: Estimate) -> dict[str, Any]:
    ends = None if estimate.ends is None else [100 * end for end in estimate.ends]
    return {name: 100 * estimate.value, f"{name}_interval": ends}
