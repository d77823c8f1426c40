#!/usr/bin/env bash
# Makes a folder the root of a container: the smallest Debian or Ubuntu, of the release that this machine runs, with
# some packages and what they need. Needs root. What is there already and was made of the same is left as it is.
#   container_root.sh FOLDER PACKAGE...
# The packages come from the archive that the machine's own apt uses. Exit status 77: it cannot be made here, with
# a reason.
set -euo pipefail

folder=$1
shift
packages=$(printf '%s\n' "$@" | sort -u | paste -sd, -)

cannot() {
  echo "$1"
  exit 77
}

release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[[ $(id -u) == 0 ]] || cannot "a root is made by root alone"
command -v debootstrap >/dev/null || cannot "debootstrap is missing: docker/install-deps.sh test"
[[ -n $release && -e /usr/share/debootstrap/scripts/$release ]] ||
  cannot "debootstrap does not know this machine's release '$release'"
archive=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
  awk -v want="$release main" '$1 " " $2 == want && !found { print $3; found = 1 }')
[[ -n $archive ]] || cannot "apt on this machine knows no archive of $release: apt-get update"

eval "$(apt-config shell proxy Acquire::http::Proxy)"
[[ -z ${proxy:-} ]] || export http_proxy=$proxy

mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
recipe="$(sha256sum <"${BASH_SOURCE[0]}") $release $packages"
[[ ! -f $folder.recipe || $(cat "$folder.recipe") != "$recipe" ]] || exit 0

rm -rf "$folder" "$folder.recipe"
# A half-made root is made anew, so nothing need survive a power cut: unsafe-io halves the time.
DPKG_FORCE=unsafe-io debootstrap --variant=minbase --include="$packages" "$release" "$folder" "$archive" \
  >"$folder.log" 2>&1 || {
  tail -n 5 "$folder.log"
  exit 1
}
rm -f "$folder"/var/cache/apt/archives/*.deb
echo "$recipe" >"$folder.recipe"
