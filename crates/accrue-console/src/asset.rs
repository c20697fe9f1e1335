//! Files that pages load: in the program, under names that change with what they say.

use std::sync::LazyLock;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

/// A file.
pub(crate) struct Asset {
    /// Its name, with the first digits of its SHA-256.
    pub(crate) name: String,
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
}

/// The style sheet of all pages.
pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("console", "css", "text/css; charset=utf-8", include_str!("asset/console.css"))
});

/// The script of all pages: they work without.
pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("asset/console.js");
    Asset::new("console", "js", "text/javascript; charset=utf-8", text)
});

/// The sign of the console.
pub(crate) static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon", "svg", "image/svg+xml", include_str!("asset/icon.svg")));

impl Asset {
    fn new(stem: &str, end: &str, content_type: &'static str, text: &'static str) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        let digits: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let body = Bytes::from_static(text.as_bytes());
        Self { name: format!("{stem}-{digits}.{end}"), content_type, body }
    }

    /// Finds a file by its name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        [&*STYLE, &*SCRIPT, &*ICON].into_iter().find(|asset| asset.name == name)
    }
}
