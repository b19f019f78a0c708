//! The thread that shows the view: it reads keys, obeys them, and draws, at most four times a second and once for keys.

use std::time::{Duration, Instant};

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use squall_runner::Handle;

use crate::browse::Browse;
use crate::follow::Shared;
use crate::frame;
use crate::input::Input;
use crate::keys::{Asked, press};
use crate::terminal::{self, Typed};
use crate::view::{self, Theme};

/// The longest time between two looks at the clock and at the size of the terminal.
const LOOK: Duration = Duration::from_millis(250);
/// The time after which a picture is drawn anew although nothing has come: its clock goes on.
const TICK: Duration = Duration::from_millis(500);
/// The shortest time between two pictures, also while a key is held down.
const SHORTEST: Duration = Duration::from_millis(50);
/// The largest screen that is drawn on; of a larger one a part.
const MAX_COLUMNS: u16 = 500;
const MAX_ROWS: u16 = 200;

/// Shows the view until the terminal is given back or gone.
pub fn show(shared: &Shared, handle: &Handle, theme: Theme, mut typed: Typed) {
    let (mut browse, mut input) = (Browse::default(), Input::default());
    let (mut shown, mut drawn): (Option<Buffer>, Option<Drawn>) = (None, None);
    let mut is_touched = false;
    browse.notice = shared.state().and_then(|state| Some((state.now_s, state.greeting.clone()?)));
    while terminal::is_shown() {
        let wait = if is_touched { SHORTEST } else { LOOK };
        let Some(bytes) = typed.read(wait) else { break };
        for key in input.read(&bytes) {
            is_touched = true;
            let Some(state) = shared.state() else { break };
            let (asked, now_s) = (press(key, &mut browse, &state), state.now_s);
            // Who is told of it changes the state.
            drop(state);
            match asked {
                Some(Asked::Redraw) => shown = None,
                Some(Asked::OfRun(command)) => {
                    let told = command.obey(handle).unwrap_or_else(|why| why);
                    browse.notice = Some((now_s, told));
                }
                None => {}
            }
        }
        let (columns, rows) = typed.size();
        let area = Rect::new(0, 0, columns.min(MAX_COLUMNS), rows.min(MAX_ROWS));
        let Some(state) = shared.state() else { break };
        let due = drawn.as_ref().is_none_or(|last| last.is_old(is_touched, area, state.changes));
        // What a slow terminal has not taken yet is not added to.
        if !due || !terminal::is_drained() {
            continue;
        }
        let mut wanted = Buffer::empty(area);
        let furthest = view::draw(&state, &browse, theme, &mut wanted);
        drawn = Some(Drawn { at: Instant::now(), area, changes: state.changes });
        drop(state);
        (browse.scroll, is_touched) = (browse.scroll.min(furthest), false);
        if !terminal::write(&frame::encode(shown.as_ref(), &wanted)) {
            break;
        }
        shown = Some(wanted);
    }
}

struct Drawn {
    at: Instant,
    area: Rect,
    changes: u64,
}

impl Drawn {
    /// Whether it is time for another one.
    fn is_old(&self, is_touched: bool, area: Rect, changes: u64) -> bool {
        let age = self.at.elapsed();
        (is_touched && age >= SHORTEST)
            || area != self.area
            || (changes != self.changes && age >= LOOK)
            || age >= TICK
    }
}
