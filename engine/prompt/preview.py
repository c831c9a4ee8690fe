"""What a model is shown of an item, to be looked at: the text with whose it is, and each token's place in it.

Made of the same runs of text and of the same ids as the prompt itself, so that it cannot differ from it.

Knows: prompts, their tokens, what tokens write. Does not know: sessions, settings, how a text is shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.core.ways.question import Question
from engine.llama.token_tree import PromptTokens, common_prefix
from engine.llama.vocabulary import Vocabulary
from engine.prompt.chat_template import ChatTemplate, Piece
from engine.prompt.judge_prompt import PromptTree
from engine.prompt.parts import Source

# Where a tokenizer changes its text: how many bytes before a token may be those that it left out.
_NEAR, _FAR, _LONG = 4, 24, 3  # far only for a token so long that it is hardly there by chance


@dataclass(frozen=True)
class Span:
    """A stretch of the text, in characters, and whose it is."""

    start: int
    end: int
    source: Source


@dataclass(frozen=True, slots=True)
class PlacedToken:
    """A token, what it writes, and the stretch of the text that it is for, in characters.

    Two tokens have the same character where a tokenizer cuts it in two. `sources`: whose text it holds; more
    than one where it reaches from own into foreign text.
    """

    id: int
    piece: str
    start: int
    end: int
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Preview:
    """The prompt of one criterion in one order; the answer is read after its last token.

    `stem`, `trunk`, `branch`: how many of the tokens belong to each. `exact`: the tokens write just this
    text; false where the tokenizer changes it before it reads it.
    """

    text: str
    spans: tuple[Span, ...]
    tokens: tuple[PlacedToken, ...]
    stem: int
    trunk: int
    exact: bool

    @property
    def branch(self) -> int:
        """Tokens of the criterion's own question."""
        return len(self.tokens) - self.stem - self.trunk


class Pieces:
    """What tokens write, as text that can be shown: bytes that are no whole character are written out."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._special = {token.id: token.text for token in vocabulary.special_tokens}
        self._known: dict[int, bytes] = {}

    def written(self, token: int) -> bytes:
        """The bytes of a token; of one that writes nothing its name."""
        if token not in self._known:
            data = self._vocabulary.piece(token) or self._special.get(token, "").encode()
            self._known[token] = data
        return self._known[token]

    def shown(self, token: int) -> str:
        """The same as text."""
        return self.written(token).decode("utf-8", "backslashreplace")


class Previewer:
    """Makes previews in one chat format; `stem`: the ids with which all prompts of the run begin."""

    def __init__(self, template: ChatTemplate, stem: Sequence[int]) -> None:
        self._template = template
        self._stem = stem
        self._pieces = Pieces(template.vocabulary)

    def preview(self, tree: PromptTree, question: Question, tokens: PromptTokens, branch: int) -> Preview:
        """What the model is shown for a question of one criterion; `tokens`: of this tree and question.

        Up to where its answer is read, or a thought is to be written.
        """
        length, answer = len(tokens.branches[branch].prompt), ""
        if question.thinks:
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
            places, fits = _places(text, [self._pieces.written(token) for token in ids])
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


def _places(text: str, pieces: Sequence[bytes]) -> tuple[list[tuple[int, int]], bool]:
    """For each token the stretch of the text that it writes, in characters; and whether they write just it.

    Some tokenizers write a space before a text and after special tokens, which has no place in it.
    """
    data = text.encode("utf-8")
    first = _character_of_byte(text)
    exact, place, places = True, 0, []
    for begin, end, fits in _stretches(data, pieces):
        exact = exact and fits
        # A token that ends within a character reaches to its end.
        places.append((first[begin], first[end - 1] + 1 if end > begin else first[begin]))
        place = max(place, end)
    return places, exact and place == len(data)


def _stretches(data: bytes, pieces: Sequence[bytes]) -> Iterator[tuple[int, int, bool]]:
    """The bytes of each token, and whether they are those that it writes, but for a space before them."""
    folded, place, missed = data.lower(), 0, 0
    for piece in pieces:
        added = piece[:1] == b" " and not data.startswith(piece, place)
        if piece and data.startswith(piece[added:], place):
            yield place, place + len(piece) - added, True
            place, missed = place + len(piece) - added, 0
            continue
        # The tokenizer changed the text, or left some of it out: near by is where this was.
        word = piece.strip().lower()
        far = (_FAR if len(word) >= _LONG else _NEAR) + _NEAR * missed
        found = folded.find(word, place, place + far + len(word)) if word else -1
        end = found + len(word) if found >= 0 else place
        yield place, end, False
        place, missed = end, 0 if found >= 0 else missed + 1


def _character_of_byte(text: str) -> Sequence[int]:
    """For each byte of a text, and for its end, the character that it is of."""
    if text.isascii():
        return range(len(text) + 1)
    characters = [place for place, character in enumerate(text) for _ in character.encode("utf-8")]
    return [*characters, len(text)]
