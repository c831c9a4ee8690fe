"""What the store says of a run: what makes it the same run, how far it came, its cost, what users call it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from engine.core.codec import record_or
from engine.core.column_map import ColumnMap
from engine.core.errors import Hint, SetupError, Step
from engine.core.formatting import capitalised, counted, file_stem, listed, short_name, value_in_words, words
from engine.core.items import BACKGROUND, Method, Order
from engine.core.rubric import Rubric, rubric_of_names
from engine.settings import rows
from engine.settings.sampling import DEFAULT_SEED, ItemSample, StoppingRule, dataset_in_words

# Keys of the settings of a run; each is missing where it says nothing.
DEVICE = "device"  # what computed besides the processor, by its key
EXAMPLES = "examples"  # the hash of the labelled examples that prompts show
SHOWN = "shown_texts"  # the hash of the contexts and reference answers that prompts show
EXPLAINED_WITH = "explained_with_calibration"  # the hash of the calibration whose labels are explained
CHOSEN = "chosen_items"  # the ids of its items where these were chosen or drawn
SAMPLE = "items_drawn"  # how they were drawn; it makes no other run

# Keys of its manifest, likewise.
COMPUTED_ON, DRIVER = "computed_on", "driver"  # the device that computed, and its driver
GPU_LAYERS = "gpu_layers"  # how many layers of the model were on it
THREADS_ADAPT = "threads_adapt"  # as many of its threads were used as the computer was free
DEVICE_LEFT = "device_left"  # why its device was left for the processor, and after how many items
CONTINUED = "continued_with"  # how its later sessions worked, where that is another way than the first
REWRITTEN = "rewritten"  # when explanations were written again, how many, and with what
COLUMNS = "columns"  # by which map its dataset, a foreign file, was read
CLUSTER = "cluster"  # the kinds of computers that judged it, each with what was judged by it
PLACES = "judged"  # with a kind of computers: which items it judged, by their places: `0-15,32-47`
OVER_CLUSTER = "over_a_cluster"  # of a session: other computers judged, so that no threads are named
NOT_IN_DATASET = "ids that are not in the dataset"  # rows of an opened submission that answer no item
JUDGES = "judges"  # of a jury: its judges by name, and what they are
CERTAINTY = "certainty_of_labels"  # of a jury: the probability that was given to a submission's label
CASCADE = "cascade"  # by criterion, from where on the first of two judges decides: see KeptThreshold
TRUST = "trust"  # which of its labels may stand: see KeptTrust
EXAMPLES_SHOWN = "examples_shown"  # the items of its labelled examples, by their hashes: see FittedOn
RANDOM_ORDER = "random_order"
"""Of a run that was judged until something was clear: the seed that draws its instructions, one by one; how
many items had been judged `after` which it began, in the order of their file; whether it `leaves_out` items
of which nothing more was asked; the `width` of an interval, 0 to 1, none where it was to be significant;
whether it was which settings are the best (TUNING). No result depends on it.
"""
TUNING = "tuning"

LONGEST_NAME, LONGEST_NOTE = 255, 20_000  # letters, of a run
_LONGEST_STEM, _LONGEST_PART = 60, 30  # bytes: the ends of file names must have room


BY_HAND = "labels by hand"
"""What is said where else a model is named, and the title of such a run."""
NOT_LABELLED = "not labelled yet"
"""Why a judgment in it has no label."""


class RunKind(StrEnum):
    JUDGED = "judged"  # a model judged, here
    SUBMITTED = "submitted"  # a submission file that was opened to be reviewed
    PANEL = "panel"  # what several runs and submissions say of the same items, decided together
    BY_HAND = "by_hand"  # nobody judged: annotators label its items


@dataclass(frozen=True)
class RunIdentity:
    """What a run is: two runs with the same `key` would give the same results. Of an opened submission, path,
    name and SHA-256 of the model are those of its file; of a jury the name says its judges, the SHA-256 is of
    what gives their raw predictions, and the path its dataset's; of labels by hand they are those of the
    dataset, as there is no model. `rubric`: with just these criteria; None for the task's, in its default
    wording, and for an opened submission.
    """

    key: str
    dataset_path: Path
    dataset_hash: str
    items: int
    model_path: Path
    model_name: str
    model_hash: str
    prompt_version: str
    criteria: tuple[str, ...]
    settings: Mapping[str, Any]
    kind: RunKind = RunKind.JUDGED
    rubric: Rubric | None = None

    @property
    def asked(self) -> Rubric:
        return self.rubric or rubric_of_names(self.criteria)

    @cached_property
    def judge_settings(self) -> rows.JudgeSettings:
        """SetupError where no model judged, and of a damaged run KeyError, TypeError or ValueError."""
        return rows.settings_of(self.settings)

    @property
    def mode(self) -> rows.Mode | None:
        return rows.Mode(self.settings["mode"]) if "mode" in self.settings else None

    @property
    def orders(self) -> tuple[Order, ...]:
        return tuple(map(Order, self.settings["orders"]))

    @property
    def second_order_below(self) -> float | None:
        margin: float | None = self.settings.get(rows.row_of("second_order_below").key)
        return margin

    @property
    def methods(self) -> tuple[Method, ...]:
        return tuple(map(Method, self.settings.get(rows.row_of("methods").key, rows.DEFAULT_METHODS)))

    @property
    def shows(self) -> tuple[str, ...]:
        """Which texts of BACKGROUND its prompts show."""
        return tuple(name for name in BACKGROUND if self.settings.get(f"show_{name}"))

    @property
    def examples(self) -> str:
        return self.settings.get(EXAMPLES) or ""

    @property
    def device(self) -> str | None:
        """The key of what computed besides the processor; None for the processor alone."""
        return self.settings.get(DEVICE)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The ids of the items, where these were chosen; empty for the first `items` of the dataset."""
        return tuple(self.settings.get(CHOSEN, ()))

    @property
    def sample(self) -> ItemSample | None:
        return record_or(self.settings.get(SAMPLE), ItemSample, None)

    def as_asked(self, methods: tuple[Method, ...], orders: tuple[Order, ...]) -> "RunIdentity":
        """The same, had it been asked by these methods and in these orders; its key stays."""
        settings = self.judge_settings
        asked = replace(settings, methods=methods, orders=orders).as_json()
        beside = {name: value for name, value in self.settings.items() if name not in settings.as_json()}
        return replace(self, settings={**beside, **asked})

    @property
    def how_chosen(self) -> dict[str, Any]:
        return {name: self.settings[name] for name in (CHOSEN, SAMPLE) if name in self.settings}

    @property
    def methods_in_words(self) -> str:
        """Where they are not label tokens alone: `chain of thought (4 reasoning samples)`."""
        key = rows.row_of("reasoning_samples").key
        asked = rows.methods_in_words(self.methods, self.settings.get(key, 1))
        return "" if self.methods == rows.DEFAULT_METHODS else asked

    @property
    def dataset_in_words(self) -> str:
        return dataset_in_words(self.dataset_path, len(self.chosen), self.sample)

    @property
    def items_are(self) -> str:
        """`chosen`, `at random, seed 0`; empty for the first items of their file."""
        return self.sample.how if self.sample is not None else "chosen" if self.chosen else ""

    @property
    def settings_in_short(self) -> Mapping[str, Any]:
        """The settings for users: of the chosen items the first few, and how many more there are."""
        drawn = {SAMPLE: self.sample.how} if self.sample is not None else {}
        chosen = {CHOSEN: listed(self.chosen)} if self.chosen else {}
        return {**self.settings, **drawn, **chosen}


@dataclass(frozen=True)
class Archived:
    when: datetime
    by: str


@dataclass(frozen=True)
class StoredRun:
    id: int
    created: datetime
    identity: RunIdentity
    judged: int  # items in the store, of a submission those that it answers
    manifest: Mapping[str, Any] = field(default_factory=dict)  # how it was made
    calibration: Mapping[str, Any] | None = None  # of its decisions now, as plain values
    name: str = ""
    note: str = ""
    archived: Archived | None = None  # None where it is in the lists of runs
    review_seed: int = DEFAULT_SEED  # by which a random sample of it is reviewed

    @property
    def complete(self) -> bool:
        return self.judged == self.identity.items

    @property
    def order_seed(self) -> int | None:
        """By which seed its instructions are judged in a random order; None for the order of its file."""
        order = self.manifest.get(RANDOM_ORDER)
        seed = order.get("seed") if isinstance(order, Mapping) else None
        return seed if type(seed) is int else None

    @property
    def until(self) -> StoppingRule | None:
        """The question that it was to answer last; None for the whole of its file, and for tuning."""
        if self.order_seed is None or self.is_tuning:
            return None
        width = self.manifest[RANDOM_ORDER].get("width")
        rule = {"width": 100 * width if width else None, "seed": self.order_seed}
        return record_or(rule, StoppingRule, None)

    @property
    def is_tuning(self) -> bool:
        return self.order_seed is not None and bool(self.manifest[RANDOM_ORDER].get(TUNING))

    @property
    def stopped_early(self) -> bool:
        """It was to stop once something was clear, and items are left."""
        return self.is_random_part and not self.is_tuning

    @property
    def is_random_part(self) -> bool:
        return self.order_seed is not None and not self.complete

    @property
    def is_sample(self) -> bool:
        """What is judged so far was drawn at random, instruction by instruction."""
        return self.is_random_part and not self.manifest[RANDOM_ORDER].get("after")

    @property
    def sample_in_short(self) -> str:
        """`, a random sample`, behind how many items are judged; empty where they are none."""
        return ", a random sample" if self.is_sample else ""

    @property
    def sample_in_words(self) -> str:
        """`a random sample, 40 of 805 items, by seed 0`; empty where it is none."""
        if not self.is_sample:
            return ""
        leaves_out = self.manifest[RANDOM_ORDER].get("leaves_out")
        each = ", as many of each candidate as needed" if leaves_out else ""
        items = self.identity.items
        return f"a random sample, {self.judged:,} of {items:,} items, seed {self.order_seed}{each}"

    @property
    def submitted(self) -> bool:
        """It has labels alone, and items without: an opened submission, or labels by hand."""
        return self.by_hand or self.identity.kind is RunKind.SUBMITTED

    @property
    def by_hand(self) -> bool:
        """No judge is in it: annotators label its items."""
        return self.identity.kind is RunKind.BY_HAND

    @property
    def panel(self) -> bool:
        return self.identity.kind is RunKind.PANEL

    @property
    def by_a_model(self) -> bool:
        """A model judged it here: it could be asked again."""
        return self.identity.kind is RunKind.JUDGED

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of a jury's judges, in the order of their numbers; none of any other run."""
        return tuple(str(each.get("name")) for each in self.manifest.get(JUDGES, ()))

    @property
    def deciding_together(self) -> int:
        """How many judges decide each judgment of a jury; 0 for all others, of a cascade one does."""
        return 0 if CASCADE in self.manifest else len(self.judges)

    @property
    def kind_word(self) -> str:
        """`run`, `submission`, `jury`, `cascade`, or `labels by hand`."""
        kinds = {RunKind.JUDGED: "run", RunKind.PANEL: "jury", RunKind.BY_HAND: BY_HAND}
        return CASCADE if CASCADE in self.manifest else kinds.get(self.identity.kind, "submission")

    @property
    def cascade_in_words(self) -> str:
        """`run 3, else run 4 below 0.93`; empty for all others."""
        below: dict[str, list[str]] = {}
        thresholds = self.manifest.get(CASCADE, {})
        for name, each in ((name, thresholds[name]) for name in self.identity.criteria if name in thresholds):
            at = each.get("confidence")
            by = " of agreement" if each.get("measure") == "agreement" else ""
            below.setdefault("for all" if at is None else f"below {at:.3g}{by}", []).append(words(name))
        if not below:
            return ""
        first, second = (f"run {each['run']}" for each in self.manifest[JUDGES])
        several = len(below) > 1
        said = [f"{how} on {' and '.join(names)}" if several else how for how, names in below.items()]
        return f"{first}, else {second} {', '.join(said)}"

    @property
    def judges_of_labels(self) -> frozenset[int]:
        """The numbers of a jury's judges that gave labels alone: submissions, be they runs or not; of a
        cascade both, for what its judges decided is kept.
        """
        judges, in_turn = enumerate(self.manifest.get(JUDGES, ()), start=1), CASCADE in self.manifest
        return frozenset(
            number for number, judge in judges if in_turn or "run" not in judge or judge.get("orders") == []
        )

    @property
    def in_both_orders(self) -> bool:
        """Whether its judge, or as far as is known all judges of a jury, read both orders of items."""
        if not self.panel:
            return len(self.identity.orders) > 1
        return all(len(judge.get("orders", ())) != 1 for judge in self.manifest.get(JUDGES, ()))

    @property
    def why_over(self) -> str:
        if self.submitted:
            return "no model judges in it" if self.by_hand else "it was opened as a file"
        if self.panel:
            return f"a {self.kind_word} is computed in one step"
        return f"all its {self.identity.items:,} items are judged" if self.complete else ""

    @property
    def columns(self) -> ColumnMap | None:
        """By which map its dataset was read, in the latest session that had one; None for our own columns."""
        sessions = (*reversed(self.manifest.get(CONTINUED, [])), self.manifest)
        maps = (ColumnMap.of_json(session.get(COLUMNS)) for session in sessions)
        return next(filter(None, maps), None)

    @property
    def device_left(self) -> bool:
        return DEVICE_LEFT in self.manifest

    @property
    def device_left_in_words(self) -> str:
        """When its device failed, why, and what went on; empty where none did."""
        left = self.manifest.get(DEVICE_LEFT)
        rest = "judged the rest" if self.complete else "continues"
        return f"A GPU failed in this run: {left}. The processor {rest}." if left else ""

    @property
    def manifest_in_short(self) -> Mapping[str, Any]:
        """How it was made, for users: `threads: 8 at most, depending on the load`."""
        return {name: _in_short(value) for name, value in _in_short(self.manifest).items()}

    @property
    def title(self) -> str:
        """`Run 7`, `Run 7 “night”`, `Submission x.tsv`, `Labels by hand 3`; long names are shortened."""
        return capitalised(self.called.removeprefix("the ") if self.submitted else self.called)

    @property
    def called(self) -> str:
        """Within a sentence: `run 7`, `run 7 “night”`, `the submission baseline.tsv`."""
        of = f" {short_name(self.identity.model_name)}" if self.submitted and not self.by_hand else ""
        return f"{self.in_short}{of} “{short_name(self.name)}”" if self.name else f"{self.in_short}{of}"

    @property
    def in_short(self) -> str:
        """On a button: `run 7`, `the submission`."""
        if self.submitted and not self.by_hand:
            return "the submission"
        return f"{self.kind_word} {self.id}" if self.id else f"the {self.kind_word}"

    @property
    def said(self) -> dict[str, Any]:
        return {"name": self.name, "note": self.note, "archived": self.archived}

    def found_by(self, text: str) -> bool:
        identity, judged_by = self.identity, self.manifest_in_short.get(CLUSTER, "")
        made = {**identity.settings_in_short, **self.manifest_in_short, CLUSTER: judged_by}
        facts = (f"{words(key)} {value_in_words(value)}" for key, value in made.items() if value != "")
        named = (f"run {self.id}", self.name, self.note, identity.model_name, str(identity.model_path))
        rubric = identity.rubric.name if identity.rubric else ""
        what = (str(identity.dataset_path), identity.kind, rubric, *map(words, identity.criteria))
        searched = "\n".join((*named, *what, *facts)).casefold()
        return all(word in searched for word in text.casefold().split())

    @property
    def stem(self) -> str:
        """How the names of files made of it begin: `run-7-demo-demo-judge`, `baseline-reviewed`."""
        if self.submitted and not self.by_hand:
            return f"{file_stem(self.identity.model_path.stem, _LONGEST_STEM)}-reviewed"
        files = (self.identity.dataset_path.stem, "" if self.by_hand else self.identity.model_name)
        parts = (file_stem("-".join(each.split()), _LONGEST_PART) for each in files)
        return "-".join([*self.kind_word.split(), str(self.id), *filter(None, parts)])

    @property
    def not_in_dataset(self) -> tuple[str, ...]:
        """The ids of an opened submission that its dataset lacks: these rows are omitted."""
        return tuple(self.manifest.get(NOT_IN_DATASET, ()))


@dataclass(frozen=True)
class DamagedRun:
    """A run of the store that cannot be read: its number, its judged items, what is wrong with it."""

    id: int
    judged: int
    problem: str
    hint: Hint
    name: str = ""  # what users wrote of it cannot be trusted
    note: str = ""
    archived: Archived | None = None

    @property
    def title(self) -> str:
        return f"Run {self.id} (damaged)"

    @property
    def called(self) -> str:
        return f"run {self.id} (damaged)"

    def found_by(self, text: str) -> bool:
        return all(word in self.called for word in text.casefold().split())


AnyRun = StoredRun | DamagedRun  # what stands in the list of all runs


def _in_short(made: Any) -> Any:
    """A manifest or a part of it: later sessions, and what was written again, are lists of others."""
    if isinstance(made, list):
        return list(map(_in_short, made))
    if not isinstance(made, Mapping):
        return made
    words: dict[str, Any] = {}
    if CLUSTER in made:
        words[CLUSTER] = [kind_in_words(kind) for kind in made[CLUSTER]]
    if made.get(THREADS_ADAPT):
        words["threads"] = f"{made.get('threads')} at most, depending on the load"
    if columns := ColumnMap.of_json(made.get(COLUMNS)):
        words[COLUMNS] = columns.in_words
    if isinstance(order := made.get(RANDOM_ORDER), Mapping):
        after = f", after {order.get('after')} items" if order.get("after") else ""
        words[RANDOM_ORDER] = f"seed {order.get('seed')}{after}"
    # Each is said in words of its own, or of no use to read.
    beside = (THREADS_ADAPT, TRUST, EXAMPLES_SHOWN, CASCADE)
    return {name: value for name, value in {**made, **words}.items() if name not in beside}


def kind_in_words(kind: Mapping[str, Any]) -> str:
    """A kind of computers in the manifest of a run, and how many items it judged: never their places."""
    facts = (str(value) for name, value in kind.items() if name != PLACES and value)
    places = [part.split("-") for part in str(kind.get(PLACES, "")).split(",") if part]
    items = sum(int(place[-1]) - int(place[0]) + 1 for place in places)
    return f"{counted(items, 'item', 'items')} by {', '.join(facts)}"


def what_is_joined(run: StoredRun, added: int = 0, by: Sequence[str] = ()) -> str:
    """On which items a submission answers; `added`: how many others were labelled `by` annotators."""
    identity, name = run.identity, short_name(run.identity.model_name)
    dataset = short_name(identity.dataset_path.name)
    if run.by_hand:
        by_whom = f", by {listed(list(map(short_name, by)))}" if by else ""
        return f"{added:,} of the {identity.items:,} items of {dataset} are labelled by hand{by_whom}."
    joined = (
        f"{name} has predictions for {run.judged:,} of the {identity.items:,} items of {dataset}, matched by"
        " id."
    )
    if added:
        answered = run.judged + added
        sample_size = "All" if answered == identity.items else f"{answered:,} of the"
        joined = (
            f"{sample_size} {identity.items:,} items of {dataset} have predictions: {run.judged:,} by {name},"
            f" matched by id, {added:,} by {listed(list(map(short_name, by)))}."
        )
    extra = run.not_in_dataset
    omitted = f" Omitted, because the dataset lacks them ({len(extra):,}): {listed(extra)}."
    return joined + (omitted if extra else "")


def how_to_complete(lacking: int) -> str:
    """A sentence on the items that neither an opened submission nor annotators label; empty for none."""
    items = "The missing item is" if lacking == 1 else f"The {lacking:,} missing items are"
    return f"{items} in Review, by uncertainty first: labels given there complete it." if lacking else ""


@dataclass(frozen=True)
class Effort:
    seconds: float
    tokens_read: int
    tokens_generated: int


def checked_name(name: str, run: str = "the run") -> str:
    """A name for a run, on one line; empty for none. SetupError, of `run`, for what is no name."""
    name = " ".join(name.split())
    if len(name) > LONGEST_NAME:
        raise SetupError(
            f"The name of {run} has {len(name):,} characters.",
            f"Use {LONGEST_NAME} at most; a note may be longer.",
        )
    if not name.isprintable():
        raise SetupError(f"The name of {run} has characters that cannot be shown: {name!r}.", "Remove them.")
    return name


def checked_note(note: str, run: str = "the run") -> str:
    note = note.strip()
    if len(note) > LONGEST_NOTE:
        raise SetupError(f"The note of {run} has {len(note):,} characters.", f"Use {LONGEST_NOTE:,} at most.")
    return note


def refuse_unasked(run: StoredRun, request: str) -> None:
    """Raise SetupError where no model judged a run here; `request`: what it is no good for, as `be asked`."""
    refuse_submitted(run, request)
    if run.panel:
        raise SetupError(
            f"{run.title} has {len(run.judges)} judges, so it cannot {request}.",
            "Choose the run of one of its judges.",
        )


def refuse_submitted(run: StoredRun, request: str) -> None:
    """The same for a run of labels alone; `request` may be `be calibrated`."""
    if run.by_hand:
        raise SetupError(f"{run.title}: no model judged, so they cannot {request}.", Hint(Step.CHOOSE_RUN))
    if run.submitted:
        raise SetupError(
            f"Run {run.id} is the submission {run.identity.model_name}: it has labels without probabilities,"
            f" and its model is not known, so it cannot {request}.",
            Hint(Step.CHOOSE_RUN),
        )
