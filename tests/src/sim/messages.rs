//! Messages: each that was committed is delivered, at least once and always the same.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use accrue::webhook::{Body, Message};
use serde_json::Value;

use super::{
    model::{Crossing, Fall, whole},
    world::World,
};
use crate::model::At;

/// Where deliveries arrive: of which account, and what.
pub(super) type Inbox = Arc<Mutex<Vec<(At, Message)>>>;

#[derive(Debug, Default)]
pub(super) struct Messages {
    inbox: Inbox,
    /// By where it waits, what was committed: its document, and how often it arrived.
    pub(super) committed: BTreeMap<Vec<u8>, Committed>,
    by_id: BTreeMap<String, Vec<u8>>,
}

#[derive(Debug)]
pub(super) struct Committed {
    account: At,
    id: String,
    body: Value,
    arrived: u64,
    acknowledged: bool,
}

impl Messages {
    pub(super) fn inbox(&self) -> Inbox {
        Arc::clone(&self.inbox)
    }

    /// Messages that no delivery has shown yet.
    pub(super) fn unseen(&self) -> Option<&Committed> {
        self.committed.values().find(|message| message.arrived == 0)
    }

    pub(super) fn waiting(&self, account: At) -> usize {
        let all = self.committed.values();
        all.filter(|of| of.account == account && !of.acknowledged).count()
    }
}

impl World {
    /// A message was committed: says which alerts it tells of, those on balances apart.
    pub(super) fn told(
        &mut self,
        account: At,
        place: &[u8],
        document: &Value,
    ) -> Result<(Vec<Crossing>, Vec<Fall>), String> {
        let id = document["id"].as_str().unwrap_or_default().to_owned();
        let body = document["body"].clone();
        if let Some(other) = self.messages.by_id.insert(id.clone(), place.to_vec()) {
            return Err(format!("the message id {id} is used twice, also at {other:?}"));
        }
        let said = serde_json::from_value::<Body>(body.clone()).map_err(|of| of.to_string())?;
        let committed = Committed { account, id, body, arrived: 0, acknowledged: false };
        if self.messages.committed.insert(place.to_vec(), committed).is_some() {
            return Err(format!("two messages wait at {place:?}"));
        }
        let exceeded = match said {
            Body::UsageExceeded(of) | Body::CostExceeded(of) => of,
            Body::CreditBalanceDropped(of) => {
                self.count("balance dropped");
                let alert = of.alert.id.to_string();
                let thresholds = of.thresholds.iter().map(|at| whole(&at.to_string()).unwrap());
                return Ok((Vec::new(), thresholds.map(|at| (alert.clone(), at)).collect()));
            }
            Body::CreditBalanceDepleted(of) => {
                self.count("balance depleted");
                return Ok((Vec::new(), vec![(of.alert.id.to_string(), 0)]));
            }
            Body::CreditBalanceRecovered(of) => {
                self.count("balance recovered");
                return Ok((Vec::new(), vec![(of.alert.id.to_string(), 0)]));
            }
            _ => return Ok((Vec::new(), Vec::new())),
        };
        self.count("alert fired");
        let (alert, of) = (exceeded.alert.id.to_string(), exceeded.subscription_id.to_string());
        let from = exceeded.timeframe.start().micros();
        let thresholds = exceeded.thresholds.iter();
        let whole = |threshold: &accrue::Decimal| whole(&threshold.to_string());
        let crossing = |threshold| (alert.clone(), of.clone(), threshold, from);
        Ok((thresholds.filter_map(whole).map(crossing).collect(), Vec::new()))
    }

    /// A message was acknowledged.
    pub(super) fn acknowledged(&mut self, place: &[u8]) -> Result<(), String> {
        self.check_inbox()?;
        let message = self.messages.committed.get_mut(place);
        let message = message.ok_or("a message is acknowledged that there was not")?;
        if message.arrived == 0 {
            return Err(format!("a message is gone that nobody has seen: {message:?}"));
        }
        message.acknowledged = true;
        Ok(())
    }

    /// What arrived is what was committed.
    pub(super) fn check_inbox(&mut self) -> Result<(), String> {
        let arrived = std::mem::take(&mut *self.messages.inbox.lock().unwrap());
        for (account, message) in arrived {
            let id = message.id.to_string();
            let place = self.messages.by_id.get(&id).ok_or("a message that was not committed")?;
            let committed = self.messages.committed.get_mut(place).unwrap();
            let body = serde_json::to_value(&message.body).unwrap();
            if (committed.account, &committed.id, &committed.body) != (account, &id, &body) {
                return Err(format!("a message is another one: {message:?}, {committed:?}"));
            }
            committed.arrived += 1;
            if committed.arrived == 2 {
                self.count("message delivered twice");
            }
        }
        Ok(())
    }
}
