use std::{collections::BTreeMap, time::Duration};

use crate::{
    AlertId, Error, Timestamp,
    alert::Alert,
    engine::unit::Unit,
    schema::{self, PlanGeneration},
    subscription::{Enrolment, Subscription, Told},
    webhook::Body,
};

/// What came due for one subscription.
pub(super) enum Due {
    /// An alert of its plan changed: the number of the change, its instant, and what it left.
    Alert(u64, Timestamp, Box<Alert>),
    /// It began or ended.
    Life(Told),
    /// A billing period began or ended, and with it fees fell due.
    Turn,
}

/// A subscription while what it is owed is settled.
pub(super) struct Debtor {
    pub(super) enrolment: Enrolment,
    /// The alerts of its plan version, as they were at the last change that it has settled. Known
    /// where a turn is due, which is judged on them.
    plan_alerts: BTreeMap<AlertId, Alert>,
}

impl Debtor {
    /// Lists what came due for a subscription, in order, and takes it on. Not more than `most` of a
    /// kind: where there is more, nothing is listed that came due after the last of them.
    pub(super) async fn new(
        unit: &mut Unit<'_>,
        enrolment: Enrolment,
        most: u64,
    ) -> Result<(Self, Vec<(Timestamp, Due)>), Error> {
        let mut due = Vec::new();
        let (changes, until) = changes(unit, &enrolment, most).await?;
        due.extend(changes);
        let mut ahead = enrolment.clone();
        while let Some((at, told)) = ahead.next_told().filter(|(at, _)| *at <= until) {
            due.push((at, Due::Life(told)));
            ahead.told = told;
        }
        let mut turns = 0_u64;
        while let Some(at) = ahead.next_turn().filter(|at| *at <= until) {
            if turns >= most {
                due.retain(|(other, _)| *other < at);
                break;
            }
            due.push((at, Due::Turn));
            ahead.turned = Some(at);
            turns = turns.saturating_add(1);
        }
        due.sort_by_key(|(at, _)| *at);
        let plan_alerts = match turns {
            0 => BTreeMap::new(),
            _ => plan_alerts(unit, &enrolment).await?,
        };
        Ok((Self { enrolment, plan_alerts }, due))
    }

    /// Settles one thing that came due.
    pub(super) async fn settle(
        &mut self,
        unit: &mut Unit<'_>,
        at: Timestamp,
        due: Due,
    ) -> Result<(), Error> {
        let enrolment = &mut self.enrolment;
        let Subscription { id: subscription_id, customer_id, .. } = enrolment.subscription;
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
                self.plan_alerts.insert(alert.id, (*alert).clone());
                if enrolment.muted.contains(&alert.id) {
                    return Ok(());
                }
                unit.judge_at_once(enrolment, &alert, at).await
            }
            Due::Turn => {
                enrolment.turned = Some(at);
                let shared = self.plan_alerts.values().cloned().collect();
                let alerts = unit.watching_of(enrolment, shared).await?;
                unit.judge_turn(enrolment, &alerts, at).await
            }
        }
    }
}

/// Lists the changes to a plan's alerts that a subscription has not settled, and the instant up to
/// which other things may be settled with them.
async fn changes(
    unit: &mut Unit<'_>,
    enrolment: &Enrolment,
    most: u64,
) -> Result<(Vec<(Timestamp, Due)>, Timestamp), Error> {
    let generation = unit.plan_roster_of(enrolment).await?.generation;
    let last = generation.min(enrolment.generation.saturating_add(most));
    let mut latest = Timestamp::MIN;
    let mut due = Vec::new();
    for (number, PlanGeneration { at, alert, .. }) in unseen(unit, enrolment, last).await? {
        // Two processes may tell the time differently; the number tells the order.
        latest = latest.max(at);
        due.push((latest, Due::Alert(number, at, Box::new(alert))));
    }
    let until = if last < generation {
        latest.saturating_sub(Duration::from_micros(1)).min(unit.now)
    } else {
        unit.now
    };
    Ok((due, until))
}

/// Returns the alerts of a subscription's plan version, as they were at the last change that it has
/// settled: all later ones are undone.
async fn plan_alerts(
    unit: &mut Unit<'_>,
    enrolment: &Enrolment,
) -> Result<BTreeMap<AlertId, Alert>, Error> {
    let roster = unit.plan_roster_of(enrolment).await?;
    let now = unit.alerts(&roster.alerts).await?;
    let mut alerts: BTreeMap<_, _> = now.into_iter().map(|alert| (alert.id, alert)).collect();
    let later = unseen(unit, enrolment, roster.generation).await?;
    for (_, PlanGeneration { alert, before, .. }) in later.into_iter().rev() {
        match before {
            Some(before) => alerts.insert(alert.id, before),
            None => alerts.remove(&alert.id),
        };
    }
    Ok(alerts)
}

/// Reads the changes to a plan's alerts that a subscription has not settled, up to one of them.
async fn unseen(
    unit: &mut Unit<'_>,
    enrolment: &Enrolment,
    last: u64,
) -> Result<Vec<(u64, PlanGeneration)>, Error> {
    let Subscription { plan_id, plan_version, .. } = enrolment.subscription;
    let numbers = enrolment.generation.saturating_add(1)..=last;
    let slots: Vec<_> = numbers
        .clone()
        .map(|number| schema::plan_generation(unit.account, plan_id, plan_version, number))
        .collect();
    let found: Option<Vec<_>> = unit.get_all(&slots).await?.into_iter().collect();
    let found = found.ok_or_else(|| Error::corrupt("a change to a plan's alerts is missing"))?;
    Ok(numbers.zip(found).collect())
}
