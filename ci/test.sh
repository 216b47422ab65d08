#!/usr/bin/env bash
# Sets up, then configures, builds and tests the release preset, whose checks stay on. Works from
# any directory. The last lines are CTest's own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# ccache keeps its files under HOME, which a bare environment may lack.
if [[ -z ${HOME:-} ]]; then export CCACHE_DIR=${CCACHE_DIR:-$PWD/build/ccache}; fi

ci/setup.sh
cmake --preset release
cmake --build --preset release
ctest --preset release -j "$(nproc)"
