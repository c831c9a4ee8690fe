"""What came of the search for the best settings: what was chosen, what it is worth, what was tried."""

from collections.abc import Iterator
from dataclasses import replace

from engine.analysis.recipe import Recipe
from engine.analysis.tuning import GAIN_TO_SEE, HeldOut, TuningResult
from engine.core.formatting import counted, duration, number, words
from engine.core.tables import Column, Facts, Kind, Part, Row, Section, Sentences, Sheet, Table, Tone
from engine.report import columns

DEFAULT_IN_WORDS = "label tokens, both orders, no examples"
_WORTH = (
    Column("beside", "better than", Kind.NAME, "What the chosen settings are compared with."),
    Column("right", "accuracy gain", Kind.ESTIMATE).means(
        "By how many percentage points the accuracy is higher, with its 95 % interval."
    ),
    Column("nats", "nats", Kind.NUMBER, "By how much the log-loss is lower.", digits=3),
    *columns.ends(of="that gain's"),
)
_WORTH_NOTE = (
    "On held-out items, the mean over the criteria, calibrated on the other items. If an interval is"
    " above 0, the chosen settings are significantly better."
)
_COMPARED = (
    Column(
        "settings", "settings", Kind.NAME, "Elicitation methods, orders, and further parts of the prompt."
    ),
    Column("log_loss", "log-loss", Kind.NUMBER, digits=3).means(
        "The log-loss of the calibrated judge in nats, cross-validated, the mean over the criteria;"
        " lower is better."
    ),
    Column("behind", "behind", Kind.NUMBER, "The log-loss minus that of the best settings.", digits=3),
    Column("error", "± 1 s.e.", Kind.NUMBER, digits=3).means(
        "The standard error of that difference over instructions: settings within one standard error"
        " count as equally good."
    ),
    Column("tokens", "tokens", Kind.COUNT, "Tokens that the model reads per item."),
    Column("seconds", "seconds", Kind.NUMBER, "Seconds per item on this computer, for labels only."),
    Column("chosen", "", Kind.NAME, "The chosen settings: the cheapest of those that are equally good."),
)
_COMPARED_NOTE = (
    "The cheapest settings within one standard error of the best are chosen. These numbers were used to"
    " choose, so the one of the chosen settings is optimistic; the table of held-out items above is not."
)


def tuning_sheet(tuning_result: TuningResult) -> Sheet:
    return Sheet("The best settings", [_outcome(tuning_result), _compared(tuning_result)])


def told(tuning_result: TuningResult) -> Recipe:
    return replace(tuning_result.recipe, says=tuple(outcome_in_words(tuning_result)))


def _outcome(tuning_result: TuningResult) -> Section:
    chosen, worth = tuning_result.choice.chosen, tuning_result.held_out
    cost = f"{chosen.cost.tokens:,.0f} tokens, {number(chosen.cost.seconds)} s here, for labels only"
    facts = [
        ("settings", chosen.look.in_words),
        ("cost per item", cost),
        ("chosen by", counted(tuning_result.choice.items, "item", "items")),
        *([("held out", counted(worth.items, "item", "items"))] if worth else []),
        ("work", duration(tuning_result.seconds)),
    ]
    tone = Tone.PLAIN if worth is not None and worth.beats_frequent else Tone.CAVEAT
    beside = list(_left_undone(tuning_result))
    parts: list[Part] = [
        Facts(facts),
        Sentences(outcome_in_words(tuning_result), tone),
        *([_worth_table(worth)] if worth else []),
        *([Sentences(beside)] if beside else []),
    ]
    return Section("outcome", "Chosen settings", parts, _WORTH_NOTE if worth else "")


def outcome_in_words(tuning_result: TuningResult) -> list[str]:
    worth = tuning_result.held_out
    if worth is None:
        return ["Too few items were held out: the quality of the chosen settings is not known."]
    which = "The chosen settings are"
    if not worth.beats_frequent:
        # None are if not even on the items by which the best was found, which flatter it.
        some = tuning_result.choice.over_frequencies.significantly_above
        which = "The chosen settings are not" if some else "No settings that were tried are"
    said = [f"{which} significantly better than always giving the most frequent label."]
    right = f"{worth.right} % accuracy on held-out items, {worth.frequent} % with always"
    said.append(f"{right} the most frequent label.")
    if worth.over_default is not None:
        better = f"{'' if worth.over_default.significantly_better else 'not '}significantly better"
        said.append(f"They are {better} than the default settings ({DEFAULT_IN_WORDS}).")
    held = counted(worth.instructions, "instruction was", "instructions were")
    by = f"with 80 % power with about {worth.needed:,} labelled instructions held out; {held}"
    if worth.needed <= worth.instructions:
        by = "on the held-out items, with 80 % power"
    gain = f"A gain of {100 * GAIN_TO_SEE:.0f} points over the most frequent label"
    said.append(f"{gain} would be detected {by}.")
    asked, fitted = tuning_result.criteria, tuning_result.recipe.calibration.criteria
    if unmeasured := [words(name) for name in asked if name not in worth.criteria]:
        said.append(f"Not measured on {', '.join(unmeasured)}: too few labels.")
    if plain := [words(name) for name in asked if name not in fitted]:
        said.append(f"Not calibrated, because of too few labels: {', '.join(plain)}.")
    if worth.unscored:
        judgments = counted(worth.unscored, "judgment is", "judgments are")
        said.append(f"{judgments} unscored on held-out items and excluded.")
    return said


def _worth_table(worth: HeldOut) -> Table:
    gains = {"the most frequent label": worth.over_frequent, "the default settings": worth.over_default}
    rows: list[Row] = [
        [name, gain.right, gain.nats.value, *(gain.nats.interval or (None, None))]
        for name, gain in gains.items()
        if gain is not None
    ]
    return Table(_WORTH, rows)


def _left_undone(tuning_result: TuningResult) -> Iterator[str]:
    for each in tuning_result.given_up:
        after = f" after {counted(each.items, 'item', 'items')}" if each.items else ""
        behind = "" if each.behind is None else f" ({number(each.behind, 3)} nats behind the best)"
        yield f"Dropped{after}: {each.prompt.words}{behind}: {each.why}."
    if tuning_result.out_of_time:
        yield "The time limit was reached before all items were judged. Run it again to resume."
    if uncompared := tuning_result.choice.uncompared:
        settings = counted(uncompared, "setting was", "settings were")
        yield f"{settings} not compared: the time limit was reached. Run it again to compare them."


def _compared(tuning_result: TuningResult) -> Section:
    rows: list[Row] = []
    for standing in tuning_result.choice.standings:
        is_chosen = standing is tuning_result.choice.chosen
        state = "chosen" if is_chosen else "equally good" if standing.as_good else ""
        of_loss = (standing.log_loss, standing.behind, standing.error)
        cost = (round(standing.cost.tokens), standing.cost.seconds)
        rows.append([standing.look.in_words, *of_loss, *cost, state])
    runs = ", ".join(f"run {run} ({prompt.words})" for prompt, run in tuning_result.runs.items())
    return Section(
        "compared",
        "What was compared",
        [Table(_COMPARED, rows), Sentences([f"All raw predictions are in the run store: {runs}."])],
        _COMPARED_NOTE,
    )
