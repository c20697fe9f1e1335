use std::sync::Arc;

use accrue::store::MemoryStore;
use serde_json::{Value, json};

use super::{Door, families, phases};
use crate::stores::copied;

/// When ids of the scene are drawn.
pub(super) const BEGINNING: &str = "2026-03-10T09:00:00Z";
/// When the cases are asked for: later, so that something is due.
pub(super) const NOW: &str = "2026-03-10T12:00:00Z";

/// What there is before a case is asked for.
#[derive(Debug)]
pub struct Scene {
    store: MemoryStore,
    pub customer: String,
    pub item: String,
    pub metric: String,
    pub archived_metric: String,
    pub price: String,
    pub price_group: String,
    pub plan: String,
    /// A migration of the plan that nobody has planned yet.
    pub migration: String,
    pub fee: String,
    pub subscription: String,
    pub cancelled: String,
    /// A subscription whose plan is to change.
    pub changing: String,
    /// A subscription in the first phase of its plan.
    pub in_phase: String,
    pub on_trial: String,
    pub alert: String,
    pub disabled_alert: String,
    pub block: String,
    pub unused_block: String,
    pub pending_backfill: String,
    pub reflected_backfill: String,
    pub collected: String,
    pub payer: String,
    pub invoiced: String,
    pub invoice: String,
    pub paid: String,
    pub draft: String,
    pub one_off: String,
    pub line: String,
    pub line_by_hand: String,
    pub note: String,
    pub coupon: String,
    pub buyer: String,
    pub bought: String,
    pub top_up: String,
    pub license_type: String,
    /// A subscription that has a license.
    pub licensed: String,
    pub license: String,
    pub parent: String,
    /// A customer whose usage counts for a subscription of its parent.
    pub child: String,
    pub counting: String,
    pub endpoint: String,
    pub disabled_endpoint: String,
    /// A message that the endpoint is yet to be sent.
    pub message: String,
    /// A change that waits to create a subscription.
    pub pending_creation: String,
    /// One that waits to change the quantity of a fee.
    pub pending_quantity: String,
}

impl Scene {
    /// A customer with usage, credits of which one block has expired, subscriptions of which one is
    /// due to begin, alerts, and backfills of which one is due to close. Nobody has invoiced that one;
    /// another one has an invoice that its balance has paid a part of, and a draft to be issued by hand.
    #[must_use]
    pub fn set() -> Self {
        let store = Arc::new(MemoryStore::new());
        let door = Door::on(Arc::clone(&store), BEGINNING, 1);
        let item = door.id("/items", &json!({"name": "item"}));
        let metric = |name: &str, sql: &str| {
            let new = json!({"name": name, "description": null, "item_id": item, "sql": sql});
            door.id("/metrics", &new)
        };
        let of = |sql: &str| metric("metric", sql);
        let metric = of("SELECT sum(n) FROM events");
        let archived_metric = of("SELECT max(n) FROM events");
        door.create(&format!("/metrics/{archived_metric}/archive"), &json!({}));
        let usage = |name: &str, currency: &str| {
            json!({
                "name": name, "item_id": item, "cadence": "monthly", "model_type": "unit",
                "unit_config": {"unit_amount": "2"}, "billable_metric_id": metric,
                "currency": currency, "external_price_id": name,
            })
        };
        let price = door.id("/prices", &usage("price", "USD"));
        let price_group = door.id("/dimensional_price_groups", &price_group_of(&metric, "group"));
        let fee = json!({
            "name": "fee", "item_id": item, "cadence": "monthly", "model_type": "unit",
            "unit_config": {"unit_amount": "10"}, "fixed_price_quantity": 2,
        });
        let mut regional = usage("regional", "USD");
        regional["dimensional_price_configuration"] =
            json!({"dimensional_price_group_id": price_group, "dimension_values": ["eu"]});
        let prices = [usage("usage", "USD"), usage("drawn", "credits"), fee, regional];
        let prices: Vec<_> = prices.iter().map(|price| json!({"price": price})).collect();
        let plan = json!({
            "name": "plan", "currency": "USD", "external_plan_id": "plan", "prices": prices,
        });
        let plan = door.create("/plans", &plan);
        let fee = plan["prices"][2]["id"].as_str().unwrap().to_owned();
        let plan = plan["id"].as_str().unwrap().to_owned();
        let version = json!({"version": 2, "add_prices": [{"price": usage("more", "USD")}]});
        door.create(&format!("/plans/{plan}/versions"), &version);
        let customer = json!({
            "name": "Ada", "email": "ada@example.com", "external_customer_id": "ada",
            "tax_configuration": exempt(),
        });
        let customer = door.id("/customers", &customer);
        let block = |expiry: Value, amount: u32| {
            let entry = json!({
                "entry_type": "increment", "amount": amount, "currency": "credits",
                "expiry_date": expiry,
            });
            let path = format!("/customers/{customer}/credits/ledger_entry");
            let entry = door.create(&path, &entry);
            entry["credit_block"]["id"].as_str().unwrap().to_owned()
        };
        // The first one to be spent, one that lapses, and one that nothing is taken from.
        let first = block(json!("2026-03-20T00:00:00Z"), 9);
        let expired = block(json!("2026-03-10T11:00:00Z"), 1);
        let unused_block = block(Value::Null, 50);
        assert_ne!(first, expired);
        let subscribe = |start: Value, end: Value| {
            let new = json!({
                "customer_id": customer, "plan_id": plan, "start_date": start, "end_date": end,
                "align_billing_with_subscription_start_date": true,
            });
            door.id("/subscriptions", &new)
        };
        let subscription = subscribe(Value::Null, Value::Null);
        let cancelled = subscribe(Value::Null, json!("2026-03-25T00:00:00Z"));
        let fewer = json!({
            "price_id": fee, "quantity": 7, "effective_date": "2026-03-20T00:00:00Z",
        });
        door.create(&format!("/subscriptions/{cancelled}/update_fixed_fee_quantity"), &fewer);
        subscribe(json!("2026-03-10T11:30:00Z"), Value::Null);
        let changing = subscribe(Value::Null, Value::Null);
        let change = json!({
            "change_option": "end_of_subscription_term", "plan_id": plan, "plan_version_number": 2,
        });
        door.create(&format!("/subscriptions/{changing}/schedule_plan_change"), &change);
        let [in_phase, on_trial] = phases::subscribed(&door, &usage("ramped", "USD"));
        let alert = |of: &str, value: u32| {
            let new = json!({
                "type": "usage_exceeded", "metric_id": metric, "thresholds": [{"value": value}],
            });
            door.id(&format!("/alerts/subscription_id/{of}"), &new)
        };
        let disabled_alert = alert(&cancelled, 5);
        door.create(&format!("/alerts/{disabled_alert}/disable"), &json!({}));
        let alert = alert(&subscription, 12);
        let of_plan = json!({"type": "cost_exceeded", "thresholds": [{"value": 30}]});
        door.create(&format!("/alerts/plan_id/{plan}"), &of_plan);
        let depleted = json!({"type": "credit_balance_depleted", "currency": "credits"});
        door.create(&format!("/alerts/customer_id/{customer}"), &depleted);
        let coupon = json!({
            "redemption_code": "SPRING", "max_redemptions": 2, "duration_in_months": 2,
            "discount": {"discount_type": "percentage", "percentage_discount": 0.25},
        });
        let coupon = door.id("/coupons", &coupon);
        let redemption = json!({"coupon_id": coupon, "change_option": "immediate"});
        door.create(&format!("/subscriptions/{cancelled}/redeem_coupon"), &redemption);
        let event = |key: &str, at: &str, of: &str| {
            json!({
                "idempotency_key": key, "event_name": "call", "timestamp": at,
                "external_customer_id": of, "properties": {"n": 3},
            })
        };
        let events = [
            event("a", "2026-03-10T09:00:00Z", "ada"),
            event("b", "2026-03-10T09:00:00Z", "ada"),
            event("waiting", "2026-03-10T08:00:00Z", "new"),
        ];
        door.create("/ingest", &json!({"events": events}));
        let backfill = |from: &str, until: &str| {
            let new = json!({
                "timeframe_start": from, "timeframe_end": until, "customer_id": customer,
                "close_time": "2026-03-12T00:00:00Z",
            });
            let id = door.id("/events/backfills", &new);
            let key = format!("in {from}");
            let events = json!({"events": [event(&key, from, "ada")]});
            door.create(&format!("/ingest?backfill_id={id}"), &events);
            id
        };
        let reflected_backfill = backfill("2026-03-09T00:00:00Z", "2026-03-09T01:00:00Z");
        door.create(&format!("/events/backfills/{reflected_backfill}/close"), &json!({}));
        door.tick();
        let pending_backfill = backfill("2026-03-08T00:00:00Z", "2026-03-08T01:00:00Z");
        let Invoiced { payer, invoiced, invoice, paid, draft, one_off, line, line_by_hand, note } =
            Invoiced::set(&door, &item, &customer);
        let Bought { buyer, bought, top_up } = Bought::set(&door);
        let [parent, child, counting] = families::subscribed(&door, &plan, &metric);
        let Licensed { license_type, licensed, license } = Licensed::set(&door, &item, &metric);
        let collected = json!({
            "name": "Ivy", "email": "ivy@example.com", "external_customer_id": "ivy",
            "payment_provider": "stripe_charge", "payment_provider_id": "cus_1",
        });
        let collected = door.id("/customers", &collected);
        let endpoint = |url: &str| door.id("/webhook_endpoints", &json!({"url": url}));
        let disabled_endpoint = endpoint("https://disabled.example.com");
        door.create(&format!("/webhook_endpoints/{disabled_endpoint}/disable"), &json!({}));
        let endpoint = endpoint("https://hooks.example.com");
        let message = door.fan_out_one();
        let [pending_creation, pending_quantity] = staged(&door, &buyer, &plan, &fee);
        let migration = door.migrate(&plan, &subscription);
        let store = copied(&*store);
        Self {
            store,
            customer,
            item,
            metric,
            archived_metric,
            price,
            price_group,
            plan,
            migration,
            fee,
            subscription,
            cancelled,
            changing,
            in_phase,
            on_trial,
            alert,
            disabled_alert,
            block: first,
            unused_block,
            pending_backfill,
            reflected_backfill,
            collected,
            payer,
            invoiced,
            invoice,
            paid,
            draft,
            one_off,
            line,
            line_by_hand,
            note,
            coupon,
            buyer,
            bought,
            top_up,
            license_type,
            licensed,
            license,
            parent,
            child,
            counting,
            endpoint,
            disabled_endpoint,
            message,
            pending_creation,
            pending_quantity,
        }
    }

    /// Every row that there is.
    #[must_use]
    pub fn copy(&self) -> MemoryStore {
        copied(&self.store)
    }
}

/// A dimensional price group of a metric to create.
pub(super) fn price_group_of(metric: &str, external: &str) -> Value {
    json!({
        "name": "group", "billable_metric_id": metric, "dimensions": ["region"],
        "external_dimensional_price_group_id": external,
    })
}

/// Changes of a customer's subscriptions that wait: to create one, and to change the quantity of a fee.
fn staged(door: &Door, customer: &str, plan: &str, fee: &str) -> [String; 2] {
    let new = json!({"customer_id": customer, "plan_id": plan});
    let subscription = door.id("/subscriptions", &new);
    let quantity = json!({"price_id": fee, "quantity": 5});
    let path = format!("/subscriptions/{subscription}/update_fixed_fee_quantity");
    [("/subscriptions", &new), (&path, &quantity)].map(|(path, body)| {
        let answer = door.stage(path, body);
        answer["pending_subscription_change"]["id"].as_str().unwrap().to_owned()
    })
}

/// What is said of customers that are not taxed.
fn exempt() -> Value {
    json!({"tax_provider": "anrok", "tax_exempt": true})
}

/// A one-off invoice of a customer to make, which is issued by itself on a day.
pub(super) fn one_off(customer: &str, item: &str, day: &str) -> Value {
    json!({
        "customer_id": customer, "currency": "USD", "invoice_date": day, "will_auto_issue": true,
        "discount": {"discount_type": "percentage", "percentage_discount": 0.5},
        "line_items": [{
            "name": "work", "item_id": item, "start_date": "2026-03-01", "end_date": "2026-03-10",
            "quantity": 2, "model_type": "unit", "unit_config": {"unit_amount": "10"},
        }],
    })
}

/// What there is of invoices.
struct Invoiced {
    payer: String,
    invoiced: String,
    invoice: String,
    paid: String,
    draft: String,
    one_off: String,
    line: String,
    line_by_hand: String,
    note: String,
}

/// What there is of credits that are bought.
struct Bought {
    buyer: String,
    bought: String,
    top_up: String,
}

impl Bought {
    /// A customer that has bought a block, and has a top-up whose block waits for its payment.
    fn set(door: &Door) -> Self {
        let buyer = json!({
            "name": "Bob", "email": "bob@example.com", "currency": "USD",
            "tax_configuration": exempt(),
            "external_customer_id": "bob",
        });
        let buyer = door.id("/customers", &buyer);
        let path = |rest: &str| format!("/customers/{buyer}/credits/{rest}");
        let entry = door.create(&path("ledger_entry"), &bought());
        let bought = entry["credit_block"]["id"].as_str().unwrap().to_owned();
        let top_up = door.id(&path("top_ups"), &top_up("40"));
        Self { buyer, bought, top_up }
    }
}

/// What there is of licenses.
struct Licensed {
    license_type: String,
    licensed: String,
    license: String,
}

impl Licensed {
    /// A subscription with two seats, of which one is given out and used.
    fn set(door: &Door, item: &str, metric: &str) -> Self {
        let license_type = door.id("/license_types", &license_type());
        let price = |name: &str| {
            json!({
                "name": name, "item_id": item, "cadence": "monthly", "model_type": "unit",
                "unit_config": {"unit_amount": "10"}, "license_type_id": license_type,
            })
        };
        let (mut fee, mut usage) = (price("seat"), price("calls"));
        fee["fixed_price_quantity"] = json!(2);
        usage["billable_metric_id"] = json!(metric);
        let prices = json!([{"price": fee}, {"price": usage}]);
        let plan = json!({"name": "seats", "currency": "USD", "prices": prices});
        let plan = door.id("/plans", &plan);
        let customer = json!({
            "name": "Gus", "email": "gus@example.com", "external_customer_id": "gus",
            "tax_configuration": exempt(),
        });
        let customer = door.id("/customers", &customer);
        let licensed = json!({"customer_id": customer, "plan_id": plan});
        let licensed = door.id("/subscriptions", &licensed);
        let license = door.id("/licenses", &license(&licensed, &license_type, "alice"));
        let event = json!({
            "idempotency_key": "of alice", "event_name": "call", "timestamp": BEGINNING,
            "external_customer_id": "gus", "properties": {"n": 3, "user": "alice"},
        });
        door.create("/ingest", &json!({"events": [event]}));
        Self { license_type, licensed, license }
    }
}

/// A license type to create.
pub(super) fn license_type() -> Value {
    json!({"name": "Seat", "grouping_key": "user"})
}

/// A license of a subscription to create.
pub(super) fn license(subscription: &str, license_type: &str, external: &str) -> Value {
    json!({
        "subscription_id": subscription, "license_type_id": license_type,
        "external_license_id": external,
    })
}

/// Credits that are bought.
pub(super) fn bought() -> Value {
    json!({
        "entry_type": "increment", "amount": 20, "per_unit_cost_basis": "1.50",
        "invoice_settings": {"auto_collection": false, "net_terms": 14},
    })
}

/// A top-up with a threshold, whose block waits for its payment.
pub(super) fn top_up(threshold: &str) -> Value {
    json!({
        "currency": "credits", "threshold": threshold, "amount": "50", "per_unit_cost_basis": "1.00",
        "invoice_settings": {
            "auto_collection": false, "net_terms": 30, "require_successful_payment": true,
        },
        "expires_after": 1, "expires_after_unit": "month",
    })
}

impl Invoiced {
    /// A customer that pays a fee in advance, twice, and has some of it in its balance, as another one
    /// has: what their invoices are numbered with is drawn by then.
    fn set(door: &Door, item: &str, other: &str) -> Self {
        door.ask_for_invoices();
        let fee = json!({
            "name": "fee", "item_id": item, "cadence": "monthly", "model_type": "unit",
            "unit_config": {"unit_amount": "10"}, "fixed_price_quantity": 1,
            "billed_in_advance": true,
        });
        let plan = json!({"name": "advance", "currency": "USD", "prices": [{"price": fee}]});
        let plan = door.id("/plans", &plan);
        let payer = json!({"name": "Eve", "email": "eve@example.com", "currency": "USD"});
        let payer = door.id("/customers", &payer);
        let paid = json!({"amount": "4", "type": "increment"});
        for of in [&*payer, other] {
            door.create(&format!("/customers/{of}/balance_transactions"), &paid);
        }
        let subscribe = |auto_issuance: bool| {
            let new = json!({
                "customer_id": payer, "plan_id": plan, "auto_issuance": auto_issuance,
                "align_billing_with_subscription_start_date": true,
            });
            door.id("/subscriptions", &new)
        };
        let invoiced = subscribe(true);
        let by_hand = subscribe(false);
        let oldest = |of: &str, status: &str| {
            let path = format!("/invoices?subscription_id={of}&status[]={status}");
            let found = door.get(&path);
            found["data"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned()
        };
        let invoice = oldest(&invoiced, "issued");
        let draft = oldest(&by_hand, "draft");
        let shown = door.get(&format!("/invoices/{invoice}"));
        let line = shown["line_items"][0]["id"].as_str().unwrap().to_owned();
        let credited = json!({"invoice_line_item_id": line, "amount": "1.5"});
        let note = json!({"line_items": [credited], "reason": "order_change", "memo": "goodwill"});
        let note = door.id("/credit_notes", &note);
        let one_off = door.create("/invoices", &one_off(&payer, item, "2026-05-01"));
        let line_by_hand = one_off["line_items"][0]["id"].as_str().unwrap().to_owned();
        let one_off = one_off["id"].as_str().unwrap().to_owned();
        let paid = door.create("/invoices", &self::one_off(&payer, item, "2026-03-01"));
        let paid = paid["id"].as_str().unwrap().to_owned();
        let token = json!({"shared_payment_token_id": "token"});
        door.create(&format!("/invoices/{paid}/pay"), &token);
        door.ask_for_taxes();
        Self { payer, invoiced, invoice, paid, draft, one_off, line, line_by_hand, note }
    }
}
