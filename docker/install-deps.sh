#!/usr/bin/env bash
# Installs the packages of the named sections of packages.txt, if any is missing.
#   install-deps.sh [--list] build|package|bench|image|test ...
# Asks nothing. Needs root or sudo only where something is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

list=no
if [[ ${1:-} == --list ]]; then
  list=yes
  shift
fi
sections=("$@")
((${#sections[@]})) || sections=(build)

packages_of() {
  awk -v want="$1" '/^\[/ { on = $0 == "[" want "]"; if (on) seen = 1; next }
                    on && NF && $1 !~ /^#/ { print $1 }
                    END { exit !seen }' "$here/packages.txt"
}

packages=()
for section in "${sections[@]}"; do
  if ! names=$(packages_of "$section"); then
    echo "install-deps.sh: no section [$section] in $here/packages.txt" >&2
    exit 2
  fi
  mapfile -t -O "${#packages[@]}" packages <<<"$names"
done
optional=() needed=()
for package in "${packages[@]}"; do
  if [[ $package == *\? ]]; then optional+=("${package%\?}"); else needed+=("$package"); fi
done
packages=("${needed[@]}")
if [[ $list == yes ]]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi

command -v dpkg-query >/dev/null || {
  printf 'install-deps.sh: this is neither Debian nor Ubuntu\n  fix:   install what these are called there: %s\n' \
    "${packages[*]}" >&2
  exit 1
}
is_installed() { [[ $(dpkg-query -W -f='${Status}' "$1" 2>/dev/null) == "install ok installed" ]]; }
missing=()
for package in "${packages[@]}"; do is_installed "$package" || missing+=("$package"); done
wanted=()
for package in ${optional[@]+"${optional[@]}"}; do is_installed "$package" || wanted+=("$package"); done
((${#missing[@]} + ${#wanted[@]})) || exit 0

root=()
if [[ $(id -u) != 0 ]]; then
  command -v sudo >/dev/null || {
    ((${#missing[@]})) || exit 0
    printf 'install-deps.sh: packages are missing\n  fix:   run as root: apt-get install %s\n' "${missing[*]}" >&2
    exit 1
  }
  root=(sudo)
fi

apt_get() {
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
    -o Dpkg::Options::=--force-confold "$@" </dev/null
}
install() { apt_get install --no-install-recommends "$@"; }
install_wanted() {  # what the distribution may lack
  for package in ${wanted[@]+"${wanted[@]}"}; do install "$package" >/dev/null 2>&1 || true; done
}

((${#missing[@]})) || { install_wanted; exit 0; }
echo "installing: ${missing[*]}"
# Where package lists are missing or old the first attempt fails.
install "${missing[@]}" >/dev/null 2>&1 || { apt_get update >/dev/null && install "${missing[@]}" >/dev/null; } || {
  printf 'install-deps.sh: cannot install the packages\n  fix:   look at: %s\n' \
    "apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
}
install_wanted
