#!/usr/bin/env bash
# ci/nightly.sh, with everything that it runs in the places of which stand small scripts: what it
# records, when it is red, what it keeps and takes away. And that the files which start it are sound.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

fail() {
  echo "nightly_test: $1" >&2
  exit 1
}
# stand_in PATH TEXT...: a script at a place below the root.
stand_in() {
  mkdir -p "$(dirname "$root/$1")"
  printf '%s\n' '#!/usr/bin/env bash' "${@:2}" >"$root/$1"
  chmod +x "$root/$1"
}

cp "$here/../ci/nightly.sh" "$root" && mkdir -p "$root/ci" && mv "$root/nightly.sh" "$root/ci/"
stand_in ci/setup.sh 'true'
# Builds what is asked for; of targets only `prefix` and `text`, in time.
stand_in bin/cmake 'case "$*" in
  *"--target fuzz_prefix" | *"--target fuzz_text") ;;
  *"--target fuzz_"*) sleep 60 ;;
esac'
stand_in bin/ninja 'echo "ninja: no work to do."'
stand_in build/fuzz/fuzz_prefix 'for a; do case $a in
  -fork=*) echo "#90: cov: 7 ft: 9 corp: 3 exec/s: 3 oom/timeout/crash: 0/0/0 time: 3s job: 1" ;;
  -merge=1) echo "MERGE-OUTER: 2 new files with 4 new features added; 1 new coverage edges" ;;
esac; done; [[ $* != *-merge=1* ]] || touch "${@: -2:1}/kept"'
stand_in build/fuzz/fuzz_text 'echo "#9: cov: 1 ft: 2 corp: 3 oom/timeout/crash: 0/0/0 time: 3s"'
# Says what it is asked, and exits with what stands in the file named for the subcommand.
stand_in build/release/assay 'all="$*"
echo "assay $all" >>calls
if [[ $1 == devices ]]; then
  printf "devices\n  sim:0: machine\n    groups of 8\n  cl:pocl-basic: PoCL, basic\n  cl:pocl: PoCL\n"
fi
if [[ $1 == fuzz ]]; then out="${all##*--out }"; mkdir -p "$out" && echo record >"$out/records.jsonl"; fi
if [[ $1 == report ]]; then ls "$2" >seen; echo "green"; echo page >"${all##*--html }"; fi
if [[ -f exits/$1 ]]; then exit "$(cat "exits/$1")"; fi'

night() {
  rm -rf "$root/calls" "$root"/home/20[1-9]*Z  # nights are named by the second
  PATH="$root/bin:$PATH" ASSAY_NIGHTLY=$root/home "$root/ci/nightly.sh" "$@" >"$root/said" 2>&1
}
expect_code() {
  local want=$1 code=0
  shift
  night "$@" || code=$?
  [[ $code == "$want" ]] || { cat "$root/said" && fail "exit code $code instead of $want of: $*"; }
}

expect_code 2 five
expect_code 2 1 2

# A night of which all is well.
expect_code 0 0.05
latest=$root/home/latest
steps=$(sed 's/.*"name":"\([^"]*\)".*/\1/' "$latest/steps.jsonl" | xargs)
[[ $steps == "set-up build build-targets replay prove verify fuzz targets score triage" ]] ||
  fail "the steps were $steps"
grep -q '"code":[^0]' "$latest/steps.jsonl" && fail 'a step failed that did not'
[[ -f $latest/report.html && -f $latest/campaign.jsonl ]] || fail 'no page or no records'
[[ -f $latest/targets/prefix.log && ! -e $latest/targets/prefix.new ]] || fail 'no log of a target'
[[ -f $root/home/corpora/prefix/kept ]] || fail 'what a merge keeps does not lie in the store'
grep -q 'program_text is not ready' "$latest/build-targets.log" || fail 'it waits for targets without end'
grep -q 'verify .*--z3' "$root/calls" || fail 'nothing was put to Z3'
grep -q 'fuzz .*--device sim:0 --device cl:pocl-basic ' "$root/calls" || fail 'PoCL is not asked'
grep -q '^2.*Z .* green$' "$root/home/history" || fail 'no line of history'

# From here on targets are built at once.
stand_in bin/cmake 'true'

# Each step that fails makes it red, and the report is made all the same.
mkdir -p "$root/exits"
for subcommand in check prove verify fuzz triage report; do
  echo 1 >"$root/exits/$subcommand"
  expect_code 1 0.01
  [[ -f $latest/report.html ]] || fail "no page where $subcommand fails"
  rm "$root/exits/$subcommand"
done
echo 3 >"$root/exits/fuzz"
expect_code 3 0.01
[[ -f $latest/report.html ]] || fail 'no page where a device fails'
rm "$root/exits/fuzz"

# What survives in a sample does not, nor is it taken for trouble.
echo 1 >"$root/exits/score"
expect_code 0 0.01
rm "$root/exits/score"

# Campaigns are killed where that is asked for.
stand_in build/release/fuzz_command_test 'echo "kills $ASSAY_KILLS of $1" && [[ $ASSAY_KILLS == 3 ]]'
KILLS=3 expect_code 0 0.01
grep -q 'kills 3 of --gtest_filter' "$latest/kills.log" || fail 'no campaign was killed'
KILLS=4 expect_code 1 0.01

# An input that a target fails on does.
stand_in build/fuzz/fuzz_text 'for a; do case $a in
  -artifact_prefix=*) echo x >"${a#*=}crash-1" ;; esac; done'
expect_code 1 0.01
[[ -f $latest/targets/text/crash-1 ]] || fail 'the input is lost'

# One night at a time.
exec 8>"$root/home/lock"
flock 8
expect_code 3 0.01
exec 8>&-

# The oldest nights go, those of others stay out of it.
mkdir -p "$root/home/20000101T000000Z" "$root/home/mine"
head -c 3000000 /dev/zero >"$root/home/20000101T000000Z/large"
ASSAY_NIGHTLY_MIB=2 night 0.01 || true
[[ ! -e $root/home/20000101T000000Z && -d $root/home/mine && -f $root/home/corpora/prefix/kept ]] ||
  fail 'the quota is not kept, or more goes than has to'

# The files that start it: the lines of a crontab, and each command of the workflow.
grep -v '^#' "$here/crontab" | sed 's/^\([^ ]* \)\{5\}//' | bash -n || fail 'crontab'
if python3 -c 'import yaml' 2>/dev/null; then
  python3 - "$here/nightly.yml" <<'PYTHON' | bash -n || fail 'nightly.yml'
import sys, yaml
workflow = yaml.safe_load(open(sys.argv[1]))
steps = workflow['jobs']['night']['steps']
assert any('ci/nightly.sh' in s.get('run', '') for s in steps), 'it runs no night'
print('\n'.join(s['run'] for s in steps if 'run' in s))
PYTHON
fi

echo 'nightly_test: passed'
