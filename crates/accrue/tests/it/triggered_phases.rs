//! Phases that begin on request (subscriptions 3.4).

use accrue::{
    Email, Zone,
    customer::NewCustomer,
    subscription::{BillingAnchor, NewSubscription},
};

use crate::{
    phases::{Phased, begins, lives, phased, phases},
    support::fixture::{at, external, name, run},
};

#[test]
fn subscriptions_3_4_1_the_phase_that_follows_that_of_the_date_begins() {
    let phased = phased(phases());
    phased.fixture().tick_at("2027-02-10T00:00:00Z");
    let made = phased.subscribe(|_| {});
    let second = run(phased.trigger(&made, Some("2027-02-10"))).unwrap();
    assert_eq!(begins(&second), ["1 2027-01-15", "2 2027-02-10", "3 2027-05-10"]);
    let third = run(phased.trigger(&made, Some("2027-02-20"))).unwrap();
    assert_eq!(begins(&third), ["1 2027-01-15", "2 2027-02-10", "3 2027-02-20"]);
}

#[test]
fn subscriptions_3_4_2_without_a_date_it_is_the_start_of_today_where_the_customer_is() {
    let phased = phased(phases());
    let mut cy = NewCustomer::new(name("Cy"), Email::parse("cy@example.com").unwrap());
    cy.external_customer_id = Some(external("cy"));
    cy.timezone = Some(Zone::parse("America/New_York").unwrap());
    run(phased.fixture().account.create_customer(cy)).unwrap();
    let mut new = NewSubscription::new(external("cy"), phased.plan.id);
    (new.start_date, new.anchor) = (Some(at("2027-01-15T05:00:00Z")), BillingAnchor::FirstOfMonth);
    // It is the evening of the 9th there.
    phased.fixture().tick_at("2027-02-10T03:00:00Z");
    let made = phased.fixture().create(new);
    let triggered = run(phased.trigger(&made, None)).unwrap();
    assert_eq!(triggered.plans()[1].start_date, at("2027-02-09T05:00:00Z"));
}

#[test]
fn subscriptions_3_4_3_later_phases_follow_with_their_whole_lengths() {
    let phased = phased(phases());
    phased.fixture().tick_at("2027-01-18T00:00:00Z");
    let made = phased.subscribe(|_| {});
    let triggered = run(phased.trigger(&made, Some("2027-01-20"))).unwrap();
    let expected = [
        "1 fee 01-15 01-20",
        "1 usage 01-15 01-20",
        "2 fee 01-20 04-20",
        "2 usage 01-20 04-20",
        "3 fee 04-20 -",
        "3 usage 04-20 -",
    ];
    assert_eq!(lives(&triggered), expected);
}

/// Triggers the second phase on 10 February: what was settled then, what came back, and the day of the grid.
fn triggered(phased: &Phased) -> (String, Vec<String>, u8) {
    phased.fixture().tick_at("2027-01-20T00:00:00Z");
    let made = phased.subscribe(|_| {});
    phased.fixture().tick_at("2027-02-10T00:00:00Z");
    let after = run(phased.trigger(&made, None)).unwrap();
    phased.fixture().tick_at("2027-02-12T00:00:00Z");
    let settled = phased.settled(&made);
    let of_then = settled.iter().find(|of| of.contains("issued 2027-02-10")).unwrap();
    let lines = of_then.split_once(": ").unwrap().1.to_owned();
    (lines, phased.changed.notes(), after.billing_cycle_day())
}

#[test]
fn subscriptions_3_4_7_money_is_as_of_a_change_of_plan_and_the_grid_as_the_phase_says() {
    let (lines, notes, day) = triggered(&phased(phases()));
    assert_eq!(lines, "usage 0, fee 42.07 = 42.07", "19 of 28 days of 62");
    assert_eq!((notes, day), (vec!["21.04".to_owned()], 1), "19 of 28 days of 31");
    let mut aligned = phases();
    aligned[1].aligns_billing = true;
    let (lines, notes, day) = triggered(&phased(aligned));
    assert_eq!(lines, "usage 0, fee 62 = 62", "a whole period");
    assert_eq!((notes, day), (vec!["21.04".to_owned()], 10));
}
