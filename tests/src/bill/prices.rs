//! Prices, and what they make of quantities.

use bigdecimal::{BigDecimal, RoundingMode, Zero as _};

use crate::model::{At, Event, Field, Value};

/// A price of a plan, which is invoiced in dollars.
#[derive(Clone, Debug)]
pub struct Price {
    pub item: At,
    pub currency: &'static str,
    pub conversion_rate: Option<BigDecimal>,
    pub cadence: accrue::price::Cadence,
    pub charge: Charge,
    pub adjustments: Adjustments,
}

#[derive(Clone, Debug)]
pub enum Charge {
    Usage { metric: At, model: Model },
    Fee { quantity: BigDecimal, model: Model, in_advance: bool },
}

#[derive(Clone, Debug)]
pub enum Model {
    Unit(BigDecimal),
    Package(BigDecimal, u64),
    Tiered(Vec<Tier>),
    Bulk(Vec<Tier>),
    Matrix {
        dimensions: Vec<&'static str>,
        others: BigDecimal,
        cells: Vec<(Vec<Option<&'static str>>, BigDecimal)>,
    },
}

/// Units up to so many, or all others, at so much each.
#[derive(Clone, Debug)]
pub struct Tier {
    pub until: Option<BigDecimal>,
    pub each: BigDecimal,
}

#[derive(Clone, Debug, Default)]
pub struct Adjustments {
    pub discount: Option<Discount>,
    pub minimum: Option<BigDecimal>,
    pub maximum: Option<BigDecimal>,
}

#[derive(Clone, Debug)]
pub enum Discount {
    Fraction(BigDecimal),
    Amount(BigDecimal),
    Units(BigDecimal),
}

impl Price {
    /// What one of its own unit is worth in another; none where it does not count there.
    pub(super) fn worth_in(&self, unit: &str) -> Option<BigDecimal> {
        match &self.conversion_rate {
            _ if self.currency == unit => Some(1.into()),
            Some(rate) if unit == "USD" => Some(rate.clone()),
            _ => None,
        }
    }
}

impl Model {
    /// Whether events are told apart, and into which cell one falls; the last is for all others.
    pub(super) fn cell(&self, event: &Event) -> usize {
        let Self::Matrix { dimensions, cells, .. } = self else { return 0 };
        let values = dimensions.iter().map(|name| text(event, name)).collect::<Vec<_>>();
        let is_of = |(of, _): &(Vec<Option<&'static str>>, BigDecimal)| {
            of.iter().map(|text| text.map(str::to_owned)).eq(values.iter().cloned())
        };
        cells.iter().position(is_of).unwrap_or(cells.len())
    }

    pub(super) fn cells(&self) -> usize {
        match self {
            Self::Matrix { cells, .. } => cells.len() + 1,
            _ => 1,
        }
    }

    /// What quantities cost, one for each cell.
    pub(super) fn rate(&self, quantities: &[BigDecimal]) -> BigDecimal {
        let units = quantities[0].clone().max(BigDecimal::zero());
        match self {
            Self::Unit(each) => units * each,
            Self::Package(each, size) => {
                let size = BigDecimal::from(*size);
                let mut packages = (&units / &size).with_scale_round(0, RoundingMode::Down);
                if &packages * &size < units {
                    packages += 1;
                }
                packages * each
            }
            Self::Tiered(tiers) => {
                let (mut sum, mut from) = (BigDecimal::zero(), BigDecimal::zero());
                for Tier { until, each } in tiers {
                    let until = until.clone().unwrap_or_else(|| units.clone()).min(units.clone());
                    sum += (until.clone() - &from).max(BigDecimal::zero()) * each;
                    from = from.max(until);
                }
                sum
            }
            Self::Bulk(tiers) => {
                let holds = |tier: &&Tier| tier.until.as_ref().is_none_or(|until| units <= *until);
                &units * &tiers.iter().find(holds).unwrap().each
            }
            Self::Matrix { others, cells, .. } => {
                let each = cells.iter().map(|(_, each)| each).chain([others]);
                let costs = quantities.iter().zip(each);
                costs.map(|(units, each)| units.clone().max(BigDecimal::zero()) * each).sum()
            }
        }
    }
}

impl Adjustments {
    /// What a discount and a maximum leave of quantities.
    pub(super) fn total(&self, model: &Model, quantities: &[BigDecimal]) -> BigDecimal {
        match &self.discount {
            Some(Discount::Units(off)) => self.cut(model.rate(&[&quantities[0] - off])),
            _ => self.cut(model.rate(quantities)),
        }
    }

    /// What a discount and a maximum leave of an amount.
    pub(super) fn cut(&self, amount: BigDecimal) -> BigDecimal {
        let off = match &self.discount {
            Some(Discount::Fraction(fraction)) => &amount * fraction,
            Some(Discount::Amount(off)) => off.clone(),
            _ => BigDecimal::zero(),
        };
        let left = match &amount - &off {
            _ if amount < BigDecimal::zero() => amount,
            left => left.max(BigDecimal::zero()),
        };
        match &self.maximum {
            Some(maximum) => left.min(maximum.clone()),
            None => left,
        }
    }

    /// What a minimum adds to a total.
    pub(super) fn top_up(&self, total: &BigDecimal) -> BigDecimal {
        let minimum = self.minimum.clone().unwrap_or_else(|| total.clone());
        (minimum - total).max(BigDecimal::zero())
    }
}

/// The text of the value of a property; none where it is missing.
pub(super) fn text(event: &Event, property: &'static str) -> Option<String> {
    match event.value(Field::Property(property))? {
        Value::Text(text) => Some(text.to_owned()),
        Value::Boolean(value) => Some(value.to_string()),
        Value::Number(number) => Some(number.normalized().to_plain_string()),
        Value::Null | Value::Instant(_) => None,
    }
}
