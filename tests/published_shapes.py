"""Small files in the shapes in which datasets of compared responses are published, with texts of our own."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

QUESTIONS = (
    "Name a prime number above ten.",
    "Why is the sky blue?",
    "Write a rhyme about rain.",
    "What is 2+2?",
)
GOOD = (
    "Eleven is one.",
    "Because air scatters blue light more.",
    "Rain, rain, go to Spain,\nsays the crane.",
    "4.",
)
BAD = (
    "Twelve, of course, is one.",
    "Because of the sea below.",
    "It rains a lot in here.",
    "Five, I would say.",
)


def _both(number: int) -> tuple[str, str]:
    """The two responses to a question; the good one first where the number is even."""
    pair = (GOOD[number], BAD[number])
    return pair if number % 2 == 0 else (pair[1], pair[0])


def _json(path: Path, records: Sequence[Any]) -> Path:
    path.write_text(json.dumps(records, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def _lines(path: Path, records: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def _csv(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    return path


def _parquet(path: Path, records: Sequence[Any]) -> Path:
    parquet.write_table(pa.Table.from_pylist(list(records)), path)
    return path


def unknown(shape: Callable[[Path], Path], **names: str) -> Callable[[Path], Path]:
    """The same with other names of columns, so that no known file is like it; new ones are empty columns."""

    def written(folder: Path) -> Path:
        path = shape(folder)
        if path.suffix == ".parquet":
            table = parquet.read_table(path)
            columns = {names.get(name, name): table[name] for name in table.column_names}
            empty = {name: [""] * len(table) for name in names if name not in table.column_names}
            parquet.write_table(pa.table({**columns, **empty}), path)
            return path
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".csv":
            rows = list(csv.DictReader(text.splitlines()))
            return _csv(path, [{names.get(name, name): cell for name, cell in row.items()} for row in rows])
        records = json.loads(text) if path.suffix == ".json" else list(map(json.loads, text.splitlines()))
        made = [
            {
                **{names.get(name, name): value for name, value in record.items()},
                **{name: "" for name in names if name not in record},
            }
            for record in records
        ]
        return _json(path, made) if path.suffix == ".json" else _lines(path, made)

    written.__name__ = shape.__name__
    return written


def alpaca_eval(folder: Path) -> Path:
    """Annotations of AlpacaEval: preference 1 or 2."""
    return _json(
        folder / "alpaca_eval.json",
        [
            {
                "instruction": question,
                "output_1": _both(number)[0],
                "generator_1": "text_davinci_003",
                "dataset": "helpful_base",
                "output_2": _both(number)[1],
                "generator_2": "gpt4",
                "annotator": "alpaca_eval_gpt4",
                "preference": 1 + number % 2,
            }
            for number, question in enumerate(QUESTIONS)
        ],
    )


def alpaca_eval_weighted(folder: Path) -> Path:
    """The same of AlpacaEval 2: preference is a share between 1 and 2."""
    return _json(
        folder / "alpaca_eval_2.json",
        [
            {
                "instruction": QUESTIONS[number % 4],
                "output_1": f"{_both(number % 4)[0]} ({number})",
                "output_2": f"{_both(number % 4)[1]} ({number})",
                "preference": 1.0 + number / 16 + 0.0001,
            }
            for number in range(16)
        ],
    )


def _announcements(*texts: str) -> list[dict[str, str]]:
    return [
        {"content": text, "role": "assistant" if place % 2 else "user"} for place, text in enumerate(texts)
    ]


def mt_bench(folder: Path) -> Path:
    """MT-Bench's human judgments: two rounds in each row, `turn` says how many were judged."""
    rows = []
    for number, question in enumerate(QUESTIONS):
        first, second = _both(number)
        for turn in (1, 2):
            rows.append(
                {
                    "question_id": 81 + number,
                    "model_a": "alpaca-13b",
                    "model_b": "gpt-4",
                    "winner": ("model_a", "model_b", "tie")[(number + turn) % 3],
                    "judge": "author_2",
                    "conversation_a": _announcements(question, first, "And in short?", f"{first} Short."),
                    "conversation_b": _announcements(question, second, "And in short?", f"{second} Short."),
                    "turn": turn,
                }
            )
    return _parquet(folder / "mt_bench_human.parquet", rows)


def arena(folder: Path) -> Path:
    """Chatbot Arena's conversations."""
    winners = ("model_a", "model_b", "tie", "tie (bothbad)")
    return _lines(
        folder / "chatbot_arena.jsonl",
        [
            {
                "question_id": f"{number:032x}",
                "model_a": "vicuna-13b",
                "model_b": "koala-13b",
                "winner": winners[number],
                "judge": "arena_user_1",
                "conversation_a": _announcements(question, _both(number)[0]),
                "conversation_b": _announcements(question, _both(number)[1]),
                "turn": 1,
                "anony": True,
                "language": "English",
                "tstamp": 1682351591.1 + number,
            }
            for number, question in enumerate(QUESTIONS)
        ],
    )


def kaggle_arena(folder: Path) -> Path:
    """Chatbot Arena as the Kaggle competition gives it: JSON lists in cells, the winner in three columns."""
    rows = []
    for number, question in enumerate(QUESTIONS):
        first, second = _both(number)
        several = number == 1
        rows.append(
            {
                "id": 30192 + number,
                "model_a": "gpt-4-1106-preview",
                "model_b": "gpt-4-0613",
                "prompt": json.dumps([question, "Go on."] if several else [question]),
                "response_a": json.dumps([first, "More of it."] if several else [first]),
                "response_b": json.dumps([second, "Enough."] if several else [second]),
                "winner_model_a": int(number == 0),
                "winner_model_b": int(number == 1),
                "winner_tie": int(number > 1),
            }
        )
    return _csv(folder / "kaggle_arena.csv", rows)


def hh_rlhf(folder: Path) -> Path:
    """HH-RLHF: two transcripts that differ in the last reply."""
    start = "\n\nHuman: Hello\n\nAssistant: Hello. What can I do?"
    return _lines(
        folder / "hh_rlhf.jsonl",
        [
            {
                "chosen": f"{start}\n\nHuman: {question}\n\nAssistant: {good}",
                "rejected": f"{start}\n\nHuman: {question}\n\nAssistant: {bad}",
            }
            for question, good, bad in zip(QUESTIONS, GOOD, BAD, strict=True)
        ],
    )


def panda_lm(folder: Path) -> Path:
    """PandaLM's test data: 0 is a tie; three people have labelled."""
    return _json(
        folder / "pandalm.json",
        [
            {
                "idx": number,
                "motivation_app": "Grammarly",
                "cmp_key": "opt-7b_pythia-6.9b",
                "instruction": question,
                "input": "" if number % 2 else "Answer in one sentence.",
                "response1": _both(number)[0],
                "response2": _both(number)[1],
                "annotator1": (1, 2, 0, 1)[number],
                "annotator2": 1,
                "annotator3": 2,
            }
            for number, question in enumerate(QUESTIONS)
        ],
    )


def llm_bar(folder: Path) -> Path:
    """LLMBar: no id, the instruction is called input."""
    return _json(
        folder / "llmbar.json",
        [
            {
                "input": question,
                "output_1": _both(number)[0],
                "output_2": _both(number)[1],
                "label": 1 + number % 2,
            }
            for number, question in enumerate(QUESTIONS)
        ],
    )


def ultra_feedback(folder: Path) -> Path:
    """UltraFeedback as it was made: four completions with ratings, here in Parquet."""
    rows = []
    for number, question in enumerate(QUESTIONS):
        completions = [
            {
                "annotations": {"truthfulness": {"Rating": str(rating), "Rationale": "It says so."}},
                "custom_system_prompt": "You are helpful.",
                "model": f"model-{place}",
                "response": text,
                "overall_score": float(rating),
            }
            for place, (text, rating) in enumerate(
                zip((*_both(number), "Third.", "Fourth."), (5, 2, 3, 3), strict=True)
            )
        ]
        rows.append(
            {
                "source": "evol_instruct",
                "instruction": question,
                "models": [completion["model"] for completion in completions],
                "completions": completions,
            }
        )
    return _parquet(folder / "ultrafeedback.parquet", rows)


def ultra_feedback_binarized(folder: Path) -> Path:
    """UltraFeedback as it is used to train: two dialogues, one chosen and one rejected."""
    return _parquet(
        folder / "ultrafeedback_binarized.parquet",
        [
            {
                "prompt": question,
                "prompt_id": f"{number:064x}",
                "chosen": _announcements(question, good),
                "rejected": _announcements(question, bad),
                "messages": _announcements(question, good),
                "score_chosen": 8.5,
                "score_rejected": 4.0,
            }
            for number, (question, good, bad) in enumerate(zip(QUESTIONS, GOOD, BAD, strict=True))
        ],
    )


def reward_bench(folder: Path) -> Path:
    """RewardBench: plain texts, one chosen and one rejected."""
    return _parquet(
        folder / "reward_bench.parquet",
        [
            {
                "prompt": question,
                "chosen": good,
                "chosen_model": "GPT4-Turbo",
                "rejected": bad,
                "rejected_model": "bert",
                "subset": "alpacaeval-easy",
                "id": number,
            }
            for number, (question, good, bad) in enumerate(zip(QUESTIONS, GOOD, BAD, strict=True))
        ],
    )


def gpt_sides(folder: Path) -> Path:
    """Messages of another shape (from and value), sides called left and right."""
    return _lines(
        folder / "sides.jsonl",
        [
            {
                "uid": f"u{number}",
                "conversation_left": [
                    {"from": "human", "value": question},
                    {"from": "gpt", "value": _both(number)[0]},
                ],
                "conversation_right": [
                    {"from": "human", "value": question},
                    {"from": "gpt", "value": _both(number)[1]},
                ],
                "winner": ("left", "right", "tie", "neither")[number],
            }
            for number, question in enumerate(QUESTIONS)
        ],
    )


SHAPES = (
    alpaca_eval,
    alpaca_eval_weighted,
    mt_bench,
    arena,
    kaggle_arena,
    hh_rlhf,
    panda_lm,
    llm_bar,
    ultra_feedback,
    ultra_feedback_binarized,
    reward_bench,
    gpt_sides,
)

unknown_panda_lm = unknown(panda_lm, idx="index")
unknown_llm_bar = unknown(llm_bar, label="winner")
unknown_kaggle_arena = unknown(kaggle_arena, winner_tie="winner_draw")
unknown_reward_bench = unknown(reward_bench, subset="part")
unknown_mt_bench = unknown(mt_bench, language="")
unknown_hh_rlhf = unknown(hh_rlhf, response="")
unknown_arena = unknown(arena, anony="anonymous", tstamp="time")
unknown_ultra_feedback = unknown(ultra_feedback, models="writers")
"""As a file that is like a published one, but none that is known."""
