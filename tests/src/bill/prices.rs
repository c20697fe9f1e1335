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
    pub discounts: Vec<Discount>,
    pub minimum: Option<BigDecimal>,
    pub maximum: Option<BigDecimal>,
    /// Whether the plan has them over the price, and not the price itself.
    pub are_of_plan: bool,
}

#[derive(Clone, Debug)]
pub enum Discount {
    Fraction(BigDecimal),
    Amount(BigDecimal),
    Units(BigDecimal),
    /// A fraction of each band.
    Bands(Vec<Tier>),
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

impl Discount {
    fn leaves(&self, amount: BigDecimal) -> BigDecimal {
        match self {
            Self::Units(_) => amount,
            Self::Amount(off) => (amount - off).max(BigDecimal::zero()),
            Self::Fraction(fraction) => &amount - &amount * fraction,
            Self::Bands(bands) => {
                let (mut left, mut from) = (BigDecimal::zero(), BigDecimal::zero());
                for Tier { until, each } in bands {
                    let until = until.clone().unwrap_or_else(|| amount.clone()).min(amount.clone());
                    let within = (until.clone() - &from).max(BigDecimal::zero());
                    left += within * (BigDecimal::from(1) - each);
                    from = from.max(until);
                }
                left
            }
        }
    }
}

impl Adjustments {
    /// What quantities cost before anything but units is taken off.
    pub(super) fn rated(&self, model: &Model, quantities: &[BigDecimal]) -> BigDecimal {
        let units = self.discounts.iter().find_map(|discount| match discount {
            Discount::Units(off) => Some(off),
            _ => None,
        });
        match units {
            Some(off) => model.rate(&[&quantities[0] - off]),
            None => model.rate(quantities),
        }
    }

    /// What discounts and a maximum leave of an amount in a period of so many days.
    pub(super) fn cut(&self, amount: BigDecimal, share: Share) -> BigDecimal {
        self.most(self.discounted(amount), share)
    }

    /// What a minimum adds to what discounts leave, before the maximum cuts it.
    pub(super) fn top_up(&self, left: BigDecimal, share: Share) -> BigDecimal {
        let running = self.most(left.clone(), share);
        let least = self.minimum.as_ref().map_or(left.clone(), |minimum| share.of(minimum));
        self.most(left.max(least), share) - running
    }

    pub(super) fn discounted(&self, amount: BigDecimal) -> BigDecimal {
        self.stages(amount).pop().unwrap()
    }

    /// An amount, and what each discount but that in units leaves of it, one after the other.
    pub(super) fn stages(&self, amount: BigDecimal) -> Vec<BigDecimal> {
        let mut stages = vec![amount];
        let is_negative = stages[0] < BigDecimal::zero();
        let mut take_off = |discount: &Discount| {
            let amount = stages.last().unwrap().clone();
            let left = if is_negative { amount } else { discount.leaves(amount) };
            stages.push(left);
        };
        let rank = |discount: &Discount| match discount {
            Discount::Units(_) => None,
            Discount::Amount(_) => Some(0),
            Discount::Fraction(_) => Some(1),
            Discount::Bands(_) => Some(2),
        };
        for kind in 0..3 {
            self.discounts.iter().filter(|of| rank(of) == Some(kind)).for_each(&mut take_off);
        }
        stages
    }

    /// What a maximum leaves.
    pub(super) fn most(&self, amount: BigDecimal, share: Share) -> BigDecimal {
        match &self.maximum {
            Some(maximum) => amount.min(share.of(maximum)),
            None => amount,
        }
    }
}

/// How many days of a cycle a period touches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(super) days: usize,
    pub(super) of: u32,
    pub(super) places: i64,
}

impl Share {
    fn of(self, amount: &BigDecimal) -> BigDecimal {
        if u32::try_from(self.days).unwrap() >= self.of {
            return amount.clone();
        }
        let exact = amount * BigDecimal::from(u32::try_from(self.days).unwrap())
            / BigDecimal::from(self.of);
        exact.with_scale_round(self.places, RoundingMode::HalfUp)
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
