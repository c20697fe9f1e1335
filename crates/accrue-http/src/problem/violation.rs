//! What is wrong with a request, and where.

use std::fmt;

/// One thing that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// Where, as a JSON pointer into the body, or the name of a header or a parameter behind a slash.
    pub(crate) pointer: String,
    /// What was found and what was expected.
    pub(crate) message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.message)
    }
}

/// What is wrong with a request, each with a pointer to where it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Violations(Vec<Violation>);

impl Violations {
    pub(crate) fn one(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let mut violations = Self::default();
        violations.push(pointer, message);
        violations
    }

    /// Adds one. So many are listed that a person can read them.
    pub(crate) fn push(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        const MOST: usize = 1_000;
        if self.0.len() < MOST {
            let (pointer, message) = (pointer.into(), message.into());
            self.0.push(Violation { pointer, message });
        }
    }

    /// Adds what the library has found, each where the wire has the field.
    pub(crate) fn extend(&mut self, violations: &[accrue::Violation]) {
        for violation in violations {
            self.push(pointer(&violation.field), violation.message.clone());
        }
    }

    /// Adds others, of the same request.
    pub(crate) fn append(&mut self, others: &Self) {
        for violation in &others.0 {
            self.push(violation.pointer.clone(), violation.message.clone());
        }
    }

    /// Says what is wrong in one line.
    pub(crate) fn summary(&self) -> String {
        match self.0.as_slice() {
            [one] => one.to_string(),
            several => {
                let first = several.first().map(ToString::to_string).unwrap_or_default();
                format!("{} things are wrong, the first: {first}", several.len())
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn list(&self) -> &[Violation] {
        &self.0
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Adds the name of a member to a JSON pointer, cut where it is long.
pub(crate) fn push_name(pointer: &mut String, name: &str) {
    const CHARACTERS: usize = 64;
    pointer.push('/');
    for character in name.chars().take(CHARACTERS) {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// Returns where the wire has a field that the library names: `prices[0].price.charge.quantity` is
/// `/prices/0/price/fixed_price_quantity`.
fn pointer(field: &str) -> String {
    // Names of fields that are only stored have any characters.
    let (field, carried) = match field.split_once("carried") {
        Some((before, rest)) if before.is_empty() || before.ends_with('.') => {
            (before, rest.strip_prefix('.'))
        }
        _ => (field, None),
    };
    let parts = field.split(['.', '[', ']']).filter(|part| !part.is_empty());
    let parts: Vec<_> = parts.collect();
    let mut pointer = String::new();
    let mut rest = parts.as_slice();
    while let [first, behind @ ..] = rest {
        let taken = match rest {
            ["adjustments", bound @ ("minimum" | "maximum"), ..] => {
                push_name(&mut pointer, &format!("{bound}_amount"));
                2
            }
            ["adjustments", ..] => 1,
            ["anchor", ..] => {
                push_name(&mut pointer, "billing_cycle_anchor_configuration");
                1
            }
            ["cadence", "duration", ..] => {
                push_name(&mut pointer, "billing_cycle_configuration");
                1
            }
            ["charge", "quantity", ..] => {
                push_name(&mut pointer, "fixed_price_quantity");
                2
            }
            ["charge", "model"] => {
                push_name(&mut pointer, "model_type");
                2
            }
            ["charge", "model", name, ..] => {
                push_name(&mut pointer, &format!("{name}_config"));
                3
            }
            ["customers", ..] => {
                push_name(&mut pointer, "customer_id");
                1
            }
            ["discount", kind @ "amount", ..] => {
                push_name(&mut pointer, "discount");
                push_name(&mut pointer, &format!("{kind}_discount"));
                2
            }
            ["grouping", ..] => {
                push_name(&mut pointer, "grouping_keys");
                1
            }
            ["timeframe", end @ ("start" | "end"), ..] => {
                push_name(&mut pointer, &format!("timeframe_{end}"));
                2
            }
            _ => {
                push_name(&mut pointer, first);
                1
            }
        };
        rest = rest.get(taken..).unwrap_or(behind);
    }
    carried.into_iter().for_each(|name| push_name(&mut pointer, name));
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_wire_has_them() {
        for (field, expect) in [
            ("", ""),
            ("limit", "/limit"),
            ("thresholds", "/thresholds"),
            ("events[7]", "/events/7"),
            ("price_filters[0].values", "/price_filters/0/values"),
            ("adjustments.minimum", "/minimum_amount"),
            ("adjustments.maximum", "/maximum_amount"),
            ("adjustments.discounts[1].tiers[0].lower_bound", "/discounts/1/tiers/0/lower_bound"),
            ("anchor.day", "/billing_cycle_anchor_configuration/day"),
            ("cadence", "/cadence"),
            ("cadence.duration", "/billing_cycle_configuration/duration"),
            ("carried", ""),
            ("carried.a/b.c~[0]", "/a~1b.c~0[0]"),
            ("charge.quantity", "/fixed_price_quantity"),
            ("charge.model", "/model_type"),
            ("charge.model.tiered.tiers[2].last_unit", "/tiered_config/tiers/2/last_unit"),
            ("customers", "/customer_id"),
            ("grouping", "/grouping_keys"),
            ("timeframe.end", "/timeframe_end"),
            ("add_prices[3].price.charge.quantity", "/add_prices/3/price/fixed_price_quantity"),
            ("prices[0].price.carried.x", "/prices/0/price/x"),
        ] {
            assert_eq!(pointer(field), expect, "{field}");
        }
    }
}
