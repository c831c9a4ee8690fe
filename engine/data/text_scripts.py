"""In which script texts are written, by the Unicode names of their letters, and whether they hold code.

Knows: letters and their names. Does not know: languages, datasets.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache

MIXED = "mixed scripts"
CODE = "with code"
NONE = "no letters"

_LOOKED_AT = 1000  # characters of each text
_MAIN = 0.8  # the share of the letters that makes one script the text's
_KANA = 0.1  # of Han and Kana together: from here on it is Japanese
_SCRIPTS = {"CJK": "Han", "HIRAGANA": "Kana", "KATAKANA": "Kana", "HALFWIDTH": "Kana", "FULLWIDTH": "Latin"}
# A fence; or a line of program text: it ends as one does, or begins as one does and has a sign of one.
_FENCE = re.compile(r"^\s*```", re.MULTILINE)
_CODE_LINE = re.compile(
    r"^\s*(?:(?:def|class|function|fn|public|private|static|void|for|while|if)\b.*[({:]\s*"
    r"|(?:import|from|#include|using|package)\s[\w.<\"/{}*, ]+[;>\"]?"
    r"|[^\s].*[;{}]\s*|[\w.\[\]]+\s*=\s*\S.*|return\b.*)$"
)
_LEAST_CODE_LINES = 2


def script_of(texts: Iterable[str]) -> str:
    """The script of most letters of some texts: `Latin`, `Cyrillic`, `Han`, `Japanese`; MIXED where none has
    four fifths of them; CODE where a text holds program text; NONE without a letter.

    The first 1,000 characters of each text are looked at. Latin letters beside another script count as
    the others do.
    """
    begun = [text[:_LOOKED_AT] for text in texts]
    if any(map(_holds_code, begun)):
        return CODE
    found: Counter[str] = Counter()
    for text in begun:
        for letter, count in Counter(text).items():
            if letter.isalpha():
                found[_script(letter)] += count
    japanese = found["Han"] + found["Kana"]
    if found["Kana"] and found["Kana"] >= _KANA * japanese:
        del found["Han"], found["Kana"]
        found["Japanese"] = japanese
    if not found:
        return NONE
    [(script, count)] = found.most_common(1)
    return script if count >= _MAIN * found.total() else MIXED


@cache
def _script(letter: str) -> str:
    """The script of a letter: the first word of its name, `LATIN SMALL LETTER A`."""
    name = unicodedata.name(letter, "other letters").split()[0]
    return _SCRIPTS.get(name, name.capitalize())


def _holds_code(text: str) -> bool:
    if "```" in text and _FENCE.search(text):
        return True
    if not any(sign in text for sign in ("=", ";", "{", "(")) or "\n" not in text:
        return False
    lines = [line for line in text.split("\n") if line.strip()]
    code = sum(len(line) < 200 and _CODE_LINE.match(line) is not None for line in lines)
    return code >= _LEAST_CODE_LINES and 2 * code >= len(lines)
