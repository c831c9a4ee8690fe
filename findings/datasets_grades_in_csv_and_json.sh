#!/bin/sh
# datasets 5.2.0: the same grades with the same features are read as other labels from JSON than from CSV, without a
# warning.
#
# Three answers have the grades 1, 2 and 4 of a scale that is declared as ClassLabel(names=["1", "2", "3", "4", "5"]).
# In a CSV file a 1 is the name "1". In a JSON file of numbers it is the label with the number 1, whose name is "2":
# all grades are one too high. Only a 5 would be out of range, and not even that is told where it is read (it is when
# its name is asked for). In a JSON file of texts, "1", it is the name again. So a data set that was a CSV once and is
# JSON Lines now has other grades, and a scale of 0 to 4 has not: there numbers and names agree.
#
# That a whole number is taken for an index is documented for ClassLabel; that CSV takes names is not, and neither do
# its issues compare the two. It ends with 1 where anything of that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check datasets==5.2.0
cd "$folder"
HF_HOME="$folder/cache" HF_DATASETS_OFFLINE=1 venv/bin/python -W error::UserWarning - <<'PYTHON'
import csv
import json
import sys
from pathlib import Path

from datasets import ClassLabel, Features, Value, disable_progress_bars, load_dataset

disable_progress_bars()
GRADES = {"one": 1, "two": 2, "three": 4}
FEATURES = Features({"answer": Value("string"), "grade": ClassLabel(names=["1", "2", "3", "4", "5"])})

with open("grades.csv", "w", newline="") as file:
    csv.writer(file).writerows([("answer", "grade"), *GRADES.items()])
for name, kind in (("numbers.jsonl", int), ("texts.jsonl", str)):
    rows = [json.dumps({"answer": answer, "grade": kind(grade)}) for answer, grade in GRADES.items()]
    Path(name).write_text("\n".join(rows) + "\n")


def read(form, name):
    data = load_dataset(form, data_files=name, features=FEATURES, split="train")
    found = {row["answer"]: int(data.features["grade"].int2str(row["grade"])) for row in data}
    print(f"{name:14}", found)
    return found


print("written:      ", GRADES)
table, numbers, texts = read("csv", "grades.csv"), read("json", "numbers.jsonl"), read("json", "texts.jsonl")
too_high = {answer: grade + 1 for answer, grade in GRADES.items()}
sys.exit(not (table == texts == GRADES and numbers == too_high))
PYTHON
