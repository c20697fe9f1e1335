use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Thresholds;
use crate::{Decimal, Error, PropertyName, limits, text::json_bytes};

/// Thresholds that some groups of an alert have in place of its own (subscriptions 8.1).
///
/// ```
/// use accrue::{Decimal, PropertyName, alert::{ThresholdOverride, Thresholds}};
///
/// let of_team = ThresholdOverride {
///     group_keys: Some(vec![PropertyName::parse("team")?]),
///     group_values: vec!["ml".into()],
///     thresholds: Some(Thresholds::new([Decimal::from(200)])?),
/// };
/// let silent = ThresholdOverride { thresholds: None, ..of_team };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThresholdOverride {
    /// Keys of the alert that it is for, in the order of the values: all of them, in the alert's order, where none are
    /// given. Those that are not named may have any value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_keys: Option<Vec<PropertyName>>,
    /// Values of the groups.
    pub group_values: Vec<String>,
    /// Values at which these groups fire; `None` where they never do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
}

impl ThresholdOverride {
    /// Returns the values at which the groups fire.
    #[must_use]
    pub fn threshold_values(&self) -> &[Decimal] {
        self.thresholds.as_ref().map_or(&[], Thresholds::values)
    }

    /// Returns its keys, of those of an alert.
    fn keys<'a>(&'a self, all: &'a [PropertyName]) -> &'a [PropertyName] {
        self.group_keys.as_deref().unwrap_or(all)
    }

    /// Returns how many keys it has, where it is for a group.
    fn matches(&self, all: &[PropertyName], group: &[String]) -> Option<usize> {
        let keys = self.keys(all);
        let value = |key| {
            let place = all.iter().position(|of| of == key)?;
            group.get(place)
        };
        let mut named = keys.iter().zip(&self.group_values);
        named.all(|(key, own)| value(key) == Some(own)).then_some(keys.len())
    }
}

/// Returns the override that is for a group: of those with the most keys the first one.
pub(super) fn for_group<'a>(
    overrides: &'a [ThresholdOverride],
    keys: &[PropertyName],
    group: &[String],
) -> Option<&'a ThresholdOverride> {
    let all = overrides.iter().filter_map(|of| Some((of.matches(keys, group)?, of)));
    let best = all.reduce(|best, of| if of.0 > best.0 { of } else { best });
    best.map(|(_, of)| of)
}

/// Checks the overrides of an alert with some keys.
pub(super) fn check_overrides(
    overrides: &[ThresholdOverride],
    keys: &[PropertyName],
) -> Result<(), Error> {
    let most = limits::THRESHOLD_OVERRIDES;
    if overrides.len() > most {
        let message = format!("found {}, expected at most {most}", overrides.len());
        return Err(Error::invalid("threshold_overrides", message));
    }
    let (mut known, mut bytes) = (BTreeSet::new(), 0_usize);
    for (place, of) in overrides.iter().enumerate() {
        let wrong = |field: &str, message: String| {
            Error::invalid(format!("threshold_overrides[{place}]{field}"), message)
        };
        let own = of.keys(keys);
        if own.is_empty() {
            return Err(wrong(".group_keys", "found no keys, expected one or more".into()));
        }
        if let Some(other) = own.iter().find(|key| !keys.contains(key)) {
            let message = format!("found {other}, which is no key of the alert");
            return Err(wrong(".group_keys", message));
        }
        if own.iter().collect::<BTreeSet<_>>().len() < own.len() {
            return Err(wrong(".group_keys", "found a key twice".into()));
        }
        let (found, expected) = (of.group_values.len(), own.len());
        if found != expected {
            let message = format!("found {found} values, expected {expected}: one for each key");
            return Err(wrong(".group_values", message));
        }
        let group: BTreeSet<_> = own.iter().zip(&of.group_values).collect();
        if !known.insert(group) {
            return Err(wrong("", "found the same keys and values twice".into()));
        }
        let values = of.group_values.iter().map(|value| json_bytes(value));
        let thresholds = of.threshold_values().iter().map(|value| value.to_string().len());
        bytes = values.chain(thresholds).fold(bytes, usize::saturating_add);
    }
    let most = limits::THRESHOLD_OVERRIDE_BYTES;
    if bytes > most {
        let message = format!("all of their values have {bytes} bytes, expected at most {most}");
        return Err(Error::invalid("threshold_overrides", message));
    }
    Ok(())
}

/// Checks the keys of a new alert.
pub(super) fn check_keys(keys: &[PropertyName]) -> Result<(), Error> {
    let (found, most) = (keys.len(), limits::GROUPING_KEYS);
    if !(1..=most).contains(&found) {
        let message = format!("found {found} keys, expected 1 to {most}");
        return Err(Error::invalid("grouping_keys", message));
    }
    if keys.iter().collect::<BTreeSet<_>>().len() < found {
        return Err(Error::invalid("grouping_keys", "found a key twice"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[&str]) -> Vec<PropertyName> {
        of.iter().map(|name| PropertyName::parse(*name).unwrap()).collect()
    }

    fn of(keys: Option<&[&str]>, values: &[&str]) -> ThresholdOverride {
        let group_values = values.iter().map(|value| (*value).to_owned()).collect();
        ThresholdOverride { group_keys: keys.map(names), group_values, thresholds: None }
    }

    #[test]
    fn subscriptions_8_2_4_the_more_specific_override_wins() {
        let keys = names(&["team", "region"]);
        let check = |overrides: &[ThresholdOverride], expect: Option<usize>| {
            let group = ["ml".to_owned(), "eu".to_owned()];
            let found = for_group(overrides, &keys, &group);
            let place =
                |of: &ThresholdOverride| overrides.iter().position(|other| std::ptr::eq(other, of));
            assert_eq!(found.and_then(place), expect, "{overrides:?}");
        };
        let (team, region) = (of(Some(&["team"]), &["ml"]), of(Some(&["region"]), &["eu"]));
        let both = of(None, &["ml", "eu"]);
        let turned = of(Some(&["region", "team"]), &["eu", "ml"]);
        let other = of(None, &["ml", "us"]);
        check(&[], None);
        check(std::slice::from_ref(&other), None);
        check(&[team.clone(), region.clone()], Some(0));
        check(&[region.clone(), team.clone()], Some(0));
        check(&[region.clone(), team.clone(), both], Some(2));
        check(&[other, region, turned, team], Some(2));
    }

    #[test]
    fn subscriptions_8_1_6_and_8_1_7_overrides_name_keys_of_the_alert() {
        let keys = names(&["team", "region"]);
        let check = |overrides: &[ThresholdOverride], field: Option<&str>| {
            let found = check_overrides(overrides, &keys).err();
            let found = found.map(|error| error.violations()[0].field.clone());
            assert_eq!(found.as_deref(), field, "{overrides:?}");
        };
        check(&[of(None, &["ml", "eu"]), of(Some(&["team"]), &["ml"])], None);
        check(&[of(None, &["ml"])], Some("threshold_overrides[0].group_values"));
        check(&[of(Some(&["team"]), &[])], Some("threshold_overrides[0].group_values"));
        check(&[of(Some(&[]), &[])], Some("threshold_overrides[0].group_keys"));
        check(&[of(Some(&["user"]), &["ada"])], Some("threshold_overrides[0].group_keys"));
        let twice = of(Some(&["team", "team"]), &["a", "b"]);
        check(&[twice], Some("threshold_overrides[0].group_keys"));
        let (one, same) = (of(None, &["ml", "eu"]), of(Some(&["region", "team"]), &["eu", "ml"]));
        check(&[one, same], Some("threshold_overrides[1]"));
        let long = "x".repeat(limits::THRESHOLD_OVERRIDE_BYTES);
        check(&[of(Some(&["team"]), &[&long])], None);
        check(&[of(Some(&["team"]), &[&format!("{long}x")])], Some("threshold_overrides"));
        let many =
            (0..=limits::THRESHOLD_OVERRIDES).map(|n| of(Some(&["team"]), &[&n.to_string()]));
        check(&many.collect::<Vec<_>>(), Some("threshold_overrides"));
    }
}
