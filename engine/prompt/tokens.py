"""All that a run asks of an item in one order, as token ids: a round for each question of each method.

A prompt tree as token ids: what its branches share, what each label would add.

Whole prompts are tokenized, and the shared prefix is found in the ids, so that sharing can never change
how a text is tokenized.

A round asks one question of all criteria at once, each in a branch of its own. The rounds of an order come
one after the other; a branch continues from what it held in the round before, as far as that is the same.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.core.errors import EngineBug
from engine.core.items import PREFERENCES, Item, Method, Order, Preference
from engine.core.methods import MethodQuestion, Question
from engine.core.rubric import Rubric
from engine.llama.tokens import BranchTokens, PromptTokens, common_prefix, usable_prefix
from engine.prompt.conversation import Conversation, UnbreakableTextError
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import PromptTree, build_prompt, explanation_reply, verdict_reply
from engine.prompt.template import ChatTemplate

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


@dataclass(frozen=True)
class Round:
    """One question of a method: its name in the store, and its prompts, a branch for each criterion.

    `thought_for`: the question that each branch is to answer once reasoning was written after its prompt;
    None where its labels are read at once.
    """

    method: Method
    question: str
    tokens: PromptTokens
    thought_for: Question | None = None


def tokenize_rounds(
    tree: PromptTree, asked: Sequence[MethodQuestion], template: ChatTemplate
) -> tuple[PromptTokens, tuple[Round, ...]]:
    """The tokens of a prompt tree's letters, and those of all that is asked.

    The trunk of all is that of the letters alone, unless a question parts from theirs before its end. What
    thinks has a trunk of its own where its format begins otherwise.
    """
    letters = tokenize_prompt(tree, template)
    branches = [_branches(tree, each, letters, template) for each in asked]
    ends = [
        branch.prompt[:-1]
        for each, own in zip(asked, branches, strict=True)
        if not each.question.reasons
        for branch in own
    ]
    trunk = letters.trunk[: common_prefix([letters.trunk, *ends])]
    rounds = []
    for each, own in zip(asked, branches, strict=True):
        reasons = each.question if each.question.reasons else None
        first = _trunk(trunk, own) if reasons else trunk
        rounds.append(Round(each.method, each.name, PromptTokens(first, own), reasons))
    return PromptTokens(trunk, letters.branches), tuple(rounds)


def _branches(
    tree: PromptTree, asked: MethodQuestion, letters: PromptTokens, template: ChatTemplate
) -> tuple[BranchTokens, ...]:
    if asked.method is Method.LABEL_TOKENS:
        return letters.branches
    question, places = asked.question, range(len(tree.branches))
    if question.reasons:
        thinking = _thinking(template)
        prompts = (thinking.tokenize(tree.question(place, text=question.text)) for place in places)
        return tuple(BranchTokens(tuple(prompt), ()) for prompt in prompts)
    replies = [f"{question.lead} {answer}" for answer in question.answers]
    return tuple(
        branch_tokens([tree.question(place, reply, question.text) for reply in replies], template)
        for place in places
    )


def _trunk(default: tuple[int, ...], branches: Sequence[BranchTokens]) -> tuple[int, ...]:
    """The default trunk where the branches begin with it, else what they have in common."""
    ends = [branch.prompt[:-1] for branch in branches]
    if common_prefix([default, *ends]) == len(default):
        return default
    return ends[0][: common_prefix(ends)]


def after_thought(
    tree: PromptTree, branch: int, question: Question, thought: str, template: ChatTemplate
) -> BranchTokens:
    """A branch once its reasoning is written and closed: its labels can be read."""
    replies = [f"{question.lead} {answer}" for answer in question.answers]
    asked = [tree.question(branch, reply, question.text, thought) for reply in replies]
    return branch_tokens(asked, _thinking(template))


def after_what_fits(
    tree: PromptTree, branch: int, question: Question, thought: str, template: ChatTemplate, *, most: int
) -> tuple[str, BranchTokens]:
    """The same after as much of reasoning as takes `most` cells of context; and so much of it.

    A text may take more tokens than it was written with: broken characters do. One that would be structure of
    the prompt is omitted.
    """
    while True:
        try:
            answered = after_thought(tree, branch, question, thought, template)
        except UnbreakableTextError:
            if not thought:
                raise
            thought = ""
            continue
        if answered.cells <= most or not thought:
            return thought, answered
        # Always shorter by one at least, so that this ends.
        thought = thought[: min(len(thought) - 1, len(thought) * most // answered.cells)]


def closing_tokens(rubric: Rubric, asked: Sequence[MethodQuestion], template: ChatTemplate) -> int:
    """Tokens that close reasoning and lead to its answer, and those of the longest answer; 0 where nothing
    that is asked thinks.
    """
    question = next((each.question for each in asked if each.question.reasons), None)
    if question is None:
        return 0
    tree = build_prompt(Item("probe", "a", "a", "a"), Order.AB, rubric)
    answered = after_thought(tree, 0, question, "a", template)
    opened = len(_thinking(template).tokenize(tree.question(0, text=question.text)))
    return len(answered.prompt) + max(map(len, answered.labels)) - opened


def _thinking(template: ChatTemplate) -> ChatTemplate:
    if template.thinking is None:
        raise EngineBug("reasoning was requested in a chat format without reasoning")
    return template.thinking


def label_token_round(letters: PromptTokens) -> Round:
    """The round of the label tokens only, from which explanations continue."""
    return Round(Method.LABEL_TOKENS, "", letters)


def tokens_read(rounds: Sequence[Round], keeps_state: bool) -> Counter[Method]:
    """Tokens that are read for the branches of an order whose first trunk is held, by way.

    Of each branch what it shares neither with the trunk nor with what it held in the round before, and each
    label of several tokens; trunks that differ. What follows reasoning is not counted.
    """
    read: Counter[Method] = Counter()
    held: dict[int, tuple[int, ...]] = {}
    trunk = rounds[0].tokens.trunk
    for each in rounds:
        if each.tokens.trunk != trunk:
            read[each.method] += len(each.tokens.trunk) - usable_prefix(trunk, each.tokens.trunk, keeps_state)
            trunk, held = each.tokens.trunk, {}
        for index, branch in enumerate(each.tokens.branches):
            sources = (trunk, held.get(index, ()))
            shared = max(usable_prefix(source, branch.prompt[:-1], keeps_state) for source in sources)
            rest = sum(len(label) - 1 for label in branch.labels)
            read[each.method] += len(branch.prompt) - shared + rest
            held[index] = branch.prompt
    return read
