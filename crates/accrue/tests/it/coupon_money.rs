//! What coupons take off: which charges, on which invoices, and how much (invoicing 11.2).

use accrue::{
    Call, Decimal, ErrorKind,
    cost::CostQuery,
    coupon::{Coupon, Redemption, RedemptionTiming},
    invoice::{InvoiceStatus, InvoiceUpdate},
    price::{BillingMode, Cadence, Discount, NewPrice},
    subscription::{ChangeTiming, FeeQuantityChange, Subscription},
};

use crate::{
    coupons::{amount, code, percentage},
    invoices::{DRAFT, Invoiced, SETTLED, all, invoiced, invoiced_with},
    support::{
        fixture::{Fixture, at, block_on, number, refused, run},
        priced::{cost_alert, priced, unit},
    },
};

impl Invoiced {
    fn redeem(
        &self,
        of: &Subscription,
        coupon: &Coupon,
        when: RedemptionTiming,
    ) -> Call<Subscription> {
        let redemption = Redemption { coupon: coupon.id.into(), when };
        self.fixture.account.redeem_coupon(of.id, redemption)
    }
}

fn on(date: &str) -> RedemptionTiming {
    RedemptionTiming::RequestedDate(at(date))
}

#[test]
fn invoicing_11_2_two_months_are_two_fees_in_advance_and_two_months_of_usage() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.advance_fee("100")]
    });
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-04-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-04-01T00:00:00Z");
    let coupon = fixture.coupon_for("SPRING", percentage("0.25"), 2);
    invoiced.use_at("april", "2026-04-01T00:00:00Z", "10");
    fixture.tick_at("2026-05-01T00:00:00Z");
    run(invoiced.redeem(&subscription, &coupon, RedemptionTiming::Immediate)).unwrap();
    invoiced.use_at("may", "2026-05-01T00:00:00Z", "20");
    for (month, n) in [("2026-06-01", "40"), ("2026-07-01", "80"), ("2026-08-01", "160")] {
        fixture.tick_at(&format!("{month}T00:00:00Z"));
        invoiced.use_at(month, &format!("{month}T00:00:00Z"), n);
    }
    fixture.tick_at("2026-08-02T00:00:00Z");
    assert_eq!(
        all(&fixture.invoices(SETTLED)),
        [
            "00005 issued 2026-08-01: usage 160, fee 100 = 260",
            "00004 issued 2026-07-01: usage 60, fee 100 = 160",
            "00003 issued 2026-06-01: usage 30, fee 75 = 105",
            "00002 issued 2026-05-01: usage 20, fee 75 = 95",
            "00001 issued 2026-04-01: fee 100 = 100",
        ]
    );
    let july = &fixture.invoices(SETTLED)[1];
    let [adjustment] = july.lines[0].adjustments.as_slice() else { panic!("{july:?}") };
    assert!(adjustment.is_invoice_level());
    assert_eq!(adjustment.coupon_id, Some(coupon.id));
    assert_eq!(adjustment.amount, number("-20"));
    assert_eq!(july.lines[1].adjustments, []);
}

#[test]
fn invoicing_11_2_a_discount_goes_on_where_its_coupon_is_archived() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.arrear_fee("100")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-04-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-04-01T00:00:00Z");
    let coupon = fixture.coupon("SPRING", percentage("0.25"));
    run(invoiced.redeem(&subscription, &coupon, RedemptionTiming::Immediate)).unwrap();
    run(fixture.account.archive_coupon(coupon.id)).unwrap();
    fixture.tick_at("2026-06-01T00:00:00Z");
    assert_eq!(
        all(&fixture.invoices(SETTLED)),
        ["00002 issued 2026-06-01: fee 75 = 75", "00001 issued 2026-05-01: fee 75 = 75"]
    );
}

#[test]
fn invoicing_11_2_a_redemption_moves_the_cost_of_the_current_period() {
    let of = priced(|fixture, metric| {
        [fixture.usage_at("1", metric), fixture.advance_fee("10"), fixture.arrear_fee("20")]
    });
    of.alert(cost_alert(&["100"]));
    of.use_now("a", "80");
    assert_eq!(of.cost().total, number("90"));
    let coupon = of.fixture.coupon("SPRING", percentage("0.25"));
    of.fixture.set("2026-03-20T12:00:00Z");
    let redemption = Redemption::immediate(coupon.id);
    run(of.fixture.account.redeem_coupon(of.subscription.id, redemption)).unwrap();
    // The fee in advance fell due before.
    assert_eq!(of.cost().total, number("70"));
    of.use_now("b", "38");
    assert_eq!(of.told(), [""; 0]);
    of.use_now("c", "2");
    assert_eq!(of.told(), ["cost 100: 98.5 -> 100 by event c"]);
    let period = of.cost_between("2026-03-10T12:00:00Z", "2026-04-10T12:00:00Z");
    assert_eq!(period.total, number("100"), "the fee in arrears falls due behind its end");
    of.fixture.set("2026-04-12T00:00:00Z");
    let period = of.cost_between("2026-03-10T12:00:00Z", "2026-04-10T12:00:00Z");
    assert_eq!(period.total, number("115"));
}

#[test]
fn invoicing_11_2_a_discount_of_the_future_is_of_what_falls_due_then() {
    let of = priced(|fixture, metric| [fixture.usage_at("1", metric)]);
    of.use_now("a", "80");
    let coupon = of.fixture.coupon("SPRING", percentage("0.25"));
    let redeem = |when| {
        let redemption = Redemption { coupon: coupon.id.into(), when };
        of.fixture.account.redeem_coupon(of.subscription.id, redemption)
    };
    let preview = |when| {
        let after = pollster::block_on(redeem(when).preview()).unwrap();
        (after.answer, of.cost().total)
    };
    assert_eq!(preview(on("2026-04-01T00:00:00Z")).1, number("80"), "nothing is written");
    // With the end of the period the charge falls due, and no discount has begun.
    run(redeem(on("2026-04-10T12:00:00Z"))).unwrap();
    assert_eq!(of.cost().total, number("80"));
    let of = priced(|fixture, metric| [fixture.usage_at("1", metric)]);
    of.use_now("a", "80");
    let coupon = of.fixture.coupon("SPRING", percentage("0.25"));
    let when = on("2026-04-10T11:59:59Z");
    let redemption = Redemption { coupon: coupon.id.into(), when };
    run(of.fixture.account.redeem_coupon(of.subscription.id, redemption)).unwrap();
    assert_eq!(of.cost().total, number("60"));
}

#[test]
fn invoicing_11_2_prices_in_a_pricing_unit_are_not_discounted() {
    let of = priced(|fixture, metric| {
        let mut tokens = fixture.usage_at("1", metric);
        (tokens.currency, tokens.conversion_rate) = (unit("tokens"), Some(number("0.5").into()));
        [fixture.usage_at("1", metric), tokens]
    });
    of.use_now("a", "80");
    let coupon = of.fixture.coupon("SPRING", percentage("0.25"));
    let redemption = Redemption::immediate(coupon.id);
    let after = run(of.fixture.account.redeem_coupon(of.subscription.id, redemption)).unwrap();
    assert_eq!(after.adjustment_intervals[0].price_ids, [of.prices()[0]].into());
    assert!(after.adjustment_intervals[0].is_invoice_level());
    assert_eq!(of.cost().total, number("100"), "60, and 80 tokens at 0.5");
}

#[test]
fn invoicing_7_1_a_coupon_applies_behind_what_a_price_has_of_its_own() {
    let invoiced = invoiced_with(|fixture, metric| {
        let mut usage = fixture.usage_at("2", metric);
        usage.adjustments.discounts = vec![Discount::Amount(number("20"))];
        vec![usage]
    });
    let Invoiced { fixture, .. } = &invoiced;
    fixture.coupon("SPRING", amount("30"));
    let begin = |_| {
        invoiced.subscribe_with("2026-03-10T12:00:00Z", |new| {
            new.coupon_redemption_code = Some(code("SPRING"));
        })
    };
    let subscriptions: Vec<_> = (0..8).map(begin).collect();
    invoiced.use_at("a", "2026-03-10T12:00:00Z", "20");
    for subscription in subscriptions {
        let draft = invoiced.upcoming(&subscription);
        let off = draft.lines[0].adjustments.iter().map(|of| of.amount.to_string());
        assert_eq!(off.collect::<Vec<_>>(), ["-20", "-20"], "of 40, what is its own first");
    }
}

#[test]
fn invoicing_11_2_an_amount_is_taken_off_once_in_each_billing_period() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.arrear_fee("30")]
    });
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-04-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-04-01T00:00:00Z");
    let coupon = fixture.coupon_for("SPRING", amount("40"), 2);
    run(invoiced.redeem(&subscription, &coupon, RedemptionTiming::Immediate)).unwrap();
    invoiced.use_at("april", "2026-04-01T00:00:00Z", "25");
    fixture.tick_at("2026-08-02T00:00:00Z");
    let issued = fixture.invoices(SETTLED);
    assert_eq!(
        all(&issued),
        [
            "00004 issued 2026-08-01: usage 0, fee 30 = 30",
            "00003 issued 2026-07-01: usage 0, fee 30 = 30",
            "00002 paid 2026-06-01: usage 0, fee 0 = 0",
            "00001 issued 2026-05-01: usage 25, fee 15 = 40",
        ]
    );
    let off = issued[3].lines.iter().flat_map(|line| &line.adjustments);
    assert_eq!(off.map(|of| &of.amount).sum::<Decimal>(), number("-40"));
}

#[test]
fn invoicing_7_4_an_amount_is_of_prices_that_fall_due_together() {
    let check = |prices: &dyn Fn(&Fixture) -> Vec<NewPrice>, expect: bool| {
        let invoiced = invoiced_with(|fixture, metric| {
            let mut all = prices(fixture);
            all.push(fixture.usage_at("2", metric));
            all
        });
        let Invoiced { fixture, .. } = &invoiced;
        let subscription = invoiced.subscribe("2026-04-01T00:00:00Z");
        let half = fixture.coupon("HALF", percentage("0.5"));
        let ten = fixture.coupon("TEN", amount("10"));
        let redeem = |coupon| invoiced.redeem(&subscription, coupon, RedemptionTiming::Immediate);
        if expect {
            run(redeem(&ten)).unwrap();
        } else {
            let (kind, text) = refused(fixture, redeem(&ten));
            assert_eq!(kind, ErrorKind::ConstraintViolation);
            assert!(text.contains("do not fall due together"), "{text}");
            run(redeem(&half)).unwrap();
        }
    };
    check(&|_| Vec::new(), true);
    check(&|fixture| vec![fixture.arrear_fee("10")], true);
    check(&|fixture| vec![fixture.advance_fee("10")], false);
    let quarterly =
        |fixture: &Fixture| vec![fixture.fee_of("10", Cadence::Quarterly, BillingMode::InArrear)];
    check(&quarterly, false);
    let tokens = |fixture: &Fixture| {
        let mut tokens = fixture.advance_fee("10");
        (tokens.currency, tokens.conversion_rate) = (unit("tokens"), Some(number("0.5").into()));
        vec![tokens]
    };
    check(&tokens, true);
}

#[test]
fn invoicing_11_2_an_amount_has_the_digits_of_the_currency() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let Invoiced { fixture, .. } = &invoiced;
    let subscription = invoiced.subscribe("2026-03-01T00:00:00Z");
    let fine = fixture.coupon("FINE", amount("0.125"));
    let redeem = |coupon| invoiced.redeem(&subscription, coupon, RedemptionTiming::Immediate);
    let (kind, text) = refused(fixture, redeem(&fine));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("0.125"), "{text}");
    run(redeem(&fixture.coupon("CENTS", amount("0.12")))).unwrap();
}

#[test]
fn invoicing_11_2_nothing_that_was_invoiced_is_discounted() {
    let invoiced = invoiced();
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-06-01T00:00:00Z");
    let other = invoiced.subscribe("2026-06-01T00:00:00Z");
    let coupon = fixture.coupon("SPRING", percentage("0.5"));
    let check = |when, expect: bool| {
        let redeem = invoiced.redeem(&subscription, &coupon, when);
        match expect {
            true => drop(pollster::block_on(redeem.preview())),
            false => {
                let (kind, text) = refused(fixture, redeem);
                assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
                assert!(text.contains("was invoiced already"), "{text}");
            }
        }
    };
    // Its fee was invoiced with the start.
    check(RedemptionTiming::Immediate, false);
    check(on("2026-06-01T00:00:00.000001Z"), true);
    fixture.tick_at("2026-07-01T00:00:00Z");
    // The invoice of July waits for late events.
    check(on("2026-06-02T00:00:00Z"), true);
    check(on("2026-07-01T00:00:00Z"), true);
    fixture.tick_at("2026-07-02T00:00:00Z");
    check(on("2026-06-02T00:00:00Z"), false);
    check(on("2026-06-30T23:59:59Z"), false);
    check(on("2026-07-01T00:00:00Z"), false);
    run(invoiced.redeem(&other, &coupon, on("2026-07-01T12:00:00Z"))).unwrap();
    run(invoiced.redeem(&subscription, &coupon, RedemptionTiming::Immediate)).unwrap();
    assert_eq!(fixture.invoices(&[InvoiceStatus::Issued]).len(), 4, "none of them moved");
    let drafts = all(&fixture.invoices(DRAFT));
    assert_eq!(drafts, ["DRAFT draft 2026-08-01: usage 0, fee 155 = 155"; 2]);
}

#[test]
fn invoicing_11_2_a_draft_that_somebody_has_looked_up_is_issued_for_others_too() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("100")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-07-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-07-01T00:00:00Z");
    let draft = fixture.invoices(DRAFT)[0].id;
    run(fixture.account.update_invoice(draft, InvoiceUpdate::default())).unwrap();
    fixture.tick_at("2026-08-01T00:00:00Z");
    let coupon = fixture.coupon("SPRING", percentage("1"));
    let redeem = invoiced.redeem(&subscription, &coupon, RedemptionTiming::Immediate);
    assert_eq!(refused(fixture, redeem).0, ErrorKind::ConstraintViolation);
}

#[test]
fn invoicing_10_6_what_is_credited_has_the_discount_that_it_was_billed_with() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("310")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-07-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-07-01T00:00:00Z");
    let seats = |date: &str, quantity: &str| {
        fixture.tick_at(date);
        let price = subscription.price_intervals[0].price_id;
        let change = FeeQuantityChange::immediate(price, number(quantity));
        run(fixture.account.update_fixed_fee_quantity(subscription.id, change)).unwrap();
    };
    let credited = || {
        let invoices = fixture.invoices(SETTLED);
        invoices.iter().flat_map(|of| &of.credit_notes).map(|of| of.total.clone()).sum::<Decimal>()
    };
    // It begins a day before the seat goes, and changes nothing of what that costs.
    let coupon = fixture.coupon_for("SPRING", percentage("1"), 1);
    seats("2026-07-22T00:00:00Z", "0");
    assert_eq!(credited(), number("100"));
    run(invoiced.redeem(&subscription, &coupon, on("2026-07-21T00:00:00Z"))).unwrap();
    assert_eq!(credited(), number("100"));
    // What was free brings nothing back, though the coupon is over by then.
    seats("2026-08-02T00:00:00Z", "3");
    seats("2026-08-25T00:00:00Z", "1");
    assert_eq!(
        all(&fixture.invoices(SETTLED)),
        [
            "00003 paid 2026-08-02: fee 0 = 0",
            "00002 paid 2026-08-01: fee 0 = 0",
            "00001 issued 2026-07-01: fee 310 = 310",
        ]
    );
    assert_eq!(credited(), number("100"));
}

#[test]
fn invoicing_11_2_a_boundary_without_fees_in_advance_leaves_its_instant_free() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-06-01T00:00:00Z");
    let coupon = fixture.coupon("SPRING", percentage("0.5"));
    fixture.tick_at("2026-07-02T00:00:00Z");
    assert_eq!(fixture.invoices(SETTLED).len(), 1);
    // The period of July is the oldest that is not invoiced yet.
    run(invoiced.redeem(&subscription, &coupon, on("2026-07-01T00:00:00Z"))).unwrap();
}

#[test]
fn invoicing_11_2_a_subscription_that_begins_with_a_coupon_is_invoiced_with_it() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("100")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-04-01T00:00:00Z");
    fixture.coupon_for("SPRING", percentage("0.25"), 1);
    invoiced.subscribe_with("2026-04-01T00:00:00Z", |new| {
        new.coupon_redemption_code = Some(code("SPRING"));
    });
    fixture.tick_at("2026-05-01T00:00:00Z");
    assert_eq!(
        all(&fixture.invoices(SETTLED)),
        ["00002 issued 2026-05-01: fee 100 = 100", "00001 issued 2026-04-01: fee 75 = 75"]
    );
}

#[test]
fn invoicing_7_8_a_fee_that_is_free_costs_nothing_however_often_its_quantity_changes() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.advance_fee("310"), fixture.arrear_fee("31")]
    });
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-08-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-08-01T00:00:00Z");
    let fee = subscription.price_intervals[1].price_id;
    let quantity = |n: u64, when| {
        let change = FeeQuantityChange { price: fee.into(), quantity: Decimal::from(n), when };
        run(fixture.account.update_fixed_fee_quantity(subscription.id, change)).unwrap();
    };
    fixture.set("2026-08-01T00:30:00Z");
    quantity(2, ChangeTiming::Immediate);
    quantity(1, ChangeTiming::EffectiveDate(at("2026-09-02T00:00:00Z")));
    fixture.tick_at("2026-08-19T05:00:00Z");
    let coupon = fixture.coupon_for("free", percentage("1"), 1);
    let redemption = Redemption { coupon: coupon.id.into(), when: RedemptionTiming::Immediate };
    run(fixture.account.redeem_coupon(subscription.id, redemption)).unwrap();
    fixture.set("2026-09-01T01:00:00Z");
    quantity(3, ChangeTiming::Immediate);
    fixture.tick_at("2026-09-20T00:00:00Z");
    let of = subscription.id;
    let costs = block_on(fixture.account.subscription_costs(of, &CostQuery::default())).unwrap();
    let costs: Vec<_> = costs.iter().map(|of| (&of.subtotal, &of.total)).collect();
    assert_eq!(costs, [(&number("330.67"), &number("0"))]);
}
