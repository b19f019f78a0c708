//! Requests that a script makes: one with its redirects, or several at the same time. Each exchange is a sample of its
//! own, and counts in the metrics of scripts.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use squall_metrics::ErrorKind;
use squall_script::{HttpOptions, HttpRequest, HttpResponse};
use tokio::sync::Notify;

use super::{due, lanes};
use crate::net::in_flight::Guard;
use crate::parts::{script_errors, url};
use crate::program::ScriptOp;
use crate::sample::{self, Got, Moment, SampleFailure, SampleHead, ScriptSampler};
use crate::scripts::{CallSite, Doer, Exchanged, Hop, Made, Route, Spot};
use crate::trace::Tally;
use crate::user::{Core, Strand};
use crate::worker::Worker;

/// Who sends requests of a call.
#[derive(Clone, Copy)]
pub(super) struct Sender<'s> {
    worker: &'s Rc<Worker>,
    core: &'s Core,
    op: &'s ScriptOp,
    site: &'s CallSite,
    spot: Spot,
    options: &'s HttpOptions,
}

impl<'s> Sender<'s> {
    /// Of a call, at a place within its groups.
    pub(super) fn new(
        worker: &'s Rc<Worker>,
        core: &'s Core,
        (op, site): (&'s ScriptOp, &'s CallSite),
        spot: Spot,
    ) -> Self {
        let options = &worker.program.scripts[op.script as usize].options.http;
        Sender { worker, core, op, site, spot, options }
    }

    /// Sends a request, and follows it where redirects lead. Gives its last response, and when that was there.
    pub(super) async fn follow(
        &self,
        strand: &mut Strand,
        in_flight: &Guard<'_>,
        request: HttpRequest,
        mut now: Moment,
    ) -> ((HttpRequest, HttpResponse), Moment) {
        let worker = self.worker;
        let route = self.route(&request);
        let mut left = request.params.redirects.unwrap_or(self.options.redirects);
        let mut redirected: Option<Result<Hop, SampleFailure>> = None;
        loop {
            let hop = redirected.as_ref().map(Result::as_ref);
            let hop = hop.unwrap_or_else(|| route.as_ref().map(|route| &route.hop));
            let (got, end) =
                self.exchange(strand, in_flight, &request, (hop, route.as_deref().ok()), now).await;
            now = end;
            let next = match hop {
                Ok(hop) if left > 0 && !self.core.is_ending() && !worker.is_stopping() => {
                    self.redirected(hop, &got.response.borrow())
                }
                _ => None,
            };
            let Some(next) = next else {
                let url = hop.map_or_else(|_| request.url.as_str().into(), |hop| hop.url.clone());
                return ((request, response(url, got)), now);
            };
            left -= 1;
            worker.recorder.count(|counters| counters.redirects += 1);
            worker.advance_if_due(now.seen);
            redirected = Some(next);
        }
    }

    /// One exchange: a sample, and what is counted of it.
    async fn exchange(
        &self,
        strand: &mut Strand,
        in_flight: &Guard<'_>,
        request: &HttpRequest,
        (hop, route): (Result<&Hop, &SampleFailure>, Option<&Route>),
        now: Moment,
    ) -> (Got, Moment) {
        let Sender { worker, core, op, spot, .. } = *self;
        let got = Got::default();
        let row = match (hop, route) {
            // A request without a name has that of its URL, each one of a redirect too.
            (Ok(hop), _) if hop.is_redirected && request.name.is_none() => {
                self.site.rows.request(&worker.recorder, spot, &hop.url)
            }
            (_, Some(route)) => route.row,
            (_, None) => self.row(request),
        };
        let head = SampleHead {
            name: Some(row),
            place: self.site.rows.place_of_requests(&worker.recorder, spot),
            step: &op.step,
            kind: &request.method,
            is_counted: true,
            is_scheduled: hop.is_ok_and(|hop| !hop.is_redirected),
            is_of_page: false,
        };
        let copy = |own: &SampleFailure| SampleFailure::new(own.kind, own.detail.clone());
        let sent = match (hop, route) {
            (Ok(hop), Some(route)) => Ok((hop, route)),
            (Err(failure), _) => Err(copy(failure)),
            (Ok(_), None) => Err(SampleFailure::new(ErrorKind::Render, "")),
        };
        let expected = request.params.expected.as_deref();
        worker.note_begin(core, strand, now);
        let sampler = ScriptSampler { head, sent, body: &request.body, expected, got: &got };
        let sampled = sample::sample(worker, core, strand, in_flight, sampler, now).await;
        let end = worker.note_end(core, strand, &sampled);
        self.count(request, hop.ok(), &got, end.ready);
        (got, end)
    }

    /// Counts an exchange, unless squall itself has cut it off.
    fn count(&self, request: &HttpRequest, hop: Option<&Hop>, got: &Got, now: u64) {
        let failure = got.failure.borrow();
        let failure = failure.as_ref().map(|(kind, detail)| (*kind, detail.as_str()));
        if failure.is_some_and(|(kind, _)| kind == ErrorKind::Interrupted) {
            return;
        }
        let exchanged = Exchanged {
            request,
            response: &got.response.borrow(),
            failure,
            bytes: got.bytes.get(),
            url: &|| hop.map_or_else(|| request.url.clone(), |hop| hop.url.to_string()),
            method: hop.map_or(&*request.method, |hop| &*hop.method),
            is_redirected: hop.is_some_and(|hop| hop.is_redirected),
        };
        let doer = Doer { op: self.op, spot: self.spot, user: self.core };
        self.site.count_exchange(&self.worker.recorder, doer, &exchanged, now);
    }

    /// The row of a request.
    fn row(&self, request: &HttpRequest) -> u32 {
        let name = request.name.as_deref().unwrap_or(&request.url);
        self.site.rows.request(&self.worker.recorder, self.spot, name)
    }

    /// Where a request goes, and what it carries. Cookies of its own depend on those that its user has by then.
    fn route(&self, request: &HttpRequest) -> Result<Rc<Route>, SampleFailure> {
        match request.params.cookies.is_empty() {
            true => self.site.rows.route(self.spot, &request.head, || self.new_route(request)),
            false => self.new_route(request).map(Rc::new),
        }
    }

    fn new_route(&self, request: &HttpRequest) -> Result<Route, SampleFailure> {
        let Sender { worker, core, .. } = *self;
        let hop = Hop::of(worker, &request.method, &request.url)?;
        let jar = match request.params.jar {
            0 => 0,
            own => worker.program.named_jars.saturating_add(own),
        };
        let place = self.site.rows.place_of_requests(&worker.recorder, self.spot);
        let cookies = (!request.params.cookies.is_empty()).then(|| {
            let kept = core.jar(jar).pairs(hop.site());
            cookie_line(&request.params.cookies, kept)
        });
        let credentials = url::credentials(&request.url);
        let made = Made::of(&request.head, self.options, (place, jar), credentials, cookies)
            .map_err(|why| SampleFailure::new(ErrorKind::Render, why))?;
        Ok(Route::new(self.row(request), hop, made, !request.body.is_empty()))
    }

    /// Where a response leads to, if it does; or why that is nowhere.
    fn redirected(&self, hop: &Hop, response: &HttpResponse) -> Option<Result<Hop, SampleFailure>> {
        if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let mut headers = response.headers();
        let (_, location) = headers.find(|(name, _)| name.eq_ignore_ascii_case("location"))?;
        Some(hop.redirected(self.worker, response.status, &location))
    }

    /// Sends several at the same time.
    /// Gives the responses in the order of the requests, and when all were there.
    pub(super) async fn batch(
        &self,
        strand: &mut Strand,
        requests: squall_script::Requests,
        now: Moment,
    ) -> (Vec<(HttpRequest, HttpResponse)>, Moment) {
        let Sender { worker, core, .. } = *self;
        let squall_script::Requests { list, limit, limit_of_host } = requests;
        if list.is_empty() {
            return (Vec::new(), now);
        }
        lanes::open(worker, core, strand, now);
        let count = list.len();
        let lanes = limit.clamp(1, count);
        let strands: Vec<Strand> = (0..lanes).map(|_| strand.branch()).collect();
        let waiting = list.into_iter().enumerate();
        let batch = Batch {
            sender: *self,
            limit_of_host: limit_of_host.max(1),
            waiting: RefCell::new(
                waiting.map(|(number, own)| (number, host(&own.url), own)).collect(),
            ),
            busy: RefCell::default(),
            more: Notify::new(),
            responses: RefCell::new(std::iter::repeat_with(|| None).take(count).collect()),
            failed: Cell::new(false),
            tally: Cell::default(),
            end: Cell::new(now.ready),
        };
        lanes::join(core, strands.into_iter().map(|strand| batch.lane(strand, now))).await;
        if batch.failed.get() {
            strand.fail_groups();
        }
        if batch.tally.get() != Tally::default() {
            strand.tally_mut().add(batch.tally.get());
        }
        strand.due = batch.end.get();
        let end = lanes::close(worker, core, strand, batch.end.get());
        // What was not sent, because its user ends, nobody asks for any more.
        let responses = batch.responses.into_inner().into_iter().map(Option::unwrap_or_default);
        (responses.collect(), end)
    }
}

/// A request that nobody has begun: its number, its host, and what it is.
type WaitingRequest = (usize, String, HttpRequest);

/// Requests that are sent at the same time, by as many lanes as are allowed.
struct Batch<'s> {
    sender: Sender<'s>,
    limit_of_host: usize,
    waiting: RefCell<VecDeque<WaitingRequest>>,
    /// How many are sent to each host now.
    busy: RefCell<HashMap<String, usize>>,
    /// Told when a lane has nothing more in flight.
    more: Notify,
    responses: RefCell<Vec<Option<(HttpRequest, HttpResponse)>>>,
    failed: Cell<bool>,
    /// What was sampled, where somebody watches.
    tally: Cell<Tally>,
    /// When the last of them ended.
    end: Cell<u64>,
}

impl Batch<'_> {
    /// Sends one after the other, until there is nothing more.
    async fn lane(&self, mut strand: Strand, mut now: Moment) {
        let Sender { worker, core, .. } = self.sender;
        let in_flight = worker.in_flight.enter();
        while !worker.has_to_end(core) {
            let Some((number, host, request)) = self.take() else {
                if self.waiting.borrow().is_empty() {
                    break;
                }
                self.more.notified().await;
                now = Moment::at(worker.clock.now());
                continue;
            };
            if let Some(due) = worker.place_of_script(now.ready).filter(|due| *due > now.ready) {
                let wait = due - now.ready;
                if due::wait(worker, core, &in_flight, (now.ready, wait)).await.is_none() {
                    break;
                }
                now = Moment::at(worker.clock.now());
            }
            let (response, end) = self.sender.follow(&mut strand, &in_flight, request, now).await;
            self.responses.borrow_mut()[number] = Some(response);
            if let Some(busy) = self.busy.borrow_mut().get_mut(&host) {
                *busy -= 1;
            }
            now = end;
            self.end.set(self.end.get().max(end.ready));
            self.more.notify_waiters();
            worker.advance_if_due(end.seen);
        }
        self.more.notify_waiters();
        self.failed.set(self.failed.get() || strand.failed);
        let mut tally = self.tally.get();
        tally.add(strand.tally());
        self.tally.set(tally);
    }

    /// The first that its host has room for.
    fn take(&self) -> Option<WaitingRequest> {
        let (mut waiting, mut busy) = (self.waiting.borrow_mut(), self.busy.borrow_mut());
        let has_room = |host: &str| busy.get(host).copied().unwrap_or(0) < self.limit_of_host;
        let at = waiting.iter().position(|(_, host, _)| has_room(host))?;
        let taken = waiting.remove(at)?;
        *busy.entry(taken.1.clone()).or_default() += 1;
        Some(taken)
    }
}

/// What the script is given.
fn response(url: Rc<str>, got: Got) -> HttpResponse {
    let mut response = got.response.take();
    response.url = Some(url);
    let failure = got.failure.take();
    let failure = failure.as_ref().map(|(kind, detail)| (*kind, detail.as_str()));
    response.error_code = script_errors::code(failure.map(|own| own.0), response.status);
    response.error =
        failure.map_or_else(String::new, |(kind, detail)| script_errors::text(kind, detail));
    response
}

/// The host of a URL, as far as limits of hosts care.
fn host(url: &str) -> String {
    url::resolve(None, url).map_or_else(|_| String::new(), |own| own.origin.authority())
}

/// The line of a request that has cookies of its own: those first, and then what its jar has and they do not replace.
fn cookie_line(own: &[(String, String, bool)], kept: Vec<(String, String)>) -> String {
    let is_replaced =
        |name: &str| own.iter().any(|(other, _, replaces)| *replaces && other == name);
    let kept = kept.into_iter().filter(|(name, _)| !is_replaced(name));
    let own = own.iter().map(|(name, value, _)| (name.clone(), value.clone()));
    let all: Vec<String> = own.chain(kept).map(|(name, value)| format!("{name}={value}")).collect();
    all.join("; ")
}
