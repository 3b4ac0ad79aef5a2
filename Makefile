# Every target sets up what it needs. Works with GNU make 3.81 (macOS) and newer.
.DEFAULT_GOAL := help
.PHONY: help run test lint bench loadtest stop lock clean

COMPILE := .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' $(ARGS)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## set up, then run everything on this machine; ARGS="--exit-when-idle" ends once all is done
	@bin/bootstrap local
	@.venv/bin/python manage.py start $(ARGS)

test: ## run the tests; ARGS="tests/catalog -k pay" chooses some
	@bin/bootstrap dev
	@PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 .venv/bin/python -m pytest -p xdist.plugin -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)

lint: ## check style, types and the order of imports
	@bin/bootstrap dev
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports

bench: ## compare the queue with its peers and pgbench; ARGS="queue --quick"
	@bin/bootstrap local
	@.venv/bin/python manage.py benchmark $(ARGS)

loadtest: ## run the queue under fire; ARGS="--workers 8 --accounts 50 --tasks 20000 --kill"
	@bin/bootstrap local
	@.venv/bin/python manage.py loadtest $(ARGS)

stop: ## stop the embedded PostgreSQL; its data stays
	@bin/bootstrap tools
	@.venv/bin/python -m config.embedded stop

lock: ## write requirements/*.lock from pyproject.toml; ARGS=--upgrade takes newer versions
	@bin/bootstrap tools
	$(COMPILE) --group tools -o requirements/tools.lock
	$(COMPILE) pyproject.toml -o requirements/base.lock
	$(COMPILE) pyproject.toml --group local -o requirements/local.lock
	$(COMPILE) pyproject.toml --group dev -o requirements/dev.lock

clean: ## remove .venv and caches; the data in var/ stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
