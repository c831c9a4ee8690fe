"""What the raw predictions of a judge tell by themselves: order, label tokens, answer mass, speed.

Knows: both orders, permuted label tokens. Does not know: human labels, perturbations.
"""

import numpy as np

from engine.audit.heard import SHIFTS, JudgePredictions, likeliest_of
from engine.audit.lines import AuditLine
from engine.audit.means import SCORE, SHARE, WON, held, mean_known, over_criteria, too_few, within
from engine.core.formatting import percent, points
from engine.core.health import Sign
from engine.core.ways.letters import LETTERS
from engine.decisions.limits import LIMITS
from engine.measure.intervals import OverInstructions

MOST_FLIPPED = LIMITS[Sign.FLIPPED].look
LEAST_MASS = LIMITS[Sign.ANSWER_MASS].look
MOST_TOKEN_BIAS = 0.05
"""Of a position: how much more probable the response in it is. Of a label token: its probability minus one
fourth."""

_FLIPS = ("flips", "order: flip rate")
_PLACE = ("place", "order: position bias")
_LETTERS = ("letters", "label tokens: bias")
_MASS = ("format_mass", "answer mass")
_SPEED = ("speed", "speed: items per minute")
_LETTER = within(1 - 1 / SHIFTS, 1 / SHIFTS)  # a label token can lose its fourth, and get the rest
_BOTH = "Not all items were read in both orders; judge all items in both orders."
_LOWEST = 10  # percent of the judgments, in the sentence on the answer mass


def order_lines(received: JudgePredictions) -> list[AuditLine]:
    """How often the order alone decides, and towards which position the judge is biased."""
    if (received.scored & ~received.twice).any():
        # Items read twice because they are uncertain flip more often than the others would.
        return [AuditLine.untold(*name, _BOTH) for name in (_FLIPS, _PLACE)]
    groups = received.groups(received.own)
    by_order = received.by_order[:, received.own]
    both = received.twice[:, received.own]
    alone = likeliest_of(by_order)
    flips = np.where(both, alone[..., 0] != alone[..., 1], np.nan)
    # In the order AB the item's own A is the first, in BA its B.
    first = np.exp(by_order)[..., 0] - np.exp(by_order)[..., 1]
    token_biases = np.where(both, (first[..., 0] - first[..., 1]) / 2, np.nan)
    flipped, position_bias = over_criteria(flips, groups), over_criteria(token_biases, groups)
    if flipped is None or position_bias is None:
        return [too_few(*name, len(set(groups)), "in both orders") for name in (_FLIPS, _PLACE)]
    return [_flips_line(flipped), _place_line(position_bias)]


def _flips_line(found: OverInstructions) -> AuditLine:
    said = (
        f"{percent(found.mean)} of its labels are position-inconsistent: they change if the responses are"
        " swapped."
    )
    return held(_FLIPS, found, SHARE, MOST_FLIPPED, said)


def _place_line(found: OverInstructions) -> AuditLine:
    said = (
        f"The response in the {'first' if found.mean > 0 else 'second'} position is preferred by"
        f" {points(abs(found.mean))} over the other, whatever its text."
    )
    return held(_PLACE, found, WON, MOST_TOKEN_BIAS, said, two_sided=True)


def label_token_line(received: JudgePredictions) -> AuditLine:
    """Towards which label token the judge is biased, whatever the label tokens mean.

    Each label stands once at each label token, so a judge that looks at the meanings alone gives each label
    token a fourth of all probability, as the mean over the four questions.
    """
    if received.letters is None:
        return AuditLine.untold(
            *_LETTERS,
            "The judge was not asked with permuted label tokens; use that elicitation method.",
        )
    read = np.exp(received.letters[:, received.own])  # (criteria, items, 2 orders, 4 questions, 4 tokens)
    known = np.asarray(np.isfinite(read).all(axis=(3, 4)))
    of_each = np.where(known[..., None], read.mean(axis=3) - 1 / SHIFTS, np.nan)
    token_biases = mean_known(of_each, axis=2)  # over the orders
    groups = received.groups(received.own)
    found = [over_criteria(token_biases[..., letter], groups) for letter in range(len(LETTERS))]
    position_bias = [one for one in found if one is not None]
    if len(position_bias) < len(LETTERS):
        return too_few(*_LETTERS, len(set(groups)), "with permuted label tokens")
    # The one that is most significantly beyond the bound; of those alike the one that is favoured most.
    significantly = [(_LETTER.p(one, MOST_TOKEN_BIAS), -one.mean) for one in position_bias]
    place = significantly.index(min(significantly))
    most, letter = position_bias[place], list(LETTERS.values())[place]
    said = (
        f"The label token {letter} gets {points(abs(most.mean))} {'more' if most.mean >= 0 else 'less'}"
        " than one fourth of the probability, whatever label it stands for."
    )
    # Any of the label tokens might have been the one.
    return held(_LETTERS, most, _LETTER, MOST_TOKEN_BIAS, said, among=len(LETTERS))


def mass_line(received: JudgePredictions) -> AuditLine:
    """How well it keeps to the format of its answers."""
    mass = np.minimum(received.mass[:, received.own], 1.0)
    groups = received.groups(received.own)
    lost = over_criteria(1 - mass, groups)
    if lost is None:
        return too_few(*_MASS, len(set(groups)), "judged")
    lowest = float(np.nanpercentile(mass, _LOWEST))
    said = (
        f"The valid answers have {percent(1 - lost.mean)} of the total probability; in the lowest tenth"
        f" of the judgments {percent(lowest)} or less."
    )
    return held(_MASS, lost, SCORE, LEAST_MASS, said, below=True)


def speed_line(received: JudgePredictions) -> AuditLine:
    """How fast it judged, perturbations included."""
    took = received.seconds > 0
    places = np.flatnonzero(took)
    found = (
        OverInstructions.of_one(received.seconds[took].tolist(), received.groups(places))
        if len(places)
        else None
    )
    if found is None:
        return AuditLine.untold(*_SPEED, "The judging time is not recorded.")
    ends = found.mean_interval()
    shown = f"{60 / found.mean:.1f}"
    if ends is not None and ends.low > 0:
        shown += f" ({60 / ends.high:.1f} to {60 / ends.low:.1f})"
    rate = received.tokens[took].sum() / received.seconds[took].sum()
    return AuditLine(*_SPEED, None, f"It read and generated {rate:,.0f} tokens per second.", shown=shown)
