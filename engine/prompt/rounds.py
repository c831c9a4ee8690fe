"""All that a run asks of an item in one order, as token ids: a round for each question of each method.

A round asks one question of all criteria at once, each in a branch of its own. The rounds of an order come
one after the other; a branch continues from what it held in the round before, as far as that is the same.

Knows: elicitation methods, prompt trees. Does not know: how ids are evaluated, settings.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.errors import EngineBug
from engine.core.items import Item, Method, Order
from engine.core.rubric import Rubric
from engine.core.ways.all_ways import MethodQuestion
from engine.core.ways.question import Question
from engine.llama.token_tree import BranchTokens, PromptTokens, common_prefix, usable_prefix
from engine.prompt.chat_template import ChatTemplate
from engine.prompt.fences import UnbreakableTextError
from engine.prompt.judge_prompt import PromptTree, build_prompt
from engine.prompt.tokens import branch_tokens, tokenize_prompt


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
