# Footnote. `make run` and `make test` work on a machine that has only Python 3.11+, pip, git and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: run build models test lint bench eval fuzz soak kills audit lock clean browser

run: build
	$(BIN)/python app.py

# Models into the cache folder, then the demo collections where artifacts/ lacks them.
build: models
	$(BIN)/python build_index.py --if-missing

models: $(VENV)/run.done
	@$(BIN)/python -m rag.llm

test: lint models browser
	$(BIN)/python build_index.py --if-missing
	$(BIN)/python -m pytest

lint: $(VENV)/test.done
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: build
	$(BIN)/python -m rag bench

eval: build
	$(BIN)/python -m rag evaluate corpus/battery.jsonl

# More than 100,000 random calls, pages and files; see SECURITY.md.
fuzz: $(VENV)/test.done
	for seed in 1 2 3; do \
	  $(BIN)/python -m pytest tests/fuzz --hypothesis-profile=long --hypothesis-seed=$$seed || exit 1; \
	done

# Half an hour of readers who ask, stop, vanish and send rubbish; and kill -9 under load, fifty times.
soak: build $(VENV)/test.done
	$(BIN)/python -m tests.soak --minutes 30

kills: build $(VENV)/test.done
	$(BIN)/python -m tests.kills --times 50

# Headless Chromium and axe-core for the tests of the page.
browser:
	@sh tests/install_browser.sh

$(VENV)/python.done:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/run.done: requirements.txt $(VENV)/python.done
	@echo "Installing the pinned requirements (once, a few minutes) ..."
	$(PIP) -r requirements.txt
	@touch $@

$(VENV)/test.done: requirements-dev.txt $(VENV)/run.done
	$(PIP) -r requirements-dev.txt
	@touch $@

# Known vulnerabilities of what is pinned; needs PyPI's JSON service.
audit: $(VENV)/python.done
	$(PIP) pip-audit
	$(BIN)/pip-audit --no-deps --disable-pip --strict -r requirements.txt

# All locks anew from the short lists. A local build tag such as "+cpu" is no release of the index.
lock: $(VENV)/python.done
	$(PIP) pip-tools
	$(BIN)/pip-compile --quiet --strip-extras --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file requirements.txt requirements.in
	sed -i 's/^\([a-z-]*==[0-9.]*\)+cpu/\1/' requirements.txt
	$(BIN)/pip-compile --quiet --strip-extras --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file requirements-postgres.txt requirements-postgres.in
	$(BIN)/pip-compile --quiet --strip-extras --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file requirements-dev.txt requirements-dev.in

clean:
	rm -rf $(VENV) artifacts
