//! A receiver, and requests in its format.
use fathom_watch_metrics::{Line, Otlp, Request, WireFormat, Write1, each_probe_line};
use fathom_watch_minimal::{Counted, Packed};
use fathom_watch_plan::Url;
use std::convert::Infallible;

/// Format of the requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PostFormat {
    /// Prometheus remote-write 1.0, which every receiver of remote-write supports.
    RemoteWrite,
    /// OTLP over HTTP.
    Otlp,
}

/// A receiver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Destination {
    /// Its URL, of plain HTTP.
    pub url: Url,
    /// The format that it takes.
    pub format: PostFormat,
    /// Histograms as one counter for each power of two, for receivers of remote-write without
    /// native ones.
    pub has_classic_histograms: bool,
    /// Additional headers of all requests.
    pub headers: Vec<(String, String)>,
    /// The label `instance` of all series.
    pub instance: String,
    /// Additional labels of all series.
    pub labels: Vec<(String, String)>,
}

impl Destination {
    pub(crate) const fn wire_format(&self) -> WireFormat {
        match self.format {
            PostFormat::RemoteWrite => WireFormat::Write1,
            PostFormat::Otlp => WireFormat::Otlp,
        }
    }
    /// `Content-Encoding` of the bodies. OTLP goes unpacked: that takes no second packer, and a
    /// request a minute is small.
    pub(crate) const fn encoding(&self) -> &'static str {
        match self.format {
            PostFormat::RemoteWrite => "snappy",
            PostFormat::Otlp => "identity",
        }
    }
    /// The request with the counts of these hosts, which are counted since a time in milliseconds.
    #[must_use]
    pub fn pack(&self, hosts: &[String], since_ms: u64, all: &[Counted]) -> Packed {
        let mut request = self.request();
        for Counted { target, points } in all {
            let host = hosts.get(*target).map_or("", String::as_str);
            let labels = self.labelled(host);
            let add = &mut |line: &Line<'_>| {
                request.add(line);
                Ok::<(), Infallible>(())
            };
            let Ok(()) = each_probe_line(&labels, since_ms, points, add);
        }
        let points = request.points();
        Packed { body: self.packed(request.take()), points }
    }
    fn request(&self) -> Box<dyn Request> {
        let version = env!("CARGO_PKG_VERSION");
        match self.format {
            PostFormat::RemoteWrite => Box::new(Write1::new(self.has_classic_histograms)),
            PostFormat::Otlp => {
                let resource = [
                    ("service.name", "fathom"),
                    ("service.instance.id", self.instance.as_str()),
                    ("service.version", version),
                ];
                Box::new(Otlp::new(&resource, ("fathom watch", version)))
            }
        }
    }
    /// The labels of a watch with a history. In OTLP, `job` and `instance` are attributes of the
    /// resource.
    fn labelled<'l>(&'l self, host: &'l str) -> Vec<(&'l str, &'l str)> {
        let mut all: Vec<_> = self.labels.iter().map(|(name, value)| (&**name, &**value)).collect();
        if self.format == PostFormat::RemoteWrite {
            all.extend([("job", "fathom"), ("instance", &self.instance)]);
        }
        all.extend([("target", host), ("host", host), ("probe", "icmp")]);
        all
    }
    fn packed(&self, body: Vec<u8>) -> Vec<u8> {
        match self.format {
            // It fails beyond 4 GB alone; a receiver rejects the empty request.
            PostFormat::RemoteWrite => snap::raw::Encoder::new().compress_vec(&body).unwrap_or_default(),
            PostFormat::Otlp => body,
        }
    }
}
