#!/usr/bin/env bash
# Both forms of the OpenAPI document are valid, as validators that are not ours see them. It changes no
# file of the repository, and is skipped where there is no pip that can install the validator.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly VALIDATOR_VERSION=0.7.2

tools="${CARGO_TARGET_DIR:-target}/tools/openapi-spec-validator-$VALIDATOR_VERSION"
if [[ ! -d "$tools/openapi_spec_validator" ]] && command -v pip >/dev/null; then
  pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$tools" \
    "openapi-spec-validator==$VALIDATOR_VERSION" || echo 'openapi-spec-validator cannot be installed'
fi
if [[ ! -d "$tools/openapi_spec_validator" ]]; then
  echo 'skipped: there is no pip that can install openapi-spec-validator'
  exit 0
fi

documents="$(mktemp -d)"
trap 'rm -rf "$documents"' EXIT
for version in 3.1 3.0; do
  document="$documents/openapi-$version.json"
  cargo run --quiet --locked -p accrue-http --example openapi -- "$version" >"$document"
  # Read as JSON: the validator's own command reads YAML, where 1e+28 is a text.
  PYTHONPATH="$tools" PYTHONDONTWRITEBYTECODE=1 python3 - "$document" "$version" <<'PYTHON'
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
PYTHONPATH="$tools" PYTHONDONTWRITEBYTECODE=1 python3 - "$documents/openapi-3.1.json" <<'PYTHON'
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
