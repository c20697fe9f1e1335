//! The versions of plans that subscriptions are on, one after the other: as they are committed, and as they were asked
//! for.

use std::collections::BTreeSet;

use bigdecimal::BigDecimal;
use serde_json::Value;

use super::{Subscription, Tenant, effects::instant_of};
use crate::model::{At, Instant};

/// A version of a plan.
#[derive(Clone, Copy, Debug)]
pub(in crate::sim) struct Offer {
    /// The place of the plan among those of the account.
    pub(in crate::sim) plan: At,
    pub(in crate::sim) version: u64,
    /// What a unit of usage costs, in quarters.
    pub(in crate::sim) quarters: i64,
    /// What it is each month in advance.
    pub(in crate::sim) fee: i64,
    /// Whether an event draws credits.
    pub(in crate::sim) draws: bool,
}

/// All that there are: everybody subscribes to the first.
pub(in crate::sim) const OFFERS: [Offer; 3] = [
    Offer { plan: 0, version: 1, quarters: 2, fee: 31, draws: true },
    Offer { plan: 0, version: 2, quarters: 3, fee: 31, draws: true },
    Offer { plan: 1, version: 1, quarters: 4, fee: 50, draws: false },
];

impl Offer {
    /// What a unit of usage costs.
    pub(in crate::sim) fn rate(&self) -> BigDecimal {
        BigDecimal::from(self.quarters) / 4
    }
}

/// A part of the life of a subscription, until the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sim) struct Stretch {
    pub(in crate::sim) from: Instant,
    pub(in crate::sim) offer: At,
    /// The migration that has brought it, if one did.
    pub(in crate::sim) moved_by: Option<String>,
}

/// A subscription, as it was last committed.
#[derive(Clone, Debug)]
pub(in crate::sim) struct Committed {
    end: Option<Instant>,
    stretches: Vec<Stretch>,
}

/// A migration, as it was last committed.
#[derive(Clone, Debug)]
pub(in crate::sim) struct Migration {
    pub(in crate::sim) offer: At,
    created_at: Instant,
    /// When whoever is moved is; with the end of the term where none is said.
    at: Option<Instant>,
    /// Whether somebody has said when, and nothing else will do.
    is_fixed: bool,
    is_planned: bool,
    is_canceled: bool,
    /// Whether no other one was still to be planned, or to be kept, when it was created: of those that are planned at one
    /// time, in several processes, the one that is planned last counts.
    is_alone: bool,
    /// Subscriptions that were committed before it: one that is behind it is none of its, whenever it was asked for.
    found: BTreeSet<String>,
}

/// What somebody is on from when, whatever brought it.
fn followed(stretches: &[Stretch]) -> Vec<(Instant, At)> {
    let mut followed: Vec<_> = stretches.iter().map(|of| (of.from, of.offer)).collect();
    followed.dedup_by_key(|(_, offer)| *offer);
    followed
}

impl Subscription {
    /// What it is on at an instant.
    pub(in crate::sim) fn offer(&self, at: Instant) -> Offer {
        OFFERS[self.offer_at(at)]
    }

    pub(super) fn offer_at(&self, at: Instant) -> At {
        let begun = self.stretches.iter().rfind(|of| of.from <= at);
        begun.or_else(|| self.stretches.first()).map_or(0, |of| of.offer)
    }

    /// When it gets to each of them.
    pub(super) fn starts(&self) -> impl Iterator<Item = Instant> {
        self.stretches.iter().map(|of| of.from)
    }

    /// When its plan is changed, be it to the same again: a migration leaves what both versions have.
    pub(super) fn changes(&self) -> impl Iterator<Item = Instant> {
        let asked = self.stretches.iter().skip(1).filter(|of| of.moved_by.is_none());
        asked.map(|of| of.from)
    }

    /// When what it has used by then is billed: its plan is changed, or what usage costs.
    pub(super) fn cuts(&self) -> impl Iterator<Item = Instant> {
        self.starts().skip(1)
    }
}

impl Migration {
    /// When somebody is moved.
    fn instant(&self, of: &Subscription) -> Instant {
        self.at.unwrap_or_else(|| of.current(self.created_at).1)
    }
}

impl Tenant {
    fn offer_of(&self, of: &Value) -> Option<At> {
        let plan = self.plans.iter().position(|id| of["plan_id"] == id.as_str())?;
        let version = of["plan_version"].as_u64()?;
        OFFERS.iter().position(|of| (of.plan, of.version) == (plan, version))
    }

    /// A subscription is committed.
    pub(in crate::sim) fn subscription_saved(&mut self, row: &Value) -> Result<(), String> {
        let of = &row["subscription"];
        let id = of["id"].as_str().ok_or("a subscription without an id")?.to_owned();
        let stretch = |of: &Value| {
            let moved_by = of["moved"]["migration_id"].as_str().map(str::to_owned);
            let (from, offer) = (instant_of(of, "start_date")?, self.offer_of(of)?);
            Some(Stretch { from, offer, moved_by })
        };
        let intervals = of["plan_intervals"].as_array().filter(|all| !all.is_empty());
        let stretches = match intervals {
            Some(intervals) => intervals.iter().map(stretch).collect(),
            None => stretch(of).map(|only| vec![only]),
        };
        let stretches = stretches.ok_or_else(|| format!("a plan that there is not: {of}"))?;
        self.committed.insert(id, Committed { end: instant_of(of, "end_date"), stretches });
        Ok(())
    }

    /// Subscriptions are on what was committed of them, and end when they were asked to.
    /// Says what has happened.
    pub(in crate::sim) fn follow_plans(
        &mut self,
        now: Instant,
    ) -> Result<Vec<&'static str>, String> {
        let mut happened = Vec::new();
        for (id, Committed { end, stretches }) in std::mem::take(&mut self.committed) {
            let place = self.subscriptions.iter().position(|of| of.id == id);
            let place = place.ok_or_else(|| format!("nobody has created {id}"))?;
            let of = &mut self.subscriptions[place];
            if of.end != end {
                return Err(format!("an end is committed as {end:?}: {of:?}"));
            }
            let customer = of.customer;
            if of.stretches != stretches {
                let were: Vec<_> = of.cuts().collect();
                let before = std::mem::replace(&mut of.stretches, stretches);
                let cuts: BTreeSet<_> = of.cuts().collect();
                of.dropped.extend(were.into_iter().filter(|at| !cuts.contains(at)));
                let is_moved = self.check_moves(place, &before)?;
                happened.push(if is_moved { "moved by a migration" } else { "plan changed" });
                self.remember(self.figures(customer, now));
            }
        }
        Ok(happened)
    }

    /// Whoever is moved by a migration is moved to its version, and only as long as nobody has taken it back.
    fn check_moves(&self, place: At, before: &[Stretch]) -> Result<bool, String> {
        let mut is_moved = false;
        let of = &self.subscriptions[place];
        for stretch in of.stretches.iter().filter(|of| !before.contains(of)) {
            let Some(id) = &stretch.moved_by else { continue };
            is_moved = true;
            let migration = self.migrations.get(id).ok_or("a move of no migration")?;
            // A period may have ended before its turn came, and what is before the current one stays.
            let at = migration.instant(of);
            let is_then = at == stretch.from
                || at < of.start && stretch.from == of.start
                || !migration.is_fixed && at < stretch.from && of.is_start(stretch.from);
            if migration.offer != stretch.offer || migration.is_canceled || !is_then {
                return Err(format!("{of:?} is moved otherwise than by {migration:?}"));
            }
        }
        Ok(is_moved)
    }

    /// A plan change was accepted.
    pub(super) fn plan_changed(&self, subscription: At, to: Stretch) -> Result<(), String> {
        let mut expected = self.subscriptions[subscription].stretches.clone();
        expected.retain(|of| of.from < to.from);
        expected.push(to);
        self.check_asked(subscription, &expected)
    }

    /// The plan changes that were still to come are taken back.
    pub(super) fn plan_changes_dropped(
        &self,
        subscription: At,
        now: Instant,
    ) -> Result<(), String> {
        let of = &self.subscriptions[subscription];
        let first = of.changes().find(|at| now < *at).ok_or("no change of a plan is to come")?;
        let mut expected = of.stretches.clone();
        expected.retain(|of| of.from < first);
        self.check_asked(subscription, &expected)
    }

    fn check_asked(&self, subscription: At, expected: &[Stretch]) -> Result<(), String> {
        let of = &self.subscriptions[subscription];
        let found = self.committed.get(&of.id).map_or(&of.stretches, |of| &of.stretches);
        match followed(found) == followed(expected) {
            true => Ok(()),
            false => Err(format!("{of:?} is on {found:?}, expected {expected:?}")),
        }
    }

    /// A migration is committed.
    pub(in crate::sim) fn migration_saved(&mut self, row: &Value) -> Result<(), String> {
        let id = row["id"].as_str().ok_or("a migration without an id")?.to_owned();
        let plan = self.plans.iter().position(|id| row["plan_id"] == id.as_str());
        let offer = OFFERS
            .iter()
            .position(|of| (Some(of.plan), Some(of.version)) == (plan, row["version"].as_u64()));
        let offer = offer.ok_or_else(|| format!("a migration to nowhere: {row}"))?;
        let created_at = instant_of(row, "created_at").ok_or("a migration of no time")?;
        let fixed = instant_of(&row["when"], "at");
        let at = fixed.or((row["when"] == "immediate").then_some(created_at));
        let is_fixed = fixed.is_some();
        let is_planned = row["is_planned"] == true;
        let is_canceled = instant_of(row, "canceled_at").is_some();
        let known = self.migrations.get(&id).map(|known| known.is_alone);
        let is_alone = known.unwrap_or_else(|| self.migrations.values().all(|of| of.is_planned));
        // One that was held up comes behind what was created after it.
        let later = self
            .migrations
            .values_mut()
            .filter(|of| known.is_none() && created_at <= of.created_at);
        later.for_each(|of| of.is_alone = false);
        let found = match self.migrations.remove(&id) {
            Some(known) => known.found,
            None => self.subscriptions.iter().map(|of| of.id.clone()).collect(),
        };
        let migration =
            Migration { offer, created_at, at, is_fixed, is_planned, is_canceled, is_alone, found };
        self.migrations.insert(id, migration);
        Ok(())
    }

    /// The migrations that nobody has canceled.
    pub(in crate::sim) fn migrations_under_way(&self) -> impl Iterator<Item = &String> {
        self.migrations.iter().filter(|(_, of)| !of.is_canceled).map(|(id, _)| id)
    }

    /// Once nothing is due, nobody whom a migration was to move is left behind, and nobody is moved any more by one
    /// that was canceled.
    pub(in crate::sim) fn check_migrations(&self, now: Instant) -> Result<(), String> {
        for (id, migration) in &self.migrations {
            if !migration.is_planned {
                return Err(format!("{migration:?} is due, and not planned"));
            }
            for of in self.subscriptions.iter().filter(|of| of.end.is_none()) {
                let own = of.stretches.iter().find(|of| of.moved_by.as_ref() == Some(id));
                let is_to_come = own.is_some_and(|own| now < own.from);
                if migration.is_canceled && is_to_come {
                    return Err(format!("{of:?} is moved by {migration:?}"));
                }
                // What was asked for since may have brought it elsewhere.
                let is_of = migration.found.contains(&of.id)
                    && of.created_at < migration.created_at
                    && of.changed_at < migration.created_at;
                let is_last = self.migrations.iter().all(|(other, of)| {
                    other == id || of.created_at < migration.created_at && !of.is_canceled
                });
                let at = migration.instant(of).max(of.start);
                let is_on_it = of.offer(at).plan == OFFERS[migration.offer].plan;
                // A change of the plan at that very instant stands, and whatever has come since; and what is before a
                // billing period that has begun.
                let is_refused = migration.is_fixed && at < of.current(now).0
                    || of.changes().any(|change| change == at)
                    || of.starts().any(|start| at < start && start <= now);
                let is_owed = is_of
                    && is_last
                    && migration.is_alone
                    && is_on_it
                    && !is_refused
                    && !migration.is_canceled;
                if is_owed && of.offer_at(at) != migration.offer {
                    return Err(format!("{of:?} is left behind by {migration:?}"));
                }
            }
        }
        Ok(())
    }
}
