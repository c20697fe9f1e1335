//! One of everything, and the paths of all pages and forms, as the table of the console has them.

use accrue::{
    Account, BackfillId, CivilDate, Clock as _, Currency, Decimal, Error, ListFilter, PageRequest,
    PayloadRenderer,
    backfill::BackfillFilter,
    invoice::{NewInvoice, NewOneOffLine},
    person::{Acceptance, NewPerson, PasswordHash, Role},
    webhook::{Message, PayloadStyle, SentMessageFilter},
};
use http::StatusCode;

use crate::support::{ADDRESS, Desk, PASSWORD, block_on, email, name};

/// The table of all pages.
const TABLE: &str = include_str!("../../src/route.rs");

/// Writes the same body for every message.
pub(crate) struct Same(pub(crate) &'static str);

#[async_trait::async_trait]
impl PayloadRenderer for Same {
    async fn render(&self, _: &Account, _: &Message, _: PayloadStyle) -> Result<String, Error> {
        Ok(self.0.to_owned())
    }
}

/// A page, or what its form does.
pub(crate) struct Route {
    /// The least role that may ask for it; none where anybody may.
    pub(crate) needs: Option<Role>,
    pub(crate) is_form: bool,
    pub(crate) path: String,
}

/// A console with one of everything.
pub(crate) struct Stock {
    pub(crate) desk: Desk,
    /// Session of an admin who has signed in with a password.
    pub(crate) admin: String,
    parts: Vec<(&'static str, String)>,
    invitation: String,
}

impl Stock {
    /// Makes one of everything, each with the same name.
    pub(crate) fn new(called: &'static str) -> Self {
        let desk = Desk::with_webhooks();
        let admin = desk.signed_in();
        let (customer, subscription) = desk.customer(called);
        let created = [
            ("/a/acme/webhooks", vec![("url", ADDRESS)]),
            ("/a/acme/keys", vec![("name", called), ("password", PASSWORD)]),
            ("/a/acme/backfills", vec![("start", "2026-03-09"), ("end", "2026-03-10")]),
        ];
        for (path, fields) in created {
            let reply = desk.post(path, Some(&admin), &fields);
            let is_done = [StatusCode::OK, StatusCode::SEE_OTHER].contains(&reply.status);
            assert!(is_done, "{path}: {}", reply.body);
        }
        let (page, all) = (PageRequest::default(), ListFilter::default());
        let account = &desk.account;
        let endpoint = block_on(account.list_webhook_endpoints(&page)).unwrap().data[0].id;
        let key = block_on(account.list_api_keys(&all, &page)).unwrap().data[0].id;
        let backfills = block_on(account.list_backfills(&BackfillFilter::default(), &page));
        let backfill: BackfillId = backfills.unwrap().data[0].id;
        let alerts = block_on(account.list_subscription_alerts(subscription, &all, &page));
        let alert = alerts.unwrap().data[0].id;
        let plan = block_on(account.fetch_subscription(subscription)).unwrap().plan_id.unwrap();
        // The endpoint wants it, since it is there by now.
        block_on(account.create_customer(desk.another(called)).into_future()).unwrap();
        while block_on(desk.billing.fan_out_messages(&Same(called), 100)).unwrap().more {}
        let sent = block_on(account.list_sent_messages(&SentMessageFilter::default(), &page));
        let message = sent.unwrap().data[0].id;
        let invoice = draft(&desk, customer, plan, called);
        let invite = |address| {
            let person = NewPerson { name: name(called), email: email(address), role: Role::Read };
            block_on(desk.billing.invite_person(person)).unwrap().token.reveal()
        };
        let acceptance = Acceptance::new(PasswordHash::parse("$none").unwrap());
        let token = invite("one@example.com");
        let person = block_on(desk.billing.accept_invitation(&token, acceptance)).unwrap();
        let invitation = invite("two@example.com");
        let invited = block_on(desk.billing.list_invitations(&page)).unwrap().data[0].id;
        let parts = vec![
            ("{account}", "acme".to_owned()),
            ("{unit}", "USD".to_owned()),
            ("{customer}", customer.to_string()),
            ("{subscription}", subscription.to_string()),
            ("{alert}", alert.to_string()),
            ("{plan}", plan.to_string()),
            ("{invoice}", invoice),
            ("{backfill}", backfill.to_string()),
            ("{endpoint}", endpoint.to_string()),
            ("{message}", message.to_string()),
            ("{key}", key.to_string()),
            ("{person}", person.unwrap().id.to_string()),
            ("{invitation}", invited.to_string()),
        ];
        Self { desk, admin, parts, invitation }
    }

    /// A path with what there is in place of its parts.
    pub(crate) fn filled(&self, path: &str) -> String {
        let fill = |path: String, (part, with): &(&str, String)| path.replace(part, with);
        let path = self.parts.iter().fold(path.to_owned(), fill);
        assert!(!path.contains('{'), "there is none for {path}");
        path
    }

    /// Every page and every form, with what there is in their paths.
    pub(crate) fn routes(&self) -> Vec<Route> {
        let routes = TABLE.lines().filter_map(|line| {
            let (needs, rest) = line.trim().split_once(", ")?;
            let (method, rest) = rest.split_once(" \"")?;
            let (path, _) = rest.split_once("\" => ")?;
            let needs = match needs {
                "ALL" => None,
                "READ" => Some(Role::Read),
                "OPERATE" => Some(Role::Operate),
                "ADMIN" => Some(Role::Admin),
                _ => return None,
            };
            let path = self.filled(path);
            let path = match path.as_str() {
                "/invitation" => format!("{path}?token={}", self.invitation),
                _ => path,
            };
            Some(Route { needs, is_form: method == "POST", path })
        });
        let routes: Vec<_> = routes.collect();
        assert!(routes.len() > 50, "the table is read no more");
        routes
    }

    /// The pages, and what they show in answer to questions.
    pub(crate) fn pages(&self) -> Vec<Route> {
        let pages: Vec<_> = self.routes().into_iter().filter(|route| !route.is_form).collect();
        let asked = pages.iter().flat_map(|Route { needs, path, .. }| {
            let queries: &[_] = match path.rsplit('/').next().unwrap_or_default() {
                "invoices" => &["status=void", "customer=ext-1"],
                "events" => &["ids=event-1,none"],
                "new" => &["thresholds=5,7", "watch=cost&thresholds=x"],
                _ if path.contains("/subscriptions/") => {
                    &["group=region", "period=2026-03-01", "period=x&group=%22"]
                }
                _ => &[],
            };
            let asked = queries.iter().map(move |query| format!("{path}?{query}"));
            asked.map(|path| Route { needs: *needs, is_form: false, path })
        });
        let asked: Vec<_> = asked.collect();
        pages.into_iter().chain(asked).collect()
    }
}

/// Makes a draft of an invoice, and returns its id.
fn draft(desk: &Desk, customer: accrue::CustomerId, plan: accrue::PlanId, called: &str) -> String {
    let plan = block_on(desk.account.fetch_plan(plan)).unwrap();
    let version = block_on(desk.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    let usd = Currency::parse("USD").unwrap();
    let mut new = NewInvoice::new(customer, usd, desk.clock.now());
    let day = |text| CivilDate::parse(text).unwrap();
    new.lines.push(NewOneOffLine {
        name: name(called),
        item_id: version.prices[0].item_id,
        start_date: day("2026-03-01"),
        end_date: day("2026-03-09"),
        quantity: Decimal::from(3),
        unit_amount: Decimal::parse("1.5").unwrap(),
    });
    block_on(desk.account.create_invoice(new).into_future()).unwrap().id.to_string()
}
