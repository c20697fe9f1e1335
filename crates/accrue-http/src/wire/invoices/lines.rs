//! Lines of invoices (invoicing 3.4).

use accrue::{
    Decimal, Description, JsonNumber, PricingUnit,
    invoice::{Invoice, InvoiceLine, LineAdjustment},
    price::{self, Adjustment, Discount, Part, PartOf},
    related::Related,
};
use serde::Serialize;

use crate::{
    shape::{Moment, Nothing, Sparse, choices, response},
    wire::{
        adjustments::{AdjustmentType, PercentageTier},
        amounts::Amount,
        price_filters::PriceFilter,
        prices::ItsPrice,
        taxes::TaxAmount,
        usage_customers::usage_customer_ids,
    },
};

response! {
    /// A line of an invoice: a price in a service period.
    pub(crate) struct InvoiceLineItem {
        /// Its id, the same from the draft on.
        id: String,
        /// Name of the price.
        name: String,
        /// Price.
        price: ItsPrice,
        /// Usage of the service period, or quantity of the fee.
        quantity: JsonNumber,
        /// Start of the service period, included.
        start_date: Moment,
        /// End of the service period, excluded.
        end_date: Moment,
        /// Amount before adjustments, in the price's own currency or unit.
        subtotal: Amount,
        /// Adjustments, in the order in which they apply.
        adjustments: Vec<MonetaryAdjustment>,
        /// Amount after adjustments.
        adjusted_subtotal: Amount,
        /// Prepaid credits that paid for it.
        credits_applied: Amount,
        /// Amount that earlier threshold invoices of the period billed, in the currency of the invoice.
        partially_invoiced_amount: Amount,
        /// Amount that it adds to the invoice before taxes, in the currency of that.
        amount: Amount,
        /// Taxes, of the amount: of a draft none.
        tax_amounts: Vec<TaxAmount>,
        /// Parts that the subtotal is made of: tiers, cells of a matrix, or values of the property that
        /// the price is broken down by.
        sub_line_items: Vec<SubLineItem>,
        /// Always null.
        grouping: Nothing,
        /// Customers whose usage was counted; null for a fee.
        usage_customer_ids: Option<Vec<String>>,
        /// Condition on the events that count, beside that of the metric; null for a fee.
        filter: Option<String>,
    }

    /// A part of a line.
    pub(crate) struct SubLineItem {
        /// Type of the part.
        "type" kind: SubLineKind,
        /// Its name.
        name: String,
        /// Number of units.
        quantity: JsonNumber,
        /// Amount before adjustments.
        amount: Amount,
        /// Value of the property that the price is broken down by.
        grouping: Option<LineGroup>,
        /// Tier, of a tiered price.
        tier_config: Sparse<LineTier>,
        /// Cell, of a matrix.
        matrix_config: Sparse<LineCell>,
        /// Number of units times their scaling factor, of a matrix that has one.
        scaled_quantity: Sparse<JsonNumber>,
    }

    /// A value of the property that a price is broken down by.
    pub(crate) struct LineGroup {
        /// The property.
        key: String,
        /// Its value; null where events do not have it.
        value: Option<String>,
    }

    /// A tier of a line.
    pub(crate) struct LineTier {
        /// Lower bound.
        first_unit: JsonNumber,
        /// Upper bound; null for the last tier.
        last_unit: Option<JsonNumber>,
        /// Amount for each unit.
        unit_amount: Amount,
    }

    /// A cell of a line.
    pub(crate) struct LineCell {
        /// Values of the dimensions.
        dimension_values: Vec<Option<String>>,
    }

    /// An adjustment of a line. It has the member that its type is named after.
    pub(crate) struct MonetaryAdjustment {
        /// Its id.
        id: String,
        /// Type of the adjustment.
        adjustment_type: AdjustmentType,
        /// Amount that it adds: below zero where it takes something off.
        amount: Amount,
        /// True if it is over the whole invoice.
        is_invoice_level: bool,
        /// Filters of the prices that it applies to, where it has some.
        filters: Vec<PriceFilter>,
        /// Ids of the prices that it applies to.
        applies_to_price_ids: Vec<String>,
        /// Reason for it, of a discount over a one-off invoice.
        reason: Option<Description>,
        /// Id of the adjustment whose place it took.
        replaces_adjustment_id: Option<String>,
        /// Number of units.
        usage_discount: Sparse<JsonNumber>,
        /// Amount that is taken off.
        amount_discount: Sparse<Amount>,
        /// Fraction that is taken off.
        percentage_discount: Sparse<JsonNumber>,
        /// Fractions that are taken off bands of the amount.
        tiers: Sparse<Vec<PercentageTier>>,
        /// Least amount.
        minimum_amount: Sparse<Amount>,
        /// Item whose revenue a minimum is.
        item_id: Sparse<String>,
        /// Greatest amount.
        maximum_amount: Sparse<Amount>,
    }
}

/// The type of a part of a line.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SubLineKind {
    Matrix,
    Tier,
    /// The word has quotes of its own (invoicing 3.4).
    #[serde(rename = "'null'")]
    Null,
}

choices! {
    "SubLineItemType" SubLineKind {
        "matrix" => SubLineKind::Matrix,
        "tier" => SubLineKind::Tier,
        "'null'" => SubLineKind::Null,
    }
}

/// Tells whether a line is shown where those of quantity zero are left out: so is one that has a minimum of
/// its own (invoicing 9.3).
pub(super) fn is_shown_always(line: &InvoiceLine) -> bool {
    let has_minimum = |of: &LineAdjustment| {
        matches!(of.adjustment, Adjustment::Minimum(_)) && !of.is_invoice_level()
    };
    !line.quantity.is_zero() || line.adjustments.iter().any(has_minimum)
}

impl InvoiceLineItem {
    pub(super) fn of(line: &InvoiceLine, invoice: &Invoice, related: &Related) -> Self {
        let price = related.price(line.price_id);
        let is_usage = price.is_some_and(|price| price.charge.is_usage());
        let usage_customer_ids = is_usage.then(|| match &line.usage_customers {
            Some(of) => usage_customer_ids(of),
            None => vec![invoice.customer_id.to_string()],
        });
        let mut shown = Self::in_currency(line, &invoice.currency.into(), related);
        if let Some(own) = &invoice.discount {
            let id = own.id.to_string();
            for of in shown.adjustments.iter_mut().filter(|of| of.id == id) {
                of.filters = own.filters.iter().map(PriceFilter::from).collect();
                of.reason.clone_from(&own.reason);
            }
        }
        Self { usage_customer_ids, ..shown }
    }

    /// Writes a line by hand, which is in the currency of its invoice.
    pub(crate) fn by_hand(line: &InvoiceLine, related: &Related) -> Self {
        Self::in_currency(line, &line.currency, related)
    }

    fn in_currency(line: &InvoiceLine, invoiced: &PricingUnit, related: &Related) -> Self {
        let price = related.price(line.price_id);
        let own = |amount: &Decimal| Amount::of(amount, &line.currency);
        let adjustments = line.adjustments.iter();
        Self {
            id: line.id.to_string(),
            name: line.name.to_string(),
            price: ItsPrice::of(price, related),
            quantity: JsonNumber(line.quantity.clone()),
            start_date: line.period.start().into(),
            end_date: line.period.end().into(),
            subtotal: own(&line.subtotal),
            adjustments: adjustments.map(|of| MonetaryAdjustment::of(of, line, price)).collect(),
            adjusted_subtotal: own(&line.adjusted_subtotal),
            credits_applied: own(&line.credits_applied),
            partially_invoiced_amount: Amount::of(&line.partially_invoiced, invoiced),
            amount: Amount::of(&line.amount, invoiced),
            tax_amounts: line.tax_amounts.iter().map(|of| TaxAmount::of(of, invoiced)).collect(),
            sub_line_items: sub_lines(line),
            grouping: Nothing,
            usage_customer_ids: None,
            filter: line.filter.as_ref().map(ToString::to_string),
        }
    }
}

fn sub_lines(line: &InvoiceLine) -> Vec<SubLineItem> {
    let parts = line.sub_lines().into_iter();
    parts.filter_map(|(part, amount)| SubLineItem::of(part, &amount, &line.currency)).collect()
}

impl SubLineItem {
    fn of(part: &Part, amount: &Decimal, unit: &PricingUnit) -> Option<Self> {
        let number = |of: &Decimal| JsonNumber(of.clone());
        let mut grouping = part
            .grouping
            .as_ref()
            .map(|of| LineGroup { key: of.key.clone(), value: of.value.clone() });
        let (kind, name, tier, values) = match &part.of {
            PartOf::Group { key, value } => {
                grouping = Some(LineGroup { key: key.to_string(), value: value.clone() });
                let name = value.clone().unwrap_or_else(|| "none".to_owned());
                (SubLineKind::Null, name, None, None)
            }
            PartOf::Tier { first_unit, last_unit } => {
                let name = match last_unit {
                    Some(last) => format!("{first_unit} to {last}"),
                    None => format!("{first_unit} and above"),
                };
                let tier = LineTier {
                    first_unit: number(first_unit),
                    last_unit: last_unit.as_ref().map(number),
                    unit_amount: Amount::of(&part.unit_amount, unit),
                };
                (SubLineKind::Tier, name, Some(tier), None)
            }
            PartOf::Cell { dimension_values } => {
                let words = dimension_values.iter().map(|of| of.as_deref().unwrap_or("none"));
                let name = words.collect::<Vec<_>>().join(", ");
                (SubLineKind::Matrix, name, None, Some(dimension_values.clone()))
            }
            PartOf::DefaultCell => {
                (SubLineKind::Matrix, "Other".to_owned(), None, Some(Vec::new()))
            }
            PartOf::Named | PartOf::Whole => (SubLineKind::Null, String::new(), None, None),
            _ => return None,
        };
        let name = part.name.clone().unwrap_or(name);
        Some(Self {
            kind,
            name,
            quantity: number(&part.quantity),
            amount: Amount::of(amount, unit),
            grouping,
            tier_config: Sparse(tier),
            matrix_config: Sparse(values.map(|dimension_values| LineCell { dimension_values })),
            scaled_quantity: Sparse(part.scaled_quantity.as_ref().map(number)),
        })
    }
}

impl MonetaryAdjustment {
    fn of(of: &LineAdjustment, line: &InvoiceLine, price: Option<&price::Price>) -> Self {
        let scope = of.scope.as_deref();
        let money = |amount: &Decimal| Sparse(Some(Amount::of(amount, &line.currency)));
        let replaces = scope.and_then(|of| of.replaces_adjustment_id);
        let filters = scope.map(|of| of.filters.as_slice()).unwrap_or_default();
        let mut shown = Self {
            id: scope.map_or_else(|| of.id.to_string(), |of| of.id.to_string()),
            adjustment_type: AdjustmentType::Maximum,
            amount: Amount::of(&of.amount, &line.currency),
            is_invoice_level: of.is_invoice_level(),
            filters: filters.iter().map(PriceFilter::from).collect(),
            applies_to_price_ids: of.price_ids.iter().map(ToString::to_string).collect(),
            reason: None,
            replaces_adjustment_id: replaces.map(|id| id.to_string()),
            usage_discount: Sparse(None),
            amount_discount: Sparse(None),
            percentage_discount: Sparse(None),
            tiers: Sparse(None),
            minimum_amount: Sparse(None),
            item_id: Sparse(None),
            maximum_amount: Sparse(None),
        };
        match &of.adjustment {
            Adjustment::Discount(Discount::Usage(units)) => {
                shown.adjustment_type = AdjustmentType::UsageDiscount;
                shown.usage_discount = Sparse(Some(JsonNumber(units.clone())));
            }
            Adjustment::Discount(Discount::Amount(off)) => {
                shown.adjustment_type = AdjustmentType::AmountDiscount;
                shown.amount_discount = money(off);
            }
            Adjustment::Discount(Discount::Percentage(off)) => {
                shown.adjustment_type = AdjustmentType::PercentageDiscount;
                shown.percentage_discount = Sparse(Some(JsonNumber(off.as_decimal().clone())));
            }
            Adjustment::Discount(Discount::TieredPercentage(tiers)) => {
                shown.adjustment_type = AdjustmentType::TieredPercentageDiscount;
                shown.tiers = Sparse(Some(tiers.iter().map(PercentageTier::from).collect()));
            }
            Adjustment::Minimum(least) => {
                shown.adjustment_type = AdjustmentType::Minimum;
                shown.minimum_amount = money(least);
                let item = scope.and_then(|of| of.item_id).or(price.map(|price| price.item_id));
                shown.item_id = Sparse(item.map(|id| id.to_string()));
            }
            Adjustment::Maximum(most) => shown.maximum_amount = money(most),
            _ => {}
        }
        shown
    }
}
