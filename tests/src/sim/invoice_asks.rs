//! What clients ask for of invoices, as requests over HTTP.

use accrue::invoice::{Invoice, InvoiceStatus};
use bigdecimal::{BigDecimal, RoundingMode};
use serde_json::{Value, json};

use super::{
    asks::{Sent, one},
    model::{CUSTOMERS, Deed, FIRST, What},
    plan::{Ask, DAY},
    world::{World, text},
};
use crate::{model::At, world::big};

/// The day of an instant.
fn day(at: i64) -> String {
    text(at)[..10].to_owned()
}

impl World {
    /// Makes a request of what is asked for of invoices, where there is what it needs.
    pub(super) fn invoice_request(&self, of: At, ask: &Ask) -> Option<(What, Sent)> {
        use InvoiceStatus::{Draft, Issued, Paid};

        let (tenant, now) = (&self.tenants[of], self.now());
        let on = |id: &str, operation: &str| format!("/v1/invoices/{id}/{operation}");
        let (deed, sent) = match ask {
            Ask::Issue { invoice } => {
                let is_waiting = |of: &Invoice| of.status == Draft && !of.will_auto_issue;
                let id = self.invoice(of, *invoice, is_waiting)?;
                (Deed::Issue { invoice: id.clone() }, Sent::post(on(&id, "issue"), &Value::Null))
            }
            Ask::Pay { invoice, token } => {
                let id = self.invoice(of, *invoice, |of| of.status == Issued)?;
                let token = token.then(|| json!({"shared_payment_token_id": "token"}));
                let sent = Sent::post(on(&id, "pay"), &token.unwrap_or_default());
                (Deed::Pay { invoice: id }, sent)
            }
            Ask::MarkPaid { invoice } => {
                let id = self.invoice(of, *invoice, |of| of.status == Issued)?;
                let body = json!({"payment_received_date": day(now)});
                let sent = Sent::post(on(&id, "mark_paid"), &body);
                (Deed::MarkPaid { invoice: id }, sent)
            }
            Ask::VoidInvoice { invoice } => {
                let id = self.invoice(of, *invoice, |of| of.status == Issued)?;
                let sent = Sent::post(on(&id, "void"), &Value::Null);
                (Deed::Void { invoice: id }, sent)
            }
            Ask::Note { invoice, line, percent } => {
                let is_billed = |of: &Invoice| [Issued, Paid].contains(&of.status);
                let id = self.invoice(of, *invoice, is_billed)?;
                let lines = tenant.books.lines(&id);
                let (_, line) = one(&lines, *line)?;
                let amount: BigDecimal = big(&line.amount) * BigDecimal::from(*percent) / 100;
                let amount = amount.with_scale_round(2, RoundingMode::HalfUp);
                let credited =
                    json!({"invoice_line_item_id": line.id, "amount": amount.to_plain_string()});
                let body = json!({"line_items": [credited], "reason": "duplicate"});
                (Deed::Note { invoice: id, amount }, Sent::post("/v1/credit_notes", &body))
            }
            Ask::Balance { customer, amount } => {
                let customer = customer % CUSTOMERS;
                let id = tenant.customers[customer].id.as_deref()?;
                let kind = if *amount < 0 { "decrement" } else { "increment" };
                let body = json!({"amount": amount.abs().to_string(), "type": kind});
                let path = format!("/v1/customers/{id}/balance_transactions");
                (Deed::Balance { customer, amount: *amount }, Sent::post(path, &body))
            }
            Ask::OneOff { customer, amount, ahead, automatic } => {
                let external = &tenant.customers[customer % FIRST].external;
                let (_, item) = one(&tenant.items, 0)?;
                let body = json!({
                    "external_customer_id": external, "currency": "USD",
                    "invoice_date": day(now + ahead), "will_auto_issue": automatic,
                    "net_terms": ahead / DAY,
                    "line_items": [{
                        "name": "work", "item_id": item, "start_date": day(now),
                        "end_date": day(now), "quantity": 2, "model_type": "unit",
                        "unit_config": {"unit_amount": amount.to_string()},
                    }],
                });
                (Deed::OneOff { total: 2 * amount }, Sent::post("/v1/invoices", &body))
            }
            _ => return None,
        };
        Some((What::Bill(deed), sent))
    }

    /// One of the invoices for which something holds, where there is one; now and then, any other.
    fn invoice(&self, of: At, index: usize, holds: impl Fn(&Invoice) -> bool) -> Option<String> {
        let all: Vec<_> = self.tenants[of].books.bills.iter().collect();
        let some = all.iter().filter(|(_, bill)| holds(&bill.invoice)).copied();
        let some: Vec<_> = some.collect();
        let from = if some.is_empty() || index.is_multiple_of(8) { &all } else { &some };
        one(from, index).map(|(_, (id, _))| (*id).clone())
    }
}
