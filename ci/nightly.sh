#!/usr/bin/env bash
# A night: ci/nightly.sh [MINUTES]. Sets up, builds, judges what is saved, then explores for MINUTES
# (5), and leaves a page for a browser. Made for a person, for cron and for CI alike.
#
#   set-up, build   what is missing is installed; `assay`; the libFuzzer targets (below)
#   replay          each saved program through every stage
#   prove           each rule at every type (at all widths in a night of an hour or more)
#   verify          each saved program and kernel, every obligation put to Z3 besides; twice, by
#                   methods that must agree, in a night of half an hour or more
#   fuzz            the campaign: 6 parts in 10 of MINUTES
#   targets         libFuzzer: 3 parts in 10
#   score           planted faults, a sample: 1 part in 10
#   kills           KILLS campaigns that are killed and go on (KILLS=200; none where nothing is said)
#   triage, report
#
# The libFuzzer targets are built with sanitizers, which takes longer than a short night. So no more
# than MINUTES go to that: those that are built by then are run, and the next night goes on where
# this one stopped.
#
# What it writes lies in $ASSAY_NIGHTLY (build/nightly), which is kept within $ASSAY_NIGHTLY_MIB
# (4096) by taking away the oldest nights:
#
#   <time>/    one night: report.html, records (*.jsonl), logs, campaign/findings, targets/
#   latest     the last one
#   history    a line a night: when, which commit, green or why not
#   answers    what solvers decided, kept from night to night
#   corpora/   the inputs of each libFuzzer target, kept from night to night
#
# Exit status: 0 green, 1 red, 2 usage, 3 trouble with the machine.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
export ASAN_SYMBOLIZER_PATH=${ASAN_SYMBOLIZER_PATH:-/usr/bin/llvm-symbolizer-19}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

minutes=${1:-5}
if (($# > 1)) || ! [[ $minutes =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
  echo "usage: ci/nightly.sh [MINUTES]" >&2
  exit 2
fi
home=${ASSAY_NIGHTLY:-build/nightly}
quota_mib=${ASSAY_NIGHTLY_MIB:-4096}
kills=${KILLS:-0}
jobs=$(nproc)
# ccache keeps its files under HOME, which a bare environment may lack.
if [[ -z ${HOME:-} ]]; then export CCACHE_DIR=${CCACHE_DIR:-$PWD/build/ccache}; fi

mkdir -p "$home"
exec 9>"$home/lock"
if ! flock -n 9; then
  echo "nightly: another night is running in $home" >&2
  exit 3
fi

# seconds PARTS: so many tenths of MINUTES, a second at least.
seconds() { awk -v m="$minutes" -v p="$1" 'BEGIN { s = m * 6 * p; printf "%d", s < 1 ? 1 : s }'; }
is_at_least() { awk -v m="$minutes" -v n="$1" 'BEGIN { exit !(m >= n) }'; }

# The oldest nights go until the folder is within its quota.
used_mib() { du -sm "$home" | cut -f1; }
nights() { find "$home" -mindepth 1 -maxdepth 1 -type d -name '*Z' | sort; }
while (($(used_mib) > quota_mib)) && [[ -n $(nights) ]]; do
  rm -rf "$(nights | head -n 1)"
done

night="$home/$(date -u +%Y%m%dT%H%M%SZ)"
mkdir -p "$night/targets"
assay=build/release/assay
red=0
trouble=0

# step NAME COMMAND...: its output is shown and kept, its time and exit code are recorded. One that
# fails makes the night red, and the others go on.
step() {
  local name=$1 code=0 start=$EPOCHREALTIME
  shift
  echo "nightly: $name"
  "$@" 9>&- 2>&1 | tee "$night/$name.log" || code=${PIPESTATUS[0]}
  awk -v n="$name" -v c="$code" -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN {
    printf "{\"kind\":\"step\",\"name\":\"%s\",\"code\":%d,\"seconds\":%.3f}\n", n, c, b - a
  }' >>"$night/steps.jsonl"
  if ((code == 3)); then trouble=1; fi
  if ((code != 0)); then red=1; fi
  return 0
}

build_assay() { cmake --preset release >/dev/null && cmake --build --preset release --target assay; }

# The cheapest first.
targets=(prefix text program_text rewrite schedule codegen order program)
build_targets() {
  cmake --preset fuzz >/dev/null || return 1
  local end=$((SECONDS + $(seconds 10))) name left code
  for name in "${targets[@]}"; do
    left=$((end - SECONDS))
    code=124
    if ((left > 0)); then
      code=0
      timeout -k 10 "$left" cmake --build --preset fuzz --target "fuzz_$name" || code=$?
    fi
    if ((code == 124)); then
      echo "the others are built in nights to come: $name is not ready"
      return 0
    fi
    ((code == 0)) || return 1
  done
}

# Whether a target is built of what is there now.
is_built() {
  [[ -x build/fuzz/fuzz_$1 ]] && ninja -C build/fuzz -n "fuzz_$1" | grep -q 'no work to do'
}

# Where a target starts from besides what is kept of it, and its dictionary.
seeds_of() {
  case $1 in
    rewrite) echo corpus/seeds/rewrite corpus/rules ;;
    schedule | codegen | order | program) echo corpus/seeds/program corpus/regress ;;
    *) echo "corpus/seeds/$1" ;;
  esac
}
dictionary_of() {
  if [[ -f fuzz/targets/$1.dict ]]; then echo "-dict=fuzz/targets/$1.dict"; fi
}

# run_target NAME SECONDS: new inputs are distilled into what is kept.
run_target() {
  local name=$1 program=build/fuzz/fuzz_$1 store=$home/corpora/$1 new=$night/targets/$1.new code=0
  local log=$night/targets/$name.log
  mkdir -p "$store" "$new" "$night/targets/$name"
  # shellcheck disable=SC2046  # several folders, and a dictionary or none
  "$program" -fork="$jobs" -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 \
    -print_funcs=0 -max_total_time="$2" -timeout=20 -rss_limit_mb=3000 -artifact_prefix="$night/targets/$name/" \
    $(dictionary_of "$name") "$new" "$store" $(seeds_of "$name") >"$log" 2>&1 || code=$?
  "$program" -merge=1 -timeout=20 -rss_limit_mb=3000 -artifact_prefix="$night/targets/$name/" \
    "$store" "$new" >>"$log" 2>&1 || code=$?
  rm -rf "$new"
  rmdir --ignore-fail-on-non-empty "$night/targets/$name"
  grep -E '^#[0-9]+: cov' "$log" | tail -n 1 | sed "s/^/$name /"
  # What is found lies there; else that the target ends as it should.
  if [[ -d $night/targets/$name ]]; then
    find "$night/targets/$name" -type f | sort
    return 1
  fi
  if ((code != 0)); then tail -n 3 "$log"; fi
  return "$code"
}

run_targets() {
  local ready=() name code=0
  for name in "${targets[@]}"; do
    if is_built "$name"; then ready+=("$name"); else echo "$name is not built yet"; fi
  done
  ((${#ready[@]} > 0)) || return 0
  local each=$(($(seconds 3) / ${#ready[@]}))
  for name in "${ready[@]}"; do run_target "$name" "$((each > 1 ? each : 1))" || code=1; done
  return "$code"
}

# What survives is listed by the report, which judges how much that is; what is found where no fault
# is planted is a failure.
score() {
  local sample=$(($(seconds 1) / 2 + 1)) code=0 told=$night/score.txt
  "$assay" score --sample "$sample" --seed "$(date -u +%j)" --seconds 10 --jobs "$jobs" --verbose \
    --records "$night/score.jsonl" >"$told" 2>&1 || code=$?
  grep -E '^(found|missed|survivors|[0-9]+ of) ?' "$told"
  if ((code == 1)) && ! grep -q '^  fails without it' "$told"; then code=0; fi
  if ((code != 0)); then tail -n 20 "$told"; fi
  return "$code"
}

kill_campaigns() {
  cmake --build --preset release --target fuzz_command_test &&
    ASSAY_KILLS=$kills build/release/fuzz_command_test --gtest_filter='*Kill*' --gtest_brief=1
}

# The first device of PoCL: the one of a single thread, where it has that, since each process of the
# campaign drives one.
pocl() { awk -F': ' '/^ *cl:pocl/ && !n++ { sub(/^ */, "", $1); print $1 }' <<<"$("$assay" devices)"; }

fuzz() {
  local devices=(--device sim:0) code=0 driver
  driver=$(pocl)
  if [[ -n $driver ]]; then
    devices+=(--device "$driver")
  else
    echo "there is no PoCL here: cases run on simulated devices alone"
  fi
  "$assay" fuzz --minutes "$(awk -v s="$(seconds 6)" 'BEGIN { print s / 60 }')" --jobs "$jobs" \
    "${devices[@]}" --corpus corpus/regress --corpus corpus/seeds/program \
    --seed "$(date -u +%Y%m%d)" --out "$night/campaign" || code=$?
  if [[ -f $night/campaign/records.jsonl ]]; then
    cp "$night/campaign/records.jsonl" "$night/campaign.jsonl"
  fi
  return "$code"
}

# A function, so that all of it is read before any of it runs: the file may change meanwhile.
run_night() {
  local code=0 saved widths=() twice=()
  saved=(corpus/regress corpus/models corpus/kernels corpus/seeds/program corpus/ops)
  if is_at_least 60; then widths=(--all); fi
  if is_at_least 30; then twice=(--double); fi

  step set-up ci/setup.sh
  step build build_assay
  if ((red != 0)); then
    echo "nightly: nothing to run, see $night/set-up.log and $night/build.log" >&2
    exit 3
  fi
  step build-targets build_targets
  step replay "$assay" check --quiet "${saved[@]}"
  step prove "$assay" prove --strict --quiet "${widths[@]}" --cache "$home/answers" --recheck 1 \
    --records "$night/proofs.jsonl"
  # Two methods agree, or the harness is wrong; what one alone decides is no failure.
  if is_at_least 30; then step prove-twice "$assay" prove --double --quiet; fi
  step verify "$assay" verify --strict --quiet --z3 "${twice[@]}" --cache "$home/answers" \
    --recheck 1 --records "$night/verified.jsonl" --evidence "$night/evidence" "${saved[@]}"
  step fuzz fuzz
  step targets run_targets
  step score score
  if ((kills > 0)); then step kills kill_campaigns; fi
  step triage "$assay" triage "$night/campaign"

  # The report judges the records too.
  "$assay" report "$night" --strict --html "$night/report.html" | tee "$night/report.log" ||
    code=${PIPESTATUS[0]}
  if ((code == 1)); then red=1; elif ((code != 0)); then trouble=1; fi

  printf '%s %s %s\n' "$(basename "$night")" "$(git rev-parse --short HEAD 2>/dev/null || echo -)" \
    "$(grep -E '^(green|red)' "$night/report.log" | tail -n 1)" >>"$home/history"
  ln -sfn "$(basename "$night")" "$home/latest"
  if ((trouble != 0)); then
    echo "nightly: trouble, $night/report.html"
    exit 3
  fi
  echo "nightly: $([[ $red == 0 ]] && echo green || echo red), $night/report.html"
  exit "$red"
}

run_night; exit
