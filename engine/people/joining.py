"""Files of people's words joined to a run: what that would come to is counted before anything is written.

An item is the same one where its texts are: by the hash of its content, and by its id where several items
have one text. A person is the same one where a word of his is here already, or where it was said before;
where neither is so and the run has other words by that name, a person is to be asked. A word is the same one
where it says the same at the same time; two of one time that contradict each other are both kept, and it is
said.

Knows: which items, words and people are the same ones. Does not know: files, what is shown.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain

from engine.core.errors import SetupError
from engine.core.formatting import quoted
from engine.core.formatting import words as in_words
from engine.core.handed_words import HandedWords, identity_of
from engine.core.judgments import Confirmation, ItemNote, Override, ReviewMark
from engine.core.people import Word
from engine.core.run_records import StoredRun
from engine.core.said import checked_author, now
from engine.people.hand_over import HandOver
from engine.store.handed_rows import MetPeople
from engine.store.run_store import RunStore

_CLOCKS_DIFFER = timedelta(minutes=10)
"""By how much a word may come from the future before it is said: clocks of computers are set by hand."""


@dataclass(frozen=True)
class ItemsJoined:
    """Which items of a file are in the run: `same`, by id there, the id here.

    `by_text`: how many of these by their texts alone, under another id. `other_text`: ids that are here with
    another text; `missing`: items that are not here.
    """

    same: Mapping[str, str]
    by_text: int
    other_text: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class PersonJoined:
    """What of one person is new here. `name`: in the file; `called`: here.

    `labels`: labels, explanations and agreements; `states`: done, skipped, to do; `notes`. `turned`: words
    that are here and were taken back, or done again, since. `known`: those that are here as they are.
    """

    name: str
    called: str
    labels: int = 0
    states: int = 0
    notes: int = 0
    turned: int = 0
    known: int = 0

    @property
    def new(self) -> int:
        """How many words change the run."""
        return self.labels + self.states + self.notes + self.turned


@dataclass(frozen=True)
class Namesake:
    """A name that words of the file and words of the run have, and nobody has said whether it is one person.

    `store`: of the file. `here`: how many words of that name the run has; `suggested`: what another person
    might be called.
    """

    store: str
    name: str
    here: int
    suggested: str

    @property
    def in_words(self) -> str:
        """The question."""
        words = "a word" if self.here == 1 else f"{self.here:,} words"
        return (
            f"The run has {words} of {quoted(self.name)} that the file does not know. Is it one person, or"
            " two of the same name?"
        )


@dataclass(frozen=True)
class FileJoined:
    """What one file comes to. `file`: its name. `lacking`: words on criteria that the run has not, by
    criterion; `ahead`: words that are dated later than now; `contradicting`: sentences on those that
    contradict a word of the same person and time.
    """

    file: str
    made: HandOver
    items: ItemsJoined
    people: tuple[PersonJoined, ...]
    lacking: Mapping[str, int]
    namesakes: tuple[Namesake, ...]
    ahead: int = 0
    contradicting: tuple[str, ...] = ()

    @property
    def items_in_words(self) -> str:
        """How many items are the same: `19 of 20 items are in this run; 1 has another text, refused.`."""
        items = self.items
        same, whole = len(items.same), len(self.made.items)
        parts = [f"{same:,} of {whole:,} items {'is' if same == 1 else 'are'} in this run"]
        if items.by_text:
            parts.append(
                f"{items.by_text:,} of them by {'its' if items.by_text == 1 else 'their'} texts alone"
            )
        for ids, one, many in (
            (items.other_text, "has another text", "have other texts"),
            (items.missing, "is not in it", "are not in it"),
        ):
            if ids:
                parts.append(f"{len(ids):,} {one if len(ids) == 1 else many}, refused")
        return f"{'; '.join(parts)}."


@dataclass(frozen=True)
class Joining:
    """What some files come to in a run, before it is written. `words`: those that the store takes, `met`: how
    people of other stores are called here.
    """

    run: StoredRun
    files: tuple[FileJoined, ...]
    words: HandedWords = field(default_factory=HandedWords)
    met: MetPeople = field(default_factory=dict)

    @property
    def new(self) -> int:
        """How many words change the run."""
        return sum(person.new for file in self.files for person in file.people)

    @property
    def namesakes(self) -> tuple[Namesake, ...]:
        """What a person is to be asked first, each once."""
        return tuple(dict.fromkeys(each for file in self.files for each in file.namesakes))


def look_at(
    store: RunStore,
    run_id: int,
    files: Sequence[tuple[str, HandOver]],
    answers: Mapping[tuple[str, str], str] = {},
) -> Joining:
    """What files, each with its name, would come to in a run; nothing is written.

    `answers`: how somebody is called here, by the id of the store of the file and his name there; it is the
    name itself where he is the same person as here. StoreError for no run; SetupError where an answer is
    another one than was given before.
    """
    with store.reading():
        run, here = store.run(run_id), store.handed_words(run_id)
        hashes, met, own_id = store.content_hashes(run_id), store.met_people(), store.known_id()
    _refuse_other_answers(answers, met)
    found: list[FileJoined] = []
    words, known = HandedWords(), {**met, **answers}
    of_here = {at: at[1] for _, made in files for each in made.known_as.values() for at in each}
    known |= {at: name for at, name in of_here.items() if at[0] == own_id}
    for name, made in files:
        items = join_items(made.items, hashes)
        own = _of_run(made, items, hashes)
        called, namesakes = _who_is_who(made, own, here, known)
        known |= {(made.store, each): called[each] for each in made.people if each in called}
        own, lacking = _without_criteria(own.called(called), run.identity.criteria)
        people = [_counted(own, here, each, called.get(each, each)) for each in made.people]
        odd = (_ahead(own, now()), tuple(_contradicting(own, here)))
        found.append(FileJoined(name, made, items, tuple(people), lacking, namesakes, *odd))
        here, words = here.together(own), words.together(own)
    learned = {at: name for at, name in known.items() if met.get(at) != name and at[0] != own_id}
    return Joining(run, tuple(found), words, learned)


def join(store: RunStore, joining: Joining) -> None:
    """Write what files come to: all of it or nothing. SetupError where somebody is to be asked first."""
    if joining.namesakes:
        raise SetupError(joining.namesakes[0].in_words, "Say which of the two it is.")
    store.add_handed(joining.run.id, joining.words, joining.met)


def join_items(theirs: Mapping[str, str], here: Mapping[str, str]) -> ItemsJoined:
    """Which items of a file are which of a run; both by id the hash of the content."""
    ids: dict[str, list[str]] = {}
    for item_id, content in here.items():
        ids.setdefault(content, []).append(item_id)
    times = Counter(theirs.values())
    same: dict[str, str] = {}
    by_text = 0
    for item_id, content in theirs.items():
        if here.get(item_id) == content:
            same[item_id] = item_id
        elif len(ids.get(content, ())) == 1 == times[content]:
            [same[item_id]] = ids[content]
            by_text += 1
    left = [item_id for item_id in theirs if item_id not in same]
    other = tuple(item_id for item_id in left if item_id in here)
    return ItemsJoined(same, by_text, other, tuple(item_id for item_id in left if item_id not in here))


def _without_criteria(words: HandedWords, criteria: Sequence[str]) -> tuple[HandedWords, Mapping[str, int]]:
    """The words on these criteria alone, and how many others there are, by criterion."""
    lacking: Counter[str] = Counter()

    def fit(word: Word) -> Word | None:
        if isinstance(word, Override | Confirmation) and word.criterion not in criteria:
            lacking[word.criterion] += 1
            return None
        return word

    return words.changed(fit), lacking


def _of_run(made: HandOver, items: ItemsJoined, hashes: Mapping[str, str]) -> HandedWords:
    """The words of a file on items of the run, by the ids that these have here."""
    contents = {hashes[item_id] for item_id in items.same.values()}

    def here(word: Word) -> Word | None:
        if isinstance(word, ItemNote):
            return word if word.content_hash in contents else None
        own = items.same.get(word.item_id)
        return replace(word, item_id=own) if own is not None else None

    redone = {
        (items.same.get(place, place), name, at): when
        for (place, name, at), when in made.words.redone.items()
    }
    return replace(made.words.changed(here), redone=redone)


def _who_is_who(
    made: HandOver, own: HandedWords, here: HandedWords, known: MetPeople
) -> tuple[dict[str, str], tuple[Namesake, ...]]:
    """By name in the file, how each of its people is called here, and who is to be asked about."""
    called: dict[str, str] = {}
    namesakes = []
    there = set(own.states)
    for name in made.people:
        if (said := _said_before(made, name, known)) is not None:
            called[name] = said
            continue
        of_name = {identity_of(word) for word in here.all if word.author == name}
        if of_name and not of_name & there:
            taken = {*here.people, *made.people, *known.values()}
            namesakes.append(Namesake(made.store, name, len(of_name), free_name(name, taken)))
        else:
            called[name] = name
    return called, tuple(namesakes)


def _said_before(made: HandOver, name: str, known: MetPeople) -> str | None:
    """How a person of a file is called here, as far as that was said: of him there, or of whoever he is in
    the stores that his words came from.
    """
    if (said := known.get((made.store, name))) is not None:
        return said
    elsewhere = {known[at] for at in made.known_as.get(name, ()) if at in known}
    return elsewhere.pop() if len(elsewhere) == 1 else None


def free_name(name: str, taken: Iterable[str]) -> str:
    """`Ada (2)`, or the next of these that nobody has."""
    names, number = set(taken), 2
    while f"{name} ({number})" in names:
        number += 1
    return f"{name} ({number})"


def _counted(words: HandedWords, here: HandedWords, name: str, called: str) -> PersonJoined:
    states, counts = here.states, Counter[str]()
    for word in words.all:
        if word.author != called:
            continue
        known = states.get(identity_of(word))
        if known is not None:
            counts["turned" if words.turned(word).is_after(known) else "known"] += 1
        elif isinstance(word, ReviewMark):
            counts["states"] += 1
        else:
            counts["notes" if isinstance(word, ItemNote) else "labels"] += 1
    return PersonJoined(name, called, **counts)


def _contradicting(words: HandedWords, here: HandedWords) -> Iterator[str]:
    """A sentence on each label or explanation that is new here and says something else than one of the same
    person, judgment and time.
    """
    known, seen = here.states, set[tuple[object, ...]]()
    of_moment: dict[tuple[object, ...], list[Override | Confirmation]] = {}
    for word in chain(here.all, words.all):
        if isinstance(word, ReviewMark | ItemNote) or identity_of(word) in seen:
            continue
        seen.add(identity_of(word))
        settles = isinstance(word, Override) and word.settles
        others = of_moment.setdefault((word.key, word.author, word.created, settles), [])
        for other in others if identity_of(word) not in known else ():
            if word.preference is not other.preference or type(word) is type(other):
                what, when = f"{_said(other)} and {_said(word)}", f"{word.created:%Y-%m-%d %H:%M:%S} UTC"
                yield (
                    f"Item {word.item_id}, {in_words(word.criterion)}: {word.author} said {what} at one time"
                    f" ({when}). Both are kept, and {_said(max(word, other, key=_rank))} counts, until"
                    f" {word.author} says it again."
                )
        others.append(word)


def _rank(word: Override | Confirmation) -> tuple[bool, str, str]:
    """As the store has words of one moment in order: the last one counts."""
    text = word.explanation if isinstance(word, Override) else None
    return isinstance(word, Override), word.preference or "", text or ""


def _said(word: Override | Confirmation) -> str:
    _, label, text = _rank(word)
    return " with ".join(filter(None, (in_words(label), quoted(text) if text else "")))


def _ahead(words: HandedWords, at: datetime) -> int:
    return sum(word.created > at + _CLOCKS_DIFFER for word in words.all)


def _refuse_other_answers(answers: Mapping[tuple[str, str], str], met: MetPeople) -> None:
    for (store, name), called in answers.items():
        checked_author(called)
        before = met.get((store, name))
        if before not in (None, called):
            raise SetupError(
                f"{quoted(name)} of that computer is called {quoted(str(before))} here, as was said before.",
                "Leave the answer out.",
            )
