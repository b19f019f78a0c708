//! The counts of a histogram: a short list while few buckets are used; then pages of 64 counters, allocated
//! at first use and reused after clearing; and compact bytes once no more values are expected.

use crate::codec::{self, DecodeError};

/// Most buckets in a list to which values are added one by one; a page costs as much as 64 of them.
const MAX_LISTED: usize = 512;
/// Most buckets in a list to which only others are added, which takes less time a value: of a thousand names in a run of some
/// minutes each has some hundred values, nearly as many buckets, and one to ten of these on a page.
const MAX_MERGED: usize = 2048;
/// Most bytes that lie where the store itself does, which takes no more memory for them.
const MAX_INLINE: usize = 30;
/// Most buckets that are merged into a list at a time.
const TOGETHER: usize = 32;
const PAGE: usize = 64;
/// Fewest pages for which memory is taken at a time.
const MIN_NEW_PAGES: usize = 4;
const NO_PAGE: u16 = u16::MAX;

/// Index and count of the touched buckets.
#[derive(Debug, Clone)]
pub(super) enum Store {
    /// In order of the index, at most [`MAX_MERGED`].
    Few(Vec<(u16, u16)>),
    Many(Box<Pages>),
    /// As [`Store::pack`] writes them: one to three bytes each.
    Packed(Packed),
}

/// Bytes that [`Store::pack`] has written. Of a name that is rarely used in a second they are few, and a run has millions
/// of such names and seconds.
#[derive(Debug, Clone)]
pub(super) enum Packed {
    /// So many of them.
    Inline(u8, [u8; MAX_INLINE]),
    Boxed(Box<[u8]>),
}

impl Packed {
    fn of(bytes: &[u8]) -> Packed {
        let mut inline = [0; MAX_INLINE];
        match inline.get_mut(..bytes.len()) {
            Some(own) => {
                own.copy_from_slice(bytes);
                Packed::Inline(bytes.len() as u8, inline)
            }
            None => Packed::Boxed(bytes.into()),
        }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Packed::Inline(length, bytes) => &bytes[..usize::from(*length)],
            Packed::Boxed(bytes) => bytes,
        }
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Packed::Inline(..) => 0,
            Packed::Boxed(bytes) => bytes.len(),
        }
    }
}

impl Default for Store {
    fn default() -> Self {
        Store::Few(Vec::new())
    }
}

impl Store {
    #[inline]
    pub(super) fn add(&mut self, index: usize, count: u64) {
        match self {
            Store::Many(pages) => pages.add(index, count),
            Store::Few(_) => self.add_to_few(index, count),
            Store::Packed(_) => {
                let mut unpacked = Store::default();
                self.touched().for_each(|(index, count)| unpacked.add(index, count));
                *self = unpacked;
                self.add(index, count);
            }
        }
    }

    /// Adds what another holds.
    pub(super) fn merge(&mut self, other: &Store) {
        match other {
            Store::Few(list) => self.merge_buckets(list.iter().map(|own| bucket(*own))),
            Store::Many(pages) => self.merge_buckets(pages.touched()),
            Store::Packed(packed) => self.merge_buckets(unpack(packed.bytes())),
        }
    }

    /// Adds buckets that come in order of their index.
    #[inline]
    pub(super) fn merge_buckets(&mut self, mut buckets: impl Iterator<Item = (usize, u64)>) {
        while !matches!(self, Store::Many(_)) {
            let (mut some, mut taken) = ([(0, 0); TOGETHER], 0);
            for (own, bucket) in some.iter_mut().zip(&mut buckets) {
                *own = bucket;
                taken += 1;
            }
            let some = &some[..taken];
            let merged = if let Store::Few(list) = self { merge_sorted(list, some) } else { false };
            if !merged {
                some.iter().for_each(|(index, count)| self.add(*index, *count));
            }
            if taken < TOGETHER {
                return;
            }
        }
        if let Store::Many(pages) = self {
            buckets.for_each(|(index, count)| pages.add(index, count));
        }
    }

    fn add_to_few(&mut self, index: usize, count: u64) {
        let Store::Few(list) = self else { return };
        let place = list.binary_search_by_key(&(index as u16), |(own, _)| *own);
        let short = u16::try_from(count).ok();
        match (place, short) {
            (Ok(at), Some(count)) if list[at].1.checked_add(count).is_some() => list[at].1 += count,
            (Err(at), Some(count)) if list.len() < MAX_LISTED => {
                list.insert(at, (index as u16, count))
            }
            _ => {
                let mut pages = Box::<Pages>::default();
                for (index, count) in list.iter() {
                    pages.add(usize::from(*index), u64::from(*count));
                }
                pages.add(index, count);
                *self = Store::Many(pages);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        match self {
            Store::Few(list) => list.clear(),
            Store::Many(pages) => {
                pages.counters.iter_mut().for_each(|page| page.fill(0));
                pages.overflows.clear();
            }
            Store::Packed(_) => *self = Store::default(),
        }
    }

    /// Index and count of what holds something, in order.
    pub(super) fn touched(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let (few, many, packed) = match self {
            Store::Few(list) => (list.as_slice(), None, &[][..]),
            Store::Many(pages) => (&[][..], Some(pages), &[][..]),
            Store::Packed(packed) => (&[][..], None, packed.bytes()),
        };
        let few = few.iter().map(|own| bucket(*own));
        let many = many.into_iter().flat_map(|pages| pages.touched());
        few.chain(many).chain(unpack(packed))
    }

    /// Appends for each touched bucket twice the distance from the one before, as a varint; where more than one value
    /// was counted it is one more, and the count follows. Of most buckets of a second it is one value.
    pub(super) fn pack(&self, out: &mut Vec<u8>) {
        let mut before = 0;
        for (index, count) in self.touched() {
            let distance = (index - before) as u64;
            codec::put(out, distance << 1 | u64::from(count > 1));
            if count > 1 {
                codec::put(out, count);
            }
            before = index;
        }
    }

    /// Takes so many buckets that [`Store::pack`] wrote, none of an index above `highest`, and how many values they
    /// count.
    ///
    /// # Errors
    /// The bytes are not of that form.
    pub(super) fn take_packed(
        bytes: &mut &[u8],
        buckets: u64,
        highest: usize,
    ) -> Result<(Store, u64), DecodeError> {
        let (packed, mut index, mut values) = (*bytes, 0u64, 0u64);
        for at in 0..buckets {
            let (distance, count) = take_bucket(bytes)?;
            index = index.saturating_add(distance);
            let in_order = at == 0 || distance > 0;
            if !in_order || index > highest as u64 || count == 0 {
                return Err(DecodeError("a histogram's bucket is out of range"));
            }
            values = values.saturating_add(count);
        }
        Ok((Store::Packed(Packed::of(&packed[..packed.len() - bytes.len()])), values))
    }

    /// Takes as little memory as there is, until something is added.
    pub(super) fn compact(&mut self) {
        if matches!(self, Store::Packed(_)) {
            return;
        }
        let mut bytes = Vec::new();
        self.pack(&mut bytes);
        *self = Store::Packed(Packed::of(&bytes));
    }

    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Store::Few(list) => list.capacity() * size_of::<(u16, u16)>(),
            Store::Many(pages) => {
                size_of::<Pages>()
                    + pages.at.capacity() * 2
                    + pages.counters.capacity() * size_of::<[u32; PAGE]>()
                    + pages.page_of.capacity() * 2
                    + pages.overflows.capacity() * 16
            }
            Store::Packed(packed) => packed.heap_bytes(),
        }
    }
}

/// Index and count of a bucket in a list.
fn bucket((index, count): (u16, u16)) -> (usize, u64) {
    (usize::from(index), u64::from(count))
}

/// What [`Store::pack`] wrote: index and count.
fn unpack(mut bytes: &[u8]) -> impl Iterator<Item = (usize, u64)> + '_ {
    let mut index = 0;
    std::iter::from_fn(move || {
        let (distance, count) = take_bucket(&mut bytes).ok()?;
        index += distance as usize;
        Some((index, count))
    })
}

/// Takes a bucket that [`Store::pack`] wrote: its distance from the one before, and its count.
#[inline(always)]
fn take_bucket(bytes: &mut &[u8]) -> Result<(u64, u64), DecodeError> {
    let head = codec::get(bytes)?;
    let count = if head & 1 == 0 { 1 } else { codec::get(bytes)? };
    Ok((head >> 1, count))
}

/// Adds at most [`TOGETHER`] buckets, in order of their index, to a list where that has room for them; `false`: it has not,
/// and is as it was. What is behind a new one moves once, whatever the number of those before it.
fn merge_sorted(list: &mut Vec<(u16, u16)>, buckets: &[(usize, u64)]) -> bool {
    // Where each bucket is in the list or belongs, and whether it is there.
    let mut places = [(0, false); TOGETHER];
    let (mut at, mut new) = (0, 0);
    for (place, (index, count)) in places.iter_mut().zip(buckets) {
        at += list[at..].partition_point(|own| usize::from(own.0) < *index);
        let there = list.get(at).filter(|own| usize::from(own.0) == *index);
        *place = (at, there.is_some());
        new += usize::from(there.is_none());
        let own = there.map_or(0, |own| own.1);
        if count.saturating_add(u64::from(own)) > u64::from(u16::MAX) {
            return false;
        }
    }
    if list.len() + new > MAX_MERGED {
        return false;
    }
    let mut from = list.len();
    list.resize(from + new, (0, 0));
    let mut to = list.len();
    for ((at, is_there), (index, count)) in places[..buckets.len()].iter().zip(buckets).rev() {
        if *is_there {
            list[*at].1 += *count as u16;
            continue;
        }
        to -= from - at;
        list.copy_within(*at..from, to);
        from = *at;
        to -= 1;
        list[to] = (*index as u16, *count as u16);
    }
    true
}

/// Counters where they were touched.
#[derive(Debug, Clone, Default)]
pub(super) struct Pages {
    /// Where each page lies, or [`NO_PAGE`]; as long as the highest page that was touched.
    at: Vec<u16>,
    counters: Vec<[u32; PAGE]>,
    /// Which page each of `counters` is.
    page_of: Vec<u16>,
    /// Counters that overflowed their 32 bits: index, and how many times 2^32.
    overflows: Vec<(u32, u64)>,
}

impl Pages {
    #[inline]
    fn add(&mut self, index: usize, count: u64) {
        let page = index / PAGE;
        let at = match self.at.get(page) {
            Some(&at) if at != NO_PAGE => at as usize,
            _ => self.new_page(page),
        };
        let counter = &mut self.counters[at][index % PAGE];
        match u32::try_from(count).ok().and_then(|count| counter.checked_add(count)) {
            Some(sum) => *counter = sum,
            None => self.overflow(at, index, count),
        }
    }

    #[cold]
    fn new_page(&mut self, page: usize) -> usize {
        if self.at.len() <= page {
            self.at.resize(page + 1, NO_PAGE);
        }
        if self.counters.len() == self.counters.capacity() {
            // By a quarter: there may be a histogram for each of a thousand names, and pages rarely come.
            self.counters.reserve_exact((self.counters.len() / 4).max(MIN_NEW_PAGES));
        }
        self.counters.push([0; PAGE]);
        self.page_of.push(page as u16);
        self.at[page] = (self.counters.len() - 1) as u16;
        self.counters.len() - 1
    }

    #[cold]
    fn overflow(&mut self, at: usize, index: usize, count: u64) {
        let counter = &mut self.counters[at][index % PAGE];
        let sum = u64::from(*counter).saturating_add(count);
        *counter = sum as u32;
        self.overflows.push((index as u32, sum >> 32));
    }

    fn touched(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let present = (0..self.at.len()).filter(|page| self.at[*page] != NO_PAGE);
        present.flat_map(move |page| {
            let at = self.at[page] as usize;
            let counts = self.counters[at].iter().enumerate().map(move |(offset, low)| {
                let count = match self.overflows.is_empty() {
                    true => u64::from(*low),
                    false => self.count_at(at, offset),
                };
                (page * PAGE + offset, count)
            });
            counts.filter(|(_, count)| *count > 0)
        })
    }

    fn count_at(&self, at: usize, offset: usize) -> u64 {
        let low = u64::from(self.counters[at][offset]);
        let index = (self.page_of[at] as usize * PAGE + offset) as u32;
        let own = self.overflows.iter().filter(|(i, _)| *i == index);
        let high = own.fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
        low.saturating_add(high.saturating_mul(1 << 32))
    }
}
