//! Amounts that tiers convert to the currency that is invoiced (price models 7.1).

use super::*;
use crate::price::{ConversionRate, Converted};

/// Rates in tiers, in tenths: so many units wide each, and the last one without an end.
pub(super) fn conversion_rate() -> impl Strategy<Value = ConversionRate> {
    let tiers = prop::collection::vec((1_u32..40, 0_u32..30), 0..4);
    (tiers, 0_u32..30).prop_map(|(tiers, last)| {
        let each = |tenths: u32| number(&format!("{tenths}e-1"));
        let mut first = Decimal::zero();
        let mut all: Vec<_> = Vec::new();
        for (width, tenths) in tiers {
            let end = &first + &Decimal::from(width);
            all.push(Tier::new(first, Some(end.clone()), each(tenths)));
            first = end;
        }
        all.push(Tier::new(first, None, each(last)));
        ConversionRate::Tiered(all)
    })
}

/// The same card with a conversion rate of its prices.
pub(super) fn converted(mut card: Arc<RateCard>, rate: Option<ConversionRate>) -> Arc<RateCard> {
    for interval in &mut Arc::make_mut(&mut card).intervals {
        Arc::make_mut(&mut interval.price).conversion_rate.clone_from(&rate);
    }
    card
}

/// What tiers make of an amount, hundredth by hundredth.
fn slow(rate: &ConversionRate, amount: &Decimal) -> Decimal {
    let ConversionRate::Tiered(tiers) = rate else { panic!("{rate:?}") };
    let step = number("0.01");
    let mut at = Decimal::zero();
    let mut sum = Decimal::zero();
    while at < *amount {
        at += &step;
        let holds = |tier: &&Tier| tier.last_unit.as_ref().is_none_or(|end| at <= *end);
        sum += &step * tiers.iter().find(holds).unwrap().unit_amount.number();
    }
    sum
}

proptest! {
    #[test]
    fn price_models_7_1_each_tier_converts_what_lies_in_it(
        rate in conversion_rate(),
        cents in -500_i32..15_000,
    ) {
        let amount = number(&format!("{cents}e-2"));
        prop_assert_eq!(rate.convert(&amount), slow(&rate, &amount));
    }

    /// Period by period what tiers make of all that it has come to, and of timeframes the difference.
    #[test]
    fn price_models_7_1_tiers_convert_what_a_period_has_come_to(
        rate in conversion_rate(),
        adjustments in adjustments(),
        used in prop::collection::vec((0_u64..80, 0_u32..30), 0..8),
        cuts in prop::collection::btree_set(1_u64..70, 0..6),
    ) {
        let charge = Charge::Usage { metric_id: METRIC, model: Model::Unit(Unit::new(number("0.5"))) };
        let card = card(charge, Cadence::Custom(Cycle::Days(20)), adjustments);
        let card = converted(card, Some(rate.clone()));
        let figure = |period: Timeframe, to: Timestamp| {
            let within = used.iter().filter(|(on, _)| period.start() <= day(*on) && day(*on) < to);
            metric(within.map(|(_, units)| Decimal::from(*units)).sum())
        };
        let periods = card.intervals[0].periods_in(span_of(day(0), day(80)));
        let end = periods.last().unwrap().end();
        let bounds: Vec<_> = [0].into_iter().chain(cuts).map(day).chain([end]).collect();
        let slots: Vec<_> = bounds.windows(2).map(|of| span_of(of[0], of[1])).collect();
        let mut found = Converted::default();
        for lines in super::rate(&card, &figure, &slots, day(100)) {
            found.add(&lines[0].in_tiers.clone().unwrap_or_default());
        }
        let mut expect = Converted::default();
        for period in periods {
            let line = rate_one(&card, &figure, period, day(100)).remove(0);
            expect.subtotal += rate.convert(&line.subtotal);
            expect.total += rate.convert(&line.total);
        }
        prop_assert_eq!(found, expect);
    }
}
