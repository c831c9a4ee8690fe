"""Files of annotations and what they come to in a run, as sections of a sheet.

Knows: which columns stand side by side, what they mean. Does not know: terminals, windows, the store.
"""

from engine.core.formatting import counted, listed, words
from engine.core.sheets import Part, Section, Sentences, Tone
from engine.core.value_tables import Column, Kind, Row, Table
from engine.people.joining import FileJoined, Joining

_ANNOTATORS = (
    Column("person", "person", Kind.TEXT, "The annotator's name in the file."),
    Column("called", "name here", Kind.TEXT, "The annotator's name in this run store."),
    Column(
        "labels",
        "labels",
        Kind.COUNT,
        "New labels, explanations and accepted labels, including undone ones.",
    ),
    Column("states", "states", Kind.COUNT, "New item marks: done, skipped or to do."),
    Column("notes", "notes", Kind.COUNT, "New notes and tags of items."),
    Column("turned", "changed", Kind.COUNT, "Annotations that this store has, undone or redone since."),
    Column(
        "known",
        "here already",
        Kind.COUNT,
        "Annotations that this store already has; they are not added twice.",
    ),
)

_MOST_SAID = 20  # contradictions, each a sentence


def joining_sections(joining: Joining) -> list[Section]:
    """What each file comes to."""
    return [_file_section(place, file, joining) for place, file in enumerate(joining.files)]


def _file_section(place: int, file: FileJoined, joining: Joining) -> Section:
    made = file.made
    of = f"{made.run.title} ({made.run.judge}, {made.run.dataset})"
    facts = f"Annotations of {of}, written {made.written:%Y-%m-%d %H:%M} UTC."
    parts: list[Part] = [Sentences([facts, file.items_in_words]), _annotators(file)]
    if caveats := _caveats(file, joining):
        parts.insert(1, Sentences(caveats, Tone.CAVEAT))
    return Section(f"file-{place}", file.file, parts)


def _annotators(file: FileJoined) -> Table:
    asked = {namesake.name for namesake in file.namesakes}
    rows: list[Row] = [
        [
            each.name,
            "?" if each.name in asked else each.called,
            *(each.labels, each.states, each.notes, each.turned, each.known),
        ]
        for each in file.annotators
    ]
    return Table(_ANNOTATORS, rows)


def _caveats(file: FileJoined, joining: Joining) -> list[str]:
    said = []
    for ids, what in ((file.items.other_text, "Another text"), (file.items.missing, "Not in this run")):
        if ids:
            said.append(f"{what}: {listed(ids)}.")
    for criterion, count in sorted(file.lacking.items()):
        some = counted(count, "annotation", "annotations")
        said.append(f"{joining.run.title} has no criterion {words(criterion)}: {some} on it omitted.")
    said += file.contradicting[:_MOST_SAID]
    if more := len(file.contradicting[_MOST_SAID:]):
        said.append(
            f"{counted(more, 'other annotation contradicts', 'other annotations contradict')} one in this"
            " way."
        )
    if file.ahead:
        some = counted(file.ahead, "annotation is", "annotations are")
        said.append(f"{some} dated in the future: the clock of one of the two computers is wrong.")
    return said


def joined_sentence(joining: Joining) -> str:
    """What was added, once it is."""
    if not joining.new:
        return f"Nothing in this file is new to {joining.run.called}."
    annotators = sorted({each.called for file in joining.files for each in file.annotators if each.new})
    return (
        f"{counted(joining.new, 'annotation', 'annotations')} by {listed(annotators)} added to"
        f" {joining.run.called}."
    )
