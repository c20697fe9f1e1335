"""Drives every operation that the server serves with the published client of PyPI.

The client holds every answer to its types: a member that is missing or of another kind fails.
"""

import itertools
import json
import os
import time
import threading
import typing
import unittest
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import orb
from orb.types import UnwrapWebhookEvent
from orb.types.webhooks import UnwrapStandardWebhookEvent

from verify import verified

CLIENT = orb.Orb(
    base_url=os.environ["ACCRUE_URL"],
    api_key=os.environ["ACCRUE_API_KEY"],
    max_retries=0,
    _strict_response_validation=True,
)
COUNT = itertools.count()


def unique(word):
    return f"{word}-{next(COUNT)}"


def now(days=0):
    """Returns what the clock of the server shows, or an instant so many days later."""
    shown = CLIENT.get("/clock", cast_to=object)
    return datetime.fromisoformat(shown["now"]) + timedelta(days=days)


def wait(days):
    """Moves the clock of the server, which then does what is due."""
    CLIENT.put("/clock", cast_to=object, body={"now": now(days).isoformat()})


def timeframe():
    return {"timeframe_start": now(-1), "timeframe_end": now(1)}


MODELS = {
    "unit": {"unit_config": {"unit_amount": "0.5"}},
    "package": {"package_config": {"package_amount": "3", "package_size": 10}},
    "tiered": {
        "tiered_config": {
            "tiers": [
                {"first_unit": 0, "last_unit": 10, "unit_amount": "1"},
                {"first_unit": 10, "last_unit": None, "unit_amount": "0.5"},
            ]
        }
    },
    "bulk": {
        "bulk_config": {"tiers": [{"maximum_units": 10, "unit_amount": "1"}, {"unit_amount": "0.5"}]}
    },
    "matrix": {
        "matrix_config": {
            "dimensions": ["region", None],
            "default_unit_amount": "1",
            "matrix_values": [{"dimension_values": ["eu", None], "unit_amount": "2"}],
        }
    },
}


def new_item():
    return CLIENT.items.create(name=unique("item"))


def new_metric():
    return CLIENT.metrics.create(
        name=unique("metric"),
        description=None,
        item_id=new_item().id,
        sql="SELECT sum(amount) FROM events",
    )


def new_customer(**more):
    return CLIENT.customers.create(name=unique("customer"), email="billing@example.com", **more)


def prices(metric):
    common = {"cadence": "monthly", "item_id": metric.item.id}
    usage = [
        {"name": model, "model_type": model, "billable_metric_id": metric.id, **common, **config}
        for model, config in MODELS.items()
    ]
    return [*usage, fee(metric.item)]


def search(*keys):
    """Finds events: also those of this instant, at which the clock stands."""
    return CLIENT.events.search(event_ids=keys, timeframe_end=now(1)).data


def reaches(backfill, status):
    """Reads a backfill until it has come to a status, which it does by itself."""
    for _ in range(300):
        found = CLIENT.events.backfills.fetch(backfill.id)
        if found.status == status:
            return found
        time.sleep(0.1)
    raise AssertionError(f"the backfill {backfill.id} is not {status}")


def fee(item):
    return {
        "name": unique("fee"),
        "model_type": "unit",
        "cadence": "monthly",
        "item_id": item.id,
        "unit_config": {"unit_amount": "20"},
        "fixed_price_quantity": 1,
        "billed_in_advance": True,
    }


def new_plan(metric, *more_prices, **more):
    wrapped = [{"price": price} for price in [*prices(metric), *more_prices]]
    return CLIENT.plans.create(name=unique("plan"), currency="USD", prices=wrapped, **more)


def of_types(union):
    """Returns the types of webhook messages by their names."""
    kinds = typing.get_args(union)
    return {typing.get_args(kind.model_fields["type"].annotation)[0]: kind for kind in kinds}


# Types of messages that what the tests do is told by.
TOLD = {
    "backfill.reflected",
    "credit_note.issued",
    "customer.balance_transaction_created",
    "customer.created",
    "customer.credit_ledger_incremented",
    "customer.edited",
    "invoice.edited",
    "invoice.issued",
    "invoice.manually_marked_as_paid",
    "invoice.manually_marked_as_void",
    "invoice.payment_processing",
    "invoice.payment_succeeded",
    "payment_method.created",
    "plan.created",
    "plan.default_version_set",
    "plan.edited",
    "plan.version_created",
    "price.edited",
    "subscription.created",
    "subscription.ended",
    "subscription.grouped_cost_exceeded",
    "subscription.usage_exceeded",
}


# What endpoints have received, by the style that they asked for, and the secrets that it is signed with.
RECEIVED = {"expanded": [], "standard": []}
SECRETS = {}


class Receiver(BaseHTTPRequestHandler):
    """An endpoint for each style, at a path of that name."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        RECEIVED[self.path[1:]].append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def type_of(message):
    return json.loads(message[1])["type"]


def setUpModule():
    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    for style in RECEIVED:
        url = f"http://127.0.0.1:{receiver.server_port}/{style}"
        SECRETS[style] = CLIENT.webhook_endpoints.create(url=url, payload_style=style).secret


class Suite(unittest.TestCase):
    def test_items(self):
        self.assertEqual(CLIENT.top_level.ping().response, "pong")
        item = new_item()
        connection = {"external_connection_name": "stripe", "external_entity_id": "e"}
        CLIENT.items.update(item.id, metadata={"a": "1"}, external_connections=[connection])
        self.assertEqual(CLIENT.items.fetch(item.id).metadata, {"a": "1"})
        self.assertIsNotNone(CLIENT.items.archive(item.id).archived_at)
        new_item()
        self.assertIn(item.id, [row.id for row in CLIENT.items.list(limit=1)])

    def test_metrics(self):
        metric = new_metric()
        CLIENT.metrics.update(metric.id, metadata={"a": "1"})
        self.assertEqual(CLIENT.metrics.fetch(metric.id).metadata, {"a": "1"})
        self.assertEqual(CLIENT.metrics.archive(metric.id).status, "archived")
        self.assertEqual(CLIENT.metrics.unarchive(metric.id).status, "active")
        new_metric()
        rows = CLIENT.metrics.list(limit=1, created_at_gte=now(-1))
        self.assertIn(metric.id, [row.id for row in rows])

    def test_prices(self):
        metric = new_metric()
        for parameters in prices(metric):
            external = unique("price/a b")
            price = CLIENT.prices.create(currency="USD", external_price_id=external, **parameters)
            self.assertEqual(CLIENT.prices.fetch(price.id), price)
            self.assertEqual(CLIENT.prices.external_price_id.fetch(external), price)
        CLIENT.prices.update(price.id, metadata={"a": "1"})
        changed = CLIENT.prices.external_price_id.update(external, metadata={"b": "2"})
        self.assertEqual(changed.metadata, {"a": "1", "b": "2"})
        self.assertGreaterEqual(len(list(CLIENT.prices.list(limit=2))), len(MODELS))

    def test_composite_prices_and_conversion_rates_in_tiers(self):
        metric = new_metric()
        common = {"cadence": "monthly", "item_id": metric.item.id}
        usage = {
            "name": "usage",
            "model_type": "unit",
            "billable_metric_id": metric.id,
            "unit_config": {"unit_amount": "1"},
            **common,
        }
        percent = {"percent": 0.1, "minimum_amount": "5", "maximum_amount": "100"}
        share = {"name": "share", "model_type": "percent", "percent_config": percent, **common}
        least = {
            "name": "least",
            "model_type": "minimum_composite",
            "minimum_composite_config": {"minimum_amount": "50", "prorated": True},
            **common,
        }
        tiers = [
            {"first_unit": 0, "last_unit": 3, "unit_amount": "2.00"},
            {"first_unit": 3, "last_unit": None, "unit_amount": "1.50"},
        ]
        rates = {"conversion_rate_type": "tiered", "tiered_config": {"tiers": tiers}}
        credits = {**usage, "name": "credits", "currency": "credits", "conversion_rate_config": rates}
        wrapped = [{"price": price} for price in (usage, share, least, credits)]
        plan = CLIENT.plans.create(name=unique("plan"), currency="USD", prices=wrapped)
        shown = {price.name: price for price in plan.prices}
        self.assertEqual([shown[name].price_type for name in ("share", "least")], ["composite_price"] * 2)
        self.assertEqual(shown["share"].percent_config.percent, 0.1)
        self.assertEqual(shown["least"].minimum_composite_config.minimum_amount, "50")
        config = shown["credits"].conversion_rate_config
        self.assertEqual([tier.unit_amount for tier in config.tiered_config.tiers], ["2.00", "1.50"])
        self.assertIsNone(shown["credits"].conversion_rate)
        customer = new_customer()
        subscription = CLIENT.subscriptions.create(plan_id=plan.id, customer_id=customer.id)
        event = {
            "idempotency_key": unique("event"),
            "event_name": "usage",
            "timestamp": now(),
            "customer_id": customer.id,
            "properties": {"amount": 4},
        }
        CLIENT.events.ingest(events=[event])
        costs = CLIENT.subscriptions.fetch_costs(subscription.id, **timeframe()).data[-1]
        # 4, a tenth of that, and 3 credits at 2.00 with one at 1.50.
        self.assertEqual(float(costs.subtotal), 11.9)

    def test_dimensional_price_groups(self):
        external = unique("group/a b")
        metric, groups = new_metric(), CLIENT.dimensional_price_groups
        group = groups.create(
            name=unique("group"),
            billable_metric_id=metric.id,
            dimensions=["region", "tier"],
            external_dimensional_price_group_id=external,
        )
        self.assertEqual((group.dimensions, group.price_count), (["region", "tier"], 0))
        self.assertEqual(groups.retrieve(group.id), group)
        by_external_id = groups.external_dimensional_price_group_id
        self.assertEqual(by_external_id.retrieve(external), group)
        groups.update(group.id, metadata={"a": "1"})
        changed = by_external_id.update(external, metadata={"b": "2"})
        self.assertEqual(changed.metadata, {"a": "1", "b": "2"})
        rows = groups.list(limit=1, billable_metric_id=metric.id)
        self.assertEqual([row.id for row in rows], [group.id])
        tiers = [{"first_unit": 0, "last_unit": 100}, {"first_unit": 100, "last_unit": None}]
        created = groups.prices.create(
            group.id,
            model_type="tiered",
            cadence="monthly",
            currency="USD",
            item_id=metric.item.id,
            tiers=tiers,
            prices=[
                {"dimension_values": ["eu", "gold"], "amounts": [0.05, 0.03]},
                {"dimension_values": ["us", "gold"], "amounts": [0.06, 0.04], "name": "gold"},
            ],
        )
        self.assertEqual([price.name for price in created.data], ["eu, gold", "gold"])
        configuration = created.data[0].dimensional_price_configuration
        self.assertEqual(configuration.dimension_values, ["eu", "gold"])
        listed = groups.prices.list(group.id, limit=1, status="active")
        self.assertEqual({price.id for price in listed}, {price.id for price in created.data})
        self.assertEqual(groups.retrieve(group.id).price_count, 2)

    def test_licenses(self):
        external, metric = unique("user/a b"), new_metric()
        types, licenses = CLIENT.license_types, CLIENT.licenses
        kind = types.create(name=unique("type"), grouping_key="user")
        self.assertEqual(types.retrieve(kind.id).model_dump(), kind.model_dump())
        self.assertIn(kind.id, [row.id for row in types.list(limit=1)])
        usage = {
            "name": "calls",
            "model_type": "unit",
            "cadence": "monthly",
            "item_id": metric.item.id,
            "billable_metric_id": metric.id,
            "unit_config": {"unit_amount": "0.5"},
        }
        priced = [{"price": {**price, "license_type_id": kind.id}} for price in (fee(metric.item), usage)]
        plan = CLIENT.plans.create(name=unique("plan"), currency="USD", prices=priced)
        self.assertEqual([price.license_type.id for price in plan.prices], [kind.id, kind.id])
        customer = new_customer()
        subscription = CLIENT.subscriptions.create(plan_id=plan.id, customer_id=customer.id)
        of = {"subscription_id": subscription.id, "license_type_id": kind.id}
        license = licenses.create(external_license_id=external, **of)
        self.assertEqual(license.status, "active")
        for found in (
            licenses.retrieve(license.id),
            licenses.retrieve_by_external_id(external, **of),
        ):
            self.assertEqual(found.model_dump(), license.model_dump())
        listed = licenses.list(subscription_id=subscription.id, status="active", limit=1)
        self.assertEqual([row.id for row in listed], [license.id])
        event = {
            "idempotency_key": unique("event"),
            "event_name": "usage",
            "timestamp": now(),
            "customer_id": customer.id,
            "properties": {"amount": 4, "user": external},
        }
        CLIENT.events.ingest(events=[event])
        day = {"start_date": now().date(), "end_date": now(1).date(), "group_by": "license,day"}
        for found in (
            licenses.usage.get_all_usage(**of, **day),
            licenses.usage.get_usage(license.id, **day),
            licenses.external_licenses.get_usage(external, **of, **day),
        ):
            self.assertEqual([(row.license_id, row.consumed_credits) for row in found.data], [(license.id, 2)])
        ended = licenses.deactivate(license.id, end_date=now().date())
        self.assertEqual(ended.status, "inactive")
        seats = {**priced[0]["price"], "license_allocations": [{"currency": "USD", "amount": "100"}]}
        prices = [{"license_allocation_price": seats}, priced[1]]
        pooled = CLIENT.plans.create(name=unique("plan"), currency="USD", prices=prices)
        subscription = CLIENT.subscriptions.create(plan_id=pooled.id, customer_id=customer.id)
        of["subscription_id"] = subscription.id
        licenses.create(external_license_id=external, **of)
        [row] = licenses.usage.get_all_usage(**of).data
        self.assertEqual((row.allocated_credits, row.remaining_credits), (100, 98))

    def test_customers(self):
        external = unique("customer/a b")
        address = {"line1": "1 Main Street", "country": "DE"}
        customer = new_customer(external_customer_id=external, billing_address=address)
        CLIENT.customers.update(customer.id, name="other")
        CLIENT.customers.update_by_external_id(external, metadata={"a": "1"})
        fetched = CLIENT.customers.fetch(customer.id)
        self.assertEqual((fetched.name, fetched.metadata), ("other", {"a": "1"}))
        self.assertEqual(CLIENT.customers.fetch_by_external_id(external), fetched)
        gone = new_customer()
        CLIENT.customers.delete(gone.id)
        rows = [row.id for row in CLIENT.customers.list(limit=1, created_at_gte=now(-1))]
        self.assertIn(customer.id, rows)

    def test_hierarchies(self):
        parent = new_customer()
        external = unique("child")
        child = new_customer(
            external_customer_id=external, hierarchy={"parent_customer_id": parent.id}
        )
        self.assertEqual(child.hierarchy.parent.id, parent.id)
        other = new_customer()
        changed = CLIENT.customers.update(
            parent.id, hierarchy={"child_customer_ids": [other.id]}
        )
        self.assertEqual([it.id for it in changed.hierarchy.children], [child.id, other.id])
        metric = new_metric()
        created = CLIENT.subscriptions.create(
            customer_id=parent.id, plan_id=new_plan(metric).id, usage_customer_ids=[child.id]
        )
        shown = {tuple(it.usage_customer_ids or []) for it in created.price_intervals}
        self.assertEqual(shown, {(child.id,)})
        event = {
            "idempotency_key": unique("event"),
            "event_name": "usage",
            "timestamp": now(),
            "external_customer_id": external,
            "properties": {"amount": 3},
        }
        CLIENT.events.ingest(events=[event])
        usage = CLIENT.subscriptions.fetch_usage(created.id)
        [own] = [it for it in usage.data if it.billable_metric.id == metric.id]
        self.assertEqual(own.usage[0].quantity, 3)

    def test_plans(self):
        external = unique("plan/a b")
        metric = new_metric()
        plan = new_plan(metric, external_plan_id=external)
        CLIENT.plans.update(plan.id, metadata={"a": "1"})
        CLIENT.plans.external_plan_id.update(external, metadata={"b": "2"})
        self.assertEqual(CLIENT.plans.fetch(plan.id).metadata, {"a": "1", "b": "2"})
        self.assertEqual(list(CLIENT.plans.migrations.list(plan.id)), [])
        for call in (CLIENT.plans.migrations.retrieve, CLIENT.plans.migrations.cancel):
            with self.assertRaises(orb.ResourceNotFound):
                call(plan.id, plan_id=plan.id)
        beta, by_external_id = CLIENT.beta, CLIENT.beta.external_plan_id
        added = [{"price": fee(metric.item)}]
        second = beta.create_plan_version(plan.id, version=2, add_prices=added)
        self.assertEqual(beta.fetch_plan_version("2", plan_id=plan.id), second)
        third = by_external_id.create_plan_version(external, version=3, add_prices=added)
        fetched = by_external_id.fetch_plan_version("3", external_plan_id=external)
        self.assertEqual(fetched, third)
        self.assertEqual(beta.set_default_plan_version(plan.id, version=2).version, 2)
        self.assertEqual(by_external_id.set_default_plan_version(external, version=3).version, 3)
        self.assertEqual(CLIENT.plans.external_plan_id.fetch(external).id, plan.id)
        self.assertIn(plan.id, [row.id for row in CLIENT.plans.list(limit=1)])

    def test_subscriptions_events_and_alerts(self):
        external = unique("customer")
        metric = new_metric()
        customer = new_customer(external_customer_id=external)
        plan = new_plan(metric)
        subscription = CLIENT.subscriptions.create(plan_id=plan.id, customer_id=customer.id)
        CLIENT.subscriptions.update(subscription.id, metadata={"a": "1"})
        self.assertEqual(CLIENT.subscriptions.fetch(subscription.id).metadata, {"a": "1"})
        rows = CLIENT.subscriptions.list(limit=1, customer_id=[customer.id])
        self.assertEqual([row.id for row in rows], [subscription.id])
        self.assertTrue(list(CLIENT.subscriptions.list_summary(limit=1)))

        keys = [unique("event") for _ in range(3)]
        events = [
            {
                "idempotency_key": key,
                "event_name": "usage",
                "timestamp": now(),
                "properties": {"amount": 5, "region": "eu"},
                "customer_id": customer.id,
            }
            for key in keys
        ]
        self.assertEqual(CLIENT.events.ingest(events=events).validation_failed, [])
        self.assertEqual(len(search(*keys)), 3)
        self.assertTrue(CLIENT.events.volume.list(timeframe_start=now(-1)).data)

        price = subscription.price_intervals[0].price
        groups = {"grouping_keys": ["region"], **timeframe()}
        self.assertTrue(CLIENT.prices.evaluate(price.id, customer_id=customer.id, **groups).data)
        inline = {**fee(metric.item), "billable_metric_id": metric.id, "currency": "USD"}
        for name in ("fixed_price_quantity", "billed_in_advance"):
            del inline[name]
        several = {
            "customer_id": customer.id,
            "price_evaluations": [{"price_id": price.id}, {"price": inline}],
            **timeframe(),
        }
        stored, other = CLIENT.prices.evaluate_multiple(**several).data
        self.assertEqual((stored.price_id, stored.inline_price_index), (price.id, None))
        self.assertEqual((other.price_id, other.inline_price_index), (None, 1))
        self.assertEqual([group.quantity for group in other.price_groups], [15])
        rated = {"event_name": "usage", "timestamp": now(), "properties": {"amount": 2}}
        preview = CLIENT.prices.evaluate_preview_events(events=[rated, rated], **several).data
        self.assertEqual([group.quantity for group in preview[1].price_groups], [4])
        self.assertTrue(CLIENT.customers.costs.list(customer.id, **timeframe()).data)
        daily = {"view_mode": "periodic", **timeframe()}
        self.assertTrue(CLIENT.customers.costs.list_by_external_id(external, **daily).data)
        self.assertTrue(CLIENT.subscriptions.fetch_costs(subscription.id, **timeframe()).data)
        self.assertTrue(CLIENT.subscriptions.fetch_usage(subscription.id, **timeframe()).data)
        by_region = {"billable_metric_id": metric.id, "group_by": "region", **timeframe()}
        grouped = CLIENT.subscriptions.fetch_usage(subscription.id, granularity="day", **by_region)
        self.assertTrue(grouped.data)

        alerts = CLIENT.alerts
        usage = alerts.create_for_subscription(
            subscription.id, type="usage_exceeded", metric_id=metric.id, thresholds=[{"value": 10}]
        )
        cost = alerts.create_for_plan(plan.id, type="cost_exceeded", thresholds=[{"value": 10}])
        self.assertFalse(alerts.disable(cost.id, subscription_id=subscription.id).enabled)
        self.assertTrue(alerts.enable(cost.id, subscription_id=subscription.id).enabled)
        reached = [row.id for row in alerts.list(subscription_id=subscription.id, limit=1)]
        self.assertCountEqual(reached, [usage.id, cost.id])
        by_region = alerts.create_for_subscription(
            subscription.id,
            type="cost_exceeded",
            currency="USD",
            thresholds=[{"value": 1}],
            grouping_keys=["region"],
            threshold_overrides=[{"group_values": ["us"], "thresholds": []}],
        )
        self.assertEqual(by_region.grouping_keys, ["region"])
        (silent,) = by_region.threshold_overrides
        self.assertEqual((silent.group_values, silent.thresholds, silent.group_keys), (["us"], [], None))
        plain = alerts.update(by_region.id, thresholds=[{"value": 2}], threshold_overrides=[])
        self.assertIsNone(plain.threshold_overrides)

        intervals = [it.price for it in subscription.price_intervals]
        fixed = next(it for it in intervals if it.fixed_price_quantity is not None)
        CLIENT.subscriptions.update_fixed_fee_quantity(
            subscription.id, price_id=fixed.id, quantity=3
        )
        CLIENT.subscriptions.update_fixed_fee_quantity(
            subscription.id, price_id=fixed.id, quantity=4, change_option="upcoming_invoice"
        )
        back = CLIENT.subscriptions.unschedule_fixed_fee_quantity_updates(
            subscription.id, price_id=fixed.id
        )
        quantities = [it.quantity for it in back.fixed_fee_quantity_schedule]
        self.assertEqual(quantities[-1], 3)
        CLIENT.subscriptions.cancel(subscription.id, cancel_option="end_of_subscription_term")
        back = CLIENT.subscriptions.unschedule_cancellation(subscription.id)
        self.assertIsNone(back.end_date)

    def test_terms_of_a_subscription_change(self):
        customer, metric = new_customer(), new_metric()
        plan, other = new_plan(metric).id, new_plan(metric).id
        subscription = CLIENT.subscriptions.create(plan_id=plan, customer_id=customer.id)
        fee = next(
            it.price for it in subscription.price_intervals if it.price.fixed_price_quantity
        )
        half = {
            "adjustment_type": "percentage_discount", "percentage_discount": 0.5,
            "applies_to_price_ids": [fee.id],
        }
        changed = CLIENT.subscriptions.price_intervals(
            subscription.id,
            add_adjustments=[{"start_date": subscription.start_date, "adjustment": half}],
        )
        self.assertEqual(len(changed.adjustment_intervals), 1)
        CLIENT.subscriptions.schedule_plan_change(
            subscription.id, change_option="end_of_subscription_term", plan_id=other
        )
        schedule = [it.plan.id for it in CLIENT.subscriptions.fetch_schedule(subscription.id)]
        self.assertEqual(schedule, [other, plan])
        CLIENT.subscriptions.unschedule_pending_plan_changes(subscription.id)
        changed = CLIENT.subscriptions.schedule_plan_change(
            subscription.id, change_option="immediate", plan_id=other
        )
        self.assertEqual(changed.plan.id, other)
        item = metric.item.id
        cheap = {
            "name": unique("price"), "model_type": "unit", "cadence": "monthly", "item_id": item,
            "billable_metric_id": metric.id, "unit_config": {"unit_amount": "0.08"},
            "reference_id": "cheap",
        }
        own = CLIENT.subscriptions.create(
            customer_id=new_customer().id,
            plan_id=plan,
            replace_prices=[{"replaces_price_id": fee.id, "fixed_price_quantity": 3}],
            add_prices=[{"price": cheap}],
            add_adjustments=[{"adjustment": {**half, "applies_to_price_ids": ["cheap"]}}],
        )
        self.assertEqual(own.fixed_fee_quantity_schedule[0].quantity, 3)
        reached = own.adjustment_intervals[0].adjustment.applies_to_price_ids
        self.assertEqual(reached, [own.price_intervals[-1].price.id])

    def test_billing_that_waits(self):
        metric = new_metric()
        subscription = CLIENT.subscriptions.create(
            plan_id=new_plan(metric).id, customer_id=new_customer().id
        )
        usage = {
            "name": unique("price"), "model_type": "unit", "cadence": "monthly", "item_id": metric.item.id,
            "billable_metric_id": metric.id, "unit_config": {"unit_amount": "0.08"}, "currency": "USD",
        }
        changed = CLIENT.subscriptions.price_intervals(
            subscription.id,
            add=[{
                "price": usage, "start_date": subscription.start_date, "end_date": now(1),
                "can_defer_billing": True,
            }],
        )
        waits = [it for it in changed.price_intervals if it.can_defer_billing]
        self.assertEqual(len(waits), 1)
        changed = CLIENT.subscriptions.price_intervals(
            subscription.id, edit=[{"price_interval_id": waits[0].id, "can_defer_billing": False}]
        )
        self.assertFalse(any(it.can_defer_billing for it in changed.price_intervals))

    def test_contracts(self):
        metric = new_metric()
        usage = {
            "name": unique("price"), "model_type": "unit", "cadence": "monthly", "item_id": metric.item.id,
            "billable_metric_id": metric.id, "unit_config": {"unit_amount": "0.08"},
        }
        new = {
            "customer_id": new_customer().id, "name": "Contract", "currency": "USD", "net_terms": 30,
            "start_date": now(-1), "end_date": now(365), "add_prices": [{"price": usage}],
        }
        contract = CLIENT.subscriptions.create(**new)
        self.assertEqual((contract.plan, contract.name, contract.net_terms), (None, "Contract", 30))
        self.assertIsNone(CLIENT.subscriptions.fetch(contract.id).plan)
        schedule = [it.plan for it in CLIENT.subscriptions.fetch_schedule(contract.id)]
        self.assertEqual(schedule, [None])
        with self.assertRaises(orb.RequestValidationError):
            CLIENT.subscriptions.create(**{**new, "name": None})
        plan = new_plan(metric).id
        changed = CLIENT.subscriptions.schedule_plan_change(
            contract.id, change_option="immediate", plan_id=plan
        )
        self.assertEqual(changed.plan.id, plan)

    def test_phases_and_trials(self):
        metric = new_metric()
        usage = prices(metric)[0]
        plan = CLIENT.plans.create(
            name=unique("ramp"),
            currency="USD",
            prices=[{"price": usage, "plan_phase_order": order} for order in (1, 2)],
            plan_phases=[
                {"order": 1, "duration": 2, "duration_unit": "monthly"},
                {"order": 2, "align_billing_with_phase_start_date": True},
            ],
        )
        self.assertEqual([phase.order for phase in plan.plan_phases], [1, 2])
        created = CLIENT.subscriptions.create(
            customer_id=new_customer().id, plan_id=plan.id, start_date=now(-5)
        )
        self.assertEqual(created.active_plan_phase_order, 1)
        self.assertEqual(CLIENT.subscriptions.trigger_phase(created.id).active_plan_phase_order, 2)
        tried = CLIENT.subscriptions.create(
            customer_id=new_customer().id, plan_id=plan.id, trial_duration_days=14
        )
        self.assertIsNotNone(tried.trial_info.end_date)
        first = next(it.price for it in tried.price_intervals if it.price.discount)
        self.assertEqual(first.discount.discount_type, "trial")
        longer = CLIENT.subscriptions.update_trial(
            tried.id, trial_end_date=tried.trial_info.end_date + timedelta(days=7), shift=True
        )
        self.assertGreater(longer.trial_info.end_date, tried.trial_info.end_date)
        CLIENT.subscriptions.update_trial(tried.id, trial_end_date="immediate")

    def test_credits_of_a_plan_and_filters(self):
        metric = new_metric()
        plan = CLIENT.plans.create(
            name=unique("included"),
            currency="USD",
            prices=[
                {"price": prices(metric)[0]},
                {
                    "allocation_price": {
                        "currency": "credits",
                        "amount": "500",
                        "cadence": "monthly",
                        "expires_at_end_of_cadence": True,
                        "per_unit_cost_basis": "0.02",
                    }
                },
            ],
        )
        allocation = next(it.credit_allocation for it in plan.prices if it.credit_allocation)
        self.assertEqual((allocation.currency, allocation.allows_rollover), ("credits", False))
        customer = new_customer()
        created = CLIENT.subscriptions.create(
            customer_id=customer.id, plan_id=plan.id, filter="region = 'eu'"
        )
        self.assertEqual({it.filter for it in created.price_intervals}, {"region = 'eu'"})
        [block] = list(CLIENT.customers.credits.list(customer.id))
        self.assertEqual((block.balance, block.credit_block_source), (500, "allocation"))
        found = CLIENT.credit_blocks.list_invoices(block.id)
        self.assertEqual(len(found.invoices), 1)

    def test_coupons(self):
        discount = {"discount_type": "percentage", "percentage_discount": 0.25}
        code = unique("SPRING")
        coupon = CLIENT.coupons.create(
            redemption_code=code, discount=discount, duration_in_months=2, max_redemptions=2
        )
        self.assertEqual(coupon.discount.percentage_discount, 0.25)
        fixed = {"discount_type": "amount", "amount_discount": "5.00"}
        five = CLIENT.coupons.create(redemption_code=unique("FIVE"), discount=fixed)
        self.assertEqual(five.discount.amount_discount, "5.00")
        plan = new_plan(new_metric())
        subscription = CLIENT.subscriptions.create(
            customer_id=new_customer().id, plan_id=plan.id, coupon_redemption_code=code
        )
        self.assertEqual(subscription.redeemed_coupon.coupon_id, coupon.id)
        other = CLIENT.subscriptions.create(customer_id=new_customer().id, plan_id=plan.id)
        redeemed = CLIENT.subscriptions.redeem_coupon(
            other.id, change_option="immediate", coupon_id=coupon.id
        )
        self.assertEqual(redeemed.discount_intervals[0].percentage_discount, 0.25)
        adjustment = redeemed.adjustment_intervals[0].adjustment
        self.assertEqual(len(adjustment.applies_to_price_ids), len(plan.prices))
        self.assertEqual(CLIENT.coupons.fetch(coupon.id).times_redeemed, 2)
        rows = CLIENT.coupons.subscriptions.list(coupon.id, limit=1)
        self.assertEqual({row.id for row in rows}, {other.id, subscription.id})
        with self.assertRaises(orb.ConstraintViolation):
            CLIENT.subscriptions.redeem_coupon(
                subscription.id, change_option="immediate", coupon_redemption_code=code
            )
        self.assertIsNotNone(CLIENT.coupons.archive(coupon.id).archived_at)
        self.assertEqual([row.id for row in CLIENT.coupons.list(redemption_code=code)], [])
        archived = CLIENT.coupons.list(redemption_code=code, show_archived=True)
        self.assertEqual([row.id for row in archived], [coupon.id])

    def test_subscription_changes(self):
        waits = {"Create-Pending-Subscription-Change": "true"}
        plan, customer = new_plan(new_metric()), new_customer()
        new = {"plan_id": plan.id, "customer_id": customer.id, "extra_headers": waits}
        staged, other = (CLIENT.subscriptions.create(**new) for _ in range(2))
        changes = CLIENT.subscription_changes
        change = changes.retrieve(staged.pending_subscription_change.id)
        self.assertEqual((change.status, change.change_type), ("pending", "create_subscription"))
        self.assertEqual(change.subscription.id, staged.id)
        with self.assertRaises(orb.ResourceNotFound):
            CLIENT.subscriptions.fetch(staged.id)
        rows = list(changes.list(customer_id=customer.id, status="pending", limit=1))
        row = next(row for row in rows if row.id == change.id)
        self.assertEqual((len(rows), row.subscription_id), (2, None))
        paid = {"mark_as_paid": True, "payment_notes": "cash", "description": "till"}
        applied = changes.apply(change.id, previously_collected_amount="25.00", **paid)
        self.assertEqual((applied.status, applied.subscription.id), ("applied", staged.id))
        self.assertEqual(CLIENT.subscriptions.fetch(staged.id).id, staged.id)
        cancelled = changes.cancel(other.pending_subscription_change.id)
        self.assertEqual((cancelled.status, cancelled.subscription), ("cancelled", None))
        with self.assertRaises(orb.ConstraintViolation):
            changes.apply(cancelled.id)

    def test_adjustments(self):
        half = {"adjustment_type": "percentage_discount", "percentage_discount": 0.5}
        most = {"adjustment_type": "maximum", "maximum_amount": "90"}
        wrapped = [{"adjustment": {**of, "applies_to_all": True}} for of in (half,)]
        plan = new_plan(new_metric(), adjustments=wrapped)
        shown = plan.adjustments[0]
        self.assertEqual(shown.percentage_discount, 0.5)
        self.assertEqual(len(shown.applies_to_price_ids), len(plan.prices))
        self.assertEqual(plan.discount.percentage_discount, 0.5)
        bounded = {**most, "price_type": "usage"}
        subscription = CLIENT.subscriptions.create(
            customer_id=new_customer().id,
            plan_id=plan.id,
            invoicing_threshold="50.00",
            add_adjustments=[{"adjustment": bounded}],
            remove_adjustments=[{"adjustment_id": shown.id}],
            extra_headers={"Include-Changed-Resources": "true"},
        )
        self.assertEqual(subscription.invoicing_threshold, "50.00")
        kinds = [it.adjustment.adjustment_type for it in subscription.adjustment_intervals]
        self.assertEqual(kinds, ["maximum"])
        self.assertEqual(subscription.maximum_intervals[0].maximum_amount, "90.00")
        self.assertEqual(subscription.discount_intervals, [])
        made = subscription.changed_resources.created_invoices
        self.assertTrue(all(of.subscription.id == subscription.id for of in made))

    def test_events_that_change(self):
        external = unique("customer")
        customer = new_customer(external_customer_id=external)
        key = unique("event/a b?#%")
        said = {"event_name": "usage", "timestamp": now(), "properties": {"amount": 5}}
        event = {"idempotency_key": key, "external_customer_id": external, **said}
        CLIENT.events.ingest(events=[event])

        def found():
            return search(key)[0]

        said["properties"] = {"amount": 6}
        amended = CLIENT.events.update(key, customer_id=customer.id, **said)
        self.assertEqual(amended.amended, key)
        self.assertEqual((found().properties, found().deprecated), ({"amount": 6}, False))
        self.assertEqual(CLIENT.events.deprecate(key).deprecated, key)
        self.assertTrue(found().deprecated)
        with self.assertRaises(orb.RequestValidationError):
            CLIENT.events.ingest(events=[event])

    def test_backfills(self):
        customer = new_customer(external_customer_id=unique("customer"))
        backfills = CLIENT.events.backfills
        own = {"external_customer_id": customer.external_customer_id, **timeframe()}
        first = backfills.create(deprecation_filter="amount > 1", close_time=now(1), **own)
        self.assertEqual((first.status, first.customer_id), ("pending", customer.id))
        event = {
            "idempotency_key": unique("event"),
            "event_name": "usage",
            "timestamp": now(),
            "properties": {"amount": 5},
            "customer_id": customer.id,
        }
        CLIENT.events.ingest(events=[event], backfill_id=first.id)
        key = event["idempotency_key"]
        self.assertEqual(search(key), [])
        backfills.close(first.id)
        self.assertEqual(reaches(first, "reflected").events_ingested, 1)
        self.assertFalse(search(key)[0].deprecated)
        second = backfills.create(replace_existing_events=False, **own)
        self.assertEqual(backfills.revert(second.id).status, "reverted")
        backfills.revert(first.id)
        self.assertIsNotNone(reaches(first, "reverted").reverted_at)
        rows = {row.id for row in backfills.list(limit=1)}
        self.assertLessEqual({first.id, second.id}, rows)

    def test_credits_and_their_alerts(self):
        external = unique("customer")
        customer = new_customer(external_customer_id=external)
        own = {"customer_id": customer.id, "currency": "USD"}
        by_external_id = {"external_customer_id": external, "currency": "USD"}
        credits, ledger = CLIENT.customers.credits, CLIENT.customers.credits.ledger
        entry = ledger.create_entry(entry_type="increment", amount=100, expiry_date=now(30), **own)
        block = entry.credit_block.id
        ledger.create_entry_by_external_id(entry_type="decrement", amount=12.5, **by_external_id)
        ledger.create_entry(entry_type="amendment", amount=2.5, block_id=block, **own)
        target = now(60).date()
        ledger.create_entry(
            entry_type="expiration_change", amount=10, block_id=block, target_expiry_date=target, **own
        )
        ledger.create_entry(
            entry_type="void", amount=5, block_id=block, void_reason="refund", **own
        )
        self.assertGreaterEqual(len(list(ledger.list(limit=2, **own))), 5)
        self.assertTrue(list(ledger.list_by_external_id(**by_external_id)))
        self.assertEqual(sum(row.balance for row in credits.list(limit=1, **own)), 85)
        every = credits.list_by_external_id(include_all_blocks=True, **by_external_id)
        self.assertIn(block, [row.id for row in every])

        alerts = CLIENT.alerts
        dropped = alerts.create_for_customer(
            type="credit_balance_dropped", thresholds=[{"value": 10}], **own
        )
        depleted = alerts.create_for_external_customer(
            type="credit_balance_depleted", **by_external_id
        )
        alerts.update(dropped.id, thresholds=[{"value": 5}])
        self.assertEqual(alerts.retrieve(dropped.id).thresholds[0].value, 5)
        alerts.delete(depleted.id)
        rows = alerts.list(customer_id=customer.id, created_at_gte=now(-1))
        self.assertEqual([row.id for row in rows], [dropped.id])

        self.assertEqual(CLIENT.credit_blocks.update(block, metadata={"a": "1"}).id, block)
        self.assertEqual(CLIENT.credit_blocks.retrieve(block).metadata, {"a": "1"})
        CLIENT.credit_blocks.delete(block)

    def test_credits_that_are_bought(self):
        external = unique("customer")
        customer = new_customer(currency="USD", external_customer_id=external)
        credits = CLIENT.customers.credits
        entry = credits.ledger.create_entry(
            customer.id, entry_type="increment", amount=20, per_unit_cost_basis="1.50",
            invoice_settings={
                "auto_collection": False, "net_terms": 14, "require_successful_payment": True,
            },
        )
        self.assertEqual(entry.entry_status, "pending")
        (invoice,) = entry.created_invoices
        self.assertEqual(invoice.total, "30.00")
        found = CLIENT.credit_blocks.list_invoices(entry.credit_block.id)
        self.assertEqual(found.block.status, "pending_payment")
        self.assertEqual([row.id for row in found.invoices], [invoice.id])
        CLIENT.invoices.mark_paid(invoice.id, payment_received_date=now(0).date())
        (block,) = credits.list(customer.id)
        self.assertEqual(block.status, "active")

        terms = {
            "currency": "credits", "threshold": "5", "amount": "50", "per_unit_cost_basis": "1.00",
            "invoice_settings": {"auto_collection": False, "net_terms": 30},
            "expires_after": 1, "expires_after_unit": "month",
        }
        top_ups = credits.top_ups
        first = top_ups.create(customer.id, **terms)
        second = top_ups.create_by_external_id(external, **{**terms, "threshold": "6"})
        self.assertNotEqual(first.id, second.id)
        self.assertEqual([row.id for row in top_ups.list(customer.id, limit=1)], [second.id])
        self.assertEqual([row.id for row in top_ups.list_by_external_id(external)], [second.id])
        top_ups.delete(second.id, customer_id=customer.id)
        third = top_ups.create(customer.id, **terms)
        top_ups.delete_by_external_id(third.id, external_customer_id=external)
        self.assertEqual(list(top_ups.list(customer.id)), [])

    def test_credit_notes(self):
        plan = new_plan(new_metric())
        customer = new_customer()
        subscription = CLIENT.subscriptions.create(
            plan_id=plan.id,
            customer_id=customer.id,
            align_billing_with_subscription_start_date=True,
            net_terms=14,
        )
        [invoice] = CLIENT.invoices.list(subscription_id=subscription.id, status=["issued"])
        line = invoice.line_items[-1].id
        notes = CLIENT.credit_notes
        made = notes.create(
            line_items=[{"invoice_line_item_id": line, "amount": "5.00"}],
            reason="product_unsatisfactory",
            memo="an hour of outage",
            start_date=now().date(),
            end_date=now().date(),
        )
        self.assertEqual((made.type, made.total, made.invoice_id), ("adjustment", "5.00", invoice.id))
        self.assertEqual(made.reason, "Product unsatisfactory")
        self.assertEqual(notes.fetch(made.id), made)
        self.assertIn(made.id, [note.id for note in notes.list(limit=2, created_at_gte=now(-1))])
        credited = CLIENT.invoices.fetch(invoice.id)
        self.assertEqual(credited.amount_due, "15.00")
        self.assertEqual([note.id for note in credited.credit_notes], [made.id])
        with self.assertRaises(orb.ConstraintViolation):
            notes.create(
                line_items=[{"invoice_line_item_id": line, "amount": "15.01"}], reason="duplicate"
            )
        past = {"cancel_option": "requested_date", "cancellation_date": subscription.start_date}
        with self.assertRaises(orb.ConstraintViolation):
            CLIENT.subscriptions.cancel(subscription.id, allow_invoice_credit_or_void=False, **past)
        shown = {"Include-Changed-Resources": "true"}
        ended = CLIENT.subscriptions.cancel(subscription.id, extra_headers=shown, **past)
        [void] = ended.changed_resources.voided_invoices
        self.assertEqual((void.id, void.status), (invoice.id, "void"))

    def test_invoices_and_the_balance(self):
        customer = new_customer(billing_address={"line1": "1 Main Street", "country": "DE"})
        metric = new_metric()
        by_region = {**prices(metric)[0], "name": "by region", "invoice_grouping_key": "region"}
        plan = new_plan(metric, by_region)
        invoices, balance = CLIENT.invoices, CLIENT.customers.balance_transactions

        def subscribe(**more):
            own = {"plan_id": plan.id, "customer_id": customer.id, "net_terms": 14, **more}
            aligned = {"align_billing_with_subscription_start_date": True, **own}
            return CLIENT.subscriptions.create(**aligned).id

        def listed(subscription, *statuses):
            return list(invoices.list(limit=1, subscription_id=subscription, status=list(statuses)))

        automatic, by_hand = subscribe(), subscribe(auto_issuance=False)
        [first] = listed(automatic, "issued")
        self.assertEqual((first.total, first.amount_due), ("20.00", "20.00"))
        given = balance.create(customer.id, amount="5", type="increment", description="goodwill")
        self.assertEqual(given.ending_balance, "5.00")
        event = {
            "idempotency_key": unique("event"),
            "event_name": "usage",
            "timestamp": now(),
            "properties": {"amount": 15, "region": "eu"},
            "customer_id": customer.id,
        }
        CLIENT.events.ingest(events=[event])
        upcoming = invoices.fetch_upcoming(subscription_id=automatic)
        self.assertEqual((upcoming.status, upcoming.will_auto_issue), ("draft", True))
        draft = invoices.fetch(upcoming.id)
        self.assertEqual((draft.total, draft.invoice_date), (upcoming.total, upcoming.target_date))
        parts = {part.type for line in draft.line_items for part in line.sub_line_items}
        self.assertEqual(parts, {"tier", "matrix", "'null'"})
        groups = [part.grouping for line in draft.line_items for part in line.sub_line_items]
        [group] = [(group.key, group.value) for group in groups if group]
        self.assertEqual(group, ("region", "eu"))

        later, sooner = listed(by_hand, "draft")
        updated = invoices.update(sooner.id, metadata={"a": "1"}, net_terms=3)
        self.assertEqual(updated.metadata, {"a": "1"})
        issued = invoices.issue(sooner.id)
        due = issued.invoice_date + timedelta(days=3)
        self.assertEqual((issued.amount_due, issued.due_date), ("15.00", due))
        with self.assertRaises(orb.ConstraintViolation):
            invoices.issue(later.id)
        wait(days=40)
        with self.assertRaises(orb.ConstraintViolation):
            # It has usage.
            invoices.issue_summary(later.id, synchronous=True)
        self.assertEqual(invoices.issue_summary(later.id).status, "issued")
        [second, same] = listed(automatic, "issued")
        self.assertEqual((second.id, same.id), (draft.id, first.id))
        self.assertEqual((second.total, second.status), (draft.total, "issued"))

        paid = invoices.mark_paid(first.id, payment_received_date=now().date(), external_id="p")
        self.assertEqual((paid.status, paid.amount_due), ("paid", "20.00"))
        void = invoices.void(issued.id)
        self.assertEqual((void.status, len(void.customer_balance_transactions)), ("void", 2))
        rows = invoices.list_summary(subscription_id=by_hand, status=["void", "issued"])
        self.assertEqual([row.id for row in rows], [later.id, issued.id])
        moves = [row.action for row in balance.list(customer.id, limit=1)]
        applied = ["return_from_voiding", "applied_to_invoice", "manual_adjustment"]
        self.assertEqual(moves, applied)
        self.assertEqual(CLIENT.customers.fetch(customer.id).balance, "5.00")

    def test_payments(self):
        customer = new_customer()
        plan = new_plan(new_metric())
        CLIENT.subscriptions.create(
            plan_id=plan.id,
            customer_id=customer.id,
            align_billing_with_subscription_start_date=True,
        )
        invoices = CLIENT.invoices
        [invoice] = invoices.list(customer_id=customer.id, status=["issued"])
        with self.assertRaises(orb.ConstraintViolation):
            invoices.pay(invoice.id)
        declined = invoices.pay(invoice.id, shared_payment_token_id="tok_4000000000000002")
        [attempt] = declined.payment_attempts
        self.assertEqual((declined.status, attempt.succeeded), ("issued", False))
        paid = invoices.pay(invoice.id, shared_payment_token_id="tok_4242424242424242")
        self.assertEqual((paid.status, len(paid.payment_attempts)), ("paid", 2))
        self.assertEqual(paid.payment_received_at, paid.payment_started_at)

        begins = "https://billing.example.com/documents/"
        receipt = paid.payment_attempts[1].receipt_pdf
        for link in [paid.invoice_pdf, paid.hosted_invoice_url, receipt]:
            self.assertTrue(link.startswith(begins), link)
        wait(days=1)
        renewed = invoices.regenerate_invoice_pdf(invoice.id)
        self.assertNotEqual(renewed.invoice_pdf, paid.invoice_pdf)
        renewed = invoices.regenerate_receipt_pdf(invoice.id)
        self.assertNotEqual(renewed.payment_attempts[1].receipt_pdf, receipt)

    def test_portal_sessions(self):
        customer = new_customer(external_customer_id=unique("portal"))
        session = CLIENT.customers.create_portal_session(customer.id, expires_in_minutes=90)
        self.assertEqual(session.customer_id, customer.id)
        self.assertEqual(session.expires_at - session.created_at, timedelta(minutes=90))
        self.assertTrue(session.url.startswith("https://portal.example.com/?token="))
        other = CLIENT.customers.create_portal_session_by_external_id(
            customer.external_customer_id, invalidate_existing=False
        )
        self.assertNotEqual(other.url, session.url)

    def test_payment_methods(self):
        customers = CLIENT.customers
        customer = new_customer(
            external_customer_id=unique("collected"),
            payment_provider="stripe_charge",
            payment_provider_id="cus_5555555555554444",
        )
        customers.sync_payment_methods_from_gateway(customer.id)
        synced = customers.fetch(customer.id)
        customers.sync_payment_methods_from_gateway_by_external_customer_id(
            customer.external_customer_id
        )
        self.assertEqual(customers.fetch(customer.id), synced)
        self.assertEqual(
            synced.to_dict()["default_payment_method"]["external_payment_method_id"],
            "pm_5555555555554444",
        )

    def test_invoices_by_hand(self):
        customer, item, invoices = new_customer(), new_item(), CLIENT.invoices
        today = now().date()
        line = {
            "name": "work",
            "item_id": item.id,
            "start_date": today,
            "end_date": today,
            "quantity": 3,
            "model_type": "unit",
            "unit_config": {"unit_amount": "19.99"},
        }
        own = {"customer_id": customer.id, "currency": "USD", "line_items": [line]}
        discount = {"discount_type": "percentage", "percentage_discount": 0.1}
        draft = invoices.create(invoice_date=today, discount=discount, memo="thank you", **own)
        self.assertEqual((draft.status, draft.invoice_source), ("draft", "one_off"))
        self.assertEqual((draft.subtotal, draft.total), ("59.97", "53.97"))
        self.assertEqual(draft.discounts[0].percentage_discount, 0.1)
        self.assertEqual(draft.line_items[0].price.item.id, item.id)
        added = CLIENT.invoice_line_items.create(
            invoice_id=draft.id,
            start_date=today,
            end_date=today,
            quantity=2,
            amount="10.00",
            item_id=item.id,
        )
        self.assertEqual((added.name, added.amount), (item.name, "10.00"))
        self.assertEqual(added.price.unit_config.unit_amount, "5")
        self.assertEqual(invoices.fetch(draft.id).total, "62.97")
        invoices.delete_line_item(added.id, invoice_id=draft.id)
        issued = invoices.issue(draft.id)
        self.assertEqual((issued.status, issued.total), ("issued", "53.97"))
        found = invoices.list(customer_id=customer.id, is_recurring=False)
        self.assertEqual([row.id for row in found], [draft.id])
        moved = invoices.create(invoice_date=now(3).date(), will_auto_issue=True, **own)
        self.assertEqual((moved.status, moved.will_auto_issue), ("draft", True))
        self.assertEqual(invoices.update(moved.id, invoice_date=today).status, "issued")

    def test_errors(self):
        item = new_item()
        CLIENT.items.archive(item.id)
        external = unique("customer")
        customer = new_customer(external_customer_id=external)
        metric = new_metric()
        for kind, call in [
            (orb.OrbAuthenticationError, CLIENT.with_options(api_key="wrong").top_level.ping),
            (orb.RequestValidationError, lambda: CLIENT.items.create(name=7)),
            (orb.ConstraintViolation, lambda: CLIENT.items.archive(item.id)),
            (orb.DuplicateResourceCreation, lambda: new_customer(external_customer_id=external)),
            (orb.ResourceNotFound, lambda: CLIENT.items.fetch("nothing")),
            (orb.URLNotFound, lambda: CLIENT.get("/nothing", cast_to=object)),
            (
                orb.FeatureNotAvailable,
                lambda: new_plan(metric, {**prices(metric)[0], "billed_in_advance": True}),
            ),
        ]:
            with self.subTest(kind=kind.__name__), self.assertRaises(kind):
                call()

    def test_what_messages_say(self):
        """Holds the messages of what all tests above have done to the client's types of them."""
        types = {"expanded": of_types(UnwrapWebhookEvent), "standard": of_types(UnwrapStandardWebhookEvent)}
        for style, received in RECEIVED.items():
            with self.subTest(style=style):
                told = set()
                for _ in range(300):
                    time.sleep(0.1)
                    told = {type_of(message) for message in list(received)}
                    if TOLD <= told:
                        break
                self.assertLessEqual(TOLD, told)
                for headers, body in list(received):
                    event = types[style][type_of((headers, body))].model_validate_json(body)
                    self.assertEqual(event.payload_style, style)
                    self.assertEqual(verified(style, body, headers, SECRETS[style]).id, event.id)
                    with self.assertRaises(ValueError):
                        verified(style, body + b" ", headers, SECRETS[style])

    def test_webhook_endpoints(self):
        endpoints = CLIENT.webhook_endpoints
        url = "https://hooks.example.com/billing"
        created = endpoints.create(url=url, enabled_event_types=["invoice.issued"])
        self.assertEqual((created.enabled, created.payload_style), (True, "expanded"))
        self.assertTrue(created.secret)
        self.assertEqual(endpoints.retrieve(created.id).enabled_event_types, ["invoice.issued"])
        changed = endpoints.update(created.id, enabled_event_types=None, payload_style="standard")
        self.assertEqual((changed.url, changed.payload_style), (url, "standard"))
        self.assertIsNone(changed.enabled_event_types)
        self.assertFalse(endpoints.disable(created.id).enabled)
        self.assertTrue(endpoints.enable(created.id).enabled)
        self.assertIn(created.id, [row.id for row in endpoints.list(limit=1)])
        endpoints.delete(created.id)
        with self.assertRaises(orb.ResourceNotFound):
            endpoints.retrieve(created.id)
        with self.assertRaises(orb.RequestValidationError):
            endpoints.create(url="http://user@hooks.example.com/")


if __name__ == "__main__":
    unittest.main()
