"""Who has which task in hand: nothing is lost, nothing is waited for that others could do."""

from dataclasses import replace

import pytest

from engine.cluster.answers import ItemTask, JudgeWork, tasks_of
from engine.cluster.task_queue import MOST_TRIES, AssignedTask, Ledger, Patience
from engine.core.rubric import Criterion, PromptWording, Rubric
from engine.prompt.examples import ExamplePool
from engine.settings.rows import JudgeSettings

PATIENCE = Patience(times=5, least=10, first=100)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def ledger_of(tasks: int, clock: Clock | None = None) -> Ledger:
    groups = [range(start, start + 2) for start in range(0, 4 * tasks, 2)]
    return Ledger(tasks_of(groups, 4), PATIENCE, clock or Clock())


def taken(ledger: Ledger, worker: str) -> AssignedTask:
    hand = ledger.take(worker)
    assert hand is not None
    return hand


def test_groups_are_put_together_and_never_cut() -> None:
    groups = [range(0, 2), range(6, 8), range(8, 10), range(10, 11)]
    assert tasks_of(groups, 4) == [ItemTask(0, (groups[0], groups[1])), ItemTask(1, (groups[2], groups[3]))]
    assert [task.items for task in tasks_of(groups, 1)] == [2, 2, 2, 1]
    assert tasks_of([]) == []


def test_a_worker_has_two_tasks_at_a_time() -> None:
    ledger = ledger_of(5)
    assert [taken(ledger, "a").task.number for _ in range(2)] == [0, 1]
    assert ledger.take("a") is None
    assert ledger.items_in_hand == 8


def test_all_is_done_once_each_task_was_answered() -> None:
    ledger = ledger_of(2)
    first, second = taken(ledger, "a"), taken(ledger, "b")
    assert ledger.finish(first, 8.0)
    assert not ledger.done
    assert ledger.seconds_left is None  # of b nothing is known
    assert ledger.finish(second, 4.0)
    assert ledger.done


def test_the_time_left_is_that_of_all_who_work() -> None:
    ledger = ledger_of(6)
    ledger.finish(taken(ledger, "a"), 8.0)  # 2 s an item
    ledger.finish(taken(ledger, "b"), 4.0)  # 1 s an item
    taken(ledger, "a")
    taken(ledger, "b")
    assert ledger.seconds_left == 16 / 1.5


def test_a_lost_worker_s_tasks_are_the_next_to_do() -> None:
    ledger = ledger_of(4)
    lost = [taken(ledger, "a"), taken(ledger, "a")]
    for hand in lost:
        assert ledger.put_back(hand)
    assert {taken(ledger, "b").task.number, taken(ledger, "b").task.number} == {0, 1}


def test_who_has_nothing_to_do_takes_what_waits_behind_another() -> None:
    ledger = ledger_of(2)
    dropped = []
    first, second = taken(ledger, "slow"), taken(ledger, "slow")
    second.give_up = lambda: dropped.append(second)
    hand = taken(ledger, "idle")
    assert hand.task is second.task
    assert dropped == [second]
    assert ledger.hands["slow"] == [first]
    assert ledger.take("idle") is None  # what has begun stays where it is


def test_a_late_task_goes_to_another_and_the_first_answer_counts() -> None:
    clock = Clock()
    ledger = ledger_of(2, clock)
    late, behind = taken(ledger, "a"), taken(ledger, "a")
    clock.now = 99
    assert ledger.late() == []
    clock.now = 101
    assert ledger.late() == [late]
    assert ledger.late() == []  # said once
    assert behind.let_go
    assert ledger.take("a") is None  # it gets nothing more
    again = [taken(ledger, "b"), taken(ledger, "b")]
    assert {hand.task.number for hand in again} == {0, 1}
    assert ledger.finish(late, 400.0)
    assert [hand.let_go for hand in again if hand.task is late.task] == [True]
    other = next(hand for hand in again if hand.task is not late.task)
    assert ledger.finish(other, 1.0)
    assert ledger.done


def test_the_second_answer_does_not_count() -> None:
    clock = Clock()
    ledger = ledger_of(1, clock)
    late = taken(ledger, "a")
    clock.now = 1000
    ledger.late()
    assert ledger.finish(taken(ledger, "b"), 1.0)
    assert late.let_go
    assert not ledger.finish(late, 1.0)


def test_what_usually_takes_long_is_late_later() -> None:
    clock = Clock()
    ledger = ledger_of(3, clock)
    ledger.finish(taken(ledger, "a"), 400.0)  # 100 s an item
    taken(ledger, "a")
    clock.now = 1999
    assert ledger.late() == []
    clock.now = 2001
    assert len(ledger.late()) == 1


def test_the_clock_of_a_task_begins_when_nothing_is_before_it() -> None:
    clock = Clock()
    ledger = ledger_of(3, clock)
    first, second = taken(ledger, "a"), taken(ledger, "a")
    clock.now = 90
    assert second.began is None
    ledger.finish(first, 1.0)
    assert second.began == 90


def test_a_task_that_no_worker_can_do_is_given_up() -> None:
    ledger = ledger_of(1)
    tries = [ledger.put_back(taken(ledger, worker), fault=True) for worker in "abcdef"[:MOST_TRIES]]
    assert tries == [True] * (MOST_TRIES - 1) + [False]


def test_after_a_stop_only_what_has_begun_is_waited_for() -> None:
    ledger = ledger_of(5)
    first, second = taken(ledger, "a"), taken(ledger, "a")
    ledger.stop()
    assert second.let_go
    assert ledger.take("b") is None
    assert not ledger.done
    ledger.finish(first, 1.0)
    assert ledger.done


# What a worker must know of a run to judge, and by what it knows it again


RUBRIC = Rubric("mine", (Criterion("höflichkeit", "Welche?", good="Gut."),))
WORK = JudgeWork("a model", "d" * 64, 1, RUBRIC, JudgeSettings(), ExamplePool(), None)


@pytest.mark.parametrize(
    "rubric",
    [
        replace(RUBRIC, criteria=(Criterion("höflichkeit", "Welche?", good="Besser."),)),
        replace(RUBRIC, criteria=(Criterion("höflichkeit", "Welche denn?", good="Gut."),)),
        replace(RUBRIC, wording=PromptWording(verdict="Urteil:")),
    ],
    ids=["meaning", "question", "wording"],
)
def test_other_words_are_other_work(rubric: Rubric) -> None:
    assert replace(WORK, rubric=rubric).key != WORK.key


def test_weights_and_names_are_not() -> None:
    other = replace(RUBRIC, name="other", criteria=(replace(RUBRIC.criteria[0], weight=3.0),))
    assert replace(WORK, rubric=other).key == WORK.key
