"""All that a run asks of an item in one order, as token ids: a round for each question of each method. Whole
prompts are tokenized, and what they share is found in the ids, so that sharing never changes how a text is
tokenized. Whoever plans asks the same PromptSizer as whoever judges: a plan counts what a run will do.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.core.errors import EngineBug, Hint, Setting, SetupError
from engine.core.items import PREFERENCES, Item, Method, Order, Preference
from engine.core.judgments import Shortening
from engine.core.methods import MethodQuestion, Question, asked_by
from engine.core.rubric import Rubric
from engine.llama.model import LONE_TOKEN_CELLS, BranchTokens, PromptTokens, common_prefix, usable_prefix
from engine.prompt.conversation import Conversation, UnbreakableTextError
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import PromptTree, build_prompt, explanation_reply, verdict_reply
from engine.prompt.template import ChatTemplate
from engine.settings.rows import JudgeSettings

PROBES = ("a", "Z")
"""Texts that differ from their first letter on: what prompts with them share does not depend on them."""


def tokenize_prompt(tree: PromptTree, template: ChatTemplate) -> PromptTokens:
    replies = [verdict_reply(label, tree.wording) for label in PREFERENCES]
    branches = tuple(
        branch_tokens([tree.question(place, reply) for reply in replies], template)
        for place in range(len(tree.branches))
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


def stem_tokens(
    rubric: Rubric, examples: ExamplePool, template: ChatTemplate, shows: tuple[str, ...] = ()
) -> tuple[int, ...]:
    """What all prompts of a run begin with, found with two items that differ from their first letter on."""
    # All texts of a probe begin with another letter than those of the other: both share the stem alone.
    probes = [Item("probe", text, text, text) for text in PROBES]
    trees = (build_prompt(each, Order.AB, rubric, examples.for_probe(each), shows) for each in probes)
    return shared_tokens([tree.question(0) for tree in trees], template)


def instruction_tokens(
    item: Item,
    prompts: Sequence[PromptTokens],
    rubric: Rubric,
    examples: Sequence[Item],
    template: ChatTemplate,
    *,
    shows: tuple[str, ...],
) -> tuple[int, ...]:
    """What an item's `prompts` in all orders begin with, up to where its responses begin."""
    probes = [replace(item, output_a=text, output_b=text) for text in PROBES]
    trees = [build_prompt(probe, Order.AB, rubric, examples, shows) for probe in probes]
    trunks = [prompt.trunk for prompt in prompts]
    ids = [*trunks, *(template.tokenize(tree.question(0)) for tree in trees)]
    return trunks[0][: common_prefix(ids)]


def shared_tokens(conversations: Sequence[Conversation], template: ChatTemplate) -> tuple[int, ...]:
    ids = [template.tokenize(conversation) for conversation in conversations]
    return tuple(ids[0][: common_prefix(ids)])


@dataclass(frozen=True)
class Round:
    """One question of a method: its name in the store, and its prompts, a branch for each criterion."""

    method: Method
    question: str
    tokens: PromptTokens
    thought_for: Question | None = None  # that each branch answers once reasoning was written after it


def tokenize_rounds(
    tree: PromptTree, asked: Sequence[MethodQuestion], template: ChatTemplate
) -> tuple[PromptTokens, tuple[Round, ...]]:
    """The tokens of a prompt tree's letters, and those of all that is asked. The trunk of all is that of the
    letters alone, unless a question parts from theirs before its end. What thinks has a trunk of its own
    where its format begins otherwise.
    """
    letters = tokenize_prompt(tree, template)
    branches = [_branches(tree, each, letters, template) for each in asked]
    at_once = (own for each, own in zip(asked, branches, strict=True) if not each.question.reasons)
    ends = [branch.prompt[:-1] for own in at_once for branch in own]
    trunk = letters.trunk[: common_prefix([letters.trunk, *ends])]
    rounds = []
    for each, own in zip(asked, branches, strict=True):
        first, thought_for = trunk, each.question if each.question.reasons else None
        prompts = [branch.prompt[:-1] for branch in own]
        # The default trunk where the branches begin with it, else what they have in common.
        if thought_for and common_prefix([trunk, *prompts]) < len(trunk):
            first = prompts[0][: common_prefix(prompts)]
        rounds.append(Round(each.method, each.name, PromptTokens(first, own), thought_for))
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
    return tuple(_answered(tree, place, question, None, template) for place in places)


def _answered(
    tree: PromptTree, branch: int, question: Question, thought: str | None, template: ChatTemplate
) -> BranchTokens:
    replies = [f"{question.lead} {answer}" for answer in question.answers]
    return branch_tokens([tree.question(branch, each, question.text, thought) for each in replies], template)


def after_thought(
    tree: PromptTree, branch: int, question: Question, thought: str, template: ChatTemplate
) -> BranchTokens:
    """A branch once its reasoning is written and closed: its labels can be read."""
    return _answered(tree, branch, question, thought, _thinking(template))


def after_what_fits(
    tree: PromptTree, branch: int, question: Question, thought: str, template: ChatTemplate, *, most: int
) -> tuple[str, BranchTokens]:
    """The same after as much of reasoning as takes `most` cells of context; and so much of it: it may take
    more tokens than it was written with. One that would be structure of the prompt is omitted.
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
    """Tokens that close reasoning and lead to its answer, with the longest; 0 where none is asked."""
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


def tokens_read(rounds: Sequence[Round], keeps_state: bool) -> Counter[Method]:
    """Tokens that are read for the branches of an order whose first trunk is held, by method: of each what it
    shares neither with the trunk nor with the round before, and each label of several tokens; trunks that
    differ. What follows reasoning is not counted.
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


_CHARACTERS_PER_TOKEN = 32  # more than any real text has on average
_LEAST_SHOWN = 200  # characters of each response that stay in a shortened item


@dataclass(frozen=True)
class SizedItem:
    """An item as it is shown, with its prompts in each order."""

    shown: Item
    trees: Mapping[Order, PromptTree]
    tokens: Mapping[Order, PromptTokens]  # of the letters, from which explanations continue
    rounds: Mapping[Order, tuple[Round, ...]]  # in which it is asked
    apart: tuple[int, ...]
    """What all begin with, to the instruction's end, where that is read apart, to be held for a neighbour."""
    cells: int  # tokens of context that it takes, with what all items share and its explanations
    refused: str = ""  # why the model may not be shown it, which has no prompts then
    is_bound: bool = False  # `cells` are those of a single prompt, and more than any: there are no prompts

    @property
    def needs(self) -> str:
        return f"{'more than ' if self.is_bound else ''}{self.cells:,} tokens"


def most_of_one_prompt(context: int) -> int:
    """Tokens of a prompt above which an item does not fit, whatever else it would take."""
    return 4 * context


class PromptSizer:
    """Makes the prompts of items for one model, rubric and set of settings, and counts them."""

    def __init__(
        self,
        template: ChatTemplate,
        rubric: Rubric,
        settings: JudgeSettings,
        examples: ExamplePool,
        raise_if_cancelled: Callable[[], None],
        *,
        keeps_state: bool = False,
        most: int | None = None,
    ) -> None:
        """SetupError where what all items share fills the context, and where the model is to think and its
        chat template has no place for reasoning. `raise_if_cancelled` is called before each order of each
        item. `most`: tokens of one prompt above which an item is not looked at any further.
        """
        self._template = template
        self.rubric = rubric
        self.settings = settings
        self._examples = examples
        self._raise_if_cancelled = raise_if_cancelled
        self._keeps_state = keeps_state
        self._most = most
        # Of each criterion in each order, a round of an item for each.
        self.asked = asked_by(settings.methods, rubric.wording, settings.reasoning_samples)
        if settings.reasons and template.thinking is None:
            raise SetupError(
                "The model's chat template has no reasoning block: chain of thought is not possible.",
                Hint("Choose a reasoning model, or other ", Setting.METHODS, "."),
            )
        self.stem = stem_tokens(rubric, examples, template, settings.shows)
        self.shared_cells = len(self.stem) + LONE_TOKEN_CELLS  # tokens of context that all items share
        if self.shared_cells >= settings.context:
            raise SetupError(
                f"The labels' meanings and the examples take {len(self.stem):,} tokens, the context holds"
                f" {settings.context:,}: no item fits.",
                Hint("Use a larger ", Setting.CONTEXT, ", fewer ", Setting.SHOTS, " or shorter examples."),
            )
        self._closing = closing_tokens(rubric, self.asked, template)
        # All explanations of an item are written at once, each with its lead.
        texts = len(rubric.criteria) if settings.explains else 0
        tree = build_prompt(Item("probe", "a", "a", "a"), Order.AB, rubric)
        asked = len(tokenize_prompt(tree, template).branches[0].prompt)
        most = max(len(tokenize_explanation(tree, 0, label, template)) for label in PREFERENCES)
        self._leads = texts * (most - asked)
        self._aside = settings.explains and settings.may_read_one_order
        self._writing_cells = self._leads + texts * settings.max_explanation_tokens

    @property
    def thought_cells(self) -> int:
        return self.settings.max_reasoning_tokens + self._closing

    def sized(self, original: Item, shown: Item, in_series: bool = False) -> SizedItem:
        """The prompts of `original` as `shown`; `in_series`: a neighbour has its instruction. Cancelled."""
        # The examples are chosen by the item as it is, so that shortening does not change them.
        examples, shows = self._examples.for_item(original), self.settings.shows
        length = shown.letters + sum(len(getattr(shown, name)) for name in shows)
        trees: dict[Order, PromptTree] = {}
        tokens: dict[Order, PromptTokens] = {}
        rounds: dict[Order, tuple[Round, ...]] = {}
        apart: tuple[int, ...] = ()
        try:
            for order in self.settings.orders:
                self._raise_if_cancelled()
                trees[order] = build_prompt(shown, order, self.rubric, examples, shows)
                # Of an item of 400 KB all prompts of an audit are a minute's work, and this one 0.1 s.
                if self._most is not None and not tokens and length > self._most // 4:
                    alone = len(self._template.tokenize(trees[order].question(0)))
                    if alone > self._most:
                        return SizedItem(shown, {}, {}, {}, (), alone, is_bound=True)
                tokens[order], rounds[order] = tokenize_rounds(trees[order], self.asked, self._template)
            # A recurrent memory cannot be cut back: what both orders share must be held by itself.
            if in_series or (self._keeps_state and len(tokens) > 1):
                prompts = list(tokens.values())
                apart = instruction_tokens(shown, prompts, self.rubric, examples, self._template, shows=shows)
        except UnbreakableTextError as error:
            return SizedItem(shown, {}, {}, {}, (), self.shared_cells, error.reason)
        # Of one order: of its largest round, and of the label tokens, from which explanations continue.
        cells = {}
        for order, letters in tokens.items():
            sizes = [letters.cells_beside(self.stem)] if self.settings.explains else []
            for each in rounds[order]:
                reasoning = len(each.tokens.branches) * self.thought_cells if each.thought_for else 0
                sizes.append(each.tokens.cells_beside(self.stem) + reasoning)
            cells[order] = max(sizes)
        own = max(cells.values()) + self._writing_cells
        if self._aside:
            # Of AB and, next to it, of BA, which is gone before anything is written.
            first, second = tokens[Order.AB].trunk, tokens[Order.BA].trunk
            shared = max(len(apart), usable_prefix(first, second, self._keeps_state)) - len(self.stem)
            own = cells[Order.AB] + max(cells[Order.BA] - max(shared, 0), self._writing_cells)
        return SizedItem(shown, trees, tokens, rounds, apart, self.shared_cells + own)

    def as_judged(self, item: Item, in_series: bool = False) -> tuple[SizedItem, Shortening | None]:
        """The prompts of an item as a run asks them: shortened where it must be and the settings want it."""
        sized = self.sized(item, item, in_series)
        if self.settings.shorten and not self.fits(sized):
            most = self.settings.context * _CHARACTERS_PER_TOKEN
            shortened = shorten(item, lambda short: self.fits(self.sized(item, short)), most)
            if shortened:
                return self.sized(item, shortened[0], in_series), shortened[1]
        return sized, None

    def fits(self, sized: SizedItem) -> bool:
        return not sized.refused and sized.cells <= self.settings.context

    def tokens_by_order(self, sized: SizedItem, held: tuple[int, ...] = ()) -> tuple[int, int]:
        """Tokens that are evaluated for an item, besides those that it writes: for the order that is read
        first, and for the other; 0 where there is none. `held`: what is held of the instruction from an item
        before. An item that does not fit is counted as if it were shortened until it does; one that is
        refused takes none.
        """
        if sized.refused:
            return 0, 0
        sources, once, read = [self.stem], self._leads, [0, 0]
        if sized.apart:
            once += 0 if held == sized.apart else self._unread(sized.apart, sources)
            sources.append(sized.apart)
        room = max(self.settings.context - self.shared_cells - self._writing_cells, 0)
        for place, order in enumerate(self.settings.orders_as_read):
            rounds = sized.rounds[order]
            in_order = self._unread(rounds[0].tokens.trunk, sources) + self._by_method(rounds).total()
            read[place] = in_order if self.fits(sized) else min(in_order, room)
            sources.append(rounds[-1].tokens.trunk)
        last, letters = sized.rounds[Order.AB][-1], sized.tokens[Order.AB]
        if self.settings.explains and last.method is not Method.LABEL_TOKENS:
            # Explanations continue from the label tokens: what they read of these after another last round.
            for mine, other in zip(letters.branches, last.tokens.branches, strict=True):
                once += self._unread(mine.prompt, [letters.trunk, other.prompt])
        first, second = read
        return once + first, second

    def tokens_by_method(self, sized: SizedItem) -> Counter[Method]:
        """Of these the methods' own: what their questions add to the item, in all orders."""
        return sum(map(self._by_method, sized.rounds.values()), Counter())

    def _by_method(self, rounds: Sequence[Round]) -> Counter[Method]:
        """What the branches of an order add to its first trunk."""
        samples = sum(len(each.tokens.branches) for each in rounds if each.thought_for)
        closing = Counter({Method.CHAIN_OF_THOUGHT: samples * self._closing})
        return tokens_read(rounds, self._keeps_state) + closing  # a sum of counters holds no zeros

    def _unread(self, tokens: tuple[int, ...], held: Sequence[tuple[int, ...]]) -> int:
        return len(tokens) - max(usable_prefix(each, tokens, self._keeps_state) for each in held)


def shorten(item: Item, fits: Callable[[Item], bool], most: int) -> tuple[Item, Shortening] | None:
    """The item with as much of its responses as fits; None where the rest alone is too long. Both responses
    are held to the same length. `most`: characters of a response that cannot fit in any case.
    """
    least = _LEAST_SHOWN
    most = min(most, max(len(item.output_a), len(item.output_b)))
    if least >= most or not fits(_held_to(item, least)):
        return None
    while most - least > 1:
        # By halves: each try tokenizes the whole item.
        limit = (least + most) // 2
        if fits(_held_to(item, limit)):
            least = limit
        else:
            most = limit
    left_out = (max(len(text) - least, 0) for text in (item.output_a, item.output_b))
    return _held_to(item, least), Shortening(*left_out)


def _held_to(item: Item, limit: int) -> Item:
    def held(text: str) -> str:
        if len(text) <= limit:
            return text
        head = (limit + 1) // 2
        tail = limit - head
        left_out = f"[... {len(text) - limit:,} characters left out ...]"
        return f"{text[:head]}\n{left_out}\n{text[len(text) - tail :]}"

    return replace(item, output_a=held(item.output_a), output_b=held(item.output_b))
