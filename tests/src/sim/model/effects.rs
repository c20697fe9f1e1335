use std::collections::BTreeSet;

use bigdecimal::ToPrimitive as _;
use serde_json::Value;

use super::{
    Alert, Backfill, CUSTOMERS, Deed, Scope, Stretch, Subscription, Tenant, alerts::Expected,
};
use crate::{
    corrected::{self, Standing, State},
    model::{At, Event, Fate, Instant, MetricSpec},
    sim::plan::When,
};

/// What a request does, with everything in it resolved.
#[derive(Clone, Debug)]
pub(in crate::sim) enum What {
    Customer {
        customer: At,
    },
    Rename {
        customer: At,
        name: String,
    },
    Subscribe {
        customer: At,
    },
    /// Gives it an end, or takes it back.
    End {
        subscription: At,
    },
    /// Brings it to another plan, at an instant where one is given.
    ChangePlan {
        subscription: At,
        offer: At,
        when: When,
        at: Option<Instant>,
    },
    /// Takes back what of that is still to come.
    DropPlanChanges {
        subscription: At,
    },
    Ingest {
        into: Option<At>,
        events: Vec<Event>,
    },
    /// Gives so much to a customer, or takes it.
    Credit {
        customer: At,
        amount: i64,
    },
    Alert {
        scope: Scope,
        thresholds: Vec<i64>,
    },
    Enable {
        alert: At,
        enabled: bool,
    },
    SetThresholds {
        alert: At,
        thresholds: Vec<i64>,
    },
    DeleteAlert {
        alert: At,
    },
    Backfill {
        customer: Option<At>,
        within: (Instant, Instant),
        replaces: bool,
        closes_at: Instant,
    },
    Close {
        backfill: At,
    },
    Revert {
        backfill: At,
    },
    Amend {
        event: Event,
    },
    Deprecate {
        key: String,
    },
    Metric {
        spec: MetricSpec,
    },
    Item,
    /// Something is done to an invoice or a balance.
    Bill(Deed),
    /// Nothing: it only reads.
    Nothing,
}

impl What {
    /// Whether it is one event, which others can commit.
    pub(in crate::sim) fn is_one_event(&self) -> bool {
        matches!(self, Self::Ingest { into: None, events } if events.len() == 1)
    }
}

/// An effect that follows from what was accepted before, for one customer.
#[derive(Clone, Copy, Debug)]
pub(in crate::sim) enum Turn {
    Reflected,
    Reverted,
}

fn id_of(answer: &Value) -> String {
    answer["id"].as_str().unwrap_or_default().to_owned()
}

pub(super) fn instant_of(answer: &Value, name: &str) -> Option<Instant> {
    let text = answer[name].as_str()?;
    accrue::Timestamp::parse(text).ok().map(accrue::Timestamp::micros)
}

impl Tenant {
    /// Does what was accepted, with this answer, and says which alerts fire in its commit.
    pub(in crate::sim) fn accept(
        &mut self,
        what: &What,
        answer: &Value,
        now: Instant,
    ) -> Result<Expected, String> {
        let id = id_of(answer);
        match what {
            What::Ingest { into, events } => return self.ingest(*into, events, now),
            What::Customer { customer } => self.customers[*customer].id = Some(id),
            What::Rename { customer, name } => self.customers[*customer].names.push(name.clone()),
            What::Subscribe { customer } => {
                let (customer, end) = (*customer, instant_of(answer, "end_date"));
                let start = instant_of(answer, "start_date").ok_or("a start is missing")?;
                let stretches = vec![Stretch { from: start, offer: 0, moved_by: None }];
                self.subscriptions.push(Subscription {
                    id,
                    customer,
                    start,
                    end,
                    created_at: now,
                    changed_at: now,
                    dropped: BTreeSet::new(),
                    stretches,
                });
                self.remember(self.figures(customer, now));
            }
            What::End { subscription } => self.changed(*subscription, answer, now),
            What::ChangePlan { subscription, offer, when, at } => {
                let at = at.unwrap_or_else(|| match when {
                    When::EndOfTerm => self.subscriptions[*subscription].current(now).1,
                    When::Immediate | When::In(_) => now,
                });
                let to = Stretch { from: at, offer: *offer, moved_by: None };
                self.plan_changed(*subscription, to)?;
                self.changed(*subscription, answer, now);
            }
            What::DropPlanChanges { subscription } => {
                self.plan_changes_dropped(*subscription, now)?;
                self.changed(*subscription, answer, now);
            }
            What::Credit { customer, amount } => {
                let of = &mut self.customers[*customer];
                of.granted += amount;
                of.has_ledger = true;
                if *amount > 0 {
                    let block = answer["credit_block"]["id"].as_str().unwrap_or_default();
                    self.grants.push((*customer, block.to_owned()));
                }
            }
            What::Alert { scope, thresholds } => {
                let (thresholds, enabled, deleted) = (thresholds.clone(), true, false);
                let in_alert = BTreeSet::new();
                let alert = Alert { id, scope: *scope, thresholds, enabled, deleted, in_alert };
                self.alerts.push(alert);
                return Ok(self.judged(self.alerts.len() - 1, now));
            }
            What::Enable { alert, enabled } => {
                if self.alerts[*alert].enabled != *enabled {
                    self.alerts[*alert].enabled = *enabled;
                    return Ok(self.judged(*alert, now));
                }
            }
            What::SetThresholds { alert, thresholds } => {
                self.alerts[*alert].thresholds.clone_from(thresholds);
                return Ok(self.judged(*alert, now));
            }
            What::DeleteAlert { alert } => self.alerts[*alert].deleted = true,
            What::Backfill { customer, within, replaces, closes_at } => {
                let piece = |index: At| {
                    let new =
                        corrected::Backfill::new(Some(index), *within, *replaces, None, *closes_at);
                    self.history.backfills.push(new);
                    self.history.backfills.len() - 1
                };
                let mut piece = piece;
                let all = (0..CUSTOMERS).map(|index| {
                    customer.is_none_or(|customer| customer == index).then(|| piece(index))
                });
                let pieces = all.collect();
                self.backfills.push(Backfill { id, from: within.0, pieces, reverts_at: None });
            }
            What::Close { backfill } => {
                for piece in self.taking(*backfill) {
                    self.history.backfills[piece].closes_at = now;
                }
            }
            What::Revert { backfill } => {
                self.backfills[*backfill].reverts_at = Some(now);
                for piece in self.taking(*backfill) {
                    self.history.revert(piece);
                }
            }
            What::Amend { event } => {
                let (key, said) = (event.key.clone(), event.clone());
                return self.correct(&key, now, |stored| stored.event = said);
            }
            What::Deprecate { key } => {
                return self.correct(key, now, |stored| stored.deprecated = true);
            }
            What::Metric { spec } => {
                self.metrics.push((id, spec.clone()));
                // It has measured what was accepted before.
                for customer in 0..CUSTOMERS {
                    self.remember(self.figures(customer, now));
                }
            }
            What::Item => self.items.push(id),
            What::Bill(deed) => self.books.check_deed(deed, &id)?,
            What::Nothing => {}
        }
        Ok(Expected::default())
    }

    /// A subscription is changed by a request, and ends when that says.
    fn changed(&mut self, subscription: At, answer: &Value, now: Instant) {
        let of = &mut self.subscriptions[subscription];
        (of.end, of.changed_at) = (instant_of(answer, "end_date"), now);
        let customer = of.customer;
        self.remember(self.figures(customer, now));
    }

    fn judged(&mut self, alert: At, now: Instant) -> Expected {
        let falls = self.configured_balance(alert);
        self.owe(alert, now);
        Expected { must: self.configured(alert, now), is_all: false, falls }
    }

    /// The pieces of a backfill that are not reflected.
    fn taking(&self, backfill: At) -> Vec<At> {
        let pieces = self.backfills[backfill].pieces.iter().flatten().copied();
        pieces.filter(|piece| self.history.backfills[*piece].state == State::Taking).collect()
    }

    /// Events that were accepted: one after the other, whatever their batches.
    fn ingest(
        &mut self,
        into: Option<At>,
        events: &[Event],
        now: Instant,
    ) -> Result<Expected, String> {
        let mut must = BTreeSet::new();
        for event in events {
            let into = match into.map(|into| self.backfills[into].pieces[event.customer]) {
                Some(None) => return Err(format!("{event:?} is in a backfill of another's")),
                Some(Some(piece)) => Some(piece),
                None => None,
            };
            match self.history.fate(into, event, &[], now) {
                Fate::Duplicate => continue,
                Fate::Refused => return Err(format!("{event:?} was to be refused, at {now}")),
                Fate::New => {}
            }
            let before = self.figures(event.customer, now);
            self.history.accept(into, event.clone());
            let after = self.figures(event.customer, now);
            let moved = self.moved(&before, &after, now);
            // An alert has fired once the first event of a batch has crossed its threshold.
            must.extend(moved.into_iter().map(|(_, crossing, _)| crossing));
            self.remember(after);
        }
        Ok(Expected { must, is_all: true, ..Expected::default() })
    }

    fn correct(
        &mut self,
        key: &str,
        now: Instant,
        change: impl FnOnce(&mut corrected::Stored),
    ) -> Result<Expected, String> {
        let Standing::Counts(index) = self.history.standing(key) else {
            return Err(format!("the event {key} was corrected, and does not count"));
        };
        let customer = self.history.events[index].event.customer;
        self.corrected(customer, now, now, |history| change(&mut history.events[index]))
    }

    /// What was built counts for a customer, or no longer.
    pub(in crate::sim) fn turn(
        &mut self,
        backfill: &str,
        customer: At,
        turn: Turn,
        now: Instant,
    ) -> Result<Expected, String> {
        let known = self.backfills.iter().find(|of| of.id == backfill);
        let known = known.ok_or("a backfill is reflected that nobody created")?;
        let piece = known.pieces[customer].ok_or("a backfill is reflected for another's")?;
        let state = self.history.backfills[piece].state;
        let at = match turn {
            Turn::Reflected => self.history.backfills[piece].closes_at,
            Turn::Reverted => known.reverts_at.unwrap_or(now),
        };
        match (turn, state) {
            (Turn::Reflected, State::Taking) => {
                self.corrected(customer, now, at, |history| history.reflect(piece, at))
            }
            (Turn::Reverted, State::Reflected) => {
                self.corrected(customer, now, at, |history| history.revert(piece))
            }
            // One day of it after the other.
            (Turn::Reflected, State::Reflected) | (Turn::Reverted, State::Reverted) => {
                Ok(Expected::default())
            }
            (turn, state) => Err(format!("a backfill is {turn:?} that is {state:?}")),
        }
    }

    /// A correction: it fires what it crosses in the period that holds when it is due.
    fn corrected(
        &mut self,
        customer: At,
        now: Instant,
        at: Instant,
        change: impl FnOnce(&mut corrected::History),
    ) -> Result<Expected, String> {
        let before = self.figures(customer, now);
        change(&mut self.history);
        let after = self.figures(customer, now);
        let is_current = |place: &super::Place| {
            let period = self.subscriptions[place.0].period(at);
            period.is_some_and(|(from, _)| from == place.1)
        };
        let moved = self.moved(&before, &after, now).into_iter();
        let own = moved.filter(|(alert, _, place)| {
            matches!(self.alerts[*alert].scope, Scope::Subscription(..)) && is_current(place)
        });
        let must = own.map(|(_, crossing, _)| crossing).collect();
        self.remember(after);
        Ok(Expected { must, ..Expected::default() })
    }
}

/// A threshold, as a message says it.
pub(in crate::sim) fn whole(text: &str) -> Option<i64> {
    text.parse::<bigdecimal::BigDecimal>().ok()?.to_i64()
}
