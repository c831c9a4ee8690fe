"""The page of an audit in reports and on Results: there for runs of copies, and for no others."""

from pathlib import Path

import pytest

from engine.core.tables import Table
from engine.data.dataset import Dataset
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import System, match
from engine.report.audit import audit_of_copies
from engine.report.html_report import gather, report_html, report_sheet
from tests.judged import FOUR_ITEMS, results_of, run_of_copies


@pytest.fixture
def audited(tmp_path: Path) -> tuple[System, Dataset]:
    """A run of copies that prefers what is padded on B's side."""
    return run_of_copies(tmp_path)


def test_a_report_of_copies_has_the_page(audited: tuple[System, Dataset]) -> None:
    report = gather(evaluate(match(*audited)))
    sheet = report_sheet(report)
    section = sheet.sections[1]
    assert section.key == "audit"
    [table] = [part for part in section.parts if isinstance(part, Table)]
    with_filler = dict(zip([row[0] for row in table.rows], table.rows, strict=True))["length: filler"]
    # A wins nothing for A padded, and for B padded it loses .4 + .9 of its lead.
    assert str(with_filler[1]).startswith("64.0 (")
    assert with_filler[3] == "fault"
    assert "Robustness audit of the judge" in report_html(report, {})


def test_other_runs_do_not_have_it(tmp_path: Path) -> None:
    results = results_of(tmp_path, [])
    assert audit_of_copies(results, FOUR_ITEMS) is None
    assert audit_of_copies(results, None) is None
