#!/usr/bin/env bash
# A night: ci/nightly.sh [MINUTES]. Sets up, builds, then proves every rule, verifies the saved
# programs, replays and explores for MINUTES (5), and leaves a page for a browser. What it writes
# lies in $ASSAY_NIGHTLY (build/nightly):
#
#   <time>/    one night: records, findings, logs, report.html
#   latest     the last one
#   answers    what solvers decided, kept from night to night
#
# Exit status: 0 green, 1 red, 3 trouble with the machine.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${1:-5}
home=${ASSAY_NIGHTLY:-build/nightly}
quota_mib=${ASSAY_NIGHTLY_MIB:-4096}
jobs=$(nproc)

mkdir -p "$home"
exec 9>"$home/lock"
if ! flock -n 9; then
  echo "nightly: another night is running in $home" >&2
  exit 3
fi

ci/setup.sh
cmake --preset release >/dev/null
cmake --build --preset release --target assay

# The oldest nights go until the folder is within its quota.
used_mib() { du -sm "$home" | cut -f1; }
nights() { find "$home" -mindepth 1 -maxdepth 1 -type d | sort; }
while (($(used_mib) > quota_mib)) && (($(nights | wc -l) > 1)); do
  rm -rf "$(nights | head -n 1)"
done

night="$home/$(date -u +%Y%m%dT%H%M%SZ)"
mkdir -p "$night"
assay=build/release/assay
red=0

# step NAME COMMAND...: its output is shown and kept. A finding (1) makes the night red; trouble
# (3) ends it.
step() {
  local name=$1 code=0
  shift
  echo "nightly: $name"
  "$@" 2>&1 | tee "$night/$name.log" || code=${PIPESTATUS[0]}
  if ((code == 3)); then exit 3; fi
  if ((code != 0)); then red=1; fi
}

devices=(--device sim:0)
if "$assay" devices 2>/dev/null | grep -q '^cl:pocl'; then devices+=(--device cl:pocl); fi

step prove "$assay" prove --strict --quiet --cache "$home/answers" --recheck 1 \
  --records "$night/proofs.jsonl"
step verify "$assay" verify --strict --quiet --z3 --cache "$home/answers" --recheck 1 \
  --records "$night/verified.jsonl" --evidence "$night/evidence" \
  corpus/regress corpus/models corpus/kernels corpus/seeds/program corpus/ops
step fuzz "$assay" fuzz --minutes "$minutes" --jobs "$jobs" "${devices[@]}" \
  --corpus corpus/regress --corpus corpus/seeds/program --seed "$(date -u +%Y%m%d)" \
  --out "$night/campaign"
cp "$night/campaign/records.jsonl" "$night/campaign.jsonl"
step report "$assay" report "$night" --html "$night/report.html"

ln -sfn "$(basename "$night")" "$home/latest"
echo "nightly: $([[ $red == 0 ]] && echo green || echo red), $night/report.html"
exit "$red"
