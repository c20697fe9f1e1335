use std::time::Duration;

use async_trait::async_trait;

use super::{
    apply::{Applied, Command, Open, apply},
    billing::Shared,
    rosters::Enrolled,
    unit::{Stop, Unit},
};
use crate::{
    AccountId, CustomerId, Error, ErrorKind, IdOr, Timeframe, Timestamp,
    alert::Alert,
    limits,
    schema::{self, PlanGeneration},
    subscription::{Enrolment, Subscription, Told},
    usage::Standing,
    webhook::{Body, Cause},
};

/// How many customers one commit settles.
const CUSTOMERS_TOGETHER: usize = 32;

/// How many changes to a plan's alerts one commit settles for one subscription.
const CHANGES_TOGETHER: u64 = 64;

/// How many, where those of all subscriptions do not fit: a customer can have a thousand of them.
const FEW_CHANGES: u64 = 8;

/// Does what time owes some customers, in commits of its own.
pub(super) async fn settle(
    shared: &Shared,
    account: &AccountId,
    customers: &[CustomerId],
) -> Result<(), Error> {
    for customers in customers.chunks(CUSTOMERS_TOGETHER) {
        match settle_together(shared, account, customers, CHANGES_TOGETHER).await {
            Err(error) if error.kind() == ErrorKind::ResourceTooLarge => {
                for customer in customers {
                    settle_alone(shared, account, *customer).await?;
                }
            }
            settled => settled?,
        }
    }
    Ok(())
}

/// Settles a customer to whom more is owed than fits one commit: so much of it as fits.
async fn settle_alone(
    shared: &Shared,
    account: &AccountId,
    customer: CustomerId,
) -> Result<(), Error> {
    match settle_together(shared, account, &[customer], FEW_CHANGES).await {
        Err(error) if error.kind() == ErrorKind::ResourceTooLarge => {
            settle_together(shared, account, &[customer], 1).await
        }
        settled => settled,
    }
}

async fn settle_together(
    shared: &Shared,
    account: &AccountId,
    customers: &[CustomerId],
    changes: u64,
) -> Result<(), Error> {
    match apply(shared, account, &Settle { customers, changes }, &Open).await? {
        Applied::Done(settled) => settled,
        Applied::LostTheKey => Err(Error::contended()),
        // What was settled is not settled again.
        Applied::Unknown(_, error) => Err(Error::from(error).retry_doubles_nothing()),
    }
}

/// Does what time owes some customers, and what changes to the alerts of their plans owe them, in
/// the order of the instants at which each came due.
///
/// The outcome does not depend on when this runs: every operation that writes for a customer settles
/// it first, so nothing has happened to it since.
pub(super) struct Settle<'a> {
    pub(super) customers: &'a [CustomerId],
    /// How many changes to a plan's alerts are settled for one subscription: more come next time.
    pub(super) changes: u64,
}

/// What came due for one subscription.
enum Due {
    Life(Told),
    Alert(u64, Timestamp, Box<Alert>),
}

#[async_trait]
impl Command for Settle<'_> {
    type Outcome = ();

    async fn run(&self, unit: &mut Unit<'_>) -> Result<(), Stop> {
        let named: Vec<_> = self.customers.iter().map(|id| IdOr::Id(*id)).collect();
        unit.lock(&named).await?;
        let enrolled = unit.enrolled(self.customers).await?;
        unit.fetch_plan_rosters(&enrolled).await?;
        for Enrolled { customer_id, mut enrolments, .. } in enrolled {
            let mut due = Vec::new();
            for (index, enrolment) in enrolments.iter().enumerate() {
                for (at, what) in what_is_due(unit, enrolment, self.changes).await? {
                    due.push((at, index, what));
                }
            }
            due.sort_by_key(|(at, index, _)| (*at, *index));
            for (at, index, what) in due {
                if let Some(enrolment) = enrolments.get_mut(index) {
                    settle_one(unit, enrolment, at, what).await?;
                }
            }
            for enrolment in &enrolments {
                let id = enrolment.subscription.id;
                unit.put(&schema::subscription(unit.account, id), enrolment)?;
            }
            unit.save_roster(customer_id, &enrolments).await?;
        }
        Ok(())
    }
}

/// Lists what came due for a subscription. Where not all changes to its plan's alerts are taken,
/// nothing is that came after the last of those that are.
async fn what_is_due(
    unit: &mut Unit<'_>,
    enrolment: &Enrolment,
    changes: u64,
) -> Result<Vec<(Timestamp, Due)>, Error> {
    let mut due = Vec::new();
    let generation = unit.plan_roster_of(enrolment).await?.generation;
    let Subscription { plan_id, plan_version, .. } = enrolment.subscription;
    let last = generation.min(enrolment.generation.saturating_add(changes));
    let numbers = enrolment.generation.saturating_add(1)..=last;
    let slots: Vec<_> = numbers
        .clone()
        .map(|number| schema::plan_generation(unit.account, plan_id, plan_version, number))
        .collect();
    let found = unit.get_all(&slots).await?;
    let mut latest = Timestamp::MIN;
    for (number, found) in numbers.zip(found) {
        let missing = || Error::corrupt("a change to a plan's alerts is missing");
        let PlanGeneration { at, alert } = found.ok_or_else(missing)?;
        // Two processes may tell the time differently; the number tells the order.
        latest = latest.max(at);
        due.push((latest, Due::Alert(number, at, Box::new(alert))));
    }
    let until = if last < generation { latest } else { unit.now };
    let mut ahead = enrolment.clone();
    while let Some((at, told)) = ahead.next_due().filter(|(at, _)| *at <= until.min(unit.now)) {
        due.push((at, Due::Life(told)));
        ahead.told = told;
    }
    Ok(due)
}

async fn settle_one(
    unit: &mut Unit<'_>,
    enrolment: &mut Enrolment,
    at: Timestamp,
    due: Due,
) -> Result<(), Error> {
    let subscription_id = enrolment.subscription.id;
    let customer_id = enrolment.subscription.customer_id;
    match due {
        Due::Life(told) => {
            enrolment.told = told;
            let body = match told {
                Told::Created => Body::SubscriptionCreated { subscription_id },
                Told::Started => Body::SubscriptionStarted { subscription_id },
                Told::Ended => Body::SubscriptionEnded { subscription_id },
            };
            unit.tell(customer_id, at, body).await
        }
        Due::Alert(number, at, alert) => {
            enrolment.generation = number;
            if enrolment.muted.contains(&alert.id) {
                return Ok(());
            }
            unit.judge_at_once(enrolment, &alert, at).await
        }
    }
}

/// The billing periods that are judged where no event moves the value: the current one, and one that
/// begins so soon that its events are taken already.
pub(super) fn judged_at_once(subscription: &Subscription, at: Timestamp) -> Vec<Timeframe> {
    let ahead =
        Duration::from_secs(limits::FUTURE_SECONDS).saturating_add(Duration::from_micros(1));
    let soon = Timeframe::new(at, at.saturating_add(ahead));
    soon.map_or_else(|_| Vec::new(), |soon| subscription.periods().overlapping(soon).collect())
}

impl Unit<'_> {
    /// Judges an alert of a subscription on the usage that there is at an instant.
    pub(super) async fn judge_at_once(
        &mut self,
        enrolment: &Enrolment,
        alert: &Alert,
        at: Timestamp,
    ) -> Result<(), Error> {
        if !self.configuration().await?.features.alerts {
            return Ok(());
        }
        let alerts = std::slice::from_ref(alert);
        let cause = Cause::Configuration { alert_id: alert.id };
        for period in judged_at_once(&enrolment.subscription, at) {
            if let Some(mut standing) = self.standing(enrolment, period.start(), alerts).await? {
                self.judge_standing(enrolment, &mut standing, alerts, &cause, at).await?;
            }
        }
        Ok(())
    }

    /// Judges alerts on what a billing period holds already: the value does not move.
    pub(super) async fn judge_standing(
        &mut self,
        enrolment: &Enrolment,
        standing: &mut Standing,
        alerts: &[Alert],
        cause: &Cause,
        at: Timestamp,
    ) -> Result<(), Error> {
        let subscription = &enrolment.subscription;
        for alert in alerts {
            if let Some(mut exceeded) = standing.judge(subscription.id, alert, None, cause) {
                exceeded.value_before = Some(exceeded.value_after.clone());
                let body = Body::UsageExceeded(Box::new(exceeded));
                self.tell(subscription.customer_id, at, body).await?;
            }
        }
        self.save_standing(enrolment, standing)
    }

    /// Reads where the billing period that holds an instant stands, and what of some alerts has fired
    /// in it; none outside of the subscription's life.
    pub(super) async fn standing(
        &mut self,
        enrolment: &Enrolment,
        at: Timestamp,
        alerts: &[Alert],
    ) -> Result<Option<Standing>, Error> {
        let Some(timeframe) = enrolment.subscription.periods().containing(at) else {
            return Ok(None);
        };
        let id = enrolment.subscription.id;
        let total = schema::total(self.account, id, timeframe.start());
        let state = |alert| schema::alert_state(self.account, id, timeframe.start(), alert);
        let states: Vec<_> = alerts.iter().map(|alert| (alert.id, state(alert.id))).collect();
        let keys = states.iter().map(|(_, state)| state.key()).chain([total.key()]);
        self.fetch(keys.collect::<Vec<_>>()).await?;
        let total = self.row(&total)?.unwrap_or_default().total;
        let fired = states
            .iter()
            .map(|(alert, state)| Ok((*alert, self.row(state)?.unwrap_or_default().fired)));
        let fired = fired.collect::<Result<_, Error>>()?;
        Ok(Some(Standing::new(timeframe, total, fired)))
    }

    /// Writes what of a billing period has moved.
    pub(super) fn save_standing(
        &mut self,
        enrolment: &Enrolment,
        standing: &Standing,
    ) -> Result<(), Error> {
        let (id, start) = (enrolment.subscription.id, standing.timeframe.start());
        if standing.total_moved {
            let entry = schema::TotalEntry { total: standing.total.clone() };
            self.put(&schema::total(self.account, id, start), &entry)?;
        }
        for alert in &standing.fired_moved {
            let fired = standing.fired.get(alert).cloned().unwrap_or_default();
            let slot = schema::alert_state(self.account, id, start, *alert);
            self.put(&slot, &schema::AlertState { fired })?;
        }
        Ok(())
    }
}
