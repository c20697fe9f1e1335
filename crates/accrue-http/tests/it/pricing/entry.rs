//! What the page has of a model, and what it costs: asked of the API, over events that are not ingested.

use std::collections::BTreeSet;

use accrue::Decimal;
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::plot::{Curve, Picture};
use crate::price_models::{Scene, composites::MODELS};

/// Units of events with some properties: `os=linux`, several apart by commas.
pub(super) type Usage = (&'static str, &'static str);

/// The units of a line that its plot goes along.
const X: &str = "x";

/// The days that an example of a prorated model is served.
pub(super) const SERVED: (u32, u32) = (15, 30);

/// A model, for people who set prices.
pub(super) struct Entry {
    pub(super) model: &'static str,
    /// What it is, in a few words.
    pub(super) short: &'static str,
    /// How it turns usage into an amount.
    pub(super) says: &'static str,
    /// The object that it is set up with.
    pub(super) config: &'static str,
    /// What is counted.
    pub(super) unit: &'static str,
    /// Usage of the example.
    pub(super) usage: &'static [Usage],
    /// How the example comes to its amount, in words,
    pub(super) story: &'static str,
    /// and in numbers: a sum of products.
    pub(super) sum: &'static str,
    /// Whether its amounts are prorated to the days that are served, always.
    pub(super) is_prorated: bool,
    pub(super) plot: Plot,
    /// When to take it.
    pub(super) when: &'static str,
    /// When to take another one.
    pub(super) rather: &'static str,
}

/// What is drawn of it.
pub(super) struct Plot {
    /// The most units. Bounds of the model lie on its fiftieths.
    pub(super) to: u32,
    pub(super) lines: &'static [Line],
}

/// A line of a plot.
pub(super) struct Line {
    /// Empty, where it is the only one.
    pub(super) name: &'static str,
    /// Usage, with `x` where the plot goes along.
    pub(super) usage: &'static [Usage],
}

/// Parts that a plot is asked in.
const PARTS: u32 = 50;

impl Scene {
    /// What the example of a model costs.
    pub(super) fn example(&self, entry: &Entry) -> Decimal {
        let usage = entry.usage.iter().map(|(properties, units)| (*properties, number(units)));
        self.costs(entry, &[usage.collect()]).remove(0)
    }

    /// What the model costs along its plot.
    pub(super) fn plot(&self, entry: &Entry) -> Picture {
        let curves = entry.plot.lines.iter().flat_map(|line| self.curves(entry, line));
        let example = entry.plot.lines.iter().find_map(|line| place(entry, line));
        Picture {
            model: entry.model,
            unit: entry.unit,
            to: entry.plot.to,
            curves: curves.collect(),
            example: example.map(|x| (x, self.example(entry))),
        }
    }

    /// A line of a plot, and a second one where the amount follows the days served.
    fn curves(&self, entry: &Entry, line: &Line) -> Vec<Curve> {
        let is_composite = MODELS.contains(&entry.model);
        let to = entry.plot.to;
        let places: Vec<_> = match is_composite {
            true => ends(to).into_iter().collect(),
            false => places(to),
        };
        let usage = |x: &Decimal| {
            let units = |units| if units == X { x.clone() } else { number(units) };
            line.usage.iter().map(|(properties, of)| (*properties, units(*of))).collect()
        };
        let costs = self.costs(entry, &places.iter().map(usage).collect::<Vec<_>>());
        let points = places.into_iter().zip(costs).collect();
        if !entry.is_prorated {
            return vec![Curve { name: line.name.to_owned(), points }];
        }
        let (days, of) = SERVED;
        let prorated = |(x, cost): &(Decimal, Decimal)| (x.clone(), cost.prorate(days, of, 2));
        let less = points.iter().map(prorated).collect();
        vec![
            Curve { name: format!("all of {of} days"), points },
            Curve { name: format!("{days} of {of} days"), points: less },
        ]
    }

    /// What a price of what others come to costs beside each of several fees.
    fn composites(&self, price: Value, fees: &[Vec<(&str, Decimal)>]) -> Vec<Decimal> {
        let scene = Self::new();
        scene.invoices_from("2026-04-01T00:00:00Z");
        let mut price = price;
        price["item_id"] = scene.price("unit", &json!({}))["item_id"].clone();
        let fees = fees.iter().map(|fee| fee.iter().map(|(_, amount)| amount).sum());
        fees.map(|fee| scene.beside(&price, &fee)).collect()
    }

    /// What a model costs for each of several usages: groups of events, each for itself.
    fn costs(&self, entry: &Entry, usages: &[Vec<(&str, Decimal)>]) -> Vec<Decimal> {
        let config: Value = serde_json::from_str(entry.config).unwrap();
        if MODELS.contains(&entry.model) {
            return self.composites(self.composite(entry.model, &config), usages);
        }
        let price = self.price(entry.model, &config);
        let usages = usages.iter().enumerate();
        let events = usages.flat_map(|(place, usage)| {
            usage.iter().map(move |(properties, units)| event(place, properties, units))
        });
        let body = json!({
            "timeframe_start": "2026-03-10T00:00:00Z", "timeframe_end": "2026-03-11T00:00:00Z",
            "customer_id": self.customer, "events": events.collect::<Vec<_>>(),
            "price_evaluations": [{"price": price, "grouping_keys": ["place"]}],
        });
        let found = self.host.post("/v1/prices/evaluate_preview_events", body).ok(StatusCode::OK);
        let groups = found["data"][0]["price_groups"].as_array().unwrap();
        let place = |group: &Value| group["grouping_values"][0].as_str().unwrap().to_owned();
        let amount = |group: &Value| number(group["amount"].as_str().unwrap());
        let mut costs: Vec<_> = groups.iter().map(|of| (place(of), amount(of))).collect();
        costs.sort();
        costs.into_iter().map(|(_, amount)| amount).collect()
    }
}

/// An event at a place of a plot. Places are texts of one length, so that they have an order.
fn event(place: usize, properties: &str, units: &Decimal) -> Value {
    let pairs = properties.split(", ").filter_map(|pair| pair.split_once('='));
    let mut all: Map<_, _> = pairs.map(|(name, value)| (name.to_owned(), json!(value))).collect();
    all.insert("place".to_owned(), json!(format!("{place:04}")));
    all.insert("units".to_owned(), serde_json::from_str(&units.to_string()).unwrap());
    json!({"event_name": "use", "timestamp": "2026-03-10T11:00:00Z", "properties": all})
}

/// The ends of the parts of a plot, and of its quarters, which are told in words.
fn ends(to: u32) -> BTreeSet<Decimal> {
    let quarters = (1..4).map(|part| Decimal::from(part * to) * number("0.25"));
    (0..=PARTS).map(|part| Decimal::from(part * to) * number("0.02")).chain(quarters).collect()
}

/// The places that a plot is asked at: each part's end, and just before and after it, where amounts jump.
fn places(to: u32) -> Vec<Decimal> {
    let trace = number("0.000001");
    let around = ends(to).into_iter().flat_map(|end| [&end - &trace, end.clone(), end + &trace]);
    let most = Decimal::from(to);
    around.filter(|x| !x.is_negative() && *x <= most).collect()
}

/// The place of the example on a line, where it lies on it.
fn place(entry: &Entry, line: &Line) -> Option<Decimal> {
    let pairs = || line.usage.iter().zip(entry.usage);
    let is_on = pairs().all(|(own, of)| own.0 == of.0 && (own.1 == X || own.1 == of.1));
    let is_whole = line.usage.len() == entry.usage.len();
    let along = pairs().find(|(own, _)| own.1 == X).filter(|_| is_on && is_whole);
    along.map(|(_, (_, units))| number(units))
}

pub(super) fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

/// Adds up a sum of products, as a text has it.
pub(super) fn sum(text: &str) -> Decimal {
    let text = text.replace(" - ", " + -");
    let products = text.split(" + ").map(|product| {
        product.split(" * ").map(number).reduce(|product, factor| product * factor).unwrap()
    });
    products.sum()
}
