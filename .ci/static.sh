#!/usr/bin/env bash
# Builds accrue-server as one file that needs no library of the machine that it runs on, and sees it answer. With `debug` it builds
# faster, and less well.
#
#     .ci/static.sh [release|debug]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly profile="${1:-release}" target=x86_64-unknown-linux-gnu
# With a target of its own the flag is for the program alone, and not for what builds it.
options=(--locked -p accrue-server --target "$target")
[[ "$profile" == debug ]] || options+=(--release)
RUSTFLAGS='-C target-feature=+crt-static' cargo build "${options[@]}"

program="${CARGO_TARGET_DIR:-target}/$target/$profile/accrue-server"
if readelf --program-headers "$program" | grep INTERP || readelf --dynamic "$program" | grep NEEDED; then
  echo "error: $program needs what is listed above" >&2
  exit 1
fi

out="$(mktemp)"
"$program" --listen 127.0.0.1:0 --store memory --api-key secret --rate-limit none >"$out" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -f "$out"' EXIT
for _ in {1..100}; do
  url="$(sed -n 's/^listening on //p' "$out")"
  [[ -n "$url" ]] && break
  sleep 0.1
done
curl -sS --fail "$url/ping" -H 'Authorization: Bearer secret' >/dev/null
echo "$program is one file: $(stat -c %s "$program") bytes"
