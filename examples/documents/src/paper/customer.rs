use accrue::{Carried, customer::Customer};
use serde::{Deserialize, de::DeserializeOwned};

use super::Party;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Address {
    line1: Option<String>,
    line2: Option<String>,
    city: Option<String>,
    state: Option<String>,
    postal_code: Option<String>,
    country: Option<String>,
}

#[derive(Deserialize)]
struct TaxId {
    country: String,
    value: String,
}

/// Returns whom a document is for, and where goods go, as the addressee of the invoice has it.
pub(super) fn parties(customer: &Customer, addressee: &Carried) -> Vec<Party> {
    let mut lines = vec![customer.name.to_string()];
    lines.extend(address(addressee, "billing_address"));
    lines.push(customer.email.to_string());
    if let Some(TaxId { country, value }) = read(addressee, "tax_id") {
        lines.push(format!("Tax ID {country} {value}"));
    }
    let mut parties = vec![Party { title: "Billed to".to_owned(), lines }];
    let shipping = address(addressee, "shipping_address");
    if !shipping.is_empty() {
        let name = vec![customer.name.to_string()];
        let lines = [name, shipping].concat();
        parties.push(Party { title: "Shipped to".to_owned(), lines });
    }
    parties
}

fn address(addressee: &Carried, field: &str) -> Vec<String> {
    let Address { line1, line2, city, state, postal_code, country } =
        read(addressee, field).unwrap_or_default();
    let words = |of: [Option<String>; 2]| of.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let lines = [
        line1.unwrap_or_default(),
        line2.unwrap_or_default(),
        words([postal_code, city]),
        words([state, country]),
    ];
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

fn read<T: DeserializeOwned>(addressee: &Carried, field: &str) -> Option<T> {
    addressee.get(field).and_then(|text| serde_json::from_str(text).ok())
}
