//! Every page opens for each role, and shows what there is.

use std::time::Duration;

use accrue::{
    Currency, Decimal,
    person::Role,
    plan::NewPlan,
    price::{Cadence, Charge, NewPrice},
    subscription::{Cancellation, NewSubscription},
};
use http::StatusCode;

use crate::{
    stock::{Route, Stock},
    support::{Desk, block_on, name},
};

#[test]
fn each_page_opens_for_each_role() {
    let stock = Stock::new("Tokens");
    let desk = &stock.desk;
    for role in Role::ALL {
        let session = desk.session_of(role);
        for Route { needs, path, .. } in stock.pages() {
            let page = desk.get(&path, Some(&session));
            let expected: &[_] = match needs {
                Some(needs) if role < needs => &[StatusCode::FORBIDDEN],
                // Whoever is signed in goes on to where they may.
                _ if ["/", "/sign-in"].contains(&path.as_str()) => {
                    &[StatusCode::SEE_OTHER, StatusCode::OK]
                }
                _ => &[StatusCode::OK],
            };
            assert!(expected.contains(&page.status), "{path} as {role}: {}", page.status);
            if page.status != StatusCode::SEE_OTHER {
                well_formed(&page.body, &path);
            }
        }
        for path in [
            "/a/nobody",
            "/a/nobody/customers",
            "/a/nobody/keys",
            "/a/nobody/invoices",
            "/a/nobody/plans",
            "/a/nobody/metrics",
            "/a/acme/customers/{customer}/credits/tokens",
        ] {
            let path = stock.filled(path);
            assert_eq!(desk.get(&path, Some(&session)).status, StatusCode::OK, "{path}");
        }
    }
}

/// What a browser and whoever reads with it rely on.
fn well_formed(page: &str, path: &str) {
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{path}");
    assert_eq!(page.matches("<h1>").count(), 1, "{path}");
    assert_eq!(page.matches("<main ").count(), 1, "{path}");
    assert_eq!(page.matches("<table>").count(), page.matches("<caption>").count(), "{path}");
    for forbidden in [
        " style=",
        "<style",
        " onclick=",
        " onload=",
        "javascript:",
        " src=\"http",
        " href=\"http",
        " action=\"http",
    ] {
        assert!(!page.contains(forbidden), "{forbidden} in {path}");
    }
    let mut ids: Vec<_> =
        page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id comes twice in {path}");
    for rest in page.split(" for=\"").skip(1) {
        assert!(ids.contains(&rest.split('"').next().unwrap()), "a label of nothing in {path}");
    }
    for name in ["aria-describedby", "aria-labelledby"] {
        for rest in page.split(&format!(" {name}=\"")).skip(1) {
            let named = rest.split('"').next().unwrap().split(' ');
            assert!(named.into_iter().all(|id| ids.contains(&id)), "{name} of nothing in {path}");
        }
    }
}

#[test]
fn a_subscription_is_shown_with_figures_and_thresholds() {
    let desk = Desk::new();
    let (customer, subscription) = desk.customer("Tokens");
    let session = desk.session_of(Role::Read);
    let path = format!("/a/acme/subscriptions/{subscription}");
    let page = desk.get(&path, Some(&session)).body;
    for text in [
        "Subscription to Pro",
        "Pro, version 1",
        "Cost so far",
        "Alert at 5",
        "<td class=\"number\">600</td>",
        "6.00\u{a0}USD",
        "cost_exceeded",
        "Billed every",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let grouped = desk.get(&format!("{path}?group=region"), Some(&session)).body;
    assert!(grouped.contains("Tokens, region (none)"));
    let page = desk.get(&format!("/a/acme/customers/{customer}"), Some(&session)).body;
    for text in ["ext-1", "6.00\u{a0}USD", "Balance of USD after each entry", &path] {
        assert!(page.contains(text), "{text}");
    }
    let overview = desk.get("/a/acme", Some(&session)).body;
    assert!(
        overview.contains("Events by the hour") && overview.contains("subscription.cost_exceeded")
    );
    let found = desk.get("/a/acme/events?ids=event-1", Some(&session)).body;
    assert!(found.contains("Counts") && found.contains("tokens"));
}

#[test]
fn an_earlier_billing_period_is_shown() {
    let desk = Desk::new();
    let (customer, subscription) = desk.customer("Tokens");
    desk.clock.advance(Duration::from_secs(40 * 24 * 60 * 60));
    desk.event("event-2", customer, 1_250);
    let session = desk.session_of(Role::Read);
    let path = format!("/a/acme/subscriptions/{subscription}");
    let now = desk.get(&path, Some(&session)).body;
    assert!(now.contains("Cost of this billing period") && now.contains("12.50\u{a0}USD"));
    assert!(!now.contains("6.00\u{a0}USD"));
    let choice =
        "<option value=\"2026-03-10T00:00:00.000000Z\">from 2026-03-10 to 2026-03-31</option>";
    assert!(now.contains(choice), "{now}");
    let query = "?period=2026-03-10T00:00:00.000000Z&group=region";
    let before = desk.get(&format!("{path}{query}"), Some(&session)).body;
    for text in [
        "Cost of the billing period from 2026-03-10 to 2026-03-31",
        "Usage of the billing period from 2026-03-10 to 2026-03-31",
        "6.00\u{a0}USD",
        "Tokens, region (none)",
        "type=\"hidden\" name=\"period\" value=\"2026-03-10T00:00:00.000000Z\"",
        "type=\"hidden\" name=\"group\" value=\"region\"",
    ] {
        assert!(before.contains(text), "{text}: {before}");
    }
    assert!(!before.contains("12.50\u{a0}USD"));
}

#[test]
fn of_a_subscription_that_has_ended_the_last_billing_period_is_shown() {
    let desk = Desk::new();
    let (_, subscription) = desk.customer("Tokens");
    desk.clock.advance(Duration::from_secs(60));
    let canceled = desk.account.cancel_subscription(subscription, Cancellation::Immediate);
    block_on(canceled.into_future()).unwrap();
    desk.clock.advance(Duration::from_secs(90 * 24 * 60 * 60));
    let session = desk.session_of(Role::Read);
    let page = desk.get(&format!("/a/acme/subscriptions/{subscription}"), Some(&session)).body;
    for text in
        ["Ended", "Cost of the billing period from 2026-03-10 to 2026-03-10", "6.00\u{a0}USD"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("shown-period"), "there is no other");
}

#[test]
fn the_cost_of_each_price_is_drawn_where_there_are_several() {
    let desk = Desk::new();
    let (customer, subscription) = desk.customer("Tokens");
    let session = desk.session_of(Role::Read);
    let path = format!("/a/acme/subscriptions/{subscription}");
    assert!(!desk.get(&path, Some(&session)).body.contains("plot-price-"), "there is one");
    let usd = Currency::parse("USD").unwrap();
    let of = block_on(desk.account.fetch_subscription(subscription)).unwrap();
    let plan = block_on(desk.account.fetch_plan(of.plan_id.unwrap())).unwrap();
    let version = block_on(desk.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    let mut new = NewPlan::new(name("Team"), usd);
    let tokens = version.prices[0].clone();
    let Charge::Usage { metric_id, model } = tokens.charge else { panic!("it charges usage") };
    let price =
        |called| NewPrice::builder(name(called), tokens.item_id).billed(Cadence::Monthly, usd);
    let seats = price("Seats").fee_in_advance(Decimal::from(21));
    new.prices = vec![price("Words").usage(metric_id, model).into(), seats.into()];
    let plan = block_on(desk.account.create_plan(new).into_future()).unwrap();
    let new = NewSubscription::new(customer, plan.id);
    let subscription = block_on(desk.account.create_subscription(new).into_future()).unwrap();
    let page = desk.get(&format!("/a/acme/subscriptions/{}", subscription.id), Some(&session)).body;
    for text in ["Cost of Words so far", "Cost of Seats so far", "plot-price-1"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let page = desk.get(&format!("/a/acme/customers/{customer}"), Some(&session)).body;
    for text in
        ["Subscription to Pro: cost so far", "Subscription to Team: cost so far", "20.90\u{a0}USD"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let desk = Desk::new();
    let (customer, subscription) = desk.customer("Tokens");
    let session = desk.session_of(Role::Operate);
    let none = "07070707-0707-7707-8707-070707070707";
    for path in [
        format!("/a/acme/invoices/{none}"),
        "/a/acme/invoices/x".to_owned(),
        format!("/a/acme/plans/{none}"),
        format!("/a/acme/subscriptions/{none}"),
        format!("/a/other/subscriptions/{subscription}"),
        format!("/a/acme/customers/{none}/credits/USD"),
        format!("/a/other/customers/{customer}/credits/USD"),
    ] {
        assert_eq!(desk.get(&path, Some(&session)).status, StatusCode::NOT_FOUND, "{path}");
    }
    for action in ["issue", "void"] {
        let reply = desk.post(&format!("/a/acme/invoices/{none}/{action}"), Some(&session), &[]);
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{action}");
    }
}

#[test]
fn a_customer_is_found_by_its_id_and_its_alias() {
    let desk = Desk::new();
    let (customer, _) = desk.customer("Tokens");
    let session = desk.session_of(Role::Read);
    for text in [customer.to_string(), "ext-1".to_owned()] {
        let found = desk.get(&format!("/a/acme/customers?find={text}"), Some(&session));
        assert_eq!(found.location(), format!("/console/a/acme/customers/{customer}"));
    }
    let none = desk.get("/a/acme/customers?find=nobody", Some(&session));
    assert!(none.body.contains("No customer has this id or external id."));
    let elsewhere = desk.get(&format!("/a/other/customers/{customer}"), Some(&session));
    assert_eq!(elsewhere.status, StatusCode::NOT_FOUND);
}

#[test]
fn a_name_is_text_whatever_it_says() {
    let evil = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'&lt;";
    let stock = Stock::new(evil);
    let (desk, session) = (&stock.desk, &stock.admin);
    let mut shown = 0;
    for Route { path, .. } in stock.pages() {
        let page = desk.get(&path, Some(session)).body;
        assert!(!page.contains("<script>alert") && !page.contains("<img"), "{path}");
        assert!(page.matches("<script").count() <= 1, "{path}");
        shown += usize::from(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    }
    // Customers, plans, metrics, invoices, messages, keys and people have such a name.
    assert!(shown >= 14, "{shown}");
    for path in
        ["/a/acme/events?ids=", "/a/acme/customers?find=", "/audit?account=", "/accounts?done="]
    {
        let encoded: String = form_urlencoded::byte_serialize(evil.as_bytes()).collect();
        let page = desk.get(&format!("{path}{encoded}"), Some(session)).body;
        assert_eq!(page.matches("<script").count(), 1, "{path}");
    }
}

#[test]
fn an_account_is_opened_by_any_id() {
    let desk = Desk::new();
    let session = desk.session_of(Role::Read);
    let opened = desk.get("/open?account=a%2Fb+c", Some(&session));
    assert_eq!(opened.location(), "/console/a/a%2Fb%20c");
    let page = desk.get(opened.location(), Some(&session));
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("href=\"/console/a/a%2Fb%20c/keys\""));
}
