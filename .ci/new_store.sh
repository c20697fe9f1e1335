#!/usr/bin/env bash
# Says which options a server is started with for a store that is new, each word on a line of its own:
#
#   options="$(.ci/new_store.sh FOLDER)" && mapfile -t store <<<"$options"
#
# ACCRUE_STORE says what it is: `memory`, also where nothing is said, or `postgres`. That is a database of its own on the
# server that ACCRUE_POSTGRES leads to (.ci/postgres.sh starts one), and its key is in FOLDER.
set -euo pipefail

case "${ACCRUE_STORE:-memory}" in
  memory) printf '%s\n' --store memory ;;
  postgres)
    newest="$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)"
    name="store_$(date +%s%N)"
    "${POSTGRES_BIN:-$newest}/psql" --quiet --no-psqlrc "$ACCRUE_POSTGRES dbname=postgres" \
      --command "CREATE DATABASE $name" >&2
    printf '%s\n' --store "postgres:$ACCRUE_POSTGRES dbname=$name" --key-file "$1/$name.key"
    ;;
  *)
    echo "$0: ACCRUE_STORE is $ACCRUE_STORE, expected memory or postgres" >&2
    exit 2
    ;;
esac
