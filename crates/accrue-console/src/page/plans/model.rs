//! The configuration of a model that has no table of its own: its fields in words, and a row for each of a list.

use std::fmt;

use accrue::{Decimal, PricingUnit, price::Model};
use maud::{Markup, html};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

use super::{ROWS, more};
use crate::view::number::{grouped, money};

/// Ends of the names of fields that are amounts.
const AMOUNTS: [&str; 7] =
    ["amount", "unit_price", "per_unit", "unit_rate", "charge", "minimum", "allowance"];

/// Ends of the names of fields that are other numbers.
const NUMBERS: [&str; 6] = ["bound", "size", "allocation", "factor", "threshold", "percent"];

/// A configuration as it is stored, with its fields in order.
enum Tree {
    Nothing,
    Text(String),
    List(Vec<Tree>),
    Fields(Vec<(String, Tree)>),
}

/// Shows the configuration of a model.
pub(super) fn rows(model: &Model, unit: &PricingUnit) -> Markup {
    let stored = serde_json::to_string(model).unwrap_or_default();
    let Ok(Tree::Fields(named)) = serde_json::from_str(&stored) else { return html! {} };
    html! { @for (_, configuration) in &named { (fields(configuration, unit)) } }
}

fn fields(of: &Tree, unit: &PricingUnit) -> Markup {
    let Tree::Fields(fields) = of else { return html! {} };
    html! {
        @for (name, value) in fields {
            @match value {
                Tree::Nothing => {}
                Tree::Fields(_) => (self::fields(value, unit)),
                Tree::List(list) if list.iter().any(|row| matches!(row, Tree::Fields(_))) => {
                    @for row in list.iter().take(ROWS) { (listed(row, unit)) }
                    (more(list.len()))
                }
                other => tr { th scope="row" { (words(name)) } td.number { (shown(name, other, unit)) } },
            }
        }
    }
}

/// A row of a list: what it is of, and its amounts.
fn listed(row: &Tree, unit: &PricingUnit) -> Markup {
    let Tree::Fields(fields) = row else { return html! {} };
    let told = fields.iter().filter(|(_, value)| !matches!(value, Tree::Nothing));
    let (amounts, of): (Vec<_>, Vec<_>) = told.partition(|(name, _)| is(name, &AMOUNTS));
    let said = of.iter().map(|(name, value)| {
        format!("{} {}", words(name).to_lowercase(), shown(name, value, unit))
    });
    let said = said.collect::<Vec<_>>().join(", ");
    let amounts = amounts.iter().map(|(name, value)| match name.as_str() {
        "unit_amount" | "per_unit" | "total_amount" => shown(name, value, unit),
        _ => format!("{} {}", words(name).to_lowercase(), shown(name, value, unit)),
    });
    let amounts = amounts.collect::<Vec<_>>().join(", ");
    html! { tr { th scope="row" { (capitalized(&said)) } td.number { (amounts) } } }
}

fn shown(name: &str, value: &Tree, unit: &PricingUnit) -> String {
    match value {
        Tree::Nothing => "(any)".to_owned(),
        Tree::Fields(_) => String::new(),
        Tree::List(values) => {
            let values = values.iter().map(|value| shown(name, value, unit));
            values.collect::<Vec<_>>().join(", ")
        }
        Tree::Text(text) => match Decimal::parse(text) {
            Ok(number) if is(name, &AMOUNTS) => money(&number, unit),
            Ok(number) if is(name, &NUMBERS) => grouped(&number),
            _ => text.clone(),
        },
    }
}

fn is(name: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| name.ends_with(end))
}

/// Writes the name of a field, or of a model, as words.
pub(super) fn words(name: &str) -> String {
    capitalized(&name.replace('_', " "))
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Tree;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_unit<E>(self) -> Result<Tree, E> {
                Ok(Tree::Nothing)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
                Ok(Tree::Text(if value { "yes" } else { "no" }.to_owned()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
                Ok(Tree::Text(value.to_string()))
            }

            fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
                Ok(Tree::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
                let mut list = Vec::new();
                while let Some(value) = seq.next_element()? {
                    list.push(value);
                }
                Ok(Tree::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Tree::Fields(fields))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use accrue::{
        PropertyName, WrittenDecimal,
        price::{MatrixTier, MinimumTier, Percent, TieredMatrixWithAllocation, TieredWithMinimum},
    };

    use super::*;

    fn number(text: &str) -> WrittenDecimal {
        WrittenDecimal::parse(text).unwrap()
    }

    /// The rows of a model as text: what each is of, and its amount.
    fn told(model: &Model) -> Vec<String> {
        let rows = rows(model, &PricingUnit::parse("USD").unwrap()).into_string();
        let rows = rows.split("<tr>").skip(1).map(|row| {
            let row = row.replace("</th>", " | ").replace('\u{a0}', " ");
            let pieces = row.split('<').map(|piece| piece.split_once('>').map_or(piece, |of| of.1));
            pieces.collect::<String>()
        });
        rows.collect()
    }

    #[test]
    fn a_list_has_a_row_for_each_and_amounts_have_their_unit() {
        let tier = |bound, each, least| MinimumTier {
            tier_lower_bound: number(bound),
            unit_amount: number(each),
            minimum_amount: number(least),
        };
        let model = Model::TieredWithMinimum(TieredWithMinimum {
            tiers: vec![tier("0", "0.50", "20"), tier("1000", "0.25", "60")],
            hide_zero_amount_tiers: true,
            prorate: false,
        });
        let expect = [
            "Tier lower bound 0 | 0.50 USD, minimum amount 20.00 USD",
            "Tier lower bound 1,000 | 0.25 USD, minimum amount 60.00 USD",
            "Hide zero amount tiers | yes",
        ];
        assert_eq!(told(&model), expect);
    }

    #[test]
    fn a_fraction_is_a_number_and_its_bounds_are_amounts() {
        let mut percent = Percent::new(Decimal::parse("0.08").unwrap());
        percent.maximum_amount = Some(number("50000"));
        let expect = ["Percent | 0.08", "Maximum amount | 50,000.00 USD"];
        assert_eq!(told(&Model::Percent(percent)), expect);
    }

    #[test]
    fn values_of_properties_stay_as_they_are() {
        let model = Model::TieredMatrixWithAllocation(TieredMatrixWithAllocation {
            dimensions: vec![PropertyName::parse("zone").unwrap()],
            allocation: number("5000"),
            default_unit_amount: number("0.1"),
            tiers: vec![MatrixTier {
                dimension_values: vec!["1000".to_owned()],
                tier_lower_bound: number("0"),
                unit_amount: number("2"),
            }],
        });
        let mut told = told(&model);
        told.sort();
        let expect = [
            "Allocation | 5,000",
            "Default unit amount | 0.10 USD",
            "Dimension values 1000, tier lower bound 0 | 2.00 USD",
            "Dimensions | zone",
        ];
        assert_eq!(told, expect);
    }
}
