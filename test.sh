#!/usr/bin/env bash
# Installs what is needed, builds fade and passes its tests: unit tests, the programs end to end, AMD's own runtimes.
# No GPU needed. FADE_TESTS=all passes all of them, which takes twice as long: fade optimised as for use, the unit tests
# under ASan and UBSan, the queue and the store under TSan, and the tests of tests/thorough.tsv. The runtimes come from
# Debian's archive. FADE_REAL=all adds the libraries above HIP (1.1 GB) and PyTorch 2; FADE_REAL=off leaves all of these
# out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
exec </dev/null
export FADE_REAL=${FADE_REAL:-small} FADE_TESTS=${FADE_TESTS:-some}

jobs=$(nproc)
since=$SECONDS

step() { printf '\n== %s (%d s so far)\n' "$*" "$((SECONDS - since))"; }

options=(-DPython3_EXECUTABLE=/usr/bin/python3)
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
fi

# configure PRESET [OPTIONS...]
configure() {
  cmake --preset "$1" "${options[@]}" "${@:2}" >"build-$1.log" 2>&1 || {
    cat "build-$1.log" >&2
    return 1
  }
  rm "build-$1.log"
}

# clang takes half of g++'s time for a build with sanitizers, lld a fifth of the usual linker's. Programs of the tests
# stay gcc's.
choose_sanitizing_compiler() {
  local try=(-x c++ "-fsanitize=address,undefined" -o /dev/null -)
  if echo 'int main() {}' | clang++-14 "${try[@]}" 2>/dev/null; then sanitizing=(-DCMAKE_CXX_COMPILER=clang++-14); fi
  if echo 'int main() {}' | clang++-14 -fuse-ld=lld "${try[@]}" 2>/dev/null; then sanitizing+=(-DFADE_LINKER=lld); fi
}

# Folders under tests/unit that have tests. Thousands of processes with sanitizers would take minutes, so the tests of
# killed tracers run without.
sanitized_parts() {
  for folder in tests/unit/*/; do
    compgen -G "$folder*_test.cpp" >/dev/null && [[ $folder != */kills/ ]] && basename "$folder"
  done
}

# begin JOB: starts a function beside what follows, in a process group of its own, to end as a whole.
declare -A running=()
begin() {
  set -m
  "$1" >"build/$1.log" 2>&1 &
  running[$1]=$!
  set +m
}
# finish JOB: waits for it, and ends the tests with its output if it failed.
finish() {
  wait "${running[$1]}" || { cat "build/$1.log" >&2; exit 1; }
  unset "running[$1]"
}
end_all() { for pid in "${running[@]}"; do kill -- "-$pid" 2>/dev/null || true; done; }
trap end_all EXIT

# Test code is compiled once, here or with sanitizers. Without sanitizers the library checks indexes and the like; -O1,
# no lines of fade's own code, and clang for the tests take less time.
release() {
  local units=ON flags="-O1 -g0 -DNDEBUG -D_GLIBCXX_ASSERTIONS" compiler
  compiler=$(command -v clang++-14) || true
  if command -v ccache >/dev/null; then compiler=; fi
  if [[ $FADE_TESTS == all ]]; then units=kills flags="-O2 -g1 -DNDEBUG" compiler=; fi
  configure release -DFADE_TESTS=ON -DFADE_UNIT_TESTS=$units -DFADE_TEST_PROCESSES=4 "-DFADE_TEST_COMPILER=$compiler" \
    "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=$flags"
  cmake --build --preset release
}

# ThreadSanitizer of these compilers needs memory that is laid out as before Linux 6.6; setarch -R gives it that.
# Tests of one table or one book meet the same threads as the others.
run_tsan() {
  local same_layout=()
  local alike='Ledger.*:GraphMemoryLedger.*:Kernels.*:Ranges.*:Stacks.*:Calls.*:CallResults.*:Memory.*:Views.*'
  alike+=':Failures.*:Postmortems.*:Budget.*:CopyWordsTest.*:GpuWorkRows.*'
  if setarch -R true 2>/dev/null; then same_layout=(setarch -R); fi
  "${same_layout[@]}" "build/tsan/tests/unit/unit_$1" --gtest_brief=1 --gtest_filter="-$alike"
}
# Each line ends the function if it fails. ThreadSanitizer's two programs run one after the other, so they come first,
# while there is other work beside them.
checked() {
  configure tsan "${sanitizing[@]}" -DFADE_TESTS=ON -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1 -DNDEBUG" \
    -DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST
  nice cmake --build --preset tsan --target unit_base unit_store
  run_tsan base
  run_tsan store
  configure dev "${sanitizing[@]}" -DFADE_TESTS=ON -DFADE_UNITY=ON -DFADE_TEST_PROCESSES=4 \
    -DCMAKE_CXX_FLAGS_DEBUG="-O0 -g1"
  nice cmake --build --preset dev --target "${parts[@]/#/unit_}"
  nice ctest --preset dev -j "$jobs" --timeout 1500 -R "^($(IFS='|'; echo "${parts[*]}")):"
}

# Tests of programs wait more than they compute, so four processes share the files of tests/e2e, beside tests/real.
pytest() { /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider --durations 8 "$@" --build-dir build/release; }
real() { pytest tests/real; }

mkdir -p build
step "Install what the build needs"
docker/install-deps.sh build test-build

step "Begin to build (build/release.log)"
begin release

step "Install what the tests need"
docker/install-deps.sh package test

# The sources under tests/runtime/entries are assembly.
step "Formatting"
git ls-files '*.cpp' '*.hpp' '*.c' '*.h' ':!tests/runtime/entries' | xargs clang-format-14 --dry-run -Werror

# Its builds and tests take what the rest leaves of the processors.
if [[ $FADE_TESTS == all ]]; then
  step "Begin with the unit tests under sanitizers (build/checked.log)"
  mapfile -t parts < <(sanitized_parts)
  sanitizing=()
  choose_sanitizing_compiler
  begin checked
fi
finish release

# Many of them wait for programs and for locks.
step "The demonstration, unit tests, and tracers that are killed at each system call"
ctest --preset release -j "$((2 * jobs))" --timeout 300 -LE "e2e|real"

step "The programs end to end, and AMD's own runtimes beside them"
begin real
pytest -n 4 --dist loadfile tests/e2e
finish real
cat build/real.log

if [[ $FADE_TESTS == all ]]; then
  step "Unit tests under AddressSanitizer and UndefinedBehaviorSanitizer, queue and store under ThreadSanitizer"
  finish checked
  grep -E 'tests (passed|ran)|PASSED|SKIPPED' build/checked.log || true
fi
rm -f build/checked.log build/real.log build/release.log

printf '\nAll tests passed (%d s).\n' "$((SECONDS - since))"
