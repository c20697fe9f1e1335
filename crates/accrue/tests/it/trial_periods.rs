//! Trials as periods: when they end, what is billed of them, and what follows (subscriptions 1.7).

use accrue::{
    Email, Patch, Zone,
    customer::NewCustomer,
    subscription::{
        BillingAnchor, NewSubscription, PriceIntervalEdit, Subscription, UsageCustomers,
    },
};

use crate::{
    price_intervals::{constraint, editing},
    support::fixture::{at, block_on, external, name, number, refused, run},
    trials::{END, OnTrial, START, lives},
};

/// The end of a trial of so many days, of a customer in a zone.
fn end_of(zone: &str, start: &str, days: u32) -> String {
    let on = OnTrial::new();
    let mut new = NewCustomer::new(name("Cy"), Email::parse("cy@example.com").unwrap());
    new.external_customer_id = Some(external("cy"));
    new.timezone = Some(Zone::parse(zone).unwrap());
    run(on.fixture().account.create_customer(new)).unwrap();
    let mut new = NewSubscription::new(external("cy"), on.changed.invoiced.plan.id);
    (new.start_date, new.trial_days) = (Some(at(start)), Some(days));
    let made = on.fixture().create(new);
    made.trial_end().unwrap().to_string().replace(":00.000000Z", "Z")
}

fn period(of: &Subscription, at: &str) -> [String; 2] {
    let period = of.periods().containing(self::at(at)).unwrap();
    [period.start(), period.end()].map(|at| at.to_string()[..16].to_owned())
}

#[test]
fn subscriptions_1_7_1_a_trial_ends_so_many_days_of_the_customers_clocks_later() {
    // The clocks went back, and forward: a day of 25 hours, and one of 23.
    let berlin = end_of("Europe/Berlin", "2027-10-24T22:00:00Z", 14);
    assert_eq!(berlin, "2027-11-07T23:00Z");
    let york = end_of("America/New_York", "2027-03-07T17:30:00Z", 14);
    assert_eq!(york, "2027-03-21T16:30Z");
    assert_eq!(end_of("UTC", "2027-03-07T17:30:00Z", 14), "2027-03-21T17:30Z");
}

#[test]
fn subscriptions_1_7_2_its_end_is_shown_before_during_and_after() {
    let on = OnTrial::new();
    on.fixture().set("2027-03-01T00:00:00Z");
    let made = on.subscribe(|_| {});
    let without = on.subscribe(|new| new.trial_days = None);
    for now in ["2027-03-01T00:00:00Z", "2027-03-25T00:00:00Z", "2027-05-25T00:00:00Z"] {
        on.fixture().tick_at(now);
        let end = |of: &Subscription| {
            let found = on.fixture().account.fetch_subscription(of.id);
            block_on(found).unwrap().trial_end()
        };
        assert_eq!((end(&made), end(&without)), (Some(at(END)), None), "{now}");
    }
}

#[test]
fn subscriptions_1_7_3_usage_has_one_interval_on_trial_and_one_behind_it() {
    let on = OnTrial::new();
    let made = on.subscribe(|_| {});
    let usage: Vec<_> = made.price_intervals.iter().filter(|of| !of.is_fee()).collect();
    let [first, second] = usage.as_slice() else { panic!("{usage:?}") };
    assert_eq!((first.start_date, first.end_date), (at(START), Some(at(END))));
    assert_eq!((second.start_date, second.end_date), (at(END), None));
    assert_eq!(first.price_id, second.price_id);
    assert_eq!((first.is_trial(), second.is_trial()), (true, false));
}

#[test]
fn subscriptions_1_7_5_all_of_a_trial_is_one_period_with_one_invoice_at_its_end() {
    let on = OnTrial::new();
    on.fixture().set(START);
    let made = on.subscribe(|new| new.trial_days = Some(45));
    let end = "2027-05-03T22:00:00Z";
    for day in ["2027-03-25T00:00:00Z", "2027-04-15T00:00:00Z", "2027-05-02T00:00:00Z"] {
        on.fixture().tick_at(day);
        on.uses(day, day, "100");
        assert_eq!(period(&made, day), ["2027-03-19T23:00", "2027-05-03T22:00"]);
        assert!(on.settled(&made).is_empty(), "also where months end within it");
    }
    on.fixture().tick_at("2027-05-06T00:00:00Z");
    let expected = "00001 issued 2027-05-03: fee 54.19, usage 0 = 54.19";
    assert_eq!(on.settled(&made), [expected], "28 of 31 days of 60");
    assert_eq!(made.trial_end(), Some(at(end)));
    assert_eq!(on.cost(&made, START, end), ("30".to_owned(), "0".to_owned()));
}

#[test]
fn subscriptions_1_7_6_the_subtotal_is_at_list_price_and_the_total_without() {
    let on = OnTrial::new();
    on.fixture().set("2027-03-20T12:00:00Z");
    let made = on.subscribe(|_| {});
    on.uses("a", "2027-03-20T12:00:00Z", "300");
    assert_eq!(on.cost(&made, START, END), ("30".to_owned(), "0".to_owned()));
    on.fixture().tick_at("2027-04-03T12:00:00Z");
    on.uses("b", "2027-04-03T12:00:00Z", "70");
    let may = on.cost(&made, END, crate::trials::MAY);
    assert_eq!(may, ("63".to_owned(), "63".to_owned()), "a fee of 56, and 7 of usage");
}

#[test]
fn subscriptions_1_7_7_a_fee_begins_with_the_end_of_the_trial() {
    let on = OnTrial::new();
    on.fixture().set("2027-03-20T12:00:00Z");
    let made = on.subscribe(|_| {});
    let fees = lives(&made).into_iter().filter(|of| of.starts_with("fee"));
    assert_eq!(fees.collect::<Vec<_>>(), ["fee 04-02T22:00 -"], "one interval");
    assert_eq!(on.cost(&made, START, END), ("0".to_owned(), "0".to_owned()));
    on.fixture().tick_at("2027-04-02T00:00:00Z");
    assert!(on.settled(&made).is_empty());
}

#[test]
fn subscriptions_1_7_9_the_grid_stays_and_the_first_period_is_its_rest() {
    let on = OnTrial::new();
    on.fixture().set(START);
    let made = on.subscribe(|new| {
        new.anchor = BillingAnchor::Day { day: 15, month: None, year: None };
    });
    assert_eq!(made.billing_cycle_day(), 15);
    assert_eq!(period(&made, END), ["2027-04-02T22:00", "2027-04-14T22:00"]);
    assert_eq!(period(&made, "2027-04-20T00:00:00Z"), ["2027-04-14T22:00", "2027-05-14T22:00"]);
    on.fixture().tick_at("2027-04-17T00:00:00Z");
    let expected = [
        "00001 issued 2027-04-02: fee 23.23, usage 0 = 23.23",
        "00002 issued 2027-04-14: fee 60, usage 0 = 60",
    ];
    assert_eq!(on.settled(&made), expected, "12 of 31 days, and a month");
    let rest = on.cost(&made, END, "2027-04-14T22:00:00Z").1;
    assert_eq!(number(&rest), number("23.23"));
}

#[test]
fn subscriptions_2_3_14_no_field_of_what_is_on_trial_is_edited() {
    let on = OnTrial::new();
    let made = on.subscribe(|_| {});
    let trial = made.price_intervals.iter().find(|of| of.is_trial()).unwrap().id;
    let own = UsageCustomers::new([made.customer_id]).unwrap();
    let unchanged = || PriceIntervalEdit::new(trial);
    let edits = [
        PriceIntervalEdit { start_date: Some(at(START).into()), ..unchanged() },
        PriceIntervalEdit { end_date: Patch::Clear, ..unchanged() },
        PriceIntervalEdit { billing_cycle_day: Some(1), ..unchanged() },
        PriceIntervalEdit { can_defer_billing: Some(true), ..unchanged() },
        PriceIntervalEdit { filter: Patch::Clear, ..unchanged() },
        PriceIntervalEdit { usage_customers: Patch::Set(own), ..unchanged() },
        PriceIntervalEdit { quantities: Some(Vec::new()), ..unchanged() },
    ];
    for edit in edits {
        let call = on.fixture().account.change_intervals(made.id, editing(edit.clone()));
        let found = constraint(refused(on.fixture(), call));
        assert!(found.ends_with("is on trial"), "{edit:?}: {found}");
    }
}
