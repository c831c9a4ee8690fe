"""Items as the prompts of a run, and what those take: room in the context, tokens to read and to write.

Whoever judges and whoever plans ask the same PromptSizer, so that a plan counts what a run will do.

Knows: rubrics, settings, examples, tokenized prompts. Does not know: sessions, stores, how a run goes on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.core.errors import SetupError
from engine.core.items import Item, Order
from engine.core.judgments import Shortening
from engine.core.remedies import Remedy, Setting
from engine.core.rubric import Rubric
from engine.core.settings import JudgeSettings
from engine.llama.token_tree import LONE_TOKEN_CELLS, PromptTokens, usable_prefix
from engine.prompt.chat_template import ChatTemplate
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import PromptTree, build_prompt
from engine.prompt.shortening import shorten
from engine.prompt.tokens import instruction_tokens, lead_tokens, stem_tokens, tokenize_prompt

_CHARACTERS_PER_TOKEN = 32  # more than any real text has on average


@dataclass(frozen=True)
class SizedItem:
    """An item as it is shown, with its prompts in each order.

    `apart`: what all of them begin with, up to the end of the instruction, where it is read apart from the
    rest, so that it can be held for a neighbour; else empty. `cells`: tokens of context that it takes, with
    what all items share and its explanations.
    """

    shown: Item
    trees: Mapping[Order, PromptTree]
    tokens: Mapping[Order, PromptTokens]
    apart: tuple[int, ...]
    cells: int


class PromptSizer:
    """Makes the prompts of items for one model, rubric and set of settings, and counts them.

    `stem`: what all prompts begin with. `shared_cells`: tokens of context for it, and for the session itself.
    `texts`: explanations of one item.
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
        """Count what all items share. SetupError where it alone fills the context.

        `raise_if_cancelled` is called before each order of each item. `keeps_state`: see LlamaModel.
        """
        self._template = template
        self._rubric = rubric
        self._settings = settings
        self._examples = examples
        self._raise_if_cancelled = raise_if_cancelled
        self._keeps_state = keeps_state
        self.stem = stem_tokens(rubric, examples, template)
        self.shared_cells = len(self.stem) + LONE_TOKEN_CELLS
        if self.shared_cells >= settings.context:
            raise SetupError(
                f"The labels' meanings and the examples take {len(self.stem):,} tokens, the context holds"
                f" {settings.context:,}: no item fits beside them.",
                Remedy("Use a larger ", Setting.CONTEXT, ", fewer ", Setting.SHOTS, " or shorter examples."),
            )
        self.texts = len(rubric.criteria) if settings.explains else 0
        self._leads = self.texts * lead_tokens(rubric, template)
        self._writing_cells = self._leads + self.texts * settings.max_explanation_tokens

    def sized(self, original: Item, shown: Item, in_series: bool = False) -> SizedItem:
        """The prompts of `original` as it is `shown`, which may be shorter. Raises Cancelled.

        `in_series`: it has the instruction of a neighbour.
        """
        # The examples are chosen by the item as it is, so that shortening does not change them.
        examples = self._examples.for_item(original)
        trees, tokens = {}, {}
        for order in self._settings.orders:
            self._raise_if_cancelled()
            trees[order] = build_prompt(shown, order, self._rubric, examples)
            tokens[order] = tokenize_prompt(trees[order], self._template)
        apart: tuple[int, ...] = ()
        if in_series or (self._keeps_state and len(tokens) > 1):
            prompts = list(tokens.values())
            apart = instruction_tokens(shown, prompts, self._rubric, examples, self._template)
        beside = max(prompt.cells_beside(self.stem) for prompt in tokens.values())
        return SizedItem(shown, trees, tokens, apart, self.shared_cells + beside + self._writing_cells)

    def as_judged(self, item: Item, in_series: bool = False) -> tuple[SizedItem, Shortening | None]:
        """The prompts of an item as a run asks them: shortened where the settings wish it and it must be."""
        sized = self.sized(item, item, in_series)
        if self._settings.shorten and not self.fits(sized):
            shortened = shorten(
                item,
                lambda short: self.fits(self.sized(item, short)),
                most=self._settings.context * _CHARACTERS_PER_TOKEN,
            )
            if shortened:
                return self.sized(item, shortened[0], in_series), shortened[1]
        return sized, None

    def fits(self, sized: SizedItem) -> bool:
        """Whether an item has room in the context."""
        return sized.cells <= self._settings.context

    def tokens_to_read(self, sized: SizedItem, held: tuple[int, ...] = ()) -> int:
        """Tokens that are evaluated for an item, besides those that it writes.

        In each order what follows what is held already, each branch's own part and each label of several
        tokens; then the words that lead into each explanation. An item that does not fit is counted as if it
        were shortened until it does. `held`: what is held of the instruction from an item before.
        """
        sources, read = [self.stem], self._leads
        if sized.apart:
            read += 0 if held == sized.apart else self._unread(sized.apart, sources)
            sources.append(sized.apart)
        room = max(self._settings.context - self.shared_cells - self._writing_cells, 0)
        for order in self._settings.orders_as_read:
            tokens = sized.tokens[order]
            in_order = self._unread(tokens.trunk, sources) + _own_tokens(tokens)
            read += in_order if self.fits(sized) else min(in_order, room)
            sources.append(tokens.trunk)
        return read

    def _unread(self, tokens: tuple[int, ...], held: Sequence[tuple[int, ...]]) -> int:
        return len(tokens) - max(usable_prefix(each, tokens, self._keeps_state) for each in held)


def _own_tokens(tokens: PromptTokens) -> int:
    """What the branches add to their trunk."""
    return sum(
        len(branch.prompt) - len(tokens.trunk) + sum(len(label) - 1 for label in branch.labels)
        for branch in tokens.branches
    )
