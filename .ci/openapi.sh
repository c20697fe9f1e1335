#!/usr/bin/env bash
# Both forms of the OpenAPI document are valid, as validators that are not ours see them, and progenitor
# makes a client of the 3.0 form that compiles, and that can call a server. It changes no file of the
# repository. The validators are skipped where there is no pip that can install them. ACCRUE_BUILT says that what it
# needs of ours is built.
#
# Why progenitor: docs/decisions/a-generated-client.md
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly VALIDATOR_VERSION=0.7.2
readonly KEY='generated-client-test-key'

target="$(cargo metadata --no-deps --locked --format-version 1 |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')"
readonly documents="$target/clients/openapi"
mkdir -p "$documents"
[[ -n "${ACCRUE_BUILT:-}" ]] || cargo build --quiet --locked -p accrue-http --example openapi -p example-axum-server --bin axum-server
for version in 3.1 3.0; do
  "$target/debug/examples/openapi" "$version" >"$documents/$version.json.new"
  # One that is as it was does not let the client be built anew.
  cmp -s "$documents/$version.json.new" "$documents/$version.json" ||
    mv "$documents/$version.json.new" "$documents/$version.json"
done

validate() {
  tools="$target/tools/openapi-spec-validator-$VALIDATOR_VERSION"
  if [[ ! -d "$tools/openapi_spec_validator" ]] && command -v pip >/dev/null; then
    pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$tools" \
      "openapi-spec-validator==$VALIDATOR_VERSION" || echo 'openapi-spec-validator cannot be installed'
  fi
  if [[ ! -d "$tools/openapi_spec_validator" ]]; then
    echo 'skipped: there is no pip that can install openapi-spec-validator'
    return
  fi
  for version in 3.1 3.0; do
    # Read as JSON: the validator's own command reads YAML, where 1e+28 is a text.
    PYTHONPATH="$tools" PYTHONDONTWRITEBYTECODE=1 python3 - "$documents/$version.json" "$version" <<'PYTHON'
import json
import sys

from openapi_spec_validator import OpenAPIV30SpecValidator, OpenAPIV31SpecValidator, validate

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
assert document["openapi"].startswith(sys.argv[2]), document["openapi"]
validate(document, cls={"3.0": OpenAPIV30SpecValidator, "3.1": OpenAPIV31SpecValidator}[sys.argv[2]])
print(f"{sys.argv[2]}: OK")
PYTHON
  done

  # For 3.1 the validator leaves the schemas in the document to those of JSON Schema.
  PYTHONPATH="$tools" PYTHONDONTWRITEBYTECODE=1 python3 - "$documents/3.1.json" <<'PYTHON'
import json
import sys

from jsonschema import Draft202012Validator


def schemas(value):
    if isinstance(value, list):
        for item in value:
            yield from schemas(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name == "schema":
                yield item
            elif name == "schemas":
                yield from item.values()
            else:
                yield from schemas(item)


with open(sys.argv[1], encoding="utf-8") as file:
    found = list(schemas(json.load(file)))
assert found, "the document has no schemas"
for schema in found:
    Draft202012Validator.check_schema(schema)
print(f"{len(found)} schemas: OK")
PYTHON
}

# Builds the client that progenitor makes, and lets it call a server.
call() {
  ACCRUE_OPENAPI="$documents/3.0.json" CARGO_TARGET_DIR="$target/clients/generated" \
    cargo build --quiet --locked --manifest-path tests/clients/generated/Cargo.toml
  echo 'the generated client compiles'
  # Emptied before the server starts: else the address of an earlier one could be read.
  : >"$documents/server.out"
  ACCRUE_API_KEY="$KEY" "$target/debug/axum-server" --listen 127.0.0.1:0 --store memory --rate-limit none \
    >"$documents/server.out" 2>"$documents/server.log" &
  server=$!
  trap 'kill "$server" 2>/dev/null || true' EXIT
  local url=''
  for _ in {1..100}; do
    url="$(sed -n 's/^listening on //p' "$documents/server.out")"
    [[ -z "$url" ]] || break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  [[ -n "$url" ]] || { cat "$documents/server.log" >&2; exit 1; }
  ACCRUE_URL="$url" ACCRUE_API_KEY="$KEY" "$target/clients/generated/debug/accrue-generated-client"
  echo 'the generated client and the server understand each other'
}

validate
call
