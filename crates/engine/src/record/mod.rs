//! What a worker records: the slice of the present second, and a bounded log. A slice that is full
//! goes to the run's collector, which gives an empty one back, so that recording allocates nothing
//! once it is warm.

mod effort;
mod level;
mod line;
mod names;
mod own_metrics;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use squall_base::escape_control;
use squall_extract::Charset;
use squall_metrics::{
    CheckResult, Counters, ErrorKind, Fate, Metrics, NameId, OTHER, Phases, Place, PlaceId, RowKey,
    Sample, SelfMetrics, Slice, TimeRecorder, UserState,
};
use squall_plan::secrets::{Excerpt, Secrets};
use squall_plan::value::Value;

use crate::messages::{ErrorExample, LogLine, Message};
use crate::parts::secret_forms;
use crate::program::Program;
use crate::progress::Begun;
use crate::roster::{Counted, Seat};
use crate::trace::{Measured, Trace};
use crate::user::OpenGroup;
use effort::ThreadTime;
use level::Levels;
pub(crate) use level::Outstanding;
use names::KnownNames;
pub(crate) use names::NameRegistry;

/// Lines that a worker may write to the run's log in one second; what is above is counted.
const LOG_LINES: usize = 200;
/// How many errors of each kind and row are written down with their detail, and then one in how many.
const FIRST_ERRORS: u64 = 3;
const ERRORS_PER_EXAMPLE: u64 = 1_000;
/// Most bytes of a body that are looked at for an example, and most characters of it that are shown.
const EXAMPLE_BYTES: u64 = 1_024;
const EXAMPLE_CHARS: usize = 200;
/// Iterations that are kept one by one before they are looked through for those of the same user.
const MOST_BEGUN: usize = 100_000;
const SECOND: u64 = 1_000_000_000;

pub(crate) struct Recorder {
    worker: u32,
    /// What no name and no line may show, as far as it is known by now.
    secrets: RefCell<Arc<Secrets>>,
    /// The encodings in which requests send them.
    charsets: Vec<(String, Charset)>,
    /// When the run's first second began, on the clock.
    start: u64,
    /// The present second, counted from the start.
    second: Cell<u32>,
    /// Users that are there now.
    users: Cell<u64>,
    /// Users and requests in flight that are there now, by scenario.
    pub levels: Levels,
    slice: RefCell<Box<Slice>>,
    book: RefCell<TimeRecorder>,
    effort: RefCell<ThreadTime>,
    names: RefCell<KnownNames>,
    metrics: RefCell<Metrics>,
    log: RefCell<Vec<LogLine>>,
    /// How many errors of each kind and row there were.
    details: RefCell<HashMap<(u32, ErrorKind), u64>>,
    /// By row, whether the next error of its status or its checks is written down, if there was one. Each request asks.
    expects_example: RefCell<Vec<bool>>,
    /// Told of what the plan logs, at once.
    trace: Option<Trace>,
    /// What was begun in this second of iterations that are counted, if it is kept.
    begun: RefCell<Option<Begun>>,
    messages: Sender<Message>,
    empty: Receiver<Box<Slice>>,
    give_back: Sender<Box<Slice>>,
}

impl Recorder {
    pub(crate) fn new(
        program: &Program,
        worker: u32,
        start: u64,
        messages: Sender<Message>,
        registry: Arc<NameRegistry>,
        trace: Option<Trace>,
    ) -> Self {
        let (give_back, empty) = mpsc::channel();
        let names = KnownNames::new(registry);
        let mut slice = Box::new(Slice::new(worker, 0));
        for (id, key) in names.from(0) {
            slice.announce(id, masked(key, &program.secrets));
        }
        Recorder {
            secrets: RefCell::new(Arc::new(program.secrets.clone())),
            charsets: program.charsets.clone(),
            worker,
            start,
            second: Cell::new(0),
            users: Cell::new(0),
            levels: Levels::new(&program.scenarios),
            slice: RefCell::new(slice),
            book: RefCell::new(TimeRecorder::new(start)),
            effort: RefCell::new(ThreadTime::start()),
            names: RefCell::new(names),
            metrics: RefCell::default(),
            log: RefCell::new(Vec::new()),
            details: RefCell::new(HashMap::new()),
            expects_example: RefCell::default(),
            trace,
            begun: RefCell::new(None),
            messages,
            empty,
            give_back,
        }
    }

    /// It begins at `now`, which may be long after the run did: of the seconds before it has nothing.
    pub(crate) fn begin_at(&self, now: u64) {
        let second = (now.saturating_sub(self.start) / SECOND) as u32;
        if second > 0 {
            self.second.set(second);
            self.slice.borrow_mut().second = second;
            let opened = self.start + u64::from(second) * SECOND;
            self.book.replace(TimeRecorder::new(opened));
        }
    }

    /// From now on it says with each second what was begun of iterations that are counted.
    pub(crate) fn keep_progress(&self) {
        self.begun.replace(Some(Begun::default()));
    }

    /// An iteration of a user has begun that is counted.
    pub(crate) fn begun(&self, seat: Seat, counted: Counted) {
        if let Some(begun) = self.begun.borrow_mut().as_mut() {
            if begun.users.len() >= MOST_BEGUN {
                // The last one of each user is all that counts.
                let last: BTreeMap<_, _> = begun.users.drain(..).collect();
                begun.users.extend(last);
            }
            begun.users.push(((seat.load, seat.number), counted.begun));
            if let Some(shard) = counted.shard {
                *begun.totals.entry((seat.load, shard)).or_default() += 1;
            }
        }
    }

    /// So many iterations of a shard were begun elsewhere, of those that all users have together.
    pub(crate) fn begun_of_shard(&self, load: u16, shard: u64, count: u64) {
        if let Some(begun) = self.begun.borrow_mut().as_mut() {
            *begun.totals.entry((load, shard)).or_default() += count;
        }
    }

    /// When the run started, on the clock.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// When the present second ends, on the clock.
    pub(crate) fn second_ends(&self) -> u64 {
        self.start + (u64::from(self.second.get()) + 1) * SECOND
    }

    /// Records a request that ended at `end`, on the clock.
    #[inline]
    pub(crate) fn request(&self, name: u32, sample: &Sample, end: u64) {
        if end >= self.second_ends() {
            self.roll(end);
        }
        self.slice.borrow_mut().record(NameId(name), sample);
    }

    /// Records how a check went.
    #[inline]
    pub(crate) fn check(&self, row: u32, result: CheckResult) {
        let mut slice = self.slice.borrow_mut();
        slice.record_check(NameId(row), result);
        let counters = &mut slice.counters;
        match result {
            CheckResult::Passed => counters.checks_passed += 1,
            CheckResult::Failed => counters.checks_failed += 1,
            CheckResult::Warned => counters.warnings += 1,
        }
    }

    /// Records a group that ends at `now`.
    pub(crate) fn group(&self, group: &OpenGroup, now: u64) {
        let latency_ns = now.saturating_sub(group.since);
        self.slice.borrow_mut().record_span(NameId(group.name), latency_ns, group.failed);
    }

    /// Records a group that the end of its load cuts off at `now`.
    pub(crate) fn cut_off_group(&self, group: &OpenGroup, now: u64) {
        let waited_ns = now.saturating_sub(group.since);
        self.slice.borrow_mut().record_cut_off_span(NameId(group.name), waited_ns);
    }

    /// Changes the counters of the present second.
    #[inline]
    pub(crate) fn count(&self, change: impl FnOnce(&mut Counters)) {
        change(&mut self.slice.borrow_mut().counters);
    }

    /// The number of a name at a place that is known only now.
    pub(crate) fn name(&self, place: PlaceId, text: &str) -> u32 {
        let number = self.with_new_names(|names| names.number(place, text));
        let is_other = self.names.borrow().name(number) == Some(OTHER);
        if is_other && text != OTHER {
            self.count(|counters| counters.names_beyond_limit += 1);
        }
        number.0
    }

    /// The number of a place that is known only now.
    pub(crate) fn place(&self, place: &Place) -> PlaceId {
        self.with_new_names(|names| names.place(place))
    }

    /// Looks for something among the names. Those that are new to this worker then are told to who gets its slices.
    fn with_new_names<R>(&self, look: impl FnOnce(&mut KnownNames) -> R) -> R {
        let mut names = self.names.borrow_mut();
        let known = names.len();
        let found = look(&mut names);
        if names.len() > known {
            let mut slice = self.slice.borrow_mut();
            for (id, key) in names.from(known) {
                slice.announce(id, masked(key, &self.secrets()));
            }
        }
        found
    }

    /// The text of a name.
    pub(crate) fn name_text(&self, name: u32) -> String {
        self.with_name(name, str::to_owned)
    }

    /// The same, looked at where it is.
    pub(crate) fn with_name<R>(&self, name: u32, look: impl FnOnce(&str) -> R) -> R {
        look(self.names.borrow().name(NameId(name)).unwrap_or_default())
    }

    /// Writes a line that the plan logs, or a warning, to the run's log, or counts it as dropped.
    pub(crate) fn log(&self, text: &str) {
        self.tell(text);
        self.write_down(text, false, None);
    }

    /// Writes what went wrong to the run's log, or counts it as dropped.
    pub(crate) fn log_failure(&self, text: &str) {
        self.tell(text);
        self.write_down(text, true, None);
    }

    /// Tells a line to who watches.
    pub(crate) fn tell(&self, text: &str) {
        if let Some(told) = self.trace.as_ref().and_then(Trace::log) {
            told(&self.shown(text));
        }
    }

    /// Tells what a script has measured to who watches that; it is made only for those.
    pub(crate) fn tell_measured(&self, now: u64, measured: impl FnOnce() -> Measured) {
        if let Some(told) = self.trace.as_ref().and_then(Trace::measured) {
            let at_us = now.saturating_sub(self.start) / 1_000;
            told(Measured { at_us, secrets: self.secrets(), ..measured() });
        }
    }

    /// A text as it may be shown.
    fn shown(&self, text: &str) -> String {
        line::shown(text, &self.secrets())
    }

    /// What no output may show, as far as it is known by now.
    pub(crate) fn secrets(&self) -> Arc<Secrets> {
        self.secrets.borrow().clone()
    }

    /// The same, for one who may have them already: to count who has them costs the more, the more threads do.
    pub(crate) fn share_secrets(&self, with: &mut Arc<Secrets>) {
        let own = self.secrets.borrow();
        if !Arc::ptr_eq(&own, with) {
            *with = own.clone();
        }
    }

    /// A variable holds something that no output may show from now on.
    ///
    /// # Errors
    /// There are too many of those.
    pub(crate) fn found_secret(&self, value: &Value) -> Result<(), String> {
        let mut shared = self.secrets.borrow_mut();
        let secrets = Arc::make_mut(&mut shared);
        let from = secrets.texts().len();
        secrets.add_value(value);
        secret_forms::add(secrets, from, &self.charsets);
        secrets.too_many().map_or(Ok(()), |error| Err(error.message))
    }

    fn write_down(&self, text: &str, is_failure: bool, example: Option<ErrorExample>) {
        let mut log = self.log.borrow_mut();
        if log.len() < LOG_LINES {
            let (worker, second) = (self.worker, self.second.get());
            let text = self.shown(text);
            log.push(LogLine { worker, second, text, is_failure, example });
        } else {
            self.count(|counters| counters.log_dropped += 1);
        }
    }

    /// How many bytes of a response's body are kept for an example of an error: none before the first error, and then of
    /// those rows of which the next error will be written down.
    #[inline]
    pub(crate) fn example_bytes(&self, name: Option<u32>) -> u64 {
        let expects = self.expects_example.borrow();
        let expected = name.is_some_and(|name| expects.get(name as usize).is_some_and(|own| *own));
        if expected { EXAMPLE_BYTES } else { 0 }
    }

    /// The beginning of a body of `whole` bytes as it may be shown: masked before it is cut.
    pub(crate) fn excerpt(&self, body: &[u8], whole: u64) -> String {
        let bytes = &body[..body.len().min(EXAMPLE_BYTES as usize)];
        let is_cut = whole > bytes.len() as u64;
        let masked = self.secrets().mask_response(Excerpt { bytes, is_cut });
        let short: String = masked.chars().take(EXAMPLE_CHARS).collect();
        escape_control(&short).into_owned()
    }

    /// Whether the next error of a kind is written down with its detail.
    pub(crate) fn wants_detail(&self, name: u32, kind: ErrorKind) -> bool {
        let seen = self.details.borrow().get(&(name, kind)).copied().unwrap_or(0);
        is_example(seen + 1)
    }

    /// Writes down the detail of an error, the first few times that it occurs and then now and again.
    pub(crate) fn detail(
        &self,
        name: u32,
        kind: ErrorKind,
        status: u16,
        detail: impl FnOnce() -> (String, String),
    ) {
        let number = self.count_error(name, kind);
        if !is_example(number) {
            return;
        }
        let key = self.names.borrow().key(NameId(name));
        let (scenario, text) = key.map(|key| (key.place.scenario, key.name)).unwrap_or_default();
        let (detail, excerpt) = detail();
        let colon = if detail.is_empty() { "" } else { ": " };
        let line = format!("{text}: {}{colon}{detail}", kind.label());
        let name = self.secrets().mask(&text);
        let example = ErrorExample { scenario, name, kind, status, number, excerpt };
        self.write_down(&line, true, Some(example));
    }

    /// Which one of its kind and row an error is, from 1.
    fn count_error(&self, name: u32, kind: ErrorKind) -> u64 {
        let mut details = self.details.borrow_mut();
        let seen = details.entry((name, kind)).or_default();
        *seen += 1;
        let number = *seen;
        let expects = |kind| details.get(&(name, kind)).is_some_and(|seen| is_example(seen + 1));
        let row = name as usize;
        let mut of_rows = self.expects_example.borrow_mut();
        if of_rows.len() <= row {
            of_rows.resize(row + 1, false);
        }
        of_rows[row] = expects(ErrorKind::Status) || expects(ErrorKind::Check);
        number
    }

    /// Hands over the slices of the seconds that are over at `now`.
    pub(crate) fn roll(&self, now: u64) {
        let second = (now.saturating_sub(self.start) / SECOND) as u32;
        if second > self.second.get() {
            self.hand_over(second, self.start + u64::from(second) * SECOND);
        }
    }

    /// So many users are there from now on.
    pub(crate) fn users(&self, users: u64) {
        self.users.set(users);
        self.count(|counters| counters.users_active = counters.users_active.max(users));
    }

    /// So many users of closed loads will come.
    pub(crate) fn expect_users(&self, users: u64) {
        self.book.borrow_mut().expect(users);
    }

    /// A user changed its state.
    #[inline]
    pub(crate) fn state(&self, from: UserState, to: UserState, at: u64) {
        self.book.borrow_mut().change(from, to, at);
    }

    /// A request of a user of a closed load is over, and this is what became of it; `delay` ns of its time were the
    /// generator's.
    #[inline]
    pub(crate) fn of_user(&self, fate: Fate, phases: &Phases, delay: u64) {
        let mut book = self.book.borrow_mut();
        if fate == Fate::Ended {
            book.request(phases);
        }
        book.correct(UserState::Request, UserState::Ready, delay);
    }

    /// Adds to what the worker measures of itself in the present second.
    #[inline]
    pub(crate) fn self_metrics(&self, change: impl FnOnce(&mut SelfMetrics)) {
        change(&mut self.slice.borrow_mut().self_metrics);
    }

    /// Hands over what is left.
    pub(crate) fn finish(&self, now: u64) {
        self.hand_over(self.second.get() + 1, now);
    }

    /// Hands over the slice of the present second, which ended at `end`, on the clock.
    fn hand_over(&self, second: u32, end: u64) {
        self.second.set(second);
        let mut next =
            self.empty.try_recv().unwrap_or_else(|_| Box::new(Slice::new(self.worker, second)));
        next.restart(second);
        next.counters.users_active = self.users.get();
        let mut full = self.slice.replace(next);
        self.levels.close(&mut full.load);
        full.time_account = self.book.borrow_mut().close(end);
        self.effort.borrow_mut().measure(&mut full.self_metrics);
        let log = std::mem::take(&mut *self.log.borrow_mut());
        if !log.is_empty() {
            let _ = self.messages.send(Message::Log(log));
        }
        if let Some(begun) = self.begun.borrow_mut().as_mut() {
            let (second, begun) = (full.second, std::mem::take(begun));
            let _ = self.messages.send(Message::Progress { second, begun });
        }
        // It fails only when the run has been given up.
        let _ =
            self.messages.send(Message::Slice { slice: full, give_back: self.give_back.clone() });
    }

    /// Asks whoever commands the run to end it; what is in flight may take so long.
    pub(crate) fn ask_to_stop(&self, graceful: Duration) {
        let _ = self.messages.send(Message::StopAsked(graceful));
    }

    /// Says that this worker's share of a load is done.
    pub(crate) fn tell_load_done(&self, load: u16) {
        let _ = self.messages.send(Message::LoadDone(load));
    }

    /// Says whether this worker has done what its share has.
    pub(crate) fn tell_idle(&self, is_idle: bool) {
        let _ = self.messages.send(Message::Idle { worker: self.worker, is_idle });
    }

    /// Says that a load has ended before its time, for all workers.
    pub(crate) fn tell_load_ended(&self, load: u16) {
        let _ = self.messages.send(Message::LoadEnded(load));
    }
}

/// Whether an error is written down, given which one of its kind and row it is, from 1.
fn is_example(number: u64) -> bool {
    number <= FIRST_ERRORS || number.is_multiple_of(ERRORS_PER_EXAMPLE)
}

/// A row of which no part shows a secret.
fn masked(key: RowKey, secrets: &Secrets) -> RowKey {
    let mut key = RowKey { name: secrets.mask(&key.name), ..key };
    key.place.group.iter_mut().for_each(|group| *group = secrets.mask(group));
    key.place.tags.iter_mut().for_each(|(_, value)| *value = secrets.mask(value));
    key
}
