"""A ranking as plain values, for a JSON file.

Knows: the keys. Does not know: formulas, files.
"""

from typing import Any

from engine.core.tables import Estimate
from engine.ranking.correction import Corrected
from engine.ranking.labelled_part import RankedByLabels
from engine.ranking.ranking import Ranking, WinRate


def ranking_json(
    ranking: Ranking, corrected: RankedByLabels | None = None, remark: str = ""
) -> dict[str, Any]:
    """`candidates`, the best first, `pairs`, and what else is known. Rates are in percent, 0 to 100.

    `corrected`: of a judge's ranking what human labels make of it, also of each candidate and pair.
    `remark`: a caveat next to those of the ranking itself, empty for none.
    """
    correction = corrected.correction if corrected else None
    found, lengths = ranking.bradley_terry, ranking.lengths
    candidates = []
    for name in ranking.order:
        one = {"name": name, **_rate(ranking.rates.candidates[name])}
        if found is not None:
            one |= {
                **_percent("against_mean", found.scores[name]),
                "strength": float(found.fit.bradley_terry[0][found.names.index(name)]),
                "ranks": list(found.ranks[name]),
            }
        if lengths is not None and name in lengths.rates:
            one |= _percent("win_rate_at_equal_length", lengths.rates[name])
        if correction is not None and name in correction.candidates:
            one["corrected"] = corrected_json(correction.candidates[name])
            if correction.bradley_terry is not None:
                one["corrected"] |= _percent("against_mean", correction.bradley_terry.scores[name])
        candidates.append(one)
    pairs = []
    for (name, other), rate in ranking.rates.pairs.items():
        met = {"name": name, "against": other, **_rate(rate)}
        if correction is not None and (name, other) in correction.pairs:
            met["corrected"] = corrected_json(correction.pairs[name, other])
        pairs.append(met)
    caveats = [*([remark] if remark else ()), *ranking.caveats]
    made: dict[str, Any] = {"candidates": candidates, "pairs": pairs, "caveats": caveats}
    if found is not None:
        made |= {"groups": found.groups, "tie_parameter": float(found.fit.tie[0])}
    if lengths is not None:
        effect = {"effect": lengths.effect, "interval": list(lengths.effect_ends)}
        made["length"] = {**effect, **_percent("longer_won", lengths.longer_won)}
    if corrected is not None:
        made["by_labels"] = _by_labels_json(corrected)
    return {**made, **_percent("first_won", ranking.places)}


def corrected_json(one: Corrected) -> dict[str, Any]:
    """A corrected share, in percent; next to it the labels and the judge alone."""
    return {
        **_percent("win_rate", one.rate),
        "win_rate_of_these_items_interval": [100 * end for end in one.of_these],
        **_percent("labels_alone", one.labels),
        "labels_alone_of_these_items_interval": [100 * end for end in one.labels_of_these],
        "judge_alone": 100 * one.judge,
        "standard_error": 100 * one.error,
        "weight": one.weight,
        "worth": one.worth,
        "labelled": one.labelled,
        "items": one.items,
    }


def _by_labels_json(found: RankedByLabels) -> dict[str, Any]:
    made: dict[str, Any] = {"labels": found.part.whose if found.part else None}
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
            "shares": {name: corrected_json(one) for name, one in correction.shares.items()},
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


def _rate(rate: WinRate) -> dict[str, Any]:
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
