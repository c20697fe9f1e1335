#!/usr/bin/env bash
# Runs a command beside a PostgreSQL of its own, whose connection string it gets behind `--postgres`:
#
#   benches/postgres.sh cargo run --release -p accrue-benches --bin rates --
#
# The server has the settings that PostgreSQL comes with (fsync and synchronous_commit are on) but for
# max_connections, since two ways are measured with 64 callers each. It listens on a local socket alone,
# and keeps its data in a folder under TMPDIR that goes with it. Its programs are found in POSTGRES_BIN, by default those of the Debian package postgresql-15. It refuses to run as
# root: root runs it as the user that POSTGRES_USER names, by default postgres.
set -euo pipefail

[[ $# -gt 0 ]] || { echo "usage: $0 COMMAND..." >&2; exit 2; }

readonly BIN="${POSTGRES_BIN:-/usr/lib/postgresql/15/bin}"
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
  as_server "$BIN/pg_ctl" --pgdata="$folder/data" --mode=fast --silent stop || true
  rm -rf "$folder"
}
trap stop EXIT

if [[ "$(id -u)" == 0 ]]; then
  chown "${POSTGRES_USER:-postgres}" "$folder"
fi
cd "$folder" # The server's user may not be able to read the current folder.
as_server "$BIN/initdb" --pgdata="$folder/data" --username=bench --auth=trust >"$folder/initdb.log"
as_server "$BIN/pg_ctl" --pgdata="$folder/data" --silent --wait --log="$folder/log" \
  --options="-c listen_addresses='' -c unix_socket_directories='$folder' -c max_connections=200" start
cd "$OLDPWD"

"$@" --postgres "host=$folder user=bench dbname=postgres"
