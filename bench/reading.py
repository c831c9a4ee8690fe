"""How foreign files are read: variants of the rows of known files, of which the truth is known.

    python -m bench.reading [--variants N] [--seed S] [--show]

Each variant renames columns, nests the records, adds columns, drops the label or the ids, or shuffles the
order of the columns of an entry of the catalogue, so that it is a file that nobody knows. Counted is how
often it is read right, how often the program asks, and how often it is wrong without a word: a reading that
it calls certain, and that is not the truth. Exit code 1 where one is wrong without a word.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.core.items import HUMAN_LABELS, written_label
from engine.data.catalogue import Known, every_known
from engine.data.reading import FileReport, FirstItem, report_on

Record = dict[str, Any]
Change = Callable[[list[Record], random.Random, str], list[Record]]
_SWAPPED = {label.value: written_label(label.value).swapped.value for label in HUMAN_LABELS}
_SYNONYMS: Mapping[str, Sequence[str]] = {
    "prompt": ("question", "user_prompt", "query", "task"),
    "instruction": ("prompt", "query", "request", "user_prompt"),
    "question": ("prompt", "query", "task", "user_question"),
    "chosen": ("preferred", "better", "chosen_text", "winner"),
    "rejected": ("dispreferred", "worse", "rejected_text", "loser"),
    "response_a": ("answer_a", "reply_1", "left_output", "completion A"),
    "response_b": ("answer_b", "reply_2", "right_output", "completion B"),
    "response_1": ("output_1", "completion1", "first_response", "answerA"),
    "response_2": ("output_2", "completion2", "second_response", "answerB"),
    "output_1": ("first_answer", "response_one", "model1_output", "answer_a"),
    "output_2": ("second_answer", "response_two", "model2_output", "answer_b"),
    "winner": ("verdict", "choice", "human_preference", "vote"),
    "preference": ("choice", "label", "verdict", "human_preference"),
    "label": ("gold", "vote", "winner", "preference"),
}
_NOISE: Mapping[str, Callable[[int, random.Random], object]] = {
    "sha256": lambda _at, draw: f"{draw.getrandbits(256):064x}",
    "created_at": lambda at, _draw: f"2025-05-{at % 28 + 1:02d}T10:00:00Z",
    "source_dataset": lambda _at, _draw: "own collection of texts",
    "split": lambda _at, _draw: "train",
    "num_tokens": lambda _at, draw: draw.randrange(20, 900),
    "topic": lambda at, _draw: ("history", "cooking", "plants")[at % 3],
    "meta": lambda at, _draw: {"page": at, "tool": "x"},
}


def renamed(records: list[Record], draw: random.Random, _read: str) -> list[Record]:
    names = [name for name in records[0] if name in _SYNONYMS]
    at = draw.randrange(4)  # the same of all names, so that pairs stay pairs
    new = {name: _SYNONYMS[name][at % len(_SYNONYMS[name])] for name in names}
    new = {old: name for old, name in new.items() if name not in records[0]}
    return [{new.get(name, name): value for name, value in record.items()} for record in records]


def nested(records: list[Record], draw: random.Random, _read: str) -> list[Record]:
    key = draw.choice(("data", "record", "fields"))
    return [{"row_number": at, key: record} for at, record in enumerate(records)]


def with_noise(records: list[Record], draw: random.Random, _read: str) -> list[Record]:
    chosen = draw.sample(sorted(_NOISE), 3)
    return [
        {**{name: _NOISE[name](at, draw) for name in chosen if name not in record}, **record}
        for at, record in enumerate(records)
    ]


def shuffled(records: list[Record], draw: random.Random, _read: str) -> list[Record]:
    names = list(dict.fromkeys(name for record in records for name in record))
    draw.shuffle(names)
    return [{name: record[name] for name in names if name in record} for record in records]


def without_some(records: list[Record], draw: random.Random, read: str) -> list[Record]:
    names = [name for name in records[0] if name not in read and isinstance(records[0][name], str | int)]
    gone = draw.choice(names) if names else ""
    return [{name: value for name, value in record.items() if name != gone} for record in records]


CHANGES: Sequence[Change] = (renamed, nested, with_noise, shuffled, without_some)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.reading", description=__doc__.split("\n")[0])
    parser.add_argument("--variants", type=int, default=2000, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of what is changed (%(default)s)")
    parser.add_argument("--show", action="store_true", help="print those that are not read right")
    asked = parser.parse_args()
    known = [each for each in every_known() if each.kind == "pairs" and "records" not in each.columns]
    draw = random.Random(asked.seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for at in range(asked.variants):
            each = known[at % len(known)]
            outcome, told = _tried(each, draw, Path(folder) / "x.jsonl")
            found[outcome] += 1
            if asked.show and outcome != "right":
                print(f"{outcome}: {each.slug}: {told}", flush=True)
    for outcome in ("right", "asked", "refused", "wrong"):
        print(f"{outcome:8} {found[outcome]:6} {100 * found[outcome] / asked.variants:6.1f} %")
    return 1 if found["wrong"] else 0


def _tried(known: Known, draw: random.Random, path: Path) -> tuple[str, str]:
    records = [json.loads(line) for line in known.rows.strip().splitlines()]
    read = " ".join(known.columns.values())
    changes = draw.sample(CHANGES, draw.choice((1, 1, 2, 3)))
    for change in sorted(changes, key=lambda each: each is not without_some):  # by the names that are known
        records = change(records, draw, read)
    path.write_text(
        "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records), encoding="utf-8"
    )
    done = "+".join(change.__name__ for change in changes)
    try:
        report = report_on(path)
    except Exception as error:  # a refusal is an answer; anything else is counted with it, and shown
        return "refused", f"{done}: {type(error).__name__}: {error}"
    wanted = [json.loads(line) for line in known.items.strip().splitlines()]
    if _is_true(report, wanted):
        return "right", done
    shown = {name: each.source for name, each in report.reading.items()}
    return "wrong" if report.is_certain else "asked", f"{done}: {shown}"


def _is_true(report: FileReport, wanted: Sequence[Record]) -> bool:
    return report.items == len(wanted) and all(map(_is_item, report.first, wanted))


def _is_item(item: FirstItem, wanted: Record) -> bool:
    """Whether an item is the wanted one, in either order of the responses."""
    label = item.labels.get("overall_quality", "none")
    want = wanted.get("label", wanted.get("labels", {}).get("overall_quality", "none"))
    both = (item.output_a, item.output_b)
    if both == (wanted["output_b"], wanted["output_a"]) and both[0] != both[1]:
        label = _SWAPPED.get(label, label)
    elif both != (wanted["output_a"], wanted["output_b"]):
        return False
    return bool(item.instruction == wanted["instruction"] and label == want)


if __name__ == "__main__":
    sys.exit(main())
