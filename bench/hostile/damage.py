"""Bytes of a file, damaged as disks, editors, downloads and people damage them.

Knows: bytes and lines. Does not know: formats, what the bytes mean.
"""

from collections.abc import Callable
from random import Random

_Damage = Callable[[bytes, Random], bytes]
_INSERTED = (
    *(
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\x1a",
        b"\x1b[2J",
        b"\r",
        b"\n",
        b"\r\n",
        b"\t",
    ),
    *(
        b'"',
        b'""',
        b"'",
        b",",
        b";",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"null",
        b"NaN",
        b"1e999",
        b"\xe2\x80\xa8",
    ),
)


def damaged(data: bytes, random: Random) -> tuple[bytes, str]:
    """The bytes after one to three damages, and their names."""
    names = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        damage = random.choice(_DAMAGES)
        data = damage(data, random)
        names.append(damage.__name__.removeprefix("_"))
    return data, " + ".join(names)


def _place(data: bytes, random: Random) -> int:
    """Anywhere, rather near the beginning, where the header is."""
    return random.randrange(min(len(data), random.choice((100, len(data) or 1))) or 1)


def _cut_end(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _cut_last_bytes(data: bytes, random: Random) -> bytes:
    return data[: -random.randint(1, 12)]


def _cut_start(data: bytes, random: Random) -> bytes:
    return data[random.randrange(len(data) + 1) :]


def _hole(data: bytes, random: Random) -> bytes:
    start = _place(data, random)
    return data[:start] + data[start + random.randint(1, 60) :]


def _zeros(data: bytes, random: Random) -> bytes:
    start = _place(data, random)
    length = random.randint(1, 60)
    return data[:start] + bytes(len(data[start : start + length])) + data[start + length :]


def _flip(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8)) if data else 0):
        changed[_place(data, random)] ^= 1 << random.randrange(8)
    return bytes(changed)


def _byte(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    if changed:
        changed[_place(data, random)] = random.randrange(256)
    return bytes(changed)


def _insert(data: bytes, random: Random) -> bytes:
    at = _place(data, random)
    return data[:at] + random.choice(_INSERTED) + data[at:]


def _swap_lines(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _double_line(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    return b"\n".join([*lines[:at], lines[at], *lines[at:]])


def _drop_line(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    del lines[random.randrange(len(lines))]
    return b"\n".join(lines)


def _change_delimiters(data: bytes, random: Random) -> bytes:
    old, new = random.sample((b"\t", b",", b";", b"|"), 2)
    return data.replace(old, new, random.choice((1, 3, -1)))


def _remove_quotes(data: bytes, random: Random) -> bytes:
    return data.replace(b'"', b"", random.choice((1, 1, 2, -1)))


def _one_quote_less(data: bytes, random: Random) -> bytes:
    places = [place for place, byte in enumerate(data) if byte == ord('"')]
    if not places:
        return data
    at = random.choice(places)
    return data[:at] + data[at + 1 :]


def _halve_doubled_quotes(data: bytes, random: Random) -> bytes:
    return data.replace(b'""', b'"', random.choice((1, -1)))


def _other_line_ends(data: bytes, random: Random) -> bytes:
    return data.replace(
        b"\n", random.choice((b"\r", b"\r\n", b"\n\n", b"\n\r", b"\xe2\x80\xa8")), random.choice((1, -1))
    )


def _twice(data: bytes, random: Random) -> bytes:
    return data + random.choice((b"", b"\n")) + data


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


_DAMAGES: tuple[_Damage, ...] = (
    *(_cut_end, _cut_last_bytes, _cut_start, _hole, _zeros, _flip, _flip, _byte, _insert, _insert, _insert),
    *(
        _swap_lines,
        _double_line,
        _drop_line,
        _change_delimiters,
        _remove_quotes,
        _one_quote_less,
        _one_quote_less,
    ),
    *(_halve_doubled_quotes, _other_line_ends, _twice, _spaces_in_names, _encode),
)
