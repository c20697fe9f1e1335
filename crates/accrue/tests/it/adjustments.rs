//! Adjustments of plans and of subscriptions: what they are over, and what they do to figures
//! (invoicing 7.4, 14).

use accrue::{
    AdjustmentId, Error, ErrorKind, Fraction, IdOr, ItemId, PriceId, PricingUnit,
    invoice::{Invoice, LineAdjustment},
    plan::{NewPlan, NewPlanVersion, PlanVersionChange, PricedVersion},
    price::{
        Adjustment, Discount, DiscountTier, FilterOperator, FilterValues, NewAdjustment, NewPrice,
        PriceClass, PriceFilter,
    },
    subscription::{AddedAdjustment, NewSubscription, Subscription},
};

use crate::{
    invoices::{DRAFT, Invoiced, SETTLED, all, invoiced_with},
    support::{
        fixture::{Fixture, SUM, at, block_on, external, name, number, refused, run, usd},
        priced::{cost_alert, priced},
    },
};

pub(crate) fn percentage_off(fraction: &str) -> NewAdjustment {
    let fraction = Fraction::parse(fraction).unwrap();
    NewAdjustment::new(Adjustment::Discount(Discount::Percentage(fraction)))
}

pub(crate) fn amount_off(amount: &str) -> NewAdjustment {
    NewAdjustment::new(Adjustment::Discount(Discount::Amount(number(amount))))
}

fn units_off(units: &str) -> NewAdjustment {
    NewAdjustment::new(Adjustment::Discount(Discount::Usage(number(units))))
}

pub(crate) fn at_most(amount: &str) -> NewAdjustment {
    NewAdjustment::new(Adjustment::Maximum(number(amount)))
}

fn at_least(amount: &str, item: ItemId) -> NewAdjustment {
    let new = NewAdjustment::new(Adjustment::Minimum(number(amount)));
    NewAdjustment { item_id: Some(item), ..new }
}

pub(crate) fn over(values: FilterValues, of: NewAdjustment) -> NewAdjustment {
    let filter = PriceFilter { operator: FilterOperator::Includes, values };
    NewAdjustment { filters: vec![filter], ..of }
}

fn of_class(class: PriceClass, of: NewAdjustment) -> NewAdjustment {
    over(FilterValues::PriceType([class].into()), of)
}

pub(crate) fn of_price(id: PriceId, of: NewAdjustment) -> NewAdjustment {
    over(FilterValues::PriceId([id].into()), of)
}

impl Invoiced {
    /// A version of the plan, of which new subscriptions are, with some adjustments.
    fn adjust(&self, adjustments: impl IntoIterator<Item = NewAdjustment>) -> PricedVersion {
        let change = PlanVersionChange {
            add_adjustments: adjustments.into_iter().collect(),
            default: accrue::plan::DefaultVersion::Replace,
            ..PlanVersionChange::default()
        };
        run(self.fixture.account.change_plan_version(self.plan_id(), change)).unwrap()
    }

    fn plan_id(&self) -> accrue::PlanId {
        self.plan.id
    }

    /// What the invoice of April 2026 shows, with the usage of a price where there is one.
    pub(crate) fn april(&self, used: &str) -> Invoice {
        let Self { fixture, .. } = self;
        fixture.set("2026-04-01T00:00:00Z");
        let subscription = self.subscribe("2026-04-01T00:00:00Z");
        if used != "0" {
            self.use_at("april", "2026-04-01T00:00:00Z", used);
        }
        fixture.set("2026-05-01T00:00:00Z");
        let cost = fixture.cost(
            &subscription,
            &accrue::cost::CostQuery {
                timeframe: crate::support::priced::between(
                    "2026-04-01T00:00:00Z",
                    "2026-05-01T00:00:00Z",
                )
                .into(),
                ..Default::default()
            },
        );
        fixture.tick_at("2026-05-02T00:00:01Z");
        let invoice = fixture.invoices(SETTLED).into_iter().next().unwrap();
        assert_eq!(invoice.total, cost.total, "what is invoiced is what it costs");
        let ids: Vec<_> = subscription.price_intervals.iter().map(|of| of.price_id).collect();
        let of_lines = invoice.lines.iter().map(|line| (line.price_id, line.amount.clone()));
        let of_costs = cost.lines.iter().filter(|line| ids.contains(&line.price_id));
        assert_eq!(
            of_lines.collect::<Vec<_>>(),
            of_costs.map(|line| (line.price_id, line.total.clone())).collect::<Vec<_>>()
        );
        invoice
    }
}

/// What each line has of its adjustments.
fn shares(invoice: &Invoice) -> Vec<Vec<String>> {
    let amounts = |of: &Vec<LineAdjustment>| of.iter().map(|of| of.amount.to_string()).collect();
    invoice.lines.iter().map(|line| amounts(&line.adjustments)).collect()
}

fn fees(amounts: &[&str]) -> Invoiced {
    invoiced_with(|fixture, _| amounts.iter().map(|of| fixture.arrear_fee(of)).collect())
}

/// Prices of usage at so much a unit.
fn usages(amounts: &[&str]) -> Invoiced {
    invoiced_with(|fixture, metric| amounts.iter().map(|of| fixture.usage_at(of, metric)).collect())
}

fn item(of: &Invoiced) -> ItemId {
    of.fixture.item().id
}

#[test]
fn invoicing_7_1_the_steps_of_one_line_in_order() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("2.00", metric)]);
    let all = [
        at_most("55.00"),
        at_least("60.00", item(&invoiced)),
        percentage_off("0.2"),
        amount_off("15.00"),
        units_off("10"),
    ];
    invoiced.adjust(all);
    let invoice = invoiced.april("50");
    assert_eq!(shares(&invoice), [["-20", "-15", "-13", "8", "-5"]]);
    let line = &invoice.lines[0];
    assert_eq!((&line.subtotal, &line.adjusted_subtotal), (&number("100"), &number("55")));
    assert!(line.adjustments.iter().all(LineAdjustment::is_invoice_level));
}

#[test]
fn invoicing_7_4_amounts_are_shared_in_proportion_and_minimums_of_nothing_equally() {
    let check =
        |amounts: &[&str], adjustment: &dyn Fn(&Invoiced) -> NewAdjustment, expect: &[&str]| {
            let invoiced = usages(amounts);
            invoiced.adjust([adjustment(&invoiced)]);
            let shares = shares(&invoiced.april("1")).concat();
            assert_eq!(shares, expect, "{amounts:?}");
        };
    check(&["20.00", "10.00", "3.33"], &|_| amount_off("10.00"), &["-6", "-3", "-1"]);
    let least = |of: &Invoiced| at_least("100.00", item(of));
    check(&["30.00", "10.00"], &least, &["45", "15"]);
    check(&["0.00", "0.00"], &least, &["50", "50"]);
    check(&["30.00", "10.00"], &|_| at_most("20.00"), &["-15", "-5"]);
    check(&["30.00", "10.00"], &|_| percentage_off("0.1"), &["-3", "-1"]);
    let tier = |from: &str, to: Option<&str>, off: &str| DiscountTier {
        lower_bound: number(from),
        upper_bound: to.map(number),
        percentage: Fraction::parse(off).unwrap(),
    };
    let bands = vec![tier("0", Some("100"), "0.1"), tier("100", None, "0.2")];
    let bands = NewAdjustment::new(Adjustment::Discount(Discount::TieredPercentage(bands)));
    check(&["100.00", "50.00"], &|_| bands.clone(), &["-13.33", "-6.67"]);
}

#[test]
fn invoicing_7_4_usage_is_taken_off_each_line_by_itself() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.usage_at("1", metric), fixture.arrear_fee("5")]
    });
    invoiced.adjust([of_class(PriceClass::Usage, units_off("10"))]);
    assert_eq!(shares(&invoiced.april("25")), [vec!["-20"], vec!["-10"], vec![]]);
}

#[test]
fn invoicing_14_1_filters_select_the_prices() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.arrear_fee("10"), fixture.advance_fee("7")]
    });
    let other = |of: NewAdjustment| {
        let filter = PriceFilter {
            operator: FilterOperator::Excludes,
            values: FilterValues::PriceType([PriceClass::Usage].into()),
        };
        NewAdjustment { filters: vec![filter], ..of }
    };
    let in_euros =
        over(FilterValues::Currency([PricingUnit::parse("EUR").unwrap()].into()), amount_off("1"));
    let version = invoiced.adjust([
        of_class(PriceClass::InArrears, percentage_off("0.5")),
        of_class(PriceClass::FixedInAdvance, amount_off("3")),
        other(percentage_off("0.1")),
        in_euros,
    ]);
    let reached = version.adjustments.iter().map(|of| of.reached(&version.prices).count());
    assert_eq!(reached.collect::<Vec<_>>(), [2, 1, 2, 0], "none is none yet");
    let invoiced_in_april = invoiced.april("5");
    assert_eq!(
        all(&[invoiced_in_april]),
        ["00002 issued 2026-05-01: usage 5, fee 4.5, fee 3.6 = 13.1"]
    );
}

#[test]
fn invoicing_14_1_what_cannot_be_adjusted_together_is_refused() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.arrear_fee("10"), fixture.advance_fee("7")]
    });
    let fixture = &invoiced.fixture;
    let refuse = |new: NewAdjustment, expect: ErrorKind| {
        let change = PlanVersionChange { add_adjustments: vec![new.clone()], ..Default::default() };
        let call = fixture.account.change_plan_version(invoiced.plan_id(), change);
        assert_eq!(refused(fixture, call).0, expect, "{new:?}");
    };
    use ErrorKind::{ConstraintViolation, RequestValidation, ResourceNotFound};
    refuse(amount_off("1"), ConstraintViolation);
    refuse(at_most("1"), ConstraintViolation);
    refuse(units_off("1"), ConstraintViolation);
    refuse(of_class(PriceClass::Fixed, amount_off("1")), ConstraintViolation);
    let of_one = |new: NewAdjustment| NewAdjustment { is_invoice_level: false, ..new };
    refuse(of_one(percentage_off("0.5")), ConstraintViolation);
    let nothing = PricingUnit::parse("EUR").unwrap();
    refuse(
        of_one(over(FilterValues::Currency([nothing].into()), amount_off("1"))),
        ConstraintViolation,
    );
    refuse(of_class(PriceClass::Usage, amount_off("0.001")), RequestValidation);
    refuse(of_class(PriceClass::Usage, amount_off("-1")), RequestValidation);
    let least = NewAdjustment::new(Adjustment::Minimum(number("1")));
    refuse(of_class(PriceClass::Usage, least.clone()), RequestValidation);
    let unknown = ItemId::from_str_of_zeros();
    refuse(of_class(PriceClass::Usage, at_least("1", unknown)), ResourceNotFound);
    refuse(over(FilterValues::ItemId([unknown].into()), percentage_off("0.5")), ResourceNotFound);
    let bands = NewAdjustment::new(Adjustment::Discount(Discount::TieredPercentage(Vec::new())));
    refuse(of_class(PriceClass::Usage, bands), RequestValidation);
}

/// An id that nothing has.
trait OfZeros {
    fn from_str_of_zeros() -> Self;
}

impl<T: std::str::FromStr<Err: std::fmt::Debug>> OfZeros for T {
    fn from_str_of_zeros() -> Self {
        "00000000-0000-0000-0000-000000000000".parse().unwrap()
    }
}

#[test]
fn invoicing_14_1_prices_in_a_pricing_unit_are_not_adjusted() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let tokens = NewPrice {
        currency: PricingUnit::parse("tokens").unwrap(),
        ..fixture.usage_at("1", &metric)
    };
    let mut new = NewPlan::new(name("Pro"), usd());
    new.prices = vec![tokens.into()];
    new.adjustments = vec![percentage_off("0.5")];
    let call = fixture.account.create_plan(new.clone());
    assert_eq!(refused(&fixture, call).0, ErrorKind::ConstraintViolation);
    let usd = PricingUnit::from(usd());
    new.adjustments = vec![over(FilterValues::Currency([usd].into()), percentage_off("0.5"))];
    run(fixture.account.create_plan(new)).unwrap();
}

#[test]
fn invoicing_14_1_one_price_by_itself() {
    let invoiced = fees(&["20", "10"]);
    let ids: Vec<_> = invoiced.fixture.prices_of(&invoiced.plan);
    let of_one = NewAdjustment { is_invoice_level: false, ..of_price(ids[1], amount_off("4")) };
    // Adjustments of one line come before those over the invoice.
    invoiced.adjust([amount_off("13"), of_one]);
    let invoice = invoiced.april("0");
    assert_eq!(shares(&invoice), [vec!["-10"], vec!["-4", "-3"]]);
    let level = invoice.lines[1].adjustments.iter().map(LineAdjustment::is_invoice_level);
    assert_eq!(level.collect::<Vec<_>>(), [false, true]);
}

#[test]
fn invoicing_14_3_versions_keep_remove_and_replace_adjustments() {
    let invoiced = fees(&["20", "10"]);
    let fixture = &invoiced.fixture;
    let first = invoiced.adjust([percentage_off("0.1"), percentage_off("0.2"), amount_off("1")]);
    let ids: Vec<AdjustmentId> = first.adjustments.iter().map(|of| of.scope.id).collect();
    let change = PlanVersionChange {
        add: vec![fixture.arrear_fee("5").into()],
        remove_adjustments: vec![ids[0]],
        replace_adjustments: vec![(ids[1], percentage_off("0.3"))],
        add_adjustments: vec![amount_off("2")],
        ..PlanVersionChange::default()
    };
    let second = run(fixture.account.change_plan_version(invoiced.plan_id(), change)).unwrap();
    let kinds: Vec<_> = second.adjustments.iter().map(|of| of.adjustment.clone()).collect();
    let expect = [percentage_off("0.3"), amount_off("1"), amount_off("2")].map(|of| of.adjustment);
    assert_eq!(kinds, expect);
    let replaced: Vec<_> =
        second.adjustments.iter().map(|of| of.scope.replaces_adjustment_id).collect();
    assert_eq!(replaced, [Some(ids[1]), None, None]);
    assert_eq!(second.adjustments[1].scope.id, ids[2], "what stays is the same");
    assert_eq!(second.adjustments[1].reached(&second.prices).count(), 3, "prices that came later");
    let found = block_on(fixture.account.fetch_plan_version(invoiced.plan_id(), second.version));
    assert_eq!(found.unwrap(), second);

    let refuse = |change: PlanVersionChange, expect: ErrorKind| {
        let call = fixture.account.change_plan_version(invoiced.plan_id(), change);
        assert_eq!(refused(fixture, call).0, expect);
    };
    let gone = |remove_adjustments| PlanVersionChange { remove_adjustments, ..Default::default() };
    refuse(gone(vec![ids[0]]), ErrorKind::ResourceNotFound);
    refuse(gone(vec![ids[2], ids[2]]), ErrorKind::RequestValidation);
    // An amount that stays would be over a price that falls due apart.
    let change =
        PlanVersionChange { add: vec![fixture.advance_fee("5").into()], ..Default::default() };
    refuse(change, ErrorKind::ConstraintViolation);
    let anew = NewPlanVersion::new([fixture.arrear_fee("5").into()]);
    let third = run(fixture.account.create_plan_version(invoiced.plan_id(), anew)).unwrap();
    assert_eq!(third.adjustments, []);
}

fn of_sub(of: &Subscription) -> Vec<(Adjustment, String, Option<String>)> {
    let intervals = of.adjustment_intervals.iter();
    let intervals = intervals.map(|of| {
        let day = |at: accrue::Timestamp| at.to_string()[..10].to_owned();
        (of.adjustment.clone(), day(of.start_date), of.end_date.map(day))
    });
    intervals.collect()
}

#[test]
fn invoicing_14_3_a_subscription_has_changes_of_its_own() {
    let invoiced = fees(&["20"]);
    let fixture = &invoiced.fixture;
    let version = invoiced.adjust([percentage_off("0.1"), amount_off("2"), at_most("19")]);
    let ids: Vec<_> = version.adjustments.iter().map(|of| of.scope.id).collect();
    let start = "2026-04-01T00:00:00Z";
    fixture.set(start);
    let of = invoiced.subscribe_with(start, |new| {
        new.adjustments.remove = vec![ids[0]];
        new.adjustments.replace = vec![(ids[1], amount_off("3"))];
        let until = AddedAdjustment {
            end_date: Some(at("2026-06-01T00:00:00Z")),
            start_date: Some(at("2026-05-01T00:00:00Z")),
            ..percentage_off("0.5").into()
        };
        new.adjustments.add = vec![until];
    });
    let day = "2026-04-01".to_owned();
    assert_eq!(
        of_sub(&of),
        [
            (amount_off("3").adjustment, day.clone(), None),
            (at_most("19").adjustment, day, None),
            (
                percentage_off("0.5").adjustment,
                "2026-05-01".to_owned(),
                Some("2026-06-01".to_owned())
            ),
        ]
    );
    let scope = of.adjustment_intervals[0].scope.as_ref().unwrap();
    assert_eq!(scope.replaces_adjustment_id, Some(ids[1]));
    for month in ["05", "06", "07"] {
        fixture.tick_at(&format!("2026-{month}-01T00:00:00Z"));
    }
    // Of fees in arrears, those that fall due behind the start and up to the end.
    assert_eq!(
        all(&fixture.invoices(SETTLED)),
        [
            "00003 issued 2026-07-01: fee 17 = 17",
            "00002 issued 2026-06-01: fee 8.5 = 8.5",
            "00001 issued 2026-05-01: fee 17 = 17",
        ]
    );
    assert_eq!(all(&fixture.invoices(DRAFT)), ["DRAFT draft 2026-08-01: fee 17 = 17"]);
}

#[test]
fn invoicing_14_3_changes_of_a_subscription_that_are_refused() {
    let invoiced = fees(&["20"]);
    let fixture = &invoiced.fixture;
    let version = invoiced.adjust([percentage_off("0.1")]);
    let id = version.adjustments[0].scope.id;
    let start = at("2026-04-01T00:00:00Z");
    let refuse = |with: &dyn Fn(&mut NewSubscription), expect: ErrorKind| {
        let ada: IdOr<_> = external("ada").into();
        let mut new = NewSubscription::new(ada, invoiced.plan_id());
        (new.start_date, new.end_date) = (Some(start), Some(at("2026-08-01T00:00:00Z")));
        with(&mut new);
        assert_eq!(refused(fixture, fixture.account.create_subscription(new)).0, expect);
    };
    let added = |from: &str, to: &str| AddedAdjustment {
        start_date: Some(at(from)),
        end_date: Some(at(to)),
        ..percentage_off("0.5").into()
    };
    use ErrorKind::{ConstraintViolation, RequestValidation, ResourceNotFound};
    let add = |from: &'static str, to: &'static str| {
        move |new: &mut NewSubscription| new.adjustments.add = vec![added(from, to)]
    };
    refuse(&add("2026-05-01T00:00:00Z", "2026-05-01T00:00:00Z"), ConstraintViolation);
    refuse(&add("2026-03-31T00:00:00Z", "2026-05-01T00:00:00Z"), ConstraintViolation);
    refuse(&add("2026-05-01T00:00:00Z", "2026-09-01T00:00:00Z"), ConstraintViolation);
    refuse(&|new| new.adjustments.add = vec![units_off("1").into()], ConstraintViolation);
    refuse(&|new| new.adjustments.add = vec![amount_off("-1").into()], RequestValidation);
    refuse(
        &|new| new.adjustments.remove = vec![AdjustmentId::from_str_of_zeros()],
        ResourceNotFound,
    );
    let twice = |new: &mut NewSubscription| {
        new.adjustments.remove = vec![id];
        new.adjustments.replace = vec![(id, percentage_off("0.2"))];
    };
    refuse(&twice, RequestValidation);
    let unknown = PriceId::from_str_of_zeros();
    refuse(
        &|new| new.adjustments.add = vec![of_price(unknown, amount_off("1")).into()],
        ResourceNotFound,
    );
}

#[test]
fn invoicing_14_alerts_on_cost_watch_what_is_left() {
    let priced =
        priced(|fixture, metric| [fixture.usage_at("2", metric), fixture.usage_at("1", metric)]);
    let fixture = &priced.fixture;
    let change = PlanVersionChange {
        add_adjustments: vec![amount_off("30"), percentage_off("0.5"), at_most("100")],
        ..PlanVersionChange::default()
    };
    let version = run(fixture.account.change_plan_version(priced.plan.id, change)).unwrap();
    let mut new = NewSubscription::new(priced.customer, priced.plan.id);
    new.plan_version = Some(version.version);
    let of = fixture.create(new);
    run(fixture.account.create_subscription_alert(of.id, cost_alert(&["15", "60", "70.97"])))
        .unwrap();
    fixture.messages();
    // 3 for each unit, less 30, and half of that.
    for (key, n) in [("a", "10"), ("b", "9"), ("c", "1"), ("d", "29"), ("e", "1"), ("f", "1000")] {
        priced.use_now(key, n);
    }
    // The maximum of 22 of 31 days.
    assert_eq!(
        fixture.told(),
        [
            "cost 15: 13.5 -> 15 by event c",
            "cost 60: 58.5 -> 60 by event e",
            "cost 70.97: 60 -> 70.97 by event f",
        ]
    );
}

/// What is said of one that is refused names where it is.
#[test]
fn invoicing_14_1_errors_name_the_field() {
    let invoiced = fees(&["20"]);
    let change = PlanVersionChange {
        add_adjustments: vec![percentage_off("0.5"), amount_off("-1")],
        ..PlanVersionChange::default()
    };
    let call = invoiced.fixture.account.change_plan_version(invoiced.plan_id(), change);
    let error: Error = run(call).unwrap_err();
    assert_eq!(error.violations()[0].field, "add_adjustments[1].adjustment.amount_discount");
}
