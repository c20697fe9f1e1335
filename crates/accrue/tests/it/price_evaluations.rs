//! Several prices that are evaluated at once, stored ones and others.

use accrue::{
    ErrorKind, PriceId,
    cost::{EvaluatedPrice, EvaluationEntry, EvaluationPrice, PriceEvaluation, PriceEvaluations},
    expression::Expression,
    price::{BillingMode, Cadence, Charge, NewCharge, NewPrice},
    usage::Event,
};
use proptest::prelude::*;

use crate::{
    price_evaluation::{FILTERS, METRICS, Used, day, each, matrix, package, property, used},
    support::{
        fixture::{COUNT, Fixture, NOON, SUM, UNKNOWN, at, block_on, event, external, number, run},
        priced::between,
    },
};

/// An evaluation of all usage of `ada` on the day.
pub(crate) fn of_ada(price_evaluations: Vec<EvaluationEntry>) -> PriceEvaluations {
    PriceEvaluations { customer: external("ada").into(), timeframe: day(), price_evaluations }
}

pub(crate) fn filtered(
    price: impl Into<EvaluationPrice>,
    filter: Option<&str>,
    by: &[&str],
) -> EvaluationEntry {
    EvaluationEntry {
        filter: filter.map(|text| Expression::parse(text).unwrap()),
        grouping: by.iter().map(|name| property(name).into()).collect(),
        ..EvaluationEntry::new(price)
    }
}

impl Fixture {
    fn evaluate_all(
        &self,
        evaluations: &PriceEvaluations,
    ) -> Result<Vec<EvaluatedPrice>, accrue::Error> {
        block_on(self.account.evaluate_prices(evaluations))
    }

    /// The kind of the error that an evaluation ends with, and where it points.
    fn refused(&self, entries: Vec<EvaluationEntry>) -> (ErrorKind, Option<String>) {
        let error = self.evaluate_all(&of_ada(entries)).unwrap_err();
        (error.kind(), error.violations().first().map(|violation| violation.field.clone()))
    }
}

/// Groups of a price, as short as tests like them: values, quantity and amount.
pub(crate) fn shown(evaluated: &EvaluatedPrice) -> Vec<(Vec<String>, String, String)> {
    let groups = evaluated.groups.iter().map(|group| {
        let values = group.grouping_values.iter().map(|value| format!("{value:?}"));
        (values.collect(), group.quantity.to_string(), group.amount.to_string())
    });
    groups.collect()
}

/// `ada`, who used 7 in the region `eu` and 2 in the region `us`.
fn nine() -> (Fixture, NewPrice, PriceId) {
    let fixture = Fixture::new();
    let new = fixture.new_price_of(SUM, each("1"));
    let price = run(fixture.account.create_price(new.clone())).unwrap().id;
    fixture.customer("ada");
    let used = [(1, 7, 1), (2, 2, 2)];
    let used =
        used.map(|(key, n, region)| Used { key, minute: 0, n: Some(n), region, is_adas: true });
    run(fixture.account.ingest(used.iter().map(Used::event).collect::<Vec<_>>())).unwrap();
    (fixture, new, price)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn subscriptions_9_1_6_each_entry_is_what_its_price_alone_is_evaluated_to(
        used in used(),
        entries in prop::collection::vec(
            (
                0..METRICS.len(), 0..3_usize, 0..FILTERS.len(),
                prop::sample::subsequence(vec!["region", "n"], 0..=2), any::<bool>(),
            ),
            1..6,
        ),
        (start, length) in (-24 * 60..0_i64, 0..26 * 60_i64),
    ) {
        let fixture = Fixture::new();
        fixture.customer("ada");
        let news: Vec<_> = METRICS.iter().map(|(sql, ..)| {
            [each("0.25"), package(), matrix()].map(|model| fixture.new_price_of(sql, model))
        }).collect();
        run(fixture.account.ingest(used.iter().map(Used::event).collect::<Vec<_>>())).ok();

        let instant = |minute: i64| {
            accrue::Timestamp::from_micros(at(NOON).micros() + minute * 60_000_000).unwrap()
        };
        let timeframe = accrue::Timeframe::new(instant(start), instant(start + length)).unwrap();
        let (mut together, mut alone) = (Vec::new(), Vec::new());
        let mut stored = Vec::new();
        for (metric, model, filter, by, is_inline) in &entries {
            // A matrix cannot rate the latest value.
            let model = if METRICS[*metric].0.contains("latest") { model % 2 } else { *model };
            let new = news[*metric][model].clone();
            let entry = filtered(new.clone(), FILTERS[*filter].0, by);
            match is_inline {
                true => together.push(entry.clone()),
                false => {
                    let price = run(fixture.account.create_price(new.clone())).unwrap().id;
                    together.push(EvaluationEntry { price: price.into(), ..entry.clone() });
                }
            }
            stored.push((new, entry));
        }
        let together = PriceEvaluations { timeframe, ..of_ada(together) };
        let found = fixture.evaluate_all(&together).unwrap();
        for (new, entry) in stored {
            let price = run(fixture.account.create_price(new)).unwrap().id;
            let (filter, grouping) = (entry.filter, entry.grouping);
            let evaluation = PriceEvaluation {
                filter, grouping, ..PriceEvaluation::new(external("ada"), timeframe)
            };
            alone.push(fixture.evaluate(price, &evaluation).unwrap());
        }
        let found: Vec<_> = found.into_iter().map(|of| of.groups).collect();
        prop_assert_eq!(found, alone);
    }
}

#[test]
fn subscriptions_9_1_example() {
    let fixture = Fixture::new();
    let new = fixture.new_price_of(SUM, each("0.10"));
    let price = run(fixture.account.create_price(new.clone())).unwrap();
    fixture.customer("ada");
    let used = [(1, 30, 1), (2, 20, 2)];
    let used =
        used.map(|(key, n, region)| Used { key, minute: 0, n: Some(n), region, is_adas: true });
    run(fixture.account.ingest(used.iter().map(Used::event).collect::<Vec<_>>())).unwrap();

    let NewCharge::Of(Charge::Usage { metric_id, .. }) = new.charge else { panic!() };
    let charge = Charge::Usage { metric_id, model: each("0.12") };
    let inline = NewPrice { charge: charge.into(), ..new };
    let entries = vec![filtered(price.id, None, &["region"]), EvaluationEntry::new(inline)];
    let found = fixture.evaluate_all(&of_ada(entries)).unwrap();
    let [by_region, whole] = &found[..] else { panic!("{found:?}") };
    let groups: Vec<_> = by_region.groups.iter().map(|group| &group.amount).collect();
    assert_eq!(groups, [&number("3"), &number("2")]);
    assert_eq!(by_region.price.as_ref(), Some(&price));
    assert_eq!(shown(whole), [(vec![], "50".to_owned(), "6".to_owned())]);
    assert_eq!((&whole.price, &whole.currency), (&None, &price.currency));
}

#[test]
fn subscriptions_9_1_1_the_timeframe_starts_at_most_100_days_ago() {
    let (fixture, _, price) = nine();
    let ask = |start| {
        let timeframe = between(start, "2026-03-11T00:00:00Z");
        let entries = vec![EvaluationEntry::new(price)];
        fixture.evaluate_all(&PriceEvaluations { timeframe, ..of_ada(entries) })
    };
    assert_eq!(ask("2025-11-30T12:00:00Z").unwrap()[0].groups[0].quantity, number("9"));
    let error = ask("2025-11-30T11:59:59.999999Z").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RequestValidation);
    assert_eq!(error.violations()[0].field, "timeframe.start");
}

#[test]
fn subscriptions_9_1_2_there_are_1_to_100_prices() {
    let (fixture, _, price) = nine();
    let entries = |count| vec![filtered(price, None, &["region"]); count];
    let found = fixture.evaluate_all(&of_ada(entries(100))).unwrap();
    assert_eq!(found.len(), 100);
    for count in [0, 101] {
        let refused = fixture.refused(entries(count));
        let expect = Some("price_evaluations".to_owned());
        assert_eq!(refused, (ErrorKind::RequestValidation, expect), "{count}");
    }
}

#[test]
fn subscriptions_9_1_5_the_customer_has_to_be_there() {
    let (fixture, _, price) = nine();
    let entries = vec![EvaluationEntry::new(price)];
    let eve = PriceEvaluations { customer: external("eve").into(), ..of_ada(entries) };
    assert!(fixture.evaluate_all(&eve).unwrap_err().is_not_found());
}

#[test]
fn subscriptions_9_1_7_the_groups_of_all_prices_are_at_most_10000() {
    let fixture = Fixture::new();
    let price = fixture.price_of(COUNT, each("1"));
    fixture.customer("ada");
    let ingest = |from: usize, to: usize| {
        for batch in (from..to).collect::<Vec<_>>().chunks(1_000) {
            let of = |n: &usize| event("ada", &n.to_string(), at(NOON), &n.to_string());
            run(fixture.account.ingest(batch.iter().map(of).collect::<Vec<Event>>())).unwrap();
        }
    };
    ingest(0, 4_999);
    let by_n = filtered(price, None, &["n"]);
    let whole = EvaluationEntry::new(price);
    let entries = vec![by_n.clone(), whole.clone(), by_n.clone(), whole.clone()];
    let found = fixture.evaluate_all(&of_ada(entries.clone())).unwrap();
    let groups: Vec<_> = found.iter().map(|of| of.groups.len()).collect();
    assert_eq!(groups, [4_999, 1, 4_999, 1]);
    let mut more = entries.clone();
    more.push(whole);
    assert_eq!(fixture.refused(more), (ErrorKind::TooManyResults, None));
    ingest(4_999, 5_000);
    assert_eq!(fixture.evaluate_all(&of_ada(vec![by_n])).unwrap()[0].groups.len(), 5_000);
    assert_eq!(fixture.refused(entries), (ErrorKind::TooManyResults, None));
}

#[test]
fn subscriptions_9_1_8_a_price_may_be_there_twice_with_other_filters() {
    let (fixture, _, price) = nine();
    let entries = ["region = 'eu'", "region = 'us'", "region = 'eu' OR region = 'us'"]
        .map(|filter| filtered(price, Some(filter), &[]));
    let found = fixture.evaluate_all(&of_ada(entries.into())).unwrap();
    let quantities: Vec<_> = found.iter().map(|of| of.groups[0].quantity.to_string()).collect();
    assert_eq!(quantities, ["7", "2", "9"]);
}

#[test]
fn subscriptions_9_1_9_one_unknown_price_refuses_all() {
    let (fixture, new, price) = nine();
    let known = EvaluationEntry::new(price);
    let unknown: PriceId = UNKNOWN.parse().unwrap();
    let item_id = UNKNOWN.parse().unwrap();
    for other in [
        EvaluationEntry::new(unknown),
        EvaluationEntry::new(external("none")),
        EvaluationEntry::new(NewPrice { item_id, ..new }),
    ] {
        let refused = fixture.refused(vec![known.clone(), other]);
        assert_eq!(refused, (ErrorKind::ResourceNotFound, None));
    }
}

#[test]
fn a_fixed_price_rates_no_usage_stored_or_not() {
    let (fixture, _, price) = nine();
    let mut fee = fixture.fee(Cadence::Monthly);
    let billing_mode = BillingMode::InArrear;
    fee.charge = Charge::Fixed { quantity: number("2"), model: each("1"), billing_mode }.into();
    let stored = run(fixture.account.create_price(fee.clone())).unwrap().id;
    for fee in [EvaluationEntry::new(stored), EvaluationEntry::new(fee)] {
        let refused = fixture.refused(vec![EvaluationEntry::new(price), fee]);
        assert_eq!(refused, (ErrorKind::ConstraintViolation, None));
    }
}

#[test]
fn an_inline_price_is_judged_as_one_to_create_and_not_stored() {
    let (fixture, new, _) = nine();
    let inline = |change: fn(&mut NewPrice)| {
        let mut new = new.clone();
        change(&mut new);
        vec![EvaluationEntry::new(new)]
    };
    let wrong = inline(|new| new.cadence = Cadence::OneTime);
    let expect = Some("price_evaluations[0].price.cadence".to_owned());
    assert_eq!(fixture.refused(wrong), (ErrorKind::RequestValidation, expect));

    // Nothing is stored under its external id, so that it may be used.
    let named = inline(|new| new.external_price_id = Some(external("used")));
    let EvaluationPrice::Inline(used) = named[0].price.clone() else { panic!() };
    run(fixture.account.create_price(*used)).unwrap();
    let before = fixture.dump();
    let found = fixture.evaluate_all(&of_ada(named)).unwrap();
    assert_eq!(shown(&found[0]), [(vec![], "9".to_owned(), "9".to_owned())]);
    assert_eq!(fixture.dump(), before);

    let NewCharge::Of(Charge::Usage { metric_id, .. }) = new.charge else { panic!() };
    run(fixture.account.archive_metric(metric_id)).unwrap();
    let refused = fixture.refused(inline(|_| {}));
    assert_eq!(refused, (ErrorKind::ConstraintViolation, None));
}

#[test]
fn a_matrix_whose_cells_nobody_keeps_is_rated_as_one_that_is_stored() {
    let (fixture, new, _) = nine();
    let NewCharge::Of(Charge::Usage { metric_id, .. }) = new.charge else { panic!() };
    let charge = Charge::Usage { metric_id, model: matrix() };
    let inline = EvaluationEntry::new(NewPrice { charge: charge.into(), ..new });
    let evaluate = || shown(&fixture.evaluate_all(&of_ada(vec![inline.clone()])).unwrap()[0]);
    assert_eq!(evaluate(), [(vec![], "9".to_owned(), "16".to_owned())]);
    let EvaluationPrice::Inline(new) = inline.price.clone() else { panic!() };
    run(fixture.account.create_price(*new)).unwrap();
    assert_eq!(evaluate(), [(vec![], "9".to_owned(), "16".to_owned())]);
}

#[test]
fn a_wrong_grouping_is_told_with_the_place_of_its_price() {
    let (fixture, _, price) = nine();
    let entries =
        vec![EvaluationEntry::new(price), filtered(price, None, &["region", "n", "region"])];
    let expect = Some("price_evaluations[1].grouping".to_owned());
    assert_eq!(fixture.refused(entries), (ErrorKind::RequestValidation, expect));
}
