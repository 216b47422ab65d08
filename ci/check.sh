#!/usr/bin/env bash
# What must hold before a commit, cheapest first: format, layers, tidy, dev tests, asan tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'TEXT'
usage: ci/check.sh [--all]

Checks format, layers, tidy, dev tests and asan tests, and stops at the first that fails.

  --all    tidy every source; without it, those changed since the branch left main, committed or not
TEXT
}

all=false
for argument in "$@"; do
  case $argument in
    --all) all=true ;;
    --help | -h) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
done

if [[ -z ${HOME:-} ]]; then export CCACHE_DIR=${CCACHE_DIR:-$PWD/build/ccache}; fi

section() { printf '\n== %s ==\n' "$1"; }

# Tracked and new files of ours, less those deleted.
sources() {
  git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' '*.def' | LC_ALL=C sort -u |
    while read -r file; do if [[ -f $file ]]; then echo "$file"; fi; done
}

changed() {
  local main base
  main=$(git rev-parse -q --verify origin/main || git rev-parse -q --verify main || echo HEAD)
  base=$(git merge-base HEAD "$main" || git rev-parse HEAD)
  { git diff --name-only "$base" && git ls-files --others --exclude-standard; } | LC_ALL=C sort -u
}

ci/setup.sh

section format
sources | xargs clang-format-19 --dry-run --Werror

section layers
ci/layers.sh

section tidy
cmake --preset dev >/dev/null
if $all; then sources; else changed; fi | ci/tidy.sh

section 'dev tests'
cmake --build --preset dev
ctest --preset dev

section 'asan tests'
cmake --preset asan >/dev/null
cmake --build --preset asan
ctest --preset asan

section 'all checks passed'
