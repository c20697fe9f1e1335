use std::time::Duration;

use accrue::limits;
use accrue_load_tests::{
    Catalogue, Outcome, Request, before_now, fill, new_customer, new_subscription, plan,
};
use serde_json::json;

use super::{Attacks, Setting, numbered};
use crate::largest::largest;

/// Whose usage is read.
const CUSTOMER: &str = "read";

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Over how many days figures are read at most.
const DAYS: usize = 365;

/// Reads figures by day over a year, and the longest lists, in turn.
pub(super) async fn prepare(setting: &mut Setting<'_>) -> Outcome<Attacks> {
    let Setting { options, client, catalogue, .. } = setting;
    let start = before_now(DAY * u32::try_from(DAYS)?);
    let subscription = catalogue.subscribe(client, CUSTOMER, Catalogue::PLAN, start).await?;
    fill(client, CUSTOMER, options.stored).await?;
    let fee = json!({
        "name": "Fee", "item_id": catalogue.item, "cadence": "monthly", "model_type": "unit",
        "unit_config": {"unit_amount": "20"}, "fixed_price_quantity": 1, "currency": "USD",
    });
    client.ask(&plan("wide", &vec![fee; limits::PRICES])).await?;
    for nth in 0..options.listed {
        let customer = format!("listed-{nth}");
        client.ask(&new_customer(&customer)).await?;
        client.ask(&new_subscription(&customer, "wide", before_now(DAY))).await?;
    }
    let of = format!("/subscriptions/{subscription}");
    let customer = format!("/customers/external_customer_id/{CUSTOMER}");
    let list = |rows| Request::get("subscriptions", format!("/subscriptions?limit={rows}"));
    let rows = largest(client, options.listed, list).await?;
    let mut requests = vec![list(rows), search(options.stored)];
    for (label, path) in [
        ("usage by day", format!("{of}/usage?granularity=day")),
        ("usage by day and group", format!("{of}/usage?granularity=day&group_by=model")),
        ("costs by day", format!("{of}/costs?view_mode=periodic")),
        ("costs of a customer by day", format!("{customer}/costs?view_mode=periodic")),
        ("event volume", format!("/events/volume?limit={}", limits::PAGE_ROWS)),
    ] {
        let make = |days| Request::get(label, format!("{path}&{}", last(days)));
        let most = largest(client, DAYS, make).await?;
        requests.push(make(most));
    }
    setting.notes.push(format!("{rows} subscriptions of {} prices", limits::PRICES));
    Ok(numbered(move |connection, nth| {
        let mut turns = requests.iter().cycle();
        let turn = turns.nth((connection + nth) % requests.len());
        turn.cloned().unwrap_or_else(|| Request::get("ping", "/ping"))
    }))
}

fn search(stored: usize) -> Request {
    let apart = (stored / limits::SEARCH_EVENTS).max(1);
    let ids = (0..stored).step_by(apart).take(limits::SEARCH_EVENTS);
    let ids: Vec<_> = ids.map(|nth| format!("{CUSTOMER}-{nth}")).collect();
    Request::post("search of events", "/events/search", json!({"event_ids": ids}).to_string())
}

/// The timeframe of so many days that ends now, in a query.
fn last(days: usize) -> String {
    let [start, end] = [days, 0].map(|ago| before_now(DAY * u32::try_from(ago).unwrap_or(0)));
    format!("timeframe_start={start}&timeframe_end={end}").replace('+', "%2B")
}
