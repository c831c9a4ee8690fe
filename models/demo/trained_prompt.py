"""What the demo judge's prompts are, in one digest: a model trained with others must be trained again."""

from engine.core.items import PREFERENCES, Item, Order, digest
from engine.prompt.judge_prompt import PROMPT_VERSION, build_prompt, explanation_reply
from models.demo.questions import RUBRIC, all_questions

PROMPT_VERSION_KEY = "tiebreak.prompt_version"
PROMPT_DIGEST_KEY = "tiebreak.prompt_digest"
"""Where the model's file says with which prompts it was trained."""


def prompt_digest() -> str:
    """SHA-256 (hex) of the wording around an item's texts and of the replies: of every question about every
    criterion of both rubrics.
    """
    tree = build_prompt(Item("", "instruction", "first", "second"), Order.AB, RUBRIC)
    asked = []
    for one in all_questions():
        question = one.question
        conversation = tree.question(one.branch, question.lead, question.text)
        parts = [part.text for part in (*conversation.system, *conversation.user)]
        asked.append([parts, conversation.reply, list(question.answers)])
    return digest([PROMPT_VERSION, asked, [explanation_reply(label) for label in PREFERENCES]])
