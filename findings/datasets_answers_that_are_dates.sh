#!/bin/sh
# datasets 5.2.0: answers that happen to be dates come back from JSON Lines as other texts, and as numbers once the
# data set is written to JSON again. No warning.
#
# `load_dataset("json")` makes timestamps of a column in which every text looks like a date, so "1969-07-20" is
# compared with a response as "1969-07-20 00:00:00", and an offset such as +02:00 is gone: the hour is UTC's. `to_json`
# then writes milliseconds: -14256000000. That holds inside lists of chat messages too. One other answer in the file,
# or an empty one, and all of them stay texts; so do they all where the rows are under a key that `field=` names. Hence
# a split into train and test, or a filter before writing, changes the type and the texts of answers.
#
# `features=` with Value("string") does not help: the text is then "1969-07-20 00:00:00". Dataset.from_list of rows
# that were read with Python's json does. Arrow, which reads the file, documents that it guesses timestamps;
# `load_dataset` does not, and no issue was found. It ends with 1 where anything of that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check datasets==5.2.0
cd "$folder"
HF_HOME="$folder/cache" HF_DATASETS_OFFLINE=1 venv/bin/python -W error::UserWarning - <<'PYTHON'
import json
import sys
from pathlib import Path

from datasets import Features, Value, disable_progress_bars, load_dataset

disable_progress_bars()
DATES = ["1969-07-20", "1989-11-09"]


def back(answers, key="answer", **options):
    """What a response would be compared with, and what is in the file that is written again."""
    rows = [{"answer": each} for each in answers]
    if key == "messages":
        rows = [{"messages": [{"role": "user", "content": each}]} for each in answers]
    text = "\n".join(json.dumps(row) for row in rows)
    Path("read.json").write_text(json.dumps({"rows": rows}) if options.get("field") else text)
    data = load_dataset("json", data_files="read.json", split="train", **options)
    data.to_json("written.jsonl")
    again = [json.loads(line)[key] for line in Path("written.jsonl").read_text().splitlines()]
    if key == "messages":
        return [str(row[key][0]["content"]) for row in data], [each[0]["content"] for each in again]
    return [str(row[key]) for row in data], again


seen = {
    "dates": back(DATES),
    "in messages": back(DATES, "messages"),
    "with an offset": back(["1969-07-20T22:17:40+02:00"]),
    "with another answer": back([*DATES, "in autumn"]),
    "under a field": back(DATES, field="rows"),
    "declared as texts": back(DATES, features=Features({"answer": Value("string")})),
}
for name, (read, written) in seen.items():
    print(f"{name}: read {read}, written {written}")
midnights = ["1969-07-20 00:00:00", "1989-11-09 00:00:00"]
same = seen["dates"] == seen["in messages"] == (midnights, [-14256000000, 626572800000])
same = same and seen["with an offset"][0] == ["1969-07-20 20:17:40"] and seen["declared as texts"][1] == midnights
kept = seen["under a field"][1] == DATES and seen["with another answer"][1] == [*DATES, "in autumn"]
sys.exit(not (same and kept))
PYTHON
