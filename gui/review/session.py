"""A review without widgets or lists: which judgment is open, what is shown of it, what comes of requests."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.annotations.effective import AnnotatorStep, EffectiveAnnotation, Reviews, to_redo, to_undo
from engine.annotations.records import Annotation, AnnotationKind, Undo, new_override, new_review
from engine.core.formatting import capitalised, clipped, short_name, visible, words
from engine.core.items import Gold, HumanLabel, Preference, agree
from engine.core.judgments import (
    AnyJudgment,
    Explanation,
    JudgedItem,
    JudgmentKey,
    Origin,
    ReviewState,
    Unscored,
)
from gui.review.progress import Drafts
from gui.review.review_jobs import HIDDEN, HIDDEN_WHILE_BLIND, Blind, Review, human_label
from gui.widgets.label_mark import LABEL_WORDS
from gui.workspace.open_run import Opened, OpenRun

if TYPE_CHECKING:
    from engine.analysis.review_order import ReviewRow


@dataclass(frozen=True)
class ReviewedJudgment:
    judgment: AnyJudgment
    label: HumanLabel | None = None  # in force, as is the explanation
    explanation: str | None = None
    stale: bool = False
    override: EffectiveAnnotation | None = None
    history: Sequence[Annotation] = ()  # all overrides, the oldest first
    human: Gold | None = None
    human_from: Sequence[Path] = ()  # the dataset that the human label is from, or those that have none
    draft: str = ""  # what is said of one
    uncertainty: float | None = None  # 0 to 1, None where it is not known
    annotators: Sequence[tuple[str, HumanLabel]] = ()  # who gave which label, also by agreeing
    proposed: str = ""  # what most of them say, to who adjudicates
    reviewer: str = ""  # who looks
    undo: str = ""  # what they may take back of what they did with the item
    writing: bool = False  # whether they write the explanation now
    hidden: bool = False  # whether all of it but what is their own is kept from them

    @property
    def why_hidden(self) -> str:
        return "" if not self.hidden else HIDDEN if self.label is None else HIDDEN_WHILE_BLIND

    @property
    def own_explanation(self) -> Explanation | None:
        """The judge's, of the effective label."""
        own = self.judgment
        return None if isinstance(own, Unscored) else own.explanation_for(self.label)


@dataclass(frozen=True)
class Change:
    say: Annotation | tuple[Annotation, ...] | None = None
    over: tuple[str, ...] = ()  # names of the drafts that end with it
    undo: tuple[Undo, ...] = ()
    note: str = ""
    criterion: str = ""  # where the annotator is to look
    item_id: str = ""  # and of which item, where that is another one than the open one


class _Left(NamedTuple):
    item_id: str  # that was left by itself after a label
    to: str  # the item that it was left for
    said: frozenset[datetime]  # the steps that led to it


class _Own(NamedTuple):
    label: HumanLabel | None = None
    explanation: str | None = None
    written_for: HumanLabel | None = None  # the label that the explanation is of


class ReviewSession:
    """One judgment is open. A request changes nothing that is shown: what the store has kept does."""

    def __init__(self, opened: Opened, blind: Blind, drafts: Drafts) -> None:
        self._opened, self._blind, self._drafts = opened, blind, drafts
        self.run_id = 0  # of the item; not the open run's while that is still being listed
        self.item_id = ""
        self.criterion = ""
        self.origin: Origin | None = None  # how the annotator came to the item
        self.seed: int | None = None  # of the random sample, where they came to it so
        self.writing = self.adjudicating = False
        self._review: Review | None = None
        self._asked: dict[JudgmentKey, _Own] = {}  # not stored yet
        self._saving: JudgmentKey | None = None
        self._undone: list[tuple[int, str, frozenset[datetime], int]] = []  # run, item, when said, after what
        self._left: list[_Left] = []  # the way by which the list came to the item by itself
        self._left_before: list[_Left] = []  # by which it came to the item that was open before

    # Which judgment is open

    def open(self, review: Review, item_id: str, criterion: str) -> None:
        run_id = self._opened.run.id if self._opened.run else 0
        if run_id != self.run_id:
            self._asked.clear()
        if (run_id, item_id) != (self.run_id, self.item_id):
            self._left_before, self._left = self._left, []
        self.run_id, self._review = run_id, review
        self.item_id, self.criterion = item_id, criterion

    def close(self) -> None:
        self.item_id = ""

    def forget_requests(self) -> None:
        self._asked.clear()

    @property
    def key(self) -> JudgmentKey:
        return JudgmentKey(self.item_id, self.criterion)

    @property
    def kept(self) -> str:
        """An item that only an annotator's choice leaves: its explanation is being written; else empty."""
        return self.item_id if self.writing else ""

    @property
    def run(self) -> OpenRun | None:
        run = self._opened.run
        return run if run is not None and run.id == self.run_id else None

    @property
    def criteria(self) -> Sequence[str]:
        return self._review.criteria if self._review is not None else ()

    @property
    def rows(self) -> "Sequence[ReviewRow]":
        """What the list knows of the item on each criterion, as it may be shown; none without an item."""
        review = self._review
        return review.of_item(self.item_id) if review is not None and self.item_id in review.places else ()

    @property
    def begun(self) -> Collection[str]:
        return self._drafts.begun(self.run_id, self.item_id)

    @property
    def may_see(self) -> bool:
        return self._blind.shows(self.key)

    @property
    def may_write(self) -> bool:
        return self.may_see or self._blind.labelled(self.key)

    @property
    def why_hidden(self) -> str:
        return HIDDEN_WHILE_BLIND if self.may_write else HIDDEN

    @property
    def unlabelled(self) -> list[str]:
        """The criteria of the item without this annotator's label."""
        return [each for each in self.criteria if not self._blind.labelled(JudgmentKey(self.item_id, each))]

    def to_label(self, alone: str | None) -> list[str]:
        """Of these `alone`, if it is one, or all, from the one after the open one on."""
        after, unlabelled = self.criteria.index(self.criterion) + 1, self.unlabelled
        wanted = [*self.criteria[after:], *self.criteria[:after]] if alone is None else [alone]
        return [each for each in wanted if each in unlabelled]

    @property
    def judgment(self) -> AnyJudgment | None:
        return self._judgment(self.key)

    def _judgment(self, key: JudgmentKey) -> AnyJudgment | None:
        run, place = self.run, self._place(key.item_id)
        return run.results.judgments[key.criterion][place] if run is not None and place is not None else None

    def _judged_item(self, item_id: str) -> JudgedItem | None:
        run, place = self.run, self._place(item_id)
        return run.results.judged[place] if run is not None and place is not None else None

    def _place(self, item_id: str) -> int | None:
        return self._review.places.get(item_id) if self.run is not None and self._review is not None else None

    # What is shown

    @property
    def shown(self) -> ReviewedJudgment | None:
        run, review, judgment = self.run, self._review, self.judgment
        if run is None or review is None or judgment is None:
            return None
        results, key, author = run.results, self.key, self._opened.author
        writing = self.writing
        draft = "" if writing else self._drafts.in_words(run.id, key)
        told: dict[str, Any] = {"reviewer": author, "undo": self._undo_in_words}
        if not self.may_see:
            own = self._said.own(key, author)
            return ReviewedJudgment(
                Unscored(*key, ""),
                label=self._labels_of_annotators(key).get(author),
                explanation=own.explanation if own else None,
                draft=draft,
                writing=writing,
                hidden=True,
                **told,
            )
        row = self._row_of(judgment)
        judged = results.judged[review.places[self.item_id]]
        gold_row = review.gold_rows.get(self.item_id)
        looked_into = ((self._opened.gold, gold_row), (run.dataset, judged.position))
        human, human_from = human_label(looked_into, judged, self.criterion)
        return ReviewedJudgment(
            judgment,
            label=results.label(judgment),
            explanation=results.explanation(judgment),
            stale=results.is_stale(judgment),
            override=results.overrides.get(key),
            history=[each for each in results.reviews.said_on(key) if each.kind is AnnotationKind.OVERRIDE],
            human=human,
            human_from=human_from,
            draft=draft,
            # The list, which knows the others, hears of an override a moment later.
            uncertainty=None if results.run.by_hand else self._uncertainty(judgment, row),
            annotators=sorted(self._labels_of_annotators(key).items()),
            proposed=self._proposed(judgment) if self.adjudicating else "",
            writing=writing,
            **told,
        )

    def _uncertainty(self, judgment: AnyJudgment, row: "ReviewRow | None") -> float | None:
        decided = self.run is not None and self.run.results.decided_by_annotator(judgment)
        return 0.0 if decided else row.uncertainty if row else None

    def _labels_of_annotators(self, key: JudgmentKey) -> dict[str, HumanLabel]:
        given = self._said.given_on(key)
        return {name: each.preference for name, each in given.items() if each.preference is not None}

    def _proposed(self, judgment: AnyJudgment) -> str:
        """What most annotators say, and whether dataset and judge say otherwise."""
        given, label = self._labels_of_annotators(judgment.key), self._said.proposed(judgment.key)
        if not self.disputed:
            return ""
        if label is None:
            return "No label has a majority: adjudicate with A, B, G or X."
        holders = sum(each is label for each in given.values())
        said = [f"Majority: {LABEL_WORDS[label]} ({holders} of {len(given)})"]
        row = self._row_of(judgment)
        if row is not None and (human := row.human) is not None and not agree(human, label):
            said.append(f"not the human label, {LABEL_WORDS[human]}")
        if not isinstance(judgment, Unscored) and judgment.preference is not label:
            said.append(f"not the judge's, {LABEL_WORDS[judgment.preference]}")
        return f"{', '.join(said)}. Enter adjudicates it so."

    @property
    def disputed(self) -> bool:
        """Annotators gave different labels to the open judgment, and nobody has adjudicated it."""
        given = self._labels_of_annotators(self.key)
        return len({*given.values()}) > 1 and not self._adjudicated(self.key)

    @property
    def has_majority(self) -> bool:
        return self.disputed and self._said.proposed(self.key) is not None

    def _row_of(self, judgment: AnyJudgment) -> "ReviewRow | None":
        return next((row for row in self.rows if row.key == judgment.key), None)

    def effective_labels(self) -> Mapping[str, HumanLabel]:
        """By criterion, as an annotator asked for them last; criteria without a label are left out."""
        labels = {name: self._effective_label(JudgmentKey(self.item_id, name)) for name in self.criteria}
        return {name: label for name, label in labels.items() if label is not None}

    def _effective_label(self, key: JudgmentKey) -> HumanLabel | None:
        run, judgment = self.run, self._judgment(key)
        if run is None or judgment is None:
            return None
        return self._asked.get(key, _Own()).label or run.results.label(judgment)

    # What an annotator requests

    def change(self, key: JudgmentKey, label: Preference) -> Change:
        author, by, blind = self._opened.author, self._authors_of_label(key), not self._blind.shows(key)
        if locked := self._locked(key):
            return Change(note=locked)
        if blind and self._blind.label(key) is label:
            return Change(note=f"Your label is {LABEL_WORDS[label]} already.")
        if not self.adjudicating:  # what is adjudicated is no label of theirs
            self._blind.given[key] = label
        if self._effective_label(key) is label:
            if not self.adjudicating and (blind or (by and author not in by)):
                what = (key.item_id, author, None, {key.criterion: label}, self.origin)
                agrees = new_review(*what, seed=self.seed, blind=blind)
                whom = "" if blind or not by else f" with {visible(clipped(' and '.join(by)))}"
                told = not blind or self._blind.answers
                return Change(agrees, note=f"You agree{whom}: {LABEL_WORDS[label]}." if told else "")
            if author in by and bool(self._adjudicated(key)) is self.adjudicating:
                return Change(note=f"Your label is {LABEL_WORDS[label]} already.")
        own = self._own(key)._replace(label=label)
        return Change(self._ask(key, own, self.origin, self.seed, blind))

    def adjudicate(self) -> Change:
        """As most annotators say of the open judgment; nothing where that is done, or nobody differs."""
        label = self._said.proposed(self.key)
        if not self.disputed or self.key in self._asked:
            return Change()
        if label is None:
            return Change(note="No label has a majority: adjudicate with A, B, G or X.")
        return self.change(self.key, label)

    def undo(self) -> Change:
        steps, elsewhere = self._undoable
        if steps:
            return self._take_back(steps, item_id=elsewhere)
        standing = self._standing(self.key)
        if standing is not None and self.may_see:
            author = visible(clipped(standing.author))
            return Change(note=f"This is {author}'s: only {author} can undo it.")
        return Change(note="There is nothing of yours on this item to undo.")

    def redo(self) -> Change:
        if (step := to_redo(self._steps)) is not None:
            return self._take_back([step], again=True)
        return Change(note="There is nothing of yours on this item to redo.")

    def undo_last(self) -> Change:
        """Take back the last step of this window that stands, on whichever item of the run it was."""
        for run_id, place, at in reversed(self._opened.acts):
            judged = self._judged_at(place) if run_id == self.run_id else None
            steps = self._opened.steps(judged) if judged is not None else ()
            step = next((each for each in steps if each.at == at and each.undone is None), None)
            if judged is not None and step is not None:
                if step in self._undoable[0]:
                    return self.undo()
                return self._take_back([step], item_id=judged.item_id * (judged.item_id != self.item_id))
        return Change(note="Nothing that you annotated here in this window is left to undo.")

    def redo_last(self) -> Change:
        """Do again what was undone last, on whichever item, if nothing was annotated since."""
        while self._undone:
            run_id, item_id, times, acts = self._undone.pop()
            if (run_id, acts) == (self.run_id, len(self._opened.acts)):
                steps = [step for step in self._steps_of(item_id) if step.at in times and step.undone]
                if steps:
                    return self._take_back(steps, again=True, item_id=item_id * (item_id != self.item_id))
        return Change(note="There is nothing to redo.")

    def _judged_at(self, place: str) -> JudgedItem | None:
        """By its id, or the hash of its content, by which a note is kept."""
        judged = self._judged_item(place)
        if judged is None and self.run is not None:
            judged = next((each for each in self.run.results.judged if each.content_hash == place), None)
        return judged

    def _take_back(self, steps: Sequence[AnnotatorStep], again: bool = False, item_id: str = "") -> Change:
        """Let steps, of which the first is told, be history or stand again; `item_id`: of another item."""
        judged = self._judged_item(item_id or self.item_id)
        assert judged is not None
        keys = {key for step in steps for key in step.keys}
        for key in keys:
            self._asked.pop(key, None)
        of_item = judged.item_id, judged.content_hash, self._opened.author
        if not again:
            times = frozenset(step.at for step in steps)
            self._undone.append((self.run_id, judged.item_id, times, len(self._opened.acts)))
        undo = tuple(Undo(*of_item, step.at, again) for step in reversed(steps))
        criteria = sorted(key.criterion for key in keys)
        elsewhere = criteria and (item_id or self.criterion not in criteria)
        where = f" (item {visible(clipped(item_id))})" if item_id else ""
        told = f"{'Redone' if again else 'Undone'}: {step_in_words(steps[0])}{where}."
        return Change(undo=undo, note=told, criterion=criteria[0] if elsewhere else "", item_id=item_id)

    def said_of_item(self) -> frozenset[datetime]:
        return frozenset(step.at for step in self._steps if step.undone is None)

    def went_on(self, left: str, before: Collection[datetime]) -> None:
        """The item `left` was left by itself for the open one; `before`: what was said of it before."""
        said = frozenset(step.at for step in self._steps_of(left)) - frozenset(before)
        earlier = self._left if left == self.item_id else self._left_before  # nothing else is to do: it stays
        self._left = [*earlier, _Left(left, self.item_id, said)]

    def went_back(self) -> None:
        self._left = self._left_before[:-1]

    @property
    def _undoable(self) -> tuple[Sequence[AnnotatorStep], str]:
        """The steps that undo takes back, the first of which is told, and their item where it is another one,
        which was left by itself for the open one; nothing was done or undone since.
        """
        own = to_undo(self._steps)
        left = next((left for left in reversed(self._left) if self._standing_of(left)), None)
        if left is None or left.to != self.item_id or (own is not None and own.at > max(left.said)):
            return ([own] if own is not None else []), ""
        return self._standing_of(left), left.item_id if left.item_id != left.to else ""

    def _standing_of(self, left: _Left) -> list[AnnotatorStep]:
        return [step for step in self._steps_of(left.item_id) if step.at in left.said and step.undone is None]

    @property
    def _undo_in_words(self) -> str:
        steps, elsewhere = self._undoable
        where = f" on item {visible(clipped(elsewhere))}" if elsewhere else ""
        return f"{step_in_words(steps[0])}{where}" if steps else ""

    @property
    def _steps(self) -> Sequence[AnnotatorStep]:
        return self._steps_of(self.item_id)

    def _steps_of(self, item_id: str) -> Sequence[AnnotatorStep]:
        judged = self._judged_item(item_id)
        return () if judged is None else self._opened.steps(judged)

    def _standing(self, key: JudgmentKey) -> EffectiveAnnotation | None:
        return self.run.results.overrides.get(key) if self.run else None

    def _adjudicated(self, key: JudgmentKey) -> EffectiveAnnotation | None:
        standing = self._standing(key)
        return standing if standing is not None and standing.adjudicated else None

    def _locked(self, key: JudgmentKey) -> str:
        """Why this annotator cannot change a judgment that they see; empty where they can."""
        standing = self._adjudicated(key)
        if standing is None or self.adjudicating or not self._blind.shows(key):
            return ""
        who = visible(clipped(" and ".join(standing.label_by)))
        return f"{who} adjudicated this label: use Adjudicate to change it."

    def begin_writing(self) -> tuple[str, str | None] | None:
        """The effective explanation and a draft of another; None where nothing may be written."""
        run, judgment = self.run, self.judgment
        if run is None or judgment is None or self.writing or not self.may_write or self._locked(self.key):
            return None
        self.writing = True
        text = run.results.explanation(judgment) if self.may_see else self._own(self.key).explanation
        return text or "", self._drafts.of(run.id, self.key)

    def save(self, text: str, changed: bool) -> Change:
        self.writing, key = False, self.key
        own = self._own(key)
        if self._opened.author not in self._authors_of_label(key):
            own = own._replace(label=None)  # whose words these are says nothing of whose label it is
        if changed and (text.strip() or (own.label is not None and own.explanation is not None)):
            over = self._drafts.ids(self.run_id, key)
            # Until it is stored: the disk or the store may refuse it.
            self._drafts.hold(self.run_id, key, text)
            self._saving = key
            own = _Own(own.label, text.strip() or None, self._effective_label(key))
            return Change(self._ask(key, own, *self._as_given(key, own.label)), over)
        self._drafts.drop(self.run_id, key)
        empty = "An empty text is not an explanation. Press U to undo yours."
        return Change(note=empty if changed else "")

    def keep_draft(self, text: str, changed: bool) -> None:
        if self.writing and changed:
            self._drafts.keep(self.run_id, self.key, text)

    def leave(self, text: str, changed: bool) -> None:
        self.keep_draft(text, changed)
        if not changed:
            self._drafts.drop(self.run_id, self.key)
        self.writing = False

    def _as_given(self, key: JudgmentKey, label: HumanLabel | None) -> tuple[Origin | None, int | None, bool]:
        """The origin, the seed and whether it was blind: as the own label was given that an explanation is
        added to, else as of now.
        """
        given = self._said.given_on(key).get(self._opened.author)
        if given is None or given.preference is not label or self.adjudicating:
            return self.origin, self.seed, not self._blind.shows(key)
        return given.origin, given.seed, bool(given.blind)

    def _ask(
        self, key: JudgmentKey, own: _Own, origin: Origin | None, seed: int | None, blind: bool
    ) -> Annotation:
        self._asked[key] = own
        how: dict[str, Any] = {"origin": origin, "seed": seed, "blind": blind, "settles": self.adjudicating}
        said = (*key, own.label, own.explanation, self._opened.author)
        return new_override(*said, written_for=own.written_for if own.explanation else None, **how)

    # What becomes of it

    def stored(self, key: JudgmentKey) -> None:
        if self.run is None:
            return
        self._asked.pop(key, None)
        draft = self._drafts.of(self.run_id, key)
        if key == self._saving and draft is not None and draft.strip() == (self._own(key).explanation or ""):
            self._drafts.drop(self.run_id, key)
            self._saving = None

    def lost(self, key: JudgmentKey) -> bool:
        """What was asked for is not said; True where what was written of the open judgment is lost too."""
        self._asked.pop(key, None)
        if self._saving != key:
            return False
        self._saving = None
        return key == self.key

    # Whose words stand

    @property
    def _said(self) -> Reviews:
        return self.run.results.reviews if self.run else Reviews()

    def _own(self, key: JudgmentKey) -> _Own:
        """What this annotator said themselves, as asked for last; as an adjudicator while they adjudicate."""
        own = self._said.own(key, self._opened.author, self.adjudicating)
        said = _Own(own.preference, own.explanation, own.written_for) if own else _Own()
        return self._asked.get(key, said)

    def _authors_of_label(self, key: JudgmentKey) -> tuple[str, ...]:
        """Whose label stands for the judge's, as asked for last; none where it is the judge's own."""
        if self._asked.get(key, _Own()).label is not None:
            return (self._opened.author,)
        standing = self._standing(key)
        return standing.label_by if standing else ()


_STATES = {ReviewState.TO_DO: "reopened", ReviewState.DONE: "done", ReviewState.SKIPPED: "skipped"}


def standing_in_words(standing: EffectiveAnnotation) -> str:
    """`Label both good by Ben, explanation by Ada, 2026-03-01 14:05`, in local time."""
    label = "" if standing.preference is None else f"label {LABEL_WORDS[standing.preference]}"
    by = " and ".join(map(short_name, standing.label_by))
    if label and standing.explanation and (standing.text_by,) == standing.label_by:
        parts = [f"{label} and explanation by {by}"]
    else:
        parts = [f"{label} by {by}"] if label else []
        parts += [f"explanation by {short_name(standing.text_by or '')}"] if standing.explanation else []
    text = f"{', '.join(parts)}, {_time(standing.created)}"
    return f"Adjudicated: {text}" if standing.adjudicated else capitalised(text)


def override_in_words(override: Annotation) -> str:
    """`Label both good and explanation by Ada, 2026-03-01 14:05, undone 14:07`, in local time."""
    text = f"{_changed(override)} by {override.author}, {_time(override.created)}"
    undone = f", undone {_time(override.undone)}" if override.undone else ""
    return f"{capitalised(text)}{undone}"


def step_in_words(step: AnnotatorStep) -> str:
    """`label B on safety`, `done, with 5 labels accepted`, `a note`."""
    accepted = [word for word in step.words if word.kind is AnnotationKind.CONFIRMATION]
    said = [_word(word) for word in step.words if word.kind is not AnnotationKind.CONFIRMATION]
    said += [f"{len(accepted):,} labels accepted"] if len(accepted) > 1 else map(_word, accepted)
    return ", ".join(dict.fromkeys(filter(None, said)))


def _word(word: Annotation) -> str:
    match word.kind:
        case AnnotationKind.OVERRIDE:
            return f"{_changed(word)} on {words(word.criterion)}"
        case AnnotationKind.CONFIRMATION:
            accepted = "" if word.blind else " accepted"  # else a blind label would tell of the judge's
            return f"label {LABEL_WORDS[word.preference]}{accepted} on {words(word.criterion)}"
        case AnnotationKind.STATE:
            return _STATES[word.state or ReviewState.TO_DO]
        case _:
            return "a note"


def _changed(override: Annotation) -> str:
    parts = [] if override.preference is None else [f"label {LABEL_WORDS[override.preference]}"]
    parts += [] if override.explanation is None else ["explanation"]
    text = " and ".join(parts)
    return f"adjudicated: {text}" if override.settles else text


def _time(time: datetime) -> str:
    return f"{time.astimezone():%Y-%m-%d %H:%M}"
