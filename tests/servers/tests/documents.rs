//! Documents of invoices, found under their links, say what the API says (invoicing 4.7).

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
};

use accrue_servers_tests::{Client, Framework, Server};
use serde_json::{Value, json};

const START: [&str; 9] = [
    "--manual-clock",
    "2026-03-01T00:00:00Z",
    "--api-key",
    Server::KEY,
    "--sandbox-gateway",
    "--documents",
    "https://billing.example.com",
    "--seller",
    "Żółw & Söhne; ul. Długa 1; 00-001 Warszawa",
];

/// A server with the client that asks it.
struct Shop {
    client: Client,
    address: SocketAddr,
}

impl Shop {
    fn send(&mut self, method: &str, path: &str, body: &Value) -> Value {
        let path = format!("/v1{path}");
        let answer = self.client.send(method, &path, &[], body.to_string().as_bytes()).unwrap();
        assert!((200..300).contains(&answer.status), "{path}: {answer:?}");
        serde_json::from_str(&answer.body).unwrap()
    }

    /// Follows a link without an API key: returns the head of the answer, and its body.
    fn follow(&self, link: &Value) -> (String, Vec<u8>) {
        let path = link.as_str().unwrap().strip_prefix("https://billing.example.com").unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|of| of == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap().to_lowercase();
        (head, answer[end + 4..].to_vec())
    }

    /// Returns the text of a file, without white space.
    fn text(&self, link: &Value, name: &str) -> String {
        let (head, pdf) = self.follow(link);
        assert!(head.starts_with("http/1.1 200"), "{head}");
        assert!(head.contains("content-type: application/pdf"), "{head}");
        assert!(head.contains("referrer-policy: no-referrer"), "{head}");
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(path, &pdf).unwrap();
        squeezed(&pdf_extract::extract_text_from_mem(&pdf).unwrap())
    }

    /// Makes an invoice of 1 March with tiers, a matrix, discounts and credits, and returns its path.
    fn invoice(&mut self) -> String {
        let item = self.send("POST", "/items", &json!({"name": "Calls"}))["id"].clone();
        let metric = json!({
            "name": "calls", "description": null, "item_id": item,
            "sql": "SELECT count(*) FROM events WHERE event_name = 'call'",
        });
        let metric = self.send("POST", "/metrics", &metric)["id"].clone();
        let tiered = json!({
            "name": "Requests", "item_id": item, "cadence": "monthly", "model_type": "tiered",
            "billable_metric_id": metric,
            "tiered_config": {"tiers": [
                {"first_unit": 0, "last_unit": 100, "unit_amount": "10.00"},
                {"first_unit": 100, "last_unit": null, "unit_amount": "5.00"},
            ]},
        });
        let fee = json!({
            "name": "Rack space", "item_id": item, "cadence": "monthly", "model_type": "unit",
            "unit_config": {"unit_amount": "310.00"}, "fixed_price_quantity": 3,
            "billed_in_advance": true,
        });
        let plan = json!({
            "name": "Pro", "currency": "EUR", "prices": [{"price": tiered}, {"price": fee}],
            "default_invoice_memo": "Thank you for your order.",
        });
        let plan = self.send("POST", "/plans", &plan)["id"].clone();
        let customer = json!({
            "name": "Ελένη Παπαδοπούλου", "email": "eleni@example.com", "timezone": "Europe/Athens",
            "external_customer_id": "eleni",
            "payment_provider": "stripe_charge", "payment_provider_id": "cus_4242424242424242",
            "auto_collection": false,
            "billing_address": {
                "line1": "Οδός Ερμού 5", "line2": null, "city": "Αθήνα", "state": null,
                "postal_code": "105 63", "country": "GR",
            },
            "tax_id": {"country": "GR", "type": "eu_vat", "value": "EL123456789"},
        });
        self.send("POST", "/customers", &customer);
        let coupon = json!({
            "redemption_code": "SPRING",
            "discount": {"discount_type": "percentage", "percentage_discount": 0.1},
        });
        self.send("POST", "/coupons", &coupon);
        let subscription = json!({
            "external_customer_id": "eleni", "plan_id": plan, "net_terms": 14,
            "coupon_redemption_code": "SPRING", "auto_collection": false,
        });
        self.send("POST", "/subscriptions", &subscription);
        let event = |number: usize| {
            json!({
                "event_name": "call", "external_customer_id": "eleni", "properties": {},
                "idempotency_key": number.to_string(), "timestamp": "2026-03-01T00:00:00Z",
            })
        };
        let events: Vec<_> = (0..160).map(event).collect();
        self.send("POST", "/ingest", &json!({"events": events}));
        self.send("PUT", "/clock", &json!({"now": "2026-04-03T00:00:00Z"}));
        let found = self.send("GET", "/invoices?status[]=issued", &Value::Null);
        let newest = &found["data"][0];
        assert!(newest["line_items"].as_array().unwrap().len() == 2, "{newest}");
        format!("/invoices/{}", newest["id"].as_str().unwrap())
    }
}

/// Starts a server of each kind, and runs a test against it.
fn each(test: impl Fn(&mut Shop)) {
    for framework in Framework::ALL {
        eprintln!("{framework:?}");
        let server = Server::serve(framework, Server::open(&START).unwrap()).unwrap();
        let address = server.address();
        test(&mut Shop { client: Client::new(address), address });
        server.end().unwrap();
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Writes an amount of the API as documents do.
fn amount(of: &Value) -> String {
    let text = of.as_str().unwrap();
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |text| ("\u{2212}", text));
    let (whole, cents) = text.split_once('.').unwrap();
    match whole.len() {
        0..=3 => format!("{sign}{whole}.{cents}"),
        length => format!("{sign}{},{}.{cents}", &whole[..length - 3], &whole[length - 3..]),
    }
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(&squeezed(part)), "{part} is not in {text}");
    }
}

/// Expects every figure of an invoice.
#[track_caller]
fn has_figures(text: &str, invoice: &Value) {
    for name in ["subtotal", "total", "amount_due"] {
        has(text, &[&amount(&invoice[name])]);
    }
    for line in invoice["line_items"].as_array().unwrap() {
        has(text, &[line["name"].as_str().unwrap(), &line["quantity"].to_string()]);
        has(text, &[&amount(&line["subtotal"]), &amount(&line["amount"])]);
        for part in ["sub_line_items", "adjustments"] {
            for of in line[part].as_array().unwrap() {
                has(text, &[&amount(&of["amount"])]);
            }
        }
    }
}

#[test]
fn invoicing_4_7_an_invoice_is_a_file_that_says_what_the_api_says() {
    each(|shop| {
        let path = shop.invoice();
        let invoice = shop.send("GET", &path, &Value::Null);
        let text = shop.text(&invoice["invoice_pdf"], "served-invoice.pdf");
        has_figures(&text, &invoice);
        let number = invoice["invoice_number"].as_str().unwrap();
        has(&text, &["Żółw & Söhne", "Ελένη Παπαδοπούλου", "105 63 Αθήνα", "EL123456789", number]);
        has(&text, &["1 April 2026", "Due date", "Thank you for your order.", "0 to 100 at 10"]);
        let (head, page) = shop.follow(&invoice["hosted_invoice_url"]);
        assert!(head.contains("text/html") && head.contains("content-security-policy"), "{head}");
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains("Żółw &amp; Söhne") && page.contains(number), "{page}");
    });
}

#[test]
fn invoicing_4_7_a_renewed_file_shows_what_has_become_of_it_and_the_old_one_stays() {
    each(|shop| {
        let path = shop.invoice();
        let before = shop.send("GET", &path, &Value::Null);
        shop.send("PUT", "/clock", &json!({"now": "2026-04-05T00:00:00Z"}));
        let line = &before["line_items"][0]["id"];
        let line = json!({"invoice_line_item_id": line, "amount": "100.00"});
        let note = json!({"line_items": [line], "reason": "order_change", "memo": "As agreed."});
        let note = shop.send("POST", "/credit_notes", &note);
        let text = shop.text(&note["credit_note_pdf"], "served-note.pdf");
        has(&text, &["Credit note", note["credit_note_number"].as_str().unwrap(), "As agreed."]);
        has(&text, &[&amount(&note["subtotal"]), &amount(&note["total"])]);

        let token = json!({"shared_payment_token_id": "tok_4242424242424242"});
        let paid = shop.send("POST", &format!("{path}/pay"), &token);
        assert_eq!(paid["status"], "paid");
        assert_eq!(paid["invoice_pdf"], before["invoice_pdf"], "it is not renewed by itself");
        has_figures(&shop.text(&paid["invoice_pdf"], "served-old.pdf"), &before);
        let receipt = &paid["payment_attempts"][0];
        let text = shop.text(&receipt["receipt_pdf"], "served-receipt.pdf");
        has(&text, &["Receipt", "5 April 2026", "Amount paid", &amount(&receipt["amount"])]);

        let renewed = shop.send("POST", &format!("{path}/regenerate_invoice_pdf"), &Value::Null);
        assert_ne!(renewed["invoice_pdf"], before["invoice_pdf"]);
        let text = shop.text(&renewed["invoice_pdf"], "served-paid.pdf");
        has_figures(&text, &renewed);
        has(&text, &["It was paid on 5 April 2026", note["credit_note_number"].as_str().unwrap()]);
        let old = shop.text(&before["invoice_pdf"], "served-old.pdf");
        assert!(!old.contains("paidon") && !old.contains("Creditnote"), "{old}");
    });
}

#[test]
fn invoicing_4_7_nobody_guesses_a_link() {
    each(|shop| {
        let path = shop.invoice();
        let invoice = shop.send("GET", &path, &Value::Null);
        let link = invoice["invoice_pdf"].as_str().unwrap();
        let code = link.rsplit('/').next().unwrap();
        assert!(code.len() >= 32, "128 bits at least: {code}");
        for forged in [
            link.replace(code, &"0".repeat(code.len())),
            link.replace("/invoice/", "/page/"),
            link.replace("/acme/", "/other/").replace("/default/", "/other/"),
            "https://billing.example.com/documents/".to_owned(),
        ] {
            let (head, _) = shop.follow(&json!(forged));
            assert!(head.starts_with("http/1.1 404"), "{forged}: {head}");
        }
    });
}

#[test]
fn invoicing_3_1_the_page_of_an_invoice_is_there_for_sixty_days() {
    each(|shop| {
        let path = shop.invoice();
        let invoice = shop.send("GET", &path, &Value::Null);
        for (now, status) in [("2026-05-31T00:00:00Z", "200"), ("2026-06-01T22:00:00Z", "404")] {
            shop.send("PUT", "/clock", &json!({"now": now}));
            let (head, _) = shop.follow(&invoice["hosted_invoice_url"]);
            assert!(head.starts_with(&format!("http/1.1 {status}")), "{now}: {head}");
        }
        let (head, _) = shop.follow(&invoice["invoice_pdf"]);
        assert!(head.starts_with("http/1.1 200"), "the file stays: {head}");
    });
}
