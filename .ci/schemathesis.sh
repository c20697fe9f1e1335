#!/usr/bin/env bash
# Holds a server of the API against its own description: schemathesis makes requests of the OpenAPI
# document, and judges the answers. Which checks do not apply, and why: docs/decisions.
#
# It needs Python with venv, and installs schemathesis where it is missing.
#
#     .ci/schemathesis.sh SERVER [OPTIONS OF SCHEMATHESIS...]
#
# The server has a new store, in memory or where ACCRUE_STORE says (.ci/new_store.sh).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly VERSION=4.32.5
readonly SERVER="$1"
tools="${CARGO_TARGET_DIR:-target}/tools/schemathesis-$VERSION"
if [[ ! -x "$tools/bin/st" ]]; then
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$VERSION"
fi

work="$(mktemp -d)"
options="$(.ci/new_store.sh "$work")"
mapfile -t store <<<"$options"
"$SERVER" --listen 127.0.0.1:0 "${store[@]}" --api-key secret --rate-limit none >"$work/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

address=''
for _ in $(seq 100); do
  address="$(grep -oE '127\.0\.0\.1:[0-9]+' "$work/log" | head -1 || true)"
  [[ -n "$address" ]] && break
  sleep 0.1
done
[[ -n "$address" ]] || { cat "$work/log"; exit 1; }

# It keeps what it learns beside where it runs.
tools="$(realpath "$tools")"
cp .ci/schemathesis.toml .ci/schemathesis_hooks.py "$work"
cd "$work"
PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 "$tools/bin/st" --config-file schemathesis.toml \
  run "http://$address/openapi.json" --seed 1 "${@:2}"
