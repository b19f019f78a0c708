//! The rows under which requests, checks and groups of a script count. Names and groups are known only when a user comes
//! to them; each is looked up once and then kept.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use squall_metrics::{Place, PlaceId, RowKind};
use squall_script::HttpHead;

use super::route::{Route, Routes};
use crate::parts::names;
use crate::record::Recorder;

/// Most names that are kept for one place: a script may ask for a new URL each time.
const MOST_KEPT: usize = 10_000;

/// A place within the groups of a script, by its number; 0 is outside of all.
pub(crate) type Spot = u32;

/// The rows of a call.
#[derive(Debug)]
pub(crate) struct Rows {
    spots: RefCell<Vec<SpotRows>>,
}

#[derive(Debug)]
struct SpotRows {
    /// Its place, of requests.
    place: Place,
    /// What begins within it, once somebody was there.
    requests: Names,
    checks: Names,
    groups: Names,
    /// Where those groups lead to, by name.
    inner: HashMap<Rc<str>, Spot>,
    routes: Routes,
}

/// The names of a kind at a place.
#[derive(Debug, Default)]
struct Names {
    place: Option<PlaceId>,
    numbers: HashMap<Rc<str>, u32>,
}

impl Rows {
    pub(super) fn new(place: &Place) -> Rows {
        Rows { spots: RefCell::new(vec![SpotRows::new(place.clone())]) }
    }

    /// The row of a request of this name.
    pub(crate) fn request(&self, recorder: &Recorder, spot: Spot, name: &str) -> u32 {
        self.at(spot, |own| own.requests.number(recorder, (&own.place, RowKind::Request), name))
    }

    /// Where requests count.
    pub(crate) fn place_of_requests(&self, recorder: &Recorder, spot: Spot) -> PlaceId {
        self.at(spot, |own| own.requests.place(recorder, (&own.place, RowKind::Request)))
    }

    /// The route of requests that say this at a spot, made if there is none yet.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn route<E>(
        &self,
        spot: Spot,
        head: &Rc<HttpHead>,
        make: impl FnOnce() -> Result<Route, E>,
    ) -> Result<Rc<Route>, E> {
        if let Some(own) = self.at(spot, |own| own.routes.get(head)) {
            return Ok(own);
        }
        let route = Rc::new(make()?);
        self.at(spot, |own| own.routes.keep(head, &route));
        Ok(route)
    }

    /// The row of a check of this name.
    pub(crate) fn check(&self, recorder: &Recorder, spot: Spot, name: &str) -> u32 {
        self.at(spot, |own| own.checks.number(recorder, (&own.place, RowKind::Check), name))
    }

    /// The row of a group that begins at a spot, and the spot within it.
    pub(crate) fn group(&self, recorder: &Recorder, spot: Spot, name: &Rc<str>) -> (u32, Spot) {
        let (row, known, mut place) = self.at(spot, |own| {
            let row = own.groups.number(recorder, (&own.place, RowKind::Group), name);
            (row, own.inner.get(name).copied(), own.place.clone())
        });
        if let Some(inner) = known {
            return (row, inner);
        }
        // What is counted as `other` has no rows within it.
        if recorder.with_name(row, |own| own != &*names::limited(name)) {
            return (row, spot);
        }
        place.group.push(names::limited(name).into_owned());
        let mut spots = self.spots.borrow_mut();
        let inner = spots.len() as Spot;
        spots.push(SpotRows::new(place));
        spots[spot as usize].inner.insert(name.clone(), inner);
        (row, inner)
    }

    /// The names of the groups around a spot, the outermost first.
    pub(crate) fn with_groups<R>(&self, spot: Spot, look: impl FnOnce(&[String]) -> R) -> R {
        self.at(spot, |own| look(&own.place.group))
    }

    fn at<R>(&self, spot: Spot, look: impl FnOnce(&mut SpotRows) -> R) -> R {
        look(&mut self.spots.borrow_mut()[spot as usize])
    }
}

impl SpotRows {
    fn new(place: Place) -> SpotRows {
        let inner = HashMap::new();
        let [requests, checks, groups] = [(); 3].map(|()| Names::default());
        SpotRows { place, requests, checks, groups, inner, routes: Routes::default() }
    }
}

impl Names {
    fn place(&mut self, recorder: &Recorder, (place, kind): (&Place, RowKind)) -> PlaceId {
        let made = || recorder.place(&Place { kind, ..place.clone() });
        *self.place.get_or_insert_with(made)
    }

    fn number(&mut self, recorder: &Recorder, of: (&Place, RowKind), name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let place = self.place(recorder, of);
        let number = recorder.name(place, &names::limited(name));
        if self.numbers.len() >= MOST_KEPT {
            self.numbers.clear();
        }
        self.numbers.insert(name.into(), number);
        number
    }
}
