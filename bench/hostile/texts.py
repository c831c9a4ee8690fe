"""Texts that try readers of tables: quotes, line ends, scripts, what looks like numbers or markup; bytes of
a file, damaged as disks, editors, downloads and people damage them."""

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


LABELS = ("A", "B", "both_good", "both_bad")
# The last: Cyrillic.
STRANGE_LABELS = ("a", "A ", "both good", "BOTH_GOOD", "tie", "C", "None", "0", "\ufeffA", "А")

_PIECES = (
    *('"', '""', '"""', "'", "“quoted”", "\\", '\\"', "\\n", "\\t", "\\u0041", "/*", "#", "\t", "\n"),
    *("\r\n", "\r", "\n\n", "\r\r", " ", "  ", "\u00a0", "\u200b", "\u3000", ",", ";", "|", ":", "{"),
    *("}", "[", "]", '{"id": 1}', "[[1, 2]]", "<b>", "&amp;", "<|im_end|>", "\u2028", "\u2029", "\x85"),
    *("\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x1b[31m", "\x07", "\x7f", "שלום"),
    *("\u202eabc\u202c", "مرحبا", "e\u0301\u0302\u0303", "e\u0301" * 40, "日本語", "👩‍👩‍👧", "𝔘", "\ufeff"),
    *("Ã©", "â€™", "ÿ", "\ufffd", "\uffff", "\U0010ffff", "ﬁ", "İ", "ß", "NA", "N/A", "null", "NULL"),
    *("NaN", "None", "nan", "true", "1e999", "-0", "007", "1_000", "=1+1", "@x", "word", "two words"),
    *("A", "B", "both_good", "id", "instruction", "output_a"),
)
_WORDS = words("the answer is forty-two Paris response better because it says so naïve")
_ID_FORMS = (*words('{} {:05} item-{} {}.0 0x{} 1e{} é{} q"{} =x{} -{} {},5'), *(" {} ", "a\tb{}", "{}\n2"))
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
    form = random.choice(_ID_FORMS)
    return form.format(number + 1)


# Damage


def with_odd_value(value: Any, odd_values: Sequence[str], random: Random) -> tuple[str, str]:
    """A record as JSON with an odd value within, or a key gone, doubled or renamed; and which."""
    place: Any = value
    key: Any = random.choice(_keys(value))
    while _keys(place[key]) and random.random() < 0.85:
        place = place[key]
        key = random.choice(_keys(place))
    how, odd = (
        random.choice(("odd", "odd", "odd", "odd", "gone", "twice", "renamed")),
        random.choice(odd_values),
    )
    if how == "gone":
        del place[key]
        return json.dumps(value), f"without {key}"
    if how == "renamed" and isinstance(place, dict):
        place[f"{key}x"] = place.pop(key)
        return json.dumps(value), f"{key} renamed"
    mark = "@here@"
    kept, place[key] = json.dumps(place[key]), mark
    if how == "twice" and isinstance(place, dict):
        odd, how = f"{odd}, {json.dumps(key)}: {kept}", f"{key} twice"
    else:
        how = f"{key} = {odd[:30]}"
    return json.dumps(value).replace(f'"{mark}"', odd or "null"), how


def _keys(value: Any) -> Sequence[Any]:
    return list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()


_Damage = Callable[[bytes, Random], bytes]
_INSERTED = (
    *rb'" "" \' , ; \ { } [ ] : null NaN 1e999'.split(),
    *(b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x1a", b"\x1b[2J", b"\xe2\x80\xa8"),
    *(b"\r", b"\n", b"\r\n", b"\t"),
)


def damaged(data: bytes, random: Random) -> tuple[bytes, str]:
    """The bytes after one to three damages, and their names."""
    names = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        name, damage = random.choice(_DAMAGES)
        data = damage(data, random)
        names.append(name)
    return data, " + ".join(names)


def _place(data: bytes, random: Random) -> int:
    """Anywhere, rather near the beginning, where the header is."""
    return random.randrange(min(len(data), random.choice((100, len(data) or 1))) or 1)


def _exchanged(most: int, new: Callable[[bytes, Random], bytes]) -> _Damage:
    """So many bytes somewhere, one at least unless none is asked for, become others."""

    def damage(data: bytes, random: Random) -> bytes:
        start, length = _place(data, random), random.randint(min(most, 1), most)
        return data[:start] + new(data[start : start + length], random) + data[start + length :]

    return damage


def _flip(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8)) if data else 0):
        changed[_place(data, random)] ^= 1 << random.randrange(8)
    return bytes(changed)


def _lines(data: bytes, random: Random) -> bytes:
    """Two lines change places, one is doubled, or one is dropped."""
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    how = random.randrange(3)
    if how == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif how == 1:
        lines.insert(one, lines[one])
    else:
        del lines[one]
    return b"\n".join(lines)


def _change_delimiters(data: bytes, random: Random) -> bytes:
    old, new = random.sample((b"\t", b",", b";", b"|"), 2)
    return data.replace(old, new, random.choice((1, 3, -1)))


def _one_quote_less(data: bytes, random: Random) -> bytes:
    places = [place for place, byte in enumerate(data) if byte == ord('"')]
    if not places:
        return data
    at = random.choice(places)
    return data[:at] + data[at + 1 :]


def _other_line_ends(data: bytes, random: Random) -> bytes:
    return data.replace(
        b"\n", random.choice((b"\r", b"\r\n", b"\n\n", b"\n\r", b"\xe2\x80\xa8")), random.choice((1, -1))
    )


def _spaces_in_names(data: bytes, random: Random) -> bytes:
    name = random.choice((b"id", b"instruction", b"output_a", b"output_b", b"relevance_preference"))
    new = random.choice(
        (b" " + name, name + b" ", name.upper(), name.title(), name.replace(b"_", b" "), b"id")
    )
    return data.replace(name, new, random.choice((1, -1)))


def _encode(data: bytes, random: Random) -> bytes:
    coding = random.choice(
        ("utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252", "utf-32", "utf-8-sig", "utf-7")
    )
    return data.decode("utf-8", "replace").encode(coding, "replace")


def _named(*damages: Callable[[bytes, Random], bytes]) -> list[tuple[str, _Damage]]:
    return [(damage.__name__.removeprefix("_"), damage) for damage in damages]


_DAMAGES: Sequence[tuple[str, _Damage]] = (
    ("cut_end", lambda data, random: data[: random.randrange(len(data) + 1)]),
    ("cut_last_bytes", lambda data, random: data[: -random.randint(1, 12)]),
    ("cut_start", lambda data, random: data[random.randrange(len(data) + 1) :]),
    ("hole", _exchanged(60, lambda _old, _random: b"")),
    ("zeros", _exchanged(60, lambda old, _random: bytes(len(old)))),
    ("byte", _exchanged(1, lambda old, random: random.randbytes(len(old)))),
    *[("insert", _exchanged(0, lambda _old, random: random.choice(_INSERTED)))] * 3,
    *_named(_flip, _flip, _lines, _lines, _lines, _change_delimiters),
    ("remove_quotes", lambda data, random: data.replace(b'"', b"", random.choice((1, 1, 2, -1)))),
    ("halve_doubled_quotes", lambda data, random: data.replace(b'""', b'"', random.choice((1, -1)))),
    *_named(_one_quote_less, _one_quote_less, _other_line_ends),
    ("twice", lambda data, random: data + random.choice((b"", b"\n")) + data),
    *_named(_spaces_in_names, _encode),
)
