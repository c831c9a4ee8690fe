#!/bin/sh
# label-studio-sdk 2.1.2: in an export as JSON_MIN the value of a task's own column is given as an annotator's answer
# where the annotator left that question open, if both have one name. No warning; the export as CSV is right.
#
# Two responses are compared with <Choices name="better">, and the imported tasks have a column "better" as well, say a
# reward model's choice. Seen: annotator 2 only wrote a comment and agrees with the model in JSON_MIN; a task that
# nobody annotated has the answer too, with annotator null. An answer replaces the column's value, so agreement of
# people with the model comes out too high. The CSV has the answer empty there, and the column as "_data_better". A
# column "id" differs as well: JSON_MIN has the task's number in its place, the CSV the column. In its issues is the
# loss of the column in TSV (3569, closed), which is mended there. It ends with 1 where anything of that is otherwise
# now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check label-studio-sdk==2.1.2
cd "$folder"
venv/bin/python - <<'PYTHON'
import csv
import json
import sys
from pathlib import Path

from label_studio_sdk.converter import Converter

VIEW = """<View>
  <Text name="question" value="$question"/>
  <Choices name="better" toName="question"><Choice value="A"/><Choice value="B"/></Choices>
  <TextArea name="comment" toName="question"/>
</View>"""


def annotation(number, name, kind, value):
    result = [{"id": "1", "from_name": name, "to_name": "question", "type": kind, "value": {kind_key(kind): [value]}}]
    told = {"id": number, "completed_by": {"id": number, "email": f"annotator {number}"}, "result": result}
    return told | {"was_cancelled": False, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}


def kind_key(kind):
    return {"choices": "choices", "textarea": "text"}[kind]


answers = [annotation(1, "better", "choices", "B"), annotation(2, "comment", "textarea", "Hard to say.")]
tasks = [
    {"id": 11, "data": {"id": "first", "question": "When is high tide?", "better": "A"}, "annotations": answers},
    {"id": 12, "data": {"id": "second", "question": "How old is it?", "better": "A"}, "annotations": []},
]
Path("tasks.json").write_text(json.dumps(tasks))
converter = Converter(config=VIEW, project_dir=None, download_resources=False)
for form in ("JSON_MIN", "CSV"):
    converter.convert("tasks.json", form, form, is_dir=False)
short = [
    (row["id"], row["annotator"], row.get("better")) for row in json.loads(Path("JSON_MIN/result.json").read_text())
]
with open("CSV/result.csv", newline="") as file:
    table = [(row["id"], row["annotator"] or None, row["better"] or None) for row in csv.DictReader(file)]
print("JSON_MIN:", short)
print("CSV:     ", table)
people = "annotator 1", "annotator 2", None
seen = list(zip((11, 11, 12), people, "BAA")), list(zip(("first", "first", "second"), people, ("B", None, None)))
sys.exit((short, table) != seen)
PYTHON
