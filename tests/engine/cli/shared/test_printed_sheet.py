"""Sheets in a terminal."""

import pytest

from engine.cli.shared.console import print_sheet
from engine.core.tables import Column, Facts, Kind, Picture, Section, Sentences, Sheet, Table

TABLE = Table((Column("n", "n", Kind.NAME, "A name."), Column("k", "k", Kind.COUNT, "A count.")), [["x", 1]])


def test_every_part_is_printed_with_foreign_text_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    facts = Facts([("a", "one"), ("long", "two\x1b")])
    sections = [
        Section("said", "By \x1b", [Sentences(["First.", "Second."]), facts], "A note."),
        Section("table", "", [TABLE, Picture("it", "How it is read.")]),
    ]
    print_sheet(Sheet("title\x07", sections))
    assert capsys.readouterr().out == (
        "title\\x07\n\nBy \\x1b:\nFirst.\nSecond.\n\na     one\nlong  two\\x1b\n(A note.)\n\nn  k\nx  1\n"
    )
