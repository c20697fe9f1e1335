use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    PriceOverride,
    fee_quantity::check_quantity,
    price_override::{Overridden, no_quantity},
};
use crate::{
    Decimal, Error, IdOr, PriceId, Timestamp, limits,
    plan::{Placed, PlanPrice, cells},
    price::{Adjustments, PhaseOrder, Price, References, ScopedAdjustment},
};

/// Changes to the prices of a plan version for one subscription (subscriptions 1.2, 1.3).
///
/// Those of the version are removed and replaced first, and then more are added: a replacement is in force as long as
/// what it takes the place of would be. Each price is named once.
///
/// ```
/// use accrue::{Decimal, PriceId, price::NewPrice};
/// use accrue::subscription::{AddedPrice, PriceChanges, ReplacedPrice};
///
/// # fn changes(seats: PriceId, usage: PriceId, cheaper: NewPrice) {
/// let mut changes = PriceChanges::default();
/// changes.replace = vec![ReplacedPrice::quantity(seats, Decimal::from(3))];
/// changes.remove = vec![usage.into()];
/// changes.add = vec![AddedPrice::new(cheaper)];
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceChanges {
    /// Prices to add to those of the version.
    pub add: Vec<AddedPrice>,
    /// Prices of the version to leave out.
    pub remove: Vec<IdOr<PriceId>>,
    /// Prices of the version to replace.
    pub replace: Vec<ReplacedPrice>,
}

/// Price to add to a subscription, and when it is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedPrice {
    /// The price: one that is made for the subscription, or one of the account that came with no plan.
    pub price: PlanPrice,
    /// Its first instant: that of the subscription, of its plan or of the phase, where none is given.
    pub start_date: Option<Timestamp>,
    /// First instant after it: that of the phase, or none, where none is given.
    pub end_date: Option<Timestamp>,
    /// Phase that it is charged in, where the plan has phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_phase_order: Option<PhaseOrder>,
    /// Adjustments of it in this subscription alone, beside its own.
    pub adjustments: Adjustments,
}

/// Price of a plan version to replace for one subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplacedPrice {
    /// The price of the version.
    pub replaces: PriceId,
    /// What takes its place.
    pub by: Replacement,
    /// Adjustments of that in this subscription alone, beside its own.
    pub adjustments: Adjustments,
}

/// Replacement of a price of a plan version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Replacement {
    /// Another price: one that is made for the subscription, or one of the account that came with no plan.
    Price(PlanPrice),
    /// The price itself, a fee, with another quantity from the start on.
    Quantity(Decimal),
    /// The price with other numbers: one that is made for the subscription (subscriptions 1.6).
    Override(Box<PriceOverride>),
}

impl Replacement {
    /// Field of a request that lists replacements, overrides aside.
    pub(super) const PRICES: &'static str = "replace_prices";

    /// Returns the field of a request that lists it.
    pub(super) const fn list(&self) -> &'static str {
        match self {
            Self::Price(_) | Self::Quantity(_) => Self::PRICES,
            Self::Override(_) => "price_overrides",
        }
    }

    /// Returns the quantity that it gives.
    fn quantity(&self) -> Option<&Decimal> {
        match self {
            Self::Price(_) => None,
            Self::Quantity(quantity) => Some(quantity),
            Self::Override(own) => own.quantity.as_ref(),
        }
    }

    /// Returns the quantity that it gives the price itself, where it is no other price.
    fn quantity_of_price(&self) -> Option<&Decimal> {
        match self {
            Self::Price(_) => None,
            Self::Quantity(quantity) => Some(quantity),
            Self::Override(own) => own.quantity_alone(),
        }
    }
}

/// Prices that a subscription has from the start of a plan on.
#[derive(Debug)]
pub(crate) struct AgreedPrices {
    pub(super) all: Vec<AgreedPrice>,
    /// What the request calls those that it makes.
    pub(super) references: References,
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct AgreedPrice {
    pub(crate) price: Price,
    /// Field in which it was given, where it is none of the plan version.
    pub(super) given_in: Option<String>,
    /// True where it is a price of the version, or takes the place of one.
    pub(super) is_of_version: bool,
    pub(super) replaces: Option<PriceId>,
    /// What is said of its adjustments, where it is the price that it replaces with other numbers.
    pub(super) overridden: Option<Overridden>,
    pub(super) quantity: Option<Decimal>,
    pub(super) start_date: Option<Timestamp>,
    pub(super) end_date: Option<Timestamp>,
    pub(super) adjustments: Adjustments,
}

impl AddedPrice {
    /// Adds a price from the start of the subscription on.
    pub fn new(price: impl Into<PlanPrice>) -> Self {
        let adjustments = Adjustments::default();
        let price = price.into();
        Self { price, start_date: None, end_date: None, plan_phase_order: None, adjustments }
    }
}

impl ReplacedPrice {
    /// Replaces a price by another.
    pub fn by(replaces: PriceId, price: impl Into<PlanPrice>) -> Self {
        let by = Replacement::Price(price.into());
        Self { replaces, by, adjustments: Adjustments::default() }
    }

    /// Gives a price other numbers.
    #[must_use]
    pub fn overridden(price: PriceId, by: PriceOverride) -> Self {
        let by = Replacement::Override(Box::new(by));
        Self { replaces: price, by, adjustments: Adjustments::default() }
    }

    /// Gives a fee another quantity.
    #[must_use]
    pub fn quantity(fee: PriceId, quantity: Decimal) -> Self {
        let by = Replacement::Quantity(quantity);
        Self { replaces: fee, by, adjustments: Adjustments::default() }
    }
}

impl From<Price> for AgreedPrice {
    fn from(price: Price) -> Self {
        Self {
            price,
            given_in: None,
            is_of_version: true,
            replaces: None,
            overridden: None,
            quantity: None,
            start_date: None,
            end_date: None,
            adjustments: Adjustments::default(),
        }
    }
}

impl PriceChanges {
    /// Tells whether nothing changes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty() && self.replace.is_empty()
    }

    /// Says everything that is wrong with it, whatever it is of.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (list, found) in
            [("add_prices", self.add.len()), ("replace_prices", self.replace.len())]
        {
            if found > limits::PRICES {
                let message = format!("has {found} prices, expected at most {}", limits::PRICES);
                return Err(Error::invalid(list, message));
            }
        }
        for (index, of) in self.replace.iter().enumerate() {
            let list = of.by.list();
            if let Some(quantity) = of.by.quantity() {
                check_quantity(format!("{list}[{index}].fixed_price_quantity"), quantity)?;
            }
        }
        Ok(())
    }

    /// Returns the prices that it names or that are to be made, beside those of a version: replacements, and then those
    /// that are added, each in its phase.
    pub(crate) fn placed(&self, of_version: &[Price]) -> Result<Vec<Placed>, Error> {
        let mut placed = Vec::with_capacity(self.replace.len().saturating_add(self.add.len()));
        for (index, of) in self.replace.iter().enumerate() {
            let old = of_version.iter().find(|old| old.id == of.replaces);
            match &of.by {
                Replacement::Quantity(_) => {}
                Replacement::Price(price) => {
                    let price = price.clone().in_phase(old.and_then(|old| old.plan_phase_order));
                    placed.push(Placed::new("replace_prices", index, &price));
                }
                Replacement::Override(own) if own.quantity_alone().is_some() => {}
                Replacement::Override(own) => {
                    let list = "price_overrides";
                    let price = old.ok_or_else(|| none_of_version(&of.replaces));
                    let price = price.and_then(|old| own.of(old));
                    let price = price.map_err(|error| error.within(&format!("{list}[{index}]")))?;
                    placed.push(Placed::new(list, index, &price.into()));
                }
            }
        }
        for (index, of) in self.add.iter().enumerate() {
            let price = of.price.clone().in_phase(of.plan_phase_order);
            placed.push(Placed::new("add_prices", index, &price));
        }
        Ok(placed)
    }

    /// Decides the prices that a subscription has, of those of a version and of those that are [placed](Self::placed).
    pub(crate) fn decide(
        &self,
        of_version: Vec<Price>,
        placed: &[Placed],
        made: Vec<Price>,
    ) -> Result<AgreedPrices, Error> {
        let gone = self.gone(&of_version)?;
        let mut named = gone.clone();
        for (placed, price) in placed.iter().zip(&made) {
            if matches!(placed.price, PlanPrice::Existing(_)) && !named.insert(price.id) {
                let message = format!("names the price {}, which is named twice", price.id);
                return Err(Error::invalid(&placed.at, message));
            }
        }
        let references = Placed::references(placed, &made)?;
        let mut made = made.into_iter();
        let mut replaced = Vec::with_capacity(self.replace.len());
        for (index, of) in self.replace.iter().enumerate() {
            let at = format!("{}[{index}]", of.by.list());
            let place = of_version.iter().position(|price| price.id == of.replaces);
            let Some((place, old)) = place.and_then(|place| Some((place, of_version.get(place)?)))
            else {
                return Err(none_of_version(&of.replaces).within(&at));
            };
            if let Replacement::Override(own) = &of.by {
                own.check_currency(old)?;
            }
            let (price, quantity, replaces) = match of.by.quantity_of_price() {
                Some(_) if !old.charge.is_fixed() => return Err(no_quantity(old)),
                Some(quantity) => {
                    old.check_gives_no_credits()?;
                    (old.clone(), Some(quantity.clone()), None)
                }
                None => {
                    let plan_phase_order = old.plan_phase_order;
                    (Price { plan_phase_order, ..next(&mut made)? }, None, Some(old.id))
                }
            };
            let overridden = match &of.by {
                Replacement::Override(own) if replaces.is_some() => Some(own.overridden()),
                _ => None,
            };
            let agreed = AgreedPrice {
                given_in: Some(at),
                replaces,
                overridden,
                quantity,
                adjustments: of.adjustments.clone(),
                ..price.into()
            };
            replaced.push((place, agreed));
        }
        let mut all = Vec::with_capacity(of_version.len().saturating_add(self.add.len()));
        for (place, price) in of_version.into_iter().enumerate() {
            match replaced.iter().find(|(of, _)| *of == place) {
                Some((_, agreed)) => all.push(agreed.clone()),
                None if gone.contains(&price.id) => {}
                None => all.push(price.into()),
            }
        }
        for (index, of) in self.add.iter().enumerate() {
            let AddedPrice { start_date, end_date, plan_phase_order, .. } = *of;
            let adjustments = of.adjustments.clone();
            let given_in = Some(format!("add_prices[{index}]"));
            let price = Price { plan_phase_order, ..next(&mut made)? };
            all.push(AgreedPrice {
                given_in,
                is_of_version: false,
                start_date,
                end_date,
                adjustments,
                ..price.into()
            });
        }
        let agreed = AgreedPrices { all, references };
        agreed.check_cells()?;
        Ok(agreed)
    }

    /// Returns the prices of a version that are removed or replaced, each once.
    fn gone(&self, of_version: &[Price]) -> Result<BTreeSet<PriceId>, Error> {
        let removed = self.remove.iter().enumerate().map(|(index, named)| {
            let found = of_version.iter().find(|price| match named {
                IdOr::Id(id) => price.id == *id,
                IdOr::External(external) => price.external_price_id.as_ref() == Some(external),
            });
            let found = found.map(|price| price.id);
            (format!("remove_prices[{index}]"), found.ok_or_else(|| none_of_version(named)))
        });
        let replaced = self.replace.iter().enumerate();
        let replaced =
            replaced.map(|(index, of)| (format!("replace_prices[{index}]"), Ok(of.replaces)));
        let mut gone = BTreeSet::new();
        for (at, id) in removed.chain(replaced) {
            let id = id?;
            if !gone.insert(id) {
                let message = format!("names the price {id}, which is removed or replaced twice");
                return Err(Error::invalid(at, message));
            }
        }
        Ok(gone)
    }
}

impl AgreedPrices {
    /// Refuses prices that are none of the version, where all have too many cells together.
    fn check_cells(&self) -> Result<(), Error> {
        let of_version = self.all.iter().filter(|of| of.given_in.is_none());
        let mut found = of_version.map(|of| cells(&of.price)).fold(0, usize::saturating_add);
        for of in &self.all {
            let Some(at) = &of.given_in else { continue };
            found = found.saturating_add(cells(&of.price));
            if found > limits::SUBSCRIPTION_CELLS {
                return Err(too_many_cells(at, found));
            }
        }
        Ok(())
    }

    /// Has an adjustment of the version follow the prices that it is over to those with other numbers in their places,
    /// and tells whether it is still there.
    pub(super) fn follow(&self, of: &mut ScopedAdjustment) -> bool {
        let mut overridden = self
            .all
            .iter()
            .filter_map(|agreed| Some((agreed.overridden?, agreed.replaces?, &agreed.price)));
        overridden.all(|(said, old, by)| said.follow(of, old, by))
    }

    /// Returns the prices, each once.
    pub(crate) fn prices(&self) -> Vec<Price> {
        let mut known = BTreeSet::new();
        let prices = self.all.iter().map(|of| &of.price);
        prices.filter(|price| known.insert(price.id)).cloned().collect()
    }
}

/// Takes the next of the prices that were placed.
fn next(made: &mut impl Iterator<Item = Price>) -> Result<Price, Error> {
    made.next().ok_or_else(|| Error::corrupt("a price was placed and is missing"))
}

/// Refuses a price, or a change of when one is in force, with which a subscription has too many cells.
pub(super) fn too_many_cells(at: &str, found: usize) -> Error {
    let most = limits::SUBSCRIPTION_CELLS;
    let message = format!(
        "with it the prices of the subscription have {found} cells, expected at most {most}"
    );
    Error::invalid(at, message)
}

fn none_of_version(named: &impl std::fmt::Display) -> Error {
    Error::constraint(format!("the price {named} is none of the plan version"))
}
