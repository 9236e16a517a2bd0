//! Bodies of requests, read within limits of size and time.
use fathom_web::Refusal;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::StatusCode;
use hyper::body::{Body, Bytes, Incoming};
use std::time::Duration;

/// What is read and discarded of a refused body, so that the client reads the response.
const DISCARDED_BYTES: u64 = 2 << 20;
const DISCARDED_FOR: Duration = Duration::from_secs(5);

/// The length that the client declared.
pub(crate) fn declared(body: &Incoming) -> Option<u64> {
    body.size_hint().exact()
}

pub(crate) fn too_large(max: u64) -> Refusal {
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, format!("more than {max} bytes"))
}

pub(crate) fn slow() -> Refusal {
    Refusal::new(StatusCode::REQUEST_TIMEOUT, "timeout")
}

/// Reads a whole body.
pub(crate) async fn read(body: &mut Incoming, max: u64, limit: Duration) -> Result<Bytes, Refusal> {
    if body.size_hint().lower() > max {
        return Err(too_large(max));
    }
    let whole = Limited::new(body, usize::try_from(max).unwrap_or(usize::MAX)).collect();
    match tokio::time::timeout(limit, whole).await {
        Err(_) => Err(slow()),
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(max)),
        Ok(Err(_)) => Err(Refusal::bad("the body is truncated")),
    }
}

/// Discards the rest of a body that is not very large.
pub(crate) async fn discard(mut body: Incoming) {
    if body.size_hint().lower() > DISCARDED_BYTES {
        return;
    }
    let rest = async {
        let mut left = DISCARDED_BYTES;
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.data_ref().map_or(0, Bytes::len) as u64;
            let Some(rest) = left.checked_sub(length) else { return };
            left = rest;
        }
    };
    // A slow client has had its time.
    let _ = tokio::time::timeout(DISCARDED_FOR, rest).await;
}
