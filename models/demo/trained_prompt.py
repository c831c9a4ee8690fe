"""What the demo judge's prompt is, in one digest: a model trained with another one must be trained again.

Knows: the engine's prompt. Does not know: tokens, models.
"""

from engine.core.items import PREFERENCES, Item, Order, digest
from engine.core.rubric import ELOQUENT
from engine.prompt.judge_prompt import PROMPT_VERSION, build_prompt, explanation_reply

PROMPT_VERSION_KEY = "tiebreak.prompt_version"
PROMPT_DIGEST_KEY = "tiebreak.prompt_digest"
"""Where the model's file says with which prompt it was trained."""


def prompt_digest() -> str:
    """SHA-256 (hex) of the wording around an item's texts and of the replies, rubric included."""
    tree = build_prompt(Item("", "instruction", "first", "second"), Order.AB, ELOQUENT)
    conversations = [tree.question(branch) for branch in range(len(tree.branches))]
    texts = [
        [part.text for part in (*conversation.system, *conversation.user)] for conversation in conversations
    ]
    return digest([PROMPT_VERSION, texts, [explanation_reply(label) for label in PREFERENCES]])
