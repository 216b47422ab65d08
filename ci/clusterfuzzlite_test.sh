#!/usr/bin/env bash
# ci/clusterfuzzlite.sh, from end to end, with the flags that ClusterFuzzLite sets: what lies in $OUT
# runs by itself, with nothing of the tree or the environment around it. Takes minutes, so it is no
# test of CTest's; fuzz_prefix and fuzz_program_text are built where nothing is named.
#
#   usage: ci/clusterfuzzlite_test.sh [fuzz_prefix ...]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
targets=("$@")
if (($# == 0)); then targets=(fuzz_prefix fuzz_program_text); fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

fail() {
  echo "clusterfuzzlite_test: $1" >&2
  exit 1
}

flags='-O1 -fno-omit-frame-pointer -gline-tables-only -fsanitize=address -fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link'
OUT=$root/out CC=clang-19 CXX=clang++-19 CFLAGS=$flags CXXFLAGS="$flags -stdlib=libc++" \
  LIB_FUZZING_ENGINE=-fsanitize=fuzzer SANITIZER=address "$here/clusterfuzzlite.sh" "${targets[@]}"

mv "$root/out" "$root/elsewhere"
cd "$root/elsewhere"
for target in "${targets[@]}"; do
  [[ -x $target ]] || fail "$target is not there"
  mkdir -p "$root/seeds/$target" "$root/found/$target"
  python3 -m zipfile -e "${target}_seed_corpus.zip" "$root/seeds/$target"
  [[ -n $(find "$root/seeds/$target" -type f -print -quit) ]] || fail "$target has no seeds"
  options=()
  if [[ -f $target.dict ]]; then options+=("-dict=$target.dict"); fi
  env -i PATH=/usr/bin:/bin "./$target" "$root/found/$target" "$root/seeds/$target" \
    "${options[@]}" -runs=2000 -timeout=25 -artifact_prefix="$root/" >"$root/$target.log" 2>&1 ||
    { tail -n 20 "$root/$target.log" && fail "$target fails"; }
  grep -q 'Loaded 1 modules' "$root/$target.log" || fail "$target is not instrumented"
  # Our own libraries come from beside it. (Nothing is piped to a grep that may end first.)
  libraries=$(LD_LIBRARY_PATH='' ldd "$PWD/$target")
  if grep -q 'not found' <<<"$libraries"; then fail "$target lacks a library"; fi
  if grep libfmt <<<"$libraries" | grep -vF "$PWD/lib/" >/dev/null; then
    fail "$target takes libfmt from the system"
  fi
  grep -q __asan_init <<<"$(nm "$target")" || fail "$target has no sanitizer"
done

echo 'clusterfuzzlite_test: passed'
