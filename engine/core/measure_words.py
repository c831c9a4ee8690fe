"""What measures mean, in a sentence or two: heads of columns, the report and the window's help say it alike.

Knows: words. Does not know: how anything is measured (`docs/measures.md` has the formulas), tables, windows.
"""

INTERVAL = (
    "Where the value would lie on other items of this kind: of a hundred such intervals 95 or more hold it."
    " Items of one instruction count as one as far as they are alike; few instructions make it wide."
)
KAPPA = "Cohen's kappa: agreement beyond chance. 0 is chance, 1 is complete; “-” where only one label occurs."
MACRO_F1 = (
    "The mean over the labels that occur of how well each is found, its F1 score (0 to 1): rare labels count"
    " as much as frequent ones."
)
BETTER = (
    "Is the judge better than the best of the trivial judges on these very items, which stands in brackets?"
    " “Yes”: the whole 95 % interval of the difference is above 0; “not surely”: it includes 0; “no”: the"
    " accuracy is not above it; “-”: fewer than ten instructions, too few to say."
)
ROUGE_L = (
    "How far the words of the judge's explanation are those of the human one in the same order, × 100. It"
    " measures likeness of words, not whether an explanation is right."
)
AGREEMENT = (
    "The share of explanations that a judge model calls accurate and in agreement with the human one, in"
    " percent."
)
SLICES_NOTE = (
    "Many slices are many comparisons: of twenty intervals one misses by chance alone, and the best and the"
    " worst slice look further apart than they are. A difference between slices is a question for new items,"
    " not yet an answer."
)
"""What is to be said under every table of slices."""
SCORE = "10 × (P(it is preferred) + P(both good)), 0 to 10"
"""What a response gets on a criterion where criteria are weighed."""


def best_of(what: str, choice: tuple[int, float] | None, by: str = "accuracy") -> list[str]:
    """A sentence on what choosing the best costs; none where that is not known, or nothing.

    `what`: what there are several of; `choice`: how many, and how much better the best looks than it is if
    all are equally good (0 to 1); `by`: by which measure.
    """
    if choice is None or not round(100 * choice[1], 1):
        return []
    candidates, excess = choice
    return [
        f"The best of {candidates:,} {what} is chosen by these items: if all were equally good, its {by}"
        f" would still look {100 * excess:.1f} points better than it is."
    ]
