"""Plain text of a prompt as token ids, in which nothing of somebody else's is structure.

Of all that a template writes around messages a mark of turns is markup (`[INST]`, `<|user|>`, `[Round 1]`),
wherever it stands; a label, what else stands in a line with a letter or digit and something that is neither
(`### Instruction:`, `USER:`), but no sentence; and a line of words alone (`User`). Where a token that is no
end stands with a label, as in `<|start|>user: `, the label cannot be forged without it, and is none. What has
no two signs next to each other (`A`) is none: nothing can be put inside.

Marks of turns are broken up in foreign text. And where foreign text became a token of structure, as some
tokenizers make them of plain text, or reads like a mark once the tokenizer has changed it, it is broken up
there until it does not: by a space, or `_` where the tokenizer leaves spaces out.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

from engine.core.prompt_text import Source
from engine.llama.model import Pieces, SpecialToken, Vocabulary, token_places
from engine.prompt.conversation import Frame, Mark, Marks, UnbreakableTextError

_MARKUP = re.compile(r"<{1,2}[^<>\n]{1,60}>{1,2}|\[[^\[\]\n]{1,60}\]")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?。！？])\s+")
_SENTENCE = re.compile(r"\s.*[.!?]$|[。！？]$")
_WORDS = re.compile(r"[\w\s▁]*\w[\w\s▁]*")
_LONGEST_LABEL = 80


def turn_marks(
    frame: Frame, split: Callable[[str], Sequence[str | SpecialToken]], closes: Callable[[SpecialToken], bool]
) -> list[Mark]:
    """The marks of a chat format's turns, each once. `split`: cuts a text at tokens of structure; `closes`:
    whether such a token opens no turn.
    """
    found: list[Mark] = []
    for text in (*frame.pieces, *frame.turns):
        runs = split(text)
        opens = any(isinstance(run, SpecialToken) and not closes(run) for run in runs)
        follows_token = False
        for run in runs:
            if isinstance(run, str):
                shapes = _MARKUP.findall(run)
                found += (Mark(shape, counted=True) for shape in shapes if re.search(r"\w", shape))
                found += () if opens else _labels(run, follows_token)
            follows_token = isinstance(run, SpecialToken)
    return [mark for mark in dict.fromkeys(found) if re.search(r"\S\S", mark.text)]


def _labels(text: str, follows_token: bool) -> Iterator[Mark]:
    lines = text.split("\n")
    for number, line in enumerate(lines):
        parts = _MARKUP.split(line)
        for said in (said for part in parts for said in _SENTENCE_ENDS.split(part.strip())):
            if _is_label(said):
                yield Mark(said, counted=True)
            elif said == line.strip() and _WORDS.fullmatch(said) and (number or not follows_token):
                yield Mark(said, counted=True, begins_line=True, fills_line=number + 1 < len(lines))


def _is_label(text: str) -> bool:
    return (
        len(text) <= _LONGEST_LABEL
        and re.search(r"\w", text) is not None
        and re.search(r"[^\w\s▁]", text) is not None
        and not _SENTENCE.search(text)
    )


Piece = tuple[str, Source]  # text, and whose it is
Run = tuple[Piece, ...]  # text that is tokenized as one
Cuts = Mapping[int, str]  # what breaks a run up, by places in it, in characters

# User-defined tokens are recognised in any text. Those that hold anything but words and white space are
# structure: turns, tools, reasoning, markup.
_NO_WORDS = re.compile(r"[^\w\s▁]")
_BREAKS = (" ", "_")  # the first that a tokenizer reads
_MOST_ROUNDS = 24  # of breaking up, for what is left of one token may be another
_MOST_TRIED = 64  # places where a text may be broken up
_ANY_TEXT = "a"  # stands for a foreign text that is harmless


class Guard:
    def __init__(self, frame: Frame, vocabulary: Vocabulary) -> None:
        self.pieces = Pieces(vocabulary)
        self._vocabulary = vocabulary
        structure = [token for token in vocabulary.special_tokens if _is_structure(token, frame)]
        # A letter that ends a reply is no structure, for any text has it.
        written = {end: vocabulary.piece(end).decode("utf-8", "replace") for end in vocabulary.reply_ends}
        ends = (end for end, text in written.items() if len(text) > 1)
        self._structure = frozenset((*(token.id for token in structure), *ends))
        closes = {*vocabulary.reply_ends, vocabulary.bos}
        turns = turn_marks(frame, lambda text: split_at(text, structure), lambda token: token.id in closes)
        # Some tokenizers take the name of the token of unknown letters for it.
        unknown = [token for token in vocabulary.special_tokens if token.unknown]
        names = (Mark(each.text) for each in unknown if each.id in vocabulary.tokenize(each.text))
        self._turns = (*turns, *names)
        marks = Marks(self._turns)
        # What breaks a text up so that the tokenizer reads something else.
        whole = vocabulary.tokenize("[x")
        parted = (by for by in _BREAKS if vocabulary.tokenize(f"[{by}x") != whole)
        self._by = next(parted, _BREAKS[0])
        self.harmless = lru_cache(maxsize=256)(lambda text: marks.broken(text, self._by))
        self.read = lru_cache(maxsize=64)(self._read)
        self._marks = lru_cache(maxsize=8)(
            lambda fences: Marks((*self._turns, *map(Mark, fences)), spaced=self._by == _BREAKS[0])
        )
        self._structure_of = lru_cache(maxsize=64)(lambda own: self._structural(self._tokenize(own)))
        self._marks_of = lru_cache(maxsize=64)(
            lambda own, fences: len(self._marks_among(self._tokenize(own), fences))
        )

    def _read(self, run: Run, fences: tuple[str, ...]) -> tuple[Run, Sequence[int]]:
        """A run as the model can read it, and its ids. `fences`: what marks foreign text in it, besides
        turns. UnbreakableTextError where it cannot be broken up.
        """
        own = tuple((_ANY_TEXT if source.foreign else text, source) for text, source in run)
        # Each round must leave less: else the tokenizer is one that changes its text, and places say nothing.
        fewest = len(_text(run)) + 1
        for _ in range(_MOST_ROUNDS):
            ids = self._tokenize(run)
            wrong = self._wrong(run, ids, own, fences)
            if not wrong:
                return run, ids
            cuts = self._placed(run, ids, wrong) if len(wrong) < fewest else {}
            cuts = cuts or self._halved(run, own, fences)
            if not cuts:
                break
            fewest = len(wrong)
            run = _broken(run, cuts)
        default = self._structure_of(own)
        others = [stretch for stretch in wrong if ids[stretch[0]] not in default] or wrong
        names = dict.fromkeys(
            "".join(map(self.pieces.shown, ids[first : last + 1])) for first, last in others
        )
        raise UnbreakableTextError.of(f"{', '.join(names)} cannot be broken up")

    def _placed(self, run: Run, ids: Sequence[int], wrong: Sequence[tuple[int, int]]) -> Cuts:
        """Where foreign text is to be broken up, in characters of the run: inside what is `wrong`."""
        text = _text(run)
        places, _ = token_places(text, [self.pieces.written(token) for token in ids])
        ends = accumulate(len(part) for part, _ in run)
        parts = [
            (end - len(part), end) for (part, source), end in zip(run, ends, strict=True) if source.foreign
        ]
        stretches = ((places[first][0], places[last][1]) for first, last in wrong)
        return {cut: self._by for stretch in stretches for cut in _inside(text, parts, *stretch)}

    def _halved(self, run: Run, own: Run, fences: tuple[str, ...]) -> Cuts:
        """The same found by trying parts of each foreign text, for tokenizers that change what they read."""
        cuts: dict[int, str] = {}
        breaks = sorted(_BREAKS, key=lambda by: by != self._by)
        begins = 0
        for place, (text, source) in enumerate(run):

            def wrong(part: str, place: int = place, source: Source = source) -> bool:
                tried = (*own[:place], (part, source), *own[place + 1 :])
                return bool(self._wrong(tried, self._tokenize(tried), own, fences))

            if source.foreign and wrong(text):
                cuts.update((begins + cut, by) for cut, by in _culprit(text, breaks, wrong))
            begins += len(text)
        return cuts

    def _wrong(
        self, run: Run, ids: Sequence[int], own: Run, fences: tuple[str, ...]
    ) -> list[tuple[int, int]]:
        """What is read as structure where `own`, the same with any harmless texts, has less of it: the places
        in `ids` of the first and last token of each.
        """
        found = self._structural(ids)
        if found and found != self._structure_of(own):
            return [(place, place) for place, token in enumerate(ids) if token in self._structure]
        written = b"".join(map(self.pieces.written, ids))
        # SentencePiece puts a space before a text.
        if written.removeprefix(b" ") == _text(run).encode("utf-8").removeprefix(b" "):
            return []  # the tokenizer changes nothing, and there are no marks in the text
        marks = self._marks_among(ids, fences)
        return marks if len(marks) > self._marks_of(own, fences) else []

    def _structural(self, ids: Sequence[int]) -> list[int]:
        return [token for token in ids if token in self._structure]

    def _marks_among(self, ids: Sequence[int], fences: tuple[str, ...]) -> list[tuple[int, int]]:
        """The places of the first and last token of each mark in what tokens write."""
        pieces = [self.pieces.written(token) for token in ids]
        ends = list(accumulate(map(len, pieces)))
        # A token may hold a part of a character: so bytes and places stay countable.
        text = b"".join(pieces).decode("utf-8", "surrogateescape")
        found = []
        for start, end in self._marks(fences).found(text):
            first, last = (len(text[:place].encode("utf-8", "surrogateescape")) for place in (start, end - 1))
            found.append((bisect_right(ends, first), bisect_right(ends, last)))
        return found

    def _tokenize(self, run: Run) -> Sequence[int]:
        return self._vocabulary.tokenize(_text(run), parse_special=False)


def split_at(text: str, tokens: Iterable[SpecialToken]) -> list[str | SpecialToken]:
    runs: list[str | SpecialToken] = [text]
    for token in tokens:
        cut: list[str | SpecialToken] = []
        for run in runs:
            first, *rest = [run] if isinstance(run, SpecialToken) else run.split(token.text)
            cut.append(first)
            for piece in rest:
                cut += [token, piece]
        runs = cut
    return [run for run in runs if run != ""]


def _is_structure(token: SpecialToken, frame: Frame) -> bool:
    """Whether foreign text must not become this token; unknown letters are letters."""
    if token.control:
        return not token.unknown
    if len(token.text) == 1 or token.text.isspace():
        return False
    return bool(_NO_WORDS.search(token.text)) or token.text in "".join((*frame.pieces, *frame.turns))


def _text(run: Run) -> str:
    return "".join(text for text, _ in run)


def _inside(text: str, parts: Iterable[tuple[int, int]], start: int, end: int) -> list[int]:
    """Where to break up a stretch of a text, once, within one of its foreign parts or at its edge."""
    for begins, ends in parts:
        if places := range(max(start + 1, begins), min(end - 1, ends) + 1):
            return _within_words_first(text, places)[:1]
    return []


def _within_words_first(text: str, places: Iterable[int]) -> list[int]:
    """First those places without a space on either side, where one more says most."""
    return sorted(places, key=lambda place: text[place - 1].isspace() or text[place].isspace())


def _culprit(text: str, breaks: Sequence[str], wrong: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
    """Where to put which of `breaks` into the shortest part of a text that is wrong already."""

    def within(start: int, end: int, put_in: int = 0, by: str = "") -> bool:
        # A harmless letter stands for what is omitted before and after, so that its edges make nothing new.
        broken = f"{text[start : start + put_in]}{by}{text[start + put_in : end]}"
        return wrong(f"{_ANY_TEXT[: start > 0]}{broken}{_ANY_TEXT[: end < len(text)]}")

    end = _least(len(text), lambda length: within(0, length))
    start = end - _least(end, lambda length: within(end - length, end))
    if end - start > 1:
        places = _within_words_first(text[start:end], range(1, end - start))
        tried = [(place, by) for by in breaks for place in places[:_MOST_TRIED]]
        place, by = next((each for each in tried if not within(start, end, *each)), tried[0])
        yield from ((found.start() + place, by) for found in re.finditer(re.escape(text[start:end]), text))
    elif start == 0:
        yield start, breaks[0]
    elif end == len(text):
        yield end, breaks[0]


def _least(most: int, holds: Callable[[int], bool]) -> int:
    """A number up to `most`, of which it holds, that it holds of, and of the one below it not."""
    least = 0
    while most - least > 1:
        middle = (least + most) // 2
        if holds(middle):
            most = middle
        else:
            least = middle
    return most


def _broken(run: Run, cuts: Cuts) -> Run:
    """A run broken up at places in foreign text or at its edges."""
    done, begins, left = [], 0, sorted(cuts)
    for text, source in run:
        ends = begins + len(text)
        own = [cut for cut in left if source.foreign and begins <= cut <= ends]
        left = left[len(own) :]
        parts = [text[first - begins : last - begins] for first, last in pairwise((begins, *own, ends))]
        breaks = (*(cuts[cut] for cut in own), "")
        done.append(("".join(part + by for part, by in zip(parts, breaks, strict=True)), source))
        begins = ends
    return tuple(done)
