//! Monitors that read a text of names and values: an endpoint for Prometheus, and a program's output.

mod command;
mod histogram;
mod http;
mod series;
mod source;
mod text;

use std::io;
use std::time::Duration;

use squall_plan::SeriesSelector;
use squall_plan::model::Prometheus;

pub(crate) use self::command::Command;
pub(crate) use self::http::{Client, TIMEOUT};
use self::series::SeriesReader;
use self::source::TextSource;
use crate::sampler::Reader;
use crate::samples::Samples;

impl TextSource for Client {
    fn text(&self) -> io::Result<String> {
        self.get()
    }
}

/// Samples what is chosen of a text.
pub(crate) struct Scrape<T> {
    source: T,
    series: SeriesReader,
}

impl Scrape<Client> {
    /// An endpoint of a plan that was found good.
    pub(crate) fn of(own: &Prometheus) -> Scrape<Client> {
        let selectors = own.metrics.iter().filter_map(|own| SeriesSelector::parse(&own.value).ok());
        let series = SeriesReader::new(selectors.collect());
        Scrape { source: Client::new(&own.url.value), series }
    }
}

impl Scrape<Command> {
    /// All that a program prints.
    pub(crate) fn of_command(command: Command) -> Scrape<Command> {
        Scrape { source: command, series: SeriesReader::default() }
    }
}

impl<T: TextSource> Reader for Scrape<T> {
    /// If all are chosen, those that are there now.
    fn names(&self) -> Vec<String> {
        match self.series.chosen() {
            chosen if chosen.is_empty() => {
                self.source.text().map(|text| series::names_in(&text)).unwrap_or_default()
            }
            chosen => chosen,
        }
    }

    fn read(&mut self, now: Duration, into: &mut Samples) -> io::Result<()> {
        let text = self.source.text()?;
        self.series.put(&text, now, into);
        Ok(())
    }

    fn remark(&self) -> Option<String> {
        self.series.remark()
    }
}

/// For [`crate::fuzz`]. The values of a second are bounded, and finite.
pub(crate) fn fuzz(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (mut series, mut samples) = (SeriesReader::default(), Samples::new("fuzz"));
    for second in 1..3 {
        series.put(&text, Duration::from_secs(second), &mut samples);
        let taken = samples.take();
        assert!(taken.len() <= series::MAX_VALUES && taken.iter().all(|own| own.1.is_finite()));
    }
    let _ = (series.remark(), series::names_in(&text), SeriesSelector::parse(&text));
}

#[cfg(test)]
mod tests;
