"""What the readings of a judge tell by themselves: order, letters, format mass, speed.

Knows: both orders, permuted letters. Does not know: human labels, copies.
"""

import numpy as np

from engine.audit.heard import SHIFTS, Heard, likeliest_of
from engine.audit.lines import AuditLine
from engine.audit.means import SCORE, SHARE, WON, held, mean_known, over_criteria, too_few, within
from engine.core.formatting import percent, points
from engine.core.health import Sign
from engine.core.ways.letters import LETTERS
from engine.decisions.limits import LIMITS
from engine.measure.intervals import OverInstructions

MOST_FLIPPED = LIMITS[Sign.FLIPPED].look
LEAST_MASS = LIMITS[Sign.FORMAT_MASS].look
MOST_LEAN = 0.05
"""Of a place: by how much more probable the response in it is. Of a letter: how much more than its fourth."""

_FLIPS = ("flips", "order: labels that flip")
_PLACE = ("place", "order: leaning to a place")
_LETTERS = ("letters", "letters: leaning to one")
_MASS = ("format_mass", "format mass")
_SPEED = ("speed", "speed: items a minute")
_LETTER = within(1 - 1 / SHIFTS, 1 / SHIFTS)  # a letter can lose its fourth, and get the rest
_BOTH = "Not all items were read in both orders; a run that reads them all so would tell."
_LOWEST = 10  # percent of the judgments, in the sentence on the format mass


def order_lines(heard: Heard) -> list[AuditLine]:
    """How often the order alone decides, and to which place the judge leans."""
    if (heard.scored & ~heard.twice).any():
        # What is read twice in doubt alone flips more often than the others would.
        return [AuditLine.untold(*name, _BOTH) for name in (_FLIPS, _PLACE)]
    groups = heard.groups(heard.own)
    by_order = heard.by_order[:, heard.own]
    both = heard.twice[:, heard.own]
    alone = likeliest_of(by_order)
    flips = np.where(both, alone[..., 0] != alone[..., 1], np.nan)
    # In the order AB the item's own A is the first, in BA its B.
    first = np.exp(by_order)[..., 0] - np.exp(by_order)[..., 1]
    leans = np.where(both, (first[..., 0] - first[..., 1]) / 2, np.nan)
    flipped, leaning = over_criteria(flips, groups), over_criteria(leans, groups)
    if flipped is None or leaning is None:
        return [too_few(*name, len(set(groups)), "in both orders") for name in (_FLIPS, _PLACE)]
    return [_flips_line(flipped), _place_line(leaning)]


def _flips_line(found: OverInstructions) -> AuditLine:
    said = f"{percent(found.mean)} of its labels are others once the responses change places."
    return held(_FLIPS, found, SHARE, MOST_FLIPPED, said)


def _place_line(found: OverInstructions) -> AuditLine:
    said = (
        f"The response in the {'first' if found.mean > 0 else 'second'} place is preferred by"
        f" {points(abs(found.mean))} over the other, whatever it says."
    )
    return held(_PLACE, found, WON, MOST_LEAN, said, two_sided=True)


def letter_line(heard: Heard) -> AuditLine:
    """To which letter the judge leans, whatever the letters mean.

    Each label stands once at each letter, so a judge that looks at the meanings alone gives each letter a
    fourth of all probability, in the mean over the four questions.
    """
    if heard.letters is None:
        return AuditLine.untold(
            *_LETTERS,
            "The judge was not asked with permuted letters; with that way of asking it can be told.",
        )
    read = np.exp(heard.letters[:, heard.own])  # (criteria, items, 2 orders, 4 questions, 4 letters)
    known = np.asarray(np.isfinite(read).all(axis=(3, 4)))
    of_each = np.where(known[..., None], read.mean(axis=3) - 1 / SHIFTS, np.nan)
    leans = mean_known(of_each, axis=2)  # over the orders
    groups = heard.groups(heard.own)
    found = [over_criteria(leans[..., letter], groups) for letter in range(len(LETTERS))]
    leaning = [one for one in found if one is not None]
    if len(leaning) < len(LETTERS):
        return too_few(*_LETTERS, len(set(groups)), "with permuted letters")
    # The one that is most surely beyond the bound; of those alike the one that is favoured most.
    surely = [(_LETTER.p(one, MOST_LEAN), -one.mean) for one in leaning]
    place = surely.index(min(surely))
    most, letter = leaning[place], list(LETTERS.values())[place]
    said = (
        f"The letter {letter} gets {points(abs(most.mean))} {'more' if most.mean >= 0 else 'less'} than its"
        " fourth of the probability, whatever it means."
    )
    # Any of the letters might have been the one.
    return held(_LETTERS, most, _LETTER, MOST_LEAN, said, among=len(LETTERS))


def mass_line(heard: Heard) -> AuditLine:
    """How well it keeps to the format of its answers."""
    mass = np.minimum(heard.mass[:, heard.own], 1.0)
    groups = heard.groups(heard.own)
    lost = over_criteria(1 - mass, groups)
    if lost is None:
        return too_few(*_MASS, len(set(groups)), "judged")
    lowest = float(np.nanpercentile(mass, _LOWEST))
    said = (
        f"The answers on offer hold {percent(1 - lost.mean)} of all probability; in the lowest tenth of the"
        f" judgments {percent(lowest)} or less."
    )
    return held(_MASS, lost, SCORE, LEAST_MASS, said, below=True)


def speed_line(heard: Heard) -> AuditLine:
    """How fast it judged, copies included."""
    took = heard.seconds > 0
    places = np.flatnonzero(took)
    found = (
        OverInstructions.of_one(heard.seconds[took].tolist(), heard.groups(places)) if len(places) else None
    )
    if found is None:
        return AuditLine.untold(*_SPEED, "What judging took is not known.")
    ends = found.mean_interval()
    shown = f"{60 / found.mean:.1f}"
    if ends is not None and ends.low > 0:
        shown += f" ({60 / ends.high:.1f} to {60 / ends.low:.1f})"
    rate = heard.tokens[took].sum() / heard.seconds[took].sum()
    return AuditLine(*_SPEED, None, f"It read and wrote {rate:,.0f} tokens a second.", shown=shown)
