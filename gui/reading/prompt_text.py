"""A prompt of the engine made ready to be shown: what is invisible written out, places as Qt counts them.

Knows: the engine's preview of a prompt. Does not know: how it was made, widgets.
"""

import json
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.core.formatting import HIDDEN
from gui.reading.prompt_pane import Ink, InkedSpan, ShownPrompt, TokenMark

if TYPE_CHECKING:
    from engine.prompt.preview import Preview


def shown_prompt(preview: "Preview", quoted: dict[int, str]) -> ShownPrompt:
    """A prompt with invisible characters written out, its places as Qt counts them.

    `quoted`: what tokens write, by their ids, as far as it was needed before.
    """
    for token in preview.tokens:
        if token.id not in quoted:
            quoted[token.id] = json.dumps(token.piece, ensure_ascii=False)
    ends = [(span.start, span.end) for span in preview.spans]
    ends += [(token.start, token.end) for token in preview.tokens]
    cuts = sorted({0, len(preview.text), *(place for both in ends for place in both)})
    places, texts, length = {0: 0}, [], 0
    for start, end in pairwise(cuts):
        text = HIDDEN.sub(lambda found: repr(found[0])[1:-1], preview.text[start:end])
        texts.append(text)
        length += len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
        places[end] = length
    return ShownPrompt(
        text="".join(texts),
        exact=preview.text,
        spans=tuple(
            InkedSpan(places[span.start], places[span.end], Ink(span.source)) for span in preview.spans
        ),
        tokens=tuple(
            TokenMark(
                token.id,
                quoted[token.id],
                places[token.start],
                places[token.end],
                tuple(map(Ink, token.sources)),
            )
            for token in preview.tokens
        ),
        stem=preview.stem,
        trunk=preview.trunk,
        branch=preview.branch,
        changed=not preview.exact,
    )
