use super::NewPrice;
use crate::{
    Error,
    item::Item,
    metric::{Function, Metric, MetricStatus},
};

impl NewPrice {
    /// Refuses a price of an item or a metric that no new price can have.
    ///
    /// Cells cannot have the latest value: each would have one of its own, with the event that it came from,
    /// and the running total of a billing period would not fit a row. Invoices break down what adds up over the
    /// values of a property.
    pub(crate) fn check_uses(&self, item: &Item, metric: Option<&Metric>) -> Result<(), Error> {
        if item.archived_at.is_some() {
            return Err(Error::constraint(format!("the item {} is archived", item.id)));
        }
        let Some(metric) = metric else { return Ok(()) };
        if metric.status == MetricStatus::Archived {
            return Err(Error::constraint(format!("the metric {} is archived", metric.id)));
        }
        let function = metric.sql.function();
        let model = self.charge.model();
        if model.is_divided() && matches!(function, Function::Latest(_)) {
            let model = model.model_type();
            let detail = format!("a {model} cannot rate the latest value of a property");
            return Err(Error::constraint(detail));
        }
        if let (Some(_), Function::Latest(_)) = (&self.dimensional_price_configuration, function) {
            let detail = "a dimensional price cannot rate the latest value of a property";
            return Err(Error::constraint(detail));
        }
        let adds_up =
            matches!(function, Function::CountAll | Function::Count(_) | Function::Sum(_));
        if self.invoice_grouping_key.is_some() && !adds_up {
            let detail = "an invoice breaks down what a metric counts or sums, and nothing else";
            return Err(Error::constraint(detail));
        }
        Ok(())
    }
}
