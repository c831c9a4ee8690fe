"""Marks around foreign text that the text itself can neither end nor imitate.

Knows: titles and marks. Does not know: what is asked, chat templates, tokens.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from engine.core.rubric import USUAL_WORDING, put_in
from engine.prompt.parts import Part, Source, foreign, own


@dataclass(frozen=True)
class Fences:
    """The marks of one prompt: `[Title]` and `[End of Title]` for each of its `titles`.

    `end`: how a title's end is called, `{title}` standing for it.
    """

    titles: tuple[str, ...]
    end: str = USUAL_WORDING.end

    def block(self, title: str, text: str, source: Source) -> tuple[Part, ...]:
        """Foreign text between its two marks."""
        inside = foreign(self.without(text), source)
        return own(f"[{title}]\n"), inside, own(f"\n[{put_in(self.end, title=title)}]\n\n")

    def without(self, text: str) -> str:
        """Foreign text in which every mark of the prompt got a space, so that it is a mark no more."""
        return self._marks.sub(r"[ \1", text)

    @cached_property
    def _marks(self) -> re.Pattern[str]:
        ends = [put_in(self.end, title=title) for title in self.titles]
        inside = "|".join(map(re.escape, (*self.titles, *ends)))
        return re.compile(rf"\[((?:{inside})\])", re.I)
