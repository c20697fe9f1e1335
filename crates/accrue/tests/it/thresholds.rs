//! Threshold invoices: usage that is billed before its period ends (invoicing 15).

use accrue::{
    Carried, CarriedUpdate, Decimal, ErrorKind,
    credit::{LedgerChange, NewBlock, NewLedgerEntry},
    invoice::{CreditNoteReason, InvoiceSource, InvoiceStatus, NewCreditNote, NewCreditNoteLine},
    price::NewAdjustment,
    subscription::{
        Cancellation, FeeQuantityChange, NewSubscription, Subscription, SubscriptionUpdate,
    },
    usage::{Amendment, Event},
    webhook::Body,
};

use crate::{
    adjustments::{at_most, percentage_off},
    invoices::{DRAFT, Invoiced, SETTLED, all, invoiced_with},
    support::fixture::{Fixture, at, block_on, event, external, number, refused, run},
    support::priced::unit,
};

const START: &str = "2026-04-01T00:00:00Z";

fn threshold(amount: &str) -> Carried {
    Carried::new([("invoicing_threshold", format!("\"{amount}\""))]).unwrap()
}

/// A subscription from the first of April on, to 1 for each unit, with a threshold.
fn at_threshold(amount: &str) -> (Invoiced, Subscription) {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("1", metric)]);
    let of = subscribed(&invoiced, amount, |_| {});
    (invoiced, of)
}

fn subscribed(
    invoiced: &Invoiced,
    amount: &str,
    with: impl FnOnce(&mut NewSubscription),
) -> Subscription {
    invoiced.fixture.set(START);
    let of = invoiced.subscribe_with(START, |new| {
        new.carried = threshold(amount);
        with(new);
    });
    invoiced.fixture.messages();
    of
}

impl Fixture {
    /// What messages tell of thresholds, and of invoices that are issued.
    fn exceeded(&self) -> Vec<String> {
        let told = self.drain().into_iter().filter_map(|message| match message.body {
            Body::InvoicingThresholdExceeded {
                evaluated_amount,
                invoicing_threshold,
                threshold_invoice_created,
                ..
            } => Some(format!(
                "{evaluated_amount} over {invoicing_threshold}, invoice: {threshold_invoice_created}"
            )),
            Body::InvoiceIssued { .. } => Some("issued".to_owned()),
            _ => None,
        });
        told.collect()
    }

    fn use_on(&self, day: &str, key: &str, n: &str) {
        self.set(&format!("2026-04-{day}T12:00:00Z"));
        self.use_now("ada", key, n);
    }
}

#[test]
fn invoicing_15_the_period_is_billed_in_three_parts() {
    let (invoiced, _) = at_threshold("50.00");
    let fixture = &invoiced.fixture;
    fixture.use_on("05", "a", "49.99");
    assert_eq!(fixture.exceeded(), Vec::<String>::new());
    fixture.use_on("06", "b", "12.01");
    assert_eq!(fixture.exceeded(), ["62 over 50, invoice: true", "issued"]);
    fixture.use_on("10", "c", "49.99");
    assert_eq!(fixture.exceeded(), Vec::<String>::new());
    fixture.use_on("11", "d", "7.01");
    assert_eq!(fixture.exceeded(), ["119 over 50, invoice: true", "issued"]);
    fixture.use_on("20", "e", "21");
    fixture.tick_at("2026-05-02T00:00:00Z");
    let invoices = fixture.invoices(SETTLED);
    assert_eq!(
        all(&invoices),
        [
            "00003 issued 2026-05-01: usage 21 = 21",
            "00002 issued 2026-04-11: usage 57 = 57",
            "00001 issued 2026-04-06: usage 62 = 62",
        ]
    );
    let sources: Vec<_> = invoices.iter().map(|of| of.source).collect();
    let partial = InvoiceSource::Partial;
    assert_eq!(sources, [InvoiceSource::Subscription, partial, partial]);
    let [last, second, first] = [&invoices[0], &invoices[1], &invoices[2]].map(|of| &of.lines[0]);
    let figures = |line: &accrue::invoice::InvoiceLine| {
        [&line.subtotal, &line.partially_invoiced, &line.amount].map(ToString::to_string)
    };
    assert_eq!(figures(first), ["62", "0", "62"]);
    assert_eq!(figures(second), ["119", "62", "57"]);
    assert_eq!(figures(last), ["140", "119", "21"]);
    assert_eq!((first.period.start(), first.period.end()), (at(START), at("2026-04-06T12:00:00Z")));
}

#[test]
fn invoicing_15_what_is_void_or_credited_is_billed_at_the_end() {
    let (invoiced, _) = at_threshold("50.00");
    let fixture = &invoiced.fixture;
    fixture.use_on("06", "a", "62");
    fixture.use_on("11", "b", "57");
    fixture.use_on("20", "c", "21");
    let second = fixture.invoices(SETTLED)[0].id;
    run(fixture.account.void_invoice(second)).unwrap();
    let line = &fixture.invoices(DRAFT)[0].lines[0];
    assert_eq!((&line.partially_invoiced, &line.amount), (&number("62"), &number("78")));
    let first = fixture.invoices(&[InvoiceStatus::Issued])[0].lines[0].id;
    let lines =
        vec![NewCreditNoteLine { invoice_line_id: first, amount: number("12"), days: None }];
    let reason = CreditNoteReason::OrderChange;
    let note = NewCreditNote { lines, reason, memo: None, days: None };
    run(fixture.account.create_credit_note(note)).unwrap();
    fixture.tick_at("2026-05-02T00:00:00Z");
    let invoices = fixture.invoices(&[InvoiceStatus::Issued]);
    assert_eq!(all(&invoices)[0], "00003 issued 2026-05-01: usage 90 = 90");
}

#[test]
fn invoicing_10_6_a_fee_is_credited_beside_a_void_threshold_invoice_of_its_instant() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("1", metric), fixture.advance_fee("300")]
    });
    let of = subscribed(&invoiced, "1.00", |_| {});
    let fixture = &invoiced.fixture;
    invoiced.use_at("a", START, "17");
    let partial =
        fixture.invoices(SETTLED).into_iter().find(|of| of.source == InvoiceSource::Partial);
    let partial = partial.unwrap();
    assert_eq!(partial.invoice_date, at(START));
    run(fixture.account.void_invoice(partial.id)).unwrap();
    fixture.set("2026-04-02T09:00:00Z");
    let fee = of.price_intervals[1].price_id;
    let none = FeeQuantityChange::immediate(fee, Decimal::zero());
    run(fixture.account.update_fixed_fee_quantity(of.id, none)).unwrap();
    let credited: Vec<_> =
        fixture.invoices(SETTLED)[0].credit_notes.iter().map(|of| of.total.clone()).collect();
    assert_eq!(credited, [number("290")], "a day is left");
}

#[test]
fn invoicing_15_one_invoice_however_far_and_whatever_the_batch() {
    let events = |fixture: &Fixture| {
        let now = at("2026-04-06T12:00:00Z");
        let amounts = ["30", "170", "10", "40", "1"];
        fixture.set("2026-04-06T12:00:00Z");
        amounts.iter().enumerate().map(|(i, n)| event("ada", &i.to_string(), now, n)).collect()
    };
    let told = |is_batch: bool| {
        let (invoiced, _) = at_threshold("50.00");
        let fixture = &invoiced.fixture;
        let events: Vec<_> = events(fixture);
        match is_batch {
            true => drop(run(fixture.account.ingest(events)).unwrap()),
            false => {
                for event in events {
                    run(fixture.account.ingest([event])).unwrap();
                }
            }
        }
        let mut shown = all(&fixture.invoices(SETTLED));
        shown.sort();
        (fixture.exceeded(), shown)
    };
    let (exceeded, shown) = told(true);
    let issued = || "issued".to_owned();
    let [first, second] = ["200 over 50, invoice: true", "250 over 50, invoice: true"];
    assert_eq!(exceeded, [first.to_owned(), issued(), second.to_owned(), issued()]);
    assert_eq!(
        shown,
        ["00001 issued 2026-04-06: usage 200 = 200", "00002 issued 2026-04-06: usage 50 = 50"]
    );
    assert_eq!(told(false), (exceeded, shown));
}

#[test]
fn invoicing_15_fees_and_minimums_wait_and_discounts_count() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("1", metric), fixture.arrear_fee("30"), fixture.advance_fee("100")]
    });
    let fixture = &invoiced.fixture;
    let usage = |of: NewAdjustment| {
        let class = accrue::price::PriceClass::Usage;
        crate::adjustments::over(accrue::price::FilterValues::PriceType([class].into()), of)
    };
    let least = accrue::price::Adjustment::Minimum(number("70"));
    let least = NewAdjustment { item_id: Some(fixture.item().id), ..NewAdjustment::new(least) };
    subscribed(&invoiced, "50.00", |new| {
        let all = [usage(percentage_off("0.5")), usage(at_most("60")), usage(least)];
        new.adjustments.add = all.map(Into::into).into();
    });
    fixture.use_on("06", "a", "99.98");
    assert_eq!(fixture.exceeded(), Vec::<String>::new());
    fixture.use_on("07", "b", "100.02");
    assert_eq!(fixture.exceeded(), ["60 over 50, invoice: true", "issued"]);
    fixture.tick_at("2026-05-02T00:00:00Z");
    // The maximum wins over the minimum.
    assert_eq!(
        all(&fixture.invoices(SETTLED)),
        [
            "00003 issued 2026-05-01: usage 0, fee 30, fee 100 = 130",
            "00002 issued 2026-04-07: usage 60 = 60",
            "00001 issued 2026-04-01: fee 100 = 100",
        ]
    );
}

#[test]
fn invoicing_15_what_credits_pay_for_is_not_billed() {
    let (invoiced, of) = at_threshold("50.00");
    let fixture = &invoiced.fixture;
    let block = NewBlock::new(number("70"));
    let entry = NewLedgerEntry::new(unit("USD"), LedgerChange::Increment(block));
    run(fixture.account.create_ledger_entry(external("ada"), entry)).unwrap();
    fixture.messages();
    fixture.use_on("06", "a", "60");
    assert_eq!(fixture.exceeded(), ["60 over 50, invoice: false"]);
    let events: Vec<_> =
        ["20", "40"].iter().map(|n| event("ada", n, at("2026-04-07T12:00:00Z"), n)).collect();
    fixture.set("2026-04-07T12:00:00Z");
    run(fixture.account.ingest(events)).unwrap();
    assert_eq!(fixture.exceeded(), ["120 over 50, invoice: true", "issued"]);
    let partial = &fixture.invoices(SETTLED)[0];
    assert_eq!(partial.lines[0].credits_applied, number("70"));
    assert_eq!(partial.total, number("50"));
    fixture.use_on("20", "c", "5");
    assert_eq!(all(&[invoiced.upcoming(&of)]), ["DRAFT draft 2026-05-01: usage 5 = 5"]);
}

#[test]
fn invoicing_15_where_nothing_is_billed_the_draft_of_the_period_is_named() {
    let (invoiced, of) = at_threshold("50.00");
    let fixture = &invoiced.fixture;
    let block =
        NewLedgerEntry::new(unit("USD"), LedgerChange::Increment(NewBlock::new(number("70"))));
    run(fixture.account.create_ledger_entry(external("ada"), block)).unwrap();
    fixture.messages();
    fixture.use_on("06", "a", "60");
    let named = fixture.drain().into_iter().find_map(|message| match message.body {
        Body::InvoicingThresholdExceeded { invoice_id, .. } => Some(invoice_id),
        _ => None,
    });
    assert_eq!(named, Some(invoiced.upcoming(&of).id));
}

#[test]
fn invoicing_15_a_correction_may_make_the_line_of_the_period_negative() {
    let (invoiced, _) = at_threshold("50.00");
    let fixture = &invoiced.fixture;
    fixture.use_on("06", "a", "62");
    let of = event("ada", "a", at("2026-04-06T12:00:00Z"), "40");
    let Event { idempotency_key, event_name, timestamp, properties, customer } = of;
    let amendment = Amendment { event_name, timestamp, properties, customer };
    run(fixture.account.amend_event(idempotency_key, amendment)).unwrap();
    fixture.tick_at("2026-05-02T00:00:00Z");
    let last = &fixture.invoices(SETTLED)[0];
    assert_eq!(all(std::slice::from_ref(last)), ["00002 paid 2026-05-01: usage -22 = -22"]);
    assert_eq!(last.lines[0].partially_invoiced, number("62"));
    assert_eq!(invoiced.balance(), "22");
}

#[test]
fn invoicing_15_each_subscription_is_judged_by_itself() {
    let (invoiced, _) = at_threshold("50.00");
    subscribed(&invoiced, "100.00", |_| {});
    let fixture = &invoiced.fixture;
    fixture.use_on("06", "a", "40");
    assert_eq!(fixture.exceeded(), [""; 0], "together they have come to 80");
    fixture.use_on("07", "b", "20");
    assert_eq!(fixture.exceeded(), ["60 over 50, invoice: true", "issued"]);
}

#[test]
fn invoicing_15_one_by_hand_is_kept_with_its_lines() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("1", metric)]);
    let fixture = &invoiced.fixture;
    subscribed(&invoiced, "50.00", |new| {
        new.carried =
            Carried::new([("invoicing_threshold", "\"50.00\""), ("auto_issuance", "false")])
                .unwrap();
    });
    fixture.use_on("06", "a", "62");
    fixture.use_on("07", "b", "8");
    let drafts = fixture.invoices(DRAFT);
    let shown = all(&drafts);
    assert!(shown.contains(&"DRAFT draft 2026-04-06: usage 62 = 62".to_owned()), "{shown:?}");
    assert!(shown.contains(&"DRAFT draft 2026-05-01: usage 8 = 8".to_owned()), "{shown:?}");
    let partial = drafts.iter().find(|of| of.source == InvoiceSource::Partial).unwrap();
    let line = fixture.account.delete_invoice_line(partial.id, partial.lines[0].id);
    assert_eq!(refused(fixture, line).0, ErrorKind::ConstraintViolation);
    let issued = run(fixture.account.issue_invoice(partial.id)).unwrap();
    assert_eq!(all(&[issued]), ["00001 issued 2026-04-06: usage 62 = 62"]);
    fixture.tick_at("2026-05-03T00:00:00Z");
    let drafts = all(&fixture.invoices(DRAFT));
    assert!(drafts.contains(&"DRAFT draft 2026-05-01: usage 8 = 8".to_owned()), "{drafts:?}");
}

#[test]
fn invoicing_15_another_period_begins_at_nothing_and_an_end_bills_the_rest() {
    let (invoiced, of) = at_threshold("50.00");
    let fixture = &invoiced.fixture;
    fixture.use_on("20", "a", "60");
    fixture.tick_at("2026-05-02T00:00:00Z");
    fixture.messages();
    fixture.use_now("ada", "b", "49");
    assert_eq!(fixture.exceeded(), Vec::<String>::new());
    fixture.use_now("ada", "c", "1");
    assert_eq!(fixture.exceeded(), ["50 over 50, invoice: true", "issued"]);
    fixture.use_now("ada", "d", "9");
    fixture.set("2026-05-10T00:00:00Z");
    run(fixture.account.cancel_subscription(of.id, Cancellation::Immediate)).unwrap();
    fixture.tick_at("2026-05-12T00:00:00Z");
    assert_eq!(
        all(&fixture.invoices(SETTLED)),
        [
            "00004 issued 2026-05-10: usage 9 = 9",
            "00003 issued 2026-05-02: usage 50 = 50",
            "00002 paid 2026-05-01: usage 0 = 0",
            "00001 issued 2026-04-20: usage 60 = 60",
        ]
    );
}

#[test]
fn invoicing_15_a_threshold_is_changed_and_taken_back() {
    let (invoiced, of) = at_threshold("50.00");
    let fixture = &invoiced.fixture;
    let change = |text: &str| {
        let carried = CarriedUpdate::new([("invoicing_threshold", text)]).unwrap();
        let update = SubscriptionUpdate { carried, ..SubscriptionUpdate::default() };
        fixture.account.update_subscription(of.id, update)
    };
    for wrong in ["\"0\"", "\"-1\"", "\"1.001\"", "\"x\"", "true"] {
        assert_eq!(refused(fixture, change(wrong)).0, ErrorKind::RequestValidation, "{wrong}");
    }
    let after = run(change("\"20\"")).unwrap();
    assert_eq!(after.invoicing_threshold(), Some(number("20")));
    fixture.messages();
    fixture.use_on("06", "a", "25");
    assert_eq!(fixture.exceeded(), ["25 over 20, invoice: true", "issued"]);
    run(change("null")).unwrap();
    fixture.messages();
    fixture.use_on("07", "b", "100");
    assert_eq!(fixture.exceeded(), Vec::<String>::new());
    let draft = block_on(fixture.account.upcoming_invoice(of.id)).unwrap();
    assert_eq!(all(&[draft]), ["DRAFT draft 2026-05-01: usage 100 = 100"]);
}

#[test]
fn subscriptions_1_10_1_a_threshold_is_above_zero_in_the_invoicing_currency() {
    let (invoiced, _) = at_threshold("0.01");
    for wrong in ["0", "0.00", "-5", "0.001"] {
        let mut new = NewSubscription::new(external("ada"), invoiced.plan.id);
        new.carried = threshold(wrong);
        let (kind, text) =
            refused(&invoiced.fixture, invoiced.fixture.account.create_subscription(new));
        assert_eq!(kind, ErrorKind::RequestValidation, "{wrong}: {text}");
    }
}

#[test]
fn subscriptions_1_10_2_fees_never_reach_it() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("1", metric), fixture.advance_fee("500"), fixture.arrear_fee("70")]
    });
    subscribed(&invoiced, "50.00", |_| {});
    let fixture = &invoiced.fixture;
    fixture.use_on("06", "a", "49");
    fixture.tick_at("2026-05-02T00:00:00Z");
    assert!(fixture.exceeded().iter().all(|of| of == "issued"));
    let sources = fixture.invoices(SETTLED).into_iter().map(|of| of.source);
    assert_eq!(sources.collect::<Vec<_>>(), [InvoiceSource::Subscription; 2]);
}

#[test]
fn subscriptions_1_10_3_it_is_of_one_subscription_and_not_of_its_customer() {
    let (invoiced, _) = at_threshold("50.00");
    subscribed(&invoiced, "50.00", |_| {});
    let fixture = &invoiced.fixture;
    fixture.use_on("06", "a", "49");
    assert_eq!(fixture.exceeded(), [""; 0], "98 of two, and 49 of each");
    fixture.use_on("07", "b", "1");
    let [each, issued] = ["50 over 50, invoice: true", "issued"];
    assert_eq!(fixture.exceeded(), [each, issued, each, issued]);
}

#[test]
fn subscriptions_1_10_4_example_one_invoice_has_all_of_the_excess() {
    let (invoiced, _) = at_threshold("10.00");
    let fixture = &invoiced.fixture;
    fixture.use_on("05", "a", "34");
    assert_eq!(fixture.exceeded(), ["34 over 10, invoice: true", "issued"]);
    fixture.use_on("06", "b", "7");
    assert_eq!(fixture.exceeded(), [""; 0], "7 of 41 are open");
    fixture.use_on("07", "c", "5");
    assert_eq!(fixture.exceeded(), ["46 over 10, invoice: true", "issued"]);
    fixture.use_on("08", "d", "4");
    fixture.tick_at("2026-05-02T00:00:00Z");
    let expected = [
        "00003 issued 2026-05-01: usage 4 = 4",
        "00002 issued 2026-04-07: usage 12 = 12",
        "00001 issued 2026-04-05: usage 34 = 34",
    ];
    assert_eq!(all(&fixture.invoices(SETTLED)), expected);
}

#[test]
fn subscriptions_1_10_4_it_is_reached_where_usage_comes_to_it() {
    let (invoiced, _) = at_threshold("10.00");
    let fixture = &invoiced.fixture;
    fixture.use_on("05", "a", "9.99");
    assert_eq!(fixture.exceeded(), [""; 0]);
    fixture.use_on("05", "b", "0.01");
    assert_eq!(fixture.exceeded(), ["10 over 10, invoice: true", "issued"]);
}

#[test]
fn subscriptions_1_10_5_what_earlier_ones_billed_is_left_out_and_nothing_waits() {
    let (invoiced, _) = at_threshold("10.00");
    let fixture = &invoiced.fixture;
    fixture.use_on("05", "a", "12");
    fixture.use_on("06", "b", "11");
    let issued: Vec<_> =
        fixture.invoices(SETTLED).iter().map(|of| (of.total.clone(), of.issued_at)).collect();
    let at_once = |day: &str| Some(at(&format!("2026-04-{day}T12:00:00Z")));
    assert_eq!(issued, [(number("11"), at_once("06")), (number("12"), at_once("05"))]);
}
