use accrue::{Account, Decimal, ExternalId, Timeframe};
use serde::{Serialize, Serializer};

use crate::setup::Setup;

/// What the metrics say of one customer, by name, in the order in which they are shown.
///
/// There is no largest request where there was none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures(Vec<(&'static str, Option<Decimal>)>);

impl Figures {
    /// Asks for the figures of one customer, over all of a timeframe.
    pub(crate) async fn of(
        account: &Account,
        setup: &Setup,
        timeframe: Timeframe,
        customer: &ExternalId,
    ) -> Result<Self, accrue::Error> {
        let mut figures = Vec::new();
        for (id, name) in setup.metrics().all() {
            let figure = account.usage_between(customer.clone(), *id, timeframe).await?;
            figures.push((*name, figure));
        }
        Ok(Self(figures))
    }

    /// Returns the figures with the names of the metrics, in their order.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, Option<&Decimal>)> {
        self.0.iter().map(|(name, figure)| (*name, figure.as_ref()))
    }

    /// Makes figures up.
    #[cfg(test)]
    pub(crate) fn named_so(
        figures: impl IntoIterator<Item = (&'static str, Option<Decimal>)>,
    ) -> Self {
        Self(figures.into_iter().collect())
    }

    /// Returns the figures, in the order of the metrics.
    pub fn values(&self) -> impl Iterator<Item = Option<&Decimal>> {
        self.named().map(|(_, figure)| figure)
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.named())
    }
}
