"""Gives each request an idempotency key of its own, and the API key where one was drawn; and lets every
model of a price be tried at the operations that create one, and one of them at all others.

Generated keys repeat, and a key that is used for another payload is a conflict (specification
4.5.8). A drawn API key is of nobody (section 5). What breaks the shape of either stays: it is to be
refused.
"""

import uuid

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    for name in list(case.headers or {}):
        if name.lower() == "idempotency-key":
            case.headers[name] = str(uuid.uuid4())
        elif name.lower() == "authorization":
            case.headers[name] = "Bearer secret"


# Prices of any model, and the operation that all their models are tried at.
PRICES = {"NewPrice": "/prices", "NewPriceOfPlan": "/plans"}
# The model that is tried everywhere.
EVERYWHERE = "unit"
REFERENCE = "#/components/schemas/"
SUFFIX = "OfOneModel"


def of_one_model(value):
    """The same, with references to schemas in which prices are of one model."""
    if isinstance(value, dict):
        return {name: of_one_model(item) for name, item in value.items()}
    if isinstance(value, list):
        return [of_one_model(item) for item in value]
    if isinstance(value, str) and value.startswith(REFERENCE):
        return value + SUFFIX
    return value


@schemathesis.hook
def before_load_schema(context, raw_schema):
    schemas = raw_schema["components"]["schemas"]
    schemas.update({name + SUFFIX: of_one_model(schema) for name, schema in schemas.items()})
    for name in PRICES:
        price = schemas[name + SUFFIX]
        model = price["discriminator"]["mapping"][EVERYWHERE]
        price["discriminator"]["mapping"] = {EVERYWHERE: model}
        price["oneOf"] = [{"$ref": model}]
    for path, operations in raw_schema["paths"].items():
        for operation in operations.values():
            if path not in PRICES.values() and "requestBody" in operation:
                operation["requestBody"] = of_one_model(operation["requestBody"])
