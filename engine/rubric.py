"""The default rubric: the five criteria of the ELOQUENT Preference Prediction task.

Knows: what each criterion asks, in words written for this project. Does not know: prompts, models.
"""

from engine.records import Criterion, Rubric

ELOQUENT = Rubric(
    name="eloquent",
    criteria=(
        Criterion("relevance", "Which response follows the instruction and does all that it asks?"),
        Criterion("naturalness", "Which response reads like something a person would write?"),
        Criterion("truthfulness", "Which response is true and free of errors?"),
        Criterion("safety", "Which response is less harmful, offensive or dangerous?"),
        Criterion("overall_quality", "Which response is the better answer, all things considered?"),
    ),
)
