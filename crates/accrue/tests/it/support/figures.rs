//! What rows say of figures, wherever those are kept: in rows of their own, or open in the head of their
//! customer.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Tables of figures, and of what tells which of them count.
const TABLES: &[&str] =
    &["bucket", "distinct_value", "total", "cell_total", "event_volume", "calendar", "overlay"];

/// Rows of figures as if none were open: what their documents say, by key. Both are texts.
pub(crate) fn figures<'r>(
    rows: impl Iterator<Item = (&'r str, &'r str)> + Clone,
) -> BTreeMap<String, String> {
    let mut figures = BTreeMap::new();
    for (key, document) in rows.clone() {
        let (table, _) = key.split_once(':').unwrap();
        let document: Value = serde_json::from_str(document).unwrap();
        if TABLES.contains(&table) && document["is_open"] != true {
            figures.insert(key.to_owned(), document);
        }
    }
    for (key, document) in rows {
        let Some(key) = key.strip_prefix("customer_head:") else { continue };
        let head: Value = serde_json::from_str(document).unwrap();
        let (account, customer) = key.split_at(key.len() - 32);
        let open = Open { account, customer, usage: &head["usage"] };
        figures.extend(open.rows());
    }
    figures.into_iter().map(|(key, document)| (key, document.to_string())).collect()
}

/// What is open of a customer.
struct Open<'u> {
    account: &'u str,
    customer: &'u str,
    usage: &'u Value,
}

impl Open<'_> {
    fn rows(&self) -> Vec<(String, Value)> {
        let mut rows = Vec::new();
        let Self { account, customer, .. } = self;
        for of in list(&self.usage["windows"]) {
            let window = instant(of[0].as_i64().unwrap() * 15 * 60_000_000);
            let slot = if of[1] == "a" { "00" } else { "01" };
            for (_, id, aggregate) in self.named(&of[2]) {
                let key = format!("bucket:{account}{customer}{}{window}{slot}", hex(&id));
                rows.push((key, json!({"v": 1, "aggregate": aggregate})));
            }
        }
        for of in list(&self.usage["hours"]) {
            let hour = instant(of[0].as_i64().unwrap() * 60 * 60_000_000);
            let key = format!("event_volume:{account}{hour}{customer}");
            rows.push((key, json!({"v": 1, "events": of[1]})));
        }
        for of in list(&self.usage["totals"]) {
            let [start, end] = [&of[1], &of[2]].map(|at| instant(text(at).parse().unwrap()));
            let place = format!("{account}{}{start}{end}", hex(text(&of[0])));
            for (table, kind, member) in
                [("total", "metrics", "total"), ("cell_total", "cells", "cells")]
            {
                let own = self.named(&of[4]).into_iter().filter(|(of, ..)| *of == kind);
                let own: serde_json::Map<_, _> = own.map(|(_, id, of)| (id, of)).collect();
                if !own.is_empty() {
                    rows.push((format!("{table}:{place}"), json!({"v": 1, member: own})));
                }
            }
        }
        rows
    }

    /// Figures with their names, and which kind of names that is.
    fn named(&self, figures: &Value) -> Vec<(&'static str, String, Value)> {
        let names = ["metrics", "cells"].into_iter().flat_map(|kind| {
            list(&self.usage[kind]).iter().map(move |id| (kind, text(id).to_owned()))
        });
        let named = names.zip(list(figures)).filter(|(_, figure)| !figure.is_null());
        named.map(|((kind, id), figure)| (kind, id, figure.clone())).collect()
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn hex(id: &str) -> String {
    id.replace('-', "")
}

fn instant(micros: i64) -> String {
    format!("{micros:016x}")
}
