#!/usr/bin/env bash
# Builds and tests the coverage preset, then prints which lines and branches the tests reach, file
# by file: of all of them, or of those given, as in `ci/coverage.sh engine/uop/walk.cpp`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rm -rf build/coverage/profiles
cmake --workflow --preset coverage
llvm-profdata-19 merge -o build/coverage/all.profdata build/coverage/profiles/*.profraw
programs=(build/coverage/*_test)
llvm-cov-19 report "${programs[0]}" "${programs[@]/#/-object=}" \
  -instr-profile=build/coverage/all.profdata -show-functions=false \
  -ignore-filename-regex='_(test|bench)\.cpp$|^/usr/' "$@"
