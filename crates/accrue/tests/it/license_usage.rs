//! What the events of licenses cost, by license and by day (subscriptions 7.4, 7.5).

use std::collections::BTreeMap;

use accrue::{
    CivilDate, Error, ErrorKind, LicenseId, PageRequest, PropertyName,
    cost::CostQuery,
    expression::Expression,
    license::{LicenseGrouping, LicenseUsage, LicenseUsageQuery},
    plan::PlanPrice,
    price::NewPrice,
    subscription::{Cancellation, NewSubscription, UsageCustomers},
    usage::{Event, PropertyValue},
};

use crate::{
    licenses::{Licensed, date, licensed},
    support::{
        credited::CREDITS,
        fixture::{Fixture, SUM, UNKNOWN, at, block_on, event, external, number, run},
        priced::unit,
    },
};

/// An event of `n` calls of a user.
fn calls(user: &str, day: &str, n: &str) -> Event {
    let key = format!("{user} {day} {n}");
    let mut event = event("ada", &key, at(&format!("{day}T10:00:00Z")), n);
    let user = (PropertyName::parse("user").unwrap(), PropertyValue::Text(user.into()));
    let own = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    event.properties = own.chain([user]).collect();
    event
}

/// A row as `name consumed eligible shared`.
fn shown(row: &LicenseUsage) -> String {
    format!(
        "{} {} {} {}",
        row.external_license_id.as_deref().unwrap_or("all"),
        row.consumed_credits,
        row.allocation_eligible_credits,
        row.shared_pool_credits,
    )
}

/// The same with its day.
fn dated(row: &LicenseUsage) -> String {
    let start = serde_json::to_value(row.start_date).unwrap();
    format!("{} {}", start.as_str().unwrap(), shown(row))
}

fn query(start: &str, end: &str, grouping: LicenseGrouping) -> LicenseUsageQuery {
    let date = |text: &str| CivilDate::parse(text).ok();
    LicenseUsageQuery { start_date: date(start), end_date: date(end), grouping }
}

impl Licensed {
    /// Alice is active all March, Bob from the 16th on (subscriptions 7.4).
    fn march() -> Self {
        let of = licensed(3);
        of.give(of.between("alice", "2026-03-01", ""));
        of.give(of.between("bob", "2026-03-16", ""));
        of.on("2026-03-12", "bob", "40");
        of.fixture.set("2026-03-31T10:00:00Z");
        of.ingest(vec![
            calls("alice", "2026-03-31", "130"),
            calls("bob", "2026-03-30", "30"),
            calls("nobody", "2026-03-30", "7"),
            event("ada", "without a user", at("2026-03-30T10:00:00Z"), "9"),
        ]);
        of
    }

    fn ingest(&self, events: Vec<Event>) {
        run(self.fixture.account.ingest(events)).unwrap();
    }

    /// Ingests an event on its own day.
    fn on(&self, day: &str, user: &str, n: &str) {
        self.fixture.set(&format!("{day}T12:00:00Z"));
        self.ingest(vec![calls(user, day, n)]);
    }

    fn all(&self, query: &LicenseUsageQuery) -> Result<Vec<LicenseUsage>, Error> {
        let first = PageRequest::first(3).unwrap();
        let (mut page, mut found) = (first.clone(), Vec::new());
        loop {
            let (of, license_type) = (self.subscription.id, self.license_type.id);
            let one = self.fixture.account.license_usage(of, license_type, query, &page);
            let one = block_on(one)?;
            found.extend(one.data);
            let Some(cursor) = one.next_cursor else { return Ok(found) };
            page = first.clone().after(cursor);
        }
    }

    fn rows(&self, start: &str, end: &str, grouping: LicenseGrouping) -> Vec<LicenseUsage> {
        self.all(&query(start, end, grouping)).unwrap()
    }

    fn one(&self, id: LicenseId, query: &LicenseUsageQuery) -> Result<Vec<LicenseUsage>, Error> {
        let page = PageRequest::default();
        let found = self.fixture.account.usage_of_license(id, query, &page);
        block_on(found).map(|page| page.data)
    }
}

fn texts(rows: &[LicenseUsage], text: impl Fn(&LicenseUsage) -> String) -> Vec<String> {
    rows.iter().map(text).collect()
}

#[test]
fn subscriptions_7_4_example_what_licenses_have_used() {
    let of = Licensed::march();
    let rows = of.all(&LicenseUsageQuery::default()).unwrap();
    assert_eq!(texts(&rows, shown), ["alice 130 130 0", "bob 70 30 40"]);
    let bob = &rows[1];
    assert_eq!((bob.start_date, bob.end_date), (date("2026-03-01"), date("2026-04-01")));
    assert_eq!(bob.pricing_unit, unit("USD"));
    assert_eq!(bob.subscription_id, of.subscription.id);
    assert_eq!(bob.license_type_id, of.license_type.id);
    // Without an allocation nothing is left of one.
    assert!(rows.iter().all(|row| row.allocated_credits.is_zero()));
    assert!(rows.iter().all(|row| row.remaining_credits.is_zero()));
}

#[test]
fn subscriptions_7_5_3_and_6_rows_by_day_and_by_license_and_day() {
    let of = Licensed::march();
    let by_day = of.rows("2026-03-29", "2026-04-01", LicenseGrouping::Day);
    let expected = ["2026-03-29 all 0 0 0", "2026-03-30 all 30 30 0", "2026-03-31 all 130 130 0"];
    assert_eq!(texts(&by_day, dated), expected);
    assert!(by_day.iter().all(|row| row.license_id.is_none()));
    let both = of.rows("2026-03-30", "2026-04-01", LicenseGrouping::LicenseAndDay);
    let expected = [
        "2026-03-30 alice 0 0 0",
        "2026-03-31 alice 130 130 0",
        "2026-03-30 bob 30 30 0",
        "2026-03-31 bob 0 0 0",
    ];
    assert_eq!(texts(&both, dated), expected);
    assert_eq!((both[0].end_date, both[0].license_id.is_some()), (date("2026-03-31"), true));
}

#[test]
fn subscriptions_7_5_1_each_bound_is_that_of_the_billing_period_by_itself() {
    let of = Licensed::march();
    let check = |start: &str, end: &str, expect: [&str; 2]| {
        let rows = of.rows(start, end, LicenseGrouping::License);
        let range = (rows[0].start_date, rows[0].end_date);
        assert_eq!(range, (date(expect[0]), date(expect[1])));
    };
    check("", "2026-03-20", ["2026-03-01", "2026-03-20"]);
    check("2026-03-20", "", ["2026-03-20", "2026-04-01"]);
    let wrong = of.all(&query("2026-04-01", "", LicenseGrouping::License)).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::RequestValidation);
    // The next billing period, of which nothing was used.
    of.fixture.set("2026-04-02T12:00:00Z");
    check("", "", ["2026-04-01", "2026-05-01"]);
}

#[test]
fn subscriptions_7_5_2_days_are_from_midnight_to_midnight() {
    let of = licensed(3);
    of.give(of.between("alice", "2026-03-01", ""));
    of.fixture.set("2026-03-11T00:00:00Z");
    for (key, instant) in [
        ("a", "2026-03-10T00:00:00Z"),
        ("b", "2026-03-10T23:59:59.999999Z"),
        ("c", "2026-03-11T00:00:00Z"),
    ] {
        let event = Event { timestamp: at(instant), ..calls("alice", "2026-03-10", "1") };
        let event = Event { idempotency_key: accrue::EventKey::parse(key).unwrap(), ..event };
        of.ingest(vec![event]);
    }
    let rows = of.rows("2026-03-10", "2026-03-12", LicenseGrouping::Day);
    assert_eq!(texts(&rows, dated), ["2026-03-10 all 2 2 0", "2026-03-11 all 1 1 0"]);
}

#[test]
fn subscriptions_7_5_4_a_license_has_a_row_where_it_is_active_in_the_range() {
    let of = licensed(9);
    of.give(of.between("before", "2026-03-01", "2026-03-05"));
    of.give(of.between("never", "2026-03-06", "2026-03-06"));
    of.give(of.between("within", "2026-03-06", "2026-03-07"));
    of.give(of.between("later", "2026-03-08", ""));
    let rows = of.rows("2026-03-05", "2026-03-08", LicenseGrouping::License);
    assert_eq!(texts(&rows, shown), ["within 0 0 0"]);
}

#[test]
fn subscriptions_7_4_5_an_event_belongs_to_the_license_of_its_instant() {
    let of = licensed(9);
    let first = of.give(of.between("alice", "2026-03-12", "2026-03-14"));
    let second = of.give(of.between("alice", "2026-03-16", "2026-03-18"));
    for day in 1..=9_u32 {
        of.on(&format!("2026-03-{}", day + 10), "alice", &10_u64.pow(day - 1).to_string());
    }
    let rows = of.rows("2026-03-11", "2026-03-20", LicenseGrouping::License);
    let found: Vec<_> = rows.iter().map(|row| (row.license_id.unwrap(), shown(row))).collect();
    // On the second and third day the first one is active, and it ended last before the sixth.
    let expected = [
        (first.id, "alice 11111 110 11001".to_owned()),
        (second.id, "alice 111100000 1100000 110000000".to_owned()),
    ];
    assert_eq!(found, expected);
}

#[test]
fn subscriptions_7_5_usage_of_one_license_and_of_the_active_one() {
    let of = Licensed::march();
    let all = of.all(&LicenseUsageQuery::default()).unwrap();
    let bob = all[1].license_id.unwrap();
    assert_eq!(of.one(bob, &LicenseUsageQuery::default()).unwrap(), std::slice::from_ref(&all[1]));
    let active = |name: &str| {
        let (name, page) = (of.name(name), PageRequest::default());
        let query = LicenseUsageQuery::default();
        block_on(of.fixture.account.usage_of_active_license(&name, &query, &page))
    };
    assert_eq!(active("bob").unwrap().data, std::slice::from_ref(&all[1]));
    assert!(active("nobody").unwrap_err().is_not_found());
    of.end(bob, "2026-03-31").unwrap();
    assert!(active("bob").unwrap_err().is_not_found(), "it has ended");
    assert_eq!(of.one(bob, &LicenseUsageQuery::default()).unwrap().len(), 1);
    let unknown: LicenseId = UNKNOWN.parse().unwrap();
    assert!(of.one(unknown, &LicenseUsageQuery::default()).unwrap_err().is_not_found());
}

#[test]
fn subscriptions_7_5_days_of_one_license_leave_what_is_of_others_out() {
    let of = Licensed::march();
    let all = of.all(&LicenseUsageQuery::default()).unwrap();
    let by_day = query("2026-03-30", "2026-04-01", LicenseGrouping::Day);
    let found = of.one(all[1].license_id.unwrap(), &by_day).unwrap();
    assert_eq!(texts(&found, dated), ["2026-03-30 all 30 30 0", "2026-03-31 all 0 0 0"]);
}

#[test]
fn subscriptions_7_3_10_usage_behind_the_end_of_the_subscription_is_not_of_it() {
    let of = licensed(3);
    of.give(of.between("alice", "2026-03-01", ""));
    let cancel = Cancellation::RequestedDate(at("2026-03-12T00:00:00Z"));
    run(of.fixture.account.cancel_subscription(of.subscription.id, cancel)).unwrap();
    of.on("2026-03-11", "alice", "5");
    of.on("2026-03-12", "alice", "7");
    of.fixture.set("2026-03-13T12:00:00Z");
    let rows = of.rows("2026-03-10", "2026-03-14", LicenseGrouping::License);
    assert_eq!(texts(&rows, shown), ["alice 5 5 0"]);
    // The last billing period is that of a subscription that has ended.
    let rows = of.rows("", "", LicenseGrouping::License);
    assert_eq!((rows[0].start_date, rows[0].end_date), (date("2026-03-01"), date("2026-03-12")));
}

#[test]
fn subscriptions_7_4_4_rows_are_of_one_unit_each() {
    let fixture = Fixture::new();
    let (metric, license_type) = (fixture.metric(SUM), fixture.license_type());
    let of_type = |new: NewPrice| NewPrice { license_type_id: Some(license_type.id), ..new };
    let mut drawn = of_type(fixture.usage_at("3", &metric));
    drawn.currency = unit(CREDITS);
    let prices = [
        of_type(fixture.usage_at("2", &metric)),
        of_type(fixture.usage_at("0.5", &metric)),
        drawn,
        // It is of no license.
        fixture.usage_at("100", &metric),
    ];
    let plan = fixture.priced_plan(prices.map(PlanPrice::from));
    let ada = fixture.customer("ada");
    let subscription = fixture.subscribe_from(ada.id, &plan, Some(crate::licenses::START));
    let fee = fixture.prices_of(&plan)[0];
    let of = Licensed { fixture, license_type, subscription, fee };
    of.give(of.new_license("alice"));
    of.ingest(vec![calls("alice", "2026-03-10", "10")]);
    let rows = of.all(&LicenseUsageQuery::default()).unwrap();
    let found = texts(&rows, |row| format!("{} {}", row.pricing_unit, shown(row)));
    assert_eq!(found, ["USD alice 25 25 0", "credits alice 30 30 0"]);
}

#[test]
fn subscriptions_7_5_4_days_and_licenses_add_up_to_the_range() {
    let of = licensed(9);
    let windows = [
        ("a", "2026-03-11", "2026-03-14"),
        ("b", "2026-03-13", ""),
        ("c", "2026-03-12", "2026-03-16"),
    ];
    for (name, start, end) in windows {
        of.give(of.between(name, start, end));
    }
    let mut oracle: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for day in 1..=8_u64 {
        for (place, (name, start, end)) in (1_u64..).zip(windows) {
            let (date, n) = (format!("2026-03-{}", day + 10), day * place * 7 % 11 + 1);
            of.on(&date, name, &n.to_string());
            let is_active = start <= &*date && (end.is_empty() || &*date < end);
            let (consumed, eligible) = oracle.entry(name).or_default();
            *consumed += n;
            *eligible += if is_active { n } else { 0 };
        }
    }
    let rows = of.rows("2026-03-11", "2026-03-19", LicenseGrouping::License);
    let expected = oracle
        .iter()
        .map(|(name, (consumed, eligible))| {
            format!("{name} {consumed} {eligible} {}", consumed - eligible)
        })
        .collect::<Vec<_>>();
    assert_eq!(texts(&rows, shown), expected);
    let sum = |rows: &[LicenseUsage]| {
        let consumed: accrue::Decimal = rows.iter().map(|row| row.consumed_credits.clone()).sum();
        let eligible: accrue::Decimal =
            rows.iter().map(|row| row.allocation_eligible_credits.clone()).sum();
        (consumed, eligible)
    };
    for grouping in [LicenseGrouping::Day, LicenseGrouping::LicenseAndDay] {
        assert_eq!(sum(&of.rows("2026-03-11", "2026-03-19", grouping)), sum(&rows));
    }
}

#[test]
fn subscriptions_7_5_7_a_cursor_is_good_for_its_query_alone() {
    let of = Licensed::march();
    let page = PageRequest::first(1).unwrap();
    let query = LicenseUsageQuery::default();
    let (id, license_type) = (of.subscription.id, of.license_type.id);
    let usage = |query: &LicenseUsageQuery, page: &PageRequest| {
        block_on(of.fixture.account.license_usage(id, license_type, query, page))
    };
    let cursor = usage(&query, &page).unwrap().next_cursor.unwrap();
    let next = page.after(cursor);
    assert_eq!(texts(&usage(&query, &next).unwrap().data, shown), ["bob 70 30 40"]);
    let other = LicenseUsageQuery { grouping: LicenseGrouping::Day, ..query };
    assert_eq!(usage(&other, &next).unwrap_err().kind(), ErrorKind::RequestValidation);
}

#[test]
fn subscriptions_1_5_16_and_7_5_what_counts_for_the_price_counts_for_the_license() {
    let of = licensed(9);
    let account = &of.fixture.account;
    of.fixture.set("2026-03-10T09:00:00Z");
    // A second subscription of the same plan: events of one project alone, of two customers.
    let ada = of.subscription.customer_id;
    let mut new = NewSubscription::new(ada, of.subscription.plan_id.unwrap());
    new.start_date = Some(at(crate::licenses::START));
    new.filter = Some(Expression::parse("project = 'red'").unwrap());
    let bob = of.fixture.child("bob", ada);
    new.usage_customers = Some(UsageCustomers::new([ada, bob]).unwrap());
    let subscription = run(account.create_subscription(new)).unwrap();
    let red = Licensed { subscription, ..of };
    red.give(red.between("alice", "2026-03-01", ""));
    let used = |customer: &str, day: &str, n: &str, project: &str| {
        let mut event = calls("alice", day, n);
        event.customer = external(customer).into();
        let project = (PropertyName::parse("project").unwrap(), PropertyValue::from(project));
        let own = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
        event.properties = own.chain([project]).collect();
        event
    };
    for (customer, day, n, project) in [
        ("ada", "2026-03-11", "1", "red"),
        ("bob", "2026-03-12", "20", "red"),
        ("ada", "2026-03-13", "300", "red"),
        ("bob", "2026-03-13", "4000", "blue"),
        ("ada", "2026-03-13", "50000", "blue"),
    ] {
        red.fixture.set(&format!("{day}T12:00:00Z"));
        red.ingest(vec![used(customer, day, n, project)]);
    }
    let rows = red.rows("2026-03-10", "2026-03-14", LicenseGrouping::License);
    assert_eq!(texts(&rows, shown), ["alice 321 321 0"]);
    let days = red.rows("2026-03-11", "2026-03-14", LicenseGrouping::LicenseAndDay);
    let expected = ["1 1 0", "20 20 0", "300 300 0"];
    assert_eq!(texts(&days, shown), expected.map(|of| format!("alice {of}")));
    let cost = red.fixture.cost(&red.subscription, &CostQuery::default());
    let mut quantities = cost.lines.iter().map(|of| of.quantity.clone());
    assert!(quantities.any(|of| of == number("321")), "it is what the price counts");
}
