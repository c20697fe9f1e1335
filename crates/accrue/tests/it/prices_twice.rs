//! Prices that a subscription has twice at once, for other usage (subscriptions 2.3).

use accrue::{
    CarriedUpdate, Clock as _, Decimal, Patch, PriceId, PriceIntervalId,
    credit::NewLedgerEntry,
    price::{Discount, NewPrice},
    subscription::{
        IntervalChanges, IntervalDate, NewPriceInterval, PriceIntervalEdit, SubscriptionUpdate,
    },
};
use proptest::prelude::*;

use crate::{
    interval_filters::filter,
    invoices::shown,
    price_intervals::{Changed, JANUARY, adding, changed, constraint, editing, tiered},
    support::{
        fixture::{at, block_on, external, number, refused, run},
        priced::{cost_alert, unit},
    },
    usage_customers::of,
};

const EU: &str = "region = 'eu'";
const US: &str = "region = 'us'";

/// A subscription to a price of usage in Europe, and to another one of usage in America, which may be the same.
struct Twice {
    changed: Changed,
    /// Price of the usage in America.
    price: PriceId,
}

impl Twice {
    /// 2 for each unit of either.
    fn new() -> Self {
        Self::of(true, |changed| changed.fixture().usage_at("2", &changed.metric))
    }

    fn of(is_same: bool, new: impl Fn(&Changed) -> NewPrice) -> Self {
        let shop = changed(|fixture, metric| vec![tiered(fixture, metric)]);
        let [first, other] = [0, 1].map(|_| shop.price(new(&shop)));
        let of_plan = shop.of_plan(0);
        let start = at(JANUARY);
        shop.change(IntervalChanges {
            edit: vec![PriceIntervalEdit::ending(of_plan, start)],
            add: vec![NewPriceInterval {
                filter: filter(EU),
                ..NewPriceInterval::new(first, start)
            }],
            ..IntervalChanges::default()
        });
        let twice = Self { changed: shop, price: if is_same { first } else { other } };
        twice.add(US, JANUARY);
        twice
    }

    fn second(&self, condition: &str, start: &str) -> NewPriceInterval {
        NewPriceInterval {
            filter: filter(condition),
            ..NewPriceInterval::new(self.price, at(start))
        }
    }

    fn add(&self, condition: &str, start: &str) -> PriceIntervalId {
        self.changed.add(self.second(condition, start))
    }

    /// The intervals that there are.
    fn intervals(&self) -> Vec<PriceIntervalId> {
        let found = self.changed.fixture().account.fetch_subscription(self.changed.subscription.id);
        block_on(found).unwrap().price_intervals.iter().map(|of| of.id).collect()
    }

    fn give(&self, amount: &str) {
        let new = NewLedgerEntry::increment(unit("USD"), number(amount));
        run(self.changed.fixture().account.create_ledger_entry(external("ada"), new)).unwrap();
    }

    fn balance(&self) -> Option<Decimal> {
        let account = &self.changed.fixture().account;
        block_on(account.credit_balance(external("ada"), &unit("USD"))).unwrap().balance
    }

    fn bill_from(&self, amount: &str) {
        let value = format!("\"{amount}\"");
        let carried = CarriedUpdate::new([("invoicing_threshold", value.as_str())]).unwrap();
        let update = SubscriptionUpdate { carried, ..SubscriptionUpdate::default() };
        let account = &self.changed.fixture().account;
        run(account.update_subscription(self.changed.subscription.id, update)).unwrap();
    }
}

#[test]
fn subscriptions_2_3_12_a_price_is_there_twice_where_filters_differ() {
    let twice = Twice::of(true, |changed| tiered(changed.fixture(), &changed.metric));
    let Twice { changed, .. } = &twice;
    let fixture = changed.fixture();
    fixture.set("2027-01-05T00:00:00Z");
    changed.use_in("a", "2027-01-05T00:00:00Z", "150", "eu");
    changed.use_in("b", "2027-01-05T00:00:00Z", "120", "us");
    changed.use_in("c", "2027-01-05T00:00:00Z", "1000", "asia");
    assert_eq!(changed.cost(JANUARY, "2027-02-01T00:00:00Z"), number("235"));
    fixture.tick_at("2027-02-05T00:00:00Z");
    // Tiers begin anew in each.
    assert_eq!(changed.settled(), ["00001 issued 2027-02-01: usage 125, usage 110 = 235"]);
    let invoices = fixture.invoices(&[]);
    let lines = &invoices[0].lines;
    let said = |at: usize| (lines[at].price_id, lines[at].filter.clone());
    assert_eq!([said(0), said(1)], [(twice.price, filter(EU)), (twice.price, filter(US))]);
    assert_ne!(lines[0].id, lines[1].id);
}

#[test]
fn subscriptions_2_3_12_nothing_is_billed_twice() {
    let twice = Twice::new();
    let Twice { changed, price } = &twice;
    let fixture = changed.fixture();
    let refuse = |changes| constraint(refused(fixture, changed.call(changes)));
    let overlap = format!("two intervals of the price {price} would overlap");
    let later = "2027-03-01T00:00:00Z";
    assert_eq!(refuse(adding(twice.second(US, later))), overlap);
    let [eu, us] = twice.intervals()[..] else { panic!("two") };
    let to = |id, condition| PriceIntervalEdit {
        filter: Patch::Set(filter(condition).unwrap()),
        ..PriceIntervalEdit::new(id)
    };
    assert_eq!(refuse(editing(to(us, EU))), overlap);
    assert_eq!(refuse(editing(to(eu, US))), overlap);
    // They may take turns, and a third one has its own.
    let changes = IntervalChanges {
        edit: vec![to(us, EU), to(eu, US)],
        add: vec![twice.second("region = 'asia'", later)],
        ..IntervalChanges::default()
    };
    assert_eq!(changed.change(changes).price_intervals.len(), 3);
    // What has followed another keeps its lane.
    let [america, europe, _] = twice.intervals()[..] else { panic!("three") };
    changed.edit(PriceIntervalEdit::ending(europe, at(later)));
    let next = twice.add(EU, later);
    changed.edit(to(next, "region = 'africa'"));
    let on = PriceIntervalEdit { end_date: Patch::Clear, ..PriceIntervalEdit::new(europe) };
    assert!(refuse(editing(on)).contains("have followed each other"));
    changed.edit(PriceIntervalEdit::ending(america, at(later)));
    // A fee has no use for a condition.
    let fee = changed.price(fixture.advance_fee("31"));
    changed.add(NewPriceInterval::new(fee, at(later)));
    let again = NewPriceInterval { filter: filter(US), ..NewPriceInterval::new(fee, at(later)) };
    assert!(refuse(adding(again)).contains("would overlap"));
}

#[test]
fn subscriptions_2_3_12_a_price_is_there_twice_where_customers_differ() {
    let shop = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = shop.fixture();
    let bob = fixture.child("bob", shop.subscription.customer_id);
    let price = shop.subscription.price_intervals[0].price_id;
    let of_bob = NewPriceInterval {
        usage_customers: Some(of(&[bob])),
        ..NewPriceInterval::new(price, at(JANUARY))
    };
    shop.add(of_bob.clone());
    let found = constraint(refused(fixture, shop.call(adding(of_bob))));
    assert!(found.contains("would overlap"), "{found}");
    fixture.set("2027-01-05T00:00:00Z");
    shop.invoiced.use_at("a", "2027-01-05T00:00:00Z", "7");
    let event = crate::support::fixture::event("bob", "b", at("2027-01-05T00:00:00Z"), "5");
    run(fixture.account.ingest([event])).unwrap();
    fixture.tick_at("2027-02-05T00:00:00Z");
    assert_eq!(shop.settled(), ["00001 issued 2027-02-01: usage 14, usage 10 = 24"]);
}

#[test]
fn subscriptions_2_3_12_what_a_price_has_of_its_own_is_of_each() {
    let twice = Twice::of(true, |changed| {
        let mut new = changed.fixture().usage_at("2", &changed.metric);
        new.adjustments.discounts = vec![Discount::Percentage("0.5".parse().unwrap())];
        new.adjustments.minimum = Some(number("30"));
        new
    });
    let Twice { changed, .. } = &twice;
    let fixture = changed.fixture();
    fixture.set("2027-01-05T00:00:00Z");
    changed.use_in("a", "2027-01-05T00:00:00Z", "10", "eu");
    changed.use_in("b", "2027-01-05T00:00:00Z", "100", "us");
    let account = &fixture.account;
    let found = block_on(account.fetch_subscription(changed.subscription.id)).unwrap();
    let reached = found.adjustment_intervals.iter().map(|of| {
        found.price_intervals.iter().map(|interval| of.is_over(interval)).collect::<Vec<_>>()
    });
    let each = [[true, false], [true, false], [false, true], [false, true]];
    assert_eq!(reached.collect::<Vec<_>>(), each);
    // Of 20 a half, and 30 at least; of 200 a half.
    assert_eq!(
        shown(&changed.invoiced.upcoming(&found)),
        "DRAFT draft 2027-02-01: usage 30, usage 100 = 130"
    );
    // One that goes takes its own with it.
    let us = twice.intervals()[1];
    changed.edit(PriceIntervalEdit::ending(us, at(JANUARY)));
    assert_eq!(shown(&changed.invoiced.upcoming(&found)), "DRAFT draft 2027-02-01: usage 30 = 30");
}

#[test]
fn subscriptions_2_3_12_intervals_that_come_to_overlap_are_told_apart() {
    let twice = Twice::of(true, |changed| {
        let mut new = changed.fixture().usage_at("2", &changed.metric);
        new.adjustments.discounts = vec![Discount::Percentage("0.5".parse().unwrap())];
        new
    });
    let Twice { changed, .. } = &twice;
    let fixture = changed.fixture();
    let [eu, us] = twice.intervals()[..] else { panic!("two") };
    changed.edit(PriceIntervalEdit::ending(us, at(JANUARY)));
    let march = "2027-03-01T00:00:00Z";
    changed.edit(PriceIntervalEdit::ending(eu, at(march)));
    twice.add(US, march);
    // The first goes on after all.
    let on = |id| PriceIntervalEdit { end_date: Patch::Clear, ..PriceIntervalEdit::new(id) };
    changed.edit(on(eu));
    fixture.set("2027-03-05T00:00:00Z");
    fixture.tick();
    changed.use_in("a", "2027-03-05T00:00:00Z", "10", "eu");
    changed.use_in("b", "2027-03-05T00:00:00Z", "100", "us");
    assert_eq!(changed.cost(march, "2027-04-01T00:00:00Z"), number("110"));
}

#[test]
fn subscriptions_2_3_12_each_draws_its_own_credits_and_is_billed_once() {
    let twice = Twice::new();
    let Twice { changed, .. } = &twice;
    let fixture = changed.fixture();
    twice.give("25");
    twice.bill_from("60");
    fixture.set("2027-01-05T00:00:00Z");
    changed.use_in("a", "2027-01-05T00:00:00Z", "10", "eu");
    changed.use_in("b", "2027-01-05T00:00:00Z", "15", "us");
    assert_eq!(twice.balance(), Some(number("-25")));
    changed.use_in("c", "2027-01-05T00:00:00Z", "10", "us");
    // 25 were there: 20 of Europe, and 5 of 50.
    assert_eq!(changed.settled(), ["00001 issued 2027-01-05: usage 0, usage 45 = 45"]);
    changed.use_in("d", "2027-01-05T00:00:00Z", "1", "eu");
    fixture.tick_at("2027-02-05T00:00:00Z");
    let last = "00002 issued 2027-02-01: usage 2, usage 0 = 2";
    assert_eq!(changed.settled()[1..], [last]);
    assert_eq!(twice.balance(), Some(number("0")));
}

/// What happens to a subscription.
#[derive(Clone, Debug)]
enum Step {
    Use { region: &'static str, n: u32 },
    Give(u32),
    Days(u64),
    End,
    Remove,
    Add,
    Turn,
    Filter(&'static str),
}

fn step() -> impl Strategy<Value = Step> {
    let regions = prop::sample::select(vec!["eu", "us", "us", "asia"]);
    prop_oneof![
        6 => (regions, 1_u32..80).prop_map(|(region, n)| Step::Use { region, n }),
        2 => (1_u32..60).prop_map(Step::Give),
        3 => (1_u64..20).prop_map(Step::Days),
        1 => Just(Step::End),
        1 => Just(Step::Remove),
        1 => Just(Step::Add),
        1 => Just(Step::Turn),
        1 => prop::sample::select(vec![US, "region = 'asia'", "n > 30"]).prop_map(Step::Filter),
    ]
}

impl Twice {
    /// Does a step, where it can be done, and returns what a person sees then.
    fn take(&self, key: usize, step: &Step) -> (bool, Vec<String>) {
        let Changed { invoiced, .. } = &self.changed;
        let fixture = self.changed.fixture();
        let now = invoiced.fixture.clock.now();
        let second = self.intervals().get(1).copied();
        let edit = |edit: Option<PriceIntervalEdit>| {
            let changes = edit.map(editing).unwrap_or_default();
            run(self.changed.call(changes)).is_ok()
        };
        let is_done = match step {
            Step::Use { region, n } => {
                self.changed.use_in(&key.to_string(), &now.to_string(), &n.to_string(), region);
                true
            }
            Step::Give(amount) => {
                self.give(&amount.to_string());
                true
            }
            Step::Days(days) => {
                fixture.advance_days(*days);
                fixture.tick();
                true
            }
            Step::End => edit(second.map(|id| PriceIntervalEdit::ending(id, now))),
            Step::Remove => edit(second.map(|id| PriceIntervalEdit {
                end_date: Patch::Set(IntervalDate::At(self.start_of(id))),
                ..PriceIntervalEdit::new(id)
            })),
            Step::Add => run(self.changed.call(adding(self.second(US, &now.to_string())))).is_ok(),
            Step::Turn => edit(second.map(|id| PriceIntervalEdit {
                end_date: Patch::Clear,
                ..PriceIntervalEdit::new(id)
            })),
            Step::Filter(condition) => edit(second.map(|id| PriceIntervalEdit {
                filter: Patch::Set(filter(condition).unwrap()),
                ..PriceIntervalEdit::new(id)
            })),
        };
        let mut seen = self.changed.everything();
        seen.extend(self.changed.notes());
        seen.extend(fixture.fired());
        seen.push(format!("{:?}", self.balance()));
        let cost = self.changed.cost(JANUARY, "2027-12-01T00:00:00Z");
        seen.push(format!("{cost} in all, {} intervals", self.intervals().len()));
        (is_done, seen)
    }

    fn start_of(&self, id: PriceIntervalId) -> accrue::Timestamp {
        let found = self.changed.fixture().account.fetch_subscription(self.changed.subscription.id);
        let found = block_on(found).unwrap().price_intervals;
        found.iter().find(|of| of.id == id).unwrap().start_date
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A price twice is as two prices that are alike.
    #[test]
    fn subscriptions_2_3_12_a_price_twice_comes_to_what_two_prices_do(
        steps in prop::collection::vec(step(), 1..24),
        is_tiered in any::<bool>(),
        threshold in prop::option::of(20_u32..200),
    ) {
        let both = [true, false].map(|is_same| {
            let twice = Twice::of(is_same, |changed| match is_tiered {
                true => tiered(changed.fixture(), &changed.metric),
                false => changed.fixture().usage_at("2", &changed.metric),
            });
            let account = &twice.changed.fixture().account;
            let alert = cost_alert(&["30", "90", "200"]);
            run(account.create_subscription_alert(twice.changed.subscription.id, alert)).unwrap();
            if let Some(threshold) = threshold {
                twice.bill_from(&threshold.to_string());
            }
            twice
        });
        for (key, step) in steps.iter().enumerate() {
            let [one, two] = both.each_ref().map(|of| of.take(key, step));
            // Two prices may overlap where one may not.
            prop_assume!(one.0 || !two.0);
            prop_assert_eq!(one, two, "{:?}", step);
        }
    }
}
