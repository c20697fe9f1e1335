//! Requests for license types and licenses.

use serde_json::json;

use super::{Case, Scene, case};
use crate::served::scene::{license as new_license, license_type as new_type};

/// A request for each operation, or several where it does different things.
pub(super) fn all(Scene { license_type, licensed, license, .. }: &Scene) -> Vec<Case> {
    let bob = new_license(licensed, license_type, "bob");
    let deactivate = |end| {
        let path = format!("/licenses/{license}/deactivate");
        case("POST /licenses/{license_id}/deactivate", path, &end, 200)
    };
    vec![
        case("POST /license_types", "/license_types".to_owned(), &new_type(), 201),
        case("POST /licenses", "/licenses".to_owned(), &bob, 201),
        deactivate(json!({})),
        deactivate(json!({"end_date": "2026-03-20"})),
    ]
}
