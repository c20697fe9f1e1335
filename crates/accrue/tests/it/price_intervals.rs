//! Price intervals of running subscriptions (subscriptions 2.1 to 2.3, 2.5, 2.7, 2.8).

use accrue::{
    Decimal, ErrorKind, PageRequest, Patch, PriceId, PriceIntervalId,
    cost::CostQuery,
    invoice::{CreditNoteFilter, InvoiceStatus},
    metric::Metric,
    plan::PlanPrice,
    price::{Adjustments, Cadence, Charge, Discount, Model, NewCharge, NewPrice, Tier, Tiered},
    subscription::{
        Cancellation, IntervalChanges, IntervalDate, NewPriceInterval, NewSubscription,
        PriceIntervalEdit, Subscription,
    },
    webhook::Body,
};

use crate::{
    invoices::{DRAFT, Invoiced, SETTLED, all, invoiced_with},
    support::{
        credited::CREDITS,
        fixture::{Fixture, at, block_on, number, refused, run},
        priced::{NOTHING, between, cost_alert, priced, unit},
    },
};

pub(crate) const JANUARY: &str = "2027-01-01T00:00:00Z";

/// An account that invoices, on a plan with some prices, whose subscription began on 1 January.
pub(crate) struct Changed {
    pub(crate) invoiced: Invoiced,
    pub(crate) metric: Metric,
    pub(crate) subscription: Subscription,
}

pub(crate) fn changed(prices: impl FnOnce(&Fixture, &Metric) -> Vec<NewPrice>) -> Changed {
    let mut of = None;
    let invoiced = invoiced_with(|fixture, metric| {
        of = Some(metric.clone());
        prices(fixture, metric)
    });
    invoiced.fixture.set(JANUARY);
    let subscription = invoiced.subscribe(JANUARY);
    invoiced.fixture.messages();
    Changed { invoiced, metric: of.unwrap(), subscription }
}

impl Changed {
    pub(crate) fn fixture(&self) -> &Fixture {
        &self.invoiced.fixture
    }

    pub(crate) fn call(&self, changes: IntervalChanges) -> accrue::Call<Subscription> {
        self.fixture().account.change_intervals(self.subscription.id, changes)
    }

    pub(crate) fn change(&self, changes: IntervalChanges) -> Subscription {
        run(self.call(changes)).unwrap()
    }

    pub(crate) fn add(&self, new: NewPriceInterval) -> PriceIntervalId {
        let all = self.change(adding(new)).price_intervals;
        all.last().unwrap().id
    }

    pub(crate) fn edit(&self, edit: PriceIntervalEdit) -> Subscription {
        self.change(editing(edit))
    }

    pub(crate) fn price(&self, new: NewPrice) -> PriceId {
        run(self.fixture().account.create_price(new)).unwrap().id
    }

    /// The interval of the plan's price at a place.
    pub(crate) fn of_plan(&self, place: usize) -> PriceIntervalId {
        self.subscription.price_intervals[place].id
    }

    pub(crate) fn settled(&self) -> Vec<String> {
        let mut found = all(&self.fixture().invoices(SETTLED));
        found.sort();
        found
    }

    pub(crate) fn everything(&self) -> Vec<String> {
        use InvoiceStatus::{Draft, Issued, Paid, Synced, Void};
        let mut found = all(&self.fixture().invoices(&[Draft, Issued, Paid, Synced, Void]));
        found.sort();
        found
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        let (filter, page) = (CreditNoteFilter::default(), PageRequest::default());
        let notes = self.fixture().account.list_credit_notes(&filter, &page);
        let notes = block_on(notes).unwrap().data;
        notes.iter().filter(|of| of.voided_at.is_none()).map(|of| of.total.to_string()).collect()
    }

    pub(crate) fn cost(&self, from: &str, to: &str) -> Decimal {
        let query = CostQuery { timeframe: between(from, to).into(), ..CostQuery::default() };
        self.fixture().cost(&self.subscription, &query).total
    }
}

pub(crate) fn adding(new: NewPriceInterval) -> IntervalChanges {
    IntervalChanges { add: vec![new], ..IntervalChanges::default() }
}

pub(crate) fn editing(edit: PriceIntervalEdit) -> IntervalChanges {
    IntervalChanges { edit: vec![edit], ..IntervalChanges::default() }
}

fn ending(new: NewPriceInterval, end: &str) -> NewPriceInterval {
    NewPriceInterval { end_date: Some(IntervalDate::At(at(end))), ..new }
}

fn with_quantities(new: NewPriceInterval, quantities: &[(&str, &str)]) -> NewPriceInterval {
    let quantities = quantities.iter().map(|(date, of)| (at(date), number(of))).collect();
    NewPriceInterval { quantities, ..new }
}

/// Tiers of 1.00 up to 100 units, and of 0.50 above.
pub(crate) fn tiered(fixture: &Fixture, metric: &Metric) -> NewPrice {
    let first = Tier::new(number("0"), Some(number("100")), number("1"));
    let rest = Tier::new(number("100"), None, number("0.5"));
    let mut price = fixture.usage_at("1", metric);
    let model = Model::Tiered(Tiered::new([first, rest]));
    price.charge = Charge::Usage { metric_id: metric.id, model }.into();
    price
}

pub(crate) fn constraint(found: (ErrorKind, String)) -> String {
    assert_eq!(found.0, ErrorKind::ConstraintViolation, "{}", found.1);
    found.1
}

#[test]
fn subscriptions_2_3_1_to_3_a_usage_price_is_replaced_and_each_interval_has_its_own_tiers() {
    let changed = changed(|fixture, metric| vec![tiered(fixture, metric)]);
    let fixture = changed.fixture();
    fixture.tick_at("2027-05-01T00:00:00Z");
    changed.invoiced.use_at("a", "2027-05-01T00:00:00Z", "150");
    fixture.set("2027-05-12T00:00:00Z");
    let price = changed.price(tiered(fixture, &changed.metric));
    let middle = at("2027-05-12T00:00:00Z");
    let after = changed.change(IntervalChanges {
        edit: vec![PriceIntervalEdit::ending(changed.of_plan(0), middle)],
        add: vec![NewPriceInterval::new(price, middle)],
        ..IntervalChanges::default()
    });
    assert_eq!(after.price_intervals.len(), 2);
    fixture.set("2027-05-20T00:00:00Z");
    changed.invoiced.use_at("b", "2027-05-20T00:00:00Z", "50");
    assert_eq!(changed.cost("2027-05-01T00:00:00Z", "2027-06-01T00:00:00Z"), number("175"));
    fixture.tick_at("2027-06-03T00:00:00Z");
    let found = changed.settled();
    assert_eq!(
        found[4..],
        ["00005 issued 2027-05-12: usage 125 = 125", "00006 issued 2027-06-01: usage 50 = 50",]
    );
}

#[test]
fn subscriptions_2_3_4_and_5_a_fee_in_advance_is_added_and_ended_by_days() {
    let changed = changed(|_, _| Vec::new());
    let fixture = changed.fixture();
    fixture.set("2027-01-16T00:00:00Z");
    let price = changed.price(fixture.advance_fee("31"));
    let id = changed.add(NewPriceInterval::new(price, at("2027-01-16T00:00:00Z")));
    assert_eq!(changed.settled(), ["00001 issued 2027-01-16: fee 16 = 16"]);
    assert_eq!(all(&fixture.invoices(DRAFT)), ["DRAFT draft 2027-02-01: fee 31 = 31"]);
    fixture.set("2027-01-21T00:00:00Z");
    changed.edit(PriceIntervalEdit::ending(id, at("2027-01-21T00:00:00Z")));
    assert_eq!(changed.notes(), ["11"]);
    assert_eq!(changed.cost(JANUARY, "2027-02-01T00:00:00Z"), number("5"));
    assert!(fixture.invoices(DRAFT).is_empty());
    fixture.tick_at("2027-06-01T00:00:00Z");
    assert_eq!(changed.settled().len(), 1);
}

#[test]
fn subscriptions_2_3_5_an_end_that_is_taken_away_takes_its_credit_note_back() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    fixture.set("2027-01-10T00:00:00Z");
    changed.edit(PriceIntervalEdit::ending(changed.of_plan(0), at("2027-01-21T00:00:00Z")));
    assert_eq!(changed.notes(), ["11"], "of a fee of the plan, with an end that is still to come");
    let on =
        PriceIntervalEdit { end_date: Patch::Clear, ..PriceIntervalEdit::new(changed.of_plan(0)) };
    changed.edit(on);
    assert!(changed.notes().is_empty());
    fixture.tick_at("2027-02-01T00:00:00Z");
    let expected = ["00001 issued 2027-01-01: fee 31 = 31", "00002 issued 2027-02-01: fee 31 = 31"];
    assert_eq!(changed.settled(), expected);
}

#[test]
fn subscriptions_2_3_3_usage_of_the_past_counts_at_once_and_an_alert_on_cost_fires() {
    let priced = priced::<1>(|fixture, metric| [fixture.usage_at("0", metric)]);
    let fixture = &priced.fixture;
    fixture.set("2027-06-12T00:00:00Z");
    priced.use_now("first", "7");
    fixture.set("2027-06-20T00:00:00Z");
    priced.use_now("second", "5");
    priced.alert(cost_alert(&["20"]));
    fixture.messages();
    let price =
        run(fixture.account.create_price(fixture.usage_at("2", &priced.metric))).unwrap().id;
    let add = adding(NewPriceInterval::new(price, at("2027-06-10T12:00:00Z")));
    run(fixture.account.change_intervals(priced.subscription.id, add)).unwrap();
    assert_eq!(fixture.told(), ["cost 20: 0 -> 24 by subscription"]);
    fixture.set("2027-06-21T00:00:00Z");
    priced.use_now("third", "1");
    assert_eq!(fixture.told(), NOTHING, "judged once");
    let cost = priced.cost_between("2027-06-10T12:00:00Z", "2027-07-10T12:00:00Z");
    assert_eq!(cost.total, number("26"));
}

#[test]
fn subscriptions_2_3_6_usage_and_fees_in_arrears_that_end_are_billed_at_their_end() {
    let changed =
        changed(|fixture, metric| vec![fixture.usage_at("2", metric), fixture.arrear_fee("31")]);
    let fixture = changed.fixture();
    fixture.set("2027-01-05T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-05T00:00:00Z", "7");
    let end = at("2027-01-11T00:00:00Z");
    let edit = [0, 1].map(|place| PriceIntervalEdit::ending(changed.of_plan(place), end));
    changed.change(IntervalChanges { edit: edit.into(), ..IntervalChanges::default() });
    fixture.tick_at("2027-01-13T00:00:00Z");
    assert_eq!(changed.settled(), ["00001 issued 2027-01-11: usage 14, fee 10 = 24"]);
    fixture.tick_at("2027-03-13T00:00:00Z");
    assert_eq!(changed.settled().len(), 1);
}

#[test]
fn subscriptions_2_3_7_an_interval_that_ends_with_its_start_is_gone() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    let mut new = fixture.advance_fee("31");
    new.adjustments.discounts = vec![Discount::Amount(number("1"))];
    let price = changed.price(new);
    let start = at("2027-03-01T00:00:00Z");
    let id = changed.add(NewPriceInterval::new(price, start));
    let found = block_on(fixture.account.fetch_subscription(changed.subscription.id)).unwrap();
    assert_eq!((found.price_intervals.len(), found.adjustment_intervals.len()), (2, 1));
    let after = changed.edit(PriceIntervalEdit::ending(id, start));
    assert_eq!(after, changed.subscription);
    let found = block_on(fixture.account.fetch_subscription(changed.subscription.id)).unwrap();
    assert_eq!(found, changed.subscription);
}

#[test]
fn subscriptions_2_3_11_to_13_intervals_that_cannot_be_together_are_refused() {
    let changed =
        changed(|fixture, metric| vec![fixture.usage_at("2", metric), fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let usage = changed.subscription.price_intervals[0].price_id;
    let later = at("2027-03-01T00:00:00Z");
    let refuse = |changes| constraint(refused(fixture, changed.call(changes)));
    let found = refuse(adding(NewPriceInterval::new(usage, later)));
    assert_eq!(found, format!("two intervals of the price {usage} would overlap"));
    let days = |places: &[usize]| {
        let edit = places.iter().map(|place| PriceIntervalEdit {
            billing_cycle_day: Some(15),
            ..PriceIntervalEdit::new(changed.of_plan(*place))
        });
        IntervalChanges { edit: edit.collect(), ..IntervalChanges::default() }
    };
    assert!(refuse(days(&[0])).contains("begin their periods on different days"));
    assert!(
        refuse(adding(NewPriceInterval::new(
            changed.price(fixture.advance_fee("1")),
            at("2026-12-31T23:59:59Z"),
        )))
        .contains("is before that of the subscription")
    );
    let both = changed.change(days(&[0, 1]));
    fixture.tick_at("2027-01-15T00:00:00Z");
    assert!(both.price_intervals.iter().all(|of| of.anchor != both.anchor));

    run(fixture.account.cancel_subscription(
        changed.subscription.id,
        Cancellation::RequestedDate(at("2027-06-01T00:00:00Z")),
    ))
    .unwrap();
    let price = changed.price(fixture.advance_fee("1"));
    let late = refuse(adding(NewPriceInterval::new(price, at("2027-06-01T00:00:00Z"))));
    assert!(late.contains("is not before the end of the subscription"), "{late}");
    let new = ending(NewPriceInterval::new(price, later), "2027-06-02T00:00:00Z");
    assert!(refuse(adding(new)).contains("the end is behind that of the subscription"));
}

#[test]
fn subscriptions_2_2_words_are_of_the_prices_own_period() {
    let changed = changed(|fixture, _| {
        vec![fixture.fee_of("1200", Cadence::Annual, accrue::price::BillingMode::InAdvance)]
    });
    let fixture = changed.fixture();
    fixture.set("2027-03-10T12:00:00Z");
    let price = changed.price(fixture.advance_fee("31"));
    let new = NewPriceInterval {
        end_date: Some(IntervalDate::EndOfTerm),
        ..NewPriceInterval::new(price, IntervalDate::StartOfTerm)
    };
    let after = changed.change(adding(new));
    let [annual, monthly] = after.price_intervals.as_slice() else { panic!("{after:?}") };
    assert_eq!(monthly.start_date, at("2027-03-01T00:00:00Z"));
    assert_eq!(monthly.end_date, Some(at("2027-04-01T00:00:00Z")));
    let id = annual.id;
    let after = changed.edit(PriceIntervalEdit::ending(id, IntervalDate::EndOfTerm));
    assert_eq!(after.price_intervals[0].end_date, Some(at("2028-01-01T00:00:00Z")));

    let upcoming = Fixture::new();
    upcoming.set(JANUARY);
    let plan = upcoming.priced_plan([upcoming.advance_fee("1").into()]);
    let ada = upcoming.customer("ada");
    let mut new = NewSubscription::new(ada.id, plan.id);
    new.start_date = Some(at("2027-02-01T00:00:00Z"));
    let subscription = run(upcoming.account.create_subscription(new)).unwrap();
    let edit =
        PriceIntervalEdit::ending(subscription.price_intervals[0].id, IntervalDate::EndOfTerm);
    let found =
        refused(&upcoming, upcoming.account.change_intervals(subscription.id, editing(edit)));
    assert_eq!(constraint(found), "the subscription is not active: it has no term now");
}

#[test]
fn subscriptions_2_5_quantities_of_a_fee_in_advance() {
    let changed = changed(|_, _| Vec::new());
    let fixture = changed.fixture();
    fixture.set("2027-02-10T00:00:00Z");
    let mut seats = fixture.advance_fee("6.20");
    if let NewCharge::Of(Charge::Fixed { quantity, .. }) = &mut seats.charge {
        *quantity = Decimal::from(10);
    }
    let price = changed.price(seats);
    let new = NewPriceInterval::new(price, at("2027-03-01T00:00:00Z"));
    let id = changed.add(with_quantities(new, &[("2027-03-11T00:00:00Z", "14")]));
    let told = |fixture: &Fixture| {
        let bodies = fixture.messages().into_iter().filter_map(|message| match message.body {
            Body::FixedFeeQuantityUpdated {
                effective_date, new_quantity, old_quantity, ..
            } => {
                let day = effective_date.to_string()[..10].to_owned();
                Some(format!("{day}: {old_quantity} -> {new_quantity}"))
            }
            _ => None,
        });
        bodies.collect::<Vec<_>>()
    };
    assert_eq!(told(fixture), ["2027-03-11: 10 -> 14"]);
    for now in ["2027-03-01T00:00:00Z", "2027-03-11T00:00:00Z", "2027-04-01T00:00:00Z"] {
        fixture.tick_at(now);
    }
    let expected = [
        "00001 issued 2027-03-01: fee 62 = 62",
        "00002 issued 2027-03-11: fee 16.8 = 16.8",
        "00003 issued 2027-04-01: fee 86.8 = 86.8",
    ];
    assert_eq!(changed.settled(), expected);

    // The list takes the place of the whole list; nothing in it is the price's own quantity throughout.
    fixture.messages();
    let quantities = |list: &[(&str, &str)]| PriceIntervalEdit {
        quantities: Some(list.iter().map(|(date, of)| (at(date), number(of))).collect()),
        ..PriceIntervalEdit::new(id)
    };
    let last = ("2027-05-01T00:00:00Z", "2.5");
    let after = changed.edit(quantities(&[
        ("2027-03-11T00:00:00Z", "14"),
        ("2027-05-01T00:00:00Z", "7"),
        last,
    ]));
    assert_eq!(told(fixture), ["2027-05-01: 14 -> 2.5"], "the later one in the list counts");
    let stretches = after.fee_schedule(&after.price_intervals[0]);
    let shown = stretches.iter().map(|of| (of.start_date, of.quantity.to_string()));
    let expected = [("2027-03-01", "10"), ("2027-03-11", "14"), ("2027-05-01", "2.5")];
    let expected = expected.map(|(day, of)| (at(&format!("{day}T00:00:00Z")), of.to_owned()));
    assert_eq!(shown.collect::<Vec<_>>(), expected);

    let outside = editing(quantities(&[("2027-02-28T00:00:00Z", "1")]));
    let found = constraint(refused(fixture, changed.call(outside)));
    assert!(found.contains("is not within the interval"), "{found}");
    let negative = editing(quantities(&[("2027-05-01T00:00:00Z", "-1")]));
    let (kind, _) = refused(fixture, changed.call(negative));
    assert_eq!(kind, ErrorKind::RequestValidation);

    let after = changed.edit(quantities(&[]));
    assert_eq!(after.fee_schedule(&after.price_intervals[0]).len(), 1);
    let mut notes = changed.notes();
    notes.sort();
    assert_eq!(notes, ["16.8", "24.8"], "of March and of April");
}

#[test]
fn subscriptions_2_5_4_at_a_boundary_the_regular_invoice_has_the_new_amount() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("6.20")]);
    let fixture = changed.fixture();
    let quantities = Some(vec![(at("2027-02-01T00:00:00Z"), number("14"))]);
    changed.edit(PriceIntervalEdit { quantities, ..PriceIntervalEdit::new(changed.of_plan(0)) });
    fixture.tick_at("2027-02-01T00:00:00Z");
    let expected =
        ["00001 issued 2027-01-01: fee 6.2 = 6.2", "00002 issued 2027-02-01: fee 86.8 = 86.8"];
    assert_eq!(changed.settled(), expected);
}

#[test]
fn subscriptions_2_1_adjustments_of_one_interval_alone() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let price = changed.price(fixture.advance_fee("10"));
    let adjustments =
        Adjustments { discounts: vec![Discount::Amount(number("4"))], ..Adjustments::default() };
    let new = NewPriceInterval::new(price, at("2027-02-01T00:00:00Z"));
    let new = NewPriceInterval { adjustments, ..ending(new, "2027-03-01T00:00:00Z") };
    let next = NewPriceInterval::new(price, at("2027-03-01T00:00:00Z"));
    let add = vec![new, next];
    changed.change(IntervalChanges { add, ..IntervalChanges::default() });
    fixture.tick_at("2027-02-01T00:00:00Z");
    fixture.tick_at("2027-03-01T00:00:00Z");
    let totals: Vec<_> = fixture.invoices(SETTLED).iter().map(|of| of.total.to_string()).collect();
    assert_eq!(totals, ["41", "37", "31"], "March is whole again");
}

#[test]
fn subscriptions_2_8_what_is_wrong_is_refused() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    let none = IntervalChanges::default();
    let (kind, text) = refused(fixture, changed.call(none));
    assert_eq!(kind, ErrorKind::RequestValidation, "{text}");
    let twice = PriceIntervalEdit::ending(changed.of_plan(0), IntervalDate::EndOfTerm);
    let twice = IntervalChanges { edit: vec![twice.clone(), twice], ..IntervalChanges::default() };
    assert_eq!(refused(fixture, changed.call(twice)).0, ErrorKind::RequestValidation);
    let price = changed.price(fixture.advance_fee("1"));
    let backwards = ending(NewPriceInterval::new(price, at("2027-02-01T00:00:00Z")), JANUARY);
    assert!(constraint(refused(fixture, changed.call(adding(backwards)))).contains("is before"));
    let unknown: PriceIntervalId = "019d8e5a-0000-7000-8000-000000000000".parse().unwrap();
    let edit = editing(PriceIntervalEdit::ending(unknown, IntervalDate::EndOfTerm));
    assert_eq!(refused(fixture, changed.call(edit)).0, ErrorKind::ResourceNotFound);
    let unknown: PriceId = "019d8e5a-0000-7000-8000-000000000000".parse().unwrap();
    let add = adding(NewPriceInterval::new(unknown, at(JANUARY)));
    assert_eq!(refused(fixture, changed.call(add)).0, ErrorKind::ResourceNotFound);
    let mut euros = fixture.advance_fee("1");
    euros.currency = accrue::Currency::parse("EUR").unwrap().into();
    let add = adding(NewPriceInterval::new(euros, at(JANUARY)));
    let found = constraint(refused(fixture, changed.call(add)));
    assert_eq!(found, "the price is in EUR, the subscription is invoiced in USD");
    let on_usage = with_quantities(
        NewPriceInterval::new(PlanPrice::from(fixture.usage_at("1", &changed.metric)), at(JANUARY)),
        &[(JANUARY, "1")],
    );
    let found = constraint(refused(fixture, changed.call(adding(on_usage))));
    assert_eq!(found, "the price is of usage, which has no quantity");

    fixture.set("2027-01-02T00:00:00Z");
    run(fixture.account.cancel_subscription(changed.subscription.id, Cancellation::Immediate))
        .unwrap();
    let edit = editing(PriceIntervalEdit::ending(changed.of_plan(0), at(JANUARY)));
    let found = constraint(refused(fixture, changed.call(edit)));
    assert_eq!(found, "the subscription has ended already");
}

#[test]
fn subscriptions_2_3_usage_of_an_added_price_draws_on_credits_of_its_unit() {
    let priced = priced::<0>(|_, _| []);
    priced.give("10");
    priced.use_now("a", "2");
    let mut price = priced.fixture.usage_at("1", &priced.metric);
    price.currency = unit(CREDITS);
    let add = adding(NewPriceInterval::new(price, priced.subscription.start_date));
    run(priced.fixture.account.change_intervals(priced.subscription.id, add)).unwrap();
    assert_eq!(priced.balance().as_deref(), Some("8"));
    priced.use_now("b", "1");
    assert_eq!(priced.balance().as_deref(), Some("7"));
}
