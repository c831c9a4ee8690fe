"""Texts that try readers of tables: quotes, line ends, scripts, what looks like numbers or markup.

Knows: characters. Does not know: files, formats.
"""

from random import Random

LABELS = ("A", "B", "both_good", "both_bad")
STRANGE_LABELS = (
    "a",
    "A ",
    "both good",
    "BOTH_GOOD",
    "tie",
    "C",
    "None",
    "0",
    "\ufeffA",
    "А",
)  # the last: Cyrillic

_PIECES = (
    *('"', '""', '"""', "'", "“quoted”", "\\", '\\"', "\\n", "\\t", "\\u0041", "/*", "#"),
    *("\t", "\n", "\r\n", "\r", "\n\n", "\r\r", " ", "  ", "\u00a0", "\u200b", "\u3000"),
    *(",", ";", "|", ":", "{", "}", "[", "]", '{"id": 1}', "[[1, 2]]", "<b>", "&amp;", "<|im_end|>"),
    *("\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x1b[31m", "\x07", "\x7f"),
    *(
        "שלום",
        "\u202eabc\u202c",
        "مرحبا",
        "e\u0301\u0302\u0303",
        "e\u0301" * 40,
        "日本語",
        "👩‍👩‍👧",
        "𝔘",
        "\ufeff",
    ),
    *("Ã©", "â€™", "ÿ", "\ufffd", "\uffff", "\U0010ffff", "ﬁ", "İ", "ß"),
    *("NA", "N/A", "null", "NULL", "NaN", "None", "nan", "true", "1e999", "-0", "007", "1_000", "=1+1", "@x"),
    *("word", "two words", "A", "B", "both_good", "id", "instruction", "output_a"),
)
_WORDS = (
    "the",
    "answer",
    "is",
    "forty-two",
    "Paris",
    "response",
    "better",
    "because",
    "it",
    "says",
    "so",
    "naïve",
)
NUL = "\0"
LONE_SURROGATE = "\ud800"


def text(random: Random, nul: bool = True) -> str:
    """A text of nothing, words, or anything; rarely a very long one, or one with a NUL."""
    kind = random.random()
    if kind < 0.06:
        return ""
    if kind < 0.4:
        return " ".join(random.choices(_WORDS, k=random.randint(1, 12)))
    if kind < 0.43:
        return random.choice(("x", "日", 'a"', "a b\n", "\t")) * random.randint(2_000, 40_000)
    if kind < 0.46 and nul:
        return "before" + NUL + "after"
    pieces = random.choices(_PIECES, k=random.randint(1, 6))
    return "".join(random.choice((piece, f"{piece} ", f"{random.choice(_WORDS)}{piece}")) for piece in pieces)


def item_id(random: Random, number: int) -> str:
    """An id that no other number gives: plain, with zeros or spaces around, or strange."""
    form = random.choice(
        (
            "{}",
            "{:05}",
            "item-{}",
            " {} ",
            "{}.0",
            "0x{}",
            "1e{}",
            "é{}",
            "a\tb{}",
            'q"{}',
            "{}\n2",
            "=x{}",
            "-{}",
            "{},5",
        )
    )
    return f"{form.format(number + 1)}"
