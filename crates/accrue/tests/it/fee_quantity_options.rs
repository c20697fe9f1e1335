//! When another quantity of a fee counts, and what is invoiced for it (subscriptions 3.6).

use accrue::{
    ErrorKind,
    price::{BillingMode, Cadence},
    subscription::{
        Cancellation, ChangeTiming, FeeQuantityChange, IntervalChanges, NewPriceInterval,
        PriceIntervalEdit, Subscription,
    },
};

use crate::{
    price_intervals::{Changed, changed, constraint},
    support::fixture::{at, number, refused, run},
};

impl Changed {
    /// Changes the quantity of the first fee.
    fn quantity(&self, quantity: &str, when: ChangeTiming) -> accrue::Call<Subscription> {
        let price = self.subscription.price_intervals[0].price_id.into();
        let change = FeeQuantityChange { price, quantity: number(quantity), when };
        self.fixture().account.update_fixed_fee_quantity(self.subscription.id, change)
    }
}

fn on(day: &str) -> ChangeTiming {
    ChangeTiming::EffectiveDate(at(&format!("{day}T00:00:00Z")))
}

#[test]
fn subscriptions_3_6_an_increase_in_advance_is_invoiced_at_once_for_the_rest() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    changed.fixture().tick_at("2027-01-11T00:00:00Z");
    run(changed.quantity("3", ChangeTiming::Immediate)).unwrap();
    let expected = ["00001 issued 2027-01-01: fee 31 = 31", "00002 issued 2027-01-11: fee 42 = 42"];
    assert_eq!(changed.settled(), expected, "2 more for 21 of 31 days");
}

#[test]
fn subscriptions_3_6_upcoming_is_the_next_period_of_that_fee() {
    let changed = changed(|fixture, metric| {
        let quarterly = fixture.fee_of("90", Cadence::Quarterly, BillingMode::InAdvance);
        vec![quarterly, fixture.usage_at("1", metric)]
    });
    changed.fixture().tick_at("2027-02-10T00:00:00Z");
    let after = run(changed.quantity("2", ChangeTiming::UpcomingInvoice)).unwrap();
    let stretches = after.fee_schedule(&after.price_intervals[0]);
    let shown: Vec<_> =
        stretches.iter().map(|of| (of.start_date, of.quantity.to_string())).collect();
    let next = at("2027-04-01T00:00:00Z");
    assert_eq!(shown, [(after.start_date, "1".to_owned()), (next, "2".to_owned())]);
    assert_eq!(changed.settled().len(), 2, "nothing more is invoiced now");
}

#[test]
fn subscriptions_3_6_only_a_fee_of_what_is_active_and_from_zero_on() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let (kind, _) = refused(fixture, changed.quantity("-1", ChangeTiming::Immediate));
    assert_eq!(kind, ErrorKind::RequestValidation);
    let usage = changed.add(NewPriceInterval::new(
        fixture.usage_at("1", &changed.metric),
        at("2027-01-01T00:00:00Z"),
    ));
    let of = changed.fetch();
    let usage = of.price_intervals.iter().find(|of| of.id == usage).unwrap().price_id;
    let change = FeeQuantityChange::immediate(usage, number("2"));
    constraint(refused(fixture, fixture.account.update_fixed_fee_quantity(of.id, change)));
    let later = changed.invoiced.subscribe_with("2027-03-01T00:00:00Z", |_| {});
    for when in [ChangeTiming::Immediate, ChangeTiming::UpcomingInvoice, on("2027-03-01")] {
        let price = later.price_intervals[0].price_id.into();
        let change = FeeQuantityChange { price, quantity: number("2"), when };
        let call = fixture.account.update_fixed_fee_quantity(later.id, change);
        assert_eq!(constraint(refused(fixture, call)), "the subscription has not begun yet");
    }
    run(fixture.account.cancel_subscription(of.id, Cancellation::Immediate)).unwrap();
    constraint(refused(fixture, changed.quantity("2", ChangeTiming::Immediate)));
}

#[test]
fn subscriptions_3_6_a_date_may_lie_in_periods_that_were_invoiced() {
    let of_april = || {
        let changed =
            changed(|fixture, _| vec![fixture.advance_fee("31"), fixture.arrear_fee("5")]);
        changed.fixture().tick_at("2027-04-02T00:00:00Z");
        changed
    };
    let changed = of_april();
    run(changed.quantity("2", on("2027-01-11"))).unwrap();
    let edited = of_april();
    let quantities = Some(vec![(at("2027-01-11T00:00:00Z"), number("2"))]);
    let edit = PriceIntervalEdit { quantities, ..PriceIntervalEdit::new(edited.of_plan(0)) };
    edited.change(IntervalChanges { edit: vec![edit], ..IntervalChanges::default() });
    let expected = [
        "00001 issued 2027-01-01: fee 31 = 31",
        "00005 issued 2027-01-11: fee 21 = 21",
        "00006 issued 2027-02-01: fee 62, fee 5 = 67",
        "00007 issued 2027-03-01: fee 62, fee 5 = 67",
        "00008 issued 2027-04-01: fee 62, fee 5 = 67",
    ];
    assert_eq!(changed.settled(), expected, "what nobody has paid for is issued anew");
    assert_eq!(changed.everything(), edited.everything(), "as where the interval is edited");
    constraint(refused(
        changed.fixture(),
        changed.quantity("3", on("2027-02-05")).leaving_invoices(),
    ));
}

#[test]
fn subscriptions_3_6_of_several_intervals_that_of_the_date_is_meant() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let price = changed.subscription.price_intervals[0].price_id;
    let edit = vec![PriceIntervalEdit::ending(changed.of_plan(0), at("2027-02-01T00:00:00Z"))];
    let add = vec![NewPriceInterval::new(price, at("2027-03-01T00:00:00Z"))];
    changed.change(IntervalChanges { edit, add, ..IntervalChanges::default() });
    run(changed.quantity("2", on("2027-01-11"))).unwrap();
    let after = run(changed.quantity("5", on("2027-03-11"))).unwrap();
    let quantities = |place: usize| {
        let of = after.fee_schedule(&after.price_intervals[place]);
        of.iter().map(|of| of.quantity.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        (quantities(0), quantities(1)),
        (vec!["1".into(), "2".into()], vec!["1".into(), "5".into()])
    );
    constraint(refused(fixture, changed.quantity("3", on("2027-02-10"))));
}
