#!/usr/bin/env bash
# Runs the commands that the README shows: those of the API over HTTP, against a server on another port, and those from
# nothing to a message that arrives, but for the installation.
#
#     .ci/readme.sh AXUM_SERVER ACCRUE_SERVER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly SERVER="$1"
PROGRAM="$(realpath "$2")"
readonly PROGRAM
work="$(mktemp -d)"
server=
receiver=
# It is looked into before the server has begun to write there.
: >"$work/out"
trap 'kill "$server" $receiver 2>/dev/null || true; rm -rf "$work"' EXIT

# Waits for a line of a file, and prints what follows its beginning.
follows() {
  for _ in {1..100}; do
    found="$(sed -n "s#^$1##p" "$2")"
    [[ -n "$found" ]] && { printf '%s\n' "$found"; return; }
    sleep 0.1
  done
  printf 'error: nothing follows "%s"\n' "$1" >&2
  return 1
}

"$SERVER" --listen 127.0.0.1:0 --store memory --api-key secret >>"$work/out" 2>"$work/log" &
server=$!
url="$(follows 'listening on ' "$work/out")"

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

kill "$server"
wait "$server"

# The first line installs the program.
commands="$(sed -n '/^cargo install --path crates\/accrue-server$/,/^```$/p' README.md | sed '1d;$d')"
[[ "$(wc -l <<<"$commands")" == 4 ]] || { echo 'error: the README has other commands'; exit 1; }
mapfile -t commands <<<"$commands"
mkdir "$work/bin" "$work/new"
ln -s "$PROGRAM" "$work/bin/accrue-server"
export PATH="$work/bin:$PATH"
cd "$work/new"
# Runs a command of the README in the background, on a free port.
begin() {
  bash -c "exec env ${1% &} --listen 127.0.0.1:0" >"$2" 2>"$3" &
}
: >"$work/served" >"$work/tried"
begin "${commands[0]}" "$work/served" "$work/log"
server=$!
begin "${commands[1]}" "$work/arrived" "$work/tried"
receiver=$!
url="$(follows 'listening on ' "$work/served")"
endpoint="$(follows 'an endpoint for tries: ' "$work/tried")"
for command in "${commands[@]:2}"; do
  command="${command//http:\/\/127.0.0.1:8080\/v1/$url}"
  bash -c "${command//http:\/\/127.0.0.1:9000\//$endpoint}"
  echo
done
follows '{"id":' "$work/arrived" | grep -F '"type":"customer.created"'
