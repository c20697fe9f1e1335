use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{PriceId, PriceIntervalId};

/// What usage is known by that draws credits or is billed in part, beside the start of its period: its price, and the
/// interval where that runs beside another one of the price (subscriptions 2.3).
///
/// In its stored form it is the price alone, or both ids with a space between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InForce {
    pub(crate) price: PriceId,
    pub(crate) beside: Option<PriceIntervalId>,
}

impl From<PriceId> for InForce {
    fn from(price: PriceId) -> Self {
        Self { price, beside: None }
    }
}

impl fmt::Display for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.beside {
            None => self.price.fmt(f),
            Some(interval) => write!(f, "{} {interval}", self.price),
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
        let (price, interval) = match text.split_once(' ') {
            None => (text.as_ref(), None),
            Some((price, interval)) => (price, Some(interval)),
        };
        let price = price.parse().map_err(D::Error::custom)?;
        let beside = interval.map(str::parse).transpose().map_err(D::Error::custom)?;
        Ok(Self { price, beside })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_stored_form_is_that_of_the_price_where_it_is_alone() {
        let (price, interval) =
            (PriceId::from_bytes([1; 16]), PriceIntervalId::from_bytes([2; 16]));
        let alone = InForce::from(price);
        let beside = InForce { price, beside: Some(interval) };
        let stored = [alone, beside].map(|of| serde_json::to_string(&of).unwrap());
        assert_eq!(stored[0], serde_json::to_string(&price).unwrap());
        assert_eq!(stored[1], format!("\"{price} {interval}\""));
        let read = stored.map(|of| serde_json::from_str::<InForce>(&of).unwrap());
        assert_eq!(read, [alone, beside]);
        for wrong in ["\"\"", "\"one\"", "\"one two\"", "1"] {
            assert!(serde_json::from_str::<InForce>(wrong).is_err(), "{wrong}");
        }
    }
}
