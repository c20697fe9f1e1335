//! Lines by hand, and the discount over them (invoicing 9.1, 9.6).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    Invoice, InvoiceLine, InvoiceSource, InvoiceStatus, LineAdjustment, balance::check_money,
};
use crate::{
    AdjustmentIntervalId, Carried, CivilDate, Decimal, Description, Error, InvoiceLineId, ItemId,
    Metadata, Name, PriceId, Timeframe, Timestamp, Zone, limits,
    price::{
        Adjustment, Adjustments, BillingMode, Cadence, Charge, Discount, Model, Price, PriceFilter,
        PriceOrigin, Unit, round_lines,
    },
    rating::apply_adjustment,
    subscription::Lane,
};

/// Line to add to a draft by hand (invoicing 9.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewInvoiceLine {
    /// What it is for.
    pub subject: LineSubject,
    /// Day that begins its service period.
    pub start_date: CivilDate,
    /// Day that ends it: the period is over with its midnight.
    pub end_date: CivilDate,
    /// Quantity, above zero.
    pub quantity: Decimal,
    /// Amount of the whole line, in the currency of the invoice.
    pub amount: Decimal,
}

/// What a line by hand is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum LineSubject {
    /// An item, which names the line.
    Item(ItemId),
    /// The oldest item of a name that is not archived; a new one where there is none.
    Named(Name),
    /// An item, under another name.
    ItemNamed(ItemId, Name),
}

/// Discount over a one-off invoice (invoicing 3.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InvoiceDiscount {
    /// Id under which lines show it.
    pub id: AdjustmentIntervalId,
    /// The discount.
    pub discount: Discount,
    /// Filters of the lines that it reaches: it reaches those that pass all.
    pub filters: Vec<PriceFilter>,
    /// Prices of those lines.
    pub price_ids: BTreeSet<PriceId>,
    /// Reason for it.
    pub reason: Option<Description>,
}

/// What an edit did to the lines by hand of a draft (invoicing 9.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LinesEdit {
    /// It added a line.
    Added {
        /// The line.
        line_id: InvoiceLineId,
    },
    /// It removed a line.
    Removed {
        /// The line, before a discount over the invoice.
        line: Box<InvoiceLine>,
        /// Its price, which went with it.
        price: Box<Price>,
        /// Number of lines by hand that were before it.
        place: usize,
    },
}

/// What a line by hand is made of.
pub(super) struct Made {
    pub(super) name: Name,
    pub(super) item_id: ItemId,
    pub(super) period: Timeframe,
    pub(super) quantity: Decimal,
    pub(super) unit_amount: Decimal,
    /// Amount of the line, exact.
    pub(super) amount: Decimal,
}

/// Digits behind the point of an amount for each unit that does not end.
const UNIT_AMOUNT_PLACES: u32 = 10;

/// Digits behind the point within which one ends, if ever.
const ENDS_WITHIN: u32 = 64;

impl NewInvoiceLine {
    /// Adds the line to a draft, for an item, and returns its price (invoicing 9.6).
    pub(crate) fn decide(
        self,
        invoice: &mut Invoice,
        (item_id, name): (ItemId, Name),
        price_id: PriceId,
        zone: &Zone,
        now: Timestamp,
    ) -> Result<Price, Error> {
        let Self { start_date, end_date, quantity, amount, .. } = self;
        check_bounds("quantity", &quantity)?;
        if quantity <= Decimal::zero() {
            let message = format!("found {quantity}, expected more than 0");
            return Err(Error::invalid("quantity", message));
        }
        check_money("amount", &amount, invoice.currency)?;
        let most = limits::LINES_BY_HAND;
        if invoice.by_hand.len() >= most {
            return Err(Error::constraint(format!("the invoice has {most} lines by hand")));
        }
        let period = period("", start_date, end_date, zone)?;
        let unit_amount = unit_amount(&amount, &quantity);
        let made = Made { name, item_id, period, quantity, unit_amount, amount };
        Ok(invoice.add_by_hand(made, price_id, now))
    }
}

impl Invoice {
    /// Adds a line by hand, and returns its price.
    pub(super) fn add_by_hand(&mut self, made: Made, price_id: PriceId, now: Timestamp) -> Price {
        let Made { name, item_id, period, quantity, unit_amount, amount } = made;
        let price = Price {
            id: price_id,
            external_price_id: None,
            name: name.clone(),
            item_id,
            currency: self.currency.into(),
            conversion_rate: None,
            cadence: Cadence::OneTime,
            charge: Charge::Fixed {
                quantity: quantity.clone(),
                model: Model::Unit(Unit::new(unit_amount)),
                billing_mode: BillingMode::InAdvance,
            },
            adjustments: Adjustments::default(),
            invoice_grouping_key: None,
            dimensional_price_configuration: None,
            license_type_id: None,
            license_allocations: Vec::new(),
            license_grouping_key: None,
            credit_allocation: None,
            plan_phase_order: None,
            metadata: Metadata::new(),
            carried: Carried::NONE,
            origin: PriceOrigin::Account,
            created_at: now,
        };
        let line = InvoiceLine {
            id: InvoiceLineId::part_of(self.id.as_bytes(), &[price_id.as_bytes()]),
            price_id,
            lane: Lane::FIRST,
            name,
            currency: self.currency.into(),
            quantity,
            period,
            subtotal: amount.clone(),
            adjustments: Vec::new(),
            adjusted_subtotal: amount.clone(),
            credits_applied: Decimal::zero(),
            partially_invoiced: Decimal::zero(),
            tax_amounts: Vec::new(),
            amount,
            parts: Vec::new(),
            filter: None,
            usage_customers: None,
        };
        self.place_by_hand(self.by_hand.len(), line, &price);
        price
    }

    /// Takes a line by hand over from an invoice in whose place it comes, and returns its price.
    pub(crate) fn take_over(
        &mut self,
        line: &InvoiceLine,
        price: &Price,
        price_id: PriceId,
        now: Timestamp,
    ) -> Price {
        let made = Made {
            name: line.name.clone(),
            item_id: price.item_id,
            period: line.period,
            quantity: line.quantity.clone(),
            unit_amount: unit_amount(&line.amount, &line.quantity),
            amount: line.amount.clone(),
        };
        self.add_by_hand(made, price_id, now)
    }

    /// Removes a line by hand, and returns it with its place (invoicing 9.6).
    ///
    /// # Errors
    ///
    /// Where there is no such line, it is not by hand or the one of credits that are bought, or the invoice is no
    /// draft.
    pub(crate) fn remove_by_hand(
        &mut self,
        id: InvoiceLineId,
    ) -> Result<(usize, InvoiceLine), Error> {
        if !self.lines.iter().any(|line| line.id == id) {
            return Err(Error::not_found("invoice line item", id));
        }
        self.check_takes_lines()?;
        let Some(place) = self.by_hand.iter().position(|line| line.id == id) else {
            return Err(Error::constraint("the line is of a subscription, expected one by hand"));
        };
        if self.bought.is_some() && place == 0 {
            return Err(Error::constraint(
                "the line is of credits that are bought with the invoice",
            ));
        }
        Ok((place, self.take_by_hand(place)))
    }

    fn take_by_hand(&mut self, place: usize) -> InvoiceLine {
        let line = self.by_hand.remove(place);
        if let Some(discount) = &mut self.discount {
            discount.price_ids.remove(&line.price_id);
        }
        line
    }

    fn place_by_hand(&mut self, place: usize, line: InvoiceLine, price: &Price) {
        if let Some(discount) = &mut self.discount
            && PriceFilter::all_pass(&discount.filters, price)
        {
            discount.price_ids.insert(price.id);
        }
        self.by_hand.insert(place.min(self.by_hand.len()), line);
    }

    /// Returns it without an edit: with the lines, the discount and the figures that it had before, where nothing
    /// else has changed since (invoicing 17.2).
    #[must_use]
    pub fn without(&self, edit: &LinesEdit) -> Self {
        let mut before = self.clone();
        let mut lines = std::mem::take(&mut before.lines);
        lines.retain(|line| self.by_hand.iter().all(|of| of.id != line.id));
        match edit {
            LinesEdit::Added { line_id } => {
                lines.retain(|line| line.id != *line_id);
                let place = before.by_hand.iter().position(|line| line.id == *line_id);
                drop(place.map(|place| before.take_by_hand(place)));
            }
            LinesEdit::Removed { line, price, place } => {
                before.place_by_hand(*place, InvoiceLine::clone(line), price);
            }
        }
        // What is left of it is of lines that may be in pricing units.
        let (_, by_hand) = self.figures_by_hand();
        let subtotal = &self.subtotal - by_hand;
        before.show_with_lines_by_hand((lines, subtotal));
        before
    }

    /// Refuses lines by hand on what is no draft, or a draft of a threshold.
    pub(crate) fn check_takes_lines(&self) -> Result<(), Error> {
        self.check_status(&[InvoiceStatus::Draft])?;
        if self.source == InvoiceSource::Partial {
            return Err(Error::constraint("lines of a threshold invoice are those of usage alone"));
        }
        Ok(())
    }

    /// Shows the lines by hand alone.
    pub(crate) fn show_lines_by_hand(&mut self) {
        let figures = self.figures_by_hand();
        self.show(figures);
    }

    /// Shows what falls due, and behind it the lines by hand.
    pub(crate) fn show_with_lines_by_hand(
        &mut self,
        (mut lines, subtotal): (Vec<InvoiceLine>, Decimal),
    ) {
        let (by_hand, own) = self.figures_by_hand();
        lines.extend(by_hand);
        self.show((lines, subtotal + own));
    }

    /// Makes the figures of the lines by hand, with the sum of their subtotals: exact from step to step, shown
    /// rounded column by column (invoicing 7.5).
    fn figures_by_hand(&self) -> (Vec<InvoiceLine>, Decimal) {
        let places = self.currency.places();
        let exact: Vec<_> = self.by_hand.iter().map(|line| line.subtotal.clone()).collect();
        let mut adjusted = exact.clone();
        let is_reached = |line: &InvoiceLine| {
            self.discount.as_ref().is_some_and(|of| of.price_ids.contains(&line.price_id))
        };
        if let Some(InvoiceDiscount { discount, .. }) = &self.discount {
            let lines = self.by_hand.iter().enumerate();
            let reaches: Vec<_> =
                lines.filter(|(_, line)| is_reached(line)).map(|(place, _)| place).collect();
            let adjustment = Adjustment::Discount(discount.clone());
            if !reaches.is_empty() {
                apply_adjustment(&adjustment, &reaches, places, &mut adjusted);
            }
        }
        let (subtotals, shown) = (round_lines(&exact, places), round_lines(&adjusted, places));
        let columns = subtotals.iter().zip(shown);
        let lines = self.by_hand.iter().zip(columns).map(|(line, (subtotal, amount))| {
            let by = &amount - subtotal;
            // Another line's share of a minor unit may move to this one.
            let is_shown = is_reached(line) || !by.is_zero();
            let discount = self.discount.iter().filter(|_| is_shown);
            InvoiceLine {
                subtotal: subtotal.clone(),
                adjustments: discount.map(|of| of.on_a_line(by.clone())).collect(),
                adjusted_subtotal: amount.clone(),
                amount,
                ..line.clone()
            }
        });
        (lines.collect(), subtotals.iter().sum())
    }

    /// Tells whether it was made by hand.
    pub(crate) fn is_one_off(&self) -> bool {
        self.source == InvoiceSource::OneOff
    }
}

impl InvoiceDiscount {
    fn on_a_line(&self, amount: Decimal) -> LineAdjustment {
        LineAdjustment {
            id: self.id,
            start_date: None,
            scope: None,
            adjustment: Adjustment::Discount(self.discount.clone()),
            coupon_id: None,
            price_ids: self.price_ids.iter().copied().collect(),
            amount,
            is_of_invoice: true,
        }
    }
}

/// Returns the service period between two days of a zone; the field that is wrong is below a path.
pub(super) fn period(
    at: &str,
    start: CivilDate,
    end: CivilDate,
    zone: &Zone,
) -> Result<Timeframe, Error> {
    let midnight = |date: CivilDate, field: &str| {
        let day = date
            .in_zone(zone)
            .map_err(|error| Error::invalid(format!("{at}{field}"), error.to_string()));
        day.map(Timeframe::start)
    };
    let (start, end) = (midnight(start, "start_date")?, midnight(end, "end_date")?);
    Timeframe::new(start, end)
        .map_err(|error| Error::invalid(format!("{at}end_date"), error.to_string()))
}

pub(super) fn check_bounds(field: &str, number: &Decimal) -> Result<(), Error> {
    number.check_bounds().map_err(|error| Error::invalid(field, error.to_string()))
}

/// Returns an amount for each unit: to ten digits where it does not end.
fn unit_amount(amount: &Decimal, quantity: &Decimal) -> Decimal {
    let one = Decimal::from(1);
    let long = amount.share(&one, quantity, ENDS_WITHIN);
    if &long * quantity == *amount {
        long
    } else {
        amount.share(&one, quantity, UNIT_AMOUNT_PLACES)
    }
}
