//! Load over HTTP: one request after the other on a connection.
use super::Upload;
use super::stream::Stream;
use crate::tls::cause;
use fathom_client::Meter;
use fathom_os::fd::AsFd;
use fathom_os::socket::discard;
use fathom_probe::Responses;
use fathom_probe::protocol::post_request;
use std::io::{Read, Write};

/// Bytes per receive call.
const RECEIVE_BYTES: usize = 256 * 1024;
/// Bytes per receive call that discards.
const DISCARD_BYTES: u64 = 1 << 22;
/// Longest body of a response to an upload.
const REPLY_LIMIT_BYTES: u64 = 64 * 1024;

/// Downloads until the server ends the connection.
pub(crate) fn download(mut stream: Stream, request: &[u8], meter: &Meter) -> Result<(), String> {
    let mut responses = Responses::new(u64::MAX);
    let mut buffer = vec![0; RECEIVE_BYTES];
    stream.write_all(request).map_err(|e| cause(&e))?;
    loop {
        let progress = match &stream {
            Stream::Plain(socket) if responses.expected_bytes() > 0 => {
                let most = responses.expected_bytes().min(DISCARD_BYTES) as usize;
                match discard(socket.as_fd(), most).map_err(|e| cause(&e))? {
                    0 => {
                        return Err("the connection ended during a download".to_owned());
                    }
                    length => responses.skip(length as u64),
                }
            }
            _ => match stream.read(&mut buffer).map_err(|e| cause(&e))? {
                0 if responses.ends_with_connection() => return Ok(()),
                0 => return Err("the connection ended during a download".to_owned()),
                length => {
                    responses.push(&buffer[..length], &mut |_| ()).map_err(|error| error.to_string())?
                }
            },
        };
        meter.add_received(progress.body_bytes);
        if progress.complete > 0 {
            if responses.is_last() {
                return Ok(());
            }
            stream.write_all(request).map_err(|e| cause(&e))?;
        }
    }
}

/// Uploads until the server ends the connection.
pub(crate) fn upload(mut stream: Stream, host: &str, upload: &Upload, payload: &[u8]) -> Result<(), String> {
    let mut responses = Responses::new(REPLY_LIMIT_BYTES);
    loop {
        let sent = send_body(&mut stream, host, upload, payload);
        // A server that refuses a body answers, and closes the connection while it is sent.
        match read_response(&mut stream, &mut responses) {
            Ok(()) if responses.is_last() => return Ok(()),
            Ok(()) => sent?,
            Err(reason) => return Err(reason),
        }
    }
}

fn send_body(stream: &mut Stream, host: &str, upload: &Upload, payload: &[u8]) -> Result<(), String> {
    stream.write_all(&post_request(host, &upload.path, upload.body_bytes)).map_err(|e| cause(&e))?;
    let mut left = upload.body_bytes;
    while left > 0 {
        let part = usize::try_from(left).map_or(payload.len(), |left| left.min(payload.len()));
        stream.write_all(&payload[..part]).map_err(|e| cause(&e))?;
        left -= part as u64;
    }
    stream.flush().map_err(|e| cause(&e))
}

fn read_response(stream: &mut Stream, responses: &mut Responses) -> Result<(), String> {
    let mut buffer = vec![0; 4096];
    loop {
        match stream.read(&mut buffer).map_err(|e| cause(&e))? {
            0 => return Err("the connection ended after an upload".to_owned()),
            length => {
                let progress = responses.push(&buffer[..length], &mut |_| ()).map_err(|e| e.to_string())?;
                if progress.complete > 0 {
                    return Ok(());
                }
            }
        }
    }
}
