"""What a run found that was judged until something was clear: the words and columns for it.

Knows: titles, meanings. Does not know: how anything is found, terminals, HTML, windows.
"""

import math
from collections.abc import Iterator

from engine.core.formatting import counted
from engine.core.sheets import Section, Sentences
from engine.core.value_tables import Column, Estimate, Kind, Row, Table
from engine.rank.contests import left_out_in_words
from engine.rank.until_sure import UntilSure, WhoWins

_COLUMNS = (
    Column("candidate", "candidate", Kind.TEXT, "A model that wrote responses."),
    Column("opponent", "against", Kind.TEXT, "Whom it met: one candidate, or all."),
    Column(
        "win_rate",
        "win rate (%)",
        Kind.ESTIMATE,
        "What it won, in percent; a tie counts half, and each instruction once. The interval holds the true"
        " rate with 95 %, however often one looks and whenever the run stops: it is wider than one that is"
        " looked at once.",
    ),
    Column(
        "instructions",
        "counted",
        Kind.COUNT,
        "How many of its instructions count: one after another as they were drawn, until it was answered.",
    ),
    Column("left", "not judged", Kind.COUNT, "How many of its instructions are not judged."),
    Column(
        "answer",
        "answer",
        Kind.TEXT,
        "Surely better or worse: all of these answers together are wrong with 5 % at most, however often one"
        " looks. Narrow enough: its interval is as narrow as was asked for, with 95 % of its own.",
    ),
    Column(
        "more",
        "would take",
        Kind.TEXT,
        "How many instructions more an open one would take if they were like those that are judged: an order"
        " of magnitude. In drawn worlds half of them or more took between a fifth of it and three times it.",
    ),
)


def until_section(until: UntilSure) -> Section:
    """What is clear, and what it would take for the rest."""
    rows = [_row(until, question) for question in until.questions]
    return Section("until", "What is clear", [Sentences(list(_verdict(until))), Table(_COLUMNS, rows)])


def _verdict(until: UntilSure) -> Iterator[str]:
    asked, is_open = until.questions, until.open
    what = ("interval", "intervals") if until.width is not None else ("pair", "pairs of candidates")
    kind = "narrow enough" if until.width is not None else "settled"
    every = counted(len(asked), *what)
    settled = f"{len(asked) - len(is_open):,} of {every} {'is' if len(asked) == 1 else 'are'} {kind}"
    if not is_open:
        yield f"{settled}." if until.is_exhausted else f"{settled}: the run stopped there."
    else:
        yield f"{settled}."
        most = max(until.more(question) for question in is_open)
        left = max(until.left(question) for question in is_open)
        if math.isinf(most):
            yield "For some of the rest no number of instructions can be named: neither side is ahead."
        elif most > left:
            yield (
                f"The rest would take some {_rounded(most)} instructions more of this kind;"
                f" {counted(left, 'is', 'are') if left else 'none is'} left here."
            )
    if left_out := left_out_in_words(until.left_out):
        yield left_out
    if until.width is None and len(is_open) < len(asked):
        yield (
            "A rate at which it stopped because it was sure lies rather too far from 50 %: that moment was a"
            " lucky one. Its interval holds all the same."
        )


def _row(until: UntilSure, question: WhoWins) -> Row:
    won = question.won
    return [
        question.candidate,
        question.opponent or "all",
        Estimate(won.mean, won.interval()) if len(won) else None,
        len(won),
        until.left(question),
        _answer(until, question),
        _more(until, question),
    ]


def _answer(until: UntilSure, question: WhoWins) -> str:
    if question.answered is None:
        return "open"
    if until.width is not None:
        return "narrow enough"
    return "surely better" if question.answered > 0 else "surely worse"


def _more(until: UntilSure, question: WhoWins) -> str:
    if not question.is_open:
        return ""
    more = until.more(question)
    return "cannot be said" if math.isinf(more) else f"some {_rounded(more)} more"


def _rounded(number: float) -> str:
    """One digit: what is guessed has no more."""
    digits = len(f"{number:.0f}") - 1
    return f"{round(max(number, 1.0), -digits):,.0f}"
