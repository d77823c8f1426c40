#!/usr/bin/env bash
# Installs what is needed, builds fade into build/release, and runs it on the bundled programs. No GPU needed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
exec </dev/null

export COLUMNS=${COLUMNS:-110}
build=build/release
tools=("$build/cli/run" "$build/cli/attach" "$build/cli/query" "$build/cli/doctor" "$build/cli/ctl" "$build/cli/fade")
demo=$build/demo
try=$build/try

step() { printf '\n== %s\n' "$*"; }
show() {
  printf '$ %s\n' "$*"
  "$@"
}

launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
fi

step "Install what is needed to build"
docker/install-deps.sh build

step "Build into $build"
cmake --preset release -DFADE_TESTS=OFF -DPython3_EXECUTABLE=/usr/bin/python3 "${launcher[@]}" >/dev/null
cmake --build --preset release

for folder in "${tools[@]}"; do PATH=$PWD/$folder:$PATH; done

step "What works on this machine"
show fade doctor || true

mkdir -p "$try"

step "Run the bundled HIP program (C++) under fade"
show fade-run --summary --force -o "$try/fade-demo.db" -- "$demo/fade-demo"

step "Run the bundled train.py (Python) under fade, and let it see 72 multiprocessors"
show fade-run --summary --force -o "$try/fade-train.db" --set device.0.multiProcessorCount=72 \
  -- /usr/bin/python3 "$demo/train.py"

step "What the recordings hold"
show fade-query "$try/fade-demo.db" errors --format table
show fade-query "$try/fade-train.db" overrides --format table
show fade-query "$try/fade-train.db" summary --format table

cat <<EOF

Done. Next: run a program of yours, and ask what it did (or: sudo cmake --install $build)
  PATH=\$PATH:$(IFS=:; echo "${tools[*]/#/$PWD/}")
  fade-run -- python3 train.py
  fade-query summary
EOF
