# make run           set everything up, open the window; where there is no screen: say so, and do as make judge
# make judge         set everything up, judge the demo dataset, write submission.tsv, print what it is worth
# make model         bring SmolLM2-135M-Instruct, a small real model to try it with (needs the internet)
# make test          set everything up, then ruff, mypy and pytest
# make test-models   the tests with a real model and real tokenizers, and all that take long
# make test-desktop  the program used as people use it: real windows, keys and mouse, a screen reader's eyes, a browser
# make test-windows  make a Windows Python that Wine runs, in .windows/, and with it run the tests, use the program, build
#                    a bundle and try it (for Debian; needs the internet the first time)
# make test-cluster  set up what several computers need, in an environment of its own, and run its tests
# make test-oldest   the tests with the oldest versions of the packages that requirements.txt allows
# make bundle        make the application that needs no Python, and its archive, in dist/, with a library for GPUs
#                    where one can be compiled (make GPU=yes bundle: or not at all; GPU=no: without)
# make lock          write packaging/locks/ anew: what bundles and the workflows install, with the sum of each file
#                    (needs the internet; what still fits stays: UPGRADE=--upgrade takes the newest of all)
# make screenshots   draw the pictures of docs/ again
# make walk          record docs/walk.gif again: the program in use, in two minutes
# make clean         remove the virtual environments, the bundle and what tools left behind, but not llama.cpp as it
#                    was compiled (build/compiled)
# make distclean     remove that too

PYTHON ?= python3
VENV := .venv
CLUSTER := .venv-cluster
OLDEST := .venv-oldest
WINDOWS := .windows
BIN := $(VENV)/bin
OUT ?= submission.tsv
GPU ?= auto
GPU_PACKAGES_auto := --with-gpu-if-possible
GPU_PACKAGES_yes := --with-gpu
GPU_PART_yes := --with-gpu
GPU_PART_no := --without-gpu

# llama.cpp without what nobody uses here. pip would hand such a wheel to other projects as well, so it has a cache
# of its own, out of which each environment here takes it.
LLAMA := SKBUILD_CMAKE_DEFINE="CMAKE_PROJECT_llama_cpp_INCLUDE=$(CURDIR)/packaging/llama_only.cmake"
define install_llama
	mkdir -p build
	grep '^llama-cpp-python' requirements.txt > build/llama-cpp-python.txt
	$(LLAMA) $(1)/bin/python -m pip install --disable-pip-version-check --no-deps \
		--cache-dir "$(CURDIR)/build/compiled/pip" -r build/llama-cpp-python.txt
endef

# Compiled once, not anew in each process of the tests, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run judge model test mypy pytest test-models test-desktop test-windows test-cluster test-oldest \
	bundle lock screenshots walk clean distclean

# gui.screen says why no window can be opened, and ends with 2; of other faults main.py tells.
run: $(VENV)/run-time
	@$(BIN)/python -m gui.screen; \
	if [ $$? -ne 2 ]; then $(BIN)/python main.py; \
	else echo "So the demo dataset is judged here in the terminal, as make judge does." >&2; \
	$(MAKE) --no-print-directory judge; fi

judge: $(VENV)/run-time
	$(BIN)/python main.py judge examples/demo.tsv --model demo --out $(OUT)

model: $(VENV)/run-time
	$(BIN)/python -m models.smollm2

test: $(VENV)/run-time $(VENV)/development
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(MAKE) --no-print-directory -j2 mypy pytest

mypy:
	$(BIN)/mypy

pytest:
	$(BIN)/pytest

test-models: $(VENV)/run-time $(VENV)/development
	$(BIN)/pytest -m "models or slow"

test-desktop: $(VENV)/run-time $(VENV)/development
	sh packaging/system_packages.sh --with-desktop $(PYTHON)
	$(BIN)/pytest -m desktop -n1 tests/desktop

test-windows: $(WINDOWS)/ready
	$(WINDOWS)/win python -m pytest -p no:cacheprovider -n2 --capture=sys --timeout=900 -m "not models and not desktop"
	$(PYTHON) packaging/smoke_wine.py $(WINDOWS)

test-cluster: $(CLUSTER)/ready
	$(CLUSTER)/bin/python -m pytest tests/cluster

test-oldest: $(OLDEST)/ready
	$(OLDEST)/bin/python -m pytest -m "not models and not desktop"

bundle:
	sh packaging/system_packages.sh $(GPU_PACKAGES_$(GPU)) $(PYTHON)
	$(PYTHON) packaging/build.py $(GPU_PART_$(GPU))

LOCK = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-config --quiet $(UPGRADE) \
	--custom-compile-command "make lock"

lock: $(VENV)/development
	$(LOCK) requirements-build.txt -o packaging/locks/build.txt
	$(LOCK) requirements-bundle.txt -c packaging/locks/build.txt -o packaging/locks/bundle.txt
	$(LOCK) requirements-dev.txt -c packaging/locks/bundle.txt -o packaging/locks/dev.txt

screenshots: $(VENV)/run-time
	PYTHONPATH=. $(BIN)/python packaging/screenshots.py docs

walk: $(VENV)/run-time
	PYTHONPATH=. $(BIN)/python packaging/walk.py docs/walk.gif

$(VENV)/run-time: requirements.txt packaging/system_packages.sh
	sh packaging/system_packages.sh $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --upgrade pip
	$(call install_llama,$(VENV))
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/development: requirements-dev.txt requirements-notebook.txt $(VENV)/run-time
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements-dev.txt
	touch $@

MADE_OF := locks/build.txt locks/bundle.txt locks/dev.txt ready_llama/parts.txt \
	$(addprefix windows/,make.sh win wheels.txt python.c icuuc.c bcryptprimitives.c)

$(WINDOWS)/ready: $(addprefix packaging/,$(MADE_OF))
	sh packaging/system_packages.sh --with-wine $(PYTHON)
	bash packaging/windows/make.sh $(WINDOWS) $(PYTHON)
	touch $@

$(CLUSTER)/ready: requirements-cluster.txt requirements-dev.txt requirements-notebook.txt requirements.txt packaging/system_packages.sh
	sh packaging/system_packages.sh $(PYTHON)
	$(PYTHON) -m venv $(CLUSTER)
	$(CLUSTER)/bin/python -m pip install --disable-pip-version-check --quiet --upgrade pip
	$(call install_llama,$(CLUSTER))
	$(CLUSTER)/bin/python -m pip install --disable-pip-version-check -r requirements-dev.txt -r requirements-cluster.txt
	touch $@

$(OLDEST)/ready: requirements-dev.txt requirements-notebook.txt requirements.txt packaging/oldest_versions.py packaging/system_packages.sh
	sh packaging/system_packages.sh $(PYTHON)
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --disable-pip-version-check --quiet --upgrade pip
	$(OLDEST)/bin/python packaging/oldest_versions.py requirements.txt > $(OLDEST)/oldest.txt
	$(call install_llama,$(OLDEST))
	$(OLDEST)/bin/python -m pip install --disable-pip-version-check -r requirements-dev.txt -c $(OLDEST)/oldest.txt
	touch $@

clean:
	rm -rf $(VENV) $(CLUSTER) $(OLDEST) $(WINDOWS) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name compiled -exec rm -rf {} +

distclean: clean
	rm -rf build
