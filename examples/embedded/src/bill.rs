use accrue::{Account, customer::Customer, invoice::Invoice};

use crate::{reading::Reading, setup::Setup};

/// An invoice, as the customer that it is for reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bill {
    /// The customer.
    pub customer: Customer,
    /// The invoice.
    pub invoice: Invoice,
}

impl Bill {
    /// Finds the invoice with the greatest total, the first of them where there are several; none
    /// where nothing was invoiced.
    pub(crate) async fn greatest(
        account: &Account,
        setup: &Setup,
        readings: &[Reading],
    ) -> Result<Option<Self>, accrue::Error> {
        let of_all = setup.customers().zip(readings);
        let invoices = of_all.flat_map(|((customer, _), reading)| {
            reading.invoices.iter().map(move |invoice| (customer.clone(), invoice))
        });
        let greatest =
            invoices.reduce(
                |greatest, other| {
                    if other.1.total > greatest.1.total { other } else { greatest }
                },
            );
        let Some((customer, invoice)) = greatest else { return Ok(None) };
        let customer = account.fetch_customer(customer).await?;
        Ok(Some(Self { customer, invoice: invoice.clone() }))
    }
}
