//! Which license an instant belongs to, and the rows of usage, by the examples of the specification.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::{CivilDate, Decimal, PricingUnit, Zone};

fn at(text: &str) -> Timestamp {
    Zone::UTC.instant(text).unwrap()
}

fn date(text: &str) -> CivilDate {
    CivilDate::parse(text).unwrap()
}

fn license(number: u8, name: &str, start: &str, end: Option<&str>) -> License {
    License {
        id: LicenseId::from_bytes([number; 16]),
        subscription_id: SubscriptionId::from_bytes([1; 16]),
        license_type_id: LicenseTypeId::from_bytes([2; 16]),
        external_license_id: ExternalId::parse(name).unwrap(),
        start_date: at(start),
        end_date: end.map(at),
        created_at: at(start),
    }
}

#[test]
fn subscriptions_7_2_active_from_the_start_to_the_end() {
    let of = license(1, "bob", "2026-03-10", Some("2026-03-20"));
    let check = |instant: &str, expect| assert_eq!(of.status(at(instant)), expect, "{instant}");
    check("2026-03-09T23:59:59Z", LicenseStatus::Inactive);
    check("2026-03-10", LicenseStatus::Active);
    check("2026-03-19T23:59:59Z", LicenseStatus::Active);
    check("2026-03-20", LicenseStatus::Inactive);
}

#[test]
fn subscriptions_7_3_6_the_active_one_else_the_last_ended_else_the_next() {
    let all = [
        license(1, "bob", "2026-03-01", Some("2026-03-03")),
        license(2, "bob", "2026-03-05", Some("2026-03-07")),
        license(3, "bob", "2026-03-09", None),
    ];
    let check = |instant: &str, expect: u8| {
        let found = License::at(all.iter(), at(instant)).unwrap();
        assert_eq!(found.id, LicenseId::from_bytes([expect; 16]), "{instant}");
    };
    check("2026-02-01", 1);
    check("2026-03-02", 1);
    check("2026-03-04", 1);
    check("2026-03-05", 2);
    check("2026-03-08", 2);
    check("2026-03-09", 3);
    assert_eq!(License::at([].iter(), at("2026-03-01")), None);
}

/// What rows are made of, without its borrows.
struct Given {
    slots: Vec<LicenseSlot>,
    licenses: Vec<License>,
    units: BTreeSet<PricingUnit>,
    pools: Vec<Pool>,
}

fn credits() -> PricingUnit {
    PricingUnit::parse("credits").unwrap()
}

fn costs(amount: i64) -> Costs {
    [(credits(), Decimal::from(amount))].into()
}

impl Given {
    /// Alice is active all March, Bob from the 16th on, and each has 100 credits a month.
    fn march(query: LicenseUsageQuery) -> Self {
        let march = Timeframe::new(at("2026-03-01"), at("2026-04-01")).unwrap();
        Self {
            slots: query.slots(march, &Zone::UTC).unwrap(),
            licenses: vec![
                license(1, "alice", "2026-03-01", None),
                license(2, "bob", "2026-03-16", None),
            ],
            units: [credits()].into(),
            pools: vec![Pool { period: march, unit: credits(), amount: Decimal::from(100) }],
        }
    }

    fn rows(&self, grouping: LicenseGrouping) -> LicenseRows<'_> {
        LicenseRows {
            subscription_id: SubscriptionId::from_bytes([1; 16]),
            license_type_id: LicenseTypeId::from_bytes([2; 16]),
            grouping,
            slots: &self.slots,
            licenses: &self.licenses,
            units: &self.units,
            pools: &self.pools,
            consumed: BTreeMap::new(),
            eligible: BTreeMap::new(),
            drawn: BTreeMap::new(),
        }
    }
}

/// A row as `name allocated consumed eligible shared remaining`.
fn shown(row: &LicenseUsage) -> String {
    format!(
        "{} {} {} {} {} {}",
        row.external_license_id.as_deref().unwrap_or("all"),
        row.allocated_credits,
        row.consumed_credits,
        row.allocation_eligible_credits,
        row.shared_pool_credits,
        row.remaining_credits
    )
}

const ALICE: LicenseId = LicenseId::from_bytes([1; 16]);
const BOB: LicenseId = LicenseId::from_bytes([2; 16]);

#[test]
fn subscriptions_7_4_example_of_alice_and_bob() {
    let given = Given::march(LicenseUsageQuery::default());
    let mut rows = given.rows(LicenseGrouping::License);
    rows.consumed = [((ALICE, 0), costs(130)), ((BOB, 0), costs(70))].into();
    rows.eligible = [((ALICE, 0), costs(130)), ((BOB, 0), costs(30))].into();
    let drawn = |id, cost| ((id, at("2026-03-01")), [(Some(0), costs(cost))].into());
    rows.drawn = [drawn(ALICE, 130), drawn(BOB, 30)].into();
    let rows = rows.rows();
    let found: Vec<_> = rows.iter().map(shown).collect();
    assert_eq!(found, ["alice 100 130 130 0 0", "bob 100 70 30 40 70"]);
    let bob = &rows[1];
    assert_eq!((bob.start_date, bob.end_date), (date("2026-03-01"), date("2026-04-01")));
    assert_eq!((bob.license_id, &bob.pricing_unit), (Some(BOB), &credits()));
}

#[test]
fn subscriptions_7_4_7_a_license_that_is_not_active_in_a_period_has_no_pool() {
    let mut given = Given::march(LicenseUsageQuery::default());
    given.licenses[0] = license(1, "alice", "2026-04-01", None);
    given.licenses[1] = license(2, "bob", "2026-03-31", Some("2026-04-01"));
    let rows = given.rows(LicenseGrouping::License).rows();
    let found: Vec<_> = rows.iter().map(shown).collect();
    assert_eq!(found, ["alice 0 0 0 0 0", "bob 100 0 0 0 100"]);
}

#[test]
fn subscriptions_7_5_5_a_day_has_the_pool_of_its_period_and_what_is_left_after_it() {
    let query = LicenseUsageQuery {
        start_date: Some(date("2026-03-17")),
        end_date: Some(date("2026-03-20")),
        grouping: LicenseGrouping::LicenseAndDay,
    };
    let given = Given::march(query);
    let start = at("2026-03-01");
    let make = |grouping| {
        let mut rows = given.rows(grouping);
        rows.consumed = [((ALICE, 0), costs(20)), ((BOB, 1), costs(5))].into();
        rows.eligible = rows.consumed.clone();
        // Alice has used 60 before, and 20 on the first day; Bob 5 on the second one.
        let alice = [(None, costs(60)), (Some(0), costs(80))].into();
        rows.drawn = [((ALICE, start), alice), ((BOB, start), [(Some(1), costs(5))].into())].into();
        rows.rows()
    };
    let found: Vec<_> = make(LicenseGrouping::LicenseAndDay).iter().map(shown).collect();
    let expected = [
        "alice 100 20 20 0 20",
        "alice 100 0 0 0 20",
        "alice 100 0 0 0 20",
        "bob 100 0 0 0 100",
        "bob 100 5 5 0 95",
        "bob 100 0 0 0 95",
    ];
    assert_eq!(found, expected);
    let days = make(LicenseGrouping::Day);
    let found: Vec<_> = days.iter().map(shown).collect();
    assert_eq!(found, ["all 200 20 20 0 120", "all 200 5 5 0 115", "all 200 0 0 0 115"]);
    assert_eq!((days[1].start_date, days[1].end_date), (date("2026-03-18"), date("2026-03-19")));
    assert_eq!((days[1].license_id, &days[1].external_license_id), (None, &None));
}

#[test]
fn subscriptions_7_5_7_a_range_has_one_day_to_366() {
    let march = Timeframe::new(at("2026-03-01"), at("2026-04-01")).unwrap();
    let check = |start: &str, end: &str, expect: Option<usize>| {
        let query = LicenseUsageQuery {
            start_date: Some(date(start)),
            end_date: Some(date(end)),
            grouping: LicenseGrouping::Day,
        };
        let found = query.slots(march, &Zone::UTC);
        assert_eq!(found.as_ref().ok().map(Vec::len), expect, "{start} {end}");
        if let Err(error) = found {
            assert_eq!(error.violations()[0].field, "end_date");
        }
    };
    check("2026-03-01", "2026-03-01", None);
    check("2026-03-02", "2026-03-01", None);
    check("2026-03-01", "2026-03-02", Some(1));
    check("2026-01-01", "2027-01-02", Some(366));
    check("2026-01-01", "2027-01-03", None);
    check("1970-01-01", "9990-01-01", None);
}
