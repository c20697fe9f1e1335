//! Changes of subscriptions that wait to be applied, over HTTP (subscriptions 4).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    invoices::{set, shop},
    subscriptions::{Shop, path},
    support::{Answer, Host, request},
};

const CHANGES: &str = "/v1/subscription_changes";
const WAITS: (&str, &str) = ("create-pending-subscription-change", "True");

fn send(host: &Host, method: &str, path: &str, body: Value, headers: &[(&str, &str)]) -> Answer {
    host.send(request(method, path, body.into(), headers))
}

fn stage(host: &Host, path: &str, body: Value) -> Answer {
    send(host, "POST", path, body, &[WAITS])
}

fn pending(shown: &Value) -> &str {
    shown["pending_subscription_change"]["id"].as_str().unwrap()
}

fn of(id: &str, rest: &str) -> String {
    format!("{CHANGES}/{id}{rest}")
}

fn create() -> Value {
    json!({"external_customer_id": "ada", "external_plan_id": "pro"})
}

fn seats(shop: &Shop, quantity: u32) -> Value {
    json!({"price_id": shop.plan["prices"][1]["id"], "quantity": quantity})
}

/// Stages five seats, in the middle of March.
fn staged(shop: &Shop, subscription: &Value) -> Value {
    set(&shop.host, "2026-03-12T00:00:00Z");
    let change = path(subscription, "/update_fixed_fee_quantity");
    stage(&shop.host, &change, seats(shop, 5)).ok(StatusCode::OK)
}

#[test]
fn subscriptions_4_1_a_creation_waits() {
    let (shop, _) = shop();
    let host = &shop.host;
    let answer = stage(host, "/v1/subscriptions", create()).ok(StatusCode::CREATED);
    let id = answer["id"].as_str().unwrap();
    assert_eq!(answer["changed_resources"]["voided_invoices"], json!([]));
    host.get(&path(&answer, "")).error(404, "404-resource-not-found");
    assert_eq!(host.walk("/v1/subscriptions").len(), 1);

    let listed = host.walk(CHANGES);
    let expect = json!([{
        "id": pending(&answer), "status": "pending", "subscription_id": null,
        "expiration_time": "2026-03-11T12:00:00.000000+00:00",
        "applied_at": null, "cancelled_at": null,
    }]);
    assert_eq!(json!(listed), expect);
    let shown = host.get(&of(pending(&answer), "")).ok(StatusCode::OK);
    assert_eq!(shown["change_type"], "create_subscription");
    assert_eq!(shown["plan_id"], shop.plan["id"]);
    assert_eq!(shown["subscription"]["id"], answer["id"]);
    // Ids of invoices are those of previews, and differ.
    let payable = |of: &Value| {
        let created = of["changed_resources"]["created_invoices"].as_array().unwrap().iter();
        let shown = created.map(|of| (of["is_payable_now"].clone(), of["amount_due"].clone()));
        shown.collect::<Vec<_>>()
    };
    let expect = [(json!(true), json!("14.19")), (json!(false), json!("20.00"))];
    assert_eq!(payable(&answer), expect);
    assert_eq!(payable(&shown["subscription"]), expect);
    assert_eq!(pending(&shown["subscription"]), pending(&answer));
    assert_eq!(
        (&shown["change_option"], &shown["billing_cycle_alignment"]),
        (&json!(null), &json!(null))
    );

    let applied = host.post(&of(pending(&answer), "/apply"), ()).ok(StatusCode::OK);
    assert_eq!(
        (&applied["status"], &applied["subscription"]["id"]),
        (&json!("applied"), &json!(id))
    );
    assert_eq!(applied["applied_at"], "2026-03-10T12:00:00.000000+00:00");
    assert_eq!(applied["subscription"]["pending_subscription_change"], json!(null));
    assert_eq!(host.get(&path(&answer, "")).ok(StatusCode::OK)["id"], id);
    assert_eq!(host.walk(CHANGES)[0]["subscription_id"], id);
}

#[test]
fn subscriptions_4_1_another_quantity_waits() {
    let (shop, subscription) = shop();
    let host = &shop.host;
    let answer = staged(&shop, &subscription);
    let created = answer["changed_resources"]["created_invoices"].as_array().unwrap();
    assert_eq!(created[0]["is_payable_now"], true);
    assert_eq!(answer["fixed_fee_quantity_schedule"].as_array().unwrap().len(), 2);
    for list in ["/v1/subscriptions".to_owned(), path(&subscription, "")] {
        let shown = host.get(&list).ok(StatusCode::OK);
        let shown = shown.get("data").map_or(&shown, |data| &data[0]);
        assert_eq!(pending(shown), pending(&answer));
        assert_eq!(shown["fixed_fee_quantity_schedule"].as_array().unwrap().len(), 1);
    }
    let update = send(host, "PUT", &path(&subscription, ""), json!({"name": "x"}), &[]);
    update.error(400, "400-constraint-violation");
    let again = stage(host, &path(&subscription, "/update_fixed_fee_quantity"), seats(&shop, 7));
    again.error(400, "400-constraint-violation");
    let cancelled = host.post(&of(pending(&answer), "/cancel"), ()).ok(StatusCode::OK);
    assert_eq!(
        (&cancelled["status"], &cancelled["change_type"]),
        (&json!("cancelled"), &json!("update_fixed_fee_quantity"))
    );
    assert_eq!(cancelled["cancelled_at"], "2026-03-12T00:00:00.000000+00:00");
    assert_eq!(cancelled["subscription"]["id"], subscription["id"], "the unchanged one");
    assert_eq!(cancelled["subscription"]["pending_subscription_change"], json!(null));
    for ended in ["/apply", "/cancel"] {
        host.post(&of(pending(&answer), ended), ()).error(400, "400-constraint-violation");
    }
}

#[test]
fn subscriptions_4_1_only_payable_invoices_are_answered_where_these_are_asked_for() {
    let (shop, subscription) = shop();
    set(&shop.host, "2026-03-12T00:00:00Z");
    let change = path(&subscription, "/update_fixed_fee_quantity");
    let headers = [WAITS, ("include-changed-resources", "payable_invoices")];
    let answer = send(&shop.host, "POST", &change, seats(&shop, 5), &headers).ok(StatusCode::OK);
    let created = answer["changed_resources"]["created_invoices"].as_array().unwrap();
    assert!(created.iter().all(|of| of["is_payable_now"] == true) && !created.is_empty());
}

#[test]
fn subscriptions_4_1_what_takes_effect_at_once_cannot_wait() {
    let (shop, subscription) = shop();
    let check = |method: &str, rest: &str, body: Value| {
        let refused = send(&shop.host, method, &path(&subscription, rest), body, &[WAITS]);
        let problem = refused.error(400, "400-request-validation-errors");
        let found = problem["validation_errors"][0].as_str().unwrap();
        assert!(found.starts_with("/Create-Pending-Subscription-Change: "), "{found}");
    };
    check("PUT", "", json!({"name": "other"}));
    check("POST", "/cancel", json!({"cancel_option": "immediate"}));
    check("POST", "/unschedule_cancellation", json!({}));
    let fee = json!({"price_id": shop.plan["prices"][1]["id"]});
    check("POST", "/unschedule_fixed_fee_quantity_updates", fee);
    check(
        "POST",
        "/redeem_coupon",
        json!({"coupon_id": shop.plan["id"], "change_option": "immediate"}),
    );
    assert_eq!(shop.host.walk(CHANGES), Vec::<Value>::new());
}

#[test]
fn subscriptions_4_1_the_header_is_true_or_false() {
    let shop = Shop::new();
    let ask = |value: &str| {
        let header = [("create-pending-subscription-change", value)];
        send(&shop.host, "POST", "/v1/subscriptions", create(), &header)
    };
    for yes in ["true", "TRUE", "True"] {
        pending(&ask(yes).ok(StatusCode::CREATED));
    }
    for wrong in ["", "1", "yes"] {
        ask(wrong).error(400, "400-request-validation-errors");
    }
    assert_eq!(shop.host.walk("/v1/subscriptions"), Vec::<Value>::new());
    let created = ask("false").ok(StatusCode::CREATED);
    assert_eq!(created["pending_subscription_change"], json!(null));
    assert_eq!(shop.host.walk(CHANGES).len(), 3);
}

#[test]
fn subscriptions_4_2_an_expired_change_is_cancelled() {
    let (shop, _) = shop();
    let answer = stage(&shop.host, "/v1/subscriptions", create()).ok(StatusCode::CREATED);
    shop.now("2026-03-11T12:00:00Z");
    let shown = shop.host.get(&of(pending(&answer), "")).ok(StatusCode::OK);
    assert_eq!(shown["status"], "cancelled");
    assert_eq!(
        (&shown["cancelled_at"], &shown["subscription"]),
        (&shown["expiration_time"], &json!(null))
    );
    shop.host.post(&of(pending(&answer), "/apply"), ()).error(400, "400-constraint-violation");
}

#[test]
fn subscriptions_4_5_changes_are_listed_by_customer_and_status() {
    let (shop, subscription) = shop();
    let host = &shop.host;
    let first = staged(&shop, &subscription);
    host.clock.advance(std::time::Duration::from_secs(1));
    let second = stage(host, "/v1/subscriptions", create()).ok(StatusCode::CREATED);
    host.post(&of(pending(&first), "/apply"), json!({})).ok(StatusCode::OK);
    let check = |query: &str, expect: &[&Value]| {
        let found = host.walk(&format!("{CHANGES}?limit=1{query}"));
        let ids: Vec<_> = found.iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids, expect.iter().map(|of| pending(of)).collect::<Vec<_>>(), "{query}");
    };
    let ada = shop.customer["id"].as_str().unwrap();
    check("", &[&second, &first]);
    check("&status=applied", &[&first]);
    check("&status=pending", &[&second]);
    check("&status=cancelled", &[]);
    check(&format!("&customer_id={ada}&status=pending"), &[&second]);
    check("&external_customer_id=ada", &[&second, &first]);
    check(&format!("&customer_id={ada}&external_customer_id=eve"), &[]);
    check("&customer_id=nobody", &[]);
    host.get(&format!("{CHANGES}?status=canceled")).error(400, "400-request-validation-errors");
    host.get(&of("nothing", "")).error(404, "404-resource-not-found");
}

#[test]
fn subscriptions_4_6_7_and_8_what_was_paid_is_said_with_it() {
    let (shop, subscription) = shop();
    let host = &shop.host;
    let answer = staged(&shop, &subscription);
    let apply = of(pending(&answer), "/apply");
    for wrong in [
        json!({"payment_notes": "cash"}),
        json!({"payment_external_id": "till", "mark_as_paid": false}),
        json!({"payment_received_date": "2026-03-11"}),
        json!({"previously_collected_amount": "-1"}),
        json!({"previously_collected_amount": "1.005"}),
        json!({"paid": true}),
    ] {
        host.post(&apply, wrong).error(400, "400-request-validation-errors");
    }
    assert_eq!(host.get(&of(pending(&answer), "")).ok(StatusCode::OK)["status"], "pending");
    let paid = json!({
        "previously_collected_amount": "50.00", "mark_as_paid": true, "description": "till",
        "payment_received_date": "2026-03-11", "payment_external_id": "7", "payment_notes": null,
    });
    let applied = host.post(&apply, paid).ok(StatusCode::OK);
    let created = &applied["subscription"]["changed_resources"]["created_invoices"];
    assert_eq!(created[0]["status"], "paid");
    // Midnight of the customer.
    assert_eq!(created[0]["payment_received_at"], "2026-03-10T23:00:00.000000+00:00");
    let due: f64 = created[0]["amount_due"].as_str().unwrap().parse().unwrap();
    let ada = shop.customer["id"].as_str().unwrap();
    let moved = host.walk(&format!("/v1/customers/{ada}/balance_transactions"));
    assert_eq!(
        (&moved[0]["action"], &moved[0]["description"]),
        (&json!("external_payment"), &json!("till"))
    );
    let moved: f64 = moved[0]["amount"].as_str().unwrap().parse().unwrap();
    assert!((moved - (50.0 - due)).abs() < 1e-9, "{moved} of {due}");
}

#[test]
fn subscriptions_4_6_keys_tell_what_waits_from_what_does_not() {
    let shop = Shop::new();
    let host = &shop.host;
    let headers = [WAITS, ("idempotency-key", "one")];
    let ask = |headers: &[_]| send(host, "POST", "/v1/subscriptions", create(), headers);
    let first = ask(&headers);
    let id = pending(&first.ok(StatusCode::CREATED)).to_owned();
    ask(&headers).replays(&first);
    assert_eq!(host.walk(CHANGES).len(), 1);
    ask(&headers[1..]).is_reused();
    let apply = || send(host, "POST", &of(&id, "/apply"), json!({}), &[("idempotency-key", "two")]);
    let first = apply();
    first.ok(StatusCode::OK);
    apply().replays(&first);
    assert_eq!(host.walk("/v1/subscriptions").len(), 1);
    let dry = send(host, "POST", &of(&id, "/cancel"), json!({}), &[("dry-run", "True")]);
    dry.error(400, "400-constraint-violation");
}
