use serde::Serialize;

use super::Subscription;
use crate::{
    Error, MetadataUpdate, Name, Patch,
    customer::{AttributeValue, PreviousAttributes},
};

/// What to change of a subscription (wire 5.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SubscriptionUpdate {
    /// Its name.
    pub name: Patch<Name>,
    /// The caller's own strings.
    pub metadata: MetadataUpdate,
}

impl SubscriptionUpdate {
    pub(crate) fn decide(self, subscription: &Subscription) -> Result<Subscription, Error> {
        let mut after = subscription.clone();
        self.name.apply(&mut after.name);
        self.metadata.apply(&mut after.metadata)?;
        after.check_size()?;
        Ok(after)
    }
}

/// Lists the fields that differ, with their values in `before`.
pub(crate) fn previous_attributes(
    before: &Subscription,
    after: &Subscription,
) -> PreviousAttributes {
    let mut fields = PreviousAttributes::new();
    if before.name != after.name {
        let name = before.name.as_deref().map(str::to_owned);
        fields.insert("name".to_owned(), AttributeValue::Text(name));
    }
    if before.metadata != after.metadata {
        let metadata = AttributeValue::Metadata(before.metadata.clone());
        fields.insert("metadata".to_owned(), metadata);
    }
    fields
}
