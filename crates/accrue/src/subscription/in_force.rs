use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::PriceId;

/// What usage is known by that draws credits or is billed in part, beside the start of its period: its price, and the
/// lane of that.
///
/// In its stored form it is the price alone in the first lane, and else both with a space between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InForce {
    pub(crate) price: PriceId,
    pub(crate) lane: Lane,
}

/// Lane of a price: intervals of a price that overlap are in different ones (subscriptions 2.3, rule 12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Lane(u32);

impl Lane {
    pub(crate) const FIRST: Self = Self(0);

    pub(crate) const fn is_first(&self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// Returns the first lane that is not taken.
    pub(super) fn free(taken: impl Iterator<Item = Self> + Clone) -> Self {
        let mut lanes = (0..=u32::MAX).map(Self);
        lanes.find(|lane| taken.clone().all(|of| of != *lane)).unwrap_or_default()
    }
}

impl From<PriceId> for InForce {
    fn from(price: PriceId) -> Self {
        Self { price, lane: Lane::FIRST }
    }
}

impl fmt::Display for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lane {
            Lane::FIRST => self.price.fmt(f),
            Lane(number) => write!(f, "{} {number}", self.price),
        }
    }
}

impl Serialize for InForce {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for InForce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let (price, lane) = text.split_once(' ').unwrap_or((&text, "0"));
        let price = price.parse().map_err(D::Error::custom)?;
        let lane = lane.parse().map_err(D::Error::custom)?;
        Ok(Self { price, lane: Lane(lane) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_stored_form_is_that_of_the_price_in_the_first_lane() {
        let price = PriceId::from_bytes([1; 16]);
        let first = InForce::from(price);
        let third = InForce { price, lane: Lane(2) };
        let stored = [first, third].map(|of| serde_json::to_string(&of).unwrap());
        assert_eq!(stored[0], serde_json::to_string(&price).unwrap());
        assert_eq!(stored[1], format!("\"{price} 2\""));
        let read = stored.map(|of| serde_json::from_str::<InForce>(&of).unwrap());
        assert_eq!(read, [first, third]);
        for wrong in ["\"\"", "\"one\"", "\"one 2\"", "1"] {
            assert!(serde_json::from_str::<InForce>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_lane_that_is_free_is_taken() {
        let free = |taken: &[u32]| Lane::free(taken.iter().copied().map(Lane)).number();
        assert_eq!([free(&[]), free(&[0]), free(&[2, 0]), free(&[1])], [0, 1, 1, 0]);
    }
}
