use accrue::{Account, account::Configuration};

/// Has everybody invoiced who subscribes from now on.
pub(crate) async fn turn_invoices_on(account: &Account) -> Result<(), accrue::Error> {
    let mut configuration = Configuration::default();
    configuration.features.invoices = true;
    account.configure(configuration).await?;
    Ok(())
}
