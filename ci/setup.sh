#!/usr/bin/env bash
# Installs the Debian 12 packages that building, testing and checking need. Does nothing, quickly,
# where all are there.
set -euo pipefail

packages=(
  ccache clang-19 clang-format-19 clang-tidy-19 cmake g++ git libbenchmark-dev
  libclang-rt-19-dev libcli11-dev libcvc5-dev libeigen3-dev libfmt-dev libgtest-dev libmimalloc-dev libmpfr-dev
  librapidcheck-dev libxxhash-dev libz3-dev llvm-19 ninja-build nlohmann-json3-dev ocl-icd-opencl-dev oclgrind opencl-headers
  pkg-config pocl-opencl-icd
)

missing() {
  local have
  have=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
  for package in "${packages[@]}"; do
    grep -qx "installed $package" <<<"$have" || echo "$package"
  done
}

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is no Debian system; install by hand: ${packages[*]}" >&2
  exit 3
fi
mapfile -t wanted < <(missing)
if ((${#wanted[@]} == 0)); then exit 0; fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "setup: run as root, or install sudo: missing ${wanted[*]}" >&2
    exit 3
  fi
  as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"; }

echo "setup: installing ${wanted[*]}"
# The lists of packages may be fetched from a server that is briefly away.
apt update || { sleep 5 && apt update; }
apt install --no-install-recommends "${wanted[@]}"

mapfile -t wanted < <(missing)
if ((${#wanted[@]} != 0)); then
  echo "setup: still missing ${wanted[*]}" >&2
  exit 3
fi
