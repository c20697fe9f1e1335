//! Messages as endpoints receive them (invoicing 17, wire 6.8).

use std::collections::{BTreeMap, BTreeSet};

use accrue::{
    ExternalId, IdOr, InvoiceId, InvoicingProvider, PageRequest, PayloadRenderer as _,
    PaymentGateway, TaxProvider,
    account::DueDateBasis,
    customer::{ListedPaymentMethod, ListedPaymentMethods, PaymentMethodType},
    invoice::{
        CreditNoteFilter, PaymentOutcome, StartedPayment, SyncOutcome, SyncRequest, TaxOutcome,
        TaxRequest,
    },
    webhook::PayloadStyle,
};
use async_trait::async_trait;
use http::StatusCode;
use pollster::block_on;
use serde_json::{Value, json};

use crate::{
    backfills::tick,
    invoices::{listed, path, set, shop},
    support::Host,
};

/// Takes nothing, at first.
struct Providers(bool);

#[async_trait]
impl PaymentGateway for Providers {
    async fn charge(&self, payment: &StartedPayment) -> Option<PaymentOutcome> {
        let transaction_id = Some("pi_1".to_owned());
        Some(match self.0 {
            true => PaymentOutcome::Succeeded { received_at: payment.started_at, transaction_id },
            false => PaymentOutcome::Declined { transaction_id },
        })
    }
}

#[async_trait]
impl InvoicingProvider for Providers {
    async fn sync(&self, _: &SyncRequest) -> Option<SyncOutcome> {
        Some(if self.0 { SyncOutcome::Succeeded } else { SyncOutcome::Failed })
    }
}

#[async_trait]
impl TaxProvider for Providers {
    async fn calculate(&self, _: &TaxRequest) -> Option<TaxOutcome> {
        Some(TaxOutcome::Refused { reason: "no such address".to_owned() })
    }
}

/// Takes the messages that wait, in both styles.
pub(crate) fn taken(host: &Host) -> Vec<[Value; 2]> {
    let account = host.account();
    let mut taken = Vec::new();
    loop {
        let messages = block_on(account.list_messages(&PageRequest::default())).unwrap().data;
        if messages.is_empty() {
            return taken;
        }
        for message in &messages {
            let payload = |style| {
                let text = block_on(host.api.render(&account, message, style)).unwrap();
                serde_json::from_str(&text).unwrap()
            };
            taken.push([PayloadStyle::Expanded, PayloadStyle::Standard].map(payload));
        }
        block_on(account.acknowledge(messages.iter().map(|of| of.place))).unwrap();
    }
}

/// Does one thing at least of each kind that the table lists, and returns what is told of it.
fn everything_told() -> Vec<[Value; 2]> {
    let (shop, subscription) = shop();
    let host = &shop.host;
    let account = host.account();
    let post = |path: &str, body: Value| {
        let answer = host.post(path, body);
        assert!(answer.status < 300, "{path}: {answer:?}");
        answer.json()
    };
    let ada = shop.customer["id"].as_str().unwrap();
    let customer = |rest: &str| format!("/v1/customers/{ada}{rest}");
    let mut configuration = block_on(account.configuration()).unwrap();
    configuration.tells_issued_summaries = true;
    block_on(account.configure(configuration.clone()).into_future()).unwrap();
    let first = listed(host, "").remove(0);
    let id = |of: &Value| of["id"].as_str().unwrap().parse::<InvoiceId>().unwrap();

    let plan = "/v1/plans/external_plan_id/pro";
    host.put(plan, json!({"description": "For all"})).ok(StatusCode::OK);
    let price = host.get(plan).ok(StatusCode::OK)["prices"][0]["id"].clone();
    let price = format!("/v1/prices/{}", price.as_str().unwrap());
    host.put(&price, json!({"metadata": {"a": "1"}})).ok(StatusCode::OK);
    let versions = format!("{plan}/versions");
    post(&versions, json!({"version": 2, "set_as_default": true}));
    post(&format!("{plan}/set_default_version"), json!({"version": 1}));

    post(&customer("/balance_transactions"), json!({"amount": "1.00", "type": "increment"}));
    post(&customer("/credits/ledger_entry"), json!({"entry_type": "increment", "amount": 5}));
    host.put(&path(&first, ""), json!({"metadata": {"a": "1"}})).ok(StatusCode::OK);
    let credited = json!({
        "line_items": [{"invoice_line_item_id": first["line_items"][0]["id"], "amount": "1.00"}],
        "reason": "duplicate",
    });
    post("/v1/credit_notes", credited);
    let (filter, page) = (CreditNoteFilter::default(), PageRequest::default());
    let note = block_on(account.list_credit_notes(&filter, &page)).unwrap().data.remove(0);
    block_on(account.void_credit_note(note.id).into_future()).unwrap();
    let received = json!({"payment_received_date": "2026-03-10"});
    post(&path(&first, "/mark_paid"), received);
    block_on(account.undo_mark_invoice_paid(id(&first)).into_future()).unwrap();
    post(&path(&first, "/void"), json!({}));
    let coupon = json!({
        "redemption_code": "SPRING",
        "discount": {"discount_type": "percentage", "percentage_discount": 0.1},
    });
    let coupon = post("/v1/coupons", coupon)["id"].clone();
    let of = subscription["id"].as_str().unwrap();
    let redeem = json!({"coupon_id": coupon, "change_option": "end_of_subscription_term"});
    post(&format!("/v1/subscriptions/{of}/redeem_coupon"), redeem);

    // An attempt that fails begins a schedule, whose first retry succeeds.
    let pays = json!({
        "auto_collection": true, "payment_provider": "stripe_charge", "payment_provider_id": "cus_1",
        "payment_configuration": {"payment_providers": [{
            "provider_type": "stripe", "default_shared_payment_token": "token",
        }]},
    });
    host.put(&customer(""), pays).ok(StatusCode::OK);
    let threshold = json!({
        "external_customer_id": "ada", "external_plan_id": "pro", "invoicing_threshold": "0.01",
    });
    post("/v1/subscriptions", threshold);
    let ingest = |day: &str| {
        let event = json!({
            "event_name": "tokens", "idempotency_key": day, "external_customer_id": "ada",
            "timestamp": format!("2026-{day}T00:00:00Z"), "properties": {"tokens": 1_000},
        });
        post("/v1/ingest", json!({"events": [event]}));
    };
    ingest("03-10");
    set(host, "2026-04-20T00:00:00Z");
    block_on(account.collect_payments(&Providers(false))).unwrap();
    // A note pays one of them in full; it is taken back, and another schedule begins.
    let open = listed(host, "?status[]=issued");
    let declined = open.iter().find(|of| !of["payment_failed_at"].is_null()).unwrap();
    let mut lines = declined["line_items"].as_array().unwrap().clone();
    lines.retain(|line| line["amount"] != "0.00");
    let whole = |of: &Value| json!({"invoice_line_item_id": of["id"], "amount": of["amount"]});
    let lines: Vec<_> = lines.iter().map(whole).collect();
    post("/v1/credit_notes", json!({"line_items": lines, "reason": "order_change"}));
    let note = block_on(account.list_credit_notes(&filter, &page)).unwrap().data.remove(0);
    block_on(account.void_credit_note(note.id).into_future()).unwrap();
    tick(host);
    block_on(account.collect_payments(&Providers(false))).unwrap();
    set(host, "2026-04-21T12:00:00Z");
    block_on(account.collect_payments(&Providers(true))).unwrap();

    // Due dates of what is left open are counted from another day.
    configuration.due_date_basis = DueDateBasis::IssueDate;
    block_on(account.configure(configuration.clone()).into_future()).unwrap();
    block_on(account.recalculate_due_dates().into_future()).unwrap();
    block_on(account.recalculate_due_dates().into_future()).unwrap();
    set(host, "2026-04-21T12:00:01Z");

    let card = |id: &str| ListedPaymentMethod {
        external_id: ExternalId::parse(id).unwrap(),
        method_type: PaymentMethodType::Card,
        is_default: true,
    };
    for methods in [vec![card("pm_1")], Vec::new()] {
        let of: IdOr<_> = ExternalId::parse("ada").unwrap().into();
        let of = block_on(account.gateway_account(of)).unwrap();
        let listed = ListedPaymentMethods::new(of, methods).unwrap();
        block_on(account.sync_payment_methods(listed).into_future()).unwrap();
    }

    let books = json!({"payment_provider": "quickbooks", "payment_provider_id": "1"});
    host.put(&customer(""), books).ok(StatusCode::OK);
    set(host, "2026-05-03T00:00:00Z");
    block_on(account.sync_invoices(&Providers(false))).unwrap();
    set(host, "2026-05-03T02:00:00Z");
    block_on(account.sync_invoices(&Providers(true))).unwrap();

    configuration.calculates_taxes = true;
    block_on(account.configure(configuration).into_future()).unwrap();
    set(host, "2026-06-02T00:00:00Z");
    block_on(account.calculate_taxes(&Providers(false))).unwrap();
    taken(host)
}

/// Replaces ids by a word: they are what entropy makes of them.
fn masked(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() == 36 && text.split('-').count() == 5 => json!("ID"),
        Value::Array(values) => values.iter().map(masked).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), masked(value))).collect()
        }
        other => other.clone(),
    }
}

/// What the first message of each type tells beside its resource. `BLESS=1` writes it.
#[test]
fn invoicing_17_1_what_each_tells() {
    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/messages.json");
    let mut found = BTreeMap::new();
    for [payload, _] in everything_told() {
        let kind = payload["type"].as_str().unwrap().to_owned();
        found.entry(kind).or_insert_with(|| masked(&payload["properties"]));
    }
    let found = serde_json::to_string_pretty(&found).unwrap() + "\n";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PATH, &found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(PATH).unwrap());
}

/// The rows of the table that messages are sent of: the resource, and what is told beside it.
const TABLE: [(&str, &str, &str); 35] = [
    ("credit_note.issued", "credit_note", ""),
    ("credit_note.marked_as_void", "credit_note", ""),
    ("customer.balance_transaction_created", "customer", "balance_transaction"),
    ("customer.credit_ledger_incremented", "customer", "block pricing_unit"),
    ("invoice.dunning_schedule_created", "invoice", "dunning_schedule dunning_steps source"),
    ("invoice.dunning_schedule_ended", "invoice", "dunning_schedule dunning_steps"),
    ("invoice.dunning_schedule_reset", "invoice", "dunning_schedule previous_schedule"),
    ("invoice.dunning_schedule_step_executed", "invoice", "dunning_step"),
    ("invoice.edited", "invoice", "previous_attributes"),
    ("invoice.invoice_date_elapsed", "invoice", "invoice_date"),
    ("invoice.issue_failed", "invoice", "reason"),
    ("invoice.issued", "invoice", "automatically_marked_as_paid"),
    ("invoice.issued_summary", "invoice", "automatically_marked_as_paid"),
    ("invoice.manually_marked_as_paid", "invoice", "external_id notes payment_received_date"),
    ("invoice.manually_marked_as_void", "invoice", ""),
    (
        "invoice.payment_failed",
        "invoice",
        "payment_provider payment_provider_id payment_provider_transaction_id",
    ),
    ("invoice.payment_processing", "invoice", "payment_provider payment_provider_id"),
    (
        "invoice.payment_succeeded",
        "invoice",
        "payment_provider payment_provider_id payment_provider_transaction_id shared_payment_token_id",
    ),
    ("invoice.sync_failed", "invoice", "payment_provider payment_provider_id"),
    ("invoice.sync_succeeded", "invoice", "payment_provider payment_provider_id"),
    ("invoice.undo_mark_as_paid", "invoice", ""),
    ("invoice_due_date_recalculation.canceled", "", "canceled_at started_at"),
    ("invoice_due_date_recalculation.completed", "", "completed_at started_at"),
    ("invoice_due_date_recalculation.started", "", "started_at"),
    ("payment_method.created", "payment_method", ""),
    ("payment_method.deleted", "payment_method", ""),
    ("plan.created", "plan", ""),
    (
        "plan.default_version_set",
        "plan",
        "new_default_version_number previous_default_version_number",
    ),
    ("plan.edited", "plan", "previous_attributes"),
    ("plan.version_created", "plan", "plan_version_description plan_version_number"),
    ("price.edited", "price", "previous_attributes"),
    ("subscription.created", "subscription", ""),
    ("subscription.edited", "subscription", "previous_attributes"),
    (
        "subscription.invoicing_threshold_exceeded",
        "subscription",
        "evaluated_amount invoice_id invoicing_threshold threshold_invoice_created",
    ),
    ("subscription.started", "subscription", ""),
];

fn keys(object: &Value) -> BTreeSet<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn invoicing_17_1_which_operation_causes_which() {
    let envelope = ["id", "created_at", "type", "payload_style", "properties"];
    let mut found = BTreeMap::new();
    let told = everything_told();
    for [payload, _] in &told {
        let about: Vec<_> = keys(payload).into_iter().filter(|of| !envelope.contains(of)).collect();
        let properties = Vec::from_iter(keys(&payload["properties"]));
        found.insert(payload["type"].as_str().unwrap(), (about.join(" "), properties.join(" ")));
    }
    for (kind, about, properties) in TABLE {
        let row = found.remove(kind).unwrap_or_else(|| panic!("nothing is told by {kind}"));
        assert_eq!(row, (about.to_owned(), properties.to_owned()), "{kind}");
    }
    let others = ["customer.created", "customer.edited"];
    assert_eq!(Vec::from_iter(found.into_keys()), others);
}

#[test]
fn invoicing_17_2_the_shape_of_what_a_message_is_about() {
    let told = everything_told();
    let of = |kind: &str| told.iter().find(|[payload, _]| payload["type"] == kind).unwrap();
    let minified = BTreeSet::from(["customer", "id", "invoice_number", "status", "subscription"]);
    for payload in of("invoice.invoice_date_elapsed") {
        assert_eq!(keys(&payload["invoice"]), minified);
    }
    let small = BTreeSet::from(["customer", "end_date", "id", "plan", "start_date", "status"]);
    for payload in of("subscription.invoicing_threshold_exceeded") {
        assert_eq!(keys(&payload["subscription"]), small);
        assert_eq!(payload["properties"]["invoicing_threshold"], "0.01");
    }
    let [whole, summary] = of("invoice.issued");
    assert_eq!(whole["payload_style"], "expanded");
    assert_eq!(summary["payload_style"], "standard");
    assert_eq!(whole["created_at"], "2026-03-10T12:00:00+00:00");
    let left_out = [
        "discount",
        "discounts",
        "hidden_line_item_count",
        "line_items",
        "maximum",
        "maximum_amount",
        "minimum",
        "minimum_amount",
        "subtotal",
    ];
    let (whole, summary) = (&whole["invoice"], &summary["invoice"]);
    let missing: Vec<_> = keys(whole).difference(&keys(summary)).copied().collect();
    assert_eq!(missing, left_out);
    assert!(keys(summary).is_subset(&keys(whole)));
    for payload in of("invoice.issued_summary") {
        assert_eq!(keys(&payload["invoice"]), keys(summary));
    }
    for (kind, resource) in [
        ("credit_note.issued", "credit_note"),
        ("customer.balance_transaction_created", "customer"),
        ("payment_method.created", "payment_method"),
    ] {
        let [whole, standard] = of(kind);
        assert_eq!(whole[resource], standard[resource], "{kind}");
    }
    let names = BTreeSet::from(["external_plan_id", "id", "name"]);
    for kind in ["plan.created", "plan.default_version_set", "plan.version_created"] {
        assert!(of(kind).iter().all(|payload| keys(&payload["plan"]) == names), "{kind}");
    }
    let [whole, standard] = of("plan.edited");
    assert!(whole["plan"]["prices"].is_array());
    assert_eq!(standard["plan"], whole["plan"], "as the published types have it");
    let previous = &whole["properties"]["previous_attributes"];
    assert_eq!(previous, &json!({"description": null}));
    let [incremented, _] = of("customer.credit_ledger_incremented");
    let properties = &incremented["properties"];
    assert_eq!(properties["block"]["balance"], "5");
    assert_eq!(properties["block"]["maximum_initial_balance"], "5");
    let credits = json!({"id": "credits", "name": "credits", "symbol": null, "display_name": null});
    assert_eq!(properties["pricing_unit"], credits);
    let edited = told.iter().filter(|[payload, _]| payload["type"] == "invoice.edited");
    let previous: Vec<_> =
        edited.map(|[payload, _]| &payload["properties"]["previous_attributes"]).collect();
    assert_eq!(previous[0], &json!({"metadata": {}}));
    assert!(previous[1]["due_date"].is_string(), "{previous:?}");
}

#[test]
fn invoicing_17_2_a_draft_that_is_gone_is_not_its_customer() {
    let (shop, subscription) = shop();
    set(&shop.host, "2026-04-01T12:00:00Z");
    let of = subscription["id"].as_str().unwrap();
    let past = json!({
        "cancel_option": "requested_date", "cancellation_date": "2026-03-20T00:00:00Z",
    });
    shop.host.post(&format!("/v1/subscriptions/{of}/cancel"), past).ok(StatusCode::OK);
    let told = taken(&shop.host);
    let elapsed = |of: &&[Value; 2]| of[0]["type"] == "invoice.invoice_date_elapsed";
    let about: Vec<_> = told.iter().filter(elapsed).map(|[of, _]| keys(of)).collect();
    assert!(about.iter().all(|keys| !keys.contains("customer")), "{about:?}");
    assert!(about.iter().any(|keys| !keys.contains("invoice")), "{about:?}");
}

#[test]
fn invoicing_17_2_lines_are_told_as_they_were() {
    let (shop, _) = shop();
    let host = &shop.host;
    let item = host.item("Work");
    let line = json!({
        "start_date": "2026-03-01", "end_date": "2026-03-10", "quantity": 1, "name": "Days",
        "item_id": item, "model_type": "unit", "unit_config": {"unit_amount": "20.00"},
    });
    let new = json!({
        "external_customer_id": "ada", "currency": "EUR", "invoice_date": "2026-03-09",
        "line_items": [line],
        "discount": {
            "discount_type": "amount", "amount_discount": "3.00",
            "filters": [{"field": "item_id", "operator": "includes", "values": [item]}],
        },
    });
    let one = host.post("/v1/invoices", new).ok(StatusCode::CREATED);
    taken(host);
    let fetched = || host.get(&path(&one, "")).ok(StatusCode::OK);
    let previous = || {
        let mut told = taken(host);
        assert_eq!(told.len(), 1, "{told:?}");
        told.remove(0).map(|mut of| of["properties"]["previous_attributes"].take())
    };
    let figures = ["amount_due", "discounts", "line_items", "subtotal", "total"];
    let before = |invoice: &Value| json!(figures.map(|name| &invoice[name]));

    // Another line takes a share of the discount.
    let body = json!({
        "invoice_id": one["id"], "start_date": "2026-03-01", "end_date": "2026-03-10", "quantity": 1,
        "item_id": item, "amount": "10.00",
    });
    let added = host.post("/v1/invoice_line_items", body).ok(StatusCode::CREATED);
    let two = fetched();
    assert_eq!(two["line_items"][0]["amount"], "18.00");
    let [whole, standard] = previous();
    assert_eq!((before(&whole), Vec::from_iter(keys(&whole))), (before(&one), figures.to_vec()));
    assert_eq!(standard, whole);

    for removed in [&one["line_items"][0]["id"], &added["id"]] {
        let (invoice, removed) = (fetched(), removed.as_str().unwrap());
        let line = path(&one, &format!("/invoice_line_items/{removed}"));
        assert_eq!(host.call("DELETE", &line, ()).status, StatusCode::NO_CONTENT);
        let [whole, _] = previous();
        assert_eq!(
            (before(&whole), Vec::from_iter(keys(&whole))),
            (before(&invoice), figures.to_vec())
        );
    }
    assert_eq!(fetched()["line_items"], json!([]));
}

#[test]
fn invoicing_21_a_message_of_the_account_has_no_resource() {
    let (shop, _) = shop();
    let (host, account) = (&shop.host, shop.host.account());
    set(host, "2026-05-04T09:58:00Z");
    let mut configuration = block_on(account.configuration()).unwrap();
    configuration.due_date_basis = DueDateBasis::IssueDate;
    block_on(account.configure(configuration).into_future()).unwrap();
    block_on(account.recalculate_due_dates().into_future()).unwrap();
    host.clock.set(accrue::Timestamp::parse("2026-05-04T10:00:00Z").unwrap());
    block_on(account.cancel_due_date_recalculation().into_future()).unwrap();
    let told = taken(host);
    let [canceled, _] =
        told.iter().find(|[of, _]| of["type"].as_str().unwrap().ends_with("canceled")).unwrap();
    let expected = json!({
        "id": canceled["id"], "created_at": "2026-05-04T10:00:00+00:00",
        "type": "invoice_due_date_recalculation.canceled", "payload_style": "expanded",
        "properties": {
            "started_at": "2026-05-04T09:58:00.000000+00:00",
            "canceled_at": "2026-05-04T10:00:00.000000+00:00",
        },
    });
    assert_eq!(canceled, &expected);
}
