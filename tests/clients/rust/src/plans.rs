//! Plans, which the client reads and does not create.

use orb_billing::ListParams;
use serde_json::json;
use time::Duration;

use crate::fixtures::{all, client, now, plan};

pub(crate) async fn one_is_read_by_both_ids() {
    let client = client();
    let described = json!({"description": "For teams", "metadata": {"tier": "2"}});
    let created = plan(described).await;
    let read = client.get_plan(&created.id).await.unwrap();
    assert_eq!(read.id, created.id);
    assert_eq!(read.external_id.as_deref(), Some(&*created.external));
    assert_eq!(read.name.as_deref(), Some("Pro"));
    assert_eq!(read.description, "For teams");
    assert_eq!(read.base_plan_id, None);
    assert_eq!(read.metadata, [("tier".to_owned(), "2".to_owned())].into());
    assert!((now(0) - read.created_at).abs() < Duration::HOUR);
    assert_eq!(client.get_plan_by_external_id(&created.external).await.unwrap(), read);
    let plain = plan(json!({})).await;
    assert_eq!(client.get_plan(&plain.id).await.unwrap().description, "");
}

pub(crate) async fn all_are_listed_in_pages() {
    let mut created = Vec::new();
    for _ in 0..3 {
        created.push(plan(json!({})).await.id);
    }
    let listed = all(client().list_plans(&ListParams::DEFAULT.page_size(2))).await;
    let listed: Vec<_> = listed.into_iter().map(|row| row.id).collect();
    created.reverse();
    assert_eq!(listed[..3], created, "newest first");
}
