"""Verifies webhook requests as receivers do: with the published client, and with the library of Standard Webhooks.

As a program it takes files with a request in each line: an object of `headers`, with their names in lower case, `body` and
`secret`.
"""

import contextlib
import json
import sys
from datetime import datetime
from unittest import mock

import orb
import standardwebhooks

WEBHOOKS = orb.Orb(base_url="http://localhost", api_key="unused").webhooks
UNWRAP = {"expanded": WEBHOOKS.unwrap, "standard": WEBHOOKS.standard.unwrap_standard}


@contextlib.contextmanager
def at(timestamp):
    """Has both take another instant for the present: signatures have that of the server's clock."""
    clock = mock.Mock(wraps=datetime)
    clock.now.side_effect = lambda tz: datetime.fromisoformat(timestamp).replace(tzinfo=tz)
    with mock.patch("orb.resources.webhooks.webhooks.datetime", clock):
        with mock.patch("standardwebhooks.webhooks.datetime", clock):
            yield


def verified(style, body, headers, secret):
    """Returns the message of a request that both verify."""
    with at(headers["x-orb-timestamp"]):
        event = UNWRAP[style](body, headers, secret=secret)
        standardwebhooks.Webhook(secret).verify(body, headers)
    return event


def main(files):
    count = 0
    for file in files:
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                request = json.loads(line)
                verified("expanded", request["body"], request["headers"], request["secret"])
                count += 1
    if count == 0:
        raise SystemExit("error: there is nothing to verify")
    print(f"{count} requests are verified")


if __name__ == "__main__":
    main(sys.argv[1:])
