"""What a model is shown of an item, to be looked at: whose each part of it is, where each token stands.

Made of the same runs of text, of the same ids as the prompt itself, so that it cannot differ from it.

Knows: prompts, their tokens, what tokens write. Does not know: sessions, settings, how a text is shown.
"""

from collections.abc import Sequence
from dataclasses import replace

from engine.core.prompt_text import PlacedToken, Preview, Source, Span
from engine.core.ways.question import Question
from engine.llama.token_places import token_places
from engine.llama.token_tree import PromptTokens, common_prefix
from engine.prompt.chat_template import ChatTemplate
from engine.prompt.guard import Piece
from engine.prompt.judge_prompt import PromptTree


def text_alone(pieces: Sequence[Piece]) -> Preview:
    """A prompt of which nobody asks for the tokens."""
    return Preview("".join(text for text, _ in pieces), tuple(_spans(pieces, 0)), (), 0, 0, exact=True)


class Previewer:
    """Makes previews in one chat format; `stem`: the ids with which all prompts of the run begin."""

    def __init__(self, template: ChatTemplate, stem: Sequence[int]) -> None:
        self._template = template
        self._stem = stem
        self._pieces = template.tokens_written

    def preview(self, tree: PromptTree, question: Question, tokens: PromptTokens, branch: int) -> Preview:
        """What the model is shown for a question of one criterion; `tokens`: of this tree and question.

        Up to where its answer is read, or reasoning is to be written.
        """
        length, answer = len(tokens.branches[branch].prompt), ""
        if question.reasons:
            template = self._template.thinking or self._template
            conversation = tree.question(branch, text=question.text)
        else:
            template, answer = self._template, f" {question.answers[0]}"  # tokenized with it, no part of it
            conversation = tree.question(branch, f"{question.lead}{answer}", question.text)
        texts: list[str] = []
        spans: list[Span] = []
        placed: list[PlacedToken] = []
        exact, start = True, 0
        for run, ids in template.tokenized(conversation):
            text, inside = "".join(piece for piece, _ in run), _spans(run, start)
            places, fits = token_places(text, [self._pieces.written(token) for token in ids])
            exact = exact and fits
            for token, (begin, end) in zip(ids, places, strict=True):
                place = start + begin, start + end
                placed.append(PlacedToken(token, self._pieces.shown(token), *place, _sources(inside, *place)))
            texts.append(text)
            spans += inside
            start += len(text)
        # The answer that was tokenized with it begins after these.
        shown = tuple(placed[:length])
        last = max((token.end for token in shown), default=0) if exact else start - len(answer)
        shared = common_prefix([self._stem, tokens.trunk])
        return Preview(
            text="".join(texts)[:last],
            spans=tuple(replace(span, end=min(span.end, last)) for span in spans if span.start < last),
            tokens=shown,
            stem=shared,
            trunk=len(tokens.trunk) - shared,
            exact=exact,
        )


def _spans(run: Sequence[Piece], start: int) -> list[Span]:
    found: list[Span] = []
    for text, source in run:
        if not text:
            continue
        end = start + len(text)
        if found and found[-1].source is source:
            found[-1] = Span(found[-1].start, end, source)
        else:
            found.append(Span(start, end, source))
        start = end
    return found


def _sources(spans: Sequence[Span], begin: int, end: int) -> tuple[Source, ...]:
    """Whose text a stretch holds, each once, in the order of the text; of an empty one, where it is."""
    end = max(end, begin + 1)
    inside = [span.source for span in spans if span.start < end and span.end > begin]
    return tuple(dict.fromkeys(inside))
