//! Deliveries, as a worker makes them: it has an endpoint for itself, sends what waits, and reports what came back
//! (`docs/decisions/endpoints-are-leased.md`).

use async_trait::async_trait;

use crate::{
    Error, MessageId, Pace, Timeframe, Timestamp, WebhookEndpointId,
    engine::{
        Billing,
        kernel::{Command, Stop, Transaction, apply_step},
        rows::{
            account,
            endpoints::{self, Queue},
            sent_messages,
        },
    },
    limits,
    schema::{self, EndpointTurn},
    webhook::{
        AttemptReport, Attempted, DeliveryStatus, DisableReason, Endpoint, EndpointLease, Holder,
        Outgoing, Plan, Schedule, Verdict, Waiting, WaitingDelivery,
    },
};

/// Number of endpoints that a worker tries to take, where others are quicker.
const TRIED: usize = 64;

/// Number of rows that an attempt changes, about.
const ROWS: usize = 5;

impl Billing {
    /// Takes the next endpoint with messages to send, for [a while](crate::limits::LEASE): the caller sends what
    /// [waits](Self::waiting_deliveries), and [leaves](Self::leave_endpoint) it. None where nobody has anything to
    /// send now.
    ///
    /// Any number of processes may call it. Where one of them is gone, another takes its endpoints when their
    /// time is over.
    pub async fn take_endpoint(&self) -> Result<Option<EndpointLease>, Error> {
        let shared = self.shared();
        let due = Timeframe::through(shared.now());
        for row in shared.store.scan(&schema::endpoint_turns(due, TRIED)).await? {
            let turn = schema::read_endpoint_turn(&row.key, &row.document)?;
            let mut drawn = [0; 8];
            shared.entropy.fill(&mut drawn);
            let holder = Holder(u64::from_be_bytes(drawn));
            let EndpointTurn { account, endpoint, .. } = turn;
            let step = HoldEndpoint { endpoint, holder, is_new: true };
            if let Some(until) = apply_step(shared, &account, &step).await? {
                return Ok(Some(EndpointLease { account, endpoint, holder, until }));
            }
        }
        Ok(None)
    }

    /// Returns the instant at which there is next an endpoint to [take](Self::take_endpoint): one that is over
    /// may be the end of another worker's time.
    pub async fn next_endpoint_turn(&self) -> Result<Option<Timestamp>, Error> {
        let ever = Timeframe::through(Timestamp::MAX);
        let rows = self.shared().store.scan(&schema::endpoint_turns(ever, 1)).await?;
        let first = rows.first().map(|row| schema::read_endpoint_turn(&row.key, &row.document));
        Ok(first.transpose()?.map(|turn| turn.at))
    }

    /// Returns a future that ends when this process has committed something to send, at any time from the call on.
    ///
    /// A worker asks for it, looks for what there is to send, and then waits for it. What other processes commit
    /// is found by looking now and then.
    pub fn something_to_send(&self) -> impl Future<Output = ()> + Send + Unpin + use<> {
        self.shared().to_send.listen()
    }

    /// Keeps an endpoint for another while; none where it is somebody else's by now.
    pub async fn keep_endpoint(
        &self,
        lease: &EndpointLease,
    ) -> Result<Option<EndpointLease>, Error> {
        let EndpointLease { account, endpoint, holder, .. } = lease;
        let step = HoldEndpoint { endpoint: *endpoint, holder: *holder, is_new: false };
        let until = apply_step(self.shared(), account, &step).await?;
        Ok(until.map(|until| EndpointLease { until, ..lease.clone() }))
    }

    /// Leaves an endpoint: whoever comes when its next message is due takes it.
    pub async fn leave_endpoint(&self, lease: &EndpointLease) -> Result<(), Error> {
        let EndpointLease { account, endpoint, holder, .. } = lease;
        let step = LeaveEndpoint { endpoint: *endpoint, holder: *holder };
        apply_step(self.shared(), account, &step).await
    }

    /// Returns up to `limit` messages that are to be sent to an endpoint now, the one that is due for the longest time
    /// first; none where it is left alone for a while. What is for an endpoint that is disabled or deleted is canceled.
    pub async fn waiting_deliveries(
        &self,
        lease: &EndpointLease,
        limit: usize,
    ) -> Result<Waiting, Error> {
        let limit = limit.max(1);
        let account = self.account(lease.account.clone());
        loop {
            let mut tx = account.reading();
            let guard = account::guard(&mut tx).await?;
            let endpoint = endpoints::endpoint(&mut tx, &guard, lease.endpoint).await?;
            let queue = Queue::of(&mut tx, lease.endpoint).await?;
            let found = queue.due(&tx, tx.now, limit).await?;
            let head = queue.head(&tx)?;
            let wanted = |of: &WaitingDelivery| {
                endpoint.as_ref().is_some_and(|endpoint| endpoint.still_wants(of.due.since))
            };
            let (deliveries, mut canceled): (Vec<_>, Vec<_>) = found.into_iter().partition(wanted);
            if !canceled.is_empty() {
                canceled.truncate(limits::SCAN_ROWS);
                let endpoint = lease.endpoint;
                let step = CancelDeliveries { endpoint, deliveries: canceled };
                apply_step(self.shared(), account.id(), &step).await?;
                continue;
            }
            let rests = head.rests_until.is_some_and(|until| tx.now < until);
            let deliveries = if rests { Vec::new() } else { deliveries };
            let endpoint = endpoint.filter(|_| !deliveries.is_empty());
            return Ok(Waiting { endpoint, deliveries, is_probed: head.is_probed() });
        }
    }

    /// Reads the bodies of messages that wait for an endpoint; of those that are removed none.
    pub async fn outgoing(
        &self,
        lease: &EndpointLease,
        deliveries: &[WaitingDelivery],
    ) -> Result<Vec<Outgoing>, Error> {
        let account = self.account(lease.account.clone());
        let tx = account.reading();
        let slots: Vec<_> = deliveries
            .iter()
            .map(|of| schema::sent_message(account.id(), of.due.message))
            .collect();
        let entries = deliveries.iter().zip(tx.peek(&slots).await?);
        let (deliveries, entries): (Vec<_>, Vec<_>) =
            entries.filter_map(|(of, entry)| Some((*of, entry?))).unzip();
        let wanted = entries.iter().zip(&deliveries).map(|(entry, of)| (entry, of.due.style));
        let bodies = sent_messages::bodies(&tx, &wanted.collect::<Vec<_>>()).await?;
        let all = deliveries.into_iter().zip(bodies);
        Ok(all.map(|(delivery, body)| Outgoing { delivery, body }).collect())
    }

    /// Reports attempts to deliver messages to an endpoint: those that failed are to be sent again, as the
    /// schedule says. Returns the endpoint where it is disabled by that: because it is gone, or nothing was
    /// delivered to it for [five days](crate::limits::FAILING_DAYS).
    ///
    /// An attempt that was reported already changes nothing.
    pub async fn report_deliveries(
        &self,
        lease: &EndpointLease,
        attempts: Vec<AttemptReport>,
        schedule: &Schedule,
    ) -> Result<Option<Endpoint>, Error> {
        let endpoint = lease.endpoint;
        let step = ReportDeliveries { endpoint, attempts, schedule: schedule.clone() };
        apply_step(self.shared(), &lease.account, &step).await
    }
}

/// Takes an endpoint, or keeps it, and says until when.
struct HoldEndpoint {
    endpoint: WebhookEndpointId,
    holder: Holder,
    is_new: bool,
}

#[async_trait]
impl Command for HoldEndpoint {
    type Outcome = Option<Timestamp>;

    fn name(&self) -> &'static str {
        "hold_endpoint"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Option<Timestamp>, Stop> {
        let queue = Queue::locked(tx, self.endpoint).await?;
        let head = queue.head(tx)?;
        let is_free = match self.is_new {
            true => head.next_at.is_some_and(|at| at <= tx.now),
            false => head.holder == Some(self.holder),
        };
        if !is_free {
            return Ok(None);
        }
        let until = tx.now.saturating_add(limits::LEASE);
        queue.set_turn(tx, Some(until), Some(self.holder))?;
        Ok(Some(until))
    }
}

/// Leaves an endpoint until its next message is due.
struct LeaveEndpoint {
    endpoint: WebhookEndpointId,
    holder: Holder,
}

#[async_trait]
impl Command for LeaveEndpoint {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "leave_endpoint"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let queue = Queue::locked(tx, self.endpoint).await?;
        let head = queue.head(tx)?;
        if head.holder != Some(self.holder) {
            return Ok(());
        }
        let first = queue.first_after(tx, 0).await?;
        let next_at = first.map(|of| head.awake_from(of.due_at));
        queue.set_turn(tx, next_at, None)?;
        Ok(())
    }
}

/// Cancels what waits for an endpoint that is sent nothing any more.
struct CancelDeliveries {
    endpoint: WebhookEndpointId,
    deliveries: Vec<WaitingDelivery>,
}

#[async_trait]
impl Command for CancelDeliveries {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "cancel_deliveries"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let guard = account::guard(tx).await?;
        let endpoint = endpoints::endpoint(tx, &guard, self.endpoint).await?;
        let queue = Queue::locked(tx, self.endpoint).await?;
        for of in &self.deliveries {
            let Some(mut delivery) = queue.delivery(tx, &of.due).await? else { continue };
            let is_wanted = endpoint.as_ref().is_some_and(|to| to.still_wants(of.due.since));
            if !is_wanted && delivery.due_at() == Some(of.due_at) {
                delivery.status = DeliveryStatus::Canceled;
                queue.move_on(tx, (Some(of.due_at), of.due), &delivery).await?;
            }
        }
        Ok(())
    }
}

/// Notes attempts, and what follows from them.
struct ReportDeliveries {
    endpoint: WebhookEndpointId,
    attempts: Vec<AttemptReport>,
    schedule: Schedule,
}

#[async_trait]
impl Command for ReportDeliveries {
    type Outcome = Option<Endpoint>;

    fn name(&self) -> &'static str {
        "report_deliveries"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Option<Endpoint>, Stop> {
        let queue = Queue::locked(tx, self.endpoint).await?;
        queue.fetch(tx, self.attempts.iter().map(|of| of.delivery.due.message)).await?;
        let mut reason = None;
        for report in &self.attempts {
            let AttemptReport { delivery: of, url, at, answer, retry_after } = report;
            let Some(mut delivery) = queue.delivery(tx, &of.due).await? else { continue };
            let due_at = delivery.due_at();
            let is_due = due_at == Some(of.due_at);
            if !is_due && delivery.has_noted(*at) {
                continue;
            }
            let attempt = Attempted { url: url.clone(), at: *at, answer: answer.clone() };
            delivery.note(of.due.message, attempt);
            let mut drawn = [0; 2];
            tx.entropy().fill(&mut drawn);
            let draw = u16::from_be_bytes(drawn);
            let plan = Plan { schedule: &self.schedule, now: tx.now, draw };
            let was_delivered = delivery.status == DeliveryStatus::Delivered;
            // Meanwhile it may have been canceled, or be sent again: a success counts all the same.
            if answer.is_success() || is_due {
                delivery.go_on(answer.is_success(), *retry_after, &plan);
                queue.move_on(tx, (due_at, of.due), &delivery).await?;
            } else {
                queue.put_delivery(tx, &of.due, &delivery)?;
            }
            if answer.is_success() && !was_delivered {
                note_delivered(tx, of.due.message).await?;
            }
            tx.pace.spend(Pace::ROW.saturating_mul(ROWS)).await;
            let head = queue.head_mut(tx)?;
            match head.attempted(answer, *retry_after, &plan) {
                Verdict::GoesOn => {}
                Verdict::IsGone => reason = Some(DisableReason::Gone),
                Verdict::HasFailed => reason = reason.or(Some(DisableReason::Failing)),
            }
        }
        queue.first_after(tx, self.attempts.len()).await?;
        match reason {
            Some(reason) => Ok(disable(tx, self.endpoint, reason).await?),
            None => Ok(None),
        }
    }
}

/// Notes that an endpoint has taken a message.
async fn note_delivered(tx: &mut Transaction<'_>, id: MessageId) -> Result<(), Error> {
    let Some(before) = tx.get(&schema::sent_message(tx.account, id)).await? else {
        return Ok(());
    };
    let not_delivered = before.not_delivered.saturating_sub(1);
    let after = schema::MessageEntry { not_delivered, ..before.clone() };
    sent_messages::save(tx, &before, &after)
}

async fn disable(
    tx: &mut Transaction<'_>,
    id: WebhookEndpointId,
    reason: DisableReason,
) -> Result<Option<Endpoint>, Error> {
    let guard = account::guard(tx).await?;
    let Some(before) = endpoints::endpoint(tx, &guard, id).await?.filter(Endpoint::is_enabled)
    else {
        return Ok(None);
    };
    let after = before.disable(tx.now, reason);
    guard.put(tx, &schema::webhook_endpoint(tx.account, id), &after)?;
    Ok(Some(after))
}
