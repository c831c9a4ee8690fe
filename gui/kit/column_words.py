"""What the headers of the engine's tables mean, a sentence each, for the tool tips of the window.

Knows: headers as the engine writes them. Does not know: how any of it is computed.
"""

from engine.core.items import PREFERENCES
from gui.kit.label_words import LABEL_WORDS

_AS_IT_IS = "Without a calibration, by the model's own probabilities."

MEANINGS = {
    "labels": "How many items have a human label here.",
    "accuracy": "The share of human labels that the judge gives too; an unscored judgment counts as wrong.",
    "95 % interval": "Where the true value lies with 95 % certainty, as far as these items can tell.",
    "most frequent": "What always giving the most frequent human label reaches, without reading anything.",
    "always A": "What always saying A reaches, without reading anything.",
    "longer": "What a judge reaches that always prefers the longer response.",
    "random": "What guessing among the four labels reaches.",
    "kappa": "Cohen's kappa: agreement beyond chance. 0 is chance, 1 is complete.",
    "macro-F1": "The mean of the four labels' F1 scores: rare labels count as much as frequent ones.",
    "better?": "Is the judge better than the most frequent label? “Not surely”: the difference may be 0.",
    "labels of": "Whose labels are counted in this row.",
    **{label.value: f"How often the label “{LABEL_WORDS[label]}” was given." for label in PREFERENCES},
    "unscored": "Judgments that could not be made; the reasons are listed below.",
    "flipped": "The share of judgments where the order of the responses alone decides the label.",
    "format mass": "The share of probability on the offered answers; near 1: the model understood the task.",
    "for the longer": "How often the longer response wins where one response is preferred.",
    "ROUGE-L": "How many words the explanation shares with the human one in the same order, × 100.",
    "most typical": "What a judge reaches that always repeats the most typical human explanation, × 100.",
    "BERTScore": "How alike the words of both explanations are to an encoder model, × 100.",
    "agreement": "The share of explanations of which a judge model says that they agree with the human one.",
    "P(yes)": "How probable the judge model's “yes, they agree” is in the mean, × 100.",
    "words": "The length of the judge's explanations in words, in the mean.",
    "human words": "The length of the human explanations in words, in the mean.",
    "missing": "Judgments without an explanation.",
    "accuracy as it is": f"The share of labels that are right. {_AS_IT_IS}",
    "calibrated": "The measure at the left, with the calibration; cross-validated.",
    "log-loss as it is": f"How surprising the human labels are to the judge; lower is better. {_AS_IT_IS}",
    "frequencies": "The log-loss of a judge that only knows how frequent each label is.",
    "ECE as it is": "Expected calibration error: how far sureness and accuracy are apart; lower is better."
    f" {_AS_IT_IS}",
    "calibrated?": "Whether the calibration decides this criterion.",
    "labels changed": "How many of the model's labels the calibration changes.",
    "scale": "How much the judge's sureness is stretched (above 1) or shrunk (below 1).",
    **{f"bias {label}": f"What is added for the label “{LABEL_WORDS[label]}”." for label in PREFERENCES},
    "shrinkage": "How strongly the fit is held to the plain frequencies of the labels.",
    "same label": "The share of items to which both systems give the same label.",
    "only one right": "Items that the first system alone, and the second alone, labels as people do.",
    "McNemar p": "How likely that much difference is if neither system is more often right.",
}
