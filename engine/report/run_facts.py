"""What is known of a run, as facts: in the terminal, in a report, and next to those of another run.

Knows: which facts there are, and by which words. Does not know: where they are shown, measures.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from engine.core.errors import ModelFileError
from engine.core.formatting import duration, value_in_words, words
from engine.core.judgments import JudgedItem
from engine.core.label_sources import LAST
from engine.core.run_records import (
    CERTAINTY,
    COMPUTED_ON,
    CONTINUED,
    DEVICE,
    DEVICE_LEFT,
    DRIVER,
    GPU_LAYERS,
    JUDGES,
    RANDOM_ORDER,
    REWRITTEN,
    Effort,
    StoredRun,
)
from engine.core.settings import SETTINGS
from engine.core.sheets import Facts
from engine.decisions.run_results import RunResults
from engine.decisions.second_order import read_in_words
from engine.gguf.judge_file import ModelFile, read_model_file

_WORDS = {
    **{row.key: row.fact for row in SETTINGS},
    DEVICE: "GPU of the run",
    COMPUTED_ON: "computed on",
    DRIVER: "driver of the GPU",
    GPU_LAYERS: "GPU layers",
    DEVICE_LEFT: "fallback from GPU to CPU",
    CONTINUED: "continued with",
    REWRITTEN: "explanations written again",
    RANDOM_ORDER: "instructions in a random order",
    "llama_cpp": "llama.cpp",
    "examples": "labelled examples, SHA-256",
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
    """Of a run, or of a part of its items: how it was made, what it took, what annotators changed.

    `questions`: with all that the model was asked.
    """
    run = results.run
    by_whom = results.overridden.by_whom if results.overrides else "nothing"
    if results.overrides and results.source != LAST:
        by_whom = f"{by_whom} (the labels used: {results.source.in_words})"
    overridden = ("human overrides", by_whom)
    if run.submitted:
        return Facts([*stored_facts(run), ("joined", results.joined_in_words), overridden])
    calibration = results.calibration
    fitted = f"{calibration.hash}, fitted {results.calibrated_in_words}" if calibration else "none"
    if run.panel:
        of_items = effort_facts(results.judged)
        return Facts([*stored_facts(run), ("calibration", fitted), overridden, *of_items])
    shortened = sum(item.shortening is not None for item in results.judged)
    return Facts(
        [
            *stored_facts(run, questions),
            ("calibration", fitted),
            ("read in", read_in_words(results)),
            overridden,
            ("items shortened", f"{shortened:,}"),
            *effort_facts(results.judged),
        ]
    )


def stored_facts(run: StoredRun, questions: bool = False) -> Iterator[Pair]:
    """What the store tells of a run, without its items."""
    identity = run.identity
    opened, answered = ("opened", "answered") if run.submitted else ("created", "judged")
    yield "run", f"{run.id}, {opened} {run.created:%Y-%m-%d %H:%M} UTC"
    if run.name:
        yield "name", run.name
    if run.note:
        yield "note", run.note
    if run.archived:
        yield "archived", f"{run.archived.when:%Y-%m-%d %H:%M} UTC, by {run.archived.by}"
    yield "items", f"{run.judged:,} of {identity.items:,} {answered}{run.sample_in_short}"
    yield "dataset", identity.dataset_path.name
    yield "dataset file", str(identity.dataset_path)
    yield "dataset, SHA-256", identity.dataset_hash
    yield "criteria", ", ".join(map(words, identity.criteria))
    if run.submitted:
        yield "submission", identity.model_name
        yield "submission file", str(identity.model_path)
        yield "submission, SHA-256", identity.model_hash
        return
    if run.panel:
        for number, judge in enumerate(run.manifest.get(JUDGES, ()), start=1):
            yield f"judge {number}", f"{judge['name']}: {judge.get('what', '')}"
        if CERTAINTY in run.manifest:
            yield "certainty of labels", f"{run.manifest[CERTAINTY]}"
        return
    yield "model", identity.model_name
    yield "model file", str(identity.model_path)
    yield "model, SHA-256", identity.model_hash
    yield "prompt version", identity.prompt_version
    yield "rubric", " ".join(f"{identity.asked.name}. {identity.asked.source}".split())
    if questions:
        for criterion in identity.asked.criteria:
            yield f"question, {words(criterion.name)}", " ".join(" ".join(criterion.asked[1:]).split())
        for name, text in identity.asked.wording.own.items():
            yield f"wording, {words(name)}", " ".join(text.split())
    for name, value in {**identity.settings_in_short, **run.manifest_in_short}.items():
        if value != "":
            yield _WORDS.get(name, words(name)), value_in_words(value)


def effort_facts(items: Sequence[JudgedItem | Effort]) -> Iterator[Pair]:
    """What judging these items took; nothing where there are none."""
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
