"""What a run says by itself, by each elicitation method too; its facts, also next to those of another run."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from engine.annotations.records import LAST
from engine.core.errors import ModelFileError
from engine.core.formatting import best_of, duration, value_in_words, words
from engine.core.items import METHOD_TITLES, PREFERENCES, Method, Order, Tie, labels_beside
from engine.core.judgments import JudgedItem, Judgment, Unscored, label_of
from engine.core.tables import Column, Facts, Kind, Part, Row, Section, Sentences, Table, Tone
from engine.data.dataset import Dataset
from engine.metrics.accuracy import Accuracy, LabelCounts, count_run, mean, mean_accuracy, run_accuracy
from engine.metrics.intervals import Interval, cost_of_choosing
from engine.models.model_file import ModelFile, read_model_file
from engine.report import columns
from engine.results.run_results import ALL_METHODS, RunResults
from engine.results.second_order import read_in_words
from engine.results.trust import valid_trust
from engine.settings import identity as stored
from engine.settings.identity import Effort, StoredRun
from engine.settings.rows import SETTINGS

_WORDS = {
    **{row.key: row.fact for row in SETTINGS},
    stored.DEVICE: "GPU of the run",
    stored.COMPUTED_ON: "computed on",
    stored.DRIVER: "driver of the GPU",
    stored.GPU_LAYERS: "GPU layers",
    stored.DEVICE_LEFT: "fallback from GPU to CPU",
    stored.CONTINUED: "continued with",
    stored.REWRITTEN: "explanations written again",
    stored.RANDOM_ORDER: "instructions in a random order",
    "llama_cpp": "llama.cpp",
    "examples": "labelled examples, SHA-256",
    "shown_texts": "contexts or reference answers, SHA-256",
    "chat_format_hash": "chat format, SHA-256",
    "chat_template_hash": "chat template, SHA-256",
    "model_bytes": "model, bytes",
}
"""Titles of settings and manifest entries whose names are not clear enough."""
NEVER_ALIKE = ("run", "name", "note", "archived")
TIMES = ("time for judging", "seconds for an item")
"""With NEVER_ALIKE, facts that always differ between two runs, so that the difference means nothing."""

Pair = tuple[str, str]


def run_facts(results: RunResults, questions: bool = False) -> Facts:
    """Of a run: how it was made, what it took, what annotators changed; `questions`: all that was asked."""
    run, calibration = results.run, results.calibration
    by_whom = results.overridden.by_whom if results.overrides else "nothing"
    if results.overrides and results.source != LAST:
        by_whom = f"{by_whom} (the labels used: {results.source.in_words})"
    given = "labels" if run.by_hand else "human overrides"
    made, overridden = stored_facts(run, questions), (given, by_whom)
    kept = valid_trust(results)
    stand = [("labels that may stand", f"{kept.thresholds_in_words}: {kept.in_words}")] if kept else []
    if run.submitted:
        return Facts([*made, ("joined", results.joined_in_words), overridden])
    fitted = f"{calibration.hash}, fitted {results.calibrated_in_words}" if calibration else "none"
    shortened = sum(item.shortening is not None for item in results.judged)
    read = [] if run.panel else [("read in", read_in_words(results))]
    cut = [] if run.panel else [("items shortened", f"{shortened:,}")]
    of_labels = ("calibration", fitted), *stand, *read, overridden, *cut
    return Facts([*made, *of_labels, *effort_facts(results.judged)])


def stored_facts(run: StoredRun, questions: bool = False) -> Iterator[Pair]:
    identity = run.identity
    rubric = "rubric", " ".join(f"{identity.asked.name}. {identity.asked.source}".split())
    opened, answered = ("opened", "answered") if run.submitted else ("created", "judged")
    yield "run", f"{run.id}, {'begun' if run.by_hand else opened} {run.created:%Y-%m-%d %H:%M} UTC"
    if run.name:
        yield "name", run.name
    if run.note:
        yield "note", run.note
    if run.archived:
        yield "archived", f"{run.archived.when:%Y-%m-%d %H:%M} UTC, by {run.archived.by}"
    far = f"{run.judged:,} of {identity.items:,} {answered}{run.sample_in_short}"
    yield "items", f"{identity.items:,}" if run.by_hand else far
    yield "dataset", identity.dataset_path.name
    yield "dataset file", str(identity.dataset_path)
    yield "dataset, SHA-256", identity.dataset_hash
    yield "criteria", ", ".join(map(words, identity.criteria))
    if run.by_hand:
        yield rubric
        return
    if run.submitted:
        yield "submission", identity.model_name
        yield "submission file", str(identity.model_path)
        yield "submission, SHA-256", identity.model_hash
        return
    if run.panel:
        yield from _panel_facts(run)
        return
    yield "model", identity.model_name
    yield "model file", str(identity.model_path)
    yield "model, SHA-256", identity.model_hash
    yield "prompt version", identity.prompt_version
    yield rubric
    if questions:
        for criterion in identity.asked.criteria:
            yield f"question, {words(criterion.name)}", " ".join(" ".join(criterion.asked[1:]).split())
        for name, text in identity.asked.wording.own.items():
            yield f"wording, {words(name)}", " ".join(text.split())
    for name, value in {**identity.settings_in_short, **run.manifest_in_short}.items():
        if value != "":
            shown = [METHOD_TITLES.get(each, each) for each in value] if name == "ways" else value
            yield _WORDS.get(name, words(name)), value_in_words(shown)


def _panel_facts(run: StoredRun) -> Iterator[Pair]:
    for number, judge in enumerate(run.manifest.get(stored.JUDGES, ()), start=1):
        yield f"judge {number}", f"{judge['name']}: {judge.get('what', '')}"
    if run.cascade_in_words:
        yield "decided by", run.cascade_in_words
    if stored.CERTAINTY in run.manifest:
        yield "certainty of labels", f"{run.manifest[stored.CERTAINTY]}"


def effort_facts(items: Sequence[JudgedItem | Effort]) -> Iterator[Pair]:
    if items:
        seconds = sum(item.seconds for item in items)
        yield "tokens read", f"{sum(item.tokens_read for item in items):,}"
        yield "tokens generated", f"{sum(item.tokens_generated for item in items):,}"
        yield TIMES[0], duration(seconds)
        yield TIMES[1], f"{seconds / len(items):.2f}"


def judged_model(run: StoredRun) -> ModelFile | None:
    """The model file of a run, where a file of the same name and size is still there."""
    with suppress(ModelFileError, OSError):
        path = run.identity.model_path
        model = read_model_file(path)
        # Tiebreak once stored the name in the header, and the file's where there was none.
        names = (model.name, model.title or path.stem)
        if model.size_bytes == run.manifest.get("model_bytes") and run.identity.model_name in names:
            return model
    return None


_DISTRIBUTION = (
    columns.CRITERION,
    *columns.LABELS_GIVEN,
    columns.FLIPPED,
    replace(columns.ANSWER_MASS, least=0.001),
)
_RUN_ACCURACY = (
    columns.CRITERION,
    columns.LABELS,
    columns.ACCURACY,
    columns.SHARE_INTERVAL,
    replace(columns.MOST_FREQUENT, title="most-frequent-label baseline"),
    Column("label", "label", Kind.TEXT, "The most frequent human label."),
)
_CHANGES = (
    columns.CRITERION,
    Column("calibrated", "calibrated?", Kind.FLAG, "Whether the calibration decides this criterion."),
    Column("items", "items", Kind.COUNT, "How many items of the run were judged on this criterion."),
    Column(
        "changed", "labels changed", Kind.COUNT, "How many of the judge's labels the calibration changes."
    ),
    Column("place_decides", "flip rate", Kind.SHARE).means(
        "The share of labels that depend on which response is A, of those read in both orders: 0 if the"
        " calibration treats A and B alike."
    ),
    Column("one_label", "one label", Kind.TEXT).means(
        "The label that every item of the run gets with it; empty if there are several."
    ),
)
_UNSCORED = (
    Column("item", "item", Kind.TEXT, "The id of the item."),
    columns.CRITERION,
    Column("reason", "reason", Kind.TEXT, "Why it is unscored."),
    Column("label", "human override", Kind.TEXT, "The human override, if any."),
)

_METHOD = Column("way", "method", Kind.NAME, instead={method.value: method.title for method in Method}).means(
    "The elicitation method. A method's labels are from its raw predictions only, without calibration."
)
_JUDGE = replace(_METHOD, title="judge", meaning="The judge of the jury, by its number and name.")
_OF_METHODS = (
    "The labels of the judge by each elicitation method, and by all methods combined: without"
    " calibration and without human overrides."
)
_OF_JUDGES = (
    "The labels of each judge of the jury, by its number, and of all combined by the mean of their"
    " log-probabilities: without calibration and without human overrides."
)

AccuracyByMethod = Mapping[str, Mapping[str, Accuracy]]
"""By method (all combined, too) and criterion."""


def labels_given_section(results: RunResults) -> Section:
    if results.run.by_hand:
        what = "On how many items each label is effective, and how many labels each annotator gave."
        return Section("labels_given", "Labels by hand", [by_hand_table(results)], what)
    missing = results.judges_missing_sentence
    return Section(
        "labels_given",
        "Labels given",
        [distribution_table(count_run(results)), *([Sentences([missing], Tone.CAVEAT)] if missing else ())],
        "The effective labels. Flip rate: the share of position-inconsistent judgments, where the label"
        " changes if the responses are swapped. Answer mass near 1: the model understood the question.",
    )


def distribution_table(counts: Sequence[LabelCounts]) -> Table:
    partly = any(count.partly_in_both_orders for count in counts)
    labels = labels_beside({label for count in counts for label in count.predicted})
    rows: list[Row] = [
        [
            words(count.criterion),
            *(count.predicted.get(label, 0) for label in labels),
            count.unscored,
            count.flipped,
            *([count.in_both_orders] if partly else []),
            count.answer_mass,
        ]
        for count in counts
    ]
    shown = columns.with_both_orders(_DISTRIBUTION) if partly else _DISTRIBUTION
    return Table(columns.with_human_ties(shown) if Tie.TIE in labels else shown, rows)


def by_hand_table(results: RunResults) -> Table:
    """By criterion how often each label is given, on how many items none is, and who gave how many."""
    given = {name: Counter(key.criterion for key in own) for name, own in results.reviews.labels.items()}
    rows: list[Row] = []
    for count in count_run(results):
        unlabelled = results.run.identity.items - count.items + count.unscored
        labels = (count.predicted.get(label, 0) for label in PREFERENCES)
        of_each = (own[count.criterion] for own in given.values())
        rows.append([words(count.criterion), *labels, unlabelled, *of_each])
    none = Column("unlabelled", "not labelled", Kind.COUNT, "Items without a label.")
    who = [Column(f"by_{place}", name, Kind.COUNT, f"Labels by {name}.") for place, name in enumerate(given)]
    return Table((columns.CRITERION, *columns.LABELS_GIVEN[:-1], none, *who), rows)


def run_accuracy_table(accuracies: Mapping[str, Accuracy]) -> Table:
    rows: list[Row] = [
        [words(name), found.items, found.share, found.interval, found.baseline, found.most_frequent]
        for name, found in accuracies.items()
    ]
    shares = mean(found.share for found in accuracies.values())
    baselines = mean(found.baseline for found in accuracies.values())
    return Table(_RUN_ACCURACY, [*rows, ["mean", "", shares, _of_mean(accuracies), baselines, ""]])


def _of_mean(accuracies: Mapping[str, Accuracy]) -> Interval | None:
    found = mean_accuracy(accuracies)
    return found.share_interval() if found else None


def changes_section(before: RunResults, after: RunResults) -> Section:
    parts: list[Part] = [changes_table(before, after)]
    parts += [Sentences([said])] if (said := after.fit_in_words) else []
    return Section("changes", "Labels that the calibration changes", parts)


def changes_table(before: RunResults, after: RunResults) -> Table:
    rows: list[Row] = []
    for name, column in after.judgments.items():
        pairs = zip(column, before.judgments[name], strict=True)
        changed = sum(label_of(judgment) is not label_of(other) for judgment, other in pairs)
        used = after.calibration is not None and name in after.calibration.criteria
        one = after.one_labels.get(name)
        share = mean(each.place_decides for each in column if isinstance(each, Judgment))
        rows.append([words(name), used, len(column), changed, share, one.in_words if one else ""])
    return Table(_CHANGES, rows)


def unscored_table(results: RunResults) -> Table:
    """What could not be judged, with the reason and what an annotator gave instead, if anything."""
    rows: list[Row] = [
        [judgment.item_id, judgment.criterion, judgment.reason, results.label(judgment)]
        for of_item in zip(*results.judgments.values(), strict=True)
        for judgment in of_item
        if isinstance(judgment, Unscored) and not results.run.by_hand
    ]
    item, criterion, *others = _UNSCORED
    criterion = replace(criterion, instead={name: words(name) for name in results.run.identity.criteria})
    return Table((item, criterion, *others), rows)


def method_sections(results: RunResults | None, dataset: Dataset | None = None) -> list[Section]:
    """The methods of a run, compared with the labels of a dataset; none where there is one method."""
    by_method = results.by_method() if results else {}
    right = {name: {} if dataset is None else run_accuracy(each, dataset) for name, each in by_method.items()}
    table = method_table(by_method, right)
    if table is None:
        return []
    what, title, note = "methods", "By elicitation method", _OF_METHODS
    if results is not None and results.run.panel:
        what, title, note = "judges", "By judge of the jury", _OF_JUDGES
    # All together is what a run decides by: it was not chosen.
    alone = [mean_accuracy(found) for name, found in right.items() if name != ALL_METHODS]
    chosen = best_of(what, cost_of_choosing(alone))
    return [Section("ways", title, [table, *([Sentences(chosen)] if chosen else ())], note)]


def method_table(by_method: Mapping[str, RunResults], right: AccuracyByMethod) -> Table | None:
    """A row for all methods combined, one for each; None for one method. `right`: of each, by criterion."""
    if not by_method:
        return None
    criteria = tuple(right[ALL_METHODS])
    method = _JUDGE if by_method[ALL_METHODS].run.panel else _METHOD
    shown = (
        method,
        *((columns.ACCURACY, columns.SHARE_INTERVAL) if criteria else ()),
        *(Column(name, words(name), Kind.SHARE, f"The accuracy on {words(name)}.") for name in criteria),
        *((columns.FLIPPED,) if Order.BA in by_method[ALL_METHODS].run.identity.orders else ()),
        columns.ANSWER_MASS,
    )
    rows: list[Row] = []
    for name, each in by_method.items():
        shares = {criterion: found.share for criterion, found in right[name].items()}
        counts = count_run(each)
        values = {
            **shares,
            _METHOD.key: name,
            columns.ACCURACY.key: mean(shares.values()),
            columns.SHARE_INTERVAL.key: _of_mean(right[name]),
            columns.FLIPPED.key: mean(count.flipped for count in counts),
            columns.ANSWER_MASS.key: mean(count.answer_mass for count in counts),
        }
        rows.append([values[column.key] for column in shown])
    return Table(shown, rows)


_HASH_SHOWN = 12  # letters: enough to tell two apart
_HASH_OF_ITEMS = "dataset, SHA-256"
ITEMS_OF_BOTH = "items in both runs"


def differences_table(
    first: StoredRun, other: StoredRun, efforts: Mapping[int, Sequence[Effort]], common: int = 0
) -> Table:
    """Facts of two runs, those that differ first; `efforts`: of their items, by the number of the run;
    `common`: how many items both judged with the same texts, said in the place of two hashes.
    """
    compared = (
        Column("fact", "fact", Kind.TEXT, "The fact that is compared."),
        Column("differs", "differs", Kind.FLAG, "Whether the two runs differ in it.", instead={False: ""}),
        *(
            Column(
                key, run.title, Kind.TEXT, f"Its value in the {key} run; a dash if it has none.", foreign=True
            )
            for key, run in (("first", first), ("other", other))
        ),
    )
    questions = first.identity.asked.asked != other.identity.asked.asked
    left, right = (_facts(run, efforts[run.id], questions) for run in (first, other))
    shared = [f"{common:,} of {run.judged:,}" for run in (first, other)]
    if common and shared[0] != shared[1] and left[_HASH_OF_ITEMS] != right[_HASH_OF_ITEMS]:
        left, right = (_in_words(facts, said) for facts, said in zip((left, right), shared, strict=True))
    facts, aside = dict.fromkeys((*left, *right)), (*NEVER_ALIKE, *TIMES)
    differing = [fact for fact in facts if fact not in aside and left.get(fact) != right.get(fact)]
    alike = [fact for fact in facts if fact not in aside and left.get(fact) == right.get(fact)]
    shown = [fact for fact in (*NEVER_ALIKE, *differing, *TIMES, *alike) if fact in facts]
    return Table(compared, [[fact, fact in differing, left.get(fact), right.get(fact)] for fact in shown])


def difference_count(table: Table) -> int:
    """In how many facts the two runs of such a table differ."""
    return sum(row[1] is True for row in table.rows)


def _in_words(facts: Mapping[str, str], shared: str) -> dict[str, str]:
    """The same with how many items are shared in the place of the hash of all of them."""
    instead = {_HASH_OF_ITEMS: (ITEMS_OF_BOTH, shared)}
    return dict(instead.get(fact, (fact, value)) for fact, value in facts.items())


def _facts(run: StoredRun, efforts: Sequence[Effort], questions: bool) -> dict[str, str]:
    facts = dict((*stored_facts(run, questions), *effort_facts(efforts)))
    facts |= {fact: facts[fact][:_HASH_SHOWN] for fact in facts if fact.endswith("SHA-256")}
    if run.calibration:
        facts["calibration"] = f"fitted on {run.calibration.get('dataset', {}).get('name', '')}"
    return facts
