"""How a system was compared with human labels, as sentences for a paper.

Knows: which methods an evaluation uses. Does not know: formulas, how a paragraph is written, files.
"""

from collections.abc import Iterator, Sequence

from engine.core import VERSION
from engine.core.formatting import capitalised, counted, listed, words
from engine.measure.evaluation import Evaluation, wordless_in_words
from engine.report.methods import COMPUTED, Statement, labels_of_system
from engine.report.works import BERGER, COHEN, KORN_GRAUBARD, LIN, ZHANG, Reference

_MEASURES = f"Tiebreak {VERSION}, docs/measures.md"
_LABELS = f"{_MEASURES}, Labels"
_NUMBERS = (
    Statement(
        "Accuracy is the share of human labels that the judge also gives; a human label that is only"
        f" “tie” agrees with both kinds of ties. Its 95 % interval is that of {KORN_GRAUBARD.said} over"
        " instructions.",
        _LABELS,
        (KORN_GRAUBARD,),
    ),
    Statement(
        "It is compared with the best of four baselines that do not read the responses: the most"
        " frequent human label of these items, always A, the longer response, and a random label. The"
        f" judge beats the baseline if it is significantly better than each of them ({BERGER.short})."
        f" Kappa is Cohen's ({COHEN.short}), with unscored as a label of its own; macro-F1 is the mean"
        " over the labels that occur.",
        f"{_MEASURES}, Baselines",
        (BERGER, COHEN),
    ),
)


def evaluation_methods(
    evaluation: Evaluation, encoder: str | None = None, judge_model: str | None = None
) -> Sequence[Statement]:
    """What is to be said of it: its data, whose labels are measured, its numbers.

    `encoder`, `judge_model`: the models of BERTScore and of agreement, where these were measured.
    """
    said = [
        *_data(evaluation),
        *labels_of_system(evaluation.matched.system, None),
        _unscored(evaluation),
        *_NUMBERS,
    ]
    if evaluation.explanations:
        said.append(_explanations(evaluation, encoder, judge_model))
    return [*said, COMPUTED]


def _data(evaluation: Evaluation) -> Iterator[Statement]:
    matched = evaluation.matched
    dataset = matched.dataset
    items = matched.labelled_items
    labels = sum(map(len, matched.pairs.values()))
    criteria = ", ".join(f"{words(name)} ({len(pairs):,})" for name, pairs in matched.pairs.items())
    several = any(pair.gold.annotators for pairs in matched.pairs.values() for pair in pairs)
    majority = " If several annotators labelled an item, their majority label counts." if several else ""
    yield Statement(
        f"{capitalised(evaluation.name)} was compared with"
        f" {counted(labels, 'human label', 'human labels')} of {counted(len(items), 'item', 'items')},"
        " pairs of responses to"
        f" {counted(len({item.group for item in items}), 'instruction', 'instructions')}, on"
        f" {counted(len(matched.pairs), 'criterion', 'criteria')}: {criteria}.{majority}",
        f"{dataset.path.name}, the columns of human labels; SHA-256 of its texts {dataset.hash}",
    )
    if known := [*matched.left_out, *matched.caveats]:
        yield Statement(" ".join(map(_sentence, known)), f"{dataset.path.name}, {evaluation.name}")


def _unscored(evaluation: Evaluation) -> Statement:
    """How many labels the system lacks, and how they count."""
    lacking = {name: one.unscored for name, one in evaluation.labels.items() if one.unscored}
    of = counted(sum(one.items for one in evaluation.labels.values()), "human label", "human labels")
    if not lacking:
        return Statement(f"The judge has a label for each of the {of}: none is unscored.", _LABELS)
    each = ", ".join(f"{words(name)} ({count:,})" for name, count in lacking.items())
    are = "is" if sum(lacking.values()) == 1 else "are"
    return Statement(
        f"Of the {of} {sum(lacking.values()):,} {are} unscored by the judge and count as wrong: {each}.",
        _LABELS,
    )


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _explanations(evaluation: Evaluation, encoder: str | None, judge_model: str | None) -> Statement:
    """Of the measures of explanations that were taken, and what they are without."""
    found = evaluation.explanations.values()
    of, lacking, unmeasured = (
        sum(getattr(one, name) for one in found) for name in ("items", "unexplained", "unmeasured")
    )
    by_words = any(one.rouge_l is not None for one in found)
    taken: list[tuple[str, Reference | None]] = [(f"ROUGE-L ({LIN.short})", LIN)] if by_words else []
    if encoder is not None:
        taken.append((f"BERTScore ({ZHANG.short}) by the encoder {encoder}", ZHANG))
    if judge_model is not None:
        taken.append((f"whether the judge model {judge_model} rates them as agreeing", None))
    named = listed([name for name, _ in taken], shown=str)
    held = [f"Explanations are compared with human ones by {named}."] if taken else []
    lacks = [f"The judge explains {of - lacking:,} of {of:,}; the others count 0."] if lacking else []
    if unmeasured:
        lacks.append(
            f"The judge model could not rate {unmeasured:,} of them; these are omitted from the agreement."
        )
    return Statement(
        " ".join(filter(None, (*held, *lacks, wordless_in_words(found)))),
        f"{_MEASURES}, Explanations",
        tuple(work for _, work in taken if work is not None),
    )
