//! Subscriptions over HTTP.

use accrue::{
    EventKey, EventName, IdOr, PropertyName, Timestamp,
    usage::{Event, PropertyValue},
};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::Host;

/// A host with a customer `ada` and a plan `pro`: 0.5 for each token, and 2 seats of 10 in advance.
pub(crate) struct Shop {
    pub(crate) host: Host,
    pub(crate) customer: Value,
    pub(crate) plan: Value,
    pub(crate) metric_id: String,
}

impl Shop {
    pub(crate) fn new() -> Self {
        Self::on(Host::new())
    }

    pub(crate) fn on(host: Host) -> Self {
        let customer = customer(&host, "ada");
        let item = host.post("/v1/items", json!({"name": "Model"})).ok(StatusCode::CREATED);
        let metric = json!({
            "name": "Tokens", "description": null, "item_id": item["id"],
            "sql": "SELECT sum(tokens) FROM events",
        });
        let metric = host.post("/v1/metrics", metric).ok(StatusCode::CREATED);
        let usage = json!({
            "name": "Tokens", "item_id": item["id"], "cadence": "monthly", "model_type": "unit",
            "unit_config": {"unit_amount": "0.5"}, "billable_metric_id": metric["id"],
        });
        let seats = json!({
            "name": "Seats", "item_id": item["id"], "cadence": "monthly", "model_type": "unit",
            "unit_config": {"unit_amount": "10"}, "fixed_price_quantity": 2,
        });
        let plan = json!({
            "name": "Pro", "currency": "EUR", "external_plan_id": "pro", "net_terms": 14,
            "prices": [{"price": usage}, {"price": seats}],
        });
        let plan = host.post("/v1/plans", plan).ok(StatusCode::CREATED);
        let metric_id = metric["id"].as_str().unwrap().to_owned();
        Self { host, customer, plan, metric_id }
    }

    pub(crate) fn subscribe(&self, more: Value) -> Value {
        let now = self.host.billing.now().to_string();
        let mut new =
            json!({"external_customer_id": "ada", "external_plan_id": "pro", "start_date": now});
        for (name, value) in more.as_object().unwrap() {
            new[name] = value.clone();
        }
        self.host.post("/v1/subscriptions", new).ok(StatusCode::CREATED)
    }

    pub(crate) fn use_tokens(&self, key: &str, tokens: u64, model: &str) {
        let event = Event {
            idempotency_key: EventKey::parse(key).unwrap(),
            event_name: EventName::parse("completion").unwrap(),
            timestamp: self.host.billing.now(),
            properties: [
                (PropertyName::parse("tokens").unwrap(), tokens.into()),
                (PropertyName::parse("model").unwrap(), PropertyValue::from(model)),
            ]
            .into_iter()
            .collect(),
            customer: IdOr::External(accrue::ExternalId::parse("ada").unwrap()),
        };
        pollster::block_on(self.host.account().ingest([event])).unwrap();
    }

    pub(crate) fn now(&self, now: &str) {
        self.host.clock.set(Timestamp::parse(now).unwrap());
    }
}

pub(crate) fn customer(host: &Host, external: &str) -> Value {
    let new = json!({
        "name": external, "email": "a@example.com", "external_customer_id": external,
        "timezone": "Europe/Berlin",
    });
    host.post("/v1/customers", new).ok(StatusCode::CREATED)
}

pub(crate) fn path(subscription: &Value, rest: &str) -> String {
    format!("/v1/subscriptions/{}{rest}", subscription["id"].as_str().unwrap())
}

pub(crate) const START: &str = "2026-03-10T12:00:00.000000+00:00";
pub(crate) const MONTH_END: &str = "2026-03-31T22:00:00.000000+00:00";

#[test]
fn wire_5_3_a_subscription_is_answered_whole() {
    let shop = Shop::new();
    let created = shop.subscribe(json!({
        "name": "Ada's", "metadata": {"team": "a"}, "auto_collection": true,
        "auto_issuance": false, "default_invoice_memo": "Hello", "invoicing_threshold": "100.00",
        "currency": "EUR", "external_marketplace": "aws", "trial_duration_days": 0,
        "add_prices": [], "usage_customer_ids": null,
    }));
    let (usage, seats) = (&shop.plan["prices"][0], &shop.plan["prices"][1]);
    let interval = |price: &Value, transitions: Value| {
        let mut intervals = created["price_intervals"].as_array().unwrap().iter();
        let own = intervals.find(|interval| interval["price"]["id"] == price["id"]).unwrap();
        assert_ne!(own["id"], created["price_intervals"][0]["price"]["id"]);
        json!({
            "id": own["id"],
            "price": price,
            "start_date": START,
            "end_date": null,
            "billing_cycle_day": 1,
            "current_billing_period_start_date": START,
            "current_billing_period_end_date": MONTH_END,
            "fixed_fee_quantity_transitions": transitions,
            "can_defer_billing": false,
            "filter": null,
            "usage_customer_ids": null,
            "metric_parameter_overrides": null,
        })
    };
    let transitions = json!([{"effective_date": START, "price_id": seats["id"], "quantity": 2}]);
    let customer_id = shop.customer["id"].as_str().unwrap();
    let customer = shop.host.get(&format!("/v1/customers/{customer_id}")).ok(StatusCode::OK);
    let mut expected = json!({
        "id": created["id"],
        "name": "Ada's",
        "status": "active",
        "created_at": START,
        "start_date": START,
        "end_date": null,
        "current_billing_period_start_date": START,
        "current_billing_period_end_date": MONTH_END,
        "billing_cycle_day": 1,
        "billing_cycle_anchor_configuration": {"day": 1, "month": null, "year": null},
        "customer": customer,
        "plan": shop.plan,
        "price_intervals": [interval(usage, Value::Null), interval(seats, transitions)],
        "fixed_fee_quantity_schedule": [
            {"price_id": seats["id"], "quantity": 2, "start_date": START, "end_date": null},
        ],
        "adjustment_intervals": [],
        "discount_intervals": [],
        "minimum_intervals": [],
        "maximum_intervals": [],
        "auto_collection": true,
        "auto_issuance": false,
        "default_invoice_memo": "Hello",
        "invoicing_threshold": "100.00",
        "net_terms": 14,
        "active_plan_phase_order": null,
        "pending_subscription_change": null,
        "redeemed_coupon": null,
        "trial_info": {"end_date": null},
        "metadata": {"team": "a"},
    });
    assert_eq!(shop.host.get(&path(&created, "")).ok(StatusCode::OK), expected);
    expected["changed_resources"] = Value::Null;
    let mut created = created;
    // The customer's currency is that of the plan from then on.
    created["customer"] = customer;
    assert_eq!(created, expected);
}

#[test]
fn wire_5_3_billing_periods_begin_where_the_request_says() {
    let shop = Shop::new();
    let with = |more: Value| shop.subscribe(more);
    let aligned = with(json!({"align_billing_with_subscription_start_date": true}));
    assert_eq!(aligned["billing_cycle_day"], 10);
    let anchor = json!({"day": 10, "month": null, "year": null});
    assert_eq!(aligned["billing_cycle_anchor_configuration"], anchor);
    let end = "2026-04-10T11:00:00.000000+00:00";
    assert_eq!(aligned["current_billing_period_end_date"], end, "the clocks change");
    let anchored = with(json!({"billing_cycle_anchor_configuration": {"day": 15, "month": 2}}));
    assert_eq!(anchored["billing_cycle_day"], 15);
    let anchor = json!({"day": 15, "month": 2, "year": null});
    assert_eq!(anchored["billing_cycle_anchor_configuration"], anchor);
    let upcoming =
        with(json!({"start_date": "2026-05-01T00:00:00", "end_date": "2026-06-01T00:00:00Z"}));
    assert_eq!(upcoming["status"], "upcoming");
    assert_eq!(upcoming["current_billing_period_start_date"], Value::Null);
    assert_eq!(upcoming["end_date"], "2026-06-01T00:00:00.000000+00:00");
    assert_eq!(upcoming["name"], "Pro", "as its plan");
}

#[test]
fn wire_5_3_one_customer_and_one_plan_are_named() {
    let shop = Shop::new();
    let post = |new: Value| shop.host.post("/v1/subscriptions", new);
    let check = |new: Value, expect: &[&str]| {
        let body = post(new).error(400, "400-request-validation-errors");
        let errors = body["validation_errors"].as_array().unwrap().iter();
        let found = errors.map(|text| text.as_str().unwrap().split(':').next().unwrap());
        assert_eq!(found.collect::<Vec<_>>(), expect, "{body}");
    };
    let (customer, plan) = (&shop.customer["id"], &shop.plan["id"]);
    check(json!({}), &["/customer_id"]);
    let both = json!({
        "customer_id": customer, "external_customer_id": "ada",
        "plan_id": plan, "external_plan_id": "pro",
    });
    check(both, &["/external_customer_id", "/external_plan_id"]);
    let ids = json!({"customer_id": customer, "plan_id": plan});
    let with = |name: &str, value: Value| {
        let mut new = ids.clone();
        new[name] = value;
        new
    };
    check(with("nothing", json!(1)), &["/nothing"]);
    check(with("net_terms", json!(-1)), &["/net_terms"]);
    check(with("trial_duration_days", json!(1_000_000)), &["/trial_duration_days"]);
    let mut twice = with("align_billing_with_subscription_start_date", json!(true));
    twice["billing_cycle_anchor_configuration"] = json!({"day": 1});
    check(twice, &["/billing_cycle_anchor_configuration"]);
    post(with("plan_id", json!("nothing"))).error(404, "404-resource-not-found");
    post(with("plan_version_number", json!(2))).error(404, "404-resource-not-found");
    post(with("currency", json!("USD"))).error(400, "400-constraint-violation");
    post(with("end_date", json!("2026-01-01T00:00:00Z"))).error(400, "400-constraint-violation");
    post(ids.clone()).ok(StatusCode::CREATED);
}

#[test]
fn subscriptions_1_12_a_unit_of_credits_has_a_rate_of_its_own() {
    let shop = Shop::new();
    shop.subscribe(json!({"per_credit_overage_amount": 0.25}));
    let check = |more: Value, expect: &str| {
        let mut new = json!({"external_customer_id": "ada", "external_plan_id": "pro"});
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let refused = shop.host.post("/v1/subscriptions", new);
        let body = refused.error(400, "400-request-validation-errors");
        assert!(body["validation_errors"][0].as_str().unwrap().starts_with(expect), "{body}");
    };
    check(json!({"credits_overage_rate": 0}), "/credits_overage_rate");
    let both = json!({"credits_overage_rate": 1, "per_credit_overage_amount": 1});
    check(both, "/credits_overage_rate");
}

#[test]
fn wire_6_3_subscriptions_are_listed_by_customer_plan_status_and_time() {
    let shop = Shop::new();
    let eve = customer(&shop.host, "eve");
    let first = shop.subscribe(json!({}));
    shop.now("2026-03-11T12:00:00Z");
    let second = shop.subscribe(json!({"external_customer_id": "eve"}));
    shop.now("2026-03-12T12:00:00Z");
    let third = shop.subscribe(json!({"start_date": "2026-04-01T00:00:00Z"}));
    let check = |query: &str, expect: &[&Value]| {
        for list in ["/v1/subscriptions", "/v1/subscriptions/summary"] {
            let found = shop.host.walk(&format!("{list}?limit=1{query}"));
            let ids: Vec<_> = found.iter().map(|row| &row["id"]).collect();
            let expect: Vec<_> = expect.iter().map(|row| &row["id"]).collect();
            assert_eq!(ids, expect, "{list} {query}");
        }
    };
    let (ada_id, eve_id) = (shop.customer["id"].as_str().unwrap(), eve["id"].as_str().unwrap());
    check("", &[&third, &second, &first]);
    check(&format!("&customer_id[]={ada_id}"), &[&third, &first]);
    check(&format!("&customer_id={eve_id}"), &[&second]);
    check(
        &format!("&customer_id%5B%5D={ada_id}&customer_id[]={eve_id}"),
        &[&third, &second, &first],
    );
    check("&external_customer_id[]=eve&external_customer_id[]=nobody", &[&second]);
    check("&external_customer_id=ada&status=active", &[&first]);
    check("&external_plan_id=pro&status=upcoming", &[&third]);
    check("&status[]=upcoming&status[]=ended", &[&third]);
    check(&format!("&plan_id={}", shop.plan["id"].as_str().unwrap()), &[&third, &second, &first]);
    check("&external_plan_id=other", &[]);
    check("&created_at[gte]=2026-03-11T12:00:00Z&created_at[lt]=2026-03-12T12:00:00Z", &[&second]);
    let both = format!(
        "/v1/subscriptions?plan_id={}&external_plan_id=pro",
        shop.plan["id"].as_str().unwrap()
    );
    shop.host.get(&both).error(400, "400-request-validation-errors");
    shop.host.get("/v1/subscriptions?status=old").error(400, "400-request-validation-errors");

    let listed = shop.host.walk("/v1/subscriptions?status=upcoming").remove(0);
    assert_eq!(listed, shop.host.get(&path(&third, "")).ok(StatusCode::OK));
    let summary = shop.host.walk("/v1/subscriptions/summary?status=upcoming").remove(0);
    let expected = json!({
        "id": third["id"],
        "name": "Pro",
        "status": "upcoming",
        "created_at": "2026-03-12T12:00:00.000000+00:00",
        "start_date": "2026-04-01T00:00:00.000000+00:00",
        "end_date": null,
        "customer": {"id": ada_id, "external_customer_id": "ada"},
        "plan": {"id": shop.plan["id"], "external_plan_id": "pro", "name": "Pro"},
        "metadata": {},
    });
    assert_eq!(summary, expected);
}

#[test]
fn wire_5_1_a_subscription_changes() {
    let shop = Shop::new();
    let subscription = shop.subscribe(json!({"metadata": {"a": "1"}, "auto_collection": true}));
    let update = json!({
        "name": "Ada's", "metadata": {"a": null, "b": "2"}, "net_terms": 60,
        "auto_collection": null, "default_invoice_memo": "Hello",
    });
    let after = shop.host.put(&path(&subscription, ""), update).ok(StatusCode::OK);
    let mut expected = shop.host.get(&path(&subscription, "")).ok(StatusCode::OK);
    assert_eq!(after, expected);
    assert_eq!((&after["name"], &after["net_terms"]), (&json!("Ada's"), &json!(60)));
    assert_eq!(after["metadata"], json!({"b": "2"}));
    assert_eq!(after["auto_collection"], false, "as its customer's");
    assert_eq!(after["default_invoice_memo"], "Hello");
    let cleared = json!({"net_terms": null, "name": null, "metadata": null});
    let cleared = shop.host.put(&path(&subscription, ""), cleared).ok(StatusCode::OK);
    expected["net_terms"] = json!(14);
    expected["name"] = json!("Pro");
    expected["metadata"] = json!({});
    assert_eq!(cleared, expected);
    let unchanged = shop.host.put(&path(&subscription, ""), json!({})).ok(StatusCode::OK);
    assert_eq!(unchanged, expected);
    let wrong = json!({"net_terms": "60"});
    let wrong = shop.host.put(&path(&subscription, ""), wrong);
    wrong.error(400, "400-request-validation-errors");
    let nobody = "/v1/subscriptions/nothing";
    shop.host.put(nobody, json!({})).error(404, "404-resource-not-found");
    shop.host.get(nobody).error(404, "404-resource-not-found");
}

#[test]
fn wire_5_1_a_subscription_is_cancelled_and_goes_on() {
    let shop = Shop::new();
    let subscription = shop.subscribe(json!({}));
    let cancel = |body: Value| shop.host.post(&path(&subscription, "/cancel"), body);
    let ended = cancel(json!({"cancel_option": "end_of_subscription_term"})).ok(StatusCode::OK);
    assert_eq!((&ended["end_date"], &ended["status"]), (&json!(MONTH_END), &json!("active")));
    assert_eq!(ended["changed_resources"], Value::Null);
    let undo = || shop.host.post(&path(&subscription, "/unschedule_cancellation"), ());
    let on = undo().ok(StatusCode::OK);
    assert_eq!(on["end_date"], Value::Null);
    undo().error(400, "400-request-validation-errors");
    let date = "2026-03-20T00:00:00.000000+00:00";
    let at = json!({"cancel_option": "requested_date", "cancellation_date": date});
    let at = cancel(at).ok(StatusCode::OK);
    assert_eq!(at["end_date"], date);
    assert_eq!(at["price_intervals"][0]["end_date"], date);
    let dateless = cancel(json!({"cancel_option": "requested_date"}));
    dateless.error(400, "400-request-validation-errors");
    let dated = json!({"cancel_option": "immediate", "cancellation_date": date});
    cancel(dated).error(400, "400-request-validation-errors");
    cancel(json!({})).error(400, "400-request-validation-errors");
    let now = json!({"cancel_option": "immediate", "allow_invoice_credit_or_void": true});
    let now = cancel(now).ok(StatusCode::OK);
    assert_eq!((&now["status"], &now["end_date"]), (&json!("ended"), &json!(START)));
    assert_eq!(now["current_billing_period_start_date"], Value::Null);
    cancel(json!({"cancel_option": "immediate"})).error(400, "400-constraint-violation");
}

#[test]
fn wire_5_1_the_quantity_of_a_fee_changes() {
    let shop = Shop::new();
    let subscription = shop.subscribe(json!({}));
    let seats = &shop.plan["prices"][1]["id"];
    let change = |body: Value| {
        let mut change = json!({"price_id": seats});
        for (name, value) in body.as_object().unwrap() {
            change[name] = value.clone();
        }
        shop.host.post(&path(&subscription, "/update_fixed_fee_quantity"), change)
    };
    let next = json!({"quantity": 5, "change_option": "upcoming_invoice"});
    let next = change(next).ok(StatusCode::OK);
    let entry = |quantity: u32, start: &str, end: Value| json!({"price_id": seats, "quantity": quantity, "start_date": start, "end_date": end});
    let expected = json!([entry(2, START, json!(MONTH_END)), entry(5, MONTH_END, Value::Null)]);
    assert_eq!(next["fixed_fee_quantity_schedule"], expected);
    // A day is one of the customer's zone.
    let day = "2026-03-19T23:00:00.000000+00:00";
    let dated = json!({"quantity": 3.5, "effective_date": "2026-03-20"});
    let dated = change(dated).ok(StatusCode::OK);
    let transitions = &dated["price_intervals"][1]["fixed_fee_quantity_transitions"];
    let expected = json!([
        {"effective_date": START, "price_id": seats, "quantity": 2},
        {"effective_date": day, "price_id": seats, "quantity": 3.5},
        {"effective_date": MONTH_END, "price_id": seats, "quantity": 5},
    ]);
    assert_eq!(transitions, &expected);
    let at = json!({
        "quantity": 4, "change_option": "effective_date",
        "effective_date": "2026-03-25T10:00:00Z",
    });
    change(at).ok(StatusCode::OK);
    let now = change(json!({"quantity": 1})).ok(StatusCode::OK);
    assert_eq!(now["fixed_fee_quantity_schedule"].as_array().unwrap().len(), 4);
    assert_eq!(now["fixed_fee_quantity_schedule"][0]["quantity"], 1);
    for wrong in [
        json!({"quantity": -1}),
        json!({"quantity": "1"}),
        json!({"quantity": 1, "change_option": "effective_date"}),
        json!({"quantity": 1, "change_option": "immediate", "effective_date": "2026-03-20"}),
        json!({"quantity": 1, "effective_date": "someday"}),
    ] {
        change(wrong).error(400, "400-request-validation-errors");
    }
    let usage = json!({"price_id": shop.plan["prices"][0]["id"], "quantity": 1});
    change(usage).error(400, "400-constraint-violation");
}

#[test]
fn subscriptions_3_9_changes_of_quantity_are_unscheduled() {
    let shop = Shop::new();
    let subscription = shop.subscribe(json!({}));
    let seats = json!({"price_id": shop.plan["prices"][1]["id"]});
    let mut next = seats.clone();
    (next["quantity"], next["change_option"]) = (json!(5), json!("upcoming_invoice"));
    let change = path(&subscription, "/update_fixed_fee_quantity");
    shop.host.post(&change, next).ok(StatusCode::OK);
    let unscheduled = path(&subscription, "/unschedule_fixed_fee_quantity_updates");
    let drop = |body: Value| shop.host.post(&unscheduled, body);
    let dropped = drop(seats.clone()).ok(StatusCode::OK);
    assert_eq!(dropped["fixed_fee_quantity_schedule"].as_array().unwrap().len(), 1);
    drop(seats).error(400, "400-request-validation-errors");
    drop(json!({})).error(400, "400-request-validation-errors");
    let usage = json!({"price_id": shop.plan["prices"][0]["id"]});
    drop(usage).error(400, "400-constraint-violation");
}

#[test]
fn s4_5_6_changes_of_a_subscription_replay() {
    let shop = Shop::new();
    let new = json!({"external_customer_id": "ada", "external_plan_id": "pro"});
    let send = || shop.host.keyed("POST", "/v1/subscriptions", "one", new.clone());
    let first = send();
    let subscription = first.ok(StatusCode::CREATED);
    shop.now("2026-03-11T12:00:00Z");
    assert_eq!(send().bytes, first.bytes, "as it stood then");
    let cancel = || {
        let body = json!({"cancel_option": "end_of_subscription_term"});
        shop.host.keyed("POST", &path(&subscription, "/cancel"), "two", body)
    };
    let first = cancel();
    first.ok(StatusCode::OK);
    shop.now("2026-03-11T13:00:00Z");
    assert_eq!(cancel().bytes, first.bytes);
}
