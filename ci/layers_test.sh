#!/usr/bin/env bash
# ci/layers.sh passes on this tree, and catches each kind of breach planted in a small one.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

"$here/layers.sh" || { echo "layers_test: the tree itself breaks its layers"; exit 1; }

# a <- b <- c, and d beside them.
plant() {
  rm -rf "${root:?}"/*
  mkdir -p "$root"/{ci,a,a/in,b,c,d}
  printf '%s\n' 'a:' 'a/in = a' 'b: a' 'c: b' 'd:' >"$root/ci/layers.txt"
  for folder in a a/in b c d; do echo '#pragma once' >"$root/$folder/x.h"; done
}

expect_pass() {
  "$here/layers.sh" "$root" || { echo "layers_test: $1 was refused"; exit 1; }
}
# expect_breach WHAT LINE: the judge fails and prints exactly this.
expect_breach() {
  local said
  if said=$("$here/layers.sh" "$root"); then echo "layers_test: $1 was not caught"; exit 1; fi
  if [[ $said != "$2" ]]; then
    printf 'layers_test: on %s it said\n%s\ninstead of\n%s\n' "$1" "$said" "$2"
    exit 1
  fi
}

plant
printf '%s\n' '#include <vector>' '#include "a/x.h"' '#include "b/x.h"' '// #include "d/x.h"' \
  >"$root/c/y.cpp"
echo '#include "a/in/x.h"' >>"$root/b/x.h"
echo '#include "a/x.h"' >>"$root/a/in/x.h"
expect_pass 'a sound tree'

plant
echo '#include "b/x.h"' >>"$root/a/x.h"
expect_breach 'an include upwards' 'a/x.h:2: a may not include b: "b/x.h"'

plant
echo ' #  include "c/x.h"  // why' >>"$root/a/in/x.h"
expect_breach 'a folder inside another' 'a/in/x.h:2: a may not include c: "c/x.h"'

plant
echo '#include "d/x.h"' >"$root/c/y.cpp"
expect_breach 'an include sideways' 'c/y.cpp:1: c may not include d: "d/x.h"'

plant
echo '#include "../a/x.h"' >"$root/b/y.cpp"
expect_breach 'a relative include' \
  'b/y.cpp:1: "../a/x.h" is relative; write the path from the root'

plant
echo '#include "x.h"' >"$root/b/y.cpp"
expect_breach 'an include of a neighbour' 'b/y.cpp:1: "x.h" does not exist'

plant
echo '#include <a/x.h>' >"$root/b/y.cpp"
expect_breach 'angle brackets' 'b/y.cpp:1: <a/x.h> is ours and wants quotes'

plant
mkdir "$root/e" && echo >"$root/e/y.cpp"
expect_breach 'a folder that is not listed' 'e/y.cpp:1: its folder is not in ci/layers.txt'

plant
mkdir "$root/a/e" && echo >"$root/a/e/x.def"
expect_breach 'a new folder in a listed one' 'a/e/x.def:1: its folder is not in ci/layers.txt'

plant
echo 'd: f' >>"$root/ci/layers.txt"
expect_breach 'a layer that is not listed' 'ci/layers.txt:6: f is not listed above'

plant
echo 'c only: a/x.h b' >>"$root/ci/layers.txt"
printf '%s\n' '#include "a/x.h"' '#include "b/x.h"' '#include "c/x.h"' >"$root/c/y.cpp"
expect_pass 'a tree that keeps to its lists'
echo '#pragma once' >"$root/a/y.h"
echo '#include "a/y.h"' >>"$root/c/y.cpp"
expect_breach 'a header that is not on the list' 'c/y.cpp:4: c may not include "a/y.h"'

plant
echo 'e only: a' >>"$root/ci/layers.txt"
expect_breach 'a list for a folder that is not there' 'ci/layers.txt:6: e is not listed above'

plant
rm -r "$root"/{a,b,c,d}
expect_breach 'a tree without sources' 'ci/layers.sh: no sources found'

echo 'layers_test: passed'
