//! Invoices of whole lives, whatever happens in them.

use accrue::{
    Carried, CivilDate, Decimal, PageRequest, Patch, PriceId, Timeframe, Timestamp,
    backfill::NewBackfill,
    cost::CostQuery,
    coupon::{Redemption, RedemptionTiming},
    invoice::{
        CreditNoteEffect, CreditNoteFilter, Invoice, InvoiceFilter, InvoiceSource, InvoiceStatus,
        LineSubject, NewInvoiceLine, Payment,
    },
    plan::{
        DefaultVersion, MigrationTiming, NewMigration, NewPhase, NewPlan, PhaseDuration,
        PhaseOrder, PhaseUnit, Plan, PlanVersionChange,
    },
    price::NewPrice,
    subscription::{
        BillingCycleAlignment, Cancellation, ChangeTiming, FeeQuantityChange, IntervalChanges,
        NewPriceInterval, PlanChange, PlanChangeTiming, PriceIntervalEdit, TrialUpdate,
    },
    usage::QueryTimeframe,
};
use proptest::{collection::vec, prelude::*};

use crate::{
    coupons::percentage,
    invoices::{DRAFT, Invoiced, invoiced_with},
    invoicing_cycles::every,
    support::fixture::{Fixture, at, block_on, event, name, run, usd},
};

/// What happens to a subscription, on some hour.
#[derive(Clone, Debug)]
enum Happens {
    /// So many units, so many hours ago.
    Use(u32, u32),
    /// So many units more, or in place of what there is, of the last hours whose usage was not billed.
    Backfill(u32, u32),
    Tick,
    Quantity(u32, Option<i64>),
    Cancel(Option<i64>),
    GoOn,
    Redeem(i64, u32),
    AddLine(i64),
    VoidPartial,
    /// An interval of a price, so many hours from now and for so many hours.
    Add(u32, i64, Option<u32>),
    /// Another plan, so many hours from now or at the end of the term, with one of the alignments.
    Plan(Option<i64>, u32),
    /// What is still to come of that is taken back.
    Unplan,
    /// The next phase of its plan, so many hours from now.
    Phase(i64),
    /// The end of its trial, so many hours from now, with all behind it or alone.
    Trial(i64, bool),
    /// A version of its plan with other prices, to which it moves so many hours from now or at the end of its term.
    Migrate(Option<i64>, u32),
    /// The last of these moves is canceled.
    CancelMigration,
    /// Another start, or another end or none, of one of the intervals.
    Move(usize, Option<i64>, Option<Option<i64>>),
}

fn happens() -> impl Strategy<Value = (u32, Happens)> {
    let happens = prop_oneof![
        4 => (1_u32..50).prop_map(|n| Happens::Use(n, 0)),
        // What an account that says nothing accepts.
        2 => (1_u32..50, 1_u32..24).prop_map(|(n, hours)| Happens::Use(n, hours)),
        1 => (1_u32..50, 1_u32..700).prop_map(|(n, hours)| Happens::Backfill(n, hours)),
        3 => Just(Happens::Tick),
        2 => (0_u32..6, prop::option::of(-900_i64..900)).prop_map(|(of, by)| Happens::Quantity(of, by)),
        1 => prop::option::of(-900_i64..900).prop_map(Happens::Cancel),
        1 => Just(Happens::GoOn),
        2 => (-300_i64..600, 1_u32..3).prop_map(|(of, months)| Happens::Redeem(of, months)),
        2 => (-90_i64..90).prop_map(Happens::AddLine),
        1 => Just(Happens::VoidPartial),
        2 => (0_u32..3, -1_500_i64..900, prop::option::of(1_u32..2_000))
            .prop_map(|(kind, of, life)| Happens::Add(kind, of, life)),
        2 => (prop::option::of(-600_i64..1_500), 0_u32..6).prop_map(|(of, to)| Happens::Plan(of, to)),
        1 => Just(Happens::Unplan),
        1 => (-900_i64..900).prop_map(Happens::Phase),
        1 => (-900_i64..900, any::<bool>()).prop_map(|(of, shift)| Happens::Trial(of, shift)),
        2 => (prop::option::of(-600_i64..1_500), 0_u32..4)
            .prop_map(|(of, kind)| Happens::Migrate(of, kind)),
        1 => Just(Happens::CancelMigration),
        3 => (0_usize..4, prop::option::of(-1_500_i64..900), prop::option::of(prop::option::of(-1_500_i64..900)))
            .prop_map(|(of, start, end)| Happens::Move(of, start, end)),
    ];
    (0_u32..200, happens)
}

/// A plan with some prices for forty days, and with twice these fees from then on, also in periods of their own.
fn phased_plan(fixture: &Fixture, prices: Vec<NewPrice>, aligns_billing: bool) -> Plan {
    let mut plan = NewPlan::new(name("Ramp"), usd());
    let forty_days = PhaseDuration { count: 40, unit: PhaseUnit::Daily };
    plan.phases = vec![NewPhase::lasting(forty_days), NewPhase { duration: None, aligns_billing }];
    let in_phase = |order: u32, mut price: NewPrice| {
        price.plan_phase_order = Some(PhaseOrder::new(order));
        price.into()
    };
    let twice = [fixture.advance_fee("124"), fixture.arrear_fee("186")];
    plan.prices = prices.into_iter().map(|price| in_phase(1, price)).collect();
    plan.prices.extend(twice.map(|price| in_phase(2, price)));
    run(fixture.account.create_plan(plan)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Every charge of a life is on exactly one invoice, whenever somebody ticks: all of them, less credit
    /// notes, come to what the life costs with the lines by hand, and each line to what its own period does.
    #[test]
    fn invoices_of_a_life_come_to_what_it_costs(
        story in vec(happens(), 1..14),
        daily in any::<bool>(),
        is_paid in any::<bool>(),
        threshold in prop::option::of(1_u32..90),
        cycle in prop::option::of(5_u32..40),
        trial in prop::option::weighted(0.3, 1_u32..60),
    ) {
        let mut metric = None;
        let invoiced = invoiced_with(|fixture, of| {
            metric = Some(of.clone());
            let usage = match cycle {
                Some(days) => every(days, "day", fixture.usage_at("2", of)),
                None => fixture.usage_at("2", of),
            };
            vec![usage, fixture.advance_fee("310"), fixture.arrear_fee("31")]
        });
        let Invoiced { fixture, .. } = &invoiced;
        let start = "2026-07-12T09:00:00Z";
        fixture.set(start);
        let subscription = invoiced.subscribe_with(start, |new| {
            let threshold = threshold.map(|of| ("invoicing_threshold", format!("\"{of}\"")));
            new.carried = Carried::new(threshold).unwrap();
            new.trial_days = trial;
        });
        let fee = subscription.price_intervals.iter().find(|of| of.is_fee()).unwrap();
        let fee: PriceId = fee.price_id;
        let (mut by_hand, mut has_past_end, mut migration) = (Decimal::zero(), false, None);
        let hours = |of: u32| std::time::Duration::from_secs(u64::from(of) * 3_600);
        for (index, (wait, happens)) in story.into_iter().enumerate() {
            if daily {
                for _ in 0..wait / 24 {
                    fixture.clock.advance(hours(24));
                    fixture.tick();
                }
            } else {
                fixture.clock.advance(hours(wait));
            }
            let now = accrue::Clock::now(&fixture.clock);
            let moved = |by: i64| match by < 0 {
                true => now.saturating_sub(hours(by.unsigned_abs().try_into().unwrap())),
                false => now.saturating_add(hours(by.try_into().unwrap())),
            };
            let account = &fixture.account;
            // What is refused is refused for a reason that other tests ask for.
            match happens {
                Happens::Use(n, ago) => {
                    let at = now.saturating_sub(hours(ago));
                    let event = event("ada", &format!("key {index}"), at, &n.to_string());
                    run(account.ingest([event])).unwrap();
                }
                Happens::Backfill(n, ago) => {
                    // What is due is issued before, and its usage stays as it was billed.
                    fixture.tick();
                    let invoices = fixture.invoices(&[InvoiceStatus::Issued, InvoiceStatus::Paid]);
                    let whole = invoices.iter().filter(|of| of.source != InvoiceSource::Partial);
                    let usage = whole.flat_map(|of| &of.lines).filter(|of| of.name.as_str() == "usage");
                    let billed = usage.map(|line| line.period.end()).max();
                    let from = now.saturating_sub(hours(ago)).max(billed.unwrap_or(Timestamp::MIN));
                    if let Ok(timeframe) = Timeframe::new(from, now) {
                        let mut new = NewBackfill::new(timeframe);
                        // What thresholds have billed is not taken back.
                        new.replace_existing_events = threshold.is_none();
                        let backfill = run(account.create_backfill(new)).unwrap();
                        let event = event("ada", &format!("filled {index}"), from, &n.to_string());
                        run(account.ingest_backfill(backfill.id, [event])).unwrap();
                        run(account.close_backfill(backfill.id)).unwrap();
                    }
                }
                Happens::Tick => {
                    fixture.tick();
                    if is_paid {
                        for invoice in fixture.invoices(crate::invoices::SETTLED) {
                            let _ = run(account.mark_invoice_paid(invoice.id, Payment::new(now)));
                        }
                    }
                }
                Happens::Quantity(quantity, by) => {
                    let when = by.map_or(ChangeTiming::Immediate, |of| {
                        ChangeTiming::EffectiveDate(moved(of))
                    });
                    let quantity = Decimal::from(u64::from(quantity));
                    let change = FeeQuantityChange { price: fee.into(), quantity, when };
                    let _ = run(account.update_fixed_fee_quantity(subscription.id, change));
                }
                Happens::Cancel(later) => {
                    let when = match later {
                        Some(0) => Cancellation::Immediate,
                        Some(of) => Cancellation::RequestedDate(moved(of)),
                        None => Cancellation::EndOfSubscriptionTerm,
                    };
                    let is_ended = run(account.cancel_subscription(subscription.id, when)).is_ok();
                    has_past_end |= is_ended && later.is_some_and(|of| of < 0);
                }
                Happens::Redeem(of, months) => {
                    // All is free, so that nothing of it is rounded.
                    let coupon = fixture.coupon_for(&format!("code {index}"), percentage("1"), months);
                    let when = RedemptionTiming::RequestedDate(moved(of));
                    let redemption = Redemption { coupon: coupon.id.into(), when };
                    let _ = run(account.redeem_coupon(subscription.id, redemption));
                }
                Happens::AddLine(amount) => {
                    let amount = Decimal::parse(&amount.to_string()).unwrap();
                    // The draft of the next boundary is the first one.
                    if let Some(draft) = fixture.invoices(DRAFT).first() {
                        let day = CivilDate::parse("2026-07-12").unwrap();
                        let new = NewInvoiceLine {
                            subject: LineSubject::Named(name("by hand")),
                            start_date: day,
                            end_date: day,
                            quantity: Decimal::from(1),
                            amount: amount.clone(),
                        };
                        // It may be issued by now.
                        if run(account.create_invoice_line(draft.id, new)).is_ok() {
                            by_hand += amount;
                        }
                    }
                }
                Happens::VoidPartial => {
                    // What is due is issued before anything is done by hand.
                    fixture.tick();
                    let invoices = fixture.invoices(&[InvoiceStatus::Issued, InvoiceStatus::Paid]);
                    let is_partial = |of: &&Invoice| of.source == InvoiceSource::Partial;
                    let latest = invoices.iter().find(is_partial);
                    // What was billed for the whole period bills nothing again.
                    let is_over = |of: &Invoice| {
                        let later = invoices.iter().filter(|other| of.invoice_date < other.invoice_date);
                        later.flat_map(|of| &of.lines).any(|line| line.name.as_str() == "usage")
                    };
                    if let Some(partial) = latest.filter(|of| !is_over(of)) {
                        // It may be paid by now.
                        let _ = run(account.void_invoice(partial.id));
                    }
                }
                Happens::Add(kind, of, life) => {
                    let price = match kind {
                        0 => fixture.usage_at("3", &metric.clone().unwrap()),
                        1 => fixture.advance_fee("62"),
                        _ => fixture.arrear_fee("93"),
                    };
                    let start = moved(of);
                    let end_date = life.map(|life| start.saturating_add(hours(life)).into());
                    let add = vec![NewPriceInterval { end_date, ..NewPriceInterval::new(price, start) }];
                    let changes = IntervalChanges { add, ..IntervalChanges::default() };
                    let _ = run(account.change_intervals(subscription.id, changes));
                }
                Happens::Move(of, start, end) => {
                    let found = block_on(account.fetch_subscription(subscription.id)).unwrap();
                    let Some(interval) = found.price_intervals.get(of) else { continue };
                    let end_date = match end {
                        None => Patch::Keep,
                        Some(None) => Patch::Clear,
                        Some(Some(of)) => Patch::Set(moved(of).into()),
                    };
                    let start_date = start.map(|of| moved(of).into());
                    let new = PriceIntervalEdit::new(interval.id);
                    let edit = vec![PriceIntervalEdit { start_date, end_date, ..new }];
                    let changes = IntervalChanges { edit, ..IntervalChanges::default() };
                    let _ = run(account.change_intervals(subscription.id, changes));
                }
                Happens::Plan(of, alignment) => {
                    let usage = fixture.usage_at("3", &metric.clone().unwrap());
                    let fees = [fixture.advance_fee("62"), fixture.arrear_fee("93")];
                    let prices: Vec<_> = [usage].into_iter().chain(fees).collect();
                    let plan = match alignment {
                        4.. => phased_plan(fixture, prices, alignment > 4),
                        _ => fixture.priced_plan(prices.into_iter().map(Into::into)),
                    };
                    let when = match of {
                        Some(0) => PlanChangeTiming::Immediate,
                        Some(of) => PlanChangeTiming::RequestedDate(moved(of)),
                        None => PlanChangeTiming::EndOfSubscriptionTerm,
                    };
                    let alignment = match alignment {
                        0 => BillingCycleAlignment::PlanChangeDate,
                        1 => BillingCycleAlignment::StartOfMonth,
                        _ => BillingCycleAlignment::Unchanged,
                    };
                    let carried = subscription.carried.clone();
                    let trial_days = trial.filter(|_| subscription.trial.is_none());
                    let change = PlanChange {
                        when,
                        alignment,
                        carried,
                        trial_days,
                        ..PlanChange::immediate(plan.id)
                    };
                    let _ = run(account.schedule_plan_change(subscription.id, change));
                }
                Happens::Migrate(of, kind) => {
                    let found = block_on(account.fetch_subscription(subscription.id)).unwrap();
                    let plan = block_on(account.fetch_plan(found.plan_id.unwrap())).unwrap();
                    let latest = account.fetch_plan_version(plan.id, plan.version);
                    let latest = block_on(latest).unwrap().prices;
                    let default = DefaultVersion::Replace;
                    let mut change = PlanVersionChange { default, ..Default::default() };
                    let last = latest.last().map(|price| price.id);
                    let phase = plan.phases.last().map(|phase| phase.order);
                    let in_last = |price| NewPrice { plan_phase_order: phase, ..price }.into();
                    match (kind, last) {
                        (0, Some(last)) => change.remove = vec![last],
                        (1, Some(last)) => {
                            change.replace = vec![(last, fixture.advance_fee("124").into())];
                        }
                        (2, _) => change.add = vec![in_last(fixture.arrear_fee("155"))],
                        _ => {
                            let usage = fixture.usage_at("4", &metric.clone().unwrap());
                            change.add = vec![in_last(usage)];
                        }
                    }
                    let version = run(account.change_plan_version(plan.id, change)).unwrap().version;
                    let when = match of {
                        Some(0) => MigrationTiming::Immediate,
                        Some(of) => MigrationTiming::At(moved(of)),
                        None => MigrationTiming::EndOfTerm,
                    };
                    let new = NewMigration { when, ..NewMigration::to(version) };
                    let made = run(account.migrate_plan(plan.id, new)).unwrap();
                    migration = Some((plan.id, made.id));
                }
                Happens::CancelMigration => {
                    if let Some((plan, id)) = migration {
                        let _ = run(account.cancel_migration(plan, id));
                    }
                }
                Happens::Phase(of) => {
                    let _ = run(account.trigger_phase(subscription.id, Some(moved(of))));
                }
                Happens::Trial(of, shift) => {
                    let update = TrialUpdate { shift, ..TrialUpdate::at(moved(of)) };
                    let _ = run(account.update_trial(subscription.id, update));
                }
                Happens::Unplan => drop(run(account.unschedule_plan_changes(subscription.id))),
                Happens::GoOn => drop(run(account.unschedule_cancellation(subscription.id))),
            }
        }
        let _ = run(fixture.account.cancel_subscription(subscription.id, Cancellation::EndOfSubscriptionTerm));
        fixture.set("2027-06-01T00:00:00Z");
        fixture.tick();
        prop_assert_eq!(fixture.invoices(DRAFT), []);
        let filter = InvoiceFilter::default();
        let page = PageRequest::first(100).unwrap();
        let invoices = block_on(fixture.account.list_invoices(&filter, &page)).unwrap().data;
        let costs = |from: Timestamp, to: Timestamp| {
            let timeframe = QueryTimeframe::Between(Timeframe::new(from, to).unwrap());
            let query = CostQuery { timeframe, ..CostQuery::default() };
            block_on(fixture.account.subscription_costs(subscription.id, &query)).unwrap().remove(0)
        };
        if has_past_end {
            // Drafts that it took back are gone with their lines.
            let lines = invoices.iter().flat_map(|of| &of.lines);
            let lines = lines.filter(|line| line.name.as_str() == "by hand");
            by_hand = lines.map(|line| &line.amount).sum();
        }
        let life = costs(at("2026-07-01T00:00:00Z"), at("2027-06-01T00:00:00Z"));
        let total: Decimal = invoices.iter().map(|of| &of.total).sum();
        let filter = CreditNoteFilter::default();
        let mut notes = block_on(fixture.account.list_credit_notes(&filter, &page)).unwrap().data;
        // Those of an invoice that was made void take nothing back any more.
        notes.retain(|note| invoices.iter().any(|of| of.id == note.invoice_id));
        let credited: Decimal =
            notes.iter().filter(|of| of.voided_at.is_none()).map(|of| &of.total).sum();
        prop_assert_eq!(total - credited, life.total + by_hand);
        let moved = invoices.iter().flat_map(|of| &of.balance_transactions);
        let moved = moved.map(|of| &of.ending_balance - &of.starting_balance);
        prop_assert_eq!(moved.sum::<Decimal>().to_string(), invoiced.balance());
        for invoice in &invoices {
            let own = notes.iter().filter(|of| of.invoice_id == invoice.id);
            prop_assert!(own.clone().count() == invoice.credit_notes.len());
            let taken = own.filter(|of| of.effect == CreditNoteEffect::Adjustment && of.voided_at.is_none());
            let taken: Decimal = taken.map(|of| &of.total - &of.returned).sum();
            let lasts = |id| notes.iter().any(|of| Some(of.id) == id && of.voided_at.is_none());
            let by_balance = invoice.balance_transactions.iter().filter(|of| !lasts(of.credit_note_id));
            let is_refund = |id| notes.iter().any(|of| Some(of.id) == id && of.effect == CreditNoteEffect::Refund);
            let by_balance = by_balance.filter(|of| !is_refund(of.credit_note_id));
            let by_balance: Decimal = by_balance.map(|of| &of.ending_balance - &of.starting_balance).sum();
            prop_assert_eq!(&invoice.amount_due, &(&invoice.total + &by_balance - taken));
        }
        for invoice in &invoices {
            let sum: Decimal = invoice.lines.iter().map(|line| &line.amount).sum();
            prop_assert_eq!(&sum, &invoice.total);
            if invoice.source == InvoiceSource::Partial {
                continue;
            }
            for line in invoice.lines.iter().filter(|line| line.name.as_str() == "usage") {
                // The last of a period is of all of it.
                let later = invoices.iter().flat_map(|of| &of.lines).any(|of| {
                    (of.price_id, of.period.start()) == (line.price_id, line.period.start())
                        && line.period.end() < of.period.end()
                });
                // What was paid under other terms is credited.
                let lasting = notes.iter().filter(|note| note.voided_at.is_none());
                let mut lines = lasting.flat_map(|note| &note.lines);
                if later || line.amount.is_zero() || lines.any(|of| of.invoice_line_id == line.id) {
                    continue;
                }
                let own = costs(line.period.start(), line.period.end());
                // One that was on trial has two intervals.
                let own = own.lines.iter().filter(|of| of.price_id == line.price_id);
                let total: Decimal = own.clone().map(|of| &of.total).sum();
                prop_assert_eq!(&line.amount + &line.partially_invoiced, total);
                prop_assert_eq!(&line.quantity, &own.map(|of| &of.quantity).sum::<Decimal>());
            }
        }
        let void = fixture.invoices(&[InvoiceStatus::Void]);
        let mut numbers: Vec<_> =
            invoices.iter().chain(&void).map(|of| of.invoice_number.clone()).collect();
        numbers.sort();
        let prefix = numbers.first().map(|of| of[..6].to_owned()).unwrap_or_default();
        let expect: Vec<_> = (1..=numbers.len()).map(|n| format!("{prefix}-{n:05}")).collect();
        prop_assert_eq!(numbers, expect, "no number is left out");
    }
}
