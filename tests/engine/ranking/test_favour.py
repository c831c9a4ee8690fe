"""Whom a judge favours: on real judges, in few labels, and of its own family."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.core.events import followed
from engine.core.tables import Sentences
from engine.models.families import families_named, families_of_file
from engine.ranking.favour import favour, favoured_features
from engine.ranking.features import LIKENESS, feature_differences
from engine.ranking.labelled_part import RankedByLabels, by_labels
from engine.report.correction import correction_sections
from tests.engine.ranking.test_labelled_part import GOLD, ITEMS, with_candidates
from tests.engine.ranking.worlds import A, B, comparisons, pandalm_said
from tests.judged import SURE_A, dataset, stored_run, system, text_table
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


def test_a_family_of_several_is_measured_against_all_others() -> None:
    met = [("qwen-a", "x"), ("qwen-b", "x"), ("qwen-a", "qwen-b"), ("x", "y")] * 12
    annotators = comparisons([(*pair, A if place % 2 else B) for place, pair in enumerate(met)])
    judge = comparisons([(*pair, A) for pair in met])
    found = favour(annotators, judge)
    assert [*found][-1] == "qwen (family)"
    family = found["qwen (family)"]
    assert (family.members, family.items, family.instructions) == (("qwen-a", "qwen-b"), 24, 24)
    assert family.difference.value == 0.5  # all of 24 by the judge, half of them by annotators
    # All of them are corrected together.
    alone = favour(*(of.at(of.first == 0) for of in (annotators, judge)))
    assert "qwen (family)" in alone
    assert favour(annotators, annotators)["qwen (family)"].difference.value == 0


def test_what_a_judge_favours_beyond_people_is_found_next_to_what_goes_with_it() -> None:
    random = np.random.default_rng(3)
    length = random.normal(0, 100, 600)
    lists = np.round(length / 50 + random.normal(0, 2, 600))  # long ones have more of them
    liked = random.random(600) < 0.5
    annotators = comparisons([("x", "y", A if each else B) for each in liked])
    by_judge = np.where(random.random(600) < 0.5, lists > 0, liked)
    judge = comparisons([("x", "y", A if each else B) for each in by_judge])
    nowhere = np.where(np.arange(600) < 9, 1.0, 0.0)
    features = {"length": length, "lists": lists, "rare": nowhere, "the same": lists}
    found = favoured_features(annotators, judge, {**features, "bold": random.normal(0, 1, 600)})
    assert [*found] == ["position A", "length", "bold"]  # of two that are one, none is told
    del features["the same"]
    found = favoured_features(annotators, judge, features)
    assert [name for name, one in found.items() if one.is_significant] == ["lists"]
    assert found["lists"].difference.value > 0.15
    nothing = favoured_features(annotators, annotators, features)
    assert {one.difference.value for one in nothing.values()} == {0.0}


def test_features_are_counted_in_the_texts() -> None:
    one = "# Title\n\n- I may go\n- **you** stay\n1. `x`\n\nI can’t help, as an AI."
    found = feature_differences(dataset({"safety": [A]}, outputs=[(one, "#no * plain - text me")]))
    assert {name: float(of[0]) for name, of in found.items()} == {
        "length": len(one) - 21,
        "lists": 3,
        "headings": 1,
        "bold": 1,
        "code": 1,
        "first person": 1,
        "hedging": 1,
        "refusals": 2,
    }


def test_likeness_to_a_reference_is_compared_where_an_item_has_one() -> None:
    texts = [("red fish", "blue bird")] * 3
    items = dataset({"safety": [A, A, A]}, outputs=texts)
    assert LIKENESS not in feature_differences(items)
    with_some = replace(items, others=text_table({"reference": ["A red fish.", "bird", ""]}))
    found = feature_differences(with_some)[LIKENESS]
    assert found.tolist() == pytest.approx([0.8, -2 / 3, 0.0])  # F of 2/2 and 2/3; of 1/2 and 1/1


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
