//! Backfills, their events and amendments, done by the engine and by the model.

use accrue::{
    Error, ErrorKind, Timeframe,
    backfill::{BackfillStatus, NewBackfill},
    expression::Expression,
    usage::{self, Amendment, Ingestion},
};
use pollster::block_on;

use super::{
    Again, Backfill, BackfillSpec, Bench, Edit, Fill, Place, Span, Standing, State, Stored,
    bench::one,
};
use crate::{
    bill::Cause,
    host::micros,
    model::{AHEAD, Event, Fate, GRACE, MICROS_PER_DAY},
    script::EventSpec,
    stores::dump,
    world::{engine_event, nth},
};

/// How long a backfill may be.
const LONGEST: i64 = 31 * MICROS_PER_DAY;

// Events.

impl Bench {
    pub(super) fn use_events(&mut self, specs: &[(EventSpec, Again)]) {
        let mut batch = Vec::new();
        for (spec, again) in specs {
            let (now, customer) = (self.now(), spec.customer % self.bill.customers.len());
            let at = self.bill.resolve(spec.at).clamp(now - GRACE, now + AHEAD);
            let event = self.event(spec, customer, at, *again, &batch);
            batch.push(event);
        }
        self.bring(None, batch);
    }

    pub(super) fn fill(&mut self, backfill: usize, fills: &[Fill]) {
        let Backfill { within, customer: own, .. } = self.history.backfills[backfill].clone();
        let mut batch = Vec::new();
        for Fill { place, like, again } in fills {
            let length = usize::try_from(within.1 - within.0).unwrap();
            let midnight = |of: usize| {
                let first = within.0 - within.0.rem_euclid(MICROS_PER_DAY) + MICROS_PER_DAY;
                let all: Vec<_> = (0..32).map(|day| first + day * MICROS_PER_DAY).collect();
                let all: Vec<_> = all.into_iter().filter(|at| *at < within.1).collect();
                nth(of, all.len()).map_or(within.0, |index| all[index])
            };
            let at = match place {
                Place::Somewhere(index) => within.0 + i64::try_from(index.index(length)).unwrap(),
                Place::First(by) => within.0 + by,
                Place::Last(by) => within.1 - by,
                Place::Midnight(of, by) => midnight(*of) + by,
            };
            let customer = own.unwrap_or(like.customer % self.bill.customers.len());
            let at = at.min(self.now() + AHEAD);
            let event = self.event(like, customer, at, *again, &batch);
            batch.push(event);
        }
        self.bring(Some(backfill), batch);
    }

    /// Ingests events into a backfill or into none: those that are refused are, and then the others.
    fn bring(&mut self, into: Option<usize>, mut batch: Vec<Event>) {
        loop {
            let takes = |into: usize| self.history.backfills[into].state == State::Taking;
            if into.is_some_and(|into| !takes(into)) {
                self.refused(ErrorKind::ConstraintViolation, |bench| bench.send(into, &batch));
                return;
            }
            let mut fates = Vec::new();
            for (index, event) in batch.iter().enumerate() {
                fates.push(self.history.fate(into, event, &batch[..index], self.now()));
            }
            let Some(refused) = fates.iter().position(|fate| *fate == Fate::Refused) else {
                let sent = self.send(into, &batch);
                let sent = sent.unwrap_or_else(|error| panic!("{into:?}: {batch:#?}: {error:?}"));
                let new = fates.iter().filter(|fate| **fate == Fate::New).count();
                assert_eq!((sent.ingested, sent.duplicates), (new, batch.len() - new));
                let pairs = batch.into_iter().zip(fates);
                for (event, _) in pairs.filter(|(_, fate)| *fate == Fate::New) {
                    if self.history.accept(into, event.clone()) {
                        self.bill.biller.accept(event);
                    }
                }
                return;
            };
            let error =
                self.refused(ErrorKind::RequestValidation, |bench| bench.send(into, &batch));
            let first = error.refused_events().first().map(|event| event.index);
            assert_eq!(first, Some(refused), "{into:?}: {batch:#?}: {error:?}");
            batch.remove(refused);
            if batch.is_empty() {
                return;
            }
        }
    }

    fn send(&self, into: Option<usize>, batch: &[Event]) -> Result<Ingestion, Error> {
        let account = &self.bill.host.account;
        let customers = &self.bill.customers;
        let of = |event: &Event| engine_event(event, customers[event.customer].into());
        let events: Vec<usage::Event> = batch.iter().map(of).collect();
        block_on(match into {
            None => account.ingest(events).into_future(),
            Some(into) => account.ingest_backfill(self.backfills[into], events).into_future(),
        })
    }

    /// Makes sure that something is refused, and changes nothing once what is due is applied.
    fn refused<T: std::fmt::Debug>(
        &self,
        kind: ErrorKind,
        call: impl Fn(&Self) -> Result<T, Error>,
    ) -> Error {
        let applies = call(self).unwrap_err();
        assert_eq!(applies.kind(), kind, "{applies:?}");
        let before = dump(&*self.bill.host.store);
        let error = call(self).unwrap_err();
        assert_eq!(error.kind(), kind, "{error:?}");
        assert_eq!(dump(&*self.bill.host.store), before, "what is refused wrote something");
        error
    }
}

// Backfills.

impl Bench {
    pub(super) fn create(&mut self, spec: &BackfillSpec) {
        // Ids of one millisecond have no order: lets one pass.
        self.pass(1_000);
        let now = self.now();
        let known =
            |of: usize| one(of, self.backfills.len()).map(|of| self.history.backfills[of].within);
        let within = match spec.span {
            Span::From(when, length) => {
                let from = self.bill.resolve(when);
                (from, from + length)
            }
            Span::Again(of) => known(of).unwrap_or((now - MICROS_PER_DAY, now)),
            Span::Behind(of, length) => {
                let from = known(of).map_or(now - MICROS_PER_DAY, |of| of.1);
                (from, from + length)
            }
            Span::Across(of, length) => {
                let of = known(of).unwrap_or((now - MICROS_PER_DAY, now));
                let from = of.0.midpoint(of.1);
                (from, from + length)
            }
        };
        let customer = spec.customer.map(|customer| customer % self.bill.customers.len());
        let closes_at = now + spec.closes_in.unwrap_or(MICROS_PER_DAY);
        let filter = spec.filter.clone();
        let model = Backfill::new(customer, within, spec.replaces, filter, closes_at);
        let mut new = NewBackfill::new(Timeframe::new(micros(within.0), micros(within.1)).unwrap());
        new.customer = customer.map(|customer| self.bill.customers[customer].into());
        new.replace_existing_events = spec.replaces;
        new.deprecation_filter =
            spec.filter.as_ref().map(|filter| Expression::parse(&filter.sql()).unwrap());
        new.close_time = spec.closes_in.map(|_| micros(closes_at));
        let call = |bench: &Self| {
            block_on(bench.bill.host.account.create_backfill(new.clone()).into_future())
        };
        let (from, until) = within;
        if from >= until || until - from > LONGEST || closes_at <= now {
            self.refused(ErrorKind::RequestValidation, call);
        } else if self.history.is_kept_out(&model) {
            self.refused(ErrorKind::ConstraintViolation, call);
        } else {
            let created = call(self).unwrap_or_else(|error| panic!("{model:?}: {error:?}"));
            self.backfills.push(created.id);
            self.history.backfills.push(model);
        }
    }

    pub(super) fn close(&mut self, backfill: usize) {
        let id = self.backfills[backfill];
        let call =
            |bench: &Self| block_on(bench.bill.host.account.close_backfill(id).into_future());
        if self.history.backfills[backfill].state == State::Taking {
            let closed = call(self).unwrap();
            assert_eq!(closed.close_time, Some(micros(self.now())));
            self.reflect(backfill);
        } else {
            self.refused(ErrorKind::ConstraintViolation, call);
        }
    }

    pub(super) fn revert(&mut self, backfill: usize) {
        let id = self.backfills[backfill];
        let call =
            |bench: &Self| block_on(bench.bill.host.account.revert_backfill(id).into_future());
        let of = self.history.backfills[backfill].clone();
        match of.state {
            State::Taking => {
                assert_eq!(call(self).unwrap().status, BackfillStatus::Reverted);
                self.history.revert(backfill);
            }
            State::Reflected if !self.history.is_kept_out(&of) => {
                call(self).unwrap();
                let before = self.bill.biller.clone();
                self.history.revert(backfill);
                self.corrected(&before, backfill);
                self.told.push((false, id));
            }
            State::Reflected | State::Reverted => {
                self.refused(ErrorKind::ConstraintViolation, call);
            }
        }
    }
}

// Amendments.

impl Bench {
    pub(super) fn amend(&mut self, index: usize, edit: Edit, like: &EventSpec) {
        let key = self.history.events[index].event.key.clone();
        let standing = self.history.standing(&key);
        let index = match standing {
            Standing::Counts(index) | Standing::Gone { first: index, .. } => index,
            Standing::Unknown => index,
        };
        let before = self.history.events[index].event.clone();
        let customer = match edit {
            Edit::OtherCustomer => (before.customer + 1) % self.bill.customers.len(),
            _ => before.customer,
        };
        let at = before.at + i64::from(edit == Edit::OtherInstant);
        let properties = like.properties.clone();
        let after = Event::new(customer, key.clone(), like.name, at, properties);
        let said = engine_event(&after, self.bill.customers[customer].into());
        let says_already =
            said == engine_event(&before, self.bill.customers[before.customer].into());
        let amendment = Amendment {
            event_name: said.event_name,
            timestamp: said.timestamp,
            properties: said.properties,
            customer: said.customer,
        };
        let call = |bench: &Self| {
            let (id, amendment) = (said.idempotency_key.clone(), amendment.clone());
            block_on(bench.bill.host.account.amend_event(id, amendment).into_future())
        };
        let refusal = match (standing, edit) {
            (Standing::Unknown, _) => Some(ErrorKind::ResourceNotFound),
            (_, Edit::OtherCustomer) => Some(ErrorKind::ConstraintViolation),
            (_, Edit::OtherInstant) => Some(ErrorKind::RequestValidation),
            (Standing::Gone { .. }, _) => Some(ErrorKind::ConstraintViolation),
            // To say what it says already is taken at any time: the answer may have been lost.
            _ if says_already => None,
            _ => self.is_over(&before).then_some(ErrorKind::ConstraintViolation),
        };
        match refusal {
            Some(kind) => {
                self.refused(kind, call);
            }
            None => {
                call(self).unwrap_or_else(|error| panic!("{after:?}: {error:?}"));
                self.change(index, |stored| stored.event = after);
            }
        }
    }

    pub(super) fn deprecate(&mut self, index: usize) {
        let event = self.history.events[index].event.clone();
        let said = engine_event(&event, self.bill.customers[event.customer].into());
        let call = |bench: &Self| {
            let id = said.idempotency_key.clone();
            block_on(bench.bill.host.account.deprecate_event(id).into_future())
        };
        let refusal = match self.history.standing(&event.key) {
            Standing::Counts(index) => {
                if !self.is_over(&self.history.events[index].event) {
                    call(self).unwrap_or_else(|error| panic!("{event:?}: {error:?}"));
                    self.change(index, |stored| stored.deprecated = true);
                    return;
                }
                ErrorKind::ConstraintViolation
            }
            Standing::Gone { deprecated: true, .. } => {
                call(self).unwrap_or_else(|error| panic!("{event:?}: {error:?}"));
                return;
            }
            Standing::Gone { .. } => ErrorKind::ConstraintViolation,
            Standing::Unknown => ErrorKind::ResourceNotFound,
        };
        self.refused(refusal, call);
    }

    /// Whether an event lies in a billing period that takes no events any more.
    fn is_over(&self, event: &Event) -> bool {
        let lives = self.bill.biller.lives.iter().filter(|of| of.customer == event.customer);
        let periods = lives.filter_map(|of| Some((of, of.period(event.at)?)));
        let now = self.now();
        periods
            .into_iter()
            .any(|(of, (start, end))| start < of.oldest_judged(now) || end <= now - GRACE)
    }

    fn change(&mut self, index: usize, change: impl FnOnce(&mut Stored)) {
        let before = self.bill.biller.clone();
        change(&mut self.history.events[index]);
        self.bill.biller.events = self.history.visible();
        let Event { customer, at, key, .. } = self.history.events[index].event.clone();
        let cause = Cause::Event(key, at);
        self.bill.biller.correct(&before, |of| of == customer, (at, at + 1), &cause);
    }
}
