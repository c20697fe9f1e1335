//! A console on a store in memory, with people of every role, and a customer that uses something.

use std::sync::Arc;

use accrue::{
    Account, AccountId, Billing, Clock as _, Currency, CustomerId, Decimal, Email, EventKey,
    EventName, ExternalId, ManualClock, Name, PropertyName, SeededEntropy, SubscriptionId,
    Timestamp,
    alert::{NewAlert, Thresholds},
    credit::NewLedgerEntry,
    customer::NewCustomer,
    item::NewItem,
    metric::{MetricQuery, NewMetric},
    person::{Acceptance, NewPerson, PasswordHash, Person, Role},
    plan::NewPlan,
    price::{Cadence, Model, NewPrice, Unit},
    store::MemoryStore,
    subscription::NewSubscription,
    usage::Event,
    webhook::{Reach, WebhookKey},
};
use accrue_console::{Console, People};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::Full;
pub(crate) use pollster::block_on;

pub(crate) const NOON: &str = "2026-03-10T12:00:00Z";
pub(crate) const COOKIE: &str = "__Host-accrue-session";
pub(crate) const ADDRESS: &str = "https://hooks.example.com/billing";
pub(crate) const PASSWORD: &str = "correct horse battery";

pub(crate) struct Desk {
    pub(crate) clock: ManualClock,
    pub(crate) billing: Billing,
    pub(crate) account: Account,
    pub(crate) console: Console,
}

/// An answer, as a browser gets it.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn location(&self) -> &str {
        self.headers.get(header::LOCATION).map_or("", |to| to.to_str().unwrap())
    }

    /// The token of the session that its cookie is of.
    pub(crate) fn session(&self) -> Option<String> {
        let cookie = self.headers.get(header::SET_COOKIE)?.to_str().unwrap();
        let value = cookie.split(';').next()?.strip_prefix(&format!("{COOKIE}="))?;
        Some(value.to_owned())
    }

    /// The token of the first form.
    pub(crate) fn form_token(&self) -> String {
        let (_, rest) = self.body.split_once("name=\"form_token\" value=\"").expect("a form");
        rest.split('"').next().unwrap().to_owned()
    }
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub(crate) fn email(text: &str) -> Email {
    Email::parse(text).unwrap()
}

impl Desk {
    pub(crate) fn new() -> Self {
        let clock = ManualClock::at(Timestamp::parse(NOON).unwrap());
        let billing =
            Billing::new(Arc::new(MemoryStore::new()), clock.clone(), SeededEntropy::new(1));
        let people = People::new(&billing, SeededEntropy::new(2));
        let console = Console::builder(billing.clone(), people).base_path("/console/").build();
        let account = billing.account(AccountId::parse("acme").unwrap());
        Self { clock, billing, account, console }
    }

    /// The same, where endpoints of webhooks are added too.
    pub(crate) fn with_webhooks() -> Self {
        let mut desk = Self::new();
        let people = People::new(&desk.billing, SeededEntropy::new(2));
        let key = WebhookKey::new(&[7; 32]).unwrap();
        let console = Console::builder(desk.billing.clone(), people).base_path("console");
        desk.console = console.webhooks(key, Reach::public()).build();
        desk
    }

    /// The first person, by the link that the host prints.
    pub(crate) fn first(&self) -> Person {
        let token = block_on(self.billing.invite_first_person()).unwrap().token.reveal();
        let hash = PasswordHash::parse("$none").unwrap();
        let ada = Acceptance::of(name("Ada"), email("ada@example.com"), hash);
        block_on(self.billing.accept_invitation(&token, ada)).unwrap().unwrap()
    }

    /// The session of somebody with a role.
    pub(crate) fn session_of(&self, role: Role) -> String {
        if !block_on(self.billing.has_people()).unwrap() {
            self.first();
        }
        let address = format!("{role}-{}@example.com", self.clock.now().micros());
        let person =
            NewPerson { name: name(&format!("{role} person")), email: email(&address), role };
        let token = block_on(self.billing.invite_person(person)).unwrap().token.reveal();
        let acceptance = Acceptance::new(PasswordHash::parse("$none").unwrap());
        let person = block_on(self.billing.accept_invitation(&token, acceptance)).unwrap().unwrap();
        self.clock.advance(std::time::Duration::from_micros(1));
        block_on(self.billing.open_session(person.id)).unwrap().token.reveal()
    }

    /// The session of somebody that has signed in with a password, and is an admin.
    pub(crate) fn signed_in(&self) -> String {
        let link = block_on(self.console.first_link()).unwrap().unwrap();
        let fields = [
            ("name", "Ada"),
            ("email", "ada@example.com"),
            ("password", PASSWORD),
            ("again", PASSWORD),
        ];
        self.post(&link, None, &fields).session().unwrap()
    }

    pub(crate) fn send(&self, request: Request<Full<Bytes>>) -> Reply {
        let response = block_on(self.console.handle(request));
        let (parts, body) = response.into_parts();
        let body = String::from_utf8(body.to_vec()).unwrap();
        Reply { status: parts.status, headers: parts.headers, body }
    }

    pub(crate) fn request(
        method: Method,
        path: &str,
        session: Option<&str>,
    ) -> http::request::Builder {
        let path =
            if path.starts_with("/console") { path.to_owned() } else { format!("/console{path}") };
        let request = Request::builder().method(method).uri(path).header("host", "billing.example");
        match session {
            Some(session) => request.header("cookie", format!("{COOKIE}={session}")),
            None => request,
        }
    }

    pub(crate) fn get(&self, path: &str, session: Option<&str>) -> Reply {
        let request = Self::request(Method::GET, path, session);
        self.send(request.body(Full::default()).unwrap())
    }

    /// Sends a form as a browser does, with the token of the session.
    pub(crate) fn post(&self, path: &str, session: Option<&str>, fields: &[(&str, &str)]) -> Reply {
        let token = session.map(|session| self.get("/accounts", Some(session)).form_token());
        let mut fields = fields.to_vec();
        fields.extend(token.as_deref().map(|token| ("form_token", token)));
        self.post_as_it_is(path, session, &fields, "https://billing.example")
    }

    pub(crate) fn post_as_it_is(
        &self,
        path: &str,
        session: Option<&str>,
        fields: &[(&str, &str)],
        origin: &str,
    ) -> Reply {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields);
        let request = Self::request(Method::POST, path, session).header("origin", origin);
        self.send(request.body(Full::from(body.finish())).unwrap())
    }

    /// A customer with a subscription, usage, alerts and credits.
    pub(crate) fn customer(&self, called: &str) -> (CustomerId, SubscriptionId) {
        let usd = Currency::parse("USD").unwrap();
        let account = &self.account;
        let item =
            block_on(account.create_item(NewItem::new(name("Model"))).into_future()).unwrap();
        let sql = MetricQuery::parse("SELECT sum(tokens) FROM events").unwrap();
        let metric = NewMetric::new(name(called), item.id, sql);
        let metric = block_on(account.create_metric(metric).into_future()).unwrap();
        let each = Model::Unit(Unit::new(Decimal::parse("0.01").unwrap()));
        let price = NewPrice::builder(name(called), item.id).billed(Cadence::Monthly, usd);
        let mut plan = NewPlan::new(name("Pro"), usd);
        plan.prices = vec![price.usage(metric.id, each).into()];
        let plan = block_on(account.create_plan(plan).into_future()).unwrap();
        let mut new = NewCustomer::new(name(called), email("c@example.com"));
        new.external_customer_id = Some(ExternalId::parse("ext-1").unwrap());
        let customer = block_on(account.create_customer(new).into_future()).unwrap();
        let new = NewSubscription::new(customer.id, plan.id);
        let subscription = block_on(account.create_subscription(new).into_future()).unwrap();
        let at = Thresholds::new([Decimal::from(5)]).unwrap();
        for alert in [NewAlert::cost_exceeded(at.clone()), NewAlert::usage_exceeded(metric.id, at)]
        {
            block_on(account.create_subscription_alert(subscription.id, alert).into_future())
                .unwrap();
        }
        let credits = accrue::PricingUnit::parse("USD").unwrap();
        let five = NewLedgerEntry::increment(credits, Decimal::from(5));
        block_on(account.create_ledger_entry(customer.id, five).into_future()).unwrap();
        self.event("event-1", customer.id, 600);
        (customer.id, subscription.id)
    }

    /// A customer that is not there yet.
    pub(crate) fn another(&self, called: &str) -> NewCustomer {
        NewCustomer::new(name(called), email("another@example.com"))
    }

    /// Tokens that a customer uses now.
    pub(crate) fn event(&self, key: &str, customer: CustomerId, tokens: u64) {
        self.event_of(key, customer, tokens, []);
    }

    /// The same, with properties of theirs.
    pub(crate) fn event_of<'a>(
        &self,
        key: &str,
        customer: CustomerId,
        tokens: u64,
        of: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        let own = of.into_iter().map(|(name, value)| (name, value.into()));
        let all = own.chain([("tokens", tokens.into())]);
        let event = Event {
            idempotency_key: EventKey::parse(key).unwrap(),
            event_name: EventName::parse("call").unwrap(),
            timestamp: self.clock.now(),
            properties: all
                .map(|(name, value)| (PropertyName::parse(name).unwrap(), value))
                .collect(),
            customer: customer.into(),
        };
        block_on(self.account.ingest([event]).into_future()).unwrap();
    }
}
