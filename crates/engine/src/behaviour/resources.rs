//! The resources of a page, loaded at the same time as a browser does: what they name is loaded too, as
//! far as frames and styles go. Each is a sample of its own, in a strand of its user.

use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::pin::Pin;
use std::rc::Rc;

use squall_extract::{
    Documents, Extractor, Found as Match, Limits, MatchChoice, RESOURCES_LIMIT, ResourceKind,
};
use squall_plan::expr::Slot;
use squall_plan::model::CacheUse;
use squall_plan::value::Value;
use tokio::sync::Notify;

use super::lanes;
use crate::net::in_flight::Guard;
use crate::net::origins::KnownOrigin;
use crate::parts::cache::Lookup;
use crate::post::OnTheWay;
use crate::program::{PostOp, RequestOp, ResourcesOp};
use crate::sample::{self, Call, Found, Item, Moment, SampleHead, Sampled, look_up};
use crate::trace::{Tally, Trace};
use crate::user::{Core, OpenGroup, Strand};
use crate::worker::Worker;

/// Frames within frames that are loaded.
const FRAME_DEPTH: u32 = 3;

/// Requests a page and loads what it names, all of which is a group of the page's name. Returns when it
/// was done.
pub(super) async fn load_page(
    worker: &Rc<Worker>,
    core: &Core,
    strand: &mut Strand,
    in_flight: &Guard<'_>,
    (op, resources): (&RequestOp, &ResourcesOp),
    now: Moment,
) -> Moment {
    worker.note_begin(core, strand, now);
    let one_sample = worker.trace.as_ref().and_then(Trace::next_group);
    // What fails in it fails it; its name is known when the page has one.
    strand.groups.push(OpenGroup {
        name: 0,
        since: now.ready,
        failed: false,
        thought_before: None,
        tally_before: strand.tally(),
        is_sample: false,
        one_sample,
    });
    let mut sampled = sample::sample(worker, core, strand, in_flight, op, now).await;
    let (page, found) = (sampled.name, sampled.found.take());
    let mut end = worker.note_end(core, strand, &sampled);
    worker.advance_if_due(end.seen);
    if let Some(found) = found
        && !core.is_ending()
        && !worker.is_stopping()
    {
        end = load(worker, core, strand, resources, page, &found, end).await;
    }
    if let Some(group) = strand.groups.pop() {
        let name = worker.recorder.name(resources.group, &worker.recorder.name_text(page));
        let group = OpenGroup { name, ..group };
        match core.stopped.get() || worker.is_stopping() {
            true => worker.recorder.cut_off_group(&group, end.ready),
            false => worker.end_page(core, strand, &group, end.ready),
        }
    }
    end
}

/// Loads what a page names that came at `now`. Returns when all was there.
fn load<'a>(
    worker: &'a Rc<Worker>,
    core: &'a Core,
    strand: &'a mut Strand,
    op: &'a ResourcesOp,
    page: u32,
    found: &'a Found,
    now: Moment,
) -> Pin<Box<dyn Future<Output = Moment> + 'a>> {
    Box::pin(async move {
        lanes::open(worker, core, strand, now);
        let strands: Vec<Strand> =
            (0..op.limit.min(RESOURCES_LIMIT)).map(|_| strand.branch()).collect();
        let loading = Loading {
            worker,
            core,
            op,
            page_origin: found.origin.clone(),
            page: worker.recorder.name_text(page),
            names: Default::default(),
            waiting: RefCell::default(),
            seen: RefCell::default(),
            sought: RefCell::new(
                found.sought.iter().map(|slot| Sought { slot: *slot, found: None }).collect(),
            ),
            busy: Cell::new(0),
            more: Notify::new(),
            failed: Cell::new(false),
            tally: Cell::default(),
            end: Cell::new(now.ready),
        };
        loading.add(found, Depth::default());
        let run = |strand| loading.lane(strand, now);
        lanes::join(core, strands.into_iter().map(run)).await;
        loading.hand_over();
        let (failed, tally, end) = (loading.failed.get(), loading.tally.get(), loading.end.get());
        if failed {
            strand.fail_groups();
        }
        if tally != Tally::default() {
            strand.tally_mut().add(tally);
        }
        strand.due = end;
        lanes::close(worker, core, strand, end)
    })
}

/// How far from the page something stands.
#[derive(Debug, Clone, Copy, Default)]
struct Depth {
    frames: u32,
    in_style: bool,
}

/// A variable that an extract of the page seeks in what it loads.
struct Sought {
    slot: Slot,
    /// The number of the resource that has it, and what it is there.
    found: Option<(usize, Value)>,
}

/// A resource that nobody loads yet.
struct Waiting {
    /// How many of the page's were found before it.
    number: usize,
    item: Item,
    depth: Depth,
}

/// Resources that are being loaded, by as many lanes as are allowed.
struct Loading<'a> {
    worker: &'a Rc<Worker>,
    core: &'a Core,
    op: &'a ResourcesOp,
    page_origin: Rc<KnownOrigin>,
    page: String,
    /// The names of its resources, by kind, as far as there were any.
    names: [Cell<Option<u32>>; ResourceKind::ALL.len()],
    waiting: RefCell<VecDeque<Waiting>>,
    /// The URLs of all that have waited.
    seen: RefCell<HashSet<String>>,
    /// What extracts of the page seek.
    sought: RefCell<Vec<Sought>>,
    /// Lanes that are loading something, which may name more.
    busy: Cell<usize>,
    /// Told when a lane has nothing more in flight.
    more: Notify,
    failed: Cell<bool>,
    /// What was sampled, where somebody watches.
    tally: Cell<Tally>,
    end: Cell<u64>,
}

impl Loading<'_> {
    /// Lets what was found wait to be loaded.
    fn add(&self, found: &Found, depth: Depth) {
        let (mut seen, mut waiting) = (self.seen.borrow_mut(), self.waiting.borrow_mut());
        for item in found.items(self.worker) {
            let wanted = seen.len() < RESOURCES_LIMIT
                && (item.kind != ResourceKind::Frame || depth.frames < FRAME_DEPTH)
                && self.is_wanted(&item);
            if wanted && seen.insert(item.url.clone()) {
                waiting.push_back(Waiting { number: seen.len(), item, depth });
            }
        }
    }

    fn is_wanted(&self, item: &Item) -> bool {
        let matches = |pattern: &Extractor| {
            let url = Documents::new(item.url.as_bytes(), Limits::default());
            !matches!(pattern.find_in(&url, MatchChoice::First, 0), Ok(Match::None) | Err(_))
        };
        let near = item.origin.origin.host == self.page_origin.origin.host;
        (near || !self.op.same_host)
            && (item.kind != ResourceKind::Asset || self.op.css_urls)
            && self.op.include.as_deref().is_none_or(&matches)
            && !self.op.exclude.as_deref().is_some_and(&matches)
    }

    /// Loads one after the other, until there is nothing more, and nobody who may find more.
    async fn lane(&self, mut strand: Strand, mut now: Moment) {
        let in_flight = self.worker.in_flight.enter();
        while !self.worker.has_to_end(self.core) {
            let Some(waiting) = self.take() else {
                if self.busy.get() == 0 {
                    break;
                }
                self.more.notified().await;
                now = Moment::at(self.worker.clock.now());
                continue;
            };
            self.busy.set(self.busy.get() + 1);
            now = self.fetch(&mut strand, &in_flight, &waiting, now).await;
            self.busy.set(self.busy.get() - 1);
            self.more.notify_waiters();
        }
        self.more.notify_waiters();
        self.failed.set(self.failed.get() || strand.failed);
        let mut tally = self.tally.get();
        tally.add(strand.tally());
        self.tally.set(tally);
    }

    fn take(&self) -> Option<Waiting> {
        self.waiting.borrow_mut().pop_front()
    }

    /// Loads one, unless the user has it fresh. Returns when it was there.
    async fn fetch(
        &self,
        strand: &mut Strand,
        in_flight: &Guard<'_>,
        Waiting { number, item, depth }: &Waiting,
        now: Moment,
    ) -> Moment {
        let Loading { worker, core, op, .. } = *self;
        let is_read = match item.kind {
            ResourceKind::Frame => true,
            ResourceKind::Style => !depth.in_style,
            _ => false,
        };
        let below = match item.kind {
            ResourceKind::Frame => Depth { frames: depth.frames + 1, ..*depth },
            _ => Depth { in_style: true, ..*depth },
        };
        let policy = if is_read { &op.document } else { &op.file };
        let place = ("GET", item.origin.clone(), item.path.as_bytes());
        let mut call = Call { with_body: false, ..Call::new(worker, place, &op.content) };
        match look_up(worker, core, policy, &call, &item.url) {
            Lookup::Absent => {}
            Lookup::Stale(conditions) => call.conditions = conditions,
            Lookup::Fresh(page) => {
                worker.recorder.count(|counters| counters.cache_hits += 1);
                page.iter().for_each(|page| self.add(&Found::at(&call, page.clone()), below));
                return now;
            }
        }
        call.trusted = item.origin == self.page_origin;
        let name = Some(self.name(item.kind));
        let head = SampleHead::of(&policy.row, "GET", false);
        let head = SampleHead { name, is_of_page: true, ..head };
        let wanted = item.wanted(is_read, op.cache != CacheUse::Off);
        let request = sample::CallSampler { head, call, policy, wanted };
        worker.note_begin(core, strand, now);
        let mut sampled: Sampled =
            sample::sample(worker, core, strand, in_flight, request, now).await;
        let found = sampled.found.take();
        self.note(*number, &policy.post, std::mem::take(&mut sampled.on_the_way));
        let end = worker.note_end(core, strand, &sampled);
        self.end.set(self.end.get().max(end.ready));
        found.iter().for_each(|found| self.add(found, below));
        worker.advance_if_due(end.seen);
        end
    }

    /// Notes what the resource of a number has of what the page seeks: the first in the order of the page counts.
    fn note(&self, number: usize, post: &[PostOp], found: OnTheWay) {
        let mut sought = self.sought.borrow_mut();
        for (place, value) in found {
            let PostOp::Extract(extract) = &post[place] else { continue };
            let open = sought.iter_mut().find(|own| own.slot == extract.slot);
            if let Some(Sought { found, .. }) = open
                && found.as_ref().is_none_or(|(before, _)| number < *before)
            {
                self.worker.learn(&extract.variable, &value);
                *found = Some((number, value));
            }
        }
    }

    /// Gives the user's variables what was found.
    fn hand_over(&self) {
        for Sought { slot, found } in self.sought.take() {
            if let Some((_, value)) = found {
                self.core.set(&self.worker.program, slot, Some(value));
            }
        }
    }

    fn name(&self, kind: ResourceKind) -> u32 {
        let name = &self.names[kind as usize];
        let number = name.get().unwrap_or_else(|| {
            let text = format!("{} ({})", self.page, kind.label());
            self.worker.recorder.name(self.op.file.row.place, &text)
        });
        name.set(Some(number));
        number
    }
}
