//! Lists in pages, to the end (wire 6.2).

use std::{collections::BTreeMap, time::Duration};

use accrue::AccountId;
use accrue_http::{Api, Authenticate};
use async_trait::async_trait;
use http::StatusCode;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    scene::Scene,
    support::{Answer, Body, Host, event, request},
};

/// Walks a list to its end, and checks what every page must be.
fn walk(host: &Host, path: &str, mut page: impl FnMut(&[Value])) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut cursor = String::new();
    loop {
        let joint = if path.contains('?') { '&' } else { '?' };
        let asked = format!("{path}{joint}{cursor}");
        let body = host.get(asked.trim_end_matches(['?', '&'])).ok(StatusCode::OK);
        let data = body["data"].as_array().unwrap();
        let metadata = &body["pagination_metadata"];
        let has_more = metadata["has_more"].as_bool().unwrap();
        assert_eq!(metadata["next_cursor"].is_null(), !has_more, "{metadata}");
        assert!(!has_more || !data.is_empty(), "{body}");
        page(data);
        rows.extend(data.iter().cloned());
        match metadata["next_cursor"].as_str() {
            Some(next) => cursor = format!("cursor={next}"),
            None => return rows,
        }
    }
}

fn names(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["name"].as_str().unwrap()).collect()
}

fn crowd(host: &Host, count: usize) {
    for n in 0..count {
        host.clock.advance(Duration::from_millis(1));
        host.item(&format!("Item {n}"));
    }
}

#[test]
fn wire_6_2_a_walk_by_one_sees_each_row_once_and_the_newest_first() {
    let host = Host::new();
    assert_eq!(walk(&host, "/v1/items?limit=1", |_| ()), Vec::<Value>::new());
    crowd(&host, 7);
    let expect = ["Item 6", "Item 5", "Item 4", "Item 3", "Item 2", "Item 1", "Item 0"];
    for limit in [1, 2, 3, 6, 7, 8, 100] {
        let mut sizes = Vec::new();
        let rows = walk(&host, &format!("/v1/items?limit={limit}"), |page| sizes.push(page.len()));
        assert_eq!(names(&rows), expect);
        // Every page is full but the last, and no page is left over.
        let pages: Vec<_> = expect.chunks(limit).map(<[_]>::len).collect();
        assert_eq!(sizes, pages);
    }
}

#[test]
fn wire_6_2_a_page_has_20_rows_where_nothing_is_said() {
    let host = Host::new();
    for (count, pages) in [(20, vec![20]), (1, vec![20, 1])] {
        crowd(&host, count);
        let mut sizes = Vec::new();
        walk(&host, "/v1/items", |page| sizes.push(page.len()));
        assert_eq!(sizes, pages);
    }
}

#[test]
fn rows_of_one_instant_are_each_seen_once() {
    let host = Host::new();
    let mut created: Vec<_> = (0..9).map(|n| host.item(&format!("Item {n}"))).collect();
    let rows = walk(&host, "/v1/items?limit=2", |_| ());
    let seen: Vec<_> = rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    created.sort_unstable();
    created.reverse();
    assert_eq!(seen, created);
}

#[test]
fn a_walk_over_the_hours_of_events_ends() {
    let host = Host::new();
    for hour in 0..5 {
        let mut event = event(&hour.to_string());
        event["timestamp"] = json!(format!("2026-03-10T0{hour}:30:00Z"));
        host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);
    }
    let path = "/v1/events/volume?timeframe_start=2026-03-10T00:00:00Z";
    let all = walk(&host, path, |_| ());
    assert_eq!(walk(&host, &format!("{path}&limit=1"), |page| assert_eq!(page.len(), 1)), all);
    let counts: u64 = all.iter().map(|row| row["count"].as_u64().unwrap()).sum();
    assert_eq!(counts, 5);
}

/// Tokens are the names of accounts.
struct ByName;

#[async_trait]
impl Authenticate for ByName {
    async fn authenticate(&self, token: &str) -> Result<Option<AccountId>, accrue::Error> {
        Ok(AccountId::parse(token).ok())
    }
}

fn cursor_of(answer: &Answer) -> String {
    let body = answer.ok(StatusCode::OK);
    body["pagination_metadata"]["next_cursor"].as_str().unwrap().to_owned()
}

#[test]
fn every_bad_cursor_is_the_same_400() {
    let host = Host::new();
    let api = Api::builder(host.billing.clone(), ByName).build();
    let get = |account: &str, path: &str| {
        let mut sent = request("GET", path, Body::from(()), &[]);
        let line = format!("Bearer {account}").parse().unwrap();
        sent.headers_mut().insert("authorization", line);
        Answer::of(pollster::block_on(api.handle(sent)))
    };
    crowd(&host, 3);
    for account in ["acme", "other"] {
        let id = AccountId::parse(account).unwrap();
        for name in ["A", "B"] {
            let new = accrue::item::NewItem::new(accrue::Name::parse(name).unwrap());
            pollster::block_on(host.billing.account(id.clone()).create_item(new).into_future())
                .unwrap();
        }
    }
    for hour in ["10", "11"] {
        let mut event = event(hour);
        event["timestamp"] = json!(format!("2026-03-10T{hour}:30:00Z"));
        host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);
    }
    let volume = |start: &str| {
        format!("/v1/events/volume?limit=1&timeframe_start=2026-03-10T{start}:00:00Z")
    };
    let items = cursor_of(&host.get("/v1/items?limit=1"));
    let others = cursor_of(&get("other", "/v1/items?limit=1"));
    let hours = cursor_of(&host.get(&volume("08")));

    let bad = host.get("/v1/items?cursor=garbage");
    let body = bad.error(400, "400-request-validation-errors");
    assert_eq!(body["validation_errors"], json!(["/cursor: not a cursor of this list"]));
    let mut flipped = items.clone();
    let last = if flipped.pop() == Some('0') { '1' } else { '0' };
    flipped.push(last);
    let cut = [&items[1..], &items[2..], &items[..items.len() - 1], &items[..items.len() - 2]];
    let twice = items.repeat(2);
    let upper = items.to_uppercase();
    assert_ne!(upper, items);
    for cursor in ["0", "%00", "%F0%9F%A6%80", " ", &flipped, &twice, &upper, &others, &hours]
        .into_iter()
        .chain(cut)
    {
        assert_eq!(
            host.get(&format!("/v1/items?cursor={cursor}").replace(' ', "+")),
            bad,
            "{cursor}"
        );
    }
    // Another filter is another list.
    assert_eq!(host.get(&format!("{}&cursor={hours}", volume("09"))), bad);
    assert_eq!(host.get(&format!("{}&cursor={items}", volume("08"))), bad);
    assert_eq!(get("other", &format!("/v1/items?cursor={items}")), bad);
    // Where it belongs each is good, whatever the limit.
    host.get(&format!("{}&cursor={hours}", volume("08"))).ok(StatusCode::OK);
    get("other", &format!("/v1/items?cursor={others}")).ok(StatusCode::OK);
    for limit in ["", "&limit=1", "&limit=2", "&limit=100"] {
        let page = host.get(&format!("/v1/items?cursor={items}{limit}")).ok(StatusCode::OK);
        let all = host.get("/v1/items").ok(StatusCode::OK);
        assert_eq!(page["data"][0], all["data"][1]);
    }
}

#[test]
fn a_cursor_is_good_for_its_own_list_only() {
    let host = Host::new();
    let scene = Scene::set(&host);
    let lists = scene.lists();
    let cursors: Vec<_> =
        lists.iter().map(|list| cursor_of(&host.get(&format!("{list}limit=1")))).collect();
    let bad = host.get("/v1/items?cursor=garbage");
    bad.error(400, "400-request-validation-errors");
    for (list, own) in lists.iter().zip(&cursors) {
        for cursor in cursors.iter().filter(|cursor| *cursor != own) {
            assert_eq!(host.get(&format!("{list}cursor={cursor}")), bad, "{list}");
        }
        assert_eq!(host.get(&format!("{list}cursor={}", &own[..own.len() - 2])), bad, "{list}");
        for limit in [1, 100] {
            let page = host.get(&format!("{list}cursor={own}&limit={limit}")).ok(StatusCode::OK);
            assert!(!page["data"].as_array().unwrap().is_empty(), "{list}");
        }
    }
}

#[test]
fn every_list_is_the_same_by_one_and_at_once() {
    let host = Host::new();
    for list in Scene::set(&host).lists() {
        let all = walk(&host, list.trim_end_matches(['?', '&']), |_| ());
        assert!(all.len() >= 2, "{list}");
        let by_one = walk(&host, &format!("{list}limit=1"), |page| assert_eq!(page.len(), 1));
        assert_eq!(by_one, all, "{list}");
    }
}

#[test]
fn a_cursor_is_good_for_its_own_filter_only() {
    let host = Host::new();
    let scene = Scene::set(&host);
    let bad = host.get("/v1/items?cursor=garbage");
    let ledger = format!("/v1/customers/{}/credits/ledger?currency=credits&", scene.customer);
    let early = "created_at%5Bgte%5D=2026-03-10T12%3A00%3A00%2B00%3A00";
    let of_one = format!("customer_id={}", scene.customer);
    for (list, filters) in [
        ("/v1/customers?", ["", early, "created_at[gte]=2026-03-10T11:00:00Z"]),
        ("/v1/metrics?", ["", early, "status=active"]),
        ("/v1/events/backfills?", ["", "status=pending", &*of_one]),
        (&*ledger, ["", early, "entry_type=increment"]),
    ] {
        let ask = |filter: &str, rest: String| host.get(&format!("{list}{filter}&{rest}"));
        for filter in filters {
            let cursor = cursor_of(&ask(filter, "limit=1".to_owned()));
            for other in filters {
                let answer = ask(other, format!("cursor={cursor}"));
                if other == filter {
                    assert_eq!(answer.ok(StatusCode::OK)["data"].as_array().unwrap().len(), 1);
                } else {
                    assert_eq!(answer, bad, "{list}: {filter} {other}");
                }
            }
        }
    }
    // The same filter in another spelling is the same filter.
    let cursor = cursor_of(&host.get(&format!("/v1/customers?{early}&limit=1")));
    let spelled = "created_at[gte]=2026-03-10T13:00:00%2B01:00";
    host.get(&format!("/v1/customers?{spelled}&cursor={cursor}")).ok(StatusCode::OK);
}

#[test]
fn a_cursor_is_good_after_its_row_has_changed() {
    let host = Host::new();
    crowd(&host, 3);
    let first = host.get("/v1/items?limit=2");
    let cursor = cursor_of(&first);
    let last = first.json()["data"][1]["id"].as_str().unwrap().to_owned();
    host.post(&format!("/v1/items/{last}/archive"), ()).ok(StatusCode::OK);
    crowd(&host, 2);
    let second = host.get(&format!("/v1/items?limit=2&cursor={cursor}")).ok(StatusCode::OK);
    assert_eq!(names(second["data"].as_array().unwrap()), ["Item 0"]);
}

/// What happens between two pages.
#[derive(Clone, Debug)]
enum Change {
    Create,
    /// The row at this place of those that there are.
    Archive(usize),
    Rename(usize),
    Wait(u64),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => Just(Change::Create),
        2 => any::<usize>().prop_map(Change::Archive),
        2 => any::<usize>().prop_map(Change::Rename),
        2 => (0_u64..2_000).prop_map(Change::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_walk_sees_what_lives_throughout_exactly_once(
        before in prop::collection::vec(change(), 0..25),
        between in prop::collection::vec(prop::collection::vec(change(), 0..4), 0..30),
        limit in 1_usize..5,
    ) {
        let host = Host::new();
        let mut ids: Vec<String> = Vec::new();
        let apply = |change: &Change, ids: &mut Vec<String>| match *change {
            Change::Create => ids.push(host.item("Item")),
            Change::Wait(micros) => host.clock.advance(Duration::from_micros(micros)),
            Change::Archive(_) | Change::Rename(_) if ids.is_empty() => {}
            Change::Archive(at) => {
                let id = &ids[at % ids.len()];
                let status = host.post(&format!("/v1/items/{id}/archive"), ()).status;
                assert!(matches!(status, 200 | 400));
            }
            Change::Rename(at) => {
                let path = format!("/v1/items/{}", ids[at % ids.len()]);
                host.put(&path, json!({"name": "Renamed"})).ok(StatusCode::OK);
            }
        };
        before.iter().for_each(|change| apply(change, &mut ids));
        let throughout = ids.clone();
        let mut between = between.iter();
        let rows = walk(&host, &format!("/v1/items?limit={limit}"), |page| {
            assert!(page.len() <= limit);
            between.next().into_iter().flatten().for_each(|change| apply(change, &mut ids));
        });
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &rows {
            *seen.entry(row["id"].as_str().unwrap()).or_default() += 1;
        }
        for id in &throughout {
            prop_assert_eq!(seen.get(id.as_str()), Some(&1));
        }
        prop_assert!(seen.iter().all(|(id, times)| *times == 1 && ids.iter().any(|it| it == id)));
        let order: Vec<_> = rows
            .iter()
            .map(|row| {
                let at = accrue::Timestamp::parse(row["created_at"].as_str().unwrap()).unwrap();
                (at, row["id"].as_str().unwrap())
            })
            .collect();
        prop_assert!(order.is_sorted_by(|one, next| one > next), "{:?}", order);
    }
}
