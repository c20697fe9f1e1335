use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::{
    Account, Call, SubscriptionFilter,
    apply::{Command, Request, fingerprint},
    lists::Walk,
    rosters::Enrolled,
    unit::{Stop, Unit},
};
use crate::{
    Decimal, Error, Page, PageRequest, PriceId, SubscriptionId, Timestamp,
    idempotency::Fingerprint,
    limits,
    page::Listing,
    schema::{self, CustomerEntry, Index, PlanRoster, SubscriptionOf},
    subscription::{
        Cancellation, Enrolment, NewSubscription, Subscription, SubscriptionStatus, Terms, Told,
        Turns,
    },
    webhook::Body,
};

impl Account {
    /// Creates a subscription on a version of a plan (wire 5.3). It may begin in the past: usage of
    /// its open billing periods that is there already counts.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it would end before it
    /// starts, the customer is invoiced in another currency or has 200 subscriptions, or a quantity
    /// is given for a price that is no fixed fee of the plan version;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where a quantity is negative, or
    /// there is no such day or month to begin billing cycles on.
    pub fn create_subscription(&self, new: NewSubscription) -> Call<Subscription> {
        Call::new(self, CreateSubscription { new })
    }

    /// Cancels a subscription: now, when its billing period ends, or at a date.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it has ended already, or
    /// the date has passed.
    pub fn cancel_subscription(
        &self,
        id: SubscriptionId,
        cancellation: Cancellation,
    ) -> Call<Subscription> {
        Call::new(self, CancelSubscription { id, cancellation })
    }

    /// Returns a subscription.
    pub async fn fetch_subscription(&self, id: SubscriptionId) -> Result<Subscription, Error> {
        Ok(self.reading().enrolment(id).await?.subscription)
    }

    /// Lists the subscriptions, newest first.
    pub async fn list_subscriptions(
        &self,
        filter: SubscriptionFilter,
        page: &PageRequest,
    ) -> Result<Page<Subscription>, Error> {
        let index = match (filter.customer_id, filter.plan_id) {
            (Some(id), _) => Index::subscriptions_of_customer(self.id(), id),
            (None, Some(id)) => Index::subscriptions_of_plan(self.id(), id),
            (None, None) => Index::subscriptions(self.id()),
        };
        let listing =
            Listing { name: "subscriptions", account: self.id(), filter: format!("{filter:?}") };
        let mut walk = Walk::new(listing, &index, filter.created, page)?;
        let mut unit = self.reading();
        let mut found = Vec::new();
        while !walk.is_full(&found) {
            let places = walk.next(&unit).await?;
            if places.is_empty() {
                break;
            }
            for at in places {
                match unit.enrolment(SubscriptionId::from_bytes(schema::id_at(&at))).await {
                    Ok(Enrolment { subscription, .. })
                        if filter.plan_id.is_none_or(|id| id == subscription.plan_id) =>
                    {
                        found.push((at, subscription));
                    }
                    Ok(_) => {}
                    // Its customer is deleted.
                    Err(error) if error.is_not_found() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(walk.page(found))
    }
}

impl Unit<'_> {
    fn save_enrolment(&mut self, enrolment: &Enrolment) -> Result<(), Error> {
        let id = enrolment.subscription.id;
        self.put(&schema::subscription(self.account, id), enrolment)
    }
}

struct CreateSubscription {
    new: NewSubscription,
}

#[async_trait]
impl Command for CreateSubscription {
    type Outcome = Subscription;

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Subscription, Stop> {
        self.new.check()?;
        let mut customer = unit.customer(&self.new.customer).await?;
        let plan = unit.plan(&self.new.plan).await?;
        unit.settled_head(customer.id).await?;
        let plan_version = self.new.plan_version.unwrap_or(plan.version);
        let roster = unit.plan_version(plan.id, plan_version).await?;
        check_fees(unit, &roster, &self.new.fee_quantities).await?;

        let id = SubscriptionId::generate(unit.now, unit.entropy());
        let PlanRoster { cycle, generation, .. } = roster;
        let terms = Terms { plan_id: plan.id, plan_version, cycle, currency: plan.currency };
        let subscription = self.new.clone().decide(id, &customer, terms, unit.now)?;
        let mut enrolment = Enrolment {
            subscription,
            alerts: Vec::new(),
            muted: BTreeSet::new(),
            generation,
            told: Told::Created,
            turns: Turns::default(),
            turned: None,
        };
        enrolment.turns = unit.tariff(&enrolment).await?.turns();
        let enrolled = unit.enrolled(&[customer.id]).await?;
        let mut enrolments: Vec<_> =
            enrolled.into_iter().flat_map(|Enrolled { enrolments, .. }| enrolments).collect();
        let oldest_open = unit.oldest_open();
        enrolments.retain(|enrolment| !enrolment.is_past(oldest_open));
        check_count(&enrolments, unit.now)?;

        unit.tell(customer.id, unit.now, Body::SubscriptionCreated { subscription_id: id }).await?;
        while let Some((_, told)) = enrolment.next_told().filter(|(at, _)| *at <= unit.now) {
            enrolment.told = told;
            let body = match told {
                Told::Ended => Body::SubscriptionEnded { subscription_id: id },
                _ => Body::SubscriptionStarted { subscription_id: id },
            };
            unit.tell(customer.id, unit.now, body).await?;
        }
        if enrolment.subscription.start_date <= unit.now {
            // What was charged so far is judged with the usage, all at once.
            enrolment.turned = Some(unit.now);
        }
        unit.count_earlier_usage(&enrolment).await?;

        if customer.currency.is_none() {
            customer.currency = Some(plan.currency);
            let slot = schema::customer(unit.account, customer.id);
            unit.put(&slot, &CustomerEntry { customer: customer.clone(), deleted_at: None })?;
        }
        let of = SubscriptionOf { customer_id: customer.id };
        unit.put(&schema::subscription_by_time(unit.account, &enrolment), &of)?;
        unit.put(&schema::subscription_by_customer(unit.account, &enrolment), &of)?;
        unit.put(&schema::subscription_by_plan(unit.account, &enrolment), &of)?;
        unit.save_enrolment(&enrolment)?;
        let subscription = enrolment.subscription.clone();
        enrolments.push(enrolment);
        unit.save_roster(customer.id, &enrolments).await?;
        Ok(subscription)
    }
}

impl Request for CreateSubscription {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("create_subscription", &self.new)
    }
}

/// Refuses quantities of prices that are no fixed fees of the plan version.
async fn check_fees(
    unit: &mut Unit<'_>,
    version: &PlanRoster,
    quantities: &BTreeMap<PriceId, Decimal>,
) -> Result<(), Error> {
    let wrong =
        |id| Error::constraint(format!("the price {id} is no fixed fee of the plan version"));
    if let Some(other) = quantities.keys().find(|id| !version.prices.contains(id)) {
        return Err(wrong(other));
    }
    let slots: Vec<_> = quantities.keys().map(|id| schema::price(unit.account, *id)).collect();
    let prices = unit.get_all(&slots).await?;
    match prices.iter().flatten().find(|price| !price.charge.is_fixed()) {
        Some(usage) => Err(wrong(&usage.id)),
        None => Ok(()),
    }
}

/// Refuses a subscription of a customer that has too many.
fn check_count(enrolments: &[Enrolment], now: Timestamp) -> Result<(), Error> {
    let live =
        |enrolment: &&Enrolment| enrolment.subscription.status(now) != SubscriptionStatus::Ended;
    let (count, most, what) = match enrolments.iter().filter(live).count() {
        live if live >= limits::SUBSCRIPTIONS => (live, limits::SUBSCRIPTIONS, "live"),
        _ => (enrolments.len(), limits::ROSTER, "live or recent"),
    };
    if count < most {
        return Ok(());
    }
    Err(Error::constraint(format!("the customer has {count} {what} subscriptions already")))
}

struct CancelSubscription {
    id: SubscriptionId,
    cancellation: Cancellation,
}

#[async_trait]
impl Command for CancelSubscription {
    type Outcome = Subscription;

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Subscription, Stop> {
        let mut enrolment = unit.settled_enrolment(self.id).await?;
        let customer_id = enrolment.subscription.customer_id;
        let end = self.cancellation.decide(&enrolment.subscription, unit.now)?;
        let before = enrolment.clone();
        enrolment.subscription.end_date = Some(end);

        let subscription_id = self.id;
        let body = if end <= unit.now {
            (enrolment.told, enrolment.turned) = (Told::Ended, Some(end));
            Body::SubscriptionEnded { subscription_id }
        } else {
            Body::SubscriptionCancellationScheduled { subscription_id, cancellation_date: end }
        };
        unit.tell(customer_id, unit.now, body).await?;
        unit.count_to_the_new_end(&before, &enrolment, end).await?;

        unit.save_enrolment(&enrolment)?;
        let enrolled = unit.enrolled(&[customer_id]).await?;
        let enrolments = enrolled.into_iter().flat_map(|Enrolled { enrolments, .. }| enrolments);
        let enrolments: Vec<_> = enrolments.collect();
        unit.save_roster(customer_id, &enrolments).await?;
        Ok(enrolment.subscription)
    }
}

impl Request for CancelSubscription {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("cancel_subscription", &(self.id, self.cancellation))
    }
}
