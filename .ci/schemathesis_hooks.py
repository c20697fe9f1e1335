"""Gives each request an idempotency key of its own, and the API key where one was drawn.

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
