//! Contracts: subscriptions that are on no plan, and have prices of their own alone (subscriptions 1.9).

use super::{NewSubscription, Replacement};
use crate::{Carried, Currency, CustomerId, Error, IdOr, Name, Timeframe, error::Violation};

impl NewSubscription {
    /// Prepares a contract: a subscription that is on no plan, but is charged the prices that are added to it, in a
    /// timeframe (subscriptions 1.9). Its invoices are due so many days after their issue.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Email, Name, Timeframe, Timestamp};
    /// # use accrue::{customer::NewCustomer, item::NewItem, store::MemoryStore};
    /// # use accrue::price::{Cadence, NewPrice};
    /// use accrue::subscription::{AddedPrice, NewSubscription};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// # let item = account.create_item(NewItem::new(Name::parse("support")?)).await?;
    /// let usd = Currency::parse("USD")?;
    /// let support = NewPrice::builder(Name::parse("Support")?, item.id)
    ///     .billed(Cadence::Monthly, usd)
    ///     .fee_in_advance(500.into());
    /// let year = Timeframe::new(
    ///     Timestamp::parse("2026-01-01T00:00:00Z")?,
    ///     Timestamp::parse("2027-01-01T00:00:00Z")?,
    /// )?;
    ///
    /// let mut contract = NewSubscription::contract(ada.id, Name::parse("Ada 2026")?, usd, year, 30);
    /// contract.prices.add = vec![AddedPrice::new(support)];
    /// let contract = account.create_subscription(contract).await?;
    /// assert_eq!((contract.plan_id, contract.end_date), (None, Some(year.end())));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn contract(
        customer: impl Into<IdOr<CustomerId>>,
        name: Name,
        currency: Currency,
        life: Timeframe,
        net_terms: u32,
    ) -> Self {
        let net_terms = net_terms.to_string();
        Self {
            name: Some(name),
            currency: Some(currency),
            start_date: Some(life.start()),
            end_date: Some(life.end()),
            carried: Carried::new([("net_terms", net_terms)]).unwrap_or_default(),
            ..Self::on(customer.into(), None)
        }
    }

    /// Refuses one that is on no plan where it does not say all that a plan would, or changes what only a plan has.
    pub(super) fn check_contract(&self) -> Result<(), Error> {
        if self.plan.is_some() {
            return Ok(());
        }
        let needed = [
            ("name", self.name.is_some()),
            ("currency", self.currency.is_some()),
            ("start_date", self.start_date.is_some()),
            ("end_date", self.end_date.is_some()),
            ("net_terms", self.carried.get("net_terms").is_some()),
            ("add_prices", !self.prices.add.is_empty()),
        ];
        let missing = needed.into_iter().filter(|(_, is_there)| !is_there);
        let missing = missing.map(|(field, _)| {
            (field, "is missing, as are plan_id and external_plan_id: a contract needs it")
        });
        let replaced = self.prices.replace.first().map(|of| of.by.list());
        let of_plan = [
            ("plan_version_number", self.plan_version.is_some()),
            ("initial_phase_order", self.initial_phase.is_some()),
            ("remove_prices", !self.prices.remove.is_empty()),
            (replaced.unwrap_or(Replacement::PRICES), replaced.is_some()),
            ("remove_adjustments", !self.adjustments.remove.is_empty()),
            ("replace_adjustments", !self.adjustments.replace.is_empty()),
        ];
        let beside = of_plan.into_iter().filter(|(_, is_there)| *is_there);
        let beside = beside.map(|(field, _)| {
            (field, "is there without plan_id and external_plan_id: a contract has no plan")
        });
        let wrong = missing.chain(beside).map(|(field, message)| Violation {
            field: field.to_owned(),
            message: message.to_owned(),
        });
        match wrong.collect::<Vec<_>>() {
            none if none.is_empty() => Ok(()),
            wrong => Err(Error::invalid_all(wrong)),
        }
    }
}
