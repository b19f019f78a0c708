//! nginx's `stub_status` (<https://nginx.org/en/docs/http/ngx_http_stub_status_module.html>).

use std::io;
use std::time::Duration;

use squall_metrics::{Monitored, MonitoredKind};

use crate::rates::Rate;
use crate::sampler::Reader;
use crate::samples::Samples;
use crate::scrape::Client;

/// Samples a page of `stub_status`.
pub(crate) struct Nginx {
    client: Client,
    rates: [Rate; 3],
}

impl Nginx {
    pub(crate) fn new(url: &str) -> Nginx {
        Nginx { client: Client::new(url), rates: Default::default() }
    }
}

impl Reader for Nginx {
    fn names(&self) -> Vec<String> {
        Monitored::names(&[MonitoredKind::Nginx])
    }

    fn read(&mut self, now: Duration, into: &mut Samples) -> io::Result<()> {
        let text = self.client.get()?;
        let Some(page) = Page::parse(&text) else {
            let text =
                "its response is not a page of stub_status: is `stub_status` on at this URL?";
            return Err(io::Error::other(text));
        };
        page.put(&mut self.rates, now, into);
        Ok(())
    }
}

/// What the page says.
#[derive(Debug, PartialEq)]
struct Page {
    /// Connections: active, reading, writing, waiting.
    connections: [f64; 4],
    /// Accepted and handled connections, and requests.
    counters: [f64; 3],
}

impl Page {
    fn parse(text: &str) -> Option<Page> {
        let mut lines = text.lines();
        let active = lines.next()?.strip_prefix("Active connections:")?.trim().parse().ok()?;
        let titles = lines.next()?;
        let numbers = lines.next()?;
        let rest = lines.next()?;
        if !titles.starts_with("server accepts handled requests") {
            return None;
        }
        let mut numbers = numbers.split_whitespace().map_while(|word| word.parse().ok());
        let counters = [numbers.next()?, numbers.next()?, numbers.next()?];
        let words: Vec<&str> = rest.split_whitespace().collect();
        let of = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            words.get(at + 1)?.parse().ok()
        };
        let connections = [active, of("Reading:")?, of("Writing:")?, of("Waiting:")?];
        Some(Page { connections, counters })
    }

    fn put(&self, rates: &mut [Rate; 3], now: Duration, into: &mut Samples) {
        let names =
            ["connections", "connections_reading", "connections_writing", "connections_waiting"];
        names.into_iter().zip(self.connections).for_each(|(name, value)| into.put(name, value));
        let names = ["accepts", "handled", "requests"];
        for ((name, value), rate) in names.into_iter().zip(self.counters).zip(rates) {
            into.put_known(name, rate.of(value, now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_nginx_writes_it() {
        let page = |counted: u64| {
            let text = format!(
                "Active connections: 291 \nserver accepts handled requests\n {counted} {counted} 31070465 \nReading: 6 Writing: 179 Waiting: 106 \n"
            );
            Page::parse(&text).expect("a page")
        };
        let (mut rates, mut samples) = (Default::default(), Samples::new("web"));
        page(100).put(&mut rates, Duration::from_secs(1), &mut samples);
        samples.take();
        page(120).put(&mut rates, Duration::from_secs(3), &mut samples);
        let shown = samples.shown();
        assert_eq!((shown["connections"], shown["connections_writing"]), (291.0, 179.0));
        assert_eq!((shown["accepts"], shown["requests"]), (10.0, 0.0));
        assert_eq!(shown.len(), Monitored::names(&[MonitoredKind::Nginx]).len());
        for text in [
            "",
            "<html>",
            "Active connections: 1\n\n\n",
            "Active connections: 1 \nserver accepts handled requests\n 1 2\nReading: 1",
        ] {
            assert_eq!(Page::parse(text), None, "{text}");
        }
    }
}
