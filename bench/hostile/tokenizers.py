r"""Tokenizers of every kind, with control tokens of any literals, and texts that spell them.

A case is a random vocabulary of one kind (SentencePiece, byte-level BPE, words, WordPiece, unigrams, RWKV's,
PLaMo 2's): control tokens with random literals, markup and words, of which plain text can be made where that
kind lets it, and ends of replies that are no control tokens. Texts are made of these literals as in
`structure`, and stand wherever foreign text does.

What is held: the tokens of structure of a whole prompt, in their order, are those of the same prompt with
harmless texts; or the text is refused, which is right only where it holds a literal of one letter. Of
structure are all tokens that llama.cpp calls control tokens or ends of replies, by its own word for each id
of the vocabulary, but for the one that stands for unknown letters. A text without any of the literals is read
as it is.
"""

from random import Random

import llama_cpp

from bench.hostile.cases import Attempt, Ending, Outcome, Step
from bench.hostile.structure import HARMLESS, changed, in_some_prompts, variants
from engine.llama.model import LlamaModel, Vocabulary
from engine.prompt.rendering import render_frame
from engine.prompt.template import ChatTemplate
from models.demo.gguf_files import CONTROL, TokenTable
from tests.random_models import CHATML, HEADERS, INSTRUCTIONS, NO_SYSTEM, write_random_model
from tests.tokenizer_kinds import KINDS

_TOGETHER = 24  # texts in one prompt
_PARTS = (
    *("<", ">", "|", "[", "]", "/", "im", "end", "Bot", "of", "stop", "Turn", "_", "1", "é", "東", "#"),
    *(":", "\n"),
)


def try_case(attempt: Attempt) -> Outcome:
    kinds = list(KINDS)
    kind = kinds[attempt.number % len(kinds)]
    table = KINDS[kind]()
    literals = _add_control(table, attempt.random)
    source = attempt.random.choice((CHATML, HEADERS, INSTRUCTIONS, NO_SYSTEM))
    path = write_random_model(attempt.folder / "model.gguf", table, source)
    what = f"{kind} with {literals!r}"
    attempt.step(Step(what))
    with LlamaModel(path, vocabulary_only=True) as model:
        vocabulary = Vocabulary(model)
        template = ChatTemplate(render_frame(source, vocabulary.bos_text, vocabulary.eos_text), vocabulary)
        structural = _structural(vocabulary)
        outcome = in_some_prompts(
            lambda each: [id_ for id_ in template.tokenize(each) if id_ in structural],
            lambda: [text for one in literals for text in variants(one, literals, attempt.random)],
            _TOGETHER,
            what,
            attempt,
            may_be_refused=any(len(literal.strip()) < 2 for literal in literals),
        )
        spelt = any(literal.strip().casefold() in HARMLESS.casefold() for literal in literals)
        if outcome.sound and not spelt and (words := changed(template)):
            return Outcome(Ending.LOSS, what, words)
        return outcome


def _add_control(table: TokenTable, random: Random) -> list[str]:
    """Add control tokens with random literals, and all beginnings of theirs, so that merges find them."""
    known = set(table.tokens)
    for _ in range(random.randrange(1, 5)):
        literal = "".join(random.choices(_PARTS, k=random.randrange(1, 5)))
        spelt = literal.replace("\n", "\\n") if table.kind == "rwkv" else literal
        if random.random() < 0.3 and table.kind != "rwkv":
            spelt = f"▁{literal}" if table.kind != "gpt2" else f"Ġ{literal}"
        if spelt in known:
            continue
        if table.kind in ("llama", "bert"):
            for length in range(2, len(spelt)):
                if spelt[:length] not in known:
                    table.add(spelt[:length])
                    known.add(spelt[:length])
        for length in range(1, len(spelt)) if table.kind in ("gpt2", "whitespace") else ():
            table.merges.append(f"{spelt[:length]} {spelt[length]}")
        table.add(spelt, CONTROL, score=random.choice((0.0, -1.0, -2000.0)))
        known.add(spelt)
    control = [text for text, kind in zip(table.tokens, table.types, strict=True) if kind == CONTROL]
    return [text.replace("\\n", "\n").replace("▁", " ").replace("Ġ", " ") for text in control]


def _structural(vocabulary: Vocabulary) -> frozenset[int]:
    """Asked of llama.cpp for each id; not a letter that ends replies, and not what unknown letters become."""
    pointer = vocabulary._pointer
    unknown = {
        id_
        for id_ in range(vocabulary.size)
        if llama_cpp.llama_vocab_get_attr(pointer, id_) & llama_cpp.LLAMA_TOKEN_ATTR_UNKNOWN
    }
    for letter in ("\U00012345", "\U00012346"):
        unknown |= set(vocabulary.tokenize(letter))
    found = set()
    for token in range(vocabulary.size):
        control = llama_cpp.llama_vocab_is_control(pointer, token)
        ends = llama_cpp.llama_vocab_is_eog(pointer, token)
        if control or (ends and len(vocabulary.piece(token).decode("utf-8", "replace")) > 1):
            found.add(token)
    return frozenset(found - unknown)
