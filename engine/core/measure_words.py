"""What measures mean, in a sentence or two, for column headers, the report and the window's help.

Knows: words. Does not know: how anything is measured (`docs/measures.md` has the formulas), tables, windows.
"""

INTERVAL = (
    "95 % confidence interval of the value for items of this kind: at least 95 of 100 such intervals contain"
    " it."
    " Items with the same instruction are one cluster; few instructions make the interval wide."
)
KAPPA = "Cohen's kappa: agreement beyond chance. 0 is chance, 1 is complete; “-” where only one label occurs."
MACRO_F1 = (
    "The mean F1 score (0 to 1) over the labels that occur: rare labels count as much as frequent ones."
)
BETTER = (
    "Is the judge better than the best baseline on the same items, which is given in brackets?"
    " “Yes”: the whole 95 % interval of the difference is above 0; “not significant”: it includes 0; “no”:"
    " the"
    " accuracy is not above it; “-”: fewer than ten instructions, too few to tell."
)
ROUGE_L = (
    "Overlap between the judge's explanation and the human one: words in the same order, × 100. It measures"
    " word overlap, not whether an explanation is right."
)
AGREEMENT = (
    "The percentage of explanations that a judge model finds accurate and in agreement with the human one."
)
SLICES_NOTE = (
    "Many slices mean multiple comparisons: one interval in twenty misses by chance, and the best and the"
    " worst slice look further apart than they are. Test a difference between slices on new items before you"
    " rely on it."
)
"""The note under every table of slices."""
SCORE = "10 × (P(it is preferred) + P(both good)), 0 to 10"
"""The score of a response on a criterion in weighted scoring."""


def best_of(what: str, choice: tuple[int, float] | None, by: str = "accuracy") -> list[str]:
    """A sentence on the optimism of selecting the best; none if that is not known, or nothing.

    `what`: what there are several of; `choice`: how many, and how much better the best looks than it is if
    all are equally good (0 to 1); `by`: by which measure.
    """
    if choice is None or not round(100 * choice[1], 1):
        return []
    candidates, excess = choice
    return [
        f"The best of {candidates:,} {what} is selected on these items: if all were equally good, its {by}"
        f" would still look {100 * excess:.1f} points better than it is."
    ]
