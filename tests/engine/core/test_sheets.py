"""Sheets: a section is replaced in its place."""

from engine.core.tables import Section, Sheet

SHEET = Sheet("title", [Section("one", "One", []), Section("two", "Two", [])])


def test_a_section_takes_the_place_of_that_with_its_key() -> None:
    titles = [each.title for each in SHEET.with_section(Section("one", "Another", [])).sections]
    assert titles == ["Another", "Two"]
    titles = [each.title for each in SHEET.with_section(Section("three", "Three", [])).sections]
    assert titles == ["One", "Two", "Three"]
    assert [each.key for each in SHEET.without("one").sections] == ["two"]
