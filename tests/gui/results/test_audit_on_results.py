"""What is wrong with a judge on Results: for a run of copies, with human labels and without."""

from pathlib import Path

from gui.results.score_jobs import Scores, measure_labels
from tests.gui.jobs import done
from tests.judged import run_of_copies


def keys(scores: Scores) -> list[str]:
    return [section.key for section in scores.sheet.sections]


def test_scores_of_a_run_of_copies_say_what_is_wrong_with_its_judge(tmp_path: Path) -> None:
    audited, probes = run_of_copies(tmp_path)
    assert audited.results is not None
    held = done(measure_labels(audited.results, probes))
    alone = done(measure_labels(audited.results, None, own=probes))
    unknown = done(measure_labels(audited.results, None))
    assert [keys(scores).count("audit") for scores in (held, alone, unknown)] == [1, 1, 0]
