#!/usr/bin/env bash
# Drives the console of a server in a real browser. It installs chromium with apt-get where there is none. `ACCRUE_PICTURES` names a
# folder for pictures of every page.
#
#     .ci/console.sh ACCRUE_SERVER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PROGRAM="$(realpath "$1")"
ROUTES="$(realpath crates/accrue-console/src/route.rs)"
readonly PROGRAM ROUTES work="${CARGO_TARGET_DIR:-target}/console"
if [[ ! -x "${CHROMIUM:-/usr/bin/chromium}" ]]; then
  as_root=()
  [[ "$(id -u)" == 0 ]] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq && "${as_root[@]}" apt-get install -qq -y chromium >/dev/null
fi
mkdir -p "$work"
cp tests/console/*.mjs tests/console/package*.json "$work"
(cd "$work" && npm ci --no-audit --no-fund --ignore-scripts)

: >"$work/out"
"$PROGRAM" --listen 127.0.0.1:0 --store memory --console --webhook-allow-private --rate-limit none >"$work/out" 2>"$work/log" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in {1..100}; do
  link="$(sed -n 's/^the first person comes in here, once: //p' "$work/out")"
  [[ -n "$link" ]] && break
  sleep 0.1
done
url="$(sed -n 's/^listening on //p' "$work/out")"
pictures="${ACCRUE_PICTURES:+$(realpath -m "$ACCRUE_PICTURES")}"
cd "$work"
ACCRUE_URL="$url" ACCRUE_CONSOLE="$link" ACCRUE_PICTURES="$pictures" ACCRUE_ROUTES="$ROUTES" node --test console.test.mjs
