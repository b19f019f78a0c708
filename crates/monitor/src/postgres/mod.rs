//! A PostgreSQL server: what its views `pg_stat_activity` and `pg_stat_database` say, in one query a second over one connection
//! (<https://www.postgresql.org/docs/current/monitoring-stats.html>).

mod tls;

use std::io;
use std::time::Duration;

use squall_metrics::{Monitored, MonitoredKind};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage, SimpleQueryRow};

use self::tls::Tls;
use crate::rates::Rate;
use crate::sampler::Reader;
use crate::samples::Samples;
use crate::scrape::TIMEOUT;

/// What is asked, in one round trip. Our own connection is not counted. Of others a user without the role `pg_monitor` sees
/// only that they are there.
const QUERY: &str = "\
SELECT a.*, d.xact_commit, d.xact_rollback, d.blks_hit, d.blks_read, d.deadlocks, d.temp_bytes,
  current_setting('max_connections') AS connections_limit
FROM (SELECT count(*) AS connections,
    count(*) FILTER (WHERE state = 'active') AS active,
    count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'Lock') AS waiting,
    count(*) FILTER (WHERE state LIKE 'idle in transaction%') AS idle_in_transaction,
    coalesce(max(extract(epoch FROM clock_timestamp() - query_start)) FILTER (WHERE state = 'active'), 0) AS longest_query,
    count(*) FILTER (WHERE query = '<insufficient privilege>') AS hidden
  FROM pg_stat_activity
  WHERE pid <> pg_backend_pid() AND (backend_type = 'client backend' OR backend_type IS NULL)) AS a,
  pg_stat_database AS d
WHERE d.datname = current_database()";

/// Samples a server.
pub(crate) struct Postgres {
    config: Result<Config, String>,
    /// Made by the thread that samples.
    runtime: Option<Runtime>,
    client: Option<Client>,
    counters: Counters,
    /// How many connections it may not see.
    hidden: bool,
}

/// What the server counts, as it was the last time.
#[derive(Debug, Default)]
struct Counters {
    rates: [Rate; 4],
    hits: Rate,
    reads: Rate,
}

impl Postgres {
    /// A server by its URL. Its password may be in `PGPASSWORD` in place of the URL.
    pub(crate) fn new(url: &str) -> Postgres {
        // Both mean what `require` does here: the certificate is checked.
        let url = ["sslmode=verify-full", "sslmode=verify-ca"]
            .iter()
            .fold(url.to_owned(), |url, own| url.replace(own, "sslmode=require"));
        let config = url.parse::<Config>().map(|mut config| {
            config.connect_timeout(TIMEOUT).application_name("squall monitor");
            if let Some(password) = std::env::var("PGPASSWORD").ok().filter(|own| !own.is_empty())
                && config.get_password().is_none()
            {
                config.password(password);
            }
            config
        });
        // What is wrong is said without the URL, which may hold a password.
        let config = config.map_err(|_| {
            "the URL cannot be read: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, with ?sslmode=require for TLS"
                .to_owned()
        });
        let (runtime, client, counters) = (None, None, Counters::default());
        Postgres { config, runtime, client, counters, hidden: false }
    }

    fn row(&mut self) -> io::Result<SimpleQueryRow> {
        let config = self.config.as_ref().map_err(|error| io::Error::other(error.clone()))?;
        let runtime = match &mut self.runtime {
            Some(runtime) => runtime,
            none => none.insert(Builder::new_current_thread().enable_all().build()?),
        };
        let client = self.client.take().filter(|client| !client.is_closed());
        let asked = runtime.block_on(async {
            tokio::time::timeout(TIMEOUT, ask(config, client)).await.unwrap_or_else(|_| {
                Err(io::Error::other(format!("no response within {} ms", TIMEOUT.as_millis())))
            })
        });
        let (client, row) = asked?;
        self.client = Some(client);
        Ok(row)
    }
}

/// Asks a server, over a new connection where there is none.
async fn ask(config: &Config, client: Option<Client>) -> io::Result<(Client, SimpleQueryRow)> {
    let client = match client {
        Some(client) => client,
        None => connect(config).await?,
    };
    let messages = client.simple_query(QUERY).await.map_err(told)?;
    let row = messages.into_iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let row =
        row.ok_or_else(|| io::Error::other("pg_stat_database has no row of this database"))?;
    Ok((client, row))
}

/// Connects, with TLS where the URL wants it (`sslmode=require`).
async fn connect(config: &Config) -> io::Result<Client> {
    // A connection ends with its client; why is known to the client.
    if config.get_ssl_mode() == SslMode::Require {
        let (client, connection) = config.connect(Tls).await.map_err(told)?;
        tokio::spawn(async { drop(connection.await) });
        return Ok(client);
    }
    let (client, connection) = config.connect(NoTls).await.map_err(told)?;
    tokio::spawn(async { drop(connection.await) });
    Ok(client)
}

/// What the server says, or why it cannot be reached, with what to do.
fn told(error: tokio_postgres::Error) -> io::Error {
    use std::error::Error as _;
    if let Some(own) = error.as_db_error() {
        let help = if own.message().ends_with("no encryption") {
            ": add ?sslmode=require to the URL if it is to be asked with TLS"
        } else {
            ""
        };
        return io::Error::other(format!("{}{help}", own.message()));
    }
    let source = error.source();
    let of_tls = source.and_then(|own| {
        own.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref::<rustls::Error>()
    });
    match (of_tls, source) {
        (Some(rustls::Error::InvalidCertificate(why)), _) => io::Error::other(format!(
            "its certificate is not trusted ({why}): SSL_CERT_FILE can name a file with that of its authority"
        )),
        (_, Some(source)) => io::Error::other(format!("{error}: {source}")),
        (_, None) => io::Error::other(error.to_string()),
    }
}

impl Reader for Postgres {
    fn names(&self) -> Vec<String> {
        Monitored::names(&[MonitoredKind::Postgres])
    }

    fn read(&mut self, now: Duration, into: &mut Samples) -> io::Result<()> {
        let row = self.row()?;
        let of = |name: &str| row.get(name).and_then(|text| text.parse::<f64>().ok());
        self.hidden |= of("hidden").is_some_and(|hidden| hidden > 0.0);
        self.counters.put(of, now, into);
        Ok(())
    }

    fn remark(&self) -> Option<String> {
        self.hidden.then(|| {
            "its user may not see what other users do, so that active, waiting and longest_query are too small: \
             GRANT pg_monitor TO it"
                .to_owned()
        })
    }
}

impl Counters {
    /// Puts what a row says.
    fn put(&mut self, of: impl Fn(&str) -> Option<f64>, now: Duration, into: &mut Samples) {
        for name in [
            "connections",
            "connections_limit",
            "active",
            "waiting",
            "idle_in_transaction",
            "longest_query",
        ] {
            into.put_known(name, of(name));
        }
        let names = [
            ("commits", "xact_commit"),
            ("rollbacks", "xact_rollback"),
            ("deadlocks", "deadlocks"),
            ("temp_bytes", "temp_bytes"),
        ];
        for ((name, column), rate) in names.into_iter().zip(&mut self.rates) {
            into.put_known(name, of(column).and_then(|value| rate.of(value, now)));
        }
        let hits = of("blks_hit").and_then(|value| self.hits.of(value, now));
        let reads = of("blks_read").and_then(|value| self.reads.of(value, now));
        if let (Some(hits), Some(reads)) = (hits, reads)
            && hits + reads > 0.0
        {
            into.put("cache_hits", hits / (hits + reads));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_gauges_and_rates() {
        let (mut own, mut samples) = (Counters::default(), Samples::new("db"));
        let row = |second: f64| {
            move |name: &str| match name {
                "connections" => Some(20.0),
                "connections_limit" => Some(100.0),
                "active" | "waiting" | "idle_in_transaction" | "longest_query" => Some(1.5),
                "blks_hit" => Some(90.0 * second),
                "blks_read" => Some(10.0 * second),
                _ => Some(50.0 * second),
            }
        };
        own.put(row(1.0), Duration::from_secs(1), &mut samples);
        assert!(!samples.shown().contains_key("commits"));
        own.put(row(3.0), Duration::from_secs(3), &mut samples);
        let shown = samples.shown();
        assert_eq!((shown["connections"], shown["connections_limit"]), (20.0, 100.0));
        assert_eq!((shown["commits"], shown["cache_hits"]), (50.0, 0.9));
        let names = Monitored::names(&[MonitoredKind::Postgres]);
        assert_eq!(shown.len(), names.len());
        assert!(shown.keys().all(|name| names.contains(name)), "{shown:?}");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        let mut samples = Samples::new("db");
        for url in ["postgres://me:s3cret@host:x/db", "postgres://me:s3cret@127.0.0.1:1/db"] {
            let mut own = Postgres::new(url);
            let error = own.read(Duration::ZERO, &mut samples).expect_err(url).to_string();
            assert!(!error.contains("s3cret") && !error.is_empty(), "{error}");
        }
    }
}
