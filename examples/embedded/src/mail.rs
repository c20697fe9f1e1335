use accrue::{Account, PageRequest, limits, webhook::Message};

use crate::{Error, error::Doing as _};

/// Hands every message that waits to `take`, also those that come of what it does: a host would send
/// them on. They are acknowledged once they were taken.
pub(crate) async fn deliver(
    account: &Account,
    mut take: impl AsyncFnMut(&Message) -> Result<(), Error>,
) -> Result<(), Error> {
    let page =
        PageRequest::first_of_messages(limits::MESSAGE_PAGE_ROWS).doing("read the messages")?;
    loop {
        let waiting = account.list_messages(&page).await.doing("read the messages")?.data;
        if waiting.is_empty() {
            return Ok(());
        }
        for message in &waiting {
            take(message).await?;
        }
        let places = waiting.iter().map(|message| message.place);
        account.acknowledge(places).await.doing("acknowledge the messages")?;
    }
}
