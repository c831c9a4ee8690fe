"""Whom a judge favours: on real judges, in few labels, and of its own family."""

from pathlib import Path

import pytest

from engine.core.events import followed
from engine.core.tables import Sentences
from engine.models.families import families_named, families_of_file
from engine.ranking.favour import favour
from engine.ranking.labelled_part import RankedByLabels, by_labels
from engine.report.correction import correction_sections
from tests.engine.ranking.test_labelled_part import GOLD, ITEMS, with_candidates
from tests.engine.ranking.worlds import A, B, comparisons, pandalm_said
from tests.judged import SURE_A, stored_run, system
from tests.model_files import PublishedFile, named


def test_the_judges_of_pandalm(shared_data: Path) -> None:
    said = pandalm_said(shared_data, "judge_gpt_3_5", "judge_pandalm_7b")
    found = favour(said["people"], said["judge_pandalm_7b"])
    one = found["llama-7b"]
    assert 100 * one.difference.value == pytest.approx(-8.4, abs=0.05)
    assert 100 * one.standard_error == pytest.approx(2.7, abs=0.05)
    assert one.difference.value / one.standard_error == pytest.approx(-3.1, abs=0.05)
    assert [name for name in found if found[name].is_significant] == ["llama-7b"]
    fair = favour(said["people"], said["judge_gpt_3_5"])
    assert 100 * max(abs(one.difference.value) for one in fair.values()) == pytest.approx(2.3, abs=0.05)
    assert not any(one.is_significant for one in fair.values())


def test_only_what_both_said_counts_and_nine_instructions_are_too_few() -> None:
    annotators = comparisons([("x", "y", A)] * 20 + [("x", "z", A)] * 9 + [("x", "y", None)] * 20)
    judge = comparisons(
        [("x", "y", B)] * 10 + [("x", "y", None)] * 10 + [("x", "z", B)] * 9 + [("x", "y", A)] * 20
    )
    found = favour(annotators, judge)
    assert [*found] == ["y", "x"]
    assert [(one.items, one.difference.value) for one in found.values()] == [(10, 1.0), (19, -1.0)]


@pytest.mark.parametrize(
    ("name", "families"),
    [
        ("DeepSeek-R1-Distill-Qwen-7B-Q4_K_M", {"deepseek", "qwen"}),
        ("Mixtral-8x7B-Instruct-v0.1", {"mistral"}),
        ("gpt4_1106_preview", {"gpt"}),
        ("cerebras-gpt-6.7B", set()),
        ("ollama", set()),
        ("optimal", set()),
    ],
)
def test_a_name_tells_its_family_by_whole_words(name: str, families: set[str]) -> None:
    assert families_named(name) == families


def test_a_file_tells_its_family_by_its_base_model_and_as_llama_by_that_alone(tmp_path: Path) -> None:
    keys = {**named("Judge", basename="Judge"), "general.base_model.0.name": "Gemma 2 9B"}
    fine_tuned = PublishedFile("m.gguf", keys=keys).write(tmp_path)
    assert families_of_file(fine_tuned) == {"gemma"}
    assert families_of_file(PublishedFile("l.gguf", keys=named("Judge")).write(tmp_path)) == set()
    assert families_of_file(PublishedFile("q.gguf", "qwen2", named("Judge")).write(tmp_path)) == {"qwen"}
    assert families_of_file(tmp_path / "nothing.gguf") == set()


def sentences(found: RankedByLabels) -> list[str]:
    section = next(each for each in correction_sections(found) if each.key == "favour")
    return [text for part in section.parts if isinstance(part, Sentences) for text in part.texts]


def test_a_judge_of_a_candidates_family_is_named_before_there_are_labels(tmp_path: Path) -> None:
    keys = named("Judge", basename="Llama-3.1")
    judge = stored_run(
        tmp_path,
        GOLD,
        {"safety": [SURE_A] * ITEMS},
        model_path=PublishedFile("judge.gguf", keys=keys).write(tmp_path),
    )
    found = followed(by_labels(judge, GOLD, "safety"), id)
    assert found.same_family == {"llama": ["llama"]}
    (said,) = sentences(found)
    assert "(llama): llama. " in said
    assert said.endswith("only human labels can show.")


def test_whom_a_judge_favours_is_said_where_all_items_are_labelled() -> None:
    # The three meet in turn; annotators always prefer A, the judge llama.
    gold = with_candidates([A] * ITEMS)
    judge = system({"safety": [B if place % 3 == 2 else A for place in range(ITEMS)]})
    found = followed(by_labels(judge, gold, "safety"), id)
    assert found.correction is None
    favours, harder, then = sentences(found)
    assert favours == "This judge favours llama (by 50.0 points)."
    assert harder == "This judge is harder than annotators on pythia (by 50.0 points)."
    assert then.startswith("Rank by human labels instead. A calibration")
    alike = followed(by_labels(system({"safety": [A] * ITEMS}), gold, "safety"), id)
    (said,) = sentences(alike)
    assert said.startswith("No candidate is significantly favoured, nor judged too strictly")
