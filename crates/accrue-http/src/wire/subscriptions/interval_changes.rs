use accrue::{
    AdjustmentId, AdjustmentIntervalId, ExternalId, Fraction, JsonNumber, Patch, PriceId,
    PriceIntervalId, Timestamp, Zone,
    expression::Expression,
    plan::PlanPrice,
    price::{Adjustments, Discount},
    subscription::{
        AdjustmentIntervalEdit, IntervalAdjustment, IntervalChanges, IntervalDate,
        NewAdjustmentInterval, NewPriceInterval, PriceIntervalEdit, UsageCustomers,
    },
};

use crate::{
    json::Json,
    problem::{Problem, Violations},
    shape::{
        Describe, Fields, Given, LooseAmount, Maybe, Read, Reader, Schema, Whole, choices, request,
    },
    wire::{
        adjustments::{AdjustmentIn, AnyDiscountType},
        dates::Date,
        parameters::NoParameters,
        prices::{FloatingPrice, NewAllocationPriceIn},
    },
};

request! {
    /// Changes to the intervals of a subscription: what is edited is so before more is added.
    pub(crate) struct ChangeIntervals {
        /// Price intervals to add.
        add: Given<Vec<NewPriceIntervalIn>>,
        /// Price intervals to edit.
        edit: Given<Vec<PriceIntervalEditIn>>,
        /// Adjustment intervals to add.
        add_adjustments: Given<Vec<NewAdjustmentIntervalIn>>,
        /// Adjustment intervals to edit.
        edit_adjustments: Given<Vec<AdjustmentIntervalEditIn>>,
        /// True if usage up to an end within a period is billed with the end of that: of what is added or edited
        /// here with an end, and does not say so itself.
        can_defer_billing: Option<bool>,
        /// False if it is refused where an issued invoice would be void or credited.
        allow_invoice_credit_or_void: Option<bool>,
    }

    /// A price interval to add.
    pub(crate) struct NewPriceIntervalIn open => names_one_price {
        /// First instant that bills.
        start_date: DateOrWord,
        /// First instant after it: none where none is given.
        end_date: Option<DateOrWord>,
        /// Id of the price.
        price_id: Option<PriceId>,
        /// External id of the price.
        external_price_id: Option<ExternalId>,
        /// Price as one is created, for this interval.
        price: Option<FloatingPrice>,
        /// Credits that are given with each period, in place of a price.
        allocation_price: Option<NewAllocationPriceIn>,
        /// Condition on the events that count, beside that of the metric: the subscription's where none is given.
        filter: Option<Expression>,
        /// Customers whose usage counts: the subscription's where none are given.
        usage_customer_ids: Option<UsageCustomers>,
        /// True if usage up to an end within a period is billed with the end of that: of no effect on a fee.
        can_defer_billing: Option<bool>,
        /// Quantities of a fee, each from a date on.
        fixed_fee_quantity_transitions: Option<Vec<QuantityTransitionIn>>,
        /// Discounts of this interval alone.
        discounts: Option<Vec<IntervalDiscountIn>>,
        /// Least amount of a billing period, for this interval alone.
        minimum_amount: Option<LooseAmount>,
        /// Greatest amount of a billing period, for this interval alone.
        maximum_amount: Option<LooseAmount>,
        /// Values of parameters of the metric: no metric has any.
        metric_parameter_overrides: Option<NoParameters>,
    }

    /// An edit of a price interval: what is left out stays.
    pub(crate) struct PriceIntervalEditIn open {
        /// Id of the price interval.
        price_interval_id: PriceIntervalId,
        /// First instant that bills.
        start_date: Given<DateOrWord>,
        /// First instant after it: null for none. One that is its start removes the interval.
        end_date: Maybe<DateOrWord>,
        /// Quantities of a fee, in place of all that it had; null for the price's own.
        fixed_fee_quantity_transitions: Maybe<Vec<QuantityTransitionIn>>,
        /// Day of the month on which its billing periods begin.
        billing_cycle_day: Option<Whole<1, 31>>,
        /// True if usage up to an end within a period is billed with the end of that: of no effect on a fee.
        can_defer_billing: Option<bool>,
        /// Condition on the events that count, of all of the interval; null for none.
        filter: Maybe<Expression>,
        /// Customers whose usage counts, for all of the interval; null for the customer alone.
        usage_customer_ids: Maybe<UsageCustomers>,
        /// Values of parameters of the metric: no metric has any.
        metric_parameter_overrides: Option<NoParameters>,
    }

    /// An adjustment interval to add.
    pub(crate) struct NewAdjustmentIntervalIn open => names_one_adjustment {
        /// First instant.
        start_date: DateOrWord,
        /// First instant after it: none where none is given.
        end_date: Option<DateOrWord>,
        /// Adjustment of any plan or subscription.
        adjustment_id: Option<AdjustmentId>,
        /// Adjustment for this interval.
        adjustment: Option<AdjustmentIn>,
    }

    /// An edit of an adjustment interval: what is left out stays.
    pub(crate) struct AdjustmentIntervalEditIn open {
        /// Id of the adjustment interval.
        adjustment_interval_id: AdjustmentIntervalId,
        /// First instant.
        start_date: Given<DateOrWord>,
        /// First instant after it: null for none. One that is its start removes the interval.
        end_date: Maybe<DateOrWord>,
    }

    /// The quantity of a fee from a date on.
    pub(crate) struct QuantityTransitionIn open {
        /// Start of the quantity.
        effective_date: Date,
        /// Quantity.
        quantity: JsonNumber,
    }

    /// A discount of one interval. It needs the member that its type is named after.
    struct IntervalDiscountFields open {
        /// Type of the discount: that of bands is none of one price.
        discount_type: AnyDiscountType,
        /// Amount that is taken off, once in each billing period.
        amount_discount: Option<LooseAmount>,
        /// Fraction that is taken off, from 0 to 1.
        percentage_discount: Option<LooseAmount>,
        /// Number of units that are taken off.
        usage_discount: Option<LooseAmount>,
    }
}

/// A date, or a word for one (subscriptions 2.2).
#[derive(Clone, Debug)]
pub(crate) enum DateOrWord {
    Date(Date),
    Word(TermWord),
}

/// A word for the start or the end of the current period.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TermWord {
    Start,
    End,
}

choices! {
    "BillingCycleRelativeDate" TermWord {
        "start_of_term" => TermWord::Start,
        "end_of_term" => TermWord::End,
    }
}

impl Read for DateOrWord {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        match json {
            Json::String(text) if text == "start_of_term" => Some(Self::Word(TermWord::Start)),
            Json::String(text) if text == "end_of_term" => Some(Self::Word(TermWord::End)),
            json => Date::read(json, at, reader).map(Self::Date),
        }
    }
}

impl Describe for DateOrWord {
    fn schema() -> Schema {
        Schema::AnyOf(vec![TermWord::schema(), Date::schema()])
    }
}

/// A discount of one interval.
#[derive(Clone, Debug)]
pub(crate) struct IntervalDiscountIn(Discount);

impl Describe for IntervalDiscountIn {
    fn schema() -> Schema {
        IntervalDiscountFields::schema()
    }
}

impl Read for IntervalDiscountIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let fields = IntervalDiscountFields::read(json, at, reader)?;
        let (member, value) = match fields.discount_type {
            AnyDiscountType::Amount => ("amount_discount", fields.amount_discount),
            AnyDiscountType::Percentage => ("percentage_discount", fields.percentage_discount),
            AnyDiscountType::Usage => ("usage_discount", fields.usage_discount),
            AnyDiscountType::TieredPercentage => {
                return reader.wrong(&format!("{at}/discount_type"), "is none of one price");
            }
        };
        let at = format!("{at}/{member}");
        let Some(LooseAmount(value)) = value else {
            return reader.wrong(&at, "is missing, which its type needs");
        };
        let discount = match fields.discount_type {
            AnyDiscountType::Amount => Discount::Amount(value),
            AnyDiscountType::Usage => Discount::Usage(value),
            _ => match Fraction::try_from(value) {
                Ok(fraction) => Discount::Percentage(fraction),
                Err(error) => return reader.wrong(&at, error.to_string()),
            },
        };
        Some(Self(discount))
    }
}

impl From<IntervalDiscountIn> for Discount {
    fn from(IntervalDiscountIn(discount): IntervalDiscountIn) -> Self {
        discount
    }
}

fn names_one_price(fields: &Fields<'_>, reader: &mut Reader) {
    fields.names_one_of(&["price_id", "external_price_id", "price", "allocation_price"], reader);
}

fn names_one_adjustment(fields: &Fields<'_>, reader: &mut Reader) {
    fields.names_one_of(&["adjustment_id", "adjustment"], reader);
}

impl ChangeIntervals {
    /// Tells whether issued invoices are to stay as they are.
    pub(crate) fn leaves_invoices(&self) -> bool {
        self.allow_invoice_credit_or_void == Some(false)
    }

    /// Tells whether a date of it is one of the customer's zone.
    pub(crate) fn has_local_date(&self) -> bool {
        let (add, edit) = (self.add.0.iter().flatten(), self.edit.0.iter().flatten());
        let add = add.flat_map(|of| {
            [Some(&of.start_date), of.end_date.as_ref()]
                .into_iter()
                .flatten()
                .filter_map(DateOrWord::date)
                .chain(
                    of.fixed_fee_quantity_transitions.iter().flatten().map(|of| &of.effective_date),
                )
        });
        let edit = edit.flat_map(|of| {
            let transitions = of.fixed_fee_quantity_transitions.value().into_iter().flatten();
            [of.start_date.0.as_ref(), of.end_date.value()]
                .into_iter()
                .flatten()
                .filter_map(DateOrWord::date)
                .chain(transitions.map(|of| &of.effective_date))
        });
        let adjusted = self.add_adjustments.0.iter().flatten();
        let adjusted = adjusted.flat_map(|of| [Some(&of.start_date), of.end_date.as_ref()]);
        let edited = self.edit_adjustments.0.iter().flatten();
        let edited = edited.flat_map(|of| [of.start_date.0.as_ref(), of.end_date.value()]);
        let of_adjustments = adjusted.chain(edited).flatten().filter_map(DateOrWord::date);
        add.chain(edit).chain(of_adjustments).any(Date::is_local)
    }

    /// Makes the changes for the engine, where dates are those of a zone.
    pub(crate) fn into_changes(self, zone: &Zone) -> Result<IntervalChanges, Problem> {
        let defers = self.can_defer_billing;
        Ok(IntervalChanges {
            edit: each("edit", self.edit, |of, at| of.into_edit(defers, zone, at))?,
            add: each("add", self.add, |of, at| of.into_new(defers, zone, at))?,
            edit_adjustments: each("edit_adjustments", self.edit_adjustments, |of, at| {
                of.into_edit(zone, at)
            })?,
            add_adjustments: each("add_adjustments", self.add_adjustments, |of, at| {
                of.into_new(zone, at)
            })?,
        })
    }
}

/// Makes something of each entry of a list, with the pointer to it.
fn each<T, U>(
    list: &str,
    all: Given<Vec<T>>,
    make: impl Fn(T, &str) -> Result<U, Problem>,
) -> Result<Vec<U>, Problem> {
    let all = all.0.into_iter().flatten().enumerate();
    all.map(|(index, of)| make(of, &format!("/{list}/{index}"))).collect()
}

/// Refuses an entry that names nothing: its reader has told of it already.
pub(super) fn unnamed(at: &str) -> Problem {
    Violations::one(at, "names nothing").into()
}

impl DateOrWord {
    const fn date(&self) -> Option<&Date> {
        match self {
            Self::Date(date) => Some(date),
            Self::Word(_) => None,
        }
    }

    fn decide(&self, zone: &Zone, at: &str) -> Result<IntervalDate, Problem> {
        Ok(match self {
            Self::Date(date) => IntervalDate::At(date.in_zone(zone, at)?),
            Self::Word(TermWord::Start) => IntervalDate::StartOfTerm,
            Self::Word(TermWord::End) => IntervalDate::EndOfTerm,
        })
    }

    fn decide_start(
        of: Option<&Self>,
        zone: &Zone,
        at: &str,
    ) -> Result<Option<IntervalDate>, Problem> {
        of.map(|date| date.decide(zone, &format!("{at}/start_date"))).transpose()
    }

    fn decide_end(of: &Maybe<Self>, zone: &Zone, at: &str) -> Result<Patch<IntervalDate>, Problem> {
        Ok(match of {
            Maybe::Absent => Patch::Keep,
            Maybe::Null => Patch::Clear,
            Maybe::Value(date) => Patch::Set(date.decide(zone, &format!("{at}/end_date"))?),
        })
    }
}

/// Makes the adjustments of one interval alone.
pub(super) fn adjustments(
    discounts: Option<Vec<IntervalDiscountIn>>,
    minimum: Option<LooseAmount>,
    maximum: Option<LooseAmount>,
) -> Adjustments {
    let amount = |of: Option<LooseAmount>| of.map(|LooseAmount(amount)| amount);
    let discounts = discounts.into_iter().flatten();
    Adjustments {
        discounts: discounts.map(|IntervalDiscountIn(discount)| discount).collect(),
        minimum: amount(minimum),
        maximum: amount(maximum),
    }
}

fn quantities(
    all: Vec<QuantityTransitionIn>,
    zone: &Zone,
    at: &str,
) -> Result<Vec<(Timestamp, accrue::Decimal)>, Problem> {
    let all = all.into_iter().enumerate();
    let all = all.map(|(index, QuantityTransitionIn { effective_date, quantity })| {
        let at = format!("{at}/fixed_fee_quantity_transitions/{index}/effective_date");
        Ok((effective_date.in_zone(zone, &at)?, quantity.0))
    });
    all.collect()
}

impl NewPriceIntervalIn {
    fn into_new(
        self,
        defers: Option<bool>,
        zone: &Zone,
        at: &str,
    ) -> Result<NewPriceInterval, Problem> {
        let stored = self.price_id.map(PlanPrice::from).or(self.external_price_id.map(Into::into));
        let price = stored.or(self.price.map(|price| price.into_price().into()));
        let price = price.or(self.allocation_price.map(|new| new.into_price().into()));
        let price = price.ok_or_else(|| unnamed(at))?;
        let start = self.start_date.decide(zone, &format!("{at}/start_date"))?;
        let end = self.end_date.map(|date| date.decide(zone, &format!("{at}/end_date")));
        let transitions = self.fixed_fee_quantity_transitions.unwrap_or_default();
        let defers = defers.filter(|_| end.is_some());
        Ok(NewPriceInterval {
            end_date: end.transpose()?,
            quantities: quantities(transitions, zone, at)?,
            adjustments: adjustments(self.discounts, self.minimum_amount, self.maximum_amount),
            filter: self.filter,
            usage_customers: self.usage_customer_ids,
            can_defer_billing: self.can_defer_billing.or(defers).unwrap_or_default(),
            ..NewPriceInterval::new(price, start)
        })
    }
}

impl PriceIntervalEditIn {
    fn into_edit(
        self,
        defers: Option<bool>,
        zone: &Zone,
        at: &str,
    ) -> Result<PriceIntervalEdit, Problem> {
        let defers = defers.filter(|_| self.end_date.value().is_some());
        let quantities = match self.fixed_fee_quantity_transitions {
            Maybe::Absent => None,
            Maybe::Null => Some(Vec::new()),
            Maybe::Value(all) => Some(quantities(all, zone, at)?),
        };
        let day = self.billing_cycle_day.map(|day| u8::try_from(day.0).unwrap_or(u8::MAX));
        Ok(PriceIntervalEdit {
            start_date: DateOrWord::decide_start(self.start_date.0.as_ref(), zone, at)?,
            end_date: DateOrWord::decide_end(&self.end_date, zone, at)?,
            quantities,
            billing_cycle_day: day,
            filter: self.filter.into(),
            usage_customers: self.usage_customer_ids.into(),
            can_defer_billing: self.can_defer_billing.or(defers),
            ..PriceIntervalEdit::new(self.price_interval_id)
        })
    }
}

impl NewAdjustmentIntervalIn {
    fn into_new(self, zone: &Zone, at: &str) -> Result<NewAdjustmentInterval, Problem> {
        let new = self.adjustment.map(|AdjustmentIn(new)| IntervalAdjustment::from(new));
        let adjustment = self.adjustment_id.map(Into::into).or(new);
        let adjustment = adjustment.ok_or_else(|| unnamed(at))?;
        let start = self.start_date.decide(zone, &format!("{at}/start_date"))?;
        let end = self.end_date.map(|date| date.decide(zone, &format!("{at}/end_date")));
        Ok(NewAdjustmentInterval {
            end_date: end.transpose()?,
            ..NewAdjustmentInterval::new(adjustment, start)
        })
    }
}

impl AdjustmentIntervalEditIn {
    fn into_edit(self, zone: &Zone, at: &str) -> Result<AdjustmentIntervalEdit, Problem> {
        Ok(AdjustmentIntervalEdit {
            start_date: DateOrWord::decide_start(self.start_date.0.as_ref(), zone, at)?,
            end_date: DateOrWord::decide_end(&self.end_date, zone, at)?,
            ..AdjustmentIntervalEdit::new(self.adjustment_interval_id)
        })
    }
}
