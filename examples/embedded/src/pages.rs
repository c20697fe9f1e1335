use accrue::{Page, PageRequest};

/// Takes all pages of a list, from the first on. The newest rows come first, and are last in what is
/// returned.
pub(crate) async fn oldest_first<T>(
    mut page: PageRequest,
    mut list: impl AsyncFnMut(&PageRequest) -> Result<Page<T>, accrue::Error>,
) -> Result<Vec<T>, accrue::Error> {
    let mut rows = Vec::new();
    loop {
        let listed = list(&page).await?;
        rows.extend(listed.data);
        let Some(next) = listed.next_cursor else { break };
        page = page.after(next);
    }
    rows.reverse();
    Ok(rows)
}
