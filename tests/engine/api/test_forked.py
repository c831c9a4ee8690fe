"""The names for notebooks in a pool of processes that are forked, as multiprocessing makes them."""

import os
from multiprocessing import get_context

import pytest

import tiebreak

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked on this system")
SECONDS = 300  # on a busy computer


def judged(judge: tiebreak.Judge, first: int) -> tuple[list[str], list[int]]:
    """Two items, and a pair of a trainer's."""
    frame = tiebreak.read(tiebreak.demo_dataset()).iloc[first : first + 2]
    found = judge.run(frame, progress=False)
    pair = tiebreak.PairwiseJudge(judge).judge([f"Name colour {first}."], [["Blue.", "Blue."]])
    assert found.evaluate().index.tolist()
    return found.labels.index.tolist(), pair


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::engine.api.refused.TiebreakNotice")
def test_children_judge_and_read_runs_after_their_parent_did(judge: tiebreak.Judge) -> None:
    assert judged(judge, 0) == (["1", "2"], [-1])
    with get_context("fork").Pool(2) as pool:
        found = pool.starmap_async(judged, [(judge, 2), (judge, 4)]).get(SECONDS)
        assert found == [(["3", "4"], [-1]), (["5", "6"], [-1])]
        assert pool.apply_async(tiebreak.runs, (judge.store,)).get(SECONDS) == tiebreak.runs(judge.store)
    assert len(tiebreak.runs(judge.store)) == 6
