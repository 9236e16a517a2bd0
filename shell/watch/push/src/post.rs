//! Sends a request and interprets the response.
use crate::destination::Destination;
use fathom_watch_http::{beginning, reason};
use fathom_watch_metrics::{Reply, Response, WireFormat};
use fathom_watch_plan::PushKind;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use ureq::Body;
use ureq::http;

pub(crate) const fn format_of(kind: PushKind) -> WireFormat {
    match kind {
        PushKind::RemoteWrite2 => WireFormat::Write2,
        PushKind::RemoteWrite1 => WireFormat::Write1,
        PushKind::Otlp => WireFormat::Otlp,
    }
}

/// The packed body, and its `Content-Encoding`.
fn pack(form: WireFormat, body: &[u8]) -> Result<(Vec<u8>, &'static str), String> {
    match form {
        WireFormat::Write1 | WireFormat::Write2 => {
            let packed = snap::raw::Encoder::new().compress_vec(body).map_err(|e| e.to_string())?;
            Ok((packed, "snappy"))
        }
        WireFormat::Otlp => {
            let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
            packer.write_all(body).map_err(|e| e.to_string())?;
            Ok((packer.finish().map_err(|e| e.to_string())?, "gzip"))
        }
    }
}

/// Sends a request body.
pub(crate) fn post(to: &Destination, form: WireFormat, body: &[u8]) -> Reply {
    let (packed, encoding) = match pack(form, body) {
        Ok(packed) => packed,
        Err(why) => return Reply::Rejected(format!("cannot compress the request: {why}")),
    };
    let mut request = to.agent.post(&to.push.url).header("Content-Encoding", encoding);
    let own = to.push.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in form.headers().iter().copied().chain(own) {
        request = request.header(name, value);
    }
    match to.token() {
        Ok(None) => {}
        Ok(Some(token)) => request = request.header("Authorization", format!("Bearer {token}")),
        // The token file may be in the middle of a replacement.
        Err(error) => return Reply::Retry { why: error.to_string(), after: None },
    }
    match request.send(packed.as_slice()) {
        Ok(response) => meaning(form, response),
        Err(error) => Reply::Retry { why: reason(&error), after: None },
    }
}

fn meaning(form: WireFormat, response: http::Response<Body>) -> Reply {
    let (parts, body) = response.into_parts();
    let says_written = ["samples", "histograms", "exemplars"]
        .iter()
        .any(|what| parts.headers.contains_key(format!("x-prometheus-remote-write-{what}-written")));
    let retry_after = parts.headers.get("retry-after").and_then(|text| text.to_str().ok());
    let (status, body) = (parts.status.as_u16(), beginning(body));
    form.reply(&Response { status, says_written, retry_after, body: &body })
}
