#!/bin/sh
# inspect_ai 0.3.285 writes its logs (.eval, a zip file) with compression method 93, Zstandard. Python's zipfile, up to
# 3.13, opens such a file and lists its members, and then refuses to read any of them: NotImplementedError, "That
# compression method is not supported". Nothing in the name or the listing says so.
#
# Seen with one sample of its own mock model; without a network the evaluation fails, and its log is written all the
# same. A reader of logs has to bring a decoder (the package installs zipfile-zstd for itself), or ask for logs in
# JSON: `--log-format json`. It ends with 1 where that is otherwise now; a Python of 3.14 or later, whose zipfile
# knows the method, counts as unchanged.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check inspect_ai==0.3.285
cd "$folder"
venv/bin/python - <<'PYTHON'
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match

task = Task(dataset=[Sample(input="Say hello.", target="hello")], scorer=match())
for form in ("eval", "json"):
    eval(task, model="mockllm/model", log_dir="logs", log_format=form, display="none")
PYTHON
# Another process: inspect_ai teaches zipfile the method where it is imported.
venv/bin/python - <<'PYTHON'
import json
import sys
import zipfile
from pathlib import Path

(log,) = Path("logs").glob("*.eval")
with zipfile.ZipFile(log) as members:
    methods = {member.compress_type for member in members.infolist()}
    print("members:", len(members.namelist()), "methods:", methods)
    try:
        members.read("header.json")
        read = True
    except NotImplementedError as error:
        print(type(error).__name__, error)
        read = False
(plain,) = Path("logs").glob("*.json")
samples = json.loads(plain.read_text())["samples"]
print("in JSON:", len(samples), "sample")
unchanged = methods == {93} and read == (sys.version_info >= (3, 14)) and len(samples) == 1
sys.exit(0 if unchanged else 1)
PYTHON
