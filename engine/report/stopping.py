"""What a run found that was judged until it was significant; for `judge`, it loads nothing of a ranking."""

import math
from collections.abc import Iterator

from engine.core.formatting import counted
from engine.core.tables import Column, Estimate, Kind, Row, Section, Sentences, Table
from engine.ranking.comparisons import left_out_in_words
from engine.ranking.stopping import UntilSignificant, WhoWins
from engine.report.columns import CANDIDATE

_COLUMNS = (
    CANDIDATE,
    Column("opponent", "against", Kind.TEXT, "The opponent: one candidate, or all."),
    Column("win_rate", "win rate (%)", Kind.ESTIMATE).means(
        "The win rate in percent; a tie counts half, and each instruction counts once. The interval is a"
        " confidence sequence: it covers the true rate with 95 %, however often you look and whenever"
        " the run stops, and is therefore wider than a fixed-sample interval."
    ),
    Column("instructions", "counted", Kind.COUNT).means(
        "The number of its instructions that count, in the sampled order, until it was resolved."
    ),
    Column("left", "not judged", Kind.COUNT, "The number of its instructions that are not judged."),
    Column("answer", "answer", Kind.TEXT).means(
        "Significantly better or worse: the family-wise error rate of all answers is at most 5 %,"
        " however often you look. Narrow enough: its own 95 % interval has the requested width."
    ),
    Column("more", "still needed", Kind.TEXT).means(
        "A rough estimate of how many more instructions an unresolved comparison needs if they are like the"
        " judged ones. In simulations, half or more needed between a fifth and three times this number."
    ),
)


def until_section(until: UntilSignificant) -> Section:
    rows = [_row(until, question) for question in until.questions]
    return Section("until", "Resolved comparisons", [Sentences(list(_verdict(until))), Table(_COLUMNS, rows)])


def _verdict(until: UntilSignificant) -> Iterator[str]:
    asked, is_open = until.questions, until.open
    what = ("interval", "intervals") if until.width is not None else ("pair", "pairs of candidates")
    kind = "narrow enough" if until.width is not None else "resolved"
    every = counted(len(asked), *what)
    resolved = f"{len(asked) - len(is_open):,} of {every} {'is' if len(asked) == 1 else 'are'} {kind}"
    if not is_open:
        yield f"{resolved}." if until.is_exhausted else f"{resolved}: the run stopped there."
    else:
        most = max(until.more(question) for question in is_open)
        left = max(until.left(question) for question in is_open)
        why = "items of these are left: resume the run" if left else "no item of these is left"
        yield f"{resolved}, {len(is_open):,} open: {why}."
        if math.isinf(most):
            yield (
                "For some of the rest the number of instructions cannot be estimated: neither side is ahead."
            )
        elif most > left:
            yield (
                f"The rest would need about {_rounded(most)} more instructions of this kind;"
                f" {counted(left, 'is', 'are') if left else 'none is'} left here."
            )
    if left_out := left_out_in_words(until.left_out):
        yield left_out
    if until.width is None and len(is_open) < len(asked):
        yield (
            "The rate at which a run stopped because of significance tends to be too far from 50 %. Its"
            " interval is still valid."
        )


def _row(until: UntilSignificant, question: WhoWins) -> Row:
    won, answer, needed = question.won, "open", ""
    if question.answered is not None:
        answer = "significantly better" if question.answered > 0 else "significantly worse"
        answer = answer if until.width is None else "narrow enough"
    if question.is_open:
        more = until.more(question)
        needed = "not known" if math.isinf(more) else f"about {_rounded(more)} more"
    rate = Estimate(won.mean, won.interval()) if len(won) else None
    opponent = question.opponent or "all"
    return [question.candidate, opponent, rate, len(won), until.left(question), answer, needed]


def _rounded(number: float) -> str:
    digits = len(f"{number:.0f}") - 1  # one digit is shown: what is guessed has no more
    return f"{round(max(number, 1.0), -digits):,.0f}"
