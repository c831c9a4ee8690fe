"""Items as the prompts of a run, with the room and the tokens that they take.

Whoever plans asks the same PromptSizer as whoever judges, so that a plan counts what a run will do.

Knows: rubrics, settings, examples, tokenized prompts. Does not know: sessions, stores, how a run continues.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.core.errors import Hint, Setting, SetupError
from engine.core.items import Item, Method, Order
from engine.core.judgments import Shortening
from engine.core.methods import asked_by
from engine.core.rubric import Rubric
from engine.llama.tokens import LONE_TOKEN_CELLS, PromptTokens, usable_prefix
from engine.prompt.conversation import UnbreakableTextError
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import PromptTree, build_prompt
from engine.prompt.template import ChatTemplate
from engine.prompt.tokens import (
    Round,
    closing_tokens,
    instruction_tokens,
    lead_tokens,
    stem_tokens,
    tokenize_rounds,
    tokens_read,
)
from engine.settings.rows import JudgeSettings

_CHARACTERS_PER_TOKEN = 32  # more than any real text has on average
_LEAST_SHOWN = 200  # characters of each response that stay in a shortened item


@dataclass(frozen=True)
class SizedItem:
    """An item as it is shown, with its prompts in each order: those of the letters, from which explanations
    continue, and the rounds in which it is asked.

    `apart`: what all of them begin with, up to the end of the instruction, where it is read apart from the
    rest, so that it can be held for a neighbour; else empty. `cells`: tokens of context that it takes, with
    what all items share and its explanations. `refused`: why the model may not be shown it, which has no
    prompts then; else empty.
    """

    shown: Item
    trees: Mapping[Order, PromptTree]
    tokens: Mapping[Order, PromptTokens]
    rounds: Mapping[Order, tuple[Round, ...]]
    apart: tuple[int, ...]
    cells: int
    refused: str = ""


class PromptSizer:
    """Makes the prompts of items for one model, rubric and set of settings, and counts them.

    `asked`: what it asks of each criterion in each order, a round of an item for each. `stem`: what all
    prompts begin with. `shared_cells`: tokens of context for it, and for the session itself.
    """

    def __init__(
        self,
        template: ChatTemplate,
        rubric: Rubric,
        settings: JudgeSettings,
        examples: ExamplePool,
        raise_if_cancelled: Callable[[], None],
        *,
        keeps_state: bool = False,
    ) -> None:
        """Count what all items share. SetupError where it alone fills the context, and where the model is to
        think and its chat template has no place for reasoning.

        `raise_if_cancelled` is called before each order of each item. `keeps_state`: see LlamaModel.
        """
        self._template = template
        self.rubric = rubric
        self.settings = settings
        self._examples = examples
        self._raise_if_cancelled = raise_if_cancelled
        self._keeps_state = keeps_state
        self.asked = asked_by(settings.methods, rubric.wording, settings.reasoning_samples)
        if settings.reasons and template.thinking is None:
            raise SetupError(
                "The model's chat template has no reasoning block: chain of thought is not possible.",
                Hint("Choose a reasoning model, or other ", Setting.METHODS, "."),
            )
        self.stem = stem_tokens(rubric, examples, template)
        self.shared_cells = len(self.stem) + LONE_TOKEN_CELLS
        if self.shared_cells >= settings.context:
            raise SetupError(
                f"The labels' meanings and the examples take {len(self.stem):,} tokens, the context holds"
                f" {settings.context:,}: no item fits.",
                Hint("Use a larger ", Setting.CONTEXT, ", fewer ", Setting.SHOTS, " or shorter examples."),
            )
        self._closing = closing_tokens(rubric, self.asked, template)
        # All explanations of an item are written at once, each with its lead.
        texts = len(rubric.criteria) if settings.explains else 0
        self._leads = texts * lead_tokens(rubric, template)
        self._aside = settings.explains and settings.may_read_one_order
        self._writing_cells = self._leads + texts * settings.max_explanation_tokens

    @property
    def thought_cells(self) -> int:
        """Tokens of context for reasoning, closed and answered."""
        return self.settings.max_reasoning_tokens + self._closing

    def sized(self, original: Item, shown: Item, in_series: bool = False) -> SizedItem:
        """The prompts of `original` as it is `shown`, which may be shorter. Raises Cancelled.

        `in_series`: it has the instruction of a neighbour.
        """
        try:
            return self._sized(original, shown, in_series)
        except UnbreakableTextError as error:
            return SizedItem(shown, {}, {}, {}, (), self.shared_cells, error.reason)

    def _sized(self, original: Item, shown: Item, in_series: bool) -> SizedItem:
        # The examples are chosen by the item as it is, so that shortening does not change them.
        examples = self._examples.for_item(original)
        trees, tokens, rounds = {}, {}, {}
        for order in self.settings.orders:
            self._raise_if_cancelled()
            trees[order] = build_prompt(shown, order, self.rubric, examples)
            tokens[order], rounds[order] = tokenize_rounds(trees[order], self.asked, self._template)
        apart: tuple[int, ...] = ()
        # A recurrent memory cannot be cut back: what both orders share must be held by itself.
        if in_series or (self._keeps_state and len(tokens) > 1):
            prompts = list(tokens.values())
            apart = instruction_tokens(shown, prompts, self.rubric, examples, self._template)
        cells = {order: self._cells(tokens[order], rounds[order]) for order in tokens}
        return SizedItem(
            shown, trees, tokens, rounds, apart, self.shared_cells + self._own_cells(tokens, cells, apart)
        )

    def _cells(self, letters: PromptTokens, rounds: Sequence[Round]) -> int:
        """Cells of one order: of its largest round, and of the label tokens, from which explanations
        continue.
        """
        cells = [letters.cells_beside(self.stem)] if self.settings.explains else []
        for each in rounds:
            reasoning_samples = len(each.tokens.branches) * self.thought_cells
            cells.append(each.tokens.cells_beside(self.stem) + (reasoning_samples if each.thought_for else 0))
        return max(cells)

    def _own_cells(
        self, tokens: Mapping[Order, PromptTokens], cells: Mapping[Order, int], apart: tuple[int, ...]
    ) -> int:
        """Cells of an item and its explanations: of its larger order; or of AB and, next to it, of BA, which
        is gone before anything is written.
        """
        if not self._aside:
            return max(cells.values()) + self._writing_cells
        first, second = tokens[Order.AB].trunk, tokens[Order.BA].trunk
        shared = max(len(apart), usable_prefix(first, second, self._keeps_state)) - len(self.stem)
        return cells[Order.AB] + max(cells[Order.BA] - max(shared, 0), self._writing_cells)

    def as_judged(self, item: Item, in_series: bool = False) -> tuple[SizedItem, Shortening | None]:
        """The prompts of an item as a run asks them: shortened where the settings request it and it must
        be.
        """
        sized = self.sized(item, item, in_series)
        if self.settings.shorten and not self.fits(sized):
            shortened = shorten(
                item,
                lambda short: self.fits(self.sized(item, short)),
                most=self.settings.context * _CHARACTERS_PER_TOKEN,
            )
            if shortened:
                return self.sized(item, shortened[0], in_series), shortened[1]
        return sized, None

    def fits(self, sized: SizedItem) -> bool:
        """Whether an item can be shown, and has room in the context."""
        return not sized.refused and sized.cells <= self.settings.context

    def tokens_by_order(self, sized: SizedItem, held: tuple[int, ...] = ()) -> tuple[int, int]:
        """Tokens that are evaluated for an item, besides those that it writes: for the order that is read
        first, and for the other; 0 where there is none.

        `held`: what is held of the instruction from an item before. In each order what follows what is held
        already, each branch's own part and each label of several tokens; with the first what both begin with,
        and the words that lead into each explanation. An item that does not fit is counted as if it were
        shortened until it does; one that is refused takes none.
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
        if self.settings.explains:
            once += self._unread_letters(sized)
        first, second = read
        return once + first, second

    def tokens_by_method(self, sized: SizedItem) -> Counter[Method]:
        """Of these the methods' own: what their questions add to the item, in all orders."""
        return sum(map(self._by_method, sized.rounds.values()), Counter())

    def _by_method(self, rounds: Sequence[Round]) -> Counter[Method]:
        """What the branches of an order add to its first trunk."""
        reasoning_samples = sum(len(each.tokens.branches) for each in rounds if each.thought_for)
        closed = (
            Counter({Method.CHAIN_OF_THOUGHT: reasoning_samples * self._closing})
            if reasoning_samples
            else Counter[Method]()
        )
        return tokens_read(rounds, self._keeps_state) + closed

    def _unread_letters(self, sized: SizedItem) -> int:
        """What explanations read of the label-token questions where the last round was another method's."""
        last, letters = sized.rounds[Order.AB][-1], sized.tokens[Order.AB]
        if last.method is Method.LABEL_TOKENS:
            return 0
        held = zip(letters.branches, last.tokens.branches, strict=True)
        return sum(self._unread(mine.prompt, [letters.trunk, other.prompt]) for mine, other in held)

    def _unread(self, tokens: tuple[int, ...], held: Sequence[tuple[int, ...]]) -> int:
        return len(tokens) - max(usable_prefix(each, tokens, self._keeps_state) for each in held)


def shorten(item: Item, fits: Callable[[Item], bool], most: int) -> tuple[Item, Shortening] | None:
    """The item with as much of its responses as fits; None where the rest alone is too long.

    Both responses are held to the same length, so that only those above it lose their middle. `most`:
    characters of a response that cannot fit in any case, so that no more are tried.
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
    return replace(
        item, output_a=_without_middle(item.output_a, limit), output_b=_without_middle(item.output_b, limit)
    )


def _without_middle(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = (limit + 1) // 2
    tail = limit - head
    return f"{text[:head]}\n[... {len(text) - limit:,} characters left out ...]\n{text[len(text) - tail :]}"
