//! Which fields of an invoice are set in which state (invoicing 4.2).

use accrue::{
    InvoicingProvider,
    invoice::{SyncOutcome, SyncRequest},
};
use http::StatusCode;
use pollster::block_on;
use serde_json::{Value, json};

use crate::invoices::{listed, path, set, shop};

/// Fields that are set in some states.
const FIELDS: [&str; 9] = [
    "/eligible_to_issue_at",
    "/scheduled_issue_at",
    "/will_auto_issue",
    "/due_date",
    "/issued_at",
    "/paid_at",
    "/voided_at",
    "/auto_collection/next_attempt_at",
    "/sync_failed_at",
];

/// Fails at first, and then takes what it is asked for.
struct Books;

#[async_trait::async_trait]
impl InvoicingProvider for Books {
    async fn sync(&self, request: &SyncRequest) -> Option<SyncOutcome> {
        Some(match request.invoice.sync_failed_at {
            Some(_) => SyncOutcome::Succeeded,
            None => SyncOutcome::Failed,
        })
    }
}

/// Returns the fields that are set, or true.
fn fields(invoice: &Value) -> Vec<&'static str> {
    let is_set = |name: &&str| {
        let value = invoice.pointer(name).unwrap();
        !value.is_null() && *value != json!(false)
    };
    FIELDS.into_iter().filter(is_set).collect()
}

#[test]
fn invoicing_4_2_which_fields_are_set_in_which_state() {
    let (shop, _) = shop();
    let host = &shop.host;
    let ada = format!("/v1/customers/{}", shop.customer["id"].as_str().unwrap());
    let pays_through = |provider: &str, id: &str| {
        let body = json!({
            "payment_provider": provider, "payment_provider_id": id, "auto_collection": true,
        });
        host.put(&ada, body).ok(StatusCode::OK);
    };
    let newest = |status: &str| listed(host, &format!("?status[]={status}")).remove(0);
    pays_through("stripe_charge", "cus_1");
    set(host, "2026-05-02T00:00:00Z");

    let draft = newest("draft");
    let by_itself = ["/eligible_to_issue_at", "/scheduled_issue_at", "/will_auto_issue"];
    assert_eq!(fields(&draft), by_itself);
    let issued = newest("issued");
    assert_eq!(fields(&issued), ["/due_date", "/issued_at", "/auto_collection/next_attempt_at"]);
    let paid = json!({"payment_received_date": "2026-05-02"});
    let paid = host.post(&path(&issued, "/mark_paid"), paid).ok(StatusCode::OK);
    assert_eq!(fields(&paid), ["/due_date", "/issued_at", "/paid_at"]);
    let void = host.post(&path(&newest("issued"), "/void"), json!({})).ok(StatusCode::OK);
    assert_eq!(fields(&void), ["/due_date", "/issued_at", "/voided_at"]);

    pays_through("netsuite", "ns_1");
    set(host, "2026-06-02T00:00:00Z");
    let waiting = newest("issued");
    assert_eq!(fields(&waiting), ["/due_date", "/issued_at"]);
    assert_eq!(block_on(host.account().sync_invoices(&Books)).unwrap(), 0);
    assert_eq!(fields(&newest("issued")), ["/due_date", "/issued_at", "/sync_failed_at"]);
    set(host, "2026-06-02T01:00:00Z");
    assert_eq!(block_on(host.account().sync_invoices(&Books)).unwrap(), 1);
    let synced = newest("synced");
    assert_eq!(synced["id"], waiting["id"]);
    assert_eq!(fields(&synced), ["/due_date", "/issued_at", "/sync_failed_at"]);

    let by_hand = shop.subscribe(json!({"auto_issuance": false}));
    let query = format!("?status[]=draft&subscription_id={}", by_hand["id"].as_str().unwrap());
    let draft = listed(host, &query).pop().unwrap();
    assert_eq!(fields(&draft), ["/eligible_to_issue_at"]);
}
