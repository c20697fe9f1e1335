use crate::{
    Decimal, Name, PriceId, PricingUnit, Timeframe,
    price::{Converted, Part, Parts},
    rating::{Line, RateCard, RatedInterval},
    usage::{QueryTimeframe, View},
};

/// Query for costs: their timeframe, view and currency.
///
/// ```
/// use accrue::{cost::CostQuery, usage::{QueryTimeframe, View}};
///
/// let per_day = CostQuery { view: View::Periodic, ..CostQuery::default() };
/// assert_eq!(per_day.timeframe, QueryTimeframe::Current);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CostQuery {
    /// Timeframe of the costs; the current billing period where none is given.
    pub timeframe: QueryTimeframe,
    /// View: the way in which the timeframe is cut.
    pub view: View,
    /// Currency or pricing unit of the totals; the currency that is invoiced where none is given.
    pub currency: Option<PricingUnit>,
}

/// Cost of a subscription or a customer in a timeframe.
///
/// It is the cumulative cost at the end less that at the start, billing period by billing period:
/// the costs of timeframes that adjoin add up. A fee in advance falls on the first instant of its
/// period; a fee in arrears, and the amount that a minimum adds, on its end. Amounts that fall in
/// the future are not yet included.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Timeframe of the cost.
    pub timeframe: Timeframe,
    /// Currency or pricing unit of the totals.
    pub currency: PricingUnit,
    /// Cost before adjustments, of the prices that count in the currency.
    pub subtotal: Decimal,
    /// Cost after adjustments, of the prices that count in the currency.
    pub total: Decimal,
    /// Lines: one for each price, in the order of the plan version.
    pub lines: Vec<CostLine>,
}

/// Cost of one price.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CostLine {
    /// The price.
    pub price_id: PriceId,
    /// Its name.
    pub name: Name,
    /// Currency or pricing unit of its own amounts.
    pub currency: PricingUnit,
    /// Quantity that was used, or that a fee charges.
    pub quantity: Decimal,
    /// Cost before adjustments, in the price's own unit.
    pub subtotal: Decimal,
    /// Cost after adjustments, in the price's own unit.
    pub total: Decimal,
    /// Parts that the subtotal is made of: of usage, in the order of the model. There are none of a
    /// fee, and none between two instants at which a volume price has different tiers.
    pub parts: Vec<Part>,
    /// Both in the currency of the whole; `None` where the price does not count in it.
    pub converted: Option<Converted>,
}

impl Cost {
    /// Returns the totals of the lines that count, by price, in the currency of the whole, rounded
    /// to its minor unit so that they add up to the rounded total: as an invoice shows them.
    #[must_use]
    pub fn rounded(&self) -> Vec<(PriceId, Decimal)> {
        let counting = self
            .lines
            .iter()
            .filter_map(|line| Some((line.price_id, line.converted.as_ref()?.total.clone())));
        let (ids, amounts): (Vec<_>, Vec<_>) = counting.unzip();
        let rounded = crate::price::round_lines(&amounts, self.currency.places());
        ids.into_iter().zip(rounded).collect()
    }

    /// Returns a cost of zero.
    pub(crate) fn nothing(timeframe: Timeframe, currency: PricingUnit) -> Self {
        let (subtotal, total) = (Decimal::zero(), Decimal::zero());
        Self { timeframe, currency, subtotal, total, lines: Vec::new() }
    }

    /// Sums lines up, in a currency or pricing unit.
    pub(crate) fn of(
        timeframe: Timeframe,
        currency: PricingUnit,
        card: &RateCard,
        lines: Vec<Line>,
    ) -> Self {
        let lines = card.intervals.iter().zip(lines).map(|(RatedInterval { price, .. }, line)| {
            let worth = price.worth_in(&currency, card.invoiced_in);
            CostLine {
                price_id: price.id,
                name: price.name.clone(),
                currency: price.currency.clone(),
                converted: worth.map(|worth| line.converted(&worth)),
                quantity: line.quantity,
                subtotal: line.subtotal,
                total: line.total,
                parts: line.parts,
            }
        });
        let lines: Vec<_> = lines.collect();
        let mut sum = Converted::default();
        lines.iter().filter_map(|line| line.converted.as_ref()).for_each(|of| sum.add(of));
        Self { timeframe, currency, subtotal: sum.subtotal, total: sum.total, lines }
    }

    /// Gathers costs that were computed slot by slot, as the view asks for.
    pub(crate) fn gather(slots: Vec<Self>, view: View) -> Vec<Self> {
        if view != View::Cumulative {
            return slots;
        }
        let so_far = |sum: &mut Option<Self>, next: Self| {
            let all = sum.take().map_or_else(|| next.clone(), |before| before.until(next.clone()));
            *sum = Some(all.clone());
            Some(all)
        };
        slots.into_iter().scan(None, so_far).collect()
    }

    /// Appends the next cost: the result is from its own start to the end of that.
    fn until(mut self, next: Self) -> Self {
        self.timeframe = self.timeframe.until(next.timeframe.end());
        self.add(next);
        self
    }

    /// Adds the cost of another subscription.
    pub(crate) fn add(&mut self, other: Self) {
        let mut seen = Vec::new();
        for line in other.lines {
            // Of a price that is in force more than once the first goes with the first.
            let known = seen.iter().filter(|of| **of == line.price_id).count();
            seen.push(line.price_id);
            match self.lines.iter_mut().filter(|of| of.price_id == line.price_id).nth(known) {
                Some(mine) => mine.add(line),
                None => self.lines.push(line),
            }
        }
        self.subtotal += other.subtotal;
        self.total += other.total;
    }
}

impl CostLine {
    fn add(&mut self, other: Self) {
        self.parts = self.parts_of_subtotal().and(&other.parts_of_subtotal());
        self.quantity += other.quantity;
        self.subtotal += other.subtotal;
        self.total += other.total;
        if let Some(other) = other.converted {
            self.converted.get_or_insert_default().add(&other);
        }
    }

    fn parts_of_subtotal(&self) -> Parts<'_> {
        Parts { amount: &self.subtotal, parts: &self.parts }
    }
}
