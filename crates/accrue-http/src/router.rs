use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use crate::{
    json::Json,
    operation::{Method, Operation},
};

/// Finds the operation of a request.
#[derive(Debug)]
pub(crate) struct Router {
    base: String,
    paths: matchit::Router<BTreeMap<Method, &'static Operation>>,
}

/// The operation of a request, and the parameters of its path.
pub(crate) struct Route {
    pub(crate) operation: &'static Operation,
    pub(crate) parameters: Vec<Json>,
}

impl Router {
    pub(crate) fn new(base: &str, operations: impl Iterator<Item = &'static Operation>) -> Self {
        let mut methods: BTreeMap<String, BTreeMap<Method, &'static Operation>> = BTreeMap::new();
        for operation in operations {
            methods.entry(shape(operation.path)).or_default().insert(operation.method, operation);
        }
        let mut paths = matchit::Router::new();
        for (path, methods) in methods {
            paths.insert(path, methods).expect("the paths of the API do not contradict each other");
        }
        Self { base: base.to_owned(), paths }
    }

    /// Finds what is asked for. A path that is known with another method is not (§7).
    pub(crate) fn find(&self, method: &http::Method, path: &str) -> Option<Route> {
        let path = path.strip_prefix(&self.base)?;
        let found = self.paths.at(path).ok()?;
        let operation = *found.value.get(&Method::of(method)?)?;
        // A slash may be in an id, encoded.
        let decode = |text: &str| {
            let text = percent_decode_str(text).decode_utf8().ok()?;
            Some(Json::String(text.into_owned()))
        };
        let parameters: Option<_> = found.params.iter().map(|(_, text)| decode(text)).collect();
        Some(Route { operation, parameters: parameters? })
    }
}

/// Names the parameters of a path by their places: operations on one path name them differently.
fn shape(path: &str) -> String {
    let mut place = 0_usize;
    let segments = path.split('/').map(|segment| {
        if segment.starts_with('{') {
            place = place.saturating_add(1);
            format!("{{{place}}}")
        } else {
            segment.to_owned()
        }
    });
    segments.collect::<Vec<_>>().join("/")
}
