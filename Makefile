.DEFAULT_GOAL := help
PYTHON ?= python3
PORT ?= 8000
ENV ?= default
VENV := .venv
SAM_VENV := .venv-sam
EMULATOR_VENV := .venv-emulator
PEERS_VENV := .venv-peers
BIN := $(VENV)/bin
PIP := -m pip --disable-pip-version-check --quiet
# Compiling the code and the tests again takes a third of a short run, for each process it starts.
unexport PYTHONDONTWRITEBYTECODE
# The lock files are complete. A package that is not in them, or has another hash, is not installed.
INSTALL := $(PIP) install --require-hashes --no-deps
# A worker that has no tests left takes over some of the other's, which have the slow ones.
PARALLEL := -n 2 --dist worksteal
COMPILE := uv pip compile -q --python-version 3.11 --universal --no-header --no-annotate --generate-hashes

.PHONY: help setup up quick test check fmt lint types tests sam-validate sam-build deploy deploy-test browser screenshots walks bench-page e2e bench-burst recount bench-cost bench-cpu bench-peers bench-classify bench-confidence bench-locations bench-waste calibrate capacity simulate simulate-twice simulate-mutants lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.installed: requirements-dev.txt pyproject.toml
	@echo "setting up $(VENV) (once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "duecourse needs Python 3.11 or newer")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(INSTALL) -r requirements-dev.txt
	@$(BIN)/python $(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(SAM_VENV)/.installed: requirements-sam.txt
	@echo "setting up $(SAM_VENV) (once)"
	@$(PYTHON) -m venv $(SAM_VENV)
	@$(SAM_VENV)/bin/python $(INSTALL) -r requirements-sam.txt
	@touch $@

$(EMULATOR_VENV)/.installed: requirements-emulator.txt
	@echo "setting up $(EMULATOR_VENV) (once)"
	@$(PYTHON) -m venv $(EMULATOR_VENV)
	@$(EMULATOR_VENV)/bin/python $(INSTALL) -r requirements-emulator.txt
	@touch $@

setup: $(VENV)/.installed ## create .venv with the locked versions and the duecourse command

up: setup ## run the whole system on this machine (PORT=8000)
	@$(BIN)/duecourse up --port $(PORT)

quick: lint types ## run lint, types, unit and property tests (under a minute)
	@$(BIN)/pytest -q $(PARALLEL) --hypothesis-profile=quick tests/unit tests/properties

test: lint types tests ## run lint, types and every test that needs no browser

check: test browser e2e simulate simulate-twice sam-validate sam-build deploy-test ## run everything that CI runs

fmt: setup ## format the code
	@$(BIN)/ruff format -q .
	@$(BIN)/ruff check -q --fix .

lint: setup ## run ruff and check the import contracts
	@$(BIN)/ruff format --check -q .
	@$(BIN)/ruff check -q .
	@$(BIN)/lint-imports --no-cache > /dev/null || $(BIN)/lint-imports --no-cache

types: setup ## run mypy --strict
	@$(BIN)/mypy

tests: setup ## run only the tests
	@$(BIN)/pytest -q $(PARALLEL)

sam-validate: $(SAM_VENV)/.installed ## run sam validate --lint
	@SAM_CLI_TELEMETRY=0 $(SAM_VENV)/bin/sam validate --lint --region eu-central-1

sam-build: $(SAM_VENV)/.installed ## run sam build, and import the built handlers as Lambda does
	@SAM_CLI_TELEMETRY=0 PATH="$(CURDIR)/$(SAM_VENV)/bin:$$PATH" $(SAM_VENV)/bin/sam build
	@$(SAM_VENV)/bin/python .ci/import_built.py

# Not as prerequisites: the order matters, and the build should not begin without credentials.
deploy: setup ## check credentials, build, deploy and examine (ENV=default, dev or prod)
	@$(BIN)/duecourse doctor --preflight --env $(ENV)
	@$(MAKE) --no-print-directory sam-build
	@SAM_CLI_TELEMETRY=0 $(if $(AWS_REGION),AWS_DEFAULT_REGION=$(AWS_REGION)) \
		$(SAM_VENV)/bin/sam deploy --config-env $(ENV) --no-fail-on-empty-changeset
	@$(BIN)/duecourse doctor --next-steps --env $(ENV)
	@$(BIN)/duecourse doctor --env $(ENV)

deploy-test: setup sam-build $(EMULATOR_VENV)/.installed ## deploy to an emulator of AWS on this machine, and run tasks there (3 min)
	@$(BIN)/pytest -q -x tests/deploy

$(VENV)/.browser: requirements-browser.txt $(VENV)/.installed
	@$(BIN)/python $(INSTALL) -r requirements-browser.txt
	@touch $@

browser: $(VENV)/.browser ## test every page in a real Chromium (CHROMIUM=/usr/bin/chromium)
	@$(BIN)/pytest -q $(PARALLEL) tests/browser

screenshots: $(VENV)/.browser ## retake the README's pictures of the dashboard
	@$(BIN)/python -m tests.browser.screenshots

walks: setup ## renew the line numbers in docs/architecture.md
	@$(BIN)/python -m tests.support.walks

bench-page: $(VENV)/.browser ## load the Now page with 5,000 tasks and 500 events a second, for 5 minutes
	@$(BIN)/python -m tests.browser.load

e2e: setup ## measure the lateness of 200 reminders on the real clock (90 s)
	@$(BIN)/python -m bench.lateness

bench-burst: setup ## deliver 500 reminders due in one second, with the pages open (90 s)
	@$(BIN)/python -m bench.burst

recount: setup ## count 10,000 failures in batches cut and repeated at random, and compare with a recount
	@$(BIN)/python -m bench.recount

bench-cost: setup ## measure what a reminder, an action, a retry and an idle stack cost on AWS
	@$(BIN)/python -m bench.cost

bench-cpu: setup ## measure the client CPU of each step as a ratio to one boto3 call
	@$(BIN)/python -m bench.cpu

$(PEERS_VENV)/.installed: requirements-peers.txt
	@echo "setting up $(PEERS_VENV) (once)"
	@$(PYTHON) -m venv $(PEERS_VENV)
	@$(PEERS_VENV)/bin/python $(INSTALL) -r requirements-peers.txt
	@touch $@

bench-peers: $(PEERS_VENV)/.installed bench-cpu ## run bench-cpu beside Celery and Dramatiq on redis

bench-classify: setup ## measure the classifier's speed, also on hostile input
	@$(BIN)/python -m bench.classify

bench-confidence: setup ## compare the confidence of classifications with the share of right answers
	@$(BIN)/python -m bench.confidence

bench-locations: setup ## print how many source locations are found, by ecosystem
	@$(BIN)/python -m bench.locations

bench-waste: setup ## compare the failed retries of each policy with fixed delays and an oracle
	@$(BIN)/python -m bench.waste

calibrate: setup ## measure again how far the classifier's rules can be trusted (confidence.json)
	@$(BIN)/python -m local.calibration

capacity: setup ## print which limit of AWS comes first, by tasks, failures, messages and listeners
	@$(BIN)/python -m bench.capacity

simulate: setup ## simulate seeds with faults for 2 minutes, and check what we promise
	@$(BIN)/duecourse simulate --minutes 2

simulate-twice: setup ## simulate 2,000 seeds in two processes each, and compare the traces
	@$(BIN)/duecourse simulate --seeds 1..2000 --twice

simulate-mutants: setup ## plant bugs one by one, and simulate until each is found (1,000 seeds at most, 12 min)
	@$(BIN)/python -m local.simulate.find_mutants

lock: ## resolve the pins again, with the hashes of all platforms (needs uv)
	$(COMPILE) layers/deps/requirements.in -o layers/deps/requirements.txt
	$(COMPILE) requirements-dev.in -o requirements-dev.txt
	$(COMPILE) requirements-browser.in -o requirements-browser.txt
	$(COMPILE) requirements-sam.in -o requirements-sam.txt
	$(COMPILE) requirements-emulator.in -o requirements-emulator.txt
	$(COMPILE) requirements-peers.in -o requirements-peers.txt

clean: ## remove everything that was installed or built
	rm -rf $(VENV) $(SAM_VENV) $(EMULATOR_VENV) $(PEERS_VENV) .aws-sam .mypy_cache .ruff_cache .pytest_cache .hypothesis
