#!/usr/bin/env bash
# Kills processes that deliver webhook messages, and has what arrived verified by the published clients of PyPI and of npm, and by the library of
# Standard Webhooks. It needs what tests/clients/run.sh has installed. `ACCRUE_KILLS` says how many are killed at their work.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
ACCRUE_RECEIVED="$work" cargo test --locked --workspace --test deliveries -- --nocapture
PYTHONPATH="${CARGO_TARGET_DIR:-target}/clients/python/installed" python3 tests/clients/python/verify.py "$work"/*.jsonl
node "${CARGO_TARGET_DIR:-target}/clients/npm/verify.mjs" "$work"/*.jsonl
