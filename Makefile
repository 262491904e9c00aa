# The whole developer interface. `make` lists the targets; CONTRIBUTING.md has the same without make.

VENV := .venv
RUN := $(VENV)/bin/python
PLUGINS := $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))
# torch and JAX take a minute to install: only where they are used.
HEAVY := plugins/neurogym-jax plugins/neurogym-sb3 plugins/neurogym-torch
LIGHT := $(filter-out $(HEAVY),$(PLUGINS))
PIP := -m pip install --quiet --disable-pip-version-check
# Packages that build the core and the plugins: installed first, once, and not for each of them.
BUILDS := cython editables hatchling numpy setuptools
# The compiled kernel: installing compiles it, where there is a compiler.
KERNEL := hatch_build.py neurogym_core/play/kernel.py $(wildcard neurogym_core/play/*.pxd neurogym_core/play/*.h)
# One thread a process: the tests already run on two.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Each takes its half of the files in order, so that fixtures of modules and sessions are made once.
WORKERS := -n 2 --dist worksteal
export PYTHON
# venv --clear follows a link, and would empty the environment that it leads to.
new_environment = if [ -L $(1) ]; then echo "$(1) is a link to $$(readlink $(1)), which would be emptied. Remove the link." >&2; exit 1; fi; \
	python=$$(.ci/find-python) && echo "Making $(1) with $$python" && "$$python" -m venv --clear $(1)

.DEFAULT_GOAL := help
.PHONY: help install demo test test-lowest test-newest test-all test-browser mutants lint bench release-check train-examples train-agents train-gallery models leaderboard site site-sample test-site clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 22

install: $(VENV)/installed-all  ## an environment in .venv with the core, its extras and all plugins
	@echo "Activate it with: . $(VENV)/bin/activate"

demo: $(VENV)/installed-demo  ## random-dot motion played by three subjects: a table, and demo.png
	@$(ONE_THREAD) $(RUN) -m neurogym_likeness.demo

test: $(VENV)/installed-test  ## the fast tests
	$(ONE_THREAD) $(RUN) -m pytest -q -m "not slow" $(WORKERS)

test-lowest: .venv-lowest/installed  ## the fast tests with the lowest declared version of every dependency
	$(ONE_THREAD) .venv-lowest/bin/python -m pytest -q -m "not slow" $(WORKERS)

test-newest: .venv-newest/installed  ## the fast tests with the newest version of every dependency
	$(ONE_THREAD) .venv-newest/bin/python -m pytest -q -m "not slow" $(WORKERS)

test-all: $(VENV)/installed-dev  ## all tests, the slow ones with Stable-Baselines3 and torch too
	$(ONE_THREAD) $(RUN) -m pytest -q $(WORKERS)

mutants: $(VENV)/installed-mutants  ## break the core in 300 places, and list the changes that no test notices (hours)
	$(RUN) tests/mutants.py

release-check: $(VENV)/installed-release  ## build all packages twice, judge them, and try each from its wheel (half an hour)
	@$(RUN) .ci/release_check.py $(OPTIONS)

# Of the page to play, and of experiments in jsPsych, which npm installs.
PLAYED := plugins/neurogym-play/tests/test_play.py plugins/neurogym-play/tests/test_jspsych.py

test-browser: $(VENV)/installed-test  ## the catalogue page and the pages to play in Chromium (Debian: chromium chromium-driver npm)
	$(ONE_THREAD) $(RUN) -m pytest -q plugins/neurogym-registry/tests/browser $(PLAYED)

lint: $(VENV)/installed-test  ## ruff, mypy, pyright, and turns of phrase to avoid
	$(RUN) -m ruff check .
	$(RUN) -m mypy
	$(RUN) -m pyright --pythonpath $(RUN)
	$(RUN) docs/_make/prose.py

bench: $(VENV)/installed-demo  ## speed beside NeuroGym 2.3.1, which is installed in .venv-peer
	$(RUN) -m benchmarks

train-examples: $(VENV)/installed-dev  ## train networks on the examples, and write docs/results.md (half an hour)
	$(ONE_THREAD) $(RUN) docs/_make/results.py

train-agents: $(VENV)/installed-dev  ## train agents on six tasks with eight seeds, and write docs/agent-results.md (an hour; can be resumed)
	$(ONE_THREAD) $(RUN) docs/_make/agents.py

train-gallery: $(VENV)/installed-dev  ## train networks on all tasks, and write docs/gallery-results.md (hours; can be resumed)
	$(ONE_THREAD) $(RUN) docs/_make/train_gallery.py
	$(ONE_THREAD) $(RUN) docs/_make/beside.py

models: $(VENV)/installed-dev  ## pack the networks of the gallery that were trained here, as files of a release, in build/models
	rm -rf build/models
	$(ONE_THREAD) $(RUN) docs/_make/gallery_models.py

leaderboard: $(VENV)/installed-dev  ## score animals, cheats, subjects and networks in the benchmarks; writes docs/leaderboard.md (can be resumed)
	$(ONE_THREAD) $(RUN) docs/_make/leaderboard.py

site: .venv-site/installed  ## the site in site/, with a page for each task (Sphinx; a few minutes)
	$(ONE_THREAD) .venv-site/bin/python docs/_make/build_site.py $(if $(ADDRESS),--address $(ADDRESS))

site-sample: .venv-site/installed  ## a page of each kind of the site, and the catalogue page, in docs/_build (a minute)
	$(ONE_THREAD) .venv-site/bin/python docs/_make/sample_site.py

# axe-core is a file of the tests' environment only; the site does not contain it.
AXE := $(VENV)/axe-core/axe.min.js
$(AXE):
	@mkdir -p $(@D) && cd $(@D) && npm pack --silent axe-core@4.14.1 && tar xzf axe-core-4.14.1.tgz --strip-components=1

test-site: $(VENV)/installed-test site $(AXE)  ## build the site, and test it and the pages to play in Chromium (needs npm)
	$(ONE_THREAD) $(RUN) -m pytest -q tests/site $(PLAYED)

clean:  ## remove the environments and the files of the tools
	rm -f neurogym_core/play/_kernel*.so neurogym_core/play/_kernel*.pyd
	rm -rf $(VENV) .venv-lowest .venv-newest .venv-peer .venv-site .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist demo.png site docs/_build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

CHOSEN := $(PLUGINS)
$(VENV)/installed-test $(VENV)/installed-mutants: CHOSEN := $(LIGHT)
# The demo needs no extra of the core.
$(VENV)/installed-demo: CHOSEN := $(filter plugins/neurogym-plot plugins/neurogym-behaviour plugins/neurogym-records plugins/neurogym-training plugins/neurogym-likeness plugins/neurogym-task-%,$(PLUGINS))
# The tools of the developers: a group of pyproject.toml.
GROUP = $$($(RUN) .ci/group.py $*)
$(VENV)/installed-all $(VENV)/installed-demo: GROUP :=
$(VENV)/installed-all: EXTRA := [all]
$(VENV)/installed-release: CHOSEN := plugins/neurogym-registry

# The core, plugins and tools, in one call of pip: it resolves them together, from this checkout.
$(VENV)/installed-%: constraints.txt pyproject.toml $(KERNEL) $(PLUGINS:%=%/pyproject.toml) | $(RUN)
	@echo "Installing the core$(EXTRA) and $(words $(CHOSEN)) plugins for '$*' into $(VENV) ..."
	@$(RUN) $(PIP) -c constraints.txt $(BUILDS)
	@$(RUN) $(PIP) -c constraints.txt --no-build-isolation $(GROUP) -e '.$(EXTRA)' $(CHOSEN:%=-e ./%)
	@$(RUN) -c "from neurogym_core.players import kernel_in_use; kernel = kernel_in_use(); kernel.module or print(kernel)"
	@touch $@

# The environment of the site alone, so that its requirements are complete. It has no sweeps, and trains nothing: the
# pages about these packages need stand-ins of their imports only (docs/_make/absent.py).
SHOWN := $(filter-out plugins/neurogym-sweep,$(LIGHT))
.venv-site/installed: constraints.txt pyproject.toml $(KERNEL) $(PLUGINS:%=%/pyproject.toml)
	@$(call new_environment,.venv-site)
	@.venv-site/bin/python $(PIP) --no-compile -c constraints.txt $(BUILDS)
	@.venv-site/bin/python $(PIP) --no-compile -c constraints.txt --no-build-isolation $$(.venv-site/bin/python .ci/group.py site) -e . $(SHOWN:%=-e ./%)
	@touch $@

.venv-lowest/installed: .ci/lowest.py pyproject.toml $(KERNEL) $(PLUGINS:%=%/pyproject.toml)
	@$(call new_environment,.venv-lowest)
	@.venv-lowest/bin/python .ci/lowest.py > .venv-lowest/constraints.txt
	@.venv-lowest/bin/python $(PIP) -c .venv-lowest/constraints.txt $$(.venv-lowest/bin/python .ci/group.py test) -e . $(LIGHT:%=-e ./%)
	@touch $@

# Without constraints.txt: as it is installed from the index today.
.venv-newest/installed: pyproject.toml $(KERNEL) $(PLUGINS:%=%/pyproject.toml)
	@$(call new_environment,.venv-newest)
	@.venv-newest/bin/python $(PIP) --upgrade $$(.venv-newest/bin/python .ci/group.py test) -e . $(LIGHT:%=-e ./%)
	@touch $@

$(RUN):
	@$(call new_environment,$(VENV))
