#!/usr/bin/env bash
# Drives servers of the examples with the published clients of npm, of PyPI and of crates.io: those that are named, or both.
#
#   tests/clients/run.sh [axum-server] [actix-server]
#
# Each client has a server with a new store, in memory or where ACCRUE_STORE says (.ci/new_store.sh).
#
# It needs node 20 with npm, Python 3 with pip, and for the client of crates.io OpenSSL with its headers
# and pkg-config. The servers are built unless ACCRUE_BUILT says that they are, and the clients go to the target folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly KEY='clients-test-key'

target="$(cargo metadata --no-deps --locked --format-version 1 |
  node -p 'JSON.parse(require("fs").readFileSync(0)).target_directory')"
readonly work="$target/clients"
server=''

fail() {
  printf 'error: %s\n' "$1" >&2
  exit 1
}

# Starts a server on a free port, with more options, and sets `url` to where it listens.
start() {
  local out="$work/$1.out" options store
  : >"$out"
  options="$(.ci/new_store.sh "$work")"
  mapfile -t store <<<"$options"
  ACCRUE_API_KEY="$KEY" "$target/debug/$1" --listen 127.0.0.1:0 "${store[@]}" --rate-limit none \
    "${@:2}" >"$out" 2>"$work/$1.log" &
  server=$!
  for _ in {1..100}; do
    url="$(sed -n 's/^listening on //p' "$out")"
    [[ -n "$url" ]] && return
    kill -0 "$server" 2>/dev/null || fail "$1 did not start: $(cat "$work/$1.log")"
    sleep 0.1
  done
  fail "$1 does not listen"
}

# Starts one with a clock that the client moves, cards of which no money comes, and books that nobody keeps.
start_still() {
  start "$1" --manual-clock "$(date -u +%FT%TZ)" --sandbox-gateway --sandbox-invoicing --webhook-allow-private \
    --documents https://billing.example.com --portal https://portal.example.com/?token=
}

# Asks it to stop, and expects that it ends well.
stop() {
  kill -TERM "$server"
  wait "$server" || fail "$1 ended with status $?"
  server=''
  grep -q 'stopped$' "$work/$1.log" || fail "$1 did not end as it should"
}

trap '[[ -z "$server" ]] || kill "$server" 2>/dev/null || true' EXIT

[[ -n "${ACCRUE_BUILT:-}" ]] || cargo build --locked -p example-axum-server -p example-actix-server
mkdir -p "$work/npm"
cp tests/clients/npm/*.mjs tests/clients/npm/package*.json "$work/npm"
(cd "$work/npm" && npm ci --no-audit --no-fund --ignore-scripts)

mkdir -p "$work/python"
cp tests/clients/python/* "$work/python"
if ! cmp -s "$work/python/requirements.txt" "$work/python/installed/requirements.txt"; then
  rm -rf "$work/python/installed"
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$work/python/installed" \
    --requirement "$work/python/requirements.txt"
  cp "$work/python/requirements.txt" "$work/python/installed"
fi

CARGO_TARGET_DIR="$work/rust" cargo build --locked --manifest-path tests/clients/rust/Cargo.toml

[[ $# -gt 0 ]] || set -- axum-server actix-server
for name in "$@"; do
  printf '\n--- npm client against %s\n' "$name"
  start_still "$name"
  (cd "$work/npm" && ACCRUE_URL="$url" ACCRUE_API_KEY="$KEY" node --test suite.test.mjs)
  stop "$name"
  printf '\n--- PyPI client against %s\n' "$name"
  start_still "$name"
  (cd "$work/python" && PYTHONPATH=installed ACCRUE_URL="$url" ACCRUE_API_KEY="$KEY" \
    python3 suite.py)
  stop "$name"
  printf '\n--- crates.io client against %s\n' "$name"
  start "$name"
  ACCRUE_URL="$url" ACCRUE_API_KEY="$KEY" "$work/rust/debug/accrue-rust-client"
  stop "$name"
done
