"""A prompt tree as token ids: what its branches share, what each label would add.

Whole prompts are tokenized, and the shared prefix is found in the ids, so that sharing can never change
how a text is tokenized.

Knows: prompt trees, chat templates. Does not know: how ids are evaluated.
"""

from collections.abc import Sequence
from dataclasses import replace

from engine.core.items import PREFERENCES, Item, Order, Preference
from engine.core.rubric import Rubric
from engine.llama.token_tree import BranchTokens, PromptTokens, common_prefix
from engine.prompt.chat_template import ChatTemplate
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import PromptTree, build_prompt, explanation_reply, verdict_reply
from engine.prompt.parts import Conversation

PROBES = ("a", "Z")
"""Texts that differ from their first letter on: what prompts with them share does not depend on them."""


def tokenize_prompt(tree: PromptTree, template: ChatTemplate) -> PromptTokens:
    """Token ids of all branches of a tree."""
    branches = tuple(
        branch_tokens(
            [tree.question(index, verdict_reply(label, tree.wording)) for label in PREFERENCES], template
        )
        for index in range(len(tree.branches))
    )
    shared = common_prefix([branch.prompt for branch in branches])
    # A branch needs one token of its own, after which the label is read.
    length = min(shared, *(len(branch.prompt) - 1 for branch in branches))
    return PromptTokens(branches[0].prompt[:length], branches)


def branch_tokens(replies: Sequence[Conversation], template: ChatTemplate) -> BranchTokens:
    """One conversation with each of its labels at its end; the prompt ends where they diverge."""
    ids = [template.tokenize(reply) for reply in replies]
    # Where one reply is a prefix of another, it would add no token: read one token earlier.
    length = min(common_prefix(ids), *(len(reply) - 1 for reply in ids))
    return BranchTokens(prompt=tuple(ids[0][:length]), labels=tuple(tuple(reply[length:]) for reply in ids))


def tokenize_explanation(
    tree: PromptTree, branch: int, preference: Preference, template: ChatTemplate
) -> tuple[int, ...]:
    """Token ids of a branch up to where the explanation of `preference` begins."""
    return tuple(template.tokenize(tree.question(branch, explanation_reply(preference, tree.wording))))


def stem_tokens(rubric: Rubric, examples: ExamplePool, template: ChatTemplate) -> tuple[int, ...]:
    """What all prompts of a run begin with, found with two items that differ from their first letter on."""
    conversations = []
    for text in PROBES:
        # All its texts begin with another letter than those of the other probe: both share the stem alone.
        perturbation = Item("probe", text, text, text)
        tree = build_prompt(perturbation, Order.AB, rubric, examples.for_probe(perturbation))
        conversations.append(tree.question(0))
    return shared_tokens(conversations, template)


def instruction_tokens(
    item: Item,
    prompts: Sequence[PromptTokens],
    rubric: Rubric,
    examples: Sequence[Item],
    template: ChatTemplate,
) -> tuple[int, ...]:
    """What an item's `prompts` in all orders begin with, up to where the instruction ends.

    Those of other items with the same instruction and examples begin so, too.
    """
    perturbations = [replace(item, output_a=text, output_b=text) for text in PROBES]
    trees = [build_prompt(perturbation, Order.AB, rubric, examples) for perturbation in perturbations]
    trunks = [prompt.trunk for prompt in prompts]
    ids = [*trunks, *(template.tokenize(tree.question(0)) for tree in trees)]
    return trunks[0][: common_prefix(ids)]


def shared_tokens(conversations: Sequence[Conversation], template: ChatTemplate) -> tuple[int, ...]:
    """The ids with which all conversations begin."""
    ids = [template.tokenize(conversation) for conversation in conversations]
    return tuple(ids[0][: common_prefix(ids)])


def lead_tokens(rubric: Rubric, template: ChatTemplate) -> int:
    """The most tokens that the start of an explanation takes after the question."""
    tree = build_prompt(Item("probe", "a", "a", "a"), Order.AB, rubric)
    asked = len(tokenize_prompt(tree, template).branches[0].prompt)
    return max(len(tokenize_explanation(tree, 0, label, template)) for label in PREFERENCES) - asked
