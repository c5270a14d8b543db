# The commands of a developer; `make` alone lists them. Each installs what it needs first.

.PHONY: help demo demo-attach test check check-fresh check-sbcl check-newest check-unnoticed check-bench check-long bench build setup machine test-machine long-machine
.SILENT:
.NOTPARALLEL:
.DEFAULT_GOAL := help

# npm writes this file last, so it is as old as what is installed.
INSTALLED := node_modules/.package-lock.json

help:
	echo 'make demo    build the server and print a session with it'
	echo 'make demo-attach  watch in Emacs how an agent mends a web application that runs in SLIME'
	echo 'make test    run the tests; ROOM=debug runs those of one folder of lisp/ or src/tools/'
	echo 'make check   run every other check: types, format, generated docs, the package'
	echo 'make check-fresh  try a clone on a bare Debian or Ubuntu: RELEASE=trixie NODE=24'
	echo 'make check-sbcl  run the tests on every SBCL that people have, and write docs/platforms.md'
	echo 'make check-newest  run the main tests with the newest of these'
	echo 'make check-unnoticed  compare an image with a plain SBCL: ANSI_DIR, SBCL_TESTS and LIBRARIES name suites'
	echo 'make check-bench  measure shortly: memory and lengths at most twice their goals'
	echo 'make check-long  run what takes long, and write four pages of docs/develop'
	echo 'make bench   measure, and write docs/develop/benchmarks.md'
	echo 'make build   bundle the server into dist/'
	echo 'make setup   install what is missing: SBCL (asks for sudo only then) and the npm packages'

demo: setup build
	node scripts/demo.mjs

# Emacs runs on this terminal, and the human approves with y; where there is none, the script does that. Emacs, SLIME and
# Hunchentoot are among what the tests need.
demo-attach: test-machine build
	node scripts/demo-attach.mjs

# The tests build the server themselves. SHARD=3/20 runs the third twentieth of them, and ROOM=debug those of one folder of lisp/
# or src/tools/.
test: test-machine $(INSTALLED)
	paths=$$($(if $(ROOM),node scripts/room.mjs $(ROOM))) && npx --no-install vitest run $(if $(SHARD),--shard $(SHARD)) $$paths

# What takes too long for each change: hostile code, growth, real clients, 10,000 random cases of each kind, long random
# runs, and who_calls against many libraries; it writes robustness.md, clients.md, callers.md and attacks.md of docs/develop. Its last
# tests are those that use tests/long.ts, and those that try random cases: other ones each time.
check-long: long-machine $(INSTALLED)
	npx --no-install vitest run --config vitest.long.config.ts
	node scripts/robustness.mjs
	node scripts/clients.mjs
	node scripts/callers.mjs
	node scripts/check-image.mjs
	node scripts/attacks.mjs
	LIVE_LISP_LONG=1 npx --no-install vitest run --maxWorkers 1 $$(grep -rlE "/long.ts'|'fast-check'" tests --include='*.test.ts' --include='*.alone.ts')

# Wants nothing of this project: it clones the commit into a bare system, and installs all that is needed there.
check-fresh:
	sh scripts/setup.sh fresh || true
	node scripts/check-fresh.mjs

# Like check-fresh, with a system for each SBCL, in which all tests run. It keeps the systems, and writes docs/platforms.md.
# ONLY=trixie,sid names some; TESTS=main runs the main tests; SBCL_SOURCE=FOLDER has the sources of the newest SBCL.
check-sbcl:
	sh scripts/setup.sh fresh || true
	node scripts/check-sbcl.mjs

# The demo and the main tests with the newest SBCL that check-sbcl has set up.
check-newest:
	node scripts/check-sbcl.mjs --newest

check: test-machine $(INSTALLED)
	node scripts/check.mjs

# What differs between a plain SBCL and an image: in the ANSI tests of ANSI_DIR and SBCL's own of SBCL_TESTS, folders that
# are copied before, and in those of LIBRARIES=alexandria,esrap; without these in the probes of tests/unnoticed.
# ONLY=array,clos chooses files of SBCL's by beginnings.
check-unnoticed: test-machine build
	node scripts/unnoticed.mjs

# Its last line counts goals, as that of make check counts checks.
check-bench: test-machine build
	node bench/run.mjs --quick --strict --only start,trips,libraries,records,memory,ranking,sizes,tasks

# With ONLY=start,trips it measures those sections and writes nothing. NEWER_SBCL=PROGRAM names an SBCL to compare with.
bench: long-machine build
	node bench/run.mjs $(if $(ONLY),--only $(ONLY),--write)

build: $(INSTALLED)
	node scripts/build.mjs

setup: machine $(INSTALLED)

machine:
	sh scripts/setup.sh

test-machine:
	sh scripts/setup.sh test

long-machine:
	sh scripts/setup.sh long

$(INSTALLED): package-lock.json
	npm ci --loglevel=error --no-update-notifier || { echo 'npm ci failed; its own message is above.' >&2; exit 1; }
	touch $@
