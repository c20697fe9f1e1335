use accrue_load_tests::{Answer, Client, Outcome, Request};

/// What says that a request is larger than is allowed.
const TOO_LARGE: u16 = 413;

/// Returns the largest size whose request is not refused as too large, by halving the sizes that are
/// in question, and none of less than a thirtieth of the most.
pub(crate) async fn largest(
    client: &mut Client,
    most: usize,
    make: impl Fn(usize) -> Request,
) -> Outcome<usize> {
    if is_allowed(client.send(&make(most)).await?)? {
        return Ok(most);
    }
    let (mut allowed, mut refused) = (0, most);
    while refused - allowed > 1.max(most / 30) {
        let size = allowed.midpoint(refused);
        match is_allowed(client.send(&make(size)).await?)? {
            true => allowed = size,
            false => refused = size,
        }
    }
    match allowed {
        0 => Err("none of the sizes is allowed".into()),
        _ => Ok(allowed),
    }
}

fn is_allowed(answer: Answer) -> Outcome<bool> {
    match answer.status {
        TOO_LARGE => Ok(false),
        _ => answer.json().map(|_| true),
    }
}
