"""The command lines whose output and files are golden, each step on a store and a folder of its own.

Knows: commands and their options. Does not know: what they do.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """Command lines, one after the other, and the files that they write."""

    name: str
    lines: str
    files: tuple[str, ...] = ()
    slow: bool = False


STEPS = (
    Step("runs", "runs --all"),
    Step("runs-find", "runs find demo labels"),
    Step("runs-show-1", "runs show 1"),
    Step("runs-show-4", "runs show 4"),
    Step("runs-show-8", "runs show 8"),
    Step("runs-show-9", "runs show 9"),
    Step("runs-show-10", "runs show 10"),
    Step("runs-show-deleted", "runs show 2"),
    Step("runs-diff", "runs diff 1 3"),
    Step(
        "runs-keep", 'runs name 4 "night, Q8"\nruns note 4 noted\nruns archive 5\nruns restore 7\nruns --all'
    ),
    Step("runs-delete", "runs delete 1 --yes\nruns delete 1 9 --yes --with-decisions\nruns"),
    Step("runs-add", "runs add foreign.tsv --dataset gold.tsv\nruns"),
    Step("submission-explain", "runs export 1 --out submission.tsv", ("submission.tsv",)),
    Step("submission-labels", "runs export 3 --out submission.tsv", ("submission.tsv",)),
    Step("submission-judge", "runs export 1 --labels-of judge --out submission.tsv", ("submission.tsv",)),
    Step(
        "submission-stale",
        "runs export 1 --labels-of Ada --with-stale --out submission.tsv",
        ("submission.tsv",),
    ),
    Step(
        "submission-majority", "runs export 1 --labels-of majority --out submission.tsv", ("submission.tsv",)
    ),
    Step("submission-opened", "runs export 10 --out submission.tsv", ("submission.tsv",)),
    Step("export-1", "runs export 1 --json run.json --csv run.csv", ("run.json", "run.csv")),
    Step("export-4", "runs export 4 --json run.json --csv run.csv", ("run.json", "run.csv")),
    Step(
        "export-5",
        "runs export 5 --out submission.tsv --json run.json --csv run.csv",
        ("submission.tsv", "run.json", "run.csv"),
    ),
    Step("export-8", "runs export 8 --json run.json --csv run.csv", ("run.json", "run.csv")),
    Step("export-9", "runs export 9 --json run.json --csv run.csv", ("run.json", "run.csv")),
    Step("export-10", "runs export 10 --json run.json", ("run.json",)),
    Step(
        "as-dataset",
        "runs export 1 --as-dataset labelled.tsv\n"
        "runs export 5 --as-dataset judged.json --labels-of judge --with-judge\n"
        "runs export 3 --as-dataset filled.tsv --with-judge\n"
        "runs export 4 --as-dataset labelled.parquet --with-judge\n"
        "check labelled.tsv",
        ("labelled.parquet", "labelled.tsv", "judged.json", "filled.tsv"),
    ),
    Step(
        "for-dpo",
        "runs export 1 --for dpo --out pairs.jsonl\nruns export 4 --for dpo --out pairs.parquet",
        ("pairs.jsonl", "pairs.parquet"),
    ),
    Step("for-inspect", "runs export 4 --for inspect --out log.json", ("log.json",)),
    Step(
        "for-alpaca",
        "runs export 1 --for alpaca-eval --criterion safety --out annotations.json",
        ("annotations.json",),
    ),
    Step(
        "recalibrate",
        "runs recalibrate 1 --calibration calibration-1.json\n"
        "runs show 1\n"
        "runs export 1 --out submission.tsv\n"
        "runs recalibrate 1 --none\n"
        "runs recalibrate 3 --calibration calibration-1.json",
        ("submission.tsv",),
    ),
    Step(
        "recalibrate-by-recipe",
        "runs recalibrate 1 --calibration recipe.json\nruns export 1 --out submission.tsv\nruns show 1",
        ("submission.tsv",),
    ),
    Step("annotations-export", "annotations export 1 --out annotations.json", ("annotations.json",)),
    Step(
        "annotations-export-texts",
        "annotations export 1 --with-texts --annotator Ben --out annotations.json",
        ("annotations.json",),
    ),
    Step(
        "annotations-import",
        "annotations export 1 --out annotations.json\n"
        "annotations import 3 annotations.json --dry-run\n"
        "annotations import 3 annotations.json\n"
        "annotations import 3 annotations.json\n"
        "annotations export 3 --out again.json",
        ("again.json",),
    ),
    Step(
        "check", "check gold.tsv\ncheck foreign.tsv --against gold.tsv\ncheck copies.tsv\ncheck words.jsonl"
    ),
    Step("check-run-csv", "runs export 1 --csv run.csv\ncheck run.csv"),
    Step(
        "foreign-columns",
        "check theirs.csv\n"
        "check theirs.csv --columns id=uid,instruction=prompt,output_a=first,output_b=second,"
        "overall_quality_preference=winner --labels 1=A,2=B,0=tie --save-columns\n"
        "check theirs.csv",
        ("{home}/data/columns.json",),
    ),
    Step("pairs", "pairs one.json two.json three.json --out pairs.tsv", ("pairs.tsv",)),
    Step(
        "rubrics",
        "rubrics\n"
        "rubrics check manners.toml\n"
        "rubrics draft theirs.csv --columns id=uid,instruction=prompt,output_a=first,output_b=second,"
        "wit_preference=winner --labels 1=A,2=B,0=tie",
    ),
    Step("rubrics-show", "rubrics show task"),
    Step(
        "prompt",
        "prompt gold.tsv --model demo-judge.gguf --id 3 --criterion safety\n"
        "prompt 1 --id 5 --order BA\n"
        "prompt 5\n"
        "prompt 8 --method pointwise-grade --question B\n"
        "prompt 8 --method permuted-labels\n"
        "prompt 8 --method pointwise-yes-no\n"
        "prompt 8 --tokens",
    ),
    Step("orders", "orders 1 --json orders.json", ("orders.json",)),
    Step("audit", "audit 1 --json audit.json", ("audit.json",)),
    Step(
        "audit-perturbations",
        "audit 6 --json audit.json --latex audit.tex --markdown audit.md",
        ("audit.json", "audit.tex", "audit.md"),
    ),
    Step(
        "evaluate",
        "evaluate 1 --gold gold.tsv --confusion --json scores.json",
        ("scores.json",),
    ),
    Step("evaluate-slices", "evaluate 3 --gold gold.tsv --by topic --by length --slice topic=facts"),
    Step(
        "evaluate-methods-text",
        "evaluate 5 --gold manners.tsv --methods-text methods.txt\n"
        "evaluate 8 --gold ten.tsv --methods-text methods.tex --bib works.bib",
        ("methods.txt", "methods.tex", "works.bib"),
    ),
    Step(
        "evaluate-submission", "evaluate foreign.tsv --gold gold.tsv --partial\nevaluate 10 --gold gold.tsv"
    ),
    Step(
        "evaluate-annotators-slices",
        "evaluate 1 --gold gold.tsv --by tag --by random-sample\n"
        "evaluate 1 --gold gold.tsv --labels-of Cy --slice random-sample=labelled --slice topic=facts\n"
        "evaluate 3 --gold gold.tsv --judge-only --by longer --by script",
    ),
    Step(
        "refusals",
        "evaluate foreign.tsv --gold gold.tsv\n"
        "evaluate 99 --gold gold.tsv\n"
        "evaluate 2 --gold gold.tsv\n"
        "evaluate 8 --gold manners.tsv\n"
        "calibrate 10 --gold gold.tsv --out calibration.json\n"
        "learning-curve 8 --gold ten.tsv\n"
        "orders 3\n"
        "rank ten.tsv\n"
        "jury 1 1\n"
        "jury 1 8\n"
        "weighted-score 1 --weights wit=1\n"
        "check none.tsv\n"
        "check recipe.json\n"
        "check calibration-1.json\n"
        "rubrics check gold.tsv\n"
        "runs export 1 --out submission.csv\n"
        "runs export 4 --for dpo --criterion wit --out pairs.jsonl\n"
        "runs recalibrate 8 --calibration calibration-1.json\n"
        "runs recalibrate 1 --calibration gold.tsv\n"
        "annotations import 5 words.jsonl\n"
        "annotations import 8 gold.tsv\n"
        "judge gold.tsv --model none.gguf --out submission.tsv\n"
        "judge gold.tsv --model demo-judge.gguf --method telepathy --out submission.tsv\n"
        "judge gold.tsv --out submission.tsv\n"
        "judge foreign.tsv --model demo-judge.gguf --out submission.tsv\n"
        "prompt 1 --id none\n"
        "prompt 10\n"
        "report 1 --gold gold.tsv --out report.pdf\n"
        "runs --store gold.tsv",
    ),
    Step(
        "evaluate-elicitation-methods",
        "evaluate 8 --gold ten.tsv --latex tables.tex --markdown tables.md",
        ("tables.tex", "tables.md"),
    ),
    Step("evaluate-annotators", "runs export 1 --csv run.csv\nevaluate 3 --gold run.csv --partial"),
    Step(
        "compare",
        "compare 1 3 foreign.tsv --gold gold.tsv --partial --json compared.json",
        ("compared.json",),
    ),
    Step("calibrate", "calibrate 3 --gold gold.tsv --out calibration.json", ("calibration.json",), slow=True),
    Step(
        "calibrate-elicitation-methods",
        "calibrate 8 --gold ten.tsv --out calibration.json",
        ("calibration.json",),
    ),
    Step("learning-curve", "learning-curve 1 --gold gold.tsv --json curve.json", ("curve.json",), slow=True),
    Step(
        "jury",
        "jury 1 3 foreign.tsv --gold gold.tsv --partial --name all\n"
        "runs show 11\n"
        "evaluate 11 --gold gold.tsv --partial",
        slow=True,
    ),
    Step(
        "jury-of-means",
        "jury 3 1 --dataset ten.tsv --partial\nruns export 11 --json run.json --csv run.csv",
        ("run.json", "run.csv"),
    ),
    Step(
        "weighted-score",
        "weighted-score 1 --gold gold.tsv --fit-weights --weights relevance=1,safety=1 --json weights.json\n"
        "weighted-score 3 --weights weights.json --json weighed.json\n"
        "weighted-score 1 --by topic --weights safety=2,overall_quality=1 --tie-threshold 0.2",
        ("weights.json", "weighed.json"),
    ),
    Step(
        "weighted-score-scores",
        "weighted-score scores.json --weights quality=0.6,relevance=0.4 --tie-threshold 0.5",
    ),
    Step(
        "rank",
        "rank 1 --json rank.json --csv rank.csv --latex rank.tex --methods-text rank.txt",
        ("rank.json", "rank.csv", "rank.tex", "rank.txt"),
    ),
    Step(
        "weighted-score-grades",
        "weighted-score 8 --grades --gold ten.tsv --weights relevance=1,safety=3\n"
        "weighted-score 9\n"
        "weighted-score 10 --gold gold.tsv",
    ),
    Step("rank-side-by-side", "rank 1 --with 3\nrank gold.tsv\nrank 1 --weighted"),
    Step("report", "report 8 --gold ten.tsv --out report.html", ("report.html",)),
    Step("report-whole", "report 1 --gold gold.tsv --curve --out report.html", ("report.html",), slow=True),
)

OLD_STORE = (
    "runs",
    "runs export 1 --json run.json",
    "annotations export 1 --out annotations.json",
)
"""What is read from a store of an earlier schema."""
OLD_STORE_FILES = ("run.json", "annotations.json")

FRAMES = {
    "runs": "tiebreak.runs()",
    "labels": "tiebreak.Run(1).labels",
    "explanations": "tiebreak.Run(1).explanations",
    "judgments": "tiebreak.Run(1).judgments",
    "raw_predictions": "tiebreak.Run(8).raw_predictions",
    "health": "vars(tiebreak.Run(4).health)",
    "evaluate": "tiebreak.Run(1).evaluate('gold.tsv')",
    "rank": "{name: getattr(tiebreak.Run(1).rank(), name)"
    " for name in ('candidates', 'pairs', 'corrected', 'favour', 'features')}",
    "compare": "tiebreak.Run(1).compare(tiebreak.Run(3))",
    "drift": "tiebreak.Run(1).drift(tiebreak.Run(3))",
    "audit": "tiebreak.Run(6).audit()",
    "read": "tiebreak.read('theirs.csv', columns={'id': 'uid', 'instruction': 'prompt', 'output_a': 'first',"
    " 'output_b': 'second', 'overall_quality_preference': 'winner'},"
    " labels={'1': 'A', '2': 'B', '0': 'tie'})",
}
"""What notebooks are given of the study, as expressions of Python."""

NEW_RUNS = (
    "judge ten.tsv --model demo-judge.gguf --items 1 --criteria safety,relevance --out one.tsv --threads 1",
    "judge ten.tsv --model demo-judge.gguf --items 2 --out two.tsv --threads 1 --mode labels"
    " --criteria safety --method label-tokens,permuted-labels,pointwise-yes-no,pointwise-grade"
    " --examples gold.tsv --few-shot 1 --few-shot-selection nearest"
    " --context 2048",
    "judge ten.tsv --model demo-judge.gguf --sample 2 --seed 3 --out three.tsv --threads 1 --mode labels"
    " --orders uncertain --margin-threshold 0.25 --shorten --kv-type q8_0 --name third",
    "judge ten.tsv --recipe recipe.json --model demo-judge.gguf --items 1 --mode labels --out four.tsv"
    " --threads 1",
    "judge manners.tsv --rubric manners.toml --model demo-judge.gguf --items 1 --mode labels --orders one"
    " --out five.tsv --threads 1",
    "audit demo-judge.gguf ten.tsv --items 1 --criteria safety --method label-tokens --threads 1"
    " --out perturbations.tsv",
)
"""New runs, whose identities are golden; what the model says is not."""
