//! Figures of lines, by the examples of the facts, and however lines are drawn.

use std::{collections::BTreeMap, sync::Arc};

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{
    AdjustmentIntervalId, Currency, Fraction, ItemId, MetricId, Name, PriceId, PricingUnit,
    Timeframe,
    price::{Adjustment, Cadence, Charge, Discount, Model, NewPrice, Unit},
    rating::{Due, DueLine, DueStep, Earlier, RateCard},
    subscription::{
        AdjustmentInterval, Lane,
        sample::{cut, subscription},
    },
};

fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

fn id(place: usize) -> [u8; 16] {
    [u8::try_from(place).unwrap() + 1; 16]
}

/// A card of usage prices, each in a currency or a unit that is worth so much.
fn card(units: &[(&str, Option<&str>)]) -> (RateCard, Vec<AdjustmentInterval>) {
    let mut of = subscription();
    let mut prices = Vec::new();
    for (place, (unit, worth)) in units.iter().enumerate() {
        let charge = Charge::Usage {
            metric_id: MetricId::from_bytes(id(place)),
            model: Model::Unit(Unit::new(number("1"))),
        };
        let unit = PricingUnit::parse(*unit).unwrap();
        let new = NewPrice::builder(Name::parse("price").unwrap(), ItemId::from_bytes([1; 16]));
        let mut new = new.billed(Cadence::Monthly, unit).charge(charge);
        new.conversion_rate = worth.map(|rate| number(rate).into());
        let price = new.decide(PriceId::from_bytes(id(place)), None, of.created_at).unwrap();
        let interval = cut(&of).interval(&price);
        of.price_intervals.push(interval);
        prices.push(Arc::new(price));
    }
    let adjustment = AdjustmentInterval {
        id: AdjustmentIntervalId::from_bytes([1; 16]),
        adjustment: Adjustment::Discount(Discount::Percentage(Fraction::parse("0.15").unwrap())),
        price_ids: prices.iter().map(|price| price.id).collect(),
        lane: Lane::FIRST,
        plan_version: of.plan_version,
        coupon_id: None,
        is_trial: false,
        delayed_from: None,
        scope: None,
        start_date: of.start_date,
        end_date: None,
    };
    (RateCard::new(&of, prices), vec![adjustment])
}

/// Lines of an invoice, of their exact subtotals and what a step adds to some of them.
fn lines_of(
    units: &[(&str, Option<&str>)],
    subtotals: &[Decimal],
    step: &[(usize, Decimal)],
    drawn: &[(usize, &str)],
) -> (Vec<InvoiceLine>, Decimal) {
    let (card, adjustments) = card(units);
    let period = Timeframe::nothing_at(subscription().start_date);
    let lines = subtotals.iter().enumerate().map(|(interval, subtotal)| DueLine {
        interval,
        period,
        quantity: subtotal.clone(),
        subtotal: subtotal.clone(),
        parts: Vec::new(),
        before: Earlier::default(),
    });
    let by: BTreeMap<_, _> = step.iter().cloned().collect();
    let steps = DueStep { adjustment: AdjustmentIntervalId::from_bytes([1; 16]), by };
    let steps = if step.is_empty() { Vec::new() } else { vec![steps] };
    let due = Due { lines: lines.collect(), steps };
    let drawn = drawn
        .iter()
        .map(|(place, of)| ((period.start(), PriceId::from_bytes(id(*place)).into()), paid(of)));
    let invoice_id = InvoiceId::from_bytes([1; 16]);
    let (adjustments, drawn) = (adjustments.as_slice(), drawn.collect());
    let partially_invoiced = BTreeMap::new();
    super::lines(&Charges { invoice_id, card: &card, due, adjustments, drawn, partially_invoiced })
}

fn paid(amount: &str) -> DrawnCredits {
    DrawnCredits { paid: number(amount), billed: Decimal::zero() }
}

fn texts<const N: usize>(lines: &[InvoiceLine], of: fn(&InvoiceLine) -> Decimal) -> [String; N] {
    let texts: Vec<_> = lines.iter().map(|line| of(line).to_string()).collect();
    texts.try_into().unwrap()
}

const USD: (&str, Option<&str>) = ("USD", None);

#[test]
fn invoicing_7_5_lines_are_rounded_together() {
    let third = number("3.3333333333");
    let (lines, subtotal) = lines_of(&[USD; 3], &[third.clone(), third.clone(), third], &[], &[]);
    assert_eq!(texts(&lines, |of| of.amount.clone()), ["3.34", "3.33", "3.33"]);
    assert_eq!(subtotal, number("10"));
}

#[test]
fn invoicing_7_5_what_is_shown_of_a_step_is_the_difference_of_two_columns() {
    let exact = [number("10.004"), number("7.333")];
    let off = [(0, number("-1.5006")), (1, number("-1.09995"))];
    let (lines, subtotal) = lines_of(&[USD; 2], &exact, &off, &[]);
    assert_eq!(texts(&lines, |of| of.subtotal.clone()), ["10.01", "7.33"]);
    assert_eq!(subtotal, number("17.34"));
    assert_eq!(texts(&lines, |of| of.adjusted_subtotal.clone()), ["8.51", "6.23"]);
    assert_eq!(texts(&lines, |of| of.adjustments[0].amount.clone()), ["-1.5", "-1.1"]);
    assert_eq!(lines.iter().map(|of| &of.amount).sum::<Decimal>(), number("14.74"));
}

#[test]
fn invoicing_7_5_a_minor_unit_that_moves_is_shown_where_it_went() {
    let exact = [number("0.335"), number("0.335"), number("0.335")];
    let (lines, _) = lines_of(&[USD; 3], &exact, &[(2, number("-0.1675"))], &[]);
    assert_eq!(texts(&lines, |of| of.subtotal.clone()), ["0.34", "0.34", "0.33"]);
    assert_eq!(texts(&lines, |of| of.amount.clone()), ["0.34", "0.33", "0.17"]);
    let moved = lines.iter().map(|of| of.adjustments.len()).collect::<Vec<_>>();
    assert_eq!(moved, [0, 1, 1], "the second line says that it lost a cent");
}

#[test]
fn invoicing_7_3_what_credits_leave_is_converted() {
    let tokens = ("tokens", Some("0.02"));
    let (lines, subtotal) = lines_of(&[tokens], &[number("1500")], &[], &[(0, "1000")]);
    assert_eq!(texts(&lines, |of| of.subtotal.clone()), ["1500"]);
    assert_eq!(texts(&lines, |of| of.credits_applied.clone()), ["1000"]);
    assert_eq!(texts(&lines, |of| of.amount.clone()), ["10"]);
    assert_eq!(subtotal, number("30"));
}

#[test]
fn invoicing_6_1_a_unit_without_a_rate_comes_to_nothing() {
    let (lines, subtotal) =
        lines_of(&[("tokens", None), USD], &[number("7"), number("5")], &[], &[]);
    assert_eq!(texts(&lines, |of| of.subtotal.clone()), ["7", "5"]);
    assert_eq!(texts(&lines, |of| of.amount.clone()), ["0", "5"]);
    assert_eq!(subtotal, number("5"));
}

#[test]
fn invoicing_7_3_credits_pay_for_no_more_than_is_left() {
    let (lines, _) = lines_of(&[USD], &[number("100")], &[(0, number("-20"))], &[(0, "100")]);
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    let figures = [&line.adjusted_subtotal, &line.credits_applied, &line.amount];
    assert_eq!(figures.map(Decimal::to_string), ["80", "80", "0"]);
}

#[test]
fn invoicing_4_6_numbers_count_from_one() {
    let mut receivables = Receivables::new([0, 25, 26, 27, 51, 255]);
    assert_eq!(receivables.draft_number(), "AZABZV-DRAFT");
    assert_eq!(receivables.next_number(), "AZABZV-00001");
    receivables.invoices = 99_999;
    assert_eq!(receivables.next_number(), "AZABZV-100000");
}

#[test]
fn invoicing_1_money_has_no_more_digits_than_its_currency() {
    let check = |amount: &str, currency: &str| {
        let new = NewBalanceTransaction {
            amount: number(amount),
            direction: BalanceDirection::Increment,
            description: None,
        };
        new.decide(Currency::parse(currency).unwrap()).map_err(|error| error.to_string())
    };
    assert!(check("12.50", "USD").is_ok());
    assert!(check("12", "JPY").is_ok());
    assert!(check("12.5", "JPY").unwrap_err().contains("at most 0 digits"), "nothing is rounded");
    assert!(check("0.001", "USD").unwrap_err().contains("at most 2 digits"));
    assert!(check("0", "USD").unwrap_err().contains("above 0"));
    assert!(check("-1", "USD").unwrap_err().contains("above 0"));
}

#[test]
fn invoicing_10_4_a_share_takes_as_much_of_everything() {
    let usd = Currency::parse("USD").unwrap();
    // 10 % over the invoice, which has another line.
    let step = [(0, number("-13")), (1, number("-1"))];
    let (lines, _) = lines_of(&[USD; 2], &[number("130"), number("10")], &step, &[]);
    let whole = Share::of(&lines[0], usd);
    assert_eq!(whole.amount, number("130"), "before what is over the invoice");
    let mut left = whole.clone();
    let half = left.take(&number("65"), &whole, usd);
    assert_eq!(
        [&half.subtotal, &half.adjustments[0].amount].map(Decimal::to_string),
        ["65", "-6.5"]
    );
    assert_eq!(half.total(), number("58.5"));
    assert_eq!(left, half, "the other half is left");
    let rest = left.take(&number("65"), &whole, usd);
    assert_eq!((rest.total(), left.total()), (number("58.5"), number("0")));
}

#[test]
fn invoicing_10_4_shares_of_a_unit_are_worth_what_the_line_adds() {
    let tokens = ("tokens", Some("0.02"));
    let (lines, _) = lines_of(&[tokens], &[number("1500")], &[], &[(0, "1000")]);
    let share = Share::of(&lines[0], Currency::parse("USD").unwrap());
    assert_eq!((share.subtotal, share.amount), (number("30"), number("10")));
}

fn tax_of(cents: u32) -> TaxAmount {
    let description = Name::parse("VAT").unwrap();
    let amount = number(&format!("{cents}e-2"));
    TaxAmount { description, percentage: None, amount, reason: None }
}

proptest! {
    /// However a line is credited, its shares come to the whole to the last digit.
    #[test]
    fn shares_add_up(
        amount in 100_u32..100_000,
        off in 0_u32..100,
        taxes in vec(0_u32..9_999, 0..3),
        parts in vec((1_u32..20_000, any::<bool>()), 1..8),
    ) {
        let usd = Currency::parse("USD").unwrap();
        let amount = number(&format!("{amount}e-2"));
        let off = -amount.share(&Decimal::from(u64::from(off)), &number("100"), 2);
        let step = [(0, off), (1, number("-1"))];
        let (mut lines, _) = lines_of(&[USD; 2], &[amount, number("10")], &step, &[]);
        lines[0].tax_amounts = taxes.iter().map(|tax| tax_of(*tax)).collect();
        let whole = Share::of(&lines[0], usd);
        let (mut left, mut uncredited) = (whole.clone(), whole.clone());
        for (part, is_total) in parts {
            let part = number(&format!("{part}e-2"));
            let most = if is_total { left.net() } else { left.amount.clone() };
            let part = part.min(most);
            if part > Decimal::zero() {
                let share = match is_total {
                    true => left.take_net(&part, usd),
                    false => left.take(&part, &whole, usd),
                };
                let found = if is_total { share.net() } else { share.amount.clone() };
                prop_assert_eq!(found, part);
                uncredited.subtract(&share);
            }
        }
        let rest = left.amount.clone();
        uncredited.subtract(&left.take(&rest, &whole, usd));
        prop_assert!(uncredited.subtotal.is_zero());
        prop_assert!(uncredited.amount.is_zero());
        prop_assert!(uncredited.total().is_zero());
    }
}

proptest! {
    /// On paper every line adds up, and every column comes to the exact sum, rounded once.
    #[test]
    fn lines_and_columns_add_up(
        amounts in vec((-5_000_i32..50_000, -900_i32..300, any::<bool>()), 1..8),
        drawn in vec(0_u32..60_000, 8),
    ) {
        let subtotals: Vec<_> = amounts.iter().map(|(of, ..)| number(&format!("{of}e-4"))).collect();
        let step: Vec<_> = amounts
            .iter()
            .enumerate()
            .filter(|(_, (.., is_reached))| *is_reached)
            .map(|(place, (_, by, _))| (place, number(&format!("{by}e-4"))))
            .collect();
        let texts: Vec<_> = drawn.iter().map(|of| format!("{of}e-4")).collect();
        let drawn: Vec<_> = texts.iter().map(String::as_str).enumerate().collect();
        let units = vec![USD; amounts.len()];
        let (lines, subtotal) = lines_of(&units, &subtotals, &step, &drawn);
        let sum = |of: fn(&InvoiceLine) -> &Decimal| lines.iter().map(of).sum::<Decimal>();
        let exact: Decimal = subtotals.iter().sum();
        let adjusted = &exact + step.iter().map(|(_, by)| by).sum::<Decimal>();
        prop_assert_eq!(&subtotal, &exact.round(2));
        prop_assert_eq!(sum(|of| &of.subtotal), exact.round(2));
        prop_assert_eq!(sum(|of| &of.adjusted_subtotal), adjusted.round(2));
        for line in &lines {
            let by: Decimal = line.adjustments.iter().map(|of| &of.amount).sum();
            prop_assert_eq!(&line.subtotal + by, line.adjusted_subtotal.clone());
            prop_assert_eq!(&line.adjusted_subtotal - &line.credits_applied, line.amount.clone());
            prop_assert_eq!(&line.amount.round(2), &line.amount);
        }
    }
}
