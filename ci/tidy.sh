#!/usr/bin/env bash
# Runs clang-tidy over the sources named on standard input, a header by way of a source that
# includes it. What passed is remembered in build/tidy and not run again until it, a header below
# it, or the checks change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# SOURCE -> the hash of all that its diagnostics depend on.
fingerprint() {
  local files=("$1") new=("$1") found
  while ((${#new[@]} > 0)); do
    mapfile -t found < <(sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "${new[@]}" | sort -u)
    new=()
    for file in "${found[@]}"; do
      if [[ -f $file && " ${files[*]} " != *" $file "* ]]; then new+=("$file"); fi
    done
    files+=("${new[@]}")
  done
  { clang-tidy-19 --version && cat .clang-tidy CMakeLists.txt && sha256sum "${files[@]}"; } |
    sha256sum | cut -d' ' -f1
}

if [[ ${1:-} == --one ]]; then
  mark=build/tidy/$(fingerprint "$2")
  if [[ -e $mark ]]; then exit 0; fi
  if ! said=$(clang-tidy-19 -p build/dev --quiet "$2" 2>/dev/null); then
    printf '%s\n' "$2:" "$said"
    exit 255  # xargs starts no more
  fi
  echo "$2"
  touch "$mark"
  exit 0
fi

built=$(sed -n 's|^ *"file": "'"$PWD"'/\(.*\)".*|\1|p' build/dev/compile_commands.json | sort -u)

# A header's own source, or the first that includes it.
by_way_of() {
  local own=${1%.*}.cpp
  if grep -qxF "$own" <<<"$built"; then echo "$own" && return; fi
  xargs grep -lF "#include \"$1\"" <<<"$built" | head -1 || true
}

mkdir -p build/tidy
while read -r file; do
  case $file in
    *.cpp) grep -xF "$file" <<<"$built" || true ;;
    *.h | *.def) by_way_of "$file" ;;
  esac
done | LC_ALL=C sort -u | xargs -r -n 1 -P "$(nproc)" "$0" --one
