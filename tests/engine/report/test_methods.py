"""The paragraph of methods: what it says of runs, submissions and people, each sentence with its source."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.annotations.effective import EffectiveAnnotation
from engine.calibration.jury import make_jury
from engine.core import RELEASED, VERSION
from engine.core.events import followed
from engine.core.judgments import JudgmentKey
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import match, system_of_run
from engine.ranking.ranking import Ranking, rank
from engine.report import methods
from engine.report.evaluation import evaluation_methods
from engine.report.rankings import RankedBy, ranking_methods
from engine.system.paths import demo_model
from tests.engine.ranking.worlds import davidson_comparisons
from tests.judged import SURE_A, A, B, dataset, matched, stored_run, system

GOLD = dataset({"safety": [A, A, B, A]})


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    return followed(rank(davidson_comparisons([0.8, 0.0, -0.8], 120, seed=1)))


def text_of(ranked: RankedBy, ranking: Ranking) -> str:
    return methods.methods_text(ranking_methods(ranked, ranking, seed=7))


def of_run(folder: Path, **changes: Any) -> RankedBy:
    return RankedBy.by_system(stored_run(folder, GOLD, {"safety": [SURE_A] * 4}, **changes), GOLD, "safety")


def test_each_sentence_has_a_number_and_each_number_a_source(tmp_path: Path, ranking: Ranking) -> None:
    ranked = of_run(tmp_path)
    said = ranking_methods(ranked, ranking, 7)
    text = text_of(ranked, ranking)
    sources = list(dict.fromkeys(each.source for each in said))
    for each in said:
        assert f"{each.text} [{sources.index(each.source) + 1}]" in text
    for number, source in enumerate(sources, 1):
        assert f"\n[{number}] {source}\n" in text


def test_a_run_is_told_by_its_facts(tmp_path: Path, ranking: Ranking) -> None:
    model = demo_model()
    manifest = {"llama_cpp": "llama.cpp b1", "model_bytes": model.stat().st_size}
    named = {"model_path": model, "model_name": "demo-judge", "manifest": manifest}
    text = text_of(of_run(tmp_path, **named), ranking)
    for part in (
        "3 candidates (c0, c1, c2) were compared in 120 pairs of responses to",
        "The judge is demo-judge (F16), run with llama.cpp b1. ",
        "prompt version 7 of Tiebreak, by label tokens: safety, “",
        "Items were read in both orders;",
        "Its probabilities were not calibrated.",
        "All labels are the judge's.",
        "of 1,000 bootstrap samples of instructions (seed 7)",
        f"SHA-256 {'f' * 64}",
        f"SHA-256 of its texts {GOLD.hash}",
    ):
        assert part in text


def test_what_is_not_known_is_said(tmp_path: Path, ranking: Ranking) -> None:
    text = text_of(of_run(tmp_path, manifest={}), ranking)
    assert "a model (quantisation not known, the file is gone or another)" in text
    theirs = system({"safety": [A] * 4}, name="theirs.tsv")
    text = text_of(RankedBy.by_system(theirs, GOLD, "safety"), ranking)
    assert "The labels on safety are those of theirs.tsv; how they were made is not recorded." in text
    assert "prompt version" not in text


def test_without_strengths_nothing_is_said_of_them(tmp_path: Path, ranking: Ranking) -> None:
    text = text_of(of_run(tmp_path), replace(ranking, bradley_terry=None))
    assert "Bradley-Terry" not in text
    assert "Korn and Graubard" in text


def test_what_is_unscored_is_counted_and_said_how_it_counts() -> None:
    gold = dataset({"safety": [A] * 4, "relevance": [A] * 4}, {"safety": ["It is safe."] * 4})
    said = {"safety": ["It is.", "", "", "It is."]}
    judge = system({"safety": [A, None, None, B], "relevance": [A, A, A, None]}, said)
    text = methods.methods_text(evaluation_methods(evaluate(match(judge, gold))))
    unscored = "Of the 8 human labels 3 are unscored by the judge and count as wrong:"
    assert f"{unscored} relevance (1), safety (2)." in text
    assert "The judge explains 2 of 4; the others count 0." in text
    whole = methods.methods_text(evaluation_methods(evaluate(matched([A, B], [A, A]))))
    assert "The judge has a label for each of the 2 human labels: none is unscored." in whole


def test_an_evaluation_is_told_by_its_data_its_judge_and_its_measures(tmp_path: Path) -> None:
    run = stored_run(tmp_path, GOLD, {"safety": [SURE_A] * 4}, {"safety": "A is safe."})
    evaluation = evaluate(match(run, GOLD))
    text = methods.methods_text(evaluation_methods(evaluation, "an encoder"))
    for part in (
        "Run 1 was compared with 4 human labels of 4 items, pairs of responses to 4 instructions, on 1"
        " criterion: safety (4). [1]",
        "The judge is a model (",
        "Its probabilities were not calibrated.",
        "Its 95 % interval is that of Korn and Graubard (1998) over instructions.",
        f"computed with Tiebreak {VERSION} (The Tiebreak authors {RELEASED[:4]}).",
        f"[1] gold.tsv, the columns of human labels; SHA-256 of its texts {GOLD.hash}",
    ):
        assert part in text
    assert "ROUGE-L" not in text  # people explained nothing


def test_latex_cites_each_work_of_a_statement_and_escapes_the_rest() -> None:
    sentence = "It is 95 % of R&D, after Holm (1979) and others (Lin 2004)."
    said = [methods.Statement(sentence, "a\nb", (methods.HOLM, methods.LIN))]
    assert methods.methods_latex(said, "Made") == (
        "% Made\n% a b\nIt is 95 \\% of R\\&D, after Holm~\\cite{holm1979simple} and others"
        " (Lin~\\cite{lin2004rouge}).\n"
    )


WORKS = [work for work in vars(methods).values() if isinstance(work, methods.Reference)]


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.key)
def test_an_entry_of_a_work_has_what_bibtex_needs(work: methods.Reference) -> None:
    fields = dict(re.findall(r"^  (\w+) = \{(.+)\},?$", work.entry, re.M))
    assert {"author", "title", "year"} <= fields.keys()
    kind = work.entry[1:].partition("{")[0]
    assert {"article": "journal", "inproceedings": "booktitle"}.get(kind, "title") in fields
    assert work.entry.startswith(f"@{kind}{{{work.key},\n")
    assert work.entry.count("{") == work.entry.count("}")
    assert work.names.split(",")[0].split(" ")[0].strip() in fields["author"]


def test_a_bibliography_has_each_work_once_by_its_key() -> None:
    keys = re.findall(r"^@\w+\{(.+),$", methods.bibliography([*WORKS, *WORKS]), re.M)
    assert keys == sorted({work.key for work in WORKS})
    assert len(keys) == len(WORKS)


def test_of_a_panel_too_it_is_said_whose_labels_stand_in_it(tmp_path: Path) -> None:
    judges = [stored_run(tmp_path, GOLD, {"safety": [SURE_A] * 4}), system({"safety": [A, A, B, A]})]
    panel = system_of_run(make_jury(judges, GOLD).results)
    assert "All labels are the judge's." in [said.text for said in methods.labels_of_system(panel, None)]
    assert panel.results is not None
    given = EffectiveAnnotation("1", "safety", B, None, ("Ada",), None, datetime.now(UTC))
    overridden = replace(panel.results, overrides={JudgmentKey("1", "safety"): given})
    changed = replace(panel, results=overridden)
    texts = [said.text for said in methods.labels_of_system(changed, None)]
    assert any(text.startswith("Human labels override labels of the judge: ") for text in texts)
