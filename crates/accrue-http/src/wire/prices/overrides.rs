//! Other numbers of prices of a plan for one subscription (subscriptions 1.6).

use accrue::{
    JsonNumber, PriceId, PricingUnit,
    price::{Discount, Model},
    subscription::{PriceOverride, ReplacedPrice},
};

use super::{
    models::{Configs, ModelType},
    parts::Parts,
};
use crate::{
    json::Json,
    shape::{Describe, LooseAmount, Maybe, Read, Reader, Schema, request},
    wire::subscriptions::IntervalDiscountIn,
};

/// A price of the plan with other numbers.
#[derive(Clone, Debug)]
pub(crate) struct PriceOverrideIn(ReplacedPrice);

request! {
    /// Other numbers of a price of the plan: what is left out stays.
    struct PriceOverrideFields open + models: Configs {
        /// Id of the price.
        id: PriceId,
        /// Type of its model, which stays.
        model_type: Option<ModelType>,
        /// Quantity of a fee.
        fixed_price_quantity: Option<JsonNumber>,
        /// Least amount of a billing period; null for none.
        minimum_amount: Maybe<LooseAmount>,
        /// Greatest amount of a billing period; null for none.
        maximum_amount: Maybe<LooseAmount>,
        /// Discount; null for none.
        discount: Maybe<IntervalDiscountIn>,
        /// Currency or pricing unit of the price, which stays.
        currency: Option<PricingUnit>,
        /// Amount of the invoicing currency that one unit of its currency is worth.
        conversion_rate: Option<JsonNumber>,
    }
}

impl Describe for PriceOverrideIn {
    fn schema() -> Schema {
        PriceOverrideFields::schema()
    }
}

impl Read for PriceOverrideIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let fields = PriceOverrideFields::read(json, at, reader);
        let model = Parts::of(json, at)?.own_model(reader);
        let (fields, model) = (fields?, model?);
        let is_wrong = model.is_none() && fields.fixed_price_quantity.is_none();
        if is_wrong {
            return reader.wrong(at, "names no model and no fixed_price_quantity, expected one");
        }
        Some(Self(fields.into_replaced(model)))
    }
}

impl PriceOverrideFields {
    fn into_replaced(self, model: Option<Model>) -> ReplacedPrice {
        let own = PriceOverride {
            model,
            quantity: self.fixed_price_quantity.map(|JsonNumber(quantity)| quantity),
            minimum: self.minimum_amount.and_then(|LooseAmount(amount)| Some(amount)).into(),
            maximum: self.maximum_amount.and_then(|LooseAmount(amount)| Some(amount)).into(),
            discount: self.discount.and_then(|discount| Some(Discount::from(discount))).into(),
            conversion_rate: self.conversion_rate.map(|JsonNumber(rate)| rate),
            currency: self.currency,
        };
        ReplacedPrice::overridden(self.id, own)
    }
}

impl PriceOverrideIn {
    /// Returns the change that it is.
    pub(crate) fn into_replaced(self) -> ReplacedPrice {
        self.0
    }
}
