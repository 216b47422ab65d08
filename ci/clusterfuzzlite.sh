#!/usr/bin/env bash
# Builds the fuzz targets as ClusterFuzzLite and OSS-Fuzz ask a project to: with $CC, $CXX, $CFLAGS
# and $CXXFLAGS, against $LIB_FUZZING_ENGINE, into $OUT, each with its seeds (<target>_seed_corpus.zip)
# and its dictionary beside it, and with the shared libraries that it needs in $OUT/lib.
#
#   usage: OUT=folder LIB_FUZZING_ENGINE=-fsanitize=fuzzer ci/clusterfuzzlite.sh [fuzz_prefix ...]
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
: "${OUT:?where the targets go}"
: "${LIB_FUZZING_ENGINE:=-fsanitize=fuzzer}"
: "${WORK:=$top/build}"
export LIB_FUZZING_ENGINE
# The libraries of the system, fmt among them, are made with libstdc++.
export CXXFLAGS=${CXXFLAGS:-}
CXXFLAGS=${CXXFLAGS//-stdlib=libc++/}
build=$WORK/clusterfuzzlite

# Where nobody says how to instrument, no target would find its way.
if [[ -z $CXXFLAGS && -z ${ASSAY_SANITIZE:-} ]]; then
  ASSAY_SANITIZE=fuzzer-no-link,address,undefined
fi

cmake -S "$top" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DASSAY_TESTS=OFF \
  -DASSAY_UNITY=ON '-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -gline-tables-only' \
  -DCMAKE_C_COMPILER="${CC:-clang-19}" -DCMAKE_CXX_COMPILER="${CXX:-clang++-19}" \
  -DASSAY_SANITIZE="${ASSAY_SANITIZE:-}" "-DCMAKE_INSTALL_RPATH=\$ORIGIN/lib" >/dev/null
if (($# == 0)); then mapfile -t targets <"$build/fuzz_targets.txt"; else targets=("$@"); fi
cmake --build "$build" --target "${targets[@]}"
mkdir -p "$OUT/lib"
for target in "${targets[@]}"; do
  cmake --install "$build" --component "$target" --prefix "$OUT"
  # What the machine that runs the target may not have.
  ldd "$OUT/$target" |
    awk '$3 ~ /^\// && $1 !~ /^(libc|libm|ld-linux|libpthread|libdl|librt)[.-]/ { print $3 }'
done | sort -u | while read -r library; do
  if [[ $library == /* && -f $library ]]; then cp -L "$library" "$OUT/lib/"; fi
done
