use serde::{Deserialize, Serialize};

use super::{DeclaredCells, Part, Quantity, Rates, Rating, check_text};
use crate::{Decimal, Error, PropertyName, WrittenDecimal, price::check_bounds};

/// One amount for every unit of one value of a property above the units of another one (price models 4.11).
///
/// More of the other value takes something off what was charged. Two parts: what is consumed, and the allowance,
/// which takes off as much of it as there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeteredAllowance {
    /// Property whose value decides.
    pub grouping_key: PropertyName,
    /// Value of events that consume.
    pub consumption_grouping_value: String,
    /// Value of events that allow: another one.
    pub allowance_grouping_value: String,
    /// Amount for a unit.
    pub unit_amount: WrittenDecimal,
    /// Name of what is consumed: `Consumption` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumption_display_name: Option<String>,
    /// Name of the allowance: `Allowance credit` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowance_display_name: Option<String>,
}

impl MeteredAllowance {
    fn declared(&self) -> DeclaredCells {
        let values = [&self.consumption_grouping_value, &self.allowance_grouping_value];
        let values = values.map(|value| vec![Some(value.clone())]);
        DeclaredCells::new([self.grouping_key.clone()], values)
    }

    /// Returns the units that are consumed, and those of them that are allowed.
    fn figures(quantity: &Quantity) -> [Decimal; 2] {
        let (cells, _) = quantity.in_cells(2);
        let [consumed, allowed] = <[Decimal; 2]>::try_from(cells).unwrap_or_default();
        let free = (&consumed).min(&allowed).clone();
        [consumed, free]
    }
}

impl Rates for MeteredAllowance {
    fn check(&self) -> Result<(), Error> {
        check_bounds("unit_amount", self.unit_amount.number())?;
        self.declared().check_sizes("consumption_grouping_value")?;
        if self.consumption_grouping_value == self.allowance_grouping_value {
            let message = format!("found {:?} twice", self.allowance_grouping_value);
            return Err(Error::invalid("allowance_grouping_value", message));
        }
        for (field, text) in [
            ("consumption_grouping_value", Some(&self.consumption_grouping_value)),
            ("allowance_grouping_value", Some(&self.allowance_grouping_value)),
            ("consumption_display_name", self.consumption_display_name.as_ref()),
            ("allowance_display_name", self.allowance_display_name.as_ref()),
        ] {
            let Some(text) = text else { continue };
            if text.is_empty() {
                return Err(Error::invalid(field, "found an empty text"));
            }
            check_text(field, text)?;
        }
        Ok(())
    }

    fn cells(&self) -> Option<DeclaredCells> {
        Some(self.declared())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let ([consumed, free], each) = (Self::figures(quantity), self.unit_amount.number());
        let name = |own: &Option<String>, other: &str| own.clone().unwrap_or_else(|| other.into());
        let consumption = name(&self.consumption_display_name, "Consumption");
        let allowance = name(&self.allowance_display_name, "Allowance credit");
        Rating::of(vec![
            Part::named(consumption, consumed, each),
            Part::named(allowance, free, &-each.clone()),
        ])
    }

    fn line_quantity(&self, quantity: &Quantity) -> Decimal {
        let [consumed, _] = Self::figures(quantity);
        consumed
    }
}
