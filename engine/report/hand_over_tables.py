"""Files of people's words and what they come to in a run, as sections of a sheet.

Knows: which columns stand side by side, what they mean. Does not know: terminals, windows, the store.
"""

from engine.core.formatting import counted, listed, words
from engine.core.sheets import Part, Section, Sentences, Tone
from engine.core.value_tables import Column, Kind, Row, Table
from engine.people.joining import FileJoined, Joining

_PEOPLE = (
    Column("person", "person", Kind.TEXT, "Who said it, by the name in the file."),
    Column("called", "called here", Kind.TEXT, "How that person is called in this run store."),
    Column("labels", "labels", Kind.COUNT, "New labels, explanations and confirmed labels, also taken back."),
    Column("states", "states", Kind.COUNT, "New marks of items: done, skipped or to do."),
    Column("notes", "notes", Kind.COUNT, "New notes and tags of items."),
    Column("turned", "changed", Kind.COUNT, "Words that are here and were taken back, or done again, since."),
    Column("known", "here already", Kind.COUNT, "Words that are here as they are: nothing is said twice."),
)

_MOST_SAID = 20  # contradictions, each a sentence


def joining_sections(joining: Joining) -> list[Section]:
    """What each file comes to."""
    return [_file_section(place, file, joining) for place, file in enumerate(joining.files)]


def _file_section(place: int, file: FileJoined, joining: Joining) -> Section:
    made = file.made
    of = f"{made.run.title} ({made.run.judge}, {made.run.dataset})"
    facts = f"Words of {of}, written {made.written:%Y-%m-%d %H:%M} UTC."
    parts: list[Part] = [Sentences([facts, file.items_in_words]), _people(file)]
    if caveats := _caveats(file, joining):
        parts.insert(1, Sentences(caveats, Tone.CAVEAT))
    return Section(f"file-{place}", file.file, parts)


def _people(file: FileJoined) -> Table:
    asked = {namesake.name for namesake in file.namesakes}
    rows: list[Row] = [
        [
            each.name,
            "?" if each.name in asked else each.called,
            *(each.labels, each.states, each.notes, each.turned, each.known),
        ]
        for each in file.people
    ]
    return Table(_PEOPLE, rows)


def _caveats(file: FileJoined, joining: Joining) -> list[str]:
    said = []
    for ids, what in ((file.items.other_text, "Another text"), (file.items.missing, "Not in this run")):
        if ids:
            said.append(f"{what}: {listed(ids)}.")
    for criterion, count in sorted(file.lacking.items()):
        some = counted(count, "word", "words")
        said.append(f"{joining.run.title} has no criterion {words(criterion)}: {some} on it left out.")
    said += file.contradicting[:_MOST_SAID]
    if more := len(file.contradicting[_MOST_SAID:]):
        said.append(f"{counted(more, 'other word contradicts', 'other words contradict')} one in this way.")
    if file.ahead:
        some = counted(file.ahead, "word is", "words are")
        said.append(f"{some} dated later than now: the clock of one of the two computers is wrong.")
    return said


def joined_sentence(joining: Joining) -> str:
    """What was added, once it is."""
    if not joining.new:
        return f"Nothing in this is new to {joining.run.called}."
    people = sorted({each.called for file in joining.files for each in file.people if each.new})
    return f"{counted(joining.new, 'word', 'words')} of {listed(people)} added to {joining.run.called}."
