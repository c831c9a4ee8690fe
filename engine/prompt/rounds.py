"""All that a run asks of an item in one order, as token ids: a round for each question of each way.

A round asks one question of all criteria at once, each in a branch of its own. The rounds of an order come
one after the other; a branch goes on from what it held in the round before, as far as that is the same.

Knows: ways of asking, prompt trees. Does not know: how ids are evaluated, settings.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.items import Way
from engine.core.ways.all_ways import Asked
from engine.llama.token_tree import BranchTokens, PromptTokens, common_prefix, usable_prefix
from engine.prompt.chat_template import ChatTemplate
from engine.prompt.judge_prompt import PromptTree
from engine.prompt.tokens import branch_tokens, tokenize_prompt


@dataclass(frozen=True)
class Round:
    """One question of a way: its name in the store, and its prompts, a branch for each criterion."""

    way: Way
    question: str
    tokens: PromptTokens


def tokenize_rounds(
    tree: PromptTree, asked: Sequence[Asked], template: ChatTemplate
) -> tuple[PromptTokens, tuple[Round, ...]]:
    """The tokens of a prompt tree's letters, and those of all that is asked, with one trunk for all of them.

    The trunk is that of the letters alone, unless a question parts from theirs before its end.
    """
    letters = tokenize_prompt(tree, template)
    branches = [
        letters.branches if each.way is Way.LETTERS else _branches(tree, each, template) for each in asked
    ]
    ends = [branch.prompt[:-1] for own in branches for branch in own]
    trunk = letters.trunk[: common_prefix([letters.trunk, *ends])]
    rounds = (
        Round(each.way, each.name, PromptTokens(trunk, own))
        for each, own in zip(asked, branches, strict=True)
    )
    return PromptTokens(trunk, letters.branches), tuple(rounds)


def _branches(tree: PromptTree, asked: Asked, template: ChatTemplate) -> tuple[BranchTokens, ...]:
    question = asked.question
    replies = [f"{question.lead} {answer}" for answer in question.answers]
    return tuple(
        branch_tokens([tree.question(index, reply, question.text) for reply in replies], template)
        for index in range(len(tree.branches))
    )


def letters_round(letters: PromptTokens) -> Round:
    """The round of the letters alone, from which explanations go on."""
    return Round(Way.LETTERS, "", letters)


def tokens_read(rounds: Sequence[Round], keeps_state: bool) -> int:
    """Tokens that are read for the branches of an order whose trunk is held: of each branch what it shares
    neither with the trunk nor with what it held in the round before, and each label of several tokens.
    """
    read = 0
    held: dict[int, tuple[int, ...]] = {}
    for each in rounds:
        trunk = each.tokens.trunk
        for index, branch in enumerate(each.tokens.branches):
            sources = (trunk, held.get(index, ()))
            shared = max(usable_prefix(source, branch.prompt[:-1], keeps_state) for source in sources)
            read += len(branch.prompt) - shared + sum(len(label) - 1 for label in branch.labels)
            held[index] = branch.prompt
    return read
