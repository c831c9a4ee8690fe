"""What came of the search for the best settings, as a sheet: what was chosen, what it is worth, what was
tried.

Knows: which tables and sentences there are, their words. Does not know: how settings are found, terminals,
windows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from engine.core.formatting import counted, duration, number, words
from engine.core.sheets import Facts, Part, Section, Sentences, Sheet, Tone
from engine.core.value_tables import Column, Kind, Table
from engine.tune.choosing import Rated
from engine.tune.held_out import GAIN_TO_SEE, HeldOut
from engine.tune.recipe import Recipe
from engine.tune.tuned import Tuned

USUAL_IN_WORDS = "letters, both orders, no examples"
_WORTH = (
    Column("beside", "better than", Kind.NAME, "What the chosen settings are held against."),
    Column(
        "right",
        "labels right",
        Kind.ESTIMATE,
        "How many more labels are right, in percent points, and its 95 % interval.",
    ),
    Column("nats", "nats", Kind.NUMBER, "By how much the log-loss is lower.", digits=3),
    Column("low", "from", Kind.NUMBER, "The lower end of that gain's 95 % interval over instructions.", 3),
    Column("high", "to", Kind.NUMBER, "Its upper end.", 3),
)
_WORTH_NOTE = (
    "On items that took no part in the choice, in the mean over the criteria, calibrated on those that did."
    " Where an interval lies above 0, the chosen settings are surely better."
)
_COMPARED = (
    Column("settings", "settings", Kind.NAME, "Ways of asking, orders, and what the prompt has beside."),
    Column(
        "log_loss",
        "log-loss",
        Kind.NUMBER,
        "How surprising the human labels are to the calibrated judge, in nats, cross-validated, in the mean"
        " over the criteria; lower is better.",
        digits=3,
    ),
    Column("behind", "behind", Kind.NUMBER, "By how much the best one's log-loss is lower.", digits=3),
    Column(
        "error",
        "± 1 s.e.",
        Kind.NUMBER,
        "The standard error of that difference over instructions: what is behind by no more is as good.",
        digits=3,
    ),
    Column("tokens", "tokens", Kind.COUNT, "What the model reads of an item."),
    Column("seconds", "seconds", Kind.NUMBER, "How long an item takes on this computer, for labels alone."),
    Column("chosen", "", Kind.NAME, "Which one was chosen: of those that are as good, the cheapest."),
)
_COMPARED_NOTE = (
    "Of all that are within one standard error of the best, the one that costs least is chosen. These numbers"
    " chose it, so its own is too good; what it is worth stands above, on items that took no part."
)


def tuning_sheet(tuned: Tuned) -> Sheet:
    """All of it, the outcome first."""
    return Sheet("The best settings", [_outcome(tuned), _compared(tuned)])


def told(tuned: Tuned) -> Recipe:
    """The recipe that came of it, which says what was found."""
    return replace(tuned.recipe, says=tuple(outcome_in_words(tuned)))


def _outcome(tuned: Tuned) -> Section:
    chosen, worth = tuned.choice.chosen, tuned.held_out
    cost = f"{chosen.cost.tokens:,.0f} tokens, {number(chosen.cost.seconds)} s here, for labels alone"
    facts = [
        ("settings", chosen.look.in_words),
        ("an item takes", cost),
        ("chosen by", counted(tuned.choice.items, "item", "items")),
        *([("held out", counted(worth.items, "item", "items"))] if worth else []),
        ("work", duration(tuned.seconds)),
    ]
    tone = Tone.PLAIN if worth is not None and worth.beats_frequent else Tone.CAVEAT
    beside = [*_given_up(tuned), *_on_time(tuned)]
    parts: list[Part] = [
        Facts(facts),
        Sentences(outcome_in_words(tuned), tone),
        *([_worth_table(worth)] if worth else []),
        *([Sentences(beside)] if beside else []),
    ]
    return Section("outcome", "What was chosen", parts, _WORTH_NOTE if worth else "")


def outcome_in_words(tuned: Tuned) -> list[str]:
    """What the chosen settings are worth on items that took no part, in sentences."""
    worth = tuned.held_out
    if worth is None:
        return ["Too few items took no part in the choice: what it is worth is not known."]
    if worth.beats_frequent:
        said = ["The chosen settings surely beat always giving the most frequent label."]
    elif not tuned.choice.over_frequencies.surely_above:
        # Not even on the items by which the best was found, which flatter it.
        said = ["Nothing that was tried surely beats always giving the most frequent label."]
    else:
        said = ["The chosen settings do not surely beat always giving the most frequent label."]
    right = f"{worth.right} % of labels are right on items that took no part, {worth.frequent} % with always"
    said.append(f"{right} the most frequent label.")
    if worth.over_usual is not None:
        are_better = "" if worth.over_usual.surely_better else "not "
        said.append(f"They are {are_better}surely better than the usual settings ({USUAL_IN_WORDS}).")
    return [*said, _needed(worth), *_on_criteria(tuned, worth)]


def _on_criteria(tuned: Tuned, worth: HeldOut) -> Iterator[str]:
    """What was not measured, or is not calibrated, for want of labels; what could not be judged."""
    if unmeasured := [name for name in tuned.criteria if name not in worth.criteria]:
        yield f"Measured without {_listed(unmeasured)}: too few labels."
    if plain := [name for name in tuned.criteria if name not in tuned.recipe.calibration.criteria]:
        yield f"Not calibrated, for want of labels: {_listed(plain)}."
    if worth.unscored:
        judgments = counted(worth.unscored, "judgment", "judgments")
        yield f"{judgments} could not be made on items that took no part, and do not count."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(words, names))


def _worth_table(worth: HeldOut) -> Table:
    rows = [("the most frequent label", worth.over_frequent)]
    if worth.over_usual is not None:
        rows.append(("the usual settings", worth.over_usual))
    return Table(
        _WORTH,
        [[name, gain.right, gain.nats.value, *(gain.nats.interval or (None, None))] for name, gain in rows],
    )


def _needed(worth: HeldOut) -> str:
    gain = f"A gain of {100 * GAIN_TO_SEE:.0f} points over the most frequent label"
    if worth.needed <= worth.instructions:
        return f"{gain} would be seen on as many items as were held out, in four of five cases."
    held = counted(worth.instructions, "instruction was", "instructions were")
    return (
        f"{gain} would be seen in four of five cases with about {worth.needed:,} labelled instructions held"
        f" out; {held}."
    )


def _given_up(tuned: Tuned) -> Iterator[str]:
    for each in tuned.given_up:
        after = f" after {counted(each.items, 'item', 'items')}" if each.items else ""
        behind = "" if each.behind is None else f" ({number(each.behind, 3)} nats behind the best)"
        yield f"Tried no further{after}: {each.prompt.words}{behind}: {each.why}."


def _on_time(tuned: Tuned) -> Iterator[str]:
    if tuned.out_of_time:
        yield "The time ended before all items were judged. Begun again, it goes on from there."
    if uncompared := tuned.choice.uncompared:
        settings = counted(uncompared, "setting was", "settings were")
        yield f"{settings} not compared, for want of time. Begun again, there is more time for that."


def _compared(tuned: Tuned) -> Section:
    standings = tuned.choice.standings
    rows = [_row(standing, standing is tuned.choice.chosen) for standing in standings]
    runs = ", ".join(f"run {run} ({prompt.words})" for prompt, run in tuned.runs.items())
    return Section(
        "compared",
        "What was compared",
        [Table(_COMPARED, rows), Sentences([f"All readings are in the store: {runs}."])],
        _COMPARED_NOTE,
    )


def _row(standing: Rated, is_chosen: bool) -> list[str | float | None]:
    cost = standing.cost
    state = "chosen" if is_chosen else "as good" if standing.as_good else ""
    return [
        standing.look.in_words,
        standing.log_loss,
        standing.behind,
        standing.error,
        round(cost.tokens),
        cost.seconds,
        state,
    ]
