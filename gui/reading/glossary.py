"""The words of the window, each explained in a few lines: the one place where this is written.

Knows: what the words mean; `docs/` says the same at length. Does not know: where they stand in the window.
"""

from dataclasses import dataclass
from enum import Enum

from engine.core import measure_words
from engine.core.remedies import Setting
from gui.kit.remedies import FIELDS


class Topic(Enum):
    """A word that is explained. The value is its heading."""

    LABELS = "Labels"
    RUBRIC = "Rubric"
    DOUBT = "Doubt"
    FORMAT_MASS = "Format mass"
    FLIPPED = "Flipped"
    MARKS = "Marks and states"
    HEALTH = "Does the model judge?"
    CALIBRATION = "Calibration"
    LEARNING = "Learning curve"
    WEIGHTS = "Weights"
    TIE_THRESHOLD = "Tie threshold"
    INTERVAL = "95 % interval"
    KAPPA = "Kappa"
    MACRO_F1 = "Macro-F1"
    ROUGE_L = "ROUGE-L"
    AGREEMENT = "Agreement"
    SLICE = "Slice"
    RANKING = "Ranking"
    CONTEXT = "Context"


@dataclass(frozen=True)
class Meaning:
    """`text`: paragraphs, a line each. `page`: the page of `docs/` that says more."""

    text: str
    page: str


GLOSSARY: dict[Topic, Meaning] = {
    Topic.LABELS: Meaning(
        "Each judgment is one of four labels: A or B, the better response; both good; both bad.\n"
        "The label comes from the probabilities that the model gives to the four, averaged over both orders"
        " of the responses. Unscored: there is no label, and the reason is said.\n"
        "In force: the settled label, else what people said last, else the judge's.",
        "how-it-judges.md",
    ),
    Topic.RUBRIC: Meaning(
        "What is asked of each pair: criteria, each with a question and perhaps with what makes a response"
        " good or bad on it, and the words of the prompt around them. The task's five criteria are one"
        " rubric; others come along, and you can write your own.\n"
        "Human labels are read from the columns that begin with the names of its criteria. Another question"
        " or another wording is another run; a run keeps the rubric that it was judged by.",
        "rubrics.md",
    ),
    Topic.DOUBT: Meaning(
        "How much a look at a judgment is worth, from 0 to 1. It is 1 minus the margin: the probability of"
        " the likeliest label minus that of the next.\n"
        "The margin is halved for each of these: the two orders disagree; the label of overall quality is"
        " another response than the winner of the weighted judge; the explanation was written for another"
        " label.\n"
        "It is 1 where there is no label, and 0 where a person decided. The doubt of an item is the highest"
        " of its judgments.\n"
        "Labels that you give in order of doubt are of the hardest items. To measure, go down the random"
        " sample instead (the order of the list).",
        "how-it-judges.md",
    ),
    Topic.FORMAT_MASS: Meaning(
        "How much of all probability the model gives to the four labels, together. The rest goes to words"
        " that are no answer.\n"
        "Near 100 %: the model understood the question. Well below: it did not, and its labels mean little.",
        "how-it-judges.md",
    ),
    Topic.FLIPPED: Meaning(
        "Each pair is read twice, with the responses in either order. A judgment is flipped (⇄) where the two"
        " orders alone would give different labels: there the place of a response counted, not only its"
        " text.\n"
        "A run can read the second order only where the first leaves a label in doubt. Of the other judgments"
        " it is not known whether they are flipped, and they are not counted.",
        "how-it-judges.md",
    ),
    Topic.MARKS: Meaning(
        "Marks in the list of Review, each with the number of criteria: ⇄ the two orders disagree; ⚖ the"
        " judges of a panel disagree, or not all of them said anything; ≠ the label differs from the human"
        " one; ✎ a person gave label or explanation; ! the explanation was written for another label; ∅ the"
        " submission does not answer; * you began an explanation or a note, and have not saved it.\n"
        "States say how far you are with an item: to do; ✓ done, you confirmed its labels with Enter,"
        " or labelled the criterion that is chosen above the list; » skipped. Each person has his own.",
        "window.md",
    ),
    Topic.HEALTH: Meaning(
        "Some models never understood the question, or give the same answer whatever they read. That can be"
        " seen without human labels, from 10 items on. A limit counts where chance does not explain it.\n"
        "Look closely: the format mass of a criterion is below 90 %, more than 30 % of its labels are"
        " flipped, or there are other signs, such as explanations that go round in circles.\n"
        "Does not judge: on more than half of the criteria the format mass is below 50 %, or more than 50 %"
        " of the labels are flipped; or nearly all have one label, or none. Choose another model then.\n"
        "Of fewer than 10 items there is no verdict; what is that plain is said all the same.",
        "how-it-judges.md",
    ),
    Topic.CALIBRATION: Meaning(
        "A model's probabilities lean: to the first response, to a letter, away from both good. A calibration"
        " shifts and scales them, for each criterion, so that they fit human labels.\n"
        "What it is worth is measured on items that it was not fitted on (cross-validation). Items that took"
        " part in the fit are known again by their texts, and decided by what was fitted without them. The"
        " stored readings stay as they are, and the calibration can be taken off again. A few labels do"
        " little harm: where they say nothing of a criterion, the frequencies of its labels are all that is"
        " used.\n"
        "As usual A and B are treated alike, so that no label depends on the place of a response.",
        "measures.md",
    ),
    Topic.LEARNING: Meaning(
        "How well a calibration predicts labels that it has not seen, by how many labels taught it, each time"
        " twice as many. Where the last doubling brought nothing, more labels will hardly bring more.\n"
        "Beside it stands the trivial judge of the same labels, who knows how frequent each is. Where several"
        " people labelled the items, each of them is held against the majority of the others.",
        "measures.md",
    ),
    Topic.WEIGHTS: Meaning(
        "The weighted judge gives each response a score from 0 to 10 on each criterion: 10 times the"
        " probability that it is the better one or that both are good. Weights say how much each criterion"
        " counts in the sum.\n"
        "Fitted weights are those that explain the human overall labels best. Their ranges say how far the"
        " labels of other items could move them. Criteria with a weight of 0 take no part in the fit.",
        "measures.md",
    ),
    Topic.TIE_THRESHOLD: Meaning(
        "How far apart the weighted scores of the two responses must lie for one of them to win. Where they"
        " differ by this much or less, it is a tie. At first it is 0.5 points, or what the rubric"
        " says.",
        "measures.md",
    ),
    Topic.INTERVAL: Meaning(
        f"{measure_words.INTERVAL}\n"
        "Of what the items cannot show (other kinds of questions, other people) it says nothing.",
        "measures.md",
    ),
    Topic.KAPPA: Meaning(
        f"{measure_words.KAPPA}\n"
        "Where nearly all items have one label, giving that label is nearly always right, and still has a"
        " kappa of 0. Below 0: less agreement than by chance. Unscored counts as a label of its own.",
        "measures.md",
    ),
    Topic.MACRO_F1: Meaning(
        f"{measure_words.MACRO_F1}\n"
        "F1 of a label puts two shares together: of the judge's labels of this kind those that are right"
        " (precision), and of the human ones those that the judge finds (recall).",
        "measures.md",
    ),
    Topic.ROUGE_L: Meaning(
        f"{measure_words.ROUGE_L}\n"
        "It knows Latin letters without accents, and digits: explanations in other scripts score 0, whatever"
        " they say. Where most human ones are so it is not measured. An item that the judge did not explain"
        " counts 0, too.",
        "measures.md",
    ),
    Topic.AGREEMENT: Meaning(
        f"{measure_words.AGREEMENT} That model reads the item, both labels and both explanations.\n"
        "Between systems or people, agreement is the share of equal labels, and kappa.",
        "measures.md",
    ),
    Topic.SLICE: Meaning(
        "A part of the items that have something in common: a value of a column, the length of the texts,"
        " which response is the longer one, the script, the human label, a tag that people gave. Each slice"
        " is measured as all items are; under 10 labelled items it says next to nothing.\n"
        f"{measure_words.SLICES_NOTE}",
        "measures.md",
    ),
    Topic.RANKING: Meaning(
        "A candidate is a model that wrote responses; each item is a contest of two of them. The win rate is"
        " what a candidate won of its contests, a tie counted half.\n"
        "Strength is what it would win against a candidate of mean strength, by the Bradley-Terry model with"
        " ties: fair also where candidates met different opponents. Candidates that share a letter cannot be"
        " told apart: more labels may, or they are alike.\n"
        "At equal length: what it would win if both responses of each contest were equally long. Whether"
        " longer responses are better or only better liked, labels cannot say.\n"
        "A ranking by a judge is as good as the judge: Results says how far people agree with it.",
        "measures.md",
    ),
    Topic.CONTEXT: Meaning(
        "How much the model can have before it at once, in tokens (pieces of words): what it is asked, the"
        " instruction, both responses, and what it writes. A larger context needs more memory.\n"
        f"An item that does not fit is unscored, with the reason; “{FIELDS[Setting.SHORTEN]}” leaves out the"
        " middle of its responses instead, and says so.",
        "how-it-judges.md",
    ),
}

WHAT_IT_DOES = (
    "Tiebreak lets a language model on this computer judge which of two responses is better, and shows how"
    " far its judgments can be trusted."
)
THREE_STEPS = (
    ("Judge", "Press Run (Ctrl+R). The model reads every pair and labels it."),
    ("Check", "On Results (Ctrl+3) see how often it agrees with people, and whether that beats guessing."),
    ("Correct", "On Review (Ctrl+4) look at the most doubtful judgments first. Then File > Export."),
)
"""What a first study is, title and sentence of each step."""

MORE_BY_F1 = "F1 explains it."
"""The last words of a tool tip whose word is explained here."""
