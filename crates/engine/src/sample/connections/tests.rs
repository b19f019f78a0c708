//! Who gets which connection, how many there may be, and who waits for one.

use std::cell::Cell;
use std::future::poll_fn;
use std::net::TcpListener;
use std::task::Poll;

use squall_wire::Origin;

use super::*;
use crate::net::pools::Pools;
use crate::parts::url;
use crate::sample::testing::Bench;

const STEPS: &str = "[{get: /}]";

fn pooled(size: u32) -> Bench {
    Bench::with(STEPS, &format!("connections: {{reuse: pool, pool_size: {size}}}"))
}

fn per_user() -> Bench {
    Bench::with(STEPS, "")
}

fn origin(bench: &Bench, url: &str) -> Rc<KnownOrigin> {
    let origin: Origin = url::parse(url).expect("a URL").origin;
    bench.worker.known_origin(origin, Default::default())
}

fn is_new(place: Option<Place>) -> bool {
    matches!(place, Some(Place::Connection(Some(_))))
}

/// A future that is looked at once.
fn poll_once<F: Future>(bench: &Bench, mut future: Pin<&mut F>) -> Option<F::Output> {
    bench.block_on(poll_fn(|cx| {
        Poll::Ready(match future.as_mut().poll(cx) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    }))
}

/// Connects to a server that never says anything.
fn connected(bench: &Bench, origin: &Rc<KnownOrigin>, permit: Option<Permit>) -> Borrowed {
    let in_flight = bench.worker.in_flight.enter();
    let made = bench.worker.new_connection(bench.core(), origin, permit, &in_flight, None);
    let made = bench.block_on(made).expect("not cancelled");
    made.expect("a connection").0
}

fn listen(bench: &Bench) -> (TcpListener, Rc<KnownOrigin>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let origin = origin(bench, &format!("http://{address}/"));
    (listener, origin)
}

fn give_back(bench: &Bench, borrowed: Borrowed) {
    borrowed.give_back(&bench.core().connections, bench.core().iteration.get());
}

fn open(
    bench: &Bench,
    origin: &Rc<KnownOrigin>,
    place: Place,
    fresh: bool,
) -> Result<Borrowed, Option<Permit>> {
    bench.worker.open_connection(bench.core(), origin, place, fresh)
}

#[test]
fn a_pool_has_room_for_as_many_connections_as_the_plan_says() {
    let bench = pooled(2);
    let pool = bench.worker.pool_of(bench.core(), &bench.worker.named_origin(0));
    let (first, second) = (pool.take(), pool.take());
    assert!(is_new(first) && is_new(second), "dropped, each is free again");
    let (first, second) = (pool.take(), pool.take());
    assert!(first.is_some() && second.is_some() && pool.take().is_none());
    drop(first);
    assert!(is_new(pool.take()));
}

#[test]
fn workers_divide_a_pool_and_each_has_at_least_one() {
    for (size, of, own) in [(8, 1, 8), (8, 3, 3), (7, 3, 3), (2, 3, 1), (1, 4, 1)] {
        let bench = Bench::one_of(of, "users: 10, for: 1s", STEPS, "");
        assert_eq!(bench.worker.pool_size(size), own, "{size} of {of}");
    }
}

#[test]
fn each_origin_has_a_pool_of_its_own() {
    let bench = pooled(1);
    let (a, b) = (bench.worker.named_origin(0), origin(&bench, "http://b.test/"));
    let [of_a, of_b] = [&a, &b].map(|origin| bench.worker.pool_of(bench.core(), origin));
    let place = of_a.take();
    assert!(place.is_some() && of_a.take().is_none() && of_b.take().is_some());
    assert!(Rc::ptr_eq(&of_a, &bench.worker.pool_of(bench.core(), &a)));
}

#[test]
fn users_without_a_pool_connect_as_often_as_they_need() {
    let bench = per_user();
    let origin = bench.worker.named_origin(0);
    for _ in 0..3 {
        let place = bench.worker.place_of_own(bench.core(), &origin);
        assert!(matches!(place, Some(Place::Connection(None))));
    }
    let bench = pooled(1);
    let origin = bench.worker.named_origin(0);
    assert!(bench.worker.place_of_own(bench.core(), &origin).is_none(), "its permit is waited for");
}

#[test]
fn a_user_that_speaks_http2_has_one_connection_and_waits_while_it_is_made() {
    let bench = Bench::with(STEPS, "connections: {http: 2}");
    let origin = bench.worker.named_origin(0);
    let own = || bench.worker.place_of_own(bench.core(), &origin);
    let first = own();
    assert!(is_new(own()) == first.is_none(), "there is no second one");
    drop(first);
    assert!(is_new(own()));
}

#[test]
fn whoever_waits_goes_first() {
    let bench = pooled(1);
    let pool = bench.worker.pool_of(bench.core(), &bench.worker.named_origin(0));
    let waiting = Waiting::enter(&pool.waiting);
    assert!(pool.take_in_turn().is_none() && pool.take().is_some());
    drop(waiting);
    assert!(pool.take_in_turn().is_some());
}

#[test]
fn a_request_waits_until_a_permit_is_free() {
    let bench = pooled(1);
    let origin = bench.worker.named_origin(0);
    let in_flight = bench.worker.in_flight.enter();
    let held = bench.worker.pool_of(bench.core(), &origin).take();
    let mut place = pin!(bench.worker.place(bench.core(), &origin, &in_flight));
    assert!(poll_once(&bench, place.as_mut()).is_none());
    drop(held);
    let place = poll_once(&bench, place.as_mut()).expect("a place");
    assert!(is_new(place.ok()));
}

#[test]
fn one_that_gives_up_waiting_leaves_the_permit_to_others() {
    let bench = pooled(1);
    let origin = bench.worker.named_origin(0);
    let in_flight = bench.worker.in_flight.enter();
    let pool = bench.worker.pool_of(bench.core(), &origin);
    let held = pool.take();
    {
        let mut place = pin!(bench.worker.place(bench.core(), &origin, &in_flight));
        assert!(poll_once(&bench, place.as_mut()).is_none());
        in_flight.cancel(Cancel::Timeout);
        assert!(matches!(poll_once(&bench, place.as_mut()), Some(Err(Cancel::Timeout))));
    }
    drop(held);
    assert!(is_new(pool.take()));
}

#[test]
fn who_waits_for_a_stream_is_told_when_there_is_room_and_passes_it_on() {
    let bench = Bench::with(STEPS, "connections: {http: 2}");
    let origin = bench.worker.named_origin(0);
    let entries = [bench.worker.in_flight.enter(), bench.worker.in_flight.enter()];
    let pool = bench.worker.pool_of(bench.core(), &origin);
    let held = pool.take();
    let mut first = pin!(bench.worker.place(bench.core(), &origin, &entries[0]));
    let mut second = pin!(bench.worker.place(bench.core(), &origin, &entries[1]));
    assert!(poll_once(&bench, first.as_mut()).is_none());
    assert!(poll_once(&bench, second.as_mut()).is_none());
    assert_eq!(pool.waiting.get(), 2);
    drop(held);
    assert!(poll_once(&bench, second.as_mut()).is_none(), "one is told, the other is not");
    let place = poll_once(&bench, first.as_mut()).expect("a place");
    assert_eq!(pool.waiting.get(), 1);
    drop(place);
    assert!(poll_once(&bench, second.as_mut()).is_some_and(|place| is_new(place.ok())));
    assert_eq!(pool.waiting.get(), 0);
}

#[test]
fn who_waits_for_a_stream_of_a_target_that_speaks_http1_connects() {
    let bench = Bench::with(STEPS, "connections: {http: 2}");
    let origin = bench.worker.named_origin(0);
    let in_flight = bench.worker.in_flight.enter();
    let pool = bench.worker.pool_of(bench.core(), &origin);
    let _held = pool.take();
    let mut place = pin!(bench.worker.place(bench.core(), &origin, &in_flight));
    assert!(poll_once(&bench, place.as_mut()).is_none());
    origin.http2.set(false);
    pool.room.notify_one();
    let place = poll_once(&bench, place.as_mut()).expect("a place");
    assert!(matches!(place, Ok(Place::Connection(None))));
}

#[test]
fn a_connection_that_is_given_back_is_used_again_for_its_origin_alone() {
    let bench = per_user();
    let ((_server, here), there) = (listen(&bench), origin(&bench, "http://b.test/"));
    let borrowed = connected(&bench, &here, None);
    give_back(&bench, borrowed);
    assert!(open(&bench, &there, Place::Connection(None), false).is_err());
    let again = open(&bench, &here, Place::Connection(None), false);
    assert!(again.is_ok_and(|borrowed| !borrowed.is_http2()));
    assert!(
        open(&bench, &here, Place::Connection(None), false).is_err(),
        "it was lent, and dropped"
    );
    assert_eq!(bench.finish().slice().counters.connections_opened, 1);
}

#[test]
fn a_fresh_connection_takes_the_place_of_the_users_own() {
    let bench = per_user();
    let (_server, here) = listen(&bench);
    let borrowed = connected(&bench, &here, None);
    give_back(&bench, borrowed);
    assert!(open(&bench, &here, Place::Connection(None), true).is_err());
    assert!(bench.core().connections.borrow().is_empty(), "the old one is closed");
}

#[test]
fn a_pool_keeps_its_connections_for_whoever_has_a_permit() {
    let bench = pooled(1);
    let (_server, here) = listen(&bench);
    let pool = bench.worker.pool_of(bench.core(), &here);
    let Some(Place::Connection(permit)) = pool.take() else { panic!("no room") };
    let borrowed = connected(&bench, &here, permit);
    assert!(pool.take().is_none(), "it is in use");
    give_back(&bench, borrowed);
    assert!(bench.core().connections.borrow().is_empty());
    let place = pool.take().expect("a place");
    let kept = open(&bench, &here, place, true).err().expect("another one is made");
    let again = open(&bench, &here, Place::Connection(kept), false);
    assert!(again.is_ok(), "the old one is left to others");
}

#[test]
fn connections_end_with_their_iteration_where_the_plan_says_so() {
    for (connections, left) in [("per_user", 1), ("per_iteration", 0)] {
        let bench = Bench::with(STEPS, &format!("connections: {{reuse: {connections}}}"));
        let (_server, here) = listen(&bench);
        let borrowed = connected(&bench, &here, None);
        give_back(&bench, borrowed);
        bench.worker.end_connections(bench.core());
        assert_eq!(bench.core().connections.borrow().len(), left, "{connections}");
    }
}

#[test]
fn pools_that_nobody_uses_do_not_pile_up() {
    let bench = per_user();
    let pools = Pools::default();
    let held = pools.of(&bench.worker.named_origin(0), 1);
    for number in 0..10_000 {
        pools.of(&origin(&bench, &format!("http://{number}.test/")), 1);
    }
    let left = Cell::new(0);
    pools.retain(|_, _| {
        left.set(left.get() + 1);
        true
    });
    assert!(left.get() <= 128, "{}", left.get());
    assert!(
        Rc::ptr_eq(&held, &pools.of(&bench.worker.named_origin(0), 1)),
        "one that is held stays"
    );
}
