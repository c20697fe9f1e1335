//! Figures of prices of dimensional price groups, whenever they come (price models 7.3).

use std::collections::BTreeSet;

use accrue::{
    Decimal, EventKey, PropertyName, Timeframe,
    backfill::NewBackfill,
    cost::PriceEvaluation,
    price::{NewDimensionalPriceConfiguration, NewPrice, PartOf},
    usage::{Amendment, Event, PropertyValue},
};
use proptest::prelude::*;

use crate::{
    dimensional_prices::{Grouped, of, used, with, with_at},
    support::{
        fixture::{COUNT, SUM, at, block_on, external, run},
        priced::between,
    },
};

#[test]
fn price_models_7_3_a_subscription_counts_only_the_combinations_that_its_prices_name() {
    let grouped = Grouped::new(SUM);
    for region in 0..50 {
        run(grouped.create(grouped.price(&[&region.to_string(), "gold"], "1"))).unwrap();
    }
    let subscription = grouped.subscribe([grouped.price(&["eu", "gold"], "1")]);
    let events =
        (0..50).map(|index| with(&index.to_string(), "1", &of(&index.to_string(), "gold")));
    grouped.ingest(events.chain([with("eu", "2", &of("eu", "gold"))]));
    assert_eq!(grouped.lines(&subscription), ["2: 2"]);
    let totals = grouped.fixture.figures(&[]);
    let totals: Vec<_> = totals.iter().filter(|row| row.starts_with("cell_total:")).collect();
    let figures = totals[0].matches("sum").count();
    assert_eq!((totals.len(), figures), (1, 1), "{totals:?}");
}

#[test]
fn price_models_7_3_a_combination_counts_the_events_that_were_there_before_it() {
    let check = |sql: &str, expect: [&str; 2]| {
        let grouped = Grouped::new(sql);
        let ada = grouped.fixture.customer("ada");
        grouped.ingest([with("a", "1", &of("eu", "gold")), with("b", "2", &of("us", "gold"))]);
        let first = grouped.subscribe([grouped.price(&["eu", "gold"], "1")]);
        grouped.ingest([with("c", "4", &of("eu", "gold")), with("d", "8", &of("us", "gold"))]);
        // Whoever asks before the customer is measured by it has the same answer as afterwards.
        let late = run(grouped.create(grouped.price(&["us", "gold"], "1"))).unwrap();
        let day = between("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
        let evaluation = PriceEvaluation::new(ada.id, day);
        let evaluate = || {
            let groups = block_on(grouped.fixture.account.evaluate_price(late.id, &evaluation));
            groups.unwrap()[0].quantity.to_string()
        };
        let before = evaluate();
        let second = grouped.subscribe([grouped.price(&["us", "gold"], "1")]);
        assert_eq!(evaluate(), before, "{sql}");
        let found = [&first, &second].map(|of| grouped.lines(of)[0].clone());
        let found = found.map(|line| line.split(':').next().unwrap().to_owned());
        assert_eq!(found, expect, "{sql}");
        assert_eq!(before, expect[1], "{sql}");
    };
    check(SUM, ["5", "10"]);
    check("SELECT count(DISTINCT n) FROM events", ["2", "2"]);
    check("SELECT max(n) FROM events", ["4", "8"]);
}

#[test]
fn price_models_7_3_corrections_move_events_between_combinations() {
    let grouped = Grouped::new(SUM);
    let prices = [grouped.price(&["eu", "gold"], "1"), grouped.price(&["us", "gold"], "1")];
    let subscription = grouped.subscribe(prices);
    grouped.ingest([with("a", "1", &of("eu", "gold")), with("b", "2", &of("us", "gold"))]);
    let moved = with("a", "3", &of("us", "gold"));
    let Event { event_name, timestamp, properties, customer, .. } = moved;
    let amendment = Amendment { event_name, timestamp, properties, customer };
    let account = &grouped.fixture.account;
    run(account.amend_event(EventKey::parse("a").unwrap(), amendment)).unwrap();
    assert_eq!(grouped.lines(&subscription), ["0: 0", "5: 5"]);
    let hour = Timeframe::new(at("2026-03-10T01:00:00Z"), at("2026-03-10T02:00:00Z")).unwrap();
    let mut new = NewBackfill::new(hour);
    new.customer = Some(external("ada").into());
    let backfill = run(account.create_backfill(new)).unwrap();
    let brought = with_at("c", "10", "2026-03-10T01:00:00Z", &of("eu", "gold"));
    run(account.ingest_backfill(backfill.id, [brought])).unwrap();
    run(account.close_backfill(backfill.id)).unwrap();
    grouped.fixture.tick();
    assert_eq!(grouped.lines(&subscription), ["10: 10", "5: 5"]);
    run(account.deprecate_event(EventKey::parse("b").unwrap())).unwrap();
    assert_eq!(grouped.lines(&subscription), ["10: 10", "3: 3"]);
}

#[test]
fn price_models_7_6_an_evaluation_has_groups_of_the_combination_alone() {
    let grouped = Grouped::new(SUM);
    let ada = grouped.fixture.customer("ada");
    let price = run(grouped.create(grouped.price(&["eu", "gold"], "0.5"))).unwrap();
    run(grouped.create(grouped.price(&["us", "gold"], "0.5"))).unwrap();
    grouped.ingest(used());
    let day = between("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
    let mut evaluation = PriceEvaluation::new(ada.id, day);
    let evaluate = |evaluation: &PriceEvaluation| {
        let groups =
            block_on(grouped.fixture.account.evaluate_price(price.id, evaluation)).unwrap();
        let shown = |of: &accrue::cost::EvaluatedGroup| {
            (of.grouping_values.clone(), of.quantity.to_string(), of.amount.to_string())
        };
        groups.iter().map(shown).collect::<Vec<_>>()
    };
    let whole = ("500".to_owned(), "250".to_owned());
    assert_eq!(evaluate(&evaluation), [(vec![], whole.0.clone(), whole.1.clone())]);
    evaluation.grouping = vec![accrue::expression::ComputedProperty::parse("region").unwrap()];
    assert_eq!(evaluate(&evaluation), [(vec!["eu".into()], whole.0, whole.1)]);
    evaluation.filter = Some(accrue::expression::Expression::parse("tier = 'silver'").unwrap());
    assert!(evaluate(&evaluation).is_empty());
}

#[test]
fn invoicing_6_1_a_line_of_a_combination_is_broken_down_by_its_own_events() {
    let invoiced = crate::invoices::invoiced_with(|fixture, metric| {
        let group = fixture.group(metric, &["region"]);
        let key = PropertyName::parse("user").unwrap();
        let of = |region: &str| NewPrice {
            invoice_grouping_key: Some(key.clone()),
            dimensional_price_configuration: Some(NewDimensionalPriceConfiguration::new(
                group.id,
                [region],
            )),
            ..fixture.usage_at("2", metric)
        };
        vec![of("eu"), of("us")]
    });
    let june = "2026-06-01T00:00:00Z";
    invoiced.fixture.set(june);
    invoiced.subscribe(june);
    let of = |key: &str, n, region: &str, user: &str| {
        with_at(key, n, june, &[("region", region.into()), ("user", user.into())])
    };
    let events = [
        of("a", "1", "eu", "ada"),
        of("b", "2", "eu", "bob"),
        of("c", "4", "us", "bob"),
        of("d", "8", "asia", "eve"),
    ];
    run(invoiced.fixture.account.ingest(events)).unwrap();
    let draft = invoiced.fixture.invoices(crate::invoices::DRAFT).remove(0);
    let parts = draft.lines.iter().map(|line| {
        let part = |part: &accrue::price::Part| match &part.of {
            PartOf::Group { value, .. } => {
                format!("{} {}", value.as_deref().unwrap_or("-"), part.amount)
            }
            other => format!("{other:?}"),
        };
        line.parts.iter().map(part).collect::<Vec<_>>()
    });
    assert_eq!(parts.collect::<Vec<_>>(), [vec!["ada 2", "bob 4"], vec!["bob 8"]]);
}

type Used = (u8, Option<u8>, Option<u8>);

proptest! {
    /// Whatever is used and priced, and whenever: a price is of the events with its values.
    #[test]
    fn subscriptions_6_3_prices_cost_what_adding_up_their_events_says(
        used in prop::collection::vec((0..5_u8, prop::option::of(0..3_u8), prop::option::of(0..3_u8)), 0..40),
        priced in prop::collection::vec((0..3_u8, 0..3_u8), 1..6),
        before in 0..40_usize,
        sql in prop::sample::select(vec![SUM, COUNT, "SELECT max(n) FROM events", "SELECT count(DISTINCT n) FROM events"]),
    ) {
        let grouped = Grouped::new(sql);
        grouped.fixture.customer("ada");
        let event = |(index, (n, region, tier)): (usize, &Used)| {
            let text = |value: &Option<u8>| value.map_or(PropertyValue::Null, |of| of.to_string().as_str().into());
            let minute = index * 7 % 60;
            let when = format!("2026-03-10T{:02}:{minute:02}:00Z", index % 12);
            with_at(&index.to_string(), &n.to_string(), &when, &[("region", text(region)), ("tier", text(tier))])
        };
        let events: Vec<_> = used.iter().enumerate().map(event).collect();
        let (early, late) = events.split_at(before.min(events.len()));
        grouped.ingest(early.to_vec());
        let prices = priced.iter().map(|(region, tier)| {
            grouped.price(&[&region.to_string(), &tier.to_string()], "1")
        });
        let subscription = grouped.subscribe(prices);
        grouped.ingest(late.to_vec());
        let count = |found: usize| u64::try_from(found).unwrap();
        let expect: Vec<_> = priced.iter().map(|(region, tier)| {
            let own = used.iter().filter(|of| (of.1, of.2) == (Some(*region), Some(*tier)));
            let own: Vec<u64> = own.map(|of| of.0.into()).collect();
            let figure = match sql {
                SUM => own.iter().sum(),
                COUNT => count(own.len()),
                max if max.contains("max") => own.iter().max().copied().unwrap_or(0),
                _ => count(own.iter().collect::<BTreeSet<_>>().len()),
            };
            let figure = Decimal::from(figure);
            format!("{figure}: {figure}")
        }).collect();
        prop_assert_eq!(grouped.lines(&subscription), expect);
    }
}
