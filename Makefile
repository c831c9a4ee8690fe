# make run           set everything up, open the window
# make judge         set everything up, judge the demo dataset, write submission.tsv, print what it is worth
# make test          set everything up, then ruff, mypy and pytest
# make screenshots   draw the pictures of docs/ again
# make clean         remove the virtual environment and what tools left behind

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= submission.tsv

.PHONY: run judge test screenshots clean

run: $(VENV)/run-time
	$(BIN)/python main.py

judge: $(VENV)/run-time
	$(BIN)/python main.py judge examples/demo.tsv --model demo --out $(OUT)

test: $(VENV)/run-time $(VENV)/development
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest

screenshots: $(VENV)/run-time
	PYTHONPATH=. $(BIN)/python packaging/screenshots.py docs

$(VENV)/run-time: requirements.txt packaging/system_packages.sh
	sh packaging/system_packages.sh $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --upgrade pip
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/development: requirements-dev.txt $(VENV)/run-time
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements-dev.txt
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
