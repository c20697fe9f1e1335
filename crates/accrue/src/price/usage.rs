use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Charge, Price};
use crate::{MetricId, PricingUnit, expression::Expression, meter::MeterId};

/// Usage that some prices are of: what has to be added up for them, and what its amounts are in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PricedUsage {
    /// The meters that they need.
    pub(crate) meters: Vec<MeterId>,
    /// Those of them whose groups are not known beforehand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) grouped: Vec<MeterId>,
    /// The currencies and pricing units that usage is priced in, with the metrics that measure it.
    pub(crate) usage_units: BTreeMap<PricingUnit, BTreeSet<MetricId>>,
}

impl PricedUsage {
    /// Returns the usage that some prices are of, each with the condition on the events that count for it.
    pub(crate) fn of<'p>(
        prices: impl IntoIterator<Item = (&'p Price, Option<&'p Expression>)>,
    ) -> Self {
        let (mut meters, mut grouped) = (BTreeSet::new(), BTreeSet::new());
        let mut usage_units = BTreeMap::<_, BTreeSet<_>>::new();
        let prices: Vec<_> = prices.into_iter().collect();
        for (price, filter) in &prices {
            let key = price.license_key(prices.iter().map(|(of, _)| *of));
            let licensed = key.and_then(|key| price.licensed_meter(*filter, &key, 0));
            let own = price.rated_meters(*filter, 0).filter(|_| licensed.is_none());
            for meter in own.chain(licensed.clone()) {
                meters.extend(meter.parts());
                grouped.extend(meter.parts().into_iter().filter(|_| meter.has_groups()));
            }
            if let Charge::Usage { metric_id, .. } = price.charge {
                usage_units.entry(price.currency.clone()).or_default().insert(metric_id);
            }
        }
        let [meters, grouped] = [meters, grouped].map(|of| of.into_iter().collect());
        Self { meters, grouped, usage_units }
    }
}
