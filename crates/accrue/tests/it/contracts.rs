//! Contracts: subscriptions without a plan (subscriptions 1.9, and what else mentions a null plan).

use accrue::{
    Currency, Decimal, ErrorKind, ListFilter, PageRequest, Patch, PriceId,
    invoice::Invoice,
    plan::{MigrationTiming, NewMigration, PlanVersion, PlanVersionChange},
    price::{NewPrice, PhaseOrder},
    subscription::{
        AddedPrice, Cancellation, IntervalDate, NewPriceInterval, NewSubscription, PlanChange,
        PriceIntervalEdit, ReplacedPrice, Subscription, SubscriptionFilter, SubscriptionStatus,
    },
    webhook::Body,
};

use crate::{
    adjustments::percentage_off,
    changed_plans::on,
    coupons::{code, percentage},
    invoices::DRAFT,
    own_prices::{named, over_named},
    price_intervals::{Changed, JANUARY, adding, changed, constraint, editing},
    support::{
        fixture::{at, block_on, external, name, number, refused, run, usd},
        priced::{between, cost_alert},
    },
};

const JULY: &str = "2027-07-01T00:00:00Z";
const MARCH_11: &str = "2027-03-11T00:00:00Z";

/// A contract of `ada` over half a year, to create.
fn new_contract(prices: impl IntoIterator<Item = NewPrice>) -> NewSubscription {
    let life = between(JANUARY, JULY);
    let mut new = NewSubscription::contract(external("ada"), name("Ada 2027"), usd(), life, 30);
    new.prices.add = prices.into_iter().map(AddedPrice::new).collect();
    new
}

/// An account that invoices, and a contract from 1 January on: a fee of 31.00 a month in advance, and usage at 2.00.
fn contract_with(make: impl FnOnce(&mut NewSubscription)) -> Changed {
    let mut changed = changed(|_, _| Vec::new());
    let fixture = changed.fixture();
    let prices = [fixture.advance_fee("31"), fixture.usage_at("2", &changed.metric)];
    let mut new = new_contract(prices);
    make(&mut new);
    let contract = run(fixture.account.create_subscription(new)).unwrap();
    fixture.messages();
    changed.subscription = contract;
    changed
}

fn contract() -> Changed {
    contract_with(|_| {})
}

/// Its invoices that are issued, oldest first: the day, and what they come to.
fn billed(of: &Changed) -> Vec<String> {
    let own = |found: &Invoice| found.subscription_id == Some(of.subscription.id);
    let found = of.fixture().invoices(&[]).into_iter().filter(own);
    let day = |found: &Invoice| found.invoice_date.to_string()[..10].to_owned();
    let mut found: Vec<_> = found.map(|found| format!("{} {}", day(&found), found.total)).collect();
    found.sort();
    found
}

fn plans(of: &Subscription) -> Vec<Option<accrue::PlanId>> {
    of.plans().iter().map(|of| of.plan_id).collect()
}

fn listed(of: &Changed, filter: SubscriptionFilter) -> bool {
    let page = PageRequest::default();
    let list = of.fixture().account.list_subscriptions(&filter, &page);
    block_on(list).unwrap().data.iter().any(|found| found.id == of.subscription.id)
}

#[test]
fn subscriptions_1_9_a_contract_bills_its_own_prices_up_to_its_end() {
    let of = contract();
    let found = of.fetch();
    assert_eq!((found.plan_id, plans(&found)), (None, vec![None]));
    assert_eq!((found.name.clone(), found.currency), (Some(name("Ada 2027")), usd()));
    assert_eq!(found.end_date, Some(at(JULY)));
    assert_eq!(found.price_intervals.len(), 2);
    of.invoiced.use_at("a", JANUARY, "7");
    assert_eq!(of.cost(JANUARY, "2027-02-01T00:00:00Z"), number("45"));
    let fixture = of.fixture();
    fixture.tick_at("2027-02-03T00:00:00Z");
    assert_eq!(billed(&of), ["2027-01-01 31", "2027-02-01 45"]);
    let february = fixture.invoices(&[]).into_iter().find(|of| of.total == number("45")).unwrap();
    assert_eq!(february.net_terms, Some(30), "its own, there is no plan");
    assert_eq!(of.invoiced.upcoming(&found).total, number("31"));
    fixture.tick_at("2027-09-01T00:00:00Z");
    assert_eq!(of.fetch().status(at("2027-09-01T00:00:00Z")), SubscriptionStatus::Ended);
    let own = fixture.invoices(&[]).into_iter().filter(|of| of.subscription_id == Some(found.id));
    let total: Decimal = own.map(|of| of.total).sum();
    assert_eq!(total, number("200"), "six months and 7 units: {:?}", billed(&of));
    assert!(fixture.invoices(DRAFT).iter().all(|of| of.subscription_id != Some(found.id)));
}

#[test]
fn subscriptions_1_9_what_a_contract_needs_and_what_only_a_plan_has() {
    let of = contract();
    let fixture = of.fixture();
    fixture.tick();
    let refuses = |new: NewSubscription, fields: &[&str]| {
        let before = fixture.dump();
        let error = run(fixture.account.create_subscription(new)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RequestValidation, "{error}");
        let found: Vec<_> = error.violations().iter().map(|of| of.field.as_str()).collect();
        assert_eq!((found, fixture.dump() == before), (fields.to_vec(), true), "{error}");
    };
    let bare = NewSubscription::on(external("ada").into(), None);
    refuses(bare, &["name", "currency", "start_date", "end_date", "net_terms", "add_prices"]);
    let agreed = || new_contract([fixture.advance_fee("31")]);
    refuses(NewSubscription { name: None, ..agreed() }, &["name"]);
    refuses(NewSubscription { end_date: None, ..agreed() }, &["end_date"]);
    refuses(NewSubscription { carried: Default::default(), ..agreed() }, &["net_terms"]);
    refuses(new_contract([]), &["add_prices"]);

    let price = of.fetch().price_intervals[0].price_id;
    let with = |make: fn(&mut NewSubscription, PriceId)| {
        let mut new = agreed();
        make(&mut new, price);
        new
    };
    refuses(with(|new, _| new.plan_version = Some(PlanVersion::FIRST)), &["plan_version_number"]);
    refuses(with(|new, _| new.initial_phase = Some(PhaseOrder::new(1))), &["initial_phase_order"]);
    refuses(with(|new, price| new.prices.remove = vec![price.into()]), &["remove_prices"]);
    let replaced = |new: &mut NewSubscription, price: PriceId| {
        new.prices.replace = vec![ReplacedPrice::quantity(price, number("3"))];
    };
    refuses(with(replaced), &["replace_prices"]);
    let overridden = |new: &mut NewSubscription, price: PriceId| {
        new.prices.replace = vec![ReplacedPrice::overridden(price, Default::default())];
    };
    refuses(with(overridden), &["price_overrides"]);
    let phased = |new: &mut NewSubscription, _: PriceId| {
        new.prices.add[0].plan_phase_order = Some(PhaseOrder::new(1));
    };
    refuses(with(phased), &["add_prices[0].plan_phase_order"]);
    run(fixture.account.create_subscription(agreed())).unwrap();
}

#[test]
fn subscriptions_1_9_adjustments_coupons_and_a_trial_are_a_contracts_too() {
    let of = changed(|_, _| Vec::new());
    let fee = of.fixture().advance_fee("31");
    let mut new = new_contract([named("fee", fee.clone())]);
    new.adjustments.add = vec![over_named(&["fee"], percentage_off("0.5")).into()];
    let made = run(of.fixture().account.create_subscription(new)).unwrap();
    let of = Changed { subscription: made, ..of };
    assert_eq!(billed(&of), ["2027-01-01 15.5"]);

    of.fixture().coupon("HALF", percentage("0.5"));
    let mut new = new_contract([fee.clone()]);
    new.coupon_redemption_code = Some(code("HALF"));
    let made = run(of.fixture().account.create_subscription(new)).unwrap();
    assert!(made.redeemed_coupon().is_some());
    let of = Changed { subscription: made, ..of };
    assert_eq!(billed(&of), ["2027-01-01 15.5"]);

    let mut tried = new_contract([fee]);
    tried.trial_days = Some(14);
    let tried = run(of.fixture().account.create_subscription(tried)).unwrap();
    assert_eq!(tried.trial_end(), Some(at("2027-01-15T00:00:00Z")));
}

#[test]
fn subscriptions_1_1_a_contract_is_in_the_currency_of_its_customer() {
    let of = contract();
    let fixture = of.fixture();
    fixture.tick();
    let eur = Currency::parse("EUR").unwrap();
    let mut new = new_contract([]);
    new.currency = Some(eur);
    let fee = NewPrice { currency: eur.into(), ..fixture.advance_fee("31") };
    new.prices.add = vec![AddedPrice::new(fee)];
    let detail = constraint(refused(fixture, fixture.account.create_subscription(new.clone())));
    assert_eq!(detail, "the contract is invoiced in EUR, the customer in USD");
    let eve = fixture.customer("eve");
    new.customer = eve.id.into();
    run(fixture.account.create_subscription(new)).unwrap();
    let eve = block_on(fixture.account.fetch_customer(eve.id)).unwrap();
    assert_eq!(eve.currency, Some(eur), "the first subscription sets it");
}

#[test]
fn subscriptions_1_9_a_contract_is_in_no_list_of_a_plan_and_in_no_migration() {
    let of = contract();
    let fixture = of.fixture();
    assert!(listed(&of, SubscriptionFilter::default()));
    let plan = of.invoiced.plan.id;
    assert!(!listed(&of, SubscriptionFilter { plan: Some(plan.into()), ..Default::default() }));
    let add = vec![fixture.advance_fee("5").into()];
    let version = of.second(PlanVersionChange { add, ..PlanVersionChange::default() });
    let all = NewMigration { when: MigrationTiming::Immediate, ..NewMigration::to(version) };
    let named = vec![of.subscription.id];
    of.migrating(NewMigration { subscriptions: Some(named), ..all.clone() });
    of.migrating(all);
    let found = of.fetch();
    assert_eq!((found.plan_id, found.price_intervals.len()), (None, 2));
}

#[test]
fn subscriptions_1_9_alerts_of_a_plan_reach_a_contract_once_it_is_on_the_plan() {
    let of = contract();
    let fixture = of.fixture();
    let other = of.plan([fixture.usage_at("3", &of.metric)]);
    run(fixture.account.create_plan_alert(other.id, cost_alert(&["10"]))).unwrap();
    let alerts = || {
        let (all, page) = (ListFilter::default(), PageRequest::default());
        let alerts = fixture.account.list_subscription_alerts(of.subscription.id, &all, &page);
        block_on(alerts).unwrap().data.len()
    };
    assert_eq!(alerts(), 0);
    run(fixture.account.create_subscription_alert(of.subscription.id, cost_alert(&["50"])))
        .unwrap();
    fixture.messages();
    of.invoiced.use_at("a", JANUARY, "10");
    assert_eq!(fixture.told().len(), 1, "its own");
    of.to(PlanChange::immediate(other.id));
    assert_eq!(alerts(), 2);
}

#[test]
fn subscriptions_3_2_a_contract_changes_to_a_plan() {
    let of = contract_with(|new| new.prices.add.truncate(1));
    let fixture = of.fixture();
    fixture.tick_at(MARCH_11);
    let other = of.plan([fixture.advance_fee("155")]);
    fixture.messages();
    let after = of.to(PlanChange::immediate(other.id));
    assert_eq!(plans(&after), [None, Some(other.id)]);
    assert_eq!((after.plan_id, after.end_date), (Some(other.id), None), "3.2.9");
    assert_eq!(after.carried.get("net_terms"), None, "3.2.14: those of the plan");
    assert_eq!(of.notes(), ["21"], "21 of 31 days of 31.00 go back");
    assert_eq!(billed(&of).last().unwrap(), "2027-03-11 105");
    assert!(listed(&of, SubscriptionFilter { plan: Some(other.id.into()), ..Default::default() }));
    let bodies: Vec<_> = fixture.messages().into_iter().map(|of| of.body).collect();
    let changed = bodies.iter().find_map(|body| match body {
        Body::PlanChanged { previous_plan_id, .. } => Some(*previous_plan_id),
        _ => None,
    });
    assert_eq!(changed, Some(None), "{bodies:?}");
    let taken_back = |of: &Body| matches!(of, Body::SubscriptionCancellationUnscheduled { .. });
    assert!(bodies.iter().any(taken_back));
    let stretches = after.plan_stretches();
    let ends: Vec<_> = stretches.iter().map(|of| (of.plan_id, of.end_date)).collect();
    assert_eq!(ends, [(None, Some(at(MARCH_11))), (Some(other.id), None)], "3.7");
}

#[test]
fn subscriptions_3_3_a_scheduled_plan_of_a_contract_is_taken_back() {
    let of = contract();
    let fixture = of.fixture();
    let before = of.fetch();
    let other = of.plan([fixture.advance_fee("155")]);
    fixture.messages();
    of.to(on(&other, "2027-04-01T00:00:00Z"));
    let scheduled = fixture.messages().into_iter().find_map(|of| match of.body {
        Body::PlanChangeScheduled { previous_plan_id, new_plan_id, .. } => {
            Some((previous_plan_id, new_plan_id))
        }
        _ => None,
    });
    assert_eq!(scheduled, Some((None, other.id)));
    assert_eq!(of.fetch().plan_id, None, "until then");
    let after = run(of.unschedule()).unwrap();
    assert_eq!(plans(&after), [None]);
    assert_eq!(after.price_intervals, before.price_intervals);
    assert_eq!(after.end_date, None, "the change took it back");
    fixture.tick();
    let detail = refused(fixture, fixture.account.trigger_phase(of.subscription.id, None));
    constraint(detail);
}

#[test]
fn subscriptions_2_and_3_8_a_contract_changes_its_prices_and_its_end() {
    let of = contract();
    let fixture = of.fixture();
    let added =
        of.add(NewPriceInterval::new(fixture.advance_fee("62"), at("2027-02-01T00:00:00Z")));
    fixture.tick_at("2027-02-03T00:00:00Z");
    assert_eq!(billed(&of).last().unwrap(), "2027-02-01 93");
    let mut edit = PriceIntervalEdit::new(added);
    edit.end_date = Patch::Set(IntervalDate::At(at("2027-03-01T00:00:00Z")));
    of.change(editing(edit));
    let end = at("2027-05-01T00:00:00Z");
    let id = of.subscription.id;
    run(fixture.account.cancel_subscription(id, Cancellation::RequestedDate(end))).unwrap();
    assert_eq!(of.fetch().end_date, Some(end));
    let after = run(fixture.account.unschedule_cancellation(id)).unwrap();
    assert_eq!(after.end_date, None, "what it was agreed on to be is lost, as of any other");
    fixture.tick_at("2027-08-03T00:00:00Z");
    assert_eq!(billed(&of).last().unwrap(), "2027-08-01 31");
    let outside = NewPriceInterval::new(fixture.advance_fee("1"), at("2026-01-01T00:00:00Z"));
    constraint(refused(fixture, of.call(adding(outside))));
}

#[test]
fn subscriptions_4_1_a_contract_waits_and_is_applied() {
    let of = changed(|_, _| Vec::new());
    let fixture = of.fixture();
    let new = || new_contract([fixture.advance_fee("31")]);
    let (preview, waits) = run(fixture.account.create_subscription(new()).staged()).unwrap();
    assert_eq!((preview.plan_id, waits.plan_id), (None, None));
    assert!(block_on(fixture.account.fetch_subscription(preview.id)).unwrap_err().is_not_found());
    let applied = fixture.account.apply_subscription_change(waits.id, Default::default());
    let applied = run(applied).unwrap().subscription.unwrap();
    assert_eq!((applied.id, applied.plan_id), (preview.id, None));
    let found = block_on(fixture.account.fetch_subscription(preview.id)).unwrap();
    assert_eq!(found.price_intervals.len(), 1);
}

#[test]
fn subscriptions_0_4_a_contract_is_previewed() {
    let of = contract();
    let fixture = of.fixture();
    let before = fixture.dump();
    let fee = fixture.advance_fee("31");
    let call = fixture.account.create_subscription(new_contract([fee.clone()]));
    assert_eq!(block_on(call.preview()).unwrap().answer.plan_id, None);
    let other = of.plan([]);
    let made = fixture.dump();
    let change = of.plan_call(PlanChange::immediate(other.id));
    assert_eq!(block_on(change.preview()).unwrap().answer.plan_id, Some(other.id));
    assert_eq!((fixture.dump(), before.len() < made.len()), (made, true));
    let price = of.fetch().price_intervals[0].price_id;
    let error = block_on(fixture.account.preview_price(of.subscription.id, price, fee));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::ConstraintViolation);
}
