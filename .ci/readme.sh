#!/usr/bin/env bash
# Runs the commands that the README shows of the API over HTTP, against a server on another port.
#
#     .ci/readme.sh SERVER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly SERVER="$1"
work="$(mktemp -d)"
server=
# It is looked into before the server has begun to write there.
: >"$work/out"
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

"$SERVER" --listen 127.0.0.1:0 --store memory --api-key secret >>"$work/out" 2>"$work/log" &
server=$!
for _ in {1..100}; do
  url="$(sed -n 's/^listening on //p' "$work/out")"
  [[ -n "$url" ]] && break
  sleep 0.1
done

# The first line starts the server; the others are run as they are, but for where it listens.
commands="$(sed -n '/^cargo run --release -p example-axum-server/,/^```$/p' README.md | sed '1d;$d')"
[[ "$(wc -l <<<"$commands")" == 4 ]] || { echo 'error: the README has other commands'; exit 1; }
commands="${commands//http:\/\/127.0.0.1:8080\/v1/$url}"
while read -r command; do
  answer="$(bash -c "$command" 2>"$work/curl")" || { cat "$work/curl"; exit 1; }
  printf '%s\n' "$answer"
  if grep -q '"status":[45]' <<<"$answer"; then
    echo 'error: that was refused'
    exit 1
  fi
done <<<"$commands"
grep -q 'credit_balance_dropped' <<<"$answer" || { echo 'error: the alert is not listed'; exit 1; }
