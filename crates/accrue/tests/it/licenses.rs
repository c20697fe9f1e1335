//! License types and licenses as resources, and their life (subscriptions 7.1 to 7.3).

use accrue::{
    CivilDate, Decimal, Error, ErrorKind, LicenseId, LicenseTypeId, PageRequest, PriceId,
    PropertyName, Timestamp,
    customer::NewCustomer,
    license::{
        Deactivation, License, LicenseFilter, LicenseName, LicenseStatus, LicenseType, NewLicense,
        NewLicenseType,
    },
    plan::PlanPrice,
    price::{Charge, NewPrice},
    subscription::{Cancellation, ChangeTiming, FeeQuantityChange, Subscription},
};

use crate::support::fixture::{Fixture, SUM, UNKNOWN, at, block_on, external, name, refused, run};

/// A customer `ada` with a subscription from the first of March 2026 on, to a plan of seats and of their usage.
pub(crate) struct Licensed {
    pub(crate) fixture: Fixture,
    pub(crate) license_type: LicenseType,
    pub(crate) subscription: Subscription,
    /// The price of a seat.
    pub(crate) fee: PriceId,
}

pub(crate) const START: &str = "2026-03-01T00:00:00Z";

pub(crate) fn date(text: &str) -> CivilDate {
    CivilDate::parse(text).unwrap()
}

impl Fixture {
    pub(crate) fn license_type(&self) -> LicenseType {
        let grouping_key = PropertyName::parse("user").unwrap();
        let new = NewLicenseType { name: name("Seat"), grouping_key };
        run(self.account.create_license_type(new)).unwrap()
    }

    /// A fee in advance of 10 for each seat.
    pub(crate) fn seats(&self, license_type: &LicenseType, quantity: i64) -> NewPrice {
        let mut new = self.advance_fee("10");
        if let accrue::price::NewCharge::Of(Charge::Fixed { quantity: own, .. }) = &mut new.charge {
            *own = Decimal::from(quantity);
        }
        new.license_type_id = Some(license_type.id);
        new
    }
}

/// A subscription with so many seats.
pub(crate) fn licensed(seats: i64) -> Licensed {
    licensed_in(seats, "UTC")
}

fn licensed_in(seats: i64, zone: &str) -> Licensed {
    let fixture = Fixture::new();
    let (metric, license_type) = (fixture.metric(SUM), fixture.license_type());
    let usage =
        NewPrice { license_type_id: Some(license_type.id), ..fixture.usage_at("1", &metric) };
    let plan = fixture.priced_plan([fixture.seats(&license_type, seats).into(), usage.into()]);
    let fee = fixture.prices_of(&plan)[0];
    let email = accrue::Email::parse("ada@example.com").unwrap();
    let mut ada = NewCustomer::new(name("Ada"), email);
    ada.external_customer_id = Some(external("ada"));
    ada.timezone = Some(accrue::Zone::parse(zone).unwrap());
    let ada = run(fixture.account.create_customer(ada)).unwrap();
    let subscription = fixture.subscribe_from(ada.id, &plan, Some(START));
    Licensed { fixture, license_type, subscription, fee }
}

impl Licensed {
    pub(crate) fn new_license(&self, external_id: &str) -> NewLicense {
        NewLicense::new(self.subscription.id, self.license_type.id, external(external_id))
    }

    /// A license to create from one date to another one; without one where it is empty.
    pub(crate) fn between(&self, external_id: &str, start: &str, end: &str) -> NewLicense {
        let mut new = self.new_license(external_id);
        let date = |text: &str| CivilDate::parse(text).ok();
        (new.start_date, new.end_date) = (date(start), date(end));
        new
    }

    pub(crate) fn give(&self, new: NewLicense) -> License {
        run(self.fixture.account.create_license(new)).unwrap()
    }

    fn refused(&self, new: NewLicense) -> ErrorKind {
        refused(&self.fixture, self.fixture.account.create_license(new)).0
    }

    pub(crate) fn end(&self, id: LicenseId, end: &str) -> Result<License, Error> {
        let deactivation = Deactivation { end_date: CivilDate::parse(end).ok() };
        run(self.fixture.account.deactivate_license(id, deactivation))
    }

    fn fetch(&self, id: LicenseId) -> License {
        block_on(self.fixture.account.fetch_license(id)).unwrap()
    }

    pub(crate) fn name(&self, external_id: &str) -> LicenseName {
        LicenseName {
            subscription_id: self.subscription.id,
            license_type_id: self.license_type.id,
            external_license_id: external(external_id),
        }
    }

    fn find(&self, external_id: &str) -> Result<License, Error> {
        block_on(self.fixture.account.find_license(&self.name(external_id)))
    }

    /// The external ids that a filter lets pass, in the order of the list.
    fn listed(&self, filter: &LicenseFilter) -> Vec<String> {
        let first = PageRequest::first(2).unwrap();
        let (mut page, mut found) = (first.clone(), Vec::new());
        loop {
            let list = self.fixture.account.list_licenses(self.subscription.id, filter, &page);
            let one = block_on(list).unwrap();
            found.extend(one.data.iter().map(|of| of.external_license_id.to_string()));
            let Some(cursor) = one.next_cursor else { return found };
            page = first.clone().after(cursor);
        }
    }

    fn status(&self, id: LicenseId) -> LicenseStatus {
        self.fetch(id).status(accrue::Clock::now(&self.fixture.clock))
    }

    fn seats(&self, quantity: i64, when: ChangeTiming) -> accrue::Call<Subscription> {
        let (price, quantity) = (self.fee.into(), Decimal::from(quantity));
        let change = FeeQuantityChange { price, quantity, when };
        self.fixture.account.update_fixed_fee_quantity(self.subscription.id, change)
    }
}

fn dates(of: &License) -> (Timestamp, Option<Timestamp>) {
    (of.start_date, of.end_date)
}

const CONSTRAINT: ErrorKind = ErrorKind::ConstraintViolation;

#[test]
fn subscriptions_7_1_license_types_are_listed_oldest_first() {
    let fixture = Fixture::new();
    let ids: Vec<_> = (0..5)
        .map(|_| {
            fixture.clock.advance(std::time::Duration::from_secs(1));
            fixture.license_type().id
        })
        .collect();
    let first = PageRequest::first(2).unwrap();
    let (mut page, mut found, mut pages) = (first.clone(), Vec::new(), 0);
    loop {
        let one = block_on(fixture.account.list_license_types(&page)).unwrap();
        found.extend(one.data.iter().map(|of| of.id));
        pages += 1;
        let Some(cursor) = one.next_cursor else { break };
        page = first.clone().after(cursor);
    }
    assert_eq!((found, pages), (ids.clone(), 3));
    let fetched = block_on(fixture.account.fetch_license_type(ids[1])).unwrap();
    assert_eq!((fetched.id, fetched.grouping_key.as_str()), (ids[1], "user"));
    let unknown: LicenseTypeId = UNKNOWN.parse().unwrap();
    let missing = block_on(fixture.account.fetch_license_type(unknown)).unwrap_err();
    assert!(missing.is_not_found());
}

#[test]
fn subscriptions_7_3_example_of_starts_and_ends() {
    let of = licensed(3);
    let alice = of.give(of.new_license("alice"));
    assert_eq!(dates(&alice), (at("2026-03-10T00:00:00Z"), None));
    assert_eq!(of.fetch(alice.id), alice);
    of.fixture.set("2026-03-20T09:00:00Z");
    let ended = of.end(alice.id, "").unwrap();
    assert_eq!(ended.end_date, Some(at("2026-03-21T00:00:00Z")));
    assert_eq!(of.status(alice.id), LicenseStatus::Active);
    let bob = of.give(of.between("bob", "2026-03-10", ""));
    let bob = of.end(bob.id, "2026-03-20").unwrap();
    assert_eq!(bob.end_date, Some(at("2026-03-20T00:00:00Z")));
    assert_eq!(of.status(bob.id), LicenseStatus::Inactive);
    assert_eq!(of.fetch(bob.id), bob);
}

#[test]
fn subscriptions_7_3_1_days_are_those_of_the_customer() {
    let of = licensed_in(3, "America/New_York");
    let alice = of.give(of.between("alice", "2026-03-08", "2026-03-09"));
    let day = (at("2026-03-08T05:00:00Z"), Some(at("2026-03-09T04:00:00Z")));
    assert_eq!(dates(&alice), day);
    of.fixture.set("2026-03-11T02:00:00Z");
    let bob = of.give(of.new_license("bob"));
    assert_eq!(bob.start_date, at("2026-03-10T04:00:00Z"));
    assert_eq!(of.end(bob.id, "").unwrap().end_date, Some(at("2026-03-11T04:00:00Z")));
}

#[test]
fn subscriptions_7_3_3_an_end_is_not_before_the_start() {
    let of = licensed(3);
    assert_eq!(of.refused(of.between("a", "2026-03-12", "2026-03-11")), CONSTRAINT);
    let never = of.give(of.between("a", "2026-03-10", "2026-03-10"));
    assert_eq!(of.status(never.id), LicenseStatus::Inactive);
    // It takes no seat, and another one may have its external id.
    of.give(of.between("a", "2026-03-10", ""));
    let later = of.give(of.between("b", "2026-03-15", ""));
    assert_eq!(of.end(later.id, "2026-03-14").unwrap_err().kind(), CONSTRAINT);
    assert_eq!(
        of.end(later.id, "").unwrap_err().kind(),
        CONSTRAINT,
        "tomorrow is before its start"
    );
}

#[test]
fn subscriptions_7_3_4_what_has_ended_is_not_ended_again() {
    let of = licensed(1);
    let alice = of.give(of.between("alice", "2026-03-01", "2026-03-15"));
    assert_eq!(of.end(alice.id, "2026-03-20").unwrap().end_date, Some(at("2026-03-20T00:00:00Z")));
    assert_eq!(of.end(alice.id, "2026-03-18").unwrap().end_date, Some(at("2026-03-18T00:00:00Z")));
    of.fixture.set("2026-03-18T00:00:00Z");
    assert_eq!(of.end(alice.id, "2026-03-20").unwrap_err().kind(), CONSTRAINT);
    let unknown: LicenseId = UNKNOWN.parse().unwrap();
    assert!(of.end(unknown, "").unwrap_err().is_not_found());
}

#[test]
fn subscriptions_7_3_5_an_external_id_is_one_license_at_a_time() {
    let of = licensed(5);
    let first = of.give(of.between("alice", "2026-03-05", "2026-03-12"));
    of.give(of.between("alice", "2026-03-12", "2026-03-14"));
    of.give(of.between("alice", "2026-03-01", "2026-03-05"));
    for (start, end) in [
        ("2026-03-13", ""),
        ("2026-03-04", "2026-03-06"),
        ("2026-02-01", ""),
        ("2026-03-06", "2026-03-07"),
    ] {
        let kind = of.refused(of.between("alice", start, end));
        assert_eq!(kind, ErrorKind::DuplicateResource, "{start} {end}");
    }
    of.give(of.between("bob", "2026-03-06", ""));
    // Another type is another name.
    let other = of.fixture.license_type();
    assert!(
        block_on(
            of.fixture
                .account
                .find_license(&LicenseName { license_type_id: other.id, ..of.name("alice") })
        )
        .unwrap_err()
        .is_not_found()
    );
    // An end that moves does not take the next one's time.
    let moved = of.end(first.id, "2026-03-13").unwrap_err();
    assert_eq!(moved.kind(), ErrorKind::DuplicateResource);
    assert_eq!(of.fetch(first.id), first);
}

#[test]
fn subscriptions_7_3_6_an_external_id_finds_the_active_one_else_the_last_else_the_next() {
    let of = licensed(5);
    let first = of.give(of.between("alice", "2026-03-01", "2026-03-03"));
    let second = of.give(of.between("alice", "2026-03-11", "2026-03-12"));
    let third = of.give(of.between("alice", "2026-03-14", ""));
    let fourth = of.give(of.between("bob", "2026-03-20", ""));
    let check = |now: &str, expect: &License| {
        of.fixture.set(now);
        assert_eq!(of.find("alice").unwrap(), *expect, "{now}");
    };
    check("2026-03-10T12:00:00Z", &first);
    check("2026-03-11T12:00:00Z", &second);
    check("2026-03-13T12:00:00Z", &second);
    check("2026-03-15T12:00:00Z", &third);
    assert_eq!(of.find("bob").unwrap(), fourth);
    assert!(of.find("nobody").unwrap_err().is_not_found());
}

#[test]
fn subscriptions_7_3_8_no_more_licenses_than_seats() {
    let of = licensed(2);
    of.give(of.new_license("alice"));
    let bob = of.give(of.new_license("bob"));
    assert_eq!(of.refused(of.new_license("carol")), CONSTRAINT);
    // A seat is free again with the end of a license, and not before.
    of.end(bob.id, "2026-03-15").unwrap();
    assert_eq!(of.refused(of.between("carol", "2026-03-14", "")), CONSTRAINT);
    of.give(of.between("carol", "2026-03-15", ""));
    assert_eq!(of.end(bob.id, "2026-03-16").unwrap_err().kind(), CONSTRAINT);
    // What was given out in the past has had a seat then.
    of.give(of.between("dave", "2026-03-01", "2026-03-10"));
    of.give(of.between("eve", "2026-03-01", "2026-03-10"));
    assert_eq!(of.refused(of.between("faith", "2026-03-09", "2026-03-10")), CONSTRAINT);
}

#[test]
fn subscriptions_7_3_8_seats_that_are_bought_later_are_there_later() {
    let of = licensed(1);
    run(of.seats(2, ChangeTiming::EffectiveDate(at("2026-03-20T00:00:00Z")))).unwrap();
    of.give(of.new_license("alice"));
    assert_eq!(of.refused(of.between("bob", "2026-03-19", "")), CONSTRAINT);
    of.give(of.between("bob", "2026-03-20", ""));
}

#[test]
fn subscriptions_7_3_9_no_fewer_seats_than_licenses() {
    let of = licensed(3);
    of.give(of.new_license("alice"));
    let bob = of.give(of.new_license("bob"));
    assert_eq!(refused(&of.fixture, of.seats(1, ChangeTiming::Immediate)).0, CONSTRAINT);
    run(of.seats(2, ChangeTiming::Immediate)).unwrap();
    let later = || of.seats(1, ChangeTiming::EffectiveDate(at("2026-03-20T00:00:00Z")));
    assert_eq!(refused(&of.fixture, later()).0, CONSTRAINT);
    of.end(bob.id, "2026-03-20").unwrap();
    run(later()).unwrap();
    assert_eq!(of.end(bob.id, "2026-03-21").unwrap_err().kind(), CONSTRAINT);
}

#[test]
fn subscriptions_7_3_10_licenses_end_with_their_subscription() {
    let of = licensed(2);
    let alice = of.give(of.new_license("alice"));
    let bob = of.give(of.between("bob", "2026-03-10", "2026-03-12"));
    let end = at("2026-03-15T00:00:00Z");
    let cancel = Cancellation::RequestedDate(end);
    run(of.fixture.account.cancel_subscription(of.subscription.id, cancel)).unwrap();
    assert_eq!(of.fetch(alice.id).end_date, Some(end));
    assert_eq!(of.fetch(bob.id), bob);
    assert_eq!(of.refused(of.between("carol", "2026-03-15", "")), CONSTRAINT);
    run(of.fixture.account.unschedule_cancellation(of.subscription.id)).unwrap();
    assert_eq!(of.fetch(alice.id), alice);
    run(of.fixture.account.cancel_subscription(of.subscription.id, cancel)).unwrap();
    of.fixture.set("2026-03-15T00:00:00Z");
    assert_eq!(of.status(alice.id), LicenseStatus::Inactive);
    assert_eq!(of.end(alice.id, "").unwrap_err().kind(), CONSTRAINT);
    assert_eq!(of.refused(of.between("carol", "2026-03-14", "")), CONSTRAINT);
}

#[test]
fn subscriptions_7_3_10_a_type_is_one_of_a_price() {
    let of = licensed(2);
    let other = of.fixture.license_type();
    let new = NewLicense::new(of.subscription.id, other.id, external("alice"));
    assert_eq!(of.refused(new), CONSTRAINT);
    let unknown: LicenseTypeId = UNKNOWN.parse().unwrap();
    let new = NewLicense::new(of.subscription.id, unknown, external("alice"));
    assert_eq!(of.refused(new), ErrorKind::ResourceNotFound);
    let unknown = UNKNOWN.parse().unwrap();
    let new = NewLicense::new(unknown, of.license_type.id, external("alice"));
    assert_eq!(of.refused(new), ErrorKind::ResourceNotFound);
}

#[test]
fn subscriptions_7_2_licenses_are_listed_newest_first_and_filtered() {
    let of = licensed(9);
    for (name, end) in [("alice", ""), ("bob", "2026-03-10"), ("carol", ""), ("bob", "")] {
        of.fixture.clock.advance(std::time::Duration::from_secs(1));
        let start = if end.is_empty() { "2026-03-10" } else { "2026-03-09" };
        of.give(of.between(name, start, end));
    }
    let all = LicenseFilter::default();
    assert_eq!(of.listed(&all), ["bob", "carol", "bob", "alice"]);
    let active = LicenseFilter { status: Some(LicenseStatus::Active), ..all.clone() };
    assert_eq!(of.listed(&active), ["bob", "carol", "alice"]);
    let inactive = LicenseFilter { status: Some(LicenseStatus::Inactive), ..all.clone() };
    assert_eq!(of.listed(&inactive), ["bob"]);
    let bob = LicenseFilter { external_license_id: Some(external("bob")), ..all.clone() };
    assert_eq!(of.listed(&bob), ["bob", "bob"]);
    let own = LicenseFilter { license_type_id: Some(of.license_type.id), ..all.clone() };
    assert_eq!(of.listed(&own).len(), 4);
    let other = of.fixture.license_type().id;
    let other = LicenseFilter { license_type_id: Some(other), ..all.clone() };
    assert!(of.listed(&other).is_empty());
    let unknown = UNKNOWN.parse().unwrap();
    let page = PageRequest::default();
    let missing = block_on(of.fixture.account.list_licenses(unknown, &all, &page)).unwrap_err();
    assert!(missing.is_not_found());
}

#[test]
fn subscriptions_7_2_licenses_go_with_their_customer() {
    let of = licensed(2);
    let alice = of.give(of.new_license("alice"));
    let end = Cancellation::Immediate;
    run(of.fixture.account.cancel_subscription(of.subscription.id, end)).unwrap();
    run(of.fixture.account.delete_customer(of.subscription.customer_id)).unwrap();
    let missing = block_on(of.fixture.account.fetch_license(alice.id)).unwrap_err();
    assert!(missing.is_not_found());
    assert!(of.find("alice").unwrap_err().is_not_found());
}

#[test]
fn subscriptions_7_4_1_without_a_license_fee_there_may_be_any_number() {
    let fixture = Fixture::new();
    let (metric, license_type) = (fixture.metric(SUM), fixture.license_type());
    let usage =
        NewPrice { license_type_id: Some(license_type.id), ..fixture.usage_at("1", &metric) };
    let plan = fixture.priced_plan([PlanPrice::from(usage)]);
    let subscription = fixture.subscribe(fixture.customer("ada").id, &plan);
    for index in 0..3 {
        let name = external(&format!("user {index}"));
        let new = NewLicense::new(subscription.id, license_type.id, name);
        run(fixture.account.create_license(new)).unwrap();
    }
}
