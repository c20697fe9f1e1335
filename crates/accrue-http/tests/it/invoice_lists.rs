//! Lists of invoices, and their changes, over HTTP (invoicing 9.2, 9.3, 9.4).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    invoices::{APRIL, PATH, listed, path, set, shop, upcoming},
    subscriptions::{Shop, customer},
};

#[test]
fn invoicing_9_3_lines_of_quantity_zero_are_left_out_where_asked_for() {
    let (shop, subscription) = shop();
    let draft = upcoming(&shop.host, &subscription);
    let lines = |of: &Value| of["line_items"].as_array().unwrap().len();
    assert_eq!((lines(&draft), &draft["hidden_line_item_count"]), (2, &json!(0)));
    let fetched = |query: &str| shop.host.get(&path(&draft, query)).ok(StatusCode::OK);
    let fewer = fetched("?include_zero_quantity_line_items=false");
    assert_eq!((lines(&fewer), &fewer["hidden_line_item_count"]), (1, &json!(1)));
    assert_eq!(fewer["total"], draft["total"], "figures stay");
    let every = fetched("?include_zero_quantity_line_items=true");
    assert_eq!((&every, lines(&every)), (&fetched(""), 2));
    let of_list = |query: &str| listed(&shop.host, &format!("?status[]=draft{query}")).remove(0);
    assert_eq!(of_list("&include_zero_quantity_line_items=false"), fewer);
    assert_eq!(of_list("&include_zero_quantity_line_items=true"), every);
    assert_eq!(of_list(""), every);
    shop.host
        .get(&format!("{PATH}?include_zero_quantity_line_items=1"))
        .error(400, "400-request-validation-errors");
}

#[test]
fn invoicing_9_3_a_line_with_a_minimum_of_its_own_is_always_shown() {
    let (shop, _) = shop();
    let usage = |prices: Value, over: bool| {
        json!({"adjustment": {
            "adjustment_type": "minimum", "minimum_amount": "4", "is_invoice_level": over,
            "item_id": shop.plan["prices"][0]["item"]["id"], "applies_to_price_ids": prices,
        }})
    };
    let usage_id = shop.plan["prices"][0]["id"].clone();
    let shown = |adjustment: Value| {
        let subscription = shop.subscribe(json!({"add_adjustments": [adjustment]}));
        let draft = upcoming(&shop.host, &subscription);
        let fewer = path(&draft, "?include_zero_quantity_line_items=false");
        let fewer = shop.host.get(&fewer).ok(StatusCode::OK);
        let used = fewer["line_items"].as_array().unwrap().iter().filter(|of| of["quantity"] == 0);
        (
            used.map(|of| of["amount"].clone()).collect::<Vec<_>>(),
            fewer["hidden_line_item_count"].clone(),
        )
    };
    assert_eq!(
        shown(usage(json!([usage_id]), false)),
        (vec![json!("2.84")], json!(0)),
        "of 22 of 31 days"
    );
    assert_eq!(shown(usage(json!([usage_id]), true)), (vec![], json!(1)));
}

#[test]
fn invoicing_9_2_lists_are_filtered_by_status_day_and_amount() {
    let (shop, subscription) = shop();
    shop.use_tokens("one", 7, "small");
    set(&shop.host, "2026-04-02T00:00:00Z");
    let host = &shop.host;
    let count = |query: &str| listed(host, query).len();
    assert_eq!(count(""), 2, "two are issued");
    assert_eq!(count("?status[]=draft"), 1);
    assert_eq!(count("?status[]=draft&status[]=issued"), 3);
    assert_eq!(count("?external_customer_id=ada"), 2);
    assert_eq!(count("?external_customer_id=bob"), 0);
    let other = customer(host, "eve");
    let id = other["id"].as_str().unwrap();
    assert_eq!(count(&format!("?external_customer_id=ada&customer_id={id}")), 0, "both must match");
    let id = subscription["id"].as_str().unwrap();
    assert_eq!(count(&format!("?subscription_id={id}")), 2);
    assert_eq!(count("?subscription_id=07070707-0707-7707-8707-070707070707"), 0);
    // The first is dated the 10th of March and due the 24th, the second the 1st and the 15th of April.
    assert_eq!(count("?due_date=2026-03-10"), 1, "it compares the date that an invoice bears");
    assert_eq!(count("?due_date[lt]=2026-03-10"), 1, "the last day is part of it");
    assert_eq!(count("?due_date[gt]=2026-03-10"), 1);
    assert_eq!(count("?due_date=2026-03-24"), 0);
    assert_eq!(count("?date_type=due_date&due_date=2026-03-24"), 1);
    assert_eq!(count("?date_type=due_date&due_date[lt]=2026-03-23"), 0, "the worked example");
    assert_eq!(count("?date_type=due_date&due_date[lt]=2026-03-24"), 1);
    assert_eq!(count("?date_type=invoice_date&due_date[lt]=2026-03-23"), 1);
    assert_eq!(count("?date_type=due_date&due_date[gt]=2026-03-24"), 1);
    assert_eq!(count("?date_type=due_date&due_date[lt]=2026-04-15&status[]=draft"), 0);
    assert_eq!(count("?invoice_date[gte]=2026-03-31T22:00:00Z"), 1);
    assert_eq!(count("?invoice_date[lt]=2026-03-31T22:00:00Z"), 1);
    assert_eq!(count("?invoice_date[lte]=2026-03-31T22:00:00Z"), 2);
    assert_eq!(count("?invoice_date[gt]=2026-03-31T22:00:00Z"), 0);
    assert_eq!(
        (count("?amount=14.19"), count("?amount[gt]=14.19"), count("?amount[lt]=14.19")),
        (1, 1, 0)
    );
    assert_eq!((count("?is_recurring=true"), count("?is_recurring=false")), (2, 0));
    assert_eq!(count("/summary?status=draft"), 1);
    assert_eq!(count("/summary?status=draft&status[]=issued"), 3, "either");
    assert_eq!(count("/summary?status[]=issued"), 2);
    let pages = host.walk(&format!("{PATH}?limit=1"));
    assert_eq!(pages.len(), 2);
    assert_eq!(pages[0]["invoice_date"], json!(APRIL), "the newest date comes first");
    set(host, "2026-04-20T00:00:00Z");
    assert_eq!((count("?due_date_window=6d"), count("?due_date_window=1m")), (1, 2));
    for wrong in [
        "due_date_window=6",
        "due_date_window=y",
        "due_date=2026-03-10T00:00:00Z",
        "amount=much",
        "status[]=gone",
        "date_type=day",
        "due_date[lt]=2026-03-10T00:00:00Z",
    ] {
        host.get(&format!("{PATH}?{wrong}")).error(400, "400-request-validation-errors");
    }
}

/// A draft of `ada` that is issued by hand.
fn draft(shop: &Shop) -> Value {
    let by_hand = json!({"auto_issuance": false, "billing_cycle_anchor_configuration": {"day": 1}});
    let subscription = shop.subscribe(by_hand);
    let id = subscription["id"].as_str().unwrap();
    listed(&shop.host, &format!("?subscription_id={id}&status[]=draft")).pop().unwrap()
}

#[test]
fn invoicing_9_4_null_goes_back_to_what_holds_without_it() {
    let (shop, _) = shop();
    let put = |draft: &Value, body: &Value| {
        shop.host.put(&path(draft, ""), body.clone()).ok(StatusCode::OK)
    };
    let (three, no_days) = (json!({"net_terms": 3}), json!({"net_terms": null}));
    let (dated, undated) = (json!({"due_date": "2026-03-30"}), json!({"due_date": null}));
    let nothing = json!({"auto_collection": null, "invoice_date": null});
    for (changes, due) in [
        (vec![], "2026-03-23T23:00:00.000000+00:00"),
        (vec![&three, &nothing], "2026-03-12T23:00:00.000000+00:00"),
        (vec![&three, &no_days], "2026-03-23T23:00:00.000000+00:00"),
        (vec![&dated], "2026-03-29T22:00:00.000000+00:00"),
        (vec![&dated, &undated], "2026-03-23T23:00:00.000000+00:00"),
    ] {
        let draft = draft(&shop);
        for body in &changes {
            put(&draft, body);
        }
        let issued = shop.host.post(&path(&draft, "/issue"), ()).ok(StatusCode::OK);
        assert_eq!(issued["due_date"], due, "{changes:?}");
    }
    let draft = draft(&shop);
    put(&draft, &json!({"metadata": {"po": "7", "team": "a"}}));
    assert_eq!(put(&draft, &json!({"metadata": {"po": null}}))["metadata"], json!({"team": "a"}));
    assert_eq!(put(&draft, &three)["metadata"], json!({"team": "a"}), "absent");
    assert_eq!(put(&draft, &json!({"metadata": null}))["metadata"], json!({}));
}

#[test]
fn invoicing_9_4_what_is_no_draft_takes_metadata_alone() {
    let (shop, _) = shop();
    set(&shop.host, "2026-04-02T00:00:00Z");
    let host = &shop.host;
    let [second, first] = listed(host, "").try_into().unwrap();
    let put = |invoice: &Value, body: Value| host.put(&path(invoice, ""), body);
    let paid = json!({"payment_received_date": "2026-03-20"});
    for (invoice, state, to) in [
        (&second, "issued", None),
        (&second, "void", Some(("/void", json!(null)))),
        (&first, "paid", Some(("/mark_paid", paid))),
    ] {
        if let Some((to, body)) = to {
            host.post(&path(invoice, to), body).ok(StatusCode::OK);
        }
        let tagged = put(invoice, json!({"metadata": {"seen": state}})).ok(StatusCode::OK);
        assert_eq!(
            (&tagged["status"], &tagged["metadata"]["seen"]),
            (&json!(state), &json!(state))
        );
        for wrong in [
            json!({"net_terms": 14}),
            json!({"net_terms": null}),
            json!({"due_date": null}),
            json!({"auto_collection": false}),
            json!({"metadata": {"seen": "never"}, "net_terms": 14}),
        ] {
            put(invoice, wrong).error(400, "400-constraint-violation");
        }
        let after = host.get(&path(invoice, "")).ok(StatusCode::OK);
        assert_eq!(after["metadata"], json!({"seen": state}), "nothing of it is changed");
    }
}
