//! The beginning of a world, and the calm in which everything is compared.

use accrue::account::Configuration;
use serde_json::{Value, json};

use super::{
    asks::Sent,
    clients::State,
    model::{CREDITS_PER_EVENT, FIRST, GRANTED, OFFERS, Rule},
    plan::{ACCOUNTS, Ask, On, SECOND},
    world::{Task, World, account},
};
use crate::model::At;

/// How often an invoice is collected at most in one calm: once, and a retry for each that was planned.
const MOST_ATTEMPTS: usize = 8;

impl World {
    /// What every account has from the beginning.
    pub(super) fn set_up(&mut self) -> Result<(), String> {
        for of in 0..ACCOUNTS {
            let mut configuration = Configuration::default();
            configuration.features.invoices = true;
            let configured = self.observer.account(account(of)).configure(configuration);
            pollster::block_on(configured.into_future()).map_err(|error| format!("{error:?}"))?;
            self.insist(of, &Ask::Item)?;
            for kind in 0..2 {
                self.insist(of, &Ask::Metric { kind })?;
            }
            self.set_up_plans(of)?;
            for customer in 0..FIRST {
                self.insist(of, &Ask::Customer { customer })?;
                self.insist(of, &Ask::Grant { customer, amount: GRANTED, expires_in: None })?;
                for rule in 0..Rule::ALL.len() {
                    let on = On::Balance(customer, rule);
                    self.insist(of, &Ask::Alert { on, thresholds: vec![5, 20] })?;
                }
                self.insist(of, &Ask::Subscribe { customer })?;
            }
        }
        Ok(())
    }

    /// The plans that every account has, with their versions.
    fn set_up_plans(&mut self, of: At) -> Result<(), String> {
        let (item, metrics) = (self.tenants[of].items[0].clone(), self.tenants[of].metrics.clone());
        let usage = |metric: At, amount: String, currency: &str| {
            json!({
                "name": "usage", "item_id": item, "cadence": "monthly", "model_type": "unit",
                "unit_config": {"unit_amount": amount}, "currency": currency,
                "billable_metric_id": metrics[metric].0,
            })
        };
        let mut known: Vec<Value> = Vec::new();
        for offer in OFFERS {
            let rated = usage(0, offer.rate().to_plain_string(), "USD");
            if offer.version > 1 {
                let replaced = json!({"replaces_price_id": known[0]["id"], "price": rated});
                let body = json!({"version": offer.version, "replace_prices": [replaced]});
                let path = format!("/v1/plans/{}/versions", self.tenants[of].plans[offer.plan]);
                known = self.prices_of(of, &self.create(of, &path, &body)?)?;
                continue;
            }
            let fee = json!({
                "name": "fee", "item_id": item, "cadence": "monthly", "model_type": "unit",
                "unit_config": {"unit_amount": offer.fee.to_string()}, "currency": "USD",
                "fixed_price_quantity": 1, "billed_in_advance": true,
            });
            let drawn = usage(1, CREDITS_PER_EVENT.to_string(), "credits");
            let all = [Some(rated), offer.draws.then_some(drawn), Some(fee)].into_iter().flatten();
            let prices: Vec<_> = all.map(|price| json!({"price": price})).collect();
            let body = json!({"name": "plan", "currency": "USD", "prices": prices});
            let plan = self.create(of, "/v1/plans", &body)?;
            let id = plan["id"].as_str().ok_or("a plan has no id")?.to_owned();
            self.tenants[of].plans.push(id);
            known = self.prices_of(of, &plan)?;
        }
        Ok(())
    }

    /// The prices of an answer, of which the model knows those of usage from now on.
    fn prices_of(&mut self, of: At, answer: &Value) -> Result<Vec<Value>, String> {
        let prices = answer["prices"].as_array().ok_or("a plan has no prices")?;
        let tenant = &mut self.tenants[of];
        for price in prices {
            let metric = price["billable_metric"]["id"].as_str();
            let metric = tenant.metrics.iter().position(|(id, _)| Some(id.as_str()) == metric);
            let id = price["id"].as_str().unwrap_or_default().to_owned();
            tenant.prices.extend(metric.map(|metric| (id, metric)));
        }
        Ok(prices.clone())
    }

    /// Asks for something that is answered at once.
    fn insist(&mut self, of: At, ask: &Ask) -> Result<(), String> {
        self.ask(of, ask, 0);
        self.land_all()?;
        match self.clients.last().map(|client| (client.state, &client.key)) {
            Some((State::Answered, Some(key))) => {
                let kept = self.kept.get(&(of, key.clone())).and_then(|kept| kept.last());
                let is_done = kept.is_some_and(|kept| kept.status < 300);
                is_done.then_some(()).ok_or_else(|| format!("{ask:?} is refused: {kept:?}"))
            }
            other => Err(format!("{ask:?} is not answered: {other:?}")),
        }
    }

    /// Creates something that the model knows nothing of.
    fn create(&self, of: At, path: &str, body: &Value) -> Result<Value, String> {
        let Sent { method, path, body } =
            Sent { method: "POST", path: path.to_owned(), body: body.to_string() };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer tenant-{of}"))
            .body(http_body_util::Full::new(bytes::Bytes::from(body)))
            .unwrap();
        let answer = pollster::block_on(self.api(0).handle(request));
        match answer.status().as_u16() {
            201 => serde_json::from_slice(answer.body()).map_err(|error| error.to_string()),
            status => Err(format!("{status}: {}", String::from_utf8_lossy(answer.body()))),
        }
    }

    /// Polls everything that is under way until it is done.
    fn land_all(&mut self) -> Result<(), String> {
        for _ in 0..100_000 {
            if self.flights.is_empty() {
                return Ok(());
            }
            for index in (0..self.flights.len()).rev() {
                if index < self.flights.len() {
                    self.poll(index)?;
                }
            }
        }
        Err("something never ends".to_owned())
    }

    /// Nothing fails any more: every client insists until it has an answer, what is due is done, all
    /// messages are delivered, and then everything is compared.
    pub(super) fn apply_transitions(&mut self) -> Result<(), String> {
        self.store.calm(true);
        self.store.let_arrive(true);
        self.count("apply");
        for round in 0.. {
            self.land_all()?;
            let is_done = |state: State| state == State::Answered;
            let open: Vec<At> = (0..self.clients.len())
                .filter(|index| !is_done(self.clients[*index].state))
                .collect();
            if open.is_empty() {
                break;
            }
            if round > 50 {
                return Err(format!("never answered: {:?}", self.clients[open[0]]));
            }
            self.pass(SECOND);
            for index in open {
                if matches!(self.clients[index].state, State::GivenUp) {
                    self.give_another_chance(index);
                }
            }
        }
        self.tick_all()?;
        for of in 0..ACCOUNTS {
            // What fails may be retried at once, where that was planned for a time that has passed.
            let mut rounds = 0;
            while self.charge_all(of)? {
                self.tick_all()?;
                rounds += 1;
                if rounds > MOST_ATTEMPTS {
                    return Err("payments are under way for ever".to_owned());
                }
            }
        }
        for of in 0..ACCOUNTS {
            self.drain(of)?;
        }
        self.check_all()?;
        self.store.calm(false);
        Ok(())
    }

    /// Applies what is due until nothing is.
    fn tick_all(&mut self) -> Result<(), String> {
        for _ in 0..1_000 {
            self.begin_task();
            let tick = pollster::block_on(self.billing(0).tick(100));
            self.step_commits()?;
            let tick = tick.map_err(|error| format!("a tick fails in the calm: {error:?}"))?;
            if tick.failed > 0 {
                return Err(format!("something cannot be applied: {tick:?}"));
            }
            if !tick.more {
                break;
            }
        }
        Ok(())
    }

    /// What is under way is charged, and what was charged is reported, also where nobody waits for it any
    /// more: says whether anything was under way.
    fn charge_all(&mut self, of: At) -> Result<bool, String> {
        let failed = |error| format!("a payment fails in the calm: {error:?}");
        let (account, gateway) = (self.billing(0).account(account(of)), self.gateway.clone());
        gateway.calm(true);
        self.begin_task();
        let settled = pollster::block_on(account.collect_payments(&gateway)).map_err(failed)?;
        self.step_commits()?;
        for index in 0..gateway.charges().len() {
            let Some((attempt, outcome)) = self.heard(of, index) else { break };
            self.begin_task();
            let reported = account.report_payment(attempt, outcome).into_future();
            pollster::block_on(reported).map_err(failed)?;
            self.step_commits()?;
        }
        let page = accrue::PageRequest::default();
        let left = pollster::block_on(account.list_started_payments(&page)).map_err(failed)?.data;
        gateway.calm(false);
        Ok(settled > 0 || !left.is_empty())
    }

    /// Something of the simulation itself begins.
    fn begin_task(&mut self) {
        let task = self.tasks.len();
        self.tasks.push(Task { client: None, place: None });
        self.store.is_polled(task);
    }

    fn drain(&mut self, of: At) -> Result<(), String> {
        let account = self.billing(1).account(account(of));
        loop {
            self.begin_task();
            let page = accrue::PageRequest::first_of_messages(1_000).unwrap();
            let messages = pollster::block_on(account.list_messages(&page));
            let messages = messages.map_err(|error| format!("{error:?}"))?.data;
            if messages.is_empty() {
                break;
            }
            let places: Vec<_> = messages.iter().map(|message| message.place).collect();
            self.messages.inbox().lock().unwrap().extend(messages.into_iter().map(|m| (of, m)));
            let done = pollster::block_on(account.acknowledge(places).into_future());
            done.map_err(|error| format!("{error:?}"))?;
            self.step_commits()?;
        }
        match self.messages.waiting(of) {
            0 => Ok(()),
            left => Err(format!("{left} messages are not delivered")),
        }
    }
}
