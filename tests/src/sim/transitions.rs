//! The beginning of a world, and the calm in which everything is compared.

use accrue::account::Configuration;
use serde_json::{Value, json};

use super::{
    asks::Sent,
    clients::State,
    model::{FEE, FIRST, GRANTED, Rule},
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
            let tenant = &self.tenants[of];
            let price = |metric: usize, amount: &str, currency: &str| {
                json!({"price": {
                    "name": "price", "item_id": tenant.items[0], "cadence": "monthly",
                    "model_type": "unit", "unit_config": {"unit_amount": amount},
                    "billable_metric_id": tenant.metrics[metric].0, "currency": currency,
                }})
            };
            let fee = json!({"price": {
                "name": "fee", "item_id": tenant.items[0], "cadence": "monthly",
                "model_type": "unit", "unit_config": {"unit_amount": FEE.to_string()},
                "fixed_price_quantity": 1, "billed_in_advance": true, "currency": "USD",
            }});
            let plan = json!({
                "name": "plan", "currency": "USD",
                "prices": [price(0, "0.5", "USD"), price(1, "2", "credits"), fee],
            });
            let plan = self.create(of, "/v1/plans", &plan)?;
            let prices = plan["prices"].as_array().ok_or("a plan has no prices")?;
            let prices = prices.iter().take(2).filter_map(|price| price["id"].as_str());
            self.tenants[of].prices = prices.map(str::to_owned).collect();
            self.plans.push(plan["id"].as_str().ok_or("a plan has no id")?.to_owned());
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
