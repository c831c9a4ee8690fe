"""Pairs made out of outputs: what is said of them."""

from collections.abc import Iterator
from pathlib import Path

from engine.core.formatting import counted, listed, named
from engine.core.tables import Column, Facts, Kind, Row, Section, Sentences, Sheet, Table, Tone
from engine.data.pairs import MatchedOutputs, Pairs
from engine.report.columns import CANDIDATE

_FILE = Column("file", "file", Kind.TEXT, "The file of its responses.")
_RESPONSES = Column("responses", "responses", Kind.COUNT, "The number of responses in the file.")
_LEFT_OUT = Column("left_out", "without match", Kind.COUNT).means(
    "Its instructions that some candidate did not answer, or that have another text under the same id."
)
_LACKING = Column(
    "lacking", "missing", Kind.COUNT, "Instructions of other candidates that this one did not answer."
)
_REPEATED = Column(
    "repeated", "repeated", Kind.COUNT, "Further responses to the same instruction; only the first counts."
)
_OF_PAIRS = (
    Column("pairs", "pairs", Kind.COUNT, "The number of pairs with this candidate."),
    Column("as_a", "as A", Kind.COUNT, "The number of pairs in which it is response A; assigned by a hash."),
)
_MOST_NAMED = 3


def pairs_sheet(made: Pairs, written: Path) -> Sheet:
    found, how_many = made.matched, f"{len(made.pairs):,}"
    against = f"each against {made.plan.baseline}" if made.plan.baseline else "round robin"
    if made.is_part:
        how_many += f" of {made.possible:,} ({against}), a balanced subset, seed {made.plan.seed}"
    else:
        how_many += f", {against}"
    facts = [
        ("Candidates", f"{len(found.candidates):,}"),
        ("Instructions", f"{len(found.keys):,}, matched by {'id' if found.by_id else 'their exact text'}"),
        *([("Beside them", ", ".join(found.background))] if found.background else ()),
        ("Pairs", how_many),
        ("Response A", "assigned by a hash of the instruction and both names"),
    ]
    sections = [Section("made", "Dataset of pairs", [Facts(facts)]), *found_sections(found, made)]
    return Sheet(f"{written.name}: {counted(len(made.pairs), 'pair', 'pairs')}", sections)


def found_sections(found: MatchedOutputs, made: Pairs | None = None) -> list[Section]:
    """What was found in each file, what of it is omitted and why; once they are made, the pairs of each."""
    sections = [Section("candidates", "Candidates", [_candidates(found, made)], spelt_out=True)]
    if said := list(left_out(found)):
        sections.append(Section("left_out", "Omitted", [Sentences(said, Tone.CAVEAT)]))
    return sections


def left_out(found: MatchedOutputs) -> Iterator[str]:
    """What is in no pair and why, in sentences; nothing where all is."""
    for kept in found.kept:
        name = named(kept.outputs.candidate)
        if kept.left_out:
            shown = listed(kept.left_out, _MOST_NAMED)
            why = "not answered by every candidate" + (", or with another text" if found.by_id else "")
            are = counted(len(kept.left_out), "instruction is", "instructions are")
            yield f"{name}: {are} in no pair, {why}: {shown}."
        for number, why in (
            (kept.outputs.nulls, "null, so omitted"),
            (kept.repeated, "to a repeated instruction; only the first one counts"),
        ):
            if number:
                yield f"{name}: {counted(number, 'response is', 'responses are')} {why}."
    for name, number in found.differing.items():
        if number:
            are = counted(number, "instruction is", "instructions are")
            yield f"{name}: {are} without one, because the files have different texts."


def _candidates(found: MatchedOutputs, made: Pairs | None) -> Table:
    counts = (
        (_LEFT_OUT, [len(kept.left_out) for kept in found.kept]),
        (_LACKING, [kept.lacking for kept in found.kept]),
        (_REPEATED, [kept.repeated for kept in found.kept]),
    )
    unmatched = [(column, numbers) for column, numbers in counts if any(numbers)]
    columns = [CANDIDATE, _FILE, _RESPONSES, *(column for column, _ in unmatched)]
    rows: list[Row] = []
    for place, kept in enumerate(found.kept):
        name, outputs = kept.outputs.candidate, kept.outputs
        of_pairs = (made.of_candidate[name], made.as_a[name]) if made else ()
        unlike = (numbers[place] for _, numbers in unmatched)
        rows.append([name, outputs.path.name, len(outputs.responses), *unlike, *of_pairs])
    return Table([*columns, *(_OF_PAIRS if made else ())], rows)
