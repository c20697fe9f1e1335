#!/usr/bin/env bash
# Prints which lines of the core its own tests run, file by file; documentation tests are left out.
#
#     .ci/coverage.sh           the table
#     .ci/coverage.sh lines     the lines that no test runs
#
# It needs the Rust toolchain with its component llvm-tools, which it installs where that is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly WORK="$(mkdir -p "${CARGO_TARGET_DIR:-target}/coverage" && cd "${CARGO_TARGET_DIR:-target}/coverage" && pwd)"
readonly TOOLS="$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin"
# What is measured: no files that are tests as a whole.
mapfile -t measured < <(find "$PWD/crates/accrue/src" -name '*.rs' | grep -vE '/tests/|/(tests|oracle)\.rs$' | sort)

if [[ ! -x "$TOOLS/llvm-cov" ]]; then
  rustup component add llvm-tools
fi

# Counts are kept by the crates of this workspace, and not by their dependencies.
printf '#!/bin/sh\nexec "$@" -Cinstrument-coverage\n' >"$WORK/rustc"
chmod +x "$WORK/rustc"
export RUSTC_WORKSPACE_WRAPPER="$WORK/rustc"
rm -rf "$WORK/raw"
export LLVM_PROFILE_FILE="$WORK/raw/%m.profraw"

binaries="$(cargo test -p accrue --lib --tests --locked --no-run --message-format=json |
  sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')"
cargo test -p accrue --lib --tests --locked --quiet >&2
"$TOOLS/llvm-profdata" merge --sparse "$WORK"/raw/*.profraw --output "$WORK/merged"

objects=()
for binary in $binaries; do
  objects+=(--object "$binary")
done
report=("${objects[@]}" --instr-profile "$WORK/merged")
if [[ "${1:-}" == lines ]]; then
  "$TOOLS/llvm-cov" show "${report[@]}" --sources "${measured[@]}" |
    awk '/^\/.*:$/ { file = $0 } /^ *[0-9]+\| *0\|/ { print file, $0 }'
else
  "$TOOLS/llvm-cov" report "${report[@]}" --show-region-summary=false --show-branch-summary=false \
    --sources "${measured[@]}"
fi
