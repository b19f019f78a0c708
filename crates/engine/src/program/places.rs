//! What a name stands for while the program runs, as numbers: places of values, facts, functions.

use std::sync::Arc;

use squall_extract::Extractor;
use squall_plan::expr::Slot;

/// What a slot stands for. Slots are numbers, with the kind in the upper bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A variable of the user.
    Variable(usize),
    /// A variable that all users have together.
    Shared(usize),
    /// A column of the user's row of a feed.
    Cell { feed: usize, column: usize },
    /// A fact about the user or the response.
    Intrinsic(Intrinsic),
}

/// Facts that every user or response has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intrinsic {
    /// Status code of the response; the exit code of a program.
    Status,
    /// Body of the response; standard output of a program.
    Body,
    /// Bytes of the body as they were received, compressed or not.
    BodyBytes,
    Duration,
    /// Hash of the body, where the request asked for it.
    BodyHash,
    /// Path of the file that the body was written to, where the request asked for it.
    BodyFile,
    /// Status line and headers, each line with a line feed at its end.
    Head,
    /// Bytes of the status line and the headers as they were received.
    HeadBytes,
    /// What the status line says beside the code.
    Reason,
    /// Body of the response as it came, in whatever encoding.
    RawBody,
    /// Method of what was sent last.
    SentMethod,
    SentUrl,
    /// Its headers but for cookies, each line with a line feed at its end.
    SentHeaders,
    SentCookies,
    /// Its body, if that was made in memory.
    SentBody,
    /// Number of the user, from 0, over all workers.
    User,
    /// Number of the user's iteration, from 0.
    Iteration,
    /// Name of the scenario.
    Scenario,
    /// Seconds of the run at which the user last went on.
    Elapsed,
    /// Whether the user's last request, or program, was no error; true before the first.
    LastOk,
}

impl Intrinsic {
    /// Whether it is a fact about what was sent.
    pub(super) fn is_of_request(self) -> bool {
        matches!(
            self,
            Intrinsic::SentMethod
                | Intrinsic::SentUrl
                | Intrinsic::SentHeaders
                | Intrinsic::SentCookies
                | Intrinsic::SentBody
        )
    }
}

const SHARED: u32 = 1 << 29;
const CELL: u32 = 1 << 30;
const INTRINSIC: u32 = 1 << 31;
/// Bits of a column's number within a cell's slot.
const COLUMN_BITS: u32 = 16;

pub(super) const INTRINSICS: [(&str, Intrinsic, bool); 20] = [
    ("status", Intrinsic::Status, true),
    ("body", Intrinsic::Body, true),
    ("body_bytes", Intrinsic::BodyBytes, true),
    ("duration", Intrinsic::Duration, true),
    ("body_hash", Intrinsic::BodyHash, true),
    ("body_file", Intrinsic::BodyFile, true),
    ("head", Intrinsic::Head, true),
    ("head_bytes", Intrinsic::HeadBytes, true),
    ("reason", Intrinsic::Reason, true),
    ("raw_body", Intrinsic::RawBody, true),
    ("sent_method", Intrinsic::SentMethod, true),
    ("sent_url", Intrinsic::SentUrl, true),
    ("sent_headers", Intrinsic::SentHeaders, true),
    ("sent_cookies", Intrinsic::SentCookies, true),
    ("sent_body", Intrinsic::SentBody, true),
    ("user", Intrinsic::User, false),
    ("iteration", Intrinsic::Iteration, false),
    ("scenario", Intrinsic::Scenario, false),
    ("elapsed", Intrinsic::Elapsed, false),
    ("last_ok", Intrinsic::LastOk, false),
];

impl Place {
    pub(crate) fn slot(self) -> Slot {
        Slot(match self {
            Place::Variable(index) => index as u32,
            Place::Shared(index) => SHARED | index as u32,
            Place::Cell { feed, column } => CELL | (feed as u32) << COLUMN_BITS | column as u32,
            Place::Intrinsic(which) => INTRINSIC | which as u32,
        })
    }

    pub(crate) fn of(Slot(slot): Slot) -> Place {
        if slot & INTRINSIC != 0 {
            let index = (slot & !INTRINSIC) as usize;
            return Place::Intrinsic(INTRINSICS[index].1);
        }
        if slot & CELL != 0 {
            let cell = slot & !CELL;
            let column = (cell & ((1 << COLUMN_BITS) - 1)) as usize;
            return Place::Cell { feed: (cell >> COLUMN_BITS) as usize, column };
        }
        if slot & SHARED != 0 {
            return Place::Shared((slot & !SHARED) as usize);
        }
        Place::Variable(slot as usize)
    }
}

/// A function that looks at the response.
#[derive(Debug)]
pub(crate) enum Function {
    /// `header("name")`: the first header of that name, or null.
    Header,
    /// `trailer()`: a field behind the body.
    Trailer,
    /// `cookie("name")`: the cookie of that name in the user's jar, or null.
    Cookie,
    /// `json("$.path")`, `xpath("//path")`: the first match, or null.
    Found(Arc<Extractor>),
    /// `json_all("$.path")`: all matches, as a list.
    AllFound(Arc<Extractor>),
    /// `json()`: the whole body.
    JsonBody,
    /// `is_json()`: whether the body is JSON.
    IsJson,
    /// `is_xml()`: whether the body is a well-formed XML document.
    IsXml,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_says_what_it_stands_for() {
        for place in [
            Place::Variable(0),
            Place::Variable(70_000),
            Place::Shared(0),
            Place::Shared(70_000),
            Place::Cell { feed: 3, column: 65_535 },
            Place::Cell { feed: 0, column: 0 },
        ] {
            assert_eq!(Place::of(place.slot()), place);
        }
        for (_, which, _) in INTRINSICS {
            assert_eq!(Place::of(Place::Intrinsic(which).slot()), Place::Intrinsic(which));
        }
    }
}
