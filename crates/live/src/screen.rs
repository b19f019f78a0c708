//! The thread that shows the view: it reads keys, obeys them, and draws, at most four times a second and once for keys.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use squall_base::units;
use squall_runner::Handle;

use crate::browse::Browse;
use crate::frame;
use crate::input::Input;
use crate::keys::{Command, press};
use crate::state::State;
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

/// What the view knows, shared with the sink that feeds it.
#[derive(Debug, Clone)]
pub struct Shared {
    state: Arc<Mutex<State>>,
    began: Instant,
}

impl Shared {
    /// Of a run that begins now.
    pub fn new(state: State) -> Shared {
        Shared { state: Arc::new(Mutex::new(state)), began: Instant::now() }
    }

    /// What is known, at this moment.
    pub fn state(&self) -> MutexGuard<'_, State> {
        // A state that is half changed shows at worst a wrong number.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.now_s = self.began.elapsed().as_secs_f64();
        state
    }
}

/// Shows the view until the terminal is given back or gone.
pub fn show(shared: &Shared, handle: &Handle, theme: Theme, mut typed: Typed) {
    let (mut browse, mut input) = (Browse::default(), Input::default());
    let (mut shown, mut drawn): (Option<Buffer>, Option<Drawn>) = (None, None);
    let mut is_touched = false;
    while terminal::is_shown() {
        let wait = if is_touched { SHORTEST } else { LOOK };
        let Some(bytes) = typed.read(wait) else { break };
        for key in input.read(&bytes) {
            is_touched = true;
            let command = press(key, &mut browse, &shared.state());
            match command {
                Some(Command::Redraw) => shown = None,
                Some(command) => browse.notice = obey(command, shared, handle),
                None => {}
            }
        }
        let (columns, rows) = typed.size();
        let area = Rect::new(0, 0, columns.min(MAX_COLUMNS), rows.min(MAX_ROWS));
        let state = shared.state();
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

/// The last picture.
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

/// Does what a person wants of the run; what came of it, and when.
fn obey(command: Command, shared: &Shared, handle: &Handle) -> Option<(f64, String)> {
    let done = match command {
        Command::Stop => {
            handle.stop();
            Ok("stopping: requests in flight may finish (again: at once)".to_owned())
        }
        Command::Abort => {
            handle.abort();
            Ok("ending at once".to_owned())
        }
        Command::Pause => handle.pause().map(|()| "paused: p goes on".to_owned()),
        Command::Resume => handle.resume().map(|()| "the load goes on".to_owned()),
        Command::Users { scenario, users } => handle.set_users(&scenario, users).map(|()| {
            shared.state().scaled(&scenario, users as f64);
            format!("{users} virtual users from now on")
        }),
        Command::Rate { scenario, rate } => handle.set_rate(&scenario, rate).map(|()| {
            shared.state().scaled(&scenario, rate);
            format!("{} from now on", units::rate(rate))
        }),
        Command::Redraw => return None,
    };
    Some((shared.state().now_s, done.unwrap_or_else(|why| why)))
}
