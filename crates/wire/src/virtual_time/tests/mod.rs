//! Exchanges over connections on which things go wrong at any moment, against a model, on virtual time. Each seed is a story; those
//! that have failed are told each time. For a longer look: `SQUALL_SEEDS=100000`.

mod bytes;
mod http1;
mod http2;
mod tls;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use squall_base::random::Random;

use super::*;
use crate::link::Link;
use crate::{
    Client, Clock, Io, LoopWaker, Opened, Origin, Progress, Scheme, Settings, Shared, Via,
};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
/// A user gives up after so long: later than all that comes.
const PATIENCE: u64 = 60_000 * MS;

fn client() -> Rc<Client> {
    let shared = Shared::new(Settings { io: Io::Epoll, ..Settings::default() }, &[]);
    let waker = LoopWaker::new().expect("a descriptor");
    Client::new(shared.expect("settings"), Clock::on_virtual_time(), 0, &waker).expect("a client")
}

/// Tells the stories of all seeds.
fn tell(failed: &[u64], usual: u64, story: impl Fn(&Rc<Client>, Random)) {
    let most = std::env::var("SQUALL_SEEDS").ok().and_then(|most| most.parse().ok());
    let client = client();
    let mut wrong = Vec::new();
    for seed in failed.iter().copied().chain(0..most.unwrap_or(usual)) {
        start();
        if catch_unwind(AssertUnwindSafe(|| story(&client, Random::new(seed)))).is_err() {
            wrong.push(seed);
        }
        assert!(wrong.len() < 5, "seeds {wrong:?} failed");
    }
    assert!(wrong.is_empty(), "seeds {wrong:?} failed");
}

/// What a network and an event loop are like in a story.
struct Setting {
    delay_ns: u64,
    /// How many of 100 segments are lost.
    loss: usize,
    /// By how much the event loop is late at most.
    late: usize,
    window: usize,
    is_in_ring: bool,
}

impl Setting {
    fn any(random: &mut Random) -> Setting {
        Setting {
            delay_ns: (1 + random.below(200)) as u64 * 100 * US,
            loss: [0, 0, 5][random.below(3)],
            late: [1, 100_000, 5_000_000][random.below(3)],
            window: [usize::MAX, usize::MAX, 16, 100][random.below(4)],
            is_in_ring: random.below(2) == 0,
        }
    }

    fn path(&self, random: &mut Random) -> Path {
        let (mut own, loss) = (Random::new(random.next_u64()), self.loss);
        Path {
            delay_ns: self.delay_ns,
            lost: Box::new(move || match own.below(100) < loss {
                true => (200 + own.below(3) as u64 * 200) * MS,
                false => 0,
            }),
            window: self.window,
            is_in_ring: self.is_in_ring,
        }
    }

    /// Runs a future to its end, or until somebody gives up.
    fn run<F: Future>(&self, client: &Client, random: &mut Random, future: F) -> F::Output {
        let late = || random.below(self.late) as u64;
        run(client, late, future).expect("something happens")
    }
}

/// A future, unless a moment comes before.
async fn until<F: Future>(at: u64, future: F) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    let mut sleep = std::pin::pin!(sleep_until(at));
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
        std::task::Poll::Pending => sleep.as_mut().poll(cx).map(|()| None),
    })
    .await
}

/// Bytes cut into segments: as one, at every byte, or anywhere.
fn cut(random: &mut Random, bytes: &[u8]) -> Vec<Vec<u8>> {
    let most = match random.below(4) {
        0 => usize::MAX,
        1 if bytes.len() < 500 => 1,
        // Not so many that a user would give up.
        _ => (1 + random.below(2_000)).max(bytes.len() / 200),
    };
    let (mut rest, mut segments) = (bytes, Vec::new());
    while !rest.is_empty() {
        let length = match most {
            1 | usize::MAX => most,
            most => 1 + random.below(most),
        };
        let (segment, behind) = rest.split_at(length.min(rest.len()));
        segments.push(segment.to_vec());
        rest = behind;
    }
    segments
}

/// How long after the one before something comes.
fn pause(random: &mut Random) -> u64 {
    [0, 0, 10 * US, 900 * US, 30 * MS][random.below(5)]
}

/// What a test of another crate does: no connection is the system's.
#[test]
fn connections_are_made_on_virtual_time() {
    start();
    let mut random = Random::new(1);
    let setting = Setting { delay_ns: MS, ..Setting::any(&mut random) };
    let path = setting.path(&mut random);
    let ok = b"HTTP/1.1 204 OK\r\n\r\n";
    let mut peer =
        Some(VirtualSocket::new(path, |_: &[u8], out: &mut Outbound| out.send(5 * MS, ok)));
    set_network(move |to| match to.port() {
        80 => peer.take().ok_or_else(|| std::io::ErrorKind::ConnectionRefused.into()),
        _ => Err(std::io::ErrorKind::ConnectionRefused.into()),
    });
    let client = client();
    let origin = |port| Origin { scheme: Scheme::Http, host: "192.0.2.1".into(), port };
    let (progress, via) = (Progress::default(), Via::default());
    let work = async {
        let refused = crate::connect(&client, (&origin(81), &via), &progress, None).await;
        let refused = refused.expect_err("nobody is there");
        assert_eq!(refused.kind(), crate::ErrorKind::ConnectRefused);
        crate::connect(&client, (&origin(80), &via), &progress, None).await.expect("open")
    };
    let (opened, times) = run(&client, || 0, work).expect("an end");
    assert_eq!(times.connect_ns, Some(2 * MS));
    assert!(matches!(opened, Opened::Exclusive(_)));
}
