#!/bin/sh
# Builds the fuzz targets as ClusterFuzzLite and OSS-Fuzz ask a project to: with $CC, $CXX, $CFLAGS
# and $CXXFLAGS, against $LIB_FUZZING_ENGINE, into $OUT, each with its seeds (<target>_seed_corpus.zip)
# and its dictionary beside it, and with the shared libraries that it needs in $OUT/lib.
#
#   usage: OUT=folder LIB_FUZZING_ENGINE=-fsanitize=fuzzer ci/clusterfuzzlite.sh
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
: "${OUT:?where the targets go}"
: "${LIB_FUZZING_ENGINE:=-fsanitize=fuzzer}"
: "${WORK:=$top/build}"
export LIB_FUZZING_ENGINE
build=$WORK/clusterfuzzlite

cmake -S "$top" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DASSAY_TESTS=OFF \
  -DCMAKE_C_COMPILER="${CC:-clang-19}" -DCMAKE_CXX_COMPILER="${CXX:-clang++-19}" \
  -DASSAY_SANITIZE="${ASSAY_SANITIZE:-}" "-DCMAKE_INSTALL_RPATH=\$ORIGIN/lib" >/dev/null
cmake --build "$build" --target fuzz_targets_all
mkdir -p "$OUT/lib"
cmake --install "$build" --component fuzz_targets --prefix "$OUT"

# What the machine that runs the targets may not have.
for target in "$OUT"/fuzz_*; do
  [ -x "$target" ] || continue
  ldd "$target" | awk '$3 ~ /^\// && $1 !~ /^(libc|libm|ld-linux|libpthread|libdl|librt)[.-]/ { print $3 }'
done | sort -u | while read -r library; do cp -L "$library" "$OUT/lib/"; done
