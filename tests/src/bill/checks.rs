//! What of the engine is held against the biller.

use std::collections::BTreeMap;

use accrue::{
    AlertId, PricingUnit, PropertyName, SubscriptionId, Timeframe, alert,
    cost::{Cost, CostQuery},
    usage::{UsageQuery, View},
    webhook,
};
use bigdecimal::BigDecimal;
use pollster::block_on;

use super::{
    Amounts, Bench, Body, Cause, Condition, Group, Message, Span, When, current_slots, script::Ask,
    slots, span,
};
use crate::{host::micros, world::big, world::nth};

/// The lines of a cost by price, and the subtotal and the total of those that count.
type Bill = (Span, BTreeMap<(usize, usize), Amounts>, BigDecimal, BigDecimal);

impl Bench {
    /// Asks for costs and usage, of a subscription and of its customer.
    pub(crate) fn ask(&self, ask: &Ask) {
        let Some(life) = nth(ask.life, self.lives.len()) else { return };
        let timeframe = ask.ends.map(|ends| self.timeframe(ends));
        self.check_cost(life, ask, timeframe);
        self.check_customer_cost(self.biller.lives[life].customer, ask, timeframe);
        self.check_usage(life, ask, timeframe);
    }

    fn timeframe<const N: usize>(&self, ends: [When; N]) -> Timeframe {
        let mut ends = ends.map(|end| self.resolve(end).max(0));
        ends.sort_unstable();
        let until = ends[N - 1].max(ends[0] + 1);
        Timeframe::new(micros(ends[0]), micros(until)).unwrap()
    }

    fn check_cost(&self, life: usize, ask: &Ask, timeframe: Option<Timeframe>) {
        let of = &self.biller.lives[life];
        let currency = ask.unit.map(|unit| PricingUnit::parse(unit).unwrap());
        let query = CostQuery { timeframe: timeframe.into(), view: ask.view, currency };
        let found = block_on(self.host.account.subscription_costs(self.lives[life], &query));
        let found = found.unwrap();
        let places = |cost: &Cost| -> Vec<_> {
            cost.lines.iter().map(|line| self.place(line.price_id).1).collect()
        };
        for cost in &found {
            assert!(places(cost).into_iter().eq(0..self.prices[of.plan].len()), "{cost:?}");
            let period = of.period(cost.timeframe.start().micros());
            let is_one = period.is_some_and(|(_, end)| cost.timeframe.end().micros() <= end);
            let with_parts = cost.lines.iter().filter(|line| is_one && !line.parts.is_empty());
            for line in with_parts {
                let sum: BigDecimal = line.parts.iter().map(|part| big(&part.amount)).sum();
                assert_eq!(sum, big(&line.subtotal), "the parts of {line:?}");
            }
        }
        let found: Vec<Bill> = found.iter().map(|cost| self.bill(cost)).collect();
        let current = of.current_period(self.biller.now);
        if timeframe.is_none() && ask.view == View::Whole && current.0 == current.1 {
            return;
        }
        let slots = self.slots(ask, timeframe, current, of.core.timezone.name());
        let expected = slots.into_iter();
        let expected: Vec<Bill> =
            expected.map(|slot| self.expected(&[life], slot, None, ask.unit)).collect();
        assert_eq!(found, expected, "{ask:?}: {timeframe:?} of subscription {life}");
    }

    fn check_customer_cost(&self, customer: usize, ask: &Ask, timeframe: Option<Timeframe>) {
        let now = self.biller.now;
        let lives = self.biller.lives.iter().enumerate();
        let own = lives.filter(|(_, of)| of.customer == customer);
        let asked = own.filter(|(_, of)| timeframe.is_some() || of.period(now).is_some());
        let lives: Vec<_> = asked.map(|(life, _)| life).collect();
        let live = lives.iter().map(|life| &self.biller.lives[*life]);
        let periods: Vec<_> = live.filter_map(|of| of.period(now)).collect();
        let current = (
            periods.iter().map(|period| period.0).min().unwrap_or(now),
            periods.iter().map(|period| period.1).max().unwrap_or(now),
        );
        if timeframe.is_none() && current.0 == current.1 {
            return;
        }
        let currency = ask.unit.map(|unit| PricingUnit::parse(unit).unwrap());
        let query = CostQuery { timeframe: timeframe.into(), view: ask.view, currency };
        let found = self.host.account.customer_costs(self.customers[customer], &query);
        let found: Vec<Bill> =
            block_on(found).unwrap().iter().map(|cost| self.bill(cost)).collect();
        let slots = self.slots(ask, timeframe, current, self.zones[customer]);
        let each = timeframe.is_none().then_some(now);
        let expected: Vec<Bill> =
            slots.into_iter().map(|slot| self.expected(&lives, slot, each, ask.unit)).collect();
        assert_eq!(found, expected, "{ask:?}: {timeframe:?} of customer {customer}");
    }

    /// The slots of an answer, each with the span that it is shown as.
    fn slots(
        &self,
        ask: &Ask,
        timeframe: Option<Timeframe>,
        current: Span,
        zone: &str,
    ) -> Vec<(Span, Span)> {
        match timeframe.map(span) {
            Some(within) => slots(ask.view, within, zone).into_iter().map(|of| (of, of)).collect(),
            None => current_slots(ask.view, current, self.biller.now, zone),
        }
    }

    /// What subscriptions cost in a span by the biller, or each in what of the span lies in its own
    /// billing period of an instant.
    fn expected(
        &self,
        lives: &[usize],
        (slot, shown): (Span, Span),
        each: Option<super::Instant>,
        unit: Option<&str>,
    ) -> Bill {
        let mut lines = BTreeMap::<(usize, usize), Amounts>::new();
        let (mut subtotal, mut total) = (BigDecimal::default(), BigDecimal::default());
        for life in lives {
            let of = &self.biller.lives[*life];
            let own = each.and_then(|at| of.period(at)).unwrap_or(slot);
            let part = (slot.0.clamp(own.0, own.1), slot.1.clamp(own.0, own.1));
            for (index, amounts) in self.biller.cost(of, part).into_iter().enumerate() {
                let worth = self.biller.plans[of.plan][index].worth_in(unit.unwrap_or("USD"));
                let worth = worth.unwrap_or_default();
                subtotal += &amounts.subtotal * &worth;
                total += &amounts.total * &worth;
                *lines.entry((of.plan, index)).or_default() += amounts;
            }
        }
        (shown, lines, subtotal, total)
    }

    fn bill(&self, cost: &Cost) -> Bill {
        let mut lines = BTreeMap::new();
        for line in &cost.lines {
            let amounts = Amounts {
                quantity: big(&line.quantity),
                subtotal: big(&line.subtotal),
                total: big(&line.total),
            };
            let (plan, index) = self.place(line.price_id);
            let price = &self.biller.plans[plan][index];
            let converted = price.worth_in(&cost.currency).map(|worth| big(&line.total) * worth);
            assert_eq!(line.converted.as_ref().map(|of| big(&of.total)), converted);
            assert_eq!(&*line.currency, price.currency);
            assert_eq!(lines.insert((plan, index), amounts), None, "{line:?} comes twice");
        }
        (span(cost.timeframe), lines, big(&cost.subtotal), big(&cost.total))
    }

    fn place(&self, id: accrue::PriceId) -> (usize, usize) {
        let mut plans = self.prices.iter().enumerate();
        let found = plans
            .find_map(|(plan, prices)| Some((plan, prices.iter().position(|price| *price == id)?)));
        found.unwrap()
    }

    fn check_usage(&self, life: usize, ask: &Ask, timeframe: Option<Timeframe>) {
        let of = &self.biller.lives[life];
        let current = of.current_period(self.biller.now);
        if timeframe.is_none() && current.0 == current.1 {
            return;
        }
        let group_by = ask.by.map(|property| PropertyName::parse(property).unwrap());
        let query = UsageQuery {
            timeframe: timeframe.into(),
            view: ask.view,
            group_by: group_by.clone(),
            with_missing: true,
            ..UsageQuery::default()
        };
        let call = self.host.account.subscription_usage_over(self.lives[life], &query);
        let mut found = super::usage::Series::new();
        for series in block_on(call).unwrap() {
            let metric = self.metrics.iter().position(|id| *id == series.metric_id).unwrap();
            let group = series.group.map(|group| {
                assert_eq!(Some(group.property), group_by);
                group.value
            });
            let figures = series.usage.iter();
            let figures =
                figures.map(|slot| (span(slot.timeframe), slot.quantity.as_ref().map(big)));
            assert_eq!(found.insert((metric, group), figures.collect()), None);
        }
        let slots = self.slots(ask, timeframe, current, of.core.timezone.name());
        let expected = self.biller.series(of, &slots, ask.by);
        assert_eq!(found, expected, "{ask:?}: {timeframe:?} of subscription {life}");
    }
}

// What adds up.

impl Bench {
    /// Timeframes that adjoin add up, and so do the days of one.
    pub fn check_adding_up(&self, life: usize, ends: [When; 3]) {
        let Some(life) = nth(life, self.lives.len()) else { return };
        let mut ends = ends.map(|end| self.resolve(end).max(0));
        ends.sort_unstable();
        let costs = |view: View, from: i64, until: i64| -> Vec<Bill> {
            let timeframe = Timeframe::new(micros(from), micros(until)).unwrap();
            let query = CostQuery { timeframe: timeframe.into(), view, currency: None };
            let costs = self.host.account.subscription_costs(self.lives[life], &query);
            block_on(costs).unwrap().iter().map(|cost| self.bill(cost)).collect()
        };
        let [from, middle, until] = ends;
        let whole = costs(View::Whole, from, until).remove(0);
        let halves = [costs(View::Whole, from, middle), costs(View::Whole, middle, until)].concat();
        assert_eq!(add_up(halves), whole);
        if from < until {
            assert_eq!(add_up(costs(View::Periodic, from, until)), whole);
            assert_eq!(costs(View::Cumulative, from, until).pop(), Some(whole));
        }
    }
}

fn add_up(bills: Vec<Bill>) -> Bill {
    let add = |(span, mut lines, subtotal, total): Bill, next: Bill| {
        for (place, amounts) in next.1 {
            *lines.entry(place).or_default() += amounts;
        }
        ((span.0, next.0.1), lines, subtotal + next.2, total + next.3)
    };
    bills.into_iter().reduce(add).unwrap()
}

// Messages.

impl Bench {
    /// Compares the messages of each subscription, in their order, and returns them.
    pub(crate) fn check_messages(&self, told: &[webhook::Message]) -> Vec<Vec<Message>> {
        let mut found = vec![Vec::new(); self.lives.len()];
        for message in told {
            if let Some(message) = self.to_biller(message) {
                found[message.subscription].push(message);
            }
        }
        for (life, found) in found.iter().enumerate() {
            let of_life = |message: &&Message| message.subscription == life;
            let expected: Vec<_> = self.biller.messages.iter().filter(of_life).cloned().collect();
            assert_eq!(found, &expected, "of subscription {life}");
        }
        found
    }

    fn to_biller(&self, message: &webhook::Message) -> Option<Message> {
        let id = message.body.subscription_id()?;
        let subscription = self.lives.iter().position(|life| *life == id).unwrap();
        let body = match &message.body {
            webhook::Body::SubscriptionCreated { .. } => Body::Created,
            webhook::Body::SubscriptionStarted { .. } => Body::Started,
            webhook::Body::SubscriptionEnded { .. } => Body::Ended,
            webhook::Body::SubscriptionCancellationScheduled { cancellation_date, .. } => {
                Body::CancellationScheduled(cancellation_date.micros())
            }
            webhook::Body::SubscriptionCancellationUnscheduled {
                original_cancellation_date: end,
                ..
            } => Body::CancellationUnscheduled(end.micros()),
            webhook::Body::FixedFeeQuantityUpdated {
                price_id,
                effective_date,
                new_quantity,
                old_quantity,
                ..
            } => Body::QuantityUpdated {
                price: self.place(*price_id).1,
                at: effective_date.micros(),
                new: big(new_quantity),
                old: big(old_quantity),
            },
            webhook::Body::UsageExceeded(of)
            | webhook::Body::CostExceeded(of)
            | webhook::Body::SpendExceeded(of) => self.exceeded(of, &message.body),
            webhook::Body::GroupedCostExceeded(of) => self.groups_exceeded(of),
            _ => return None,
        };
        Some(Message { at: message.created_at.micros(), subscription, body })
    }

    fn exceeded(&self, of: &alert::Exceeded, body: &webhook::Body) -> Body {
        let alert = self.alerts.iter().position(|id| *id == of.alert.id).unwrap();
        let is_of_its_kind = match self.biller.alerts[alert].condition {
            Condition::Usage(_) => matches!(body, webhook::Body::UsageExceeded(_)),
            Condition::Cost(_) => matches!(body, webhook::Body::CostExceeded(_)),
            Condition::Spend(..) => matches!(body, webhook::Body::SpendExceeded(_)),
            Condition::Groups(..) => false,
        };
        assert!(is_of_its_kind && of.alert.enabled, "{body:?}");
        assert_eq!(Some(&of.threshold), of.thresholds.last());
        Body::Exceeded {
            alert,
            before: of.value_before.as_ref().map(big),
            after: big(&of.value_after),
            thresholds: of.thresholds.iter().map(big).collect(),
            period: span(of.timeframe),
            cause: to_cause(&of.cause, of.alert.id, of.subscription_id),
        }
    }

    fn groups_exceeded(&self, of: &alert::GroupsExceeded) -> Body {
        let alert = self.alerts.iter().position(|id| *id == of.alert.id).unwrap();
        assert!(of.alert.enabled && self.biller.alerts[alert].condition.is_on_groups(), "{of:?}");
        let group = |of: &alert::GroupExceeded| {
            assert_eq!(Some(&of.threshold), of.thresholds.last());
            Group {
                values: of.group_values.clone(),
                before: of.value_before.as_ref().map(big),
                after: big(&of.value_after),
                thresholds: of.thresholds.iter().map(big).collect(),
            }
        };
        Body::GroupsExceeded {
            alert,
            groups: of.groups.iter().map(group).collect(),
            period: span(of.timeframe),
            cause: to_cause(&of.cause, of.alert.id, of.subscription_id),
        }
    }
}

fn to_cause(cause: &alert::Cause, alert: AlertId, subscription: SubscriptionId) -> Cause {
    match cause {
        alert::Cause::Event { idempotency_key, timestamp } => {
            Cause::Event(idempotency_key.to_string(), timestamp.micros())
        }
        alert::Cause::Configuration { alert_id } => {
            assert_eq!(*alert_id, alert);
            Cause::Configuration
        }
        alert::Cause::Subscription { subscription_id } => {
            assert_eq!(*subscription_id, subscription);
            Cause::Subscription
        }
        alert::Cause::Period { timestamp } => Cause::Period(timestamp.micros()),
        alert::Cause::Backfill { backfill_id } => Cause::Backfill(*backfill_id),
        other => panic!("{other:?} is not known here"),
    }
}
