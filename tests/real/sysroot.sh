#!/usr/bin/env bash
# Unpacks AMD's runtime, or Python's versions, from Debian's archive into a folder. Installs nothing, needs no root,
# changes nothing elsewhere.
#   sysroot.sh FOLDER 5.2.3    HIP 5.2.3 and its compiler hipcc, from Debian 12
#   sysroot.sh FOLDER 7.2.4    HIP 7.2.4 from Debian experimental, with the C library and the Python of sid
#   sysroot.sh FOLDER 6.4.3    HIP 6.4.3 from sid, on the HSA runtime of 7.2.4, which alone can simulate a GPU
#   sysroot.sh FOLDER libraries   the libraries above HIP 7.2.4 and their bench programs, from Debian experimental
#   sysroot.sh FOLDER torch    Debian 12's PyTorch, built for the CPU, with the C library and the Python of Debian 12
#   sysroot.sh FOLDER torch2   sid's PyTorch, likewise
#   sysroot.sh FOLDER python   every Python 3 of Debian 13 and sid, with sid's C library
# The packages come from the mirror the machine's own apt uses, through apt's own signature checks, with a package list
# and a cache inside FOLDER. A folder that is complete is left as it is. FADE_DEBIAN_MIRROR names another mirror.
set -euo pipefail

most_megabytes=300
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
  printf 'sysroot.sh: %s\n  cause: %s\n  fix:   %s\n' "$1" "$2" "$3" >&2
  exit 1
}

known='5.2.3|6.4.3|7.2.4|libraries|torch|torch2|python'
[[ $# -eq 2 ]] || fail "two arguments are needed" "got $#" "sysroot.sh FOLDER $known"
folder=$1
release=$2

case $release in
  5.2.3)
    suites=(bookworm)
    resolved=()
    # The runtime, then the compiler, then the libraries of both that a machine with g++ and python3 may lack.
    exact=(libamdhip64-5 libhsa-runtime64-1 libhsakmt1 libamd-comgr2 libnuma1 libelf1 libdrm2 libdrm-amdgpu1
      hipcc libamdhip64-dev rocm-device-libs clang-15 clang-tools-15 libclang-common-15-dev libclang-cpp15 libllvm15
      lld-15 libz3-4 libedit2 libbsd0 libmd0 libxml2 libicu72 libffi8)
    pinned=()
    probe=usr/lib/llvm-15/bin/clang
    ;;
  7.2.4)
    suites=(sid experimental)
    resolved=(libamdhip64-7 libhiprtc7 python3-minimal libpython3-stdlib)
    exact=(libamdhip64-dev)
    pinned=('libamdhip64-*' 'libhiprtc*' libhsa-runtime64-1 libamd-comgr3)
    probe=usr/lib/x86_64-linux-gnu/libamdhip64.so.7
    ;;
  6.4.3)
    suites=(sid experimental)
    resolved=(libamdhip64-6 libhiprtc6)
    exact=(libamdhip64-dev)
    pinned=(libhsa-runtime64-1)
    probe=usr/lib/x86_64-linux-gnu/libamdhip64.so.6
    ;;
  libraries)
    suites=(sid experimental)
    resolved=(libamdhip64-7 libhiprtc7 python3-minimal libpython3-stdlib librocblas5 librocblas5-bench libhipblaslt1
      libhipblaslt1-bench librocfft0 libhipfft0 libmiopen1 librccl1)
    # hipBLAS needs rocSOLVER, which is 630 MB: it gets an empty one.
    exact=(libamdhip64-dev libhipblas3)
    pinned=('libamdhip64-*' 'libhiprtc*' libhsa-runtime64-1 libamd-comgr3 'librocblas*' 'libhipblas*' 'librocfft*'
      'libhipfft*' 'libmiopen*' 'librccl*' 'librocm-smi*' 'librocrand*' 'libroctx*')
    probe=usr/lib/x86_64-linux-gnu/librocblas.so.5
    most_megabytes=1500
    ;;
  torch)
    suites=(bookworm)
    resolved=(python3-torch)
    exact=()
    pinned=()
    probe=usr/lib/python3/dist-packages/torch/__init__.py
    ;;
  torch2)
    suites=(sid)
    resolved=(python3-torch)
    exact=()
    pinned=()
    probe=usr/lib/python3/dist-packages/torch/__init__.py
    ;;
  python)
    suites=(trixie sid)
    resolved=('^python3\.[0-9]+$')
    exact=()
    pinned=()
    probe=usr/lib/x86_64-linux-gnu/libc.so.6
    ;;
  *) fail "unknown release $release" "these are known: ${known//|/, }" "sysroot.sh FOLDER $known" ;;
esac

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
stamp=$folder/.complete
recipe=$(sha256sum "${BASH_SOURCE[0]}" | cut -d' ' -f1)
exec 9>"$folder/.lock"
flock 9
if [[ -f $stamp && $(cat "$stamp") == "$recipe" ]]; then
  exit 0
fi

# The first archive of this Debian release among the machine's sources, in either notation; security and updates have
# other suites. Elsewhere (Ubuntu) or without any: Debian's public name.
mirror() {
  local codename
  codename=$(. /etc/os-release && [[ ${ID:-} == debian ]] && echo "${VERSION_CODENAME:-}" || true)
  [[ -n $codename ]] || codename=bookworm
  {
    local blank='[[:space:]]+' word='[^[:space:]]+'
    sed -nE "s/^deb$blank(\\[[^]]*\\]$blank)?($word)$blank($word)[[:space:]].*/\\2 \\3/p" \
      /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || true
    awk 'function out(   i, n, s) { n = split(suites, s, " "); for (i = 1; i <= n; i++) print uri, s[i] }
         /^[[:space:]]*$/ { out(); uri = suites = ""; next }
         tolower($1) == "uris:" { uri = $2 }
         tolower($1) == "suites:" { sub(/^[^:]*:/, ""); suites = $0 }
         END { out() }' <(cat /etc/apt/sources.list.d/*.sources 2>/dev/null) || true
  } | awk -v want="$codename" '$2 == want && !found { print $1; found = 1 }
                               END { if (!found) print "http://deb.debian.org/debian" }'
}

[[ -r $keyring ]] || fail "cannot check signatures" "$keyring is missing" "apt-get install debian-archive-keyring"

apt=$folder/.apt
root=$folder/root
rm -rf "$apt" "$root" "$stamp"
mkdir -p "$apt"/{etc,state/lists/partial,cache/archives/partial} "$root"
: >"$apt/state/status"
archive=${FADE_DEBIAN_MIRROR:-$(mirror)}
for suite in "${suites[@]}"; do
  echo "deb [arch=amd64 signed-by=$keyring] $archive $suite main"
done >"$apt/etc/sources.list"
: >"$apt/etc/preferences"
if ((${#pinned[@]})); then
  printf 'Package: %s\nPin: release a=experimental\nPin-Priority: 990\n' "${pinned[*]}" >"$apt/etc/preferences"
fi

options=(-q -o Dir::Etc::sourcelist="$apt/etc/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o Dir::Etc::preferences="$apt/etc/preferences" -o Dir::Etc::preferencesparts=/dev/null
  -o Dir::State="$apt/state" -o Dir::State::status="$apt/state/status" -o Dir::Cache="$apt/cache"
  -o APT::Architecture=amd64 -o APT::Install-Recommends=0 -o APT::Sandbox::User= -o Acquire::Languages=none
  -o Acquire::Retries=3 -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false -o Debug::NoLocking=1)

apt_get() {
  (cd "$apt/cache/archives" && LC_ALL=C apt-get "${options[@]}" "$@") >>"$folder/apt.log" 2>&1
}

: >"$folder/apt.log"
apt_get update --error-on=any ||
  fail "cannot read the package lists of ${suites[*]}" \
    "$(grep -m1 '^E:' "$folder/apt.log" || echo "see $folder/apt.log")" \
    "check that this machine reaches its Debian mirror (apt-get update)"

# Bytes to fetch, before anything is fetched.
planned() {
  {
    ((${#resolved[@]} == 0)) || (cd "$apt" && apt-get "${options[@]}" -y --print-uris install "${resolved[@]}")
    ((${#exact[@]} == 0)) || (cd "$apt" && apt-get "${options[@]}" --print-uris download "${exact[@]}")
  } 2>>"$folder/apt.log" | awk '/\.deb / { bytes += $3; n++ } END { print n + 0, int(bytes / 1000000) }'
}
read -r packages megabytes < <(planned)
((packages > 0)) || fail "apt finds no way to get the packages of $release" \
  "$(grep -m1 '^E:' "$folder/apt.log" || echo "see $folder/apt.log")" "see $folder/apt.log; sid may be in transition"
((megabytes <= most_megabytes)) || fail "the download is too large" "$megabytes MB, the limit is $most_megabytes MB" \
  "look at what sid pulls in now ($folder/apt.log) and adapt sysroot.sh"

if ((${#resolved[@]})); then
  apt_get -y --download-only install "${resolved[@]}" ||
    fail "the download failed" "$(grep -m1 '^E:' "$folder/apt.log" || true)" "run again; see $folder/apt.log"
fi
((${#exact[@]} == 0)) || apt_get download "${exact[@]}" ||
  fail "the download failed" "$(grep -m1 '^E:' "$folder/apt.log" || true)" "run again; see $folder/apt.log"

printf '%s\0' "$apt"/cache/archives/*.deb | xargs -0 -P "$(nproc)" -I{} dpkg-deb --extract {} "$root" ||
  fail "a package cannot be unpacked" "see above" "is there room for it? df $folder"
[[ -e $root/$probe ]] || fail "the folder is incomplete" "$root/$probe is missing" "see $folder/apt.log"
(cd "$apt/cache/archives" && for package in *.deb; do echo "${package%.deb}"; done) >"$folder/packages.txt"
rm -rf "$apt"
echo "$recipe" >"$stamp"
echo "sysroot.sh: $release: $packages packages, $megabytes MB downloaded, $(du -sm "$root" | cut -f1) MB unpacked"
