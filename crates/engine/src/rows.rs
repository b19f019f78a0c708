//! The rows of data files that iterations get.

use std::cell::RefCell;

use squall_load::Share;
use squall_plan::model::{AtEnd, Share as SharedBy};

use crate::parts::data::Reader;
use crate::parts::row_selection::RowSelection;
use crate::program::Program;
use crate::user::{Core, UserFeed};

/// A worker's place in each data file.
pub(crate) struct Rows {
    readers: RefCell<Vec<Reader>>,
    /// How many rows were taken of each feed, over all its users and by each scenario's.
    taken: RefCell<Vec<u64>>,
}

/// Why an iteration got no row.
pub(crate) enum NoRow {
    /// The file has no more.
    Exhausted,
    /// It could not be read, in a sentence.
    Unreadable(String),
}

impl Rows {
    pub(crate) fn new(program: &Program) -> Self {
        let readers = program.feeds.iter().map(|feed| Reader::new(&feed.source)).collect();
        let taken = vec![0; program.feeds.len() * (program.scenarios.len() + 1)];
        Rows { readers: RefCell::new(readers), taken: RefCell::new(taken) }
    }

    /// Gives a user the rows of its next iteration: one of each file that its steps look at.
    ///
    /// # Errors
    /// A file has no row for it.
    pub(crate) fn take(&self, program: &Program, share: &Share, user: &Core) -> Result<(), NoRow> {
        let feeds = &program.scenarios[user.scenario()].feeds;
        feeds.iter().try_for_each(|&feed| self.take_one(program, share, user, feed))
    }

    /// Gives a user its next row of one file.
    ///
    /// # Errors
    /// There is no row for it.
    pub(crate) fn take_one(
        &self,
        program: &Program,
        share: &Share,
        user: &Core,
        feed: u16,
    ) -> Result<(), NoRow> {
        let index = usize::from(feed);
        let feed = &program.feeds[index];
        if user.feeds.borrow().is_empty() {
            user.feeds.replace(vec![UserFeed::default(); program.feeds.len()].into());
        }
        let counter = match feed.share {
            SharedBy::Scenario => user.scenario() + 1,
            SharedBy::All | SharedBy::User => 0,
        };
        let selection = RowSelection {
            pick: feed.pick,
            shared_by: feed.share,
            at_end: feed.at_end,
            rows: feed.source.rows(),
            share,
        };
        let number = {
            let mut by_worker = self.taken.borrow_mut();
            let by_worker = &mut by_worker[index * (program.scenarios.len() + 1) + counter];
            let by_user = &mut user.feeds.borrow_mut()[index].taken;
            selection.next(user.seat.number, by_user, by_worker, user.chance())
        };
        let row = match number {
            Some(number) => {
                let row = self.readers.borrow_mut()[index].row(number);
                let row = row.map_err(|error| format!("data `{}`: {error}", feed.name));
                Some(row.map_err(NoRow::Unreadable)?).filter(|row| !row.is_end())
            }
            None => None,
        };
        let row = match (row, feed.at_end) {
            (Some(row), _) => row,
            (None, AtEnd::Stop) => return Err(NoRow::Exhausted),
            (None, AtEnd::Eof | AtEnd::Cycle) => feed.source.eof(),
        };
        user.feeds.borrow_mut()[index].row = Some(row);
        Ok(())
    }
}
