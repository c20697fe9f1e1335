//! Backfills over HTTP.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    subscriptions::customer,
    support::{Host, event},
};

pub(crate) const PATH: &str = "/v1/events/backfills";
const NOW: &str = "2026-03-10T12:00:00.000000+00:00";
const TOMORROW: &str = "2026-03-11T12:00:00.000000+00:00";

/// A backfill of an hour of the 10th of March.
pub(crate) fn hour(hour: u32) -> Value {
    json!({
        "timeframe_start": format!("2026-03-10T{hour:02}:00:00Z"),
        "timeframe_end": format!("2026-03-10T{:02}:00:00Z", hour + 1),
    })
}

pub(crate) fn create(host: &Host, new: Value) -> Value {
    host.post(PATH, new).ok(StatusCode::OK)
}

pub(crate) fn path(backfill: &Value, rest: &str) -> String {
    format!("{PATH}/{}{rest}", backfill["id"].as_str().unwrap())
}

pub(crate) fn ingest_path(backfill: &Value) -> String {
    format!("/v1/ingest?backfill_id={}", backfill["id"].as_str().unwrap())
}

/// Does what is due.
pub(crate) fn tick(host: &Host) {
    while pollster::block_on(host.billing.tick(100)).unwrap().more {}
}

fn without_backfills(host: &Host) {
    let mut configuration = accrue::account::Configuration::default();
    configuration.features.backfills = false;
    pollster::block_on(host.account().configure(configuration).into_future()).unwrap();
}

/// Expects violations at these places.
#[track_caller]
fn refused(host: &Host, new: Value, expect: &[&str]) {
    let body = host.post(PATH, new).error(400, "400-request-validation-errors");
    let errors = body["validation_errors"].as_array().unwrap().iter();
    let found = errors.map(|text| text.as_str().unwrap().split_once(": ").unwrap().0);
    assert_eq!(found.collect::<Vec<_>>(), expect, "{body}");
}

#[test]
fn wire_3_2_a_backfill_is_answered_whole() {
    let host = Host::new();
    let ada = customer(&host, "ada");
    let filter = "tokens > 100 AND model = 'small'";
    let created = create(
        &host,
        json!({
            "timeframe_start": "2026-02-10T12:00:00Z",
            "timeframe_end": "2026-03-10T13:00:00+01:00",
            "close_time": "2026-03-10T18:30:00.5Z",
            "customer_id": ada["id"],
            "replace_existing_events": true,
            "deprecation_filter": filter,
        }),
    );
    let expected = json!({
        "id": created["id"],
        "status": "pending",
        "created_at": NOW,
        "timeframe_start": "2026-02-10T12:00:00.000000+00:00",
        "timeframe_end": NOW,
        "events_ingested": 0,
        "close_time": "2026-03-10T18:30:00.500000+00:00",
        "reverted_at": null,
        "customer_id": ada["id"],
        "replace_existing_events": true,
        "deprecation_filter": filter,
    });
    assert_eq!(created, expected);
    assert_eq!(host.get(&path(&created, "")).ok(StatusCode::OK), expected);
}

#[test]
fn wire_3_3_what_is_not_said_is_for_all_customers_replaces_everything_and_closes_in_a_day() {
    let nulls = json!({
        "close_time": null, "customer_id": null, "external_customer_id": null,
        "deprecation_filter": null, "replace_existing_events": null,
    });
    for more in [json!({}), nulls] {
        let host = Host::new();
        let mut new = hour(10);
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let created = create(&host, new);
        let expected = json!({
            "id": created["id"],
            "status": "pending",
            "created_at": NOW,
            "timeframe_start": "2026-03-10T10:00:00.000000+00:00",
            "timeframe_end": "2026-03-10T11:00:00.000000+00:00",
            "events_ingested": 0,
            "close_time": TOMORROW,
            "reverted_at": null,
            "customer_id": null,
            "replace_existing_events": true,
            "deprecation_filter": null,
        });
        assert_eq!(created, expected);
    }
}

#[test]
fn wire_3_2_an_external_id_is_not_given_back() {
    let host = Host::new();
    let ada = customer(&host, "ada");
    let mut new = hour(10);
    new["external_customer_id"] = json!("ada");
    new["replace_existing_events"] = json!(false);
    let created = create(&host, new);
    assert_eq!(created["customer_id"], ada["id"]);
    assert_eq!(created["replace_existing_events"], false);
    assert_eq!(created.get("external_customer_id"), None);
}

#[test]
fn s7_all_that_is_wrong_with_a_backfill_is_listed() {
    let host = Host::new();
    let ada = customer(&host, "ada");
    refused(&host, json!({}), &["/timeframe_start", "/timeframe_end"]);
    refused(
        &host,
        json!({
            "timeframe_start": 1, "status": "pending", "close_time": "tomorrow",
            "replace_existing_events": "yes", "deprecation_filter": ["a"],
            "customer_id": ada["id"], "external_customer_id": "ada",
        }),
        &[
            "/status",
            "/timeframe_start",
            "/timeframe_end",
            "/close_time",
            "/replace_existing_events",
            "/deprecation_filter",
            "/external_customer_id",
        ],
    );
    refused(&host, json!([]), &[""]);
    refused(&host, json!(null), &[""]);
    let nothing = host.post(PATH, ()).error(400, "400-request-validation-errors");
    assert_eq!(nothing["validation_errors"], json!([": is empty, expected an object"]));
    assert!(host.walk(PATH).is_empty());
}

#[test]
fn wire_3_3_a_timeframe_has_some_length_and_at_most_31_days() {
    let host = Host::new();
    let of = |start: &str, end: &str| json!({"timeframe_start": start, "timeframe_end": end});
    for (start, end) in [
        ("2026-03-10T11:00:00Z", "2026-03-10T10:00:00Z"),
        ("2026-03-10T11:00:00Z", "2026-03-10T11:00:00Z"),
        ("2026-03-01T00:00:00Z", "2026-04-01T00:00:00.000001Z"),
        ("1970-01-01T00:00:00Z", "9998-12-31T23:59:59Z"),
    ] {
        refused(&host, of(start, end), &["/timeframe_end"]);
    }
    // What is wrong beside it is told too.
    let mut new = of("2026-03-10T11:00:00Z", "2026-03-10T10:00:00Z");
    new["close_time"] = json!(7);
    refused(&host, new, &["/close_time", "/timeframe_end"]);
    create(&host, of("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"));
    create(&host, of("9998-12-01T00:00:00Z", "9998-12-31T23:59:59Z"));
    create(&host, of("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000001Z"));
    refused(
        &host,
        of("1969-12-31T23:59:59Z", "9999-01-01T00:00:00Z"),
        &["/timeframe_start", "/timeframe_end"],
    );
}

#[test]
fn wire_3_3_a_backfill_closes_later_than_now() {
    let host = Host::new();
    for time in ["2026-03-10T12:00:00Z", "2026-03-10T11:59:59Z", "1970-01-01T00:00:00Z"] {
        let mut new = hour(10);
        new["close_time"] = json!(time);
        refused(&host, new, &["/close_time"]);
    }
    let mut new = hour(10);
    new["close_time"] = json!("9998-12-31T23:59:59Z");
    assert_eq!(create(&host, new)["close_time"], "9998-12-31T23:59:59.000000+00:00");
}

#[test]
fn a_bad_filter_is_told_with_its_place() {
    let host = Host::new();
    let check = |filter: Value, expect: &str| {
        let mut new = hour(10);
        new["deprecation_filter"] = filter;
        let body = host.post(PATH, new).error(400, "400-request-validation-errors");
        assert_eq!(body["validation_errors"], json!([format!("/deprecation_filter: {expect}")]));
        assert_eq!(body["detail"], format!("/deprecation_filter: {expect}"));
    };
    check(
        json!("tokens > 100 AN region = 'eu'"),
        "at character 14: found `AN`, expected `AND`, `OR` or the end",
    );
    check(json!(7), "found a number, expected a string");
    let text = |filter: &str| {
        let mut new = hour(10);
        new["deprecation_filter"] = json!(filter);
        refused(&host, new, &["/deprecation_filter"]);
    };
    text("");
    text(" ");
    text("tokens >");
    text(&format!("tokens > {}", "1".repeat(100_000)));
    let mut new = hour(10);
    new["deprecation_filter"] = json!("tokens > 1");
    new["replace_existing_events"] = json!(false);
    refused(&host, new, &["/deprecation_filter"]);
}

#[test]
fn what_a_backfill_names_has_to_be_there() {
    let host = Host::new();
    let unknown = "0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001";
    for (field, value) in [
        ("customer_id", unknown),
        ("customer_id", "none"),
        ("customer_id", ""),
        ("external_customer_id", "nobody"),
    ] {
        let mut new = hour(10);
        new[field] = json!(value);
        host.post(PATH, new).error(404, "404-resource-not-found");
    }
    for id in [unknown, "none", "%F0%9F%A6%80", "a%2Fb", "%00", "%20"] {
        host.get(&format!("{PATH}/{id}")).error(404, "404-resource-not-found");
        host.post(&format!("{PATH}/{id}/close"), ()).error(404, "404-resource-not-found");
        host.post(&format!("{PATH}/{id}/revert"), ()).error(404, "404-resource-not-found");
        let batch = json!({"events": [event("a")]});
        let answer = host.post(&format!("/v1/ingest?backfill_id={id}"), batch);
        answer.error(404, "404-resource-not-found");
    }
    for id in ["%ff", "%F0%9F"] {
        host.get(&format!("{PATH}/{id}")).error(404, "404-url-not-found");
    }
}

#[test]
fn wire_3_3_backfills_that_are_pending_do_not_overlap() {
    let host = Host::new();
    let first = create(&host, hour(10));
    host.post(PATH, hour(10)).error(400, "400-constraint-violation");
    create(&host, hour(11));
    host.post(&path(&first, "/revert"), ()).ok(StatusCode::OK);
    create(&host, hour(10));
}

#[test]
fn s4_1_backfills_are_listed_newest_first_to_the_end() {
    let host = Host::new();
    assert!(host.walk(PATH).is_empty());
    let mut created = Vec::new();
    for n in 0..23 {
        created.insert(0, create(&host, hour(n)));
        if n % 2 == 0 {
            host.clock.advance(std::time::Duration::from_secs(60));
        }
    }
    let listed = host.walk(&format!("{PATH}?limit=1"));
    assert_eq!(listed.len(), created.len());
    assert_eq!(listed, host.walk(&format!("{PATH}?limit=100")));
    let times: Vec<_> = listed.iter().map(|row| row["created_at"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|one, next| one >= next), "{times:?}");
    let page = host.get(PATH).ok(StatusCode::OK);
    assert_eq!(page["data"].as_array().unwrap().len(), 20);
    assert_eq!(page["data"], json!(listed[..20]));
    for row in &listed {
        assert!(created.contains(row), "{row}");
    }
}

#[test]
fn wire_3_3_backfills_are_listed_by_customer_and_status() {
    let host = Host::new();
    let (ada, bob) = (customer(&host, "ada"), customer(&host, "bob"));
    let of = |at: u32, customer: &Value| {
        let mut new = hour(at);
        new["customer_id"] = customer["id"].clone();
        let created = create(&host, new);
        host.clock.advance(std::time::Duration::from_secs(60));
        created
    };
    let adas = [of(8, &ada), of(9, &ada), of(10, &ada)];
    let bobs = of(8, &bob);
    let everyones = of(11, &json!({}));
    for (backfill, rest) in [(&adas[1], "/close"), (&adas[2], "/revert"), (&bobs, "/close")] {
        host.post(&path(backfill, rest), ()).ok(StatusCode::OK);
    }
    tick(&host);
    let now = |of: &Value| host.get(&path(of, "")).ok(StatusCode::OK);
    let [pending, reflected, reverted] = adas.each_ref().map(now);
    let bobs = now(&bobs);
    assert_eq!(everyones["customer_id"], Value::Null);

    let (ada, bob) = (ada["id"].as_str().unwrap(), bob["id"].as_str().unwrap());
    let check = |query: &str, expect: &[&Value]| {
        for limit in [1, 2, 100] {
            let found = host.walk(&format!("{PATH}?limit={limit}&{query}"));
            assert_eq!(found.iter().collect::<Vec<_>>(), expect, "{query}");
        }
    };
    check("", &[&everyones, &bobs, &reverted, &reflected, &pending]);
    check("customer_id=&status=", &[&everyones, &bobs, &reverted, &reflected, &pending]);
    check(&format!("customer_id={ada}"), &[&reverted, &reflected, &pending]);
    check(&format!("customer_id={bob}"), &[&bobs]);
    check("status=pending", &[&everyones, &pending]);
    check("status=reflected", &[&bobs, &reflected]);
    check("status=reverted", &[&reverted]);
    check("status=pending_revert", &[]);
    check(&format!("customer_id={ada}&status=reflected"), &[&reflected]);
    check(&format!("customer_id={bob}&status=pending"), &[]);
    check("customer_id=0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001", &[]);
    check("customer_id=none", &[]);
}

#[test]
fn what_a_list_of_backfills_cannot_be_asked_for_is_400() {
    let host = Host::new();
    for query in [
        "status=open",
        "status=Pending",
        "limit=0",
        "limit=101",
        "limit=-1",
        "limit=1.5",
        "limit=99999999999999999999",
        "cursor=x",
        "status=pending&status=reverted",
    ] {
        let answer = host.get(&format!("{PATH}?{query}"));
        answer.error(400, "400-request-validation-errors");
    }
}

#[test]
fn s7_an_account_without_backfills_has_none() {
    let host = Host::new();
    let backfill = create(&host, hour(11));
    without_backfills(&host);
    let answers = [
        host.get(PATH),
        host.get(&path(&backfill, "")),
        host.post(PATH, hour(10)),
        host.post(&path(&backfill, "/close"), ()),
        host.post(&path(&backfill, "/revert"), ()),
        host.post(&ingest_path(&backfill), json!({"events": [event("a")]})),
    ];
    for answer in answers {
        let body = answer.error(404, "404-feature-not-available");
        assert_eq!(body["status"], 400);
    }
    for _ in 0..2 {
        let answer = host.keyed("POST", PATH, "k", hour(10));
        answer.is_fresh().error(404, "404-feature-not-available");
    }
    // Events without one are taken.
    host.post("/v1/ingest", json!({"events": [event("a")]})).ok(StatusCode::OK);
}
