use crate::{
    Decimal, Name, PriceId, PricingUnit, Timeframe,
    price::Part,
    rating::{Line, RateCard, RatedInterval},
    usage::View,
};

/// Which costs to compute, and how to cut them.
///
/// ```
/// use accrue::{cost::CostQuery, usage::View};
///
/// let per_day = CostQuery { view: View::Periodic, ..CostQuery::default() };
/// assert_eq!(per_day.timeframe, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CostQuery {
    /// Between which instants; the current billing period where none are given.
    pub timeframe: Option<Timeframe>,
    /// How to cut the timeframe.
    pub view: View,
    /// What the totals are in; the currency that is invoiced where nothing is given.
    pub currency: Option<PricingUnit>,
}

/// What something costs between two instants.
///
/// It is the cumulative cost at the end less that at the start, billing period by billing period:
/// what timeframes cost that adjoin adds up. A fee in advance falls on the first instant of its
/// period; a fee in arrears, and what a minimum adds, on its end. What falls in the future is not
/// yet there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Between which instants.
    pub timeframe: Timeframe,
    /// What the totals are in.
    pub currency: PricingUnit,
    /// The cost before adjustments, of the prices that count in the currency.
    pub subtotal: Decimal,
    /// The cost after adjustments, of the prices that count in the currency.
    pub total: Decimal,
    /// One line for each price, in the order of the plan version.
    pub lines: Vec<CostLine>,
}

/// What one price costs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CostLine {
    /// The price.
    pub price_id: PriceId,
    /// Its name.
    pub name: Name,
    /// What its own amounts are in.
    pub currency: PricingUnit,
    /// How many were used, or owed.
    pub quantity: Decimal,
    /// The cost before adjustments, in the price's own unit.
    pub subtotal: Decimal,
    /// The cost after adjustments, in the price's own unit.
    pub total: Decimal,
    /// What the subtotal is made of, where it is what was used from the begin of one billing period
    /// on.
    pub parts: Vec<Part>,
    /// How much of the currency of the whole one of the price's unit is worth; `None` where the
    /// price does not count.
    pub worth: Option<Decimal>,
}

impl Cost {
    /// Returns the totals of the lines that count, in the currency of the whole, rounded to its
    /// minor unit so that they add up to the rounded total: as an invoice shows them.
    #[must_use]
    pub fn rounded(&self) -> Vec<(PriceId, Decimal)> {
        let counting = self.lines.iter().filter_map(|line| {
            let worth = line.worth.clone()?;
            Some((line.price_id, line.total.clone() * worth))
        });
        let (ids, amounts): (Vec<_>, Vec<_>) = counting.unzip();
        let rounded = crate::price::round_lines(&amounts, self.currency.places());
        ids.into_iter().zip(rounded).collect()
    }

    /// What costs nothing.
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
        let lines =
            card.intervals.iter().zip(lines).map(|(RatedInterval { price, .. }, line)| CostLine {
                price_id: price.id,
                name: price.name.clone(),
                currency: price.currency.clone(),
                quantity: line.quantity,
                subtotal: line.subtotal,
                total: line.total,
                parts: line.parts,
                worth: price.worth_in(&currency, card.invoiced_in),
            });
        let lines: Vec<_> = lines.collect();
        let sum = |amount: fn(&CostLine) -> &Decimal| {
            let worth = lines
                .iter()
                .filter_map(|line| line.worth.clone().map(|worth| amount(line).clone() * worth));
            worth.sum()
        };
        let (subtotal, total) = (sum(|line| &line.subtotal), sum(|line| &line.total));
        Self { timeframe, currency, subtotal, total, lines }
    }

    /// Makes what is asked for of costs that were computed slot by slot.
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

    /// Adds what comes next: the cost from its own start to the end of that.
    fn until(mut self, next: Self) -> Self {
        self.timeframe = self.timeframe.until(next.timeframe.end());
        self.add(next);
        self
    }

    /// Adds what another subscription costs.
    pub(crate) fn add(&mut self, other: Self) {
        for line in other.lines {
            match self.lines.iter_mut().find(|mine| mine.price_id == line.price_id) {
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
        self.quantity += other.quantity;
        self.subtotal += other.subtotal;
        self.total += other.total;
        self.parts = Vec::new();
    }
}
