"""Annotation files added to a run: what they would change is counted before anything is written.

Items are the same if their texts are: by the hash of their content, and by id if several items of a run have
one text. In the file of an assignment an item may stand twice: its first place counts, the second is a hidden
repeat, and what is said there never counts as a label of the item. Training items are left out. An annotator
of the file is one of the run if an annotation of theirs is in the run already, or if that was confirmed
before. Otherwise, if the run has annotations by that name, the user is asked. Two annotations are the same if
they say the same at the same time; two of one time that contradict each other are both stored, with a notice.

Knows: which items, annotations and annotators are the same ones. Does not know: files, what is shown.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count

from engine.annotations.effective import annotators_of
from engine.annotations.records import Annotation, AnnotationKind, checked_author, now
from engine.core.errors import SetupError
from engine.core.formatting import counted, quoted
from engine.core.formatting import words as in_words
from engine.core.items import grouped
from engine.data.assignment import PLACE, TRAINING
from engine.results.annotation_file import AnnotationFile
from engine.settings.identity import StoredRun
from engine.store.annotation_rows import CONTENT, ImportedAnnotators
from engine.store.run_store import RunStore

_CLOCKS_DIFFER = timedelta(minutes=10)  # clocks are set by hand: what is dated later than this is reported


@dataclass(frozen=True)
class ItemsJoined:
    """Which items of a file are in the run: `same`, by id there, the id here; `by_text`: how many of these
    under another id. `other_text`: ids that are here with another text; `missing`: not here at all.
    `repeats`: further places of an item, by id there the id here; `training`: ids of training items.
    """

    same: Mapping[str, str]
    by_text: int
    other_text: tuple[str, ...]
    missing: tuple[str, ...]
    repeats: Mapping[str, str] = field(default_factory=dict)
    training: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnnotatorJoined:
    """What of one annotator is new here. `name`: in the file; `called`: here. `labels`: explanations and
    agreements too. `turned`: what is here and was undone or redone since; `known`: here as it is.
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
        return self.labels + self.states + self.notes + self.turned


@dataclass(frozen=True)
class Namesake:
    """A name in the file and in the run, and it is not confirmed whether it is one annotator. `store`: of the
    file. `here`: how many annotations of it the run has; `suggested`: what another might be called.
    """

    store: str
    name: str
    here: int
    suggested: str

    @property
    def in_words(self) -> str:
        words = "an annotation" if self.here == 1 else f"{self.here:,} annotations"
        return (
            f"The run has {words} of {quoted(self.name)} that the file does not have. Is this one annotator,"
            " or two with the same name?"
        )


@dataclass(frozen=True)
class FileJoined:
    """What one file comes to. `file`: its name. `lacking`: annotations on criteria that the run has not, by
    criterion; `ahead`: annotations that are dated later than now; `contradicting`: sentences on those that
    contradict an annotation of the same annotator and time.
    """

    file: str
    made: AnnotationFile
    items: ItemsJoined
    annotators: tuple[AnnotatorJoined, ...]
    lacking: Mapping[str, int]
    namesakes: tuple[Namesake, ...]
    ahead: int = 0
    contradicting: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing in it is left out, but for training."""
        return not (self.items.other_text or self.items.missing or self.lacking or self.made.skipped)

    @property
    def items_in_words(self) -> str:
        """How many items are the same: `19 of 20 items are in this run; 1 has another text, refused.`."""
        items = self.items
        same, whole = len(items.same) + len(items.repeats), len(self.made.items) - len(items.training)
        parts = [f"{same:,} of {whole:,} items {'is' if same == 1 else 'are'} in this run"]
        if items.by_text:
            parts.append(
                f"{items.by_text:,} of them matched by {'its' if items.by_text == 1 else 'their'} texts only"
            )
        for ids, one, many in (
            (items.other_text, "has another text", "have other texts"),
            (items.missing, "is not in it", "are not in it"),
        ):
            if ids:
                parts.append(f"{len(ids):,} {one if len(ids) == 1 else many}, refused")
        if items.repeats:
            parts.append(f"{counted(len(items.repeats), 'hidden repeat', 'hidden repeats')} among them")
        if items.training:
            parts.append(f"{counted(len(items.training), 'training item', 'training items')} omitted")
        return f"{'; '.join(parts)}."


@dataclass(frozen=True)
class Joining:
    """What files come to in a run. `words`: that the store takes; `met`: names of annotators elsewhere."""

    run: StoredRun
    files: tuple[FileJoined, ...]
    words: Sequence[Annotation] = ()
    met: ImportedAnnotators = field(default_factory=dict)

    @property
    def new(self) -> int:
        return sum(annotator.new for file in self.files for annotator in file.annotators)

    @property
    def namesakes(self) -> tuple[Namesake, ...]:
        """What an annotator is to be asked first, each once."""
        return tuple(dict.fromkeys(each for file in self.files for each in file.namesakes))


def look_at(
    store: RunStore,
    run_id: int,
    files: Sequence[tuple[str, AnnotationFile]],
    answers: Mapping[tuple[str, str], str] = {},
) -> Joining:
    """What files, each with its name, would come to in a run; nothing is written. `answers`: how somebody is
    called here, by the file's store and their name there. StoreError; SetupError for an answer unlike the
    first.
    """
    with store.reading():
        run, here = store.run(run_id), store.all_annotations(run_id)
        hashes, met, own_id = store.content_hashes(run_id), store.imported_annotators(), store.known_id()
    _refuse_other_answers(answers, met)
    found: list[FileJoined] = []
    words, known = list[Annotation](), {**met, **answers}
    of_here = {at: at[1] for _, made in files for each in made.known_as.values() for at in each}
    known |= {at: name for at, name in of_here.items() if at[0] == own_id}
    for name, made in files:
        items = join_items(made.items, hashes)
        own = _of_run(made, items, hashes)
        called, namesakes = _who_is_who(made, own, here, known)
        known |= {(made.store, each): called[each] for each in made.annotators if each in called}
        own = [replace(word, author=called.get(word.author, word.author)) for word in own]
        own = _dated_as_here(own, here) if made.undated else own
        judged = [word for word in own if "criterion" in CONTENT[word.kind]]
        lacking = Counter(word.criterion for word in judged if word.criterion not in run.identity.criteria)
        own = [word for word in own if "criterion" not in CONTENT[word.kind] or word.criterion not in lacking]
        annotators = [_counted(own, here, each, called.get(each, each)) for each in made.annotators]
        latest = now() + _CLOCKS_DIFFER  # asked once: each time that is told is later than the last
        ahead = sum(word.created > latest for word in own)
        odd = (ahead, tuple(_contradicting(own, here)))
        found.append(FileJoined(name, made, items, tuple(annotators), lacking, namesakes, *odd))
        here, words = _together(here, own), _together(words, own)
    learned = {at: name for at, name in known.items() if met.get(at) != name and at[0] != own_id}
    return Joining(run, tuple(found), words, learned)


def _dated_as_here(words: Sequence[Annotation], here: Sequence[Annotation]) -> list[Annotation]:
    """The same with the times that they have here, where they are the last of their annotator: a copy of a
    file has another time than the file, and says nothing new.
    """
    ordered = sorted(here, key=lambda word: word.created)
    last = {(word.kind, word.key, word.author): word for word in ordered if "criterion" in CONTENT[word.kind]}
    found = []
    for word in words:
        before = last.get((word.kind, word.key, word.author), word)
        again = replace(word, created=before.created)
        found.append(again if again.identity == before.identity else word)
    return found


def _together(some: Iterable[Annotation], others: Iterable[Annotation]) -> list[Annotation]:
    """All of these, the oldest first, the later state of each that both have."""
    found = {word.identity: word for word in some}
    for word in others:
        known = found.get(word.identity)
        if known is None or word.turned_after(known):
            found[word.identity] = word
    return sorted(found.values(), key=lambda word: word.created)


def join(store: RunStore, joining: Joining) -> None:
    """Write what files come to: all of it or nothing. SetupError where somebody is to be asked first."""
    if joining.namesakes:
        raise SetupError(joining.namesakes[0].in_words, "Choose one of the two.")
    store.add_imported(joining.run.id, joining.words, joining.met)


def join_items(theirs: Mapping[str, str], here: Mapping[str, str]) -> ItemsJoined:
    """Which items of a file are which of a run; both by id the hash of the content."""
    ids = grouped(here, key=here.__getitem__)
    same = {item_id: item_id for item_id, content in theirs.items() if here.get(item_id) == content}
    times, taken, by_text = Counter(theirs.values()), {*same.values()}, 0
    repeats: dict[str, str] = {}
    left = [item_id for item_id in theirs if item_id not in same]
    training = tuple(item_id for item_id in left if item_id.startswith(TRAINING))
    for item_id in left:
        content, assigned = theirs[item_id], item_id.startswith(PLACE)
        if len(ids.get(content, ())) == 1 and (assigned or times[content] == 1) and item_id not in training:
            [place] = ids[content]
            if assigned and place in taken:
                repeats[item_id] = place
            else:
                same[item_id] = place
                taken.add(place)
                by_text += 1
    left = [item_id for item_id in left if item_id not in {*same, *repeats, *training}]
    other = tuple(item_id for item_id in left if item_id in here)
    missing = tuple(item_id for item_id in left if item_id not in here)
    return ItemsJoined(same, by_text, other, missing, repeats, training)


def _of_run(made: AnnotationFile, items: ItemsJoined, hashes: Mapping[str, str]) -> list[Annotation]:
    contents, own = {hashes[item_id] for item_id in items.same.values()}, list[Annotation]()
    for word in made.words:
        if word.kind is AnnotationKind.NOTE:
            own += [word] if word.content_hash in contents else []
        elif word.item_id in items.same:
            own.append(replace(word, item_id=items.same[word.item_id]))
        elif word.item_id in items.repeats and word.preference is not None and not word.settles:
            again = replace(word, kind=AnnotationKind.REPEAT, item_id=items.repeats[word.item_id])
            own.append(replace(again, explanation=None, written_for=None))
    return own


def _who_is_who(
    made: AnnotationFile, own: Sequence[Annotation], here: Sequence[Annotation], known: ImportedAnnotators
) -> tuple[dict[str, str], tuple[Namesake, ...]]:
    """By name in the file, how each of its annotators is called here, and who is to be asked about."""
    called: dict[str, str] = {}
    namesakes = []
    there = {word.identity for word in own}
    for name in made.annotators:
        # As far as that is confirmed: for them there, or in the stores that their annotations came from.
        elsewhere = {known[at] for at in made.known_as.get(name, ()) if at in known}
        said = known.get((made.store, name)) or (elsewhere.pop() if len(elsewhere) == 1 else None)
        if said is not None:
            called[name] = said
            continue
        of_name = {word.identity for word in here if word.author == name}
        if of_name and not of_name & there:
            taken = {*annotators_of(here), *made.annotators, *known.values()}
            free = next(free for number in count(2) if (free := f"{name} ({number})") not in taken)
            namesakes.append(Namesake(made.store, name, len(of_name), free))
        else:
            called[name] = name
    return called, tuple(namesakes)


def _counted(
    words: Iterable[Annotation], here: Iterable[Annotation], name: str, called: str
) -> AnnotatorJoined:
    known, counts = {word.identity: word for word in here}, Counter[str]()
    new = {AnnotationKind.STATE: "states", AnnotationKind.NOTE: "notes"}
    for word in (word for word in words if word.author == called):
        if (before := known.get(word.identity)) is not None:
            counts["turned" if word.turned_after(before) else "known"] += 1
        else:
            counts[new.get(word.kind, "labels")] += 1
    return AnnotatorJoined(name, called, **counts)


def _contradicting(words: Iterable[Annotation], here: Sequence[Annotation]) -> Iterator[str]:
    """A sentence on each label or explanation that contradicts one of the same annotator and time."""
    known, seen = {word.identity for word in here}, set[tuple[object, ...]]()
    of_moment: dict[tuple[object, ...], list[Annotation]] = {}
    for word in (*here, *words):
        if word.kind not in (AnnotationKind.OVERRIDE, AnnotationKind.CONFIRMATION) or word.identity in seen:
            continue
        seen.add(word.identity)
        others = of_moment.setdefault((word.key, word.author, word.created, word.settles), [])
        for other in others if word.identity not in known else ():
            if word.preference is not other.preference or word.kind is other.kind:
                what, when = f"{_said(other)} and {_said(word)}", f"{word.created:%Y-%m-%d %H:%M:%S} UTC"
                # As the store has annotations of one moment in order: the last one counts.
                last = max(
                    (word, other),
                    key=lambda each: (
                        each.kind is AnnotationKind.OVERRIDE,
                        each.preference or "",
                        each.explanation or "",
                    ),
                )
                yield (
                    f"Item {word.item_id}, {in_words(word.criterion)}: {word.author} gave {what} at the same"
                    f" time ({when}). Both are stored, and {_said(last)} counts, until {word.author}"
                    " annotates it again."
                )
        others.append(word)


def _said(word: Annotation) -> str:
    text = quoted(word.explanation) if word.explanation else ""
    return " with ".join(filter(None, (in_words(word.preference or ""), text)))


def _refuse_other_answers(answers: Mapping[tuple[str, str], str], met: ImportedAnnotators) -> None:
    for (store, name), called in answers.items():
        checked_author(called)
        before = met.get((store, name))
        if before not in (None, called):
            raise SetupError(
                f"{quoted(name)} of that computer is already mapped to {quoted(str(before))} here.",
                "Omit this mapping.",
            )
