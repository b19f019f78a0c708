//! The rows of data files that iterations get.

use std::cell::RefCell;
use std::sync::Arc;

use squall_plan::model::{AtEnd, Share as SharedBy};

use crate::parts::data::Reader;
use crate::parts::row_selection::RowSelection;
use crate::program::Program;
use crate::together::Together;
use crate::user::{Core, UserFeed};

/// The data files that a worker reads.
pub(crate) struct Rows {
    readers: RefCell<Vec<Reader>>,
    together: Arc<Together>,
}

/// Why an iteration got no row.
pub(crate) enum NoRow {
    /// The file has no more.
    Exhausted,
    /// It could not be read, in a sentence.
    Unreadable(String),
}

impl Rows {
    pub(crate) fn new(program: &Program, together: Arc<Together>) -> Self {
        let readers = program.feeds.iter().map(|feed| Reader::new(&feed.source)).collect();
        Rows { readers: RefCell::new(readers), together }
    }

    /// Gives a user the rows of its next iteration: one of each file that its steps look at.
    ///
    /// # Errors
    /// A file has no row for it.
    pub(crate) fn take(&self, program: &Program, user: &Core) -> Result<(), NoRow> {
        let feeds = &program.scenarios[user.scenario()].feeds;
        feeds.iter().try_for_each(|&feed| self.take_one(program, user, feed))
    }

    /// Gives a user its next row of one file.
    ///
    /// # Errors
    /// There is no row for it.
    pub(crate) fn take_one(&self, program: &Program, user: &Core, feed: u16) -> Result<(), NoRow> {
        let index = usize::from(feed);
        let feed = &program.feeds[index];
        if user.feeds.borrow().is_empty() {
            user.feeds.replace(vec![UserFeed::default(); program.feeds.len()].into());
        }
        let scenario = (feed.share == SharedBy::Scenario).then(|| user.scenario());
        let (own, by_all) = self.together.rows(index, scenario).look();
        let selection = RowSelection {
            pick: feed.pick,
            shared_by: feed.share,
            at_end: feed.at_end,
            rows: feed.source.rows(),
            process: &own,
        };
        let number = {
            let by_user = &mut user.feeds.borrow_mut()[index].taken;
            selection.next(user.seat.number, by_user, by_all, user.chance())
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
