#!/usr/bin/env bash
# Runs a command beside a PostgreSQL of its own, to which ACCRUE_POSTGRES leads:
#
#   .ci/postgres.sh cargo nextest run -p accrue-postgres
#
# The server has the settings that PostgreSQL comes with (fsync and synchronous_commit are on) but for
# max_connections. It listens on a local socket alone, and keeps its data in a folder under TMPDIR that goes with it. Its
# programs are found in POSTGRES_BIN, by default the newest of Debian's. It refuses to run as root: root runs it as the
# user that POSTGRES_USER names, by default postgres.
set -euo pipefail

[[ $# -gt 0 ]] || { echo "usage: $0 COMMAND..." >&2; exit 2; }

newest() {
  printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1
}

BIN="${POSTGRES_BIN:-$(newest)}"
readonly BIN
[[ -x "$BIN/initdb" ]] || { echo "$0: there is no initdb in $BIN: set POSTGRES_BIN" >&2; exit 1; }

folder="$(mktemp -d "${TMPDIR:-/tmp}/accrue-postgres-XXXXXX")"
readonly folder

as_server() {
  if [[ "$(id -u)" == 0 ]]; then
    runuser -u "${POSTGRES_USER:-postgres}" -- "$@"
  else
    "$@"
  fi
}

stop() {
  as_server "$BIN/pg_ctl" --pgdata="$folder/data" --mode=immediate --silent stop || true
  rm -rf "$folder"
}
trap stop EXIT

if [[ "$(id -u)" == 0 ]]; then
  chown "${POSTGRES_USER:-postgres}" "$folder"
fi
pushd "$folder" >/dev/null # The server's user may not be able to read the current folder.
as_server "$BIN/initdb" --pgdata="$folder/data" --username=test --auth=trust >"$folder/initdb.log"
as_server "$BIN/pg_ctl" --pgdata="$folder/data" --silent --wait --log="$folder/log" \
  --options="-c listen_addresses='' -c unix_socket_directories='$folder' -c max_connections=300" start
as_server "$BIN/createdb" --host="$folder" --username=test test
popd >/dev/null

ACCRUE_POSTGRES="host=$folder user=test" "$@"
