use serde::Serialize;

use super::Subscription;
use crate::{
    CarriedUpdate, Error, MetadataUpdate, Name, Patch,
    customer::{AttributeValue, PreviousAttributes, carried_before},
};

/// Changes to a subscription (wire 5.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SubscriptionUpdate {
    /// Change of its name.
    pub name: Patch<Name>,
    /// Changes to its metadata.
    pub metadata: MetadataUpdate,
    /// Changes to the fields that the engine has no use for.
    pub carried: CarriedUpdate,
}

impl SubscriptionUpdate {
    pub(crate) fn decide(self, subscription: &Subscription) -> Result<Subscription, Error> {
        let mut after = subscription.clone();
        self.name.apply(&mut after.name);
        self.metadata.apply(&mut after.metadata)?;
        self.carried.apply(&mut after.carried)?;
        if after.carried != subscription.carried {
            after.check_same_overage_rate(subscription)?;
            after.check_threshold()?;
        }
        after.check_size()?;
        Ok(after)
    }
}

/// Lists the fields that differ, with their values in `before`.
pub(crate) fn previous_attributes(
    before: &Subscription,
    after: &Subscription,
) -> PreviousAttributes {
    // Where one has the name of a field of the engine, that one is told.
    let mut fields: PreviousAttributes = carried_before(&before.carried, &after.carried).collect();
    if before.name != after.name {
        let name = before.name.as_deref().map(str::to_owned);
        fields.insert("name".to_owned(), AttributeValue::Text(name));
    }
    if before.metadata != after.metadata {
        let metadata = AttributeValue::Metadata(before.metadata.clone());
        fields.insert("metadata".to_owned(), metadata);
    }
    let [redeemed, redeems] = [before, after].map(Subscription::redeemed_coupon);
    if redeemed != redeems {
        let text = redeemed.and_then(|of| serde_json::to_string(&of).ok());
        fields.insert("redeemed_coupon".to_owned(), AttributeValue::Json(text));
    }
    fields
}
