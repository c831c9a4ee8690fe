"""What `engine` itself offers: a short sorted list of real names."""

import engine


def test_the_exported_names_are_sorted_and_real() -> None:
    assert engine.__all__ == sorted(engine.__all__, key=str.casefold)
    assert all(hasattr(engine, name) for name in engine.__all__)


def test_the_weighted_judge_is_among_them() -> None:
    result = engine.pairwise_preference_judge(
        [{"id": 1, "scores_a": {"quality": 2}, "scores_b": {"quality": 1}}], {"quality": 1}, 0.5
    )
    assert result["win_rate_a"] == 1.0
