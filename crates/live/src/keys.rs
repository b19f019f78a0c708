//! What a key does: to what a person looks at, or to the run. Pure.

use crate::browse::{Browse, Mode, Sort, Tab};
use crate::control::Command;
use crate::input::Key;
use crate::state::LiveState;

/// Most characters that can be typed.
const MAX_TYPED: usize = 40;
/// Rows of a page.
const PAGE: usize = 10;

/// What a key asks for besides another look.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// Something of the run.
    OfRun(Command),
    Redraw,
}

/// Does what a key is for.
pub fn press(key: Key, browse: &mut Browse, state: &LiveState) -> Option<Asked> {
    match key {
        Key::Redraw => Some(Asked::Redraw),
        _ => command(key, browse, state).map(Asked::OfRun),
    }
}

fn command(key: Key, browse: &mut Browse, state: &LiveState) -> Option<Command> {
    match std::mem::take(&mut browse.mode) {
        Mode::Keys => plain(key, browse, state),
        Mode::Filter => {
            filter(key, browse);
            None
        }
        Mode::Level(typed) => level(key, typed, browse, state),
        Mode::Stop => match (key, state.stopping) {
            (Key::Char('y' | 'Y') | Key::Enter, None) => Some(Command::Stop),
            (Key::Char('y' | 'Y') | Key::Enter, Some(_)) => Some(Command::Abort),
            _ => None,
        },
        // Any key ends it.
        Mode::Help => None,
    }
}

fn plain(key: Key, browse: &mut Browse, state: &LiveState) -> Option<Command> {
    match key {
        Key::Char('q' | 's') => browse.mode = Mode::Stop,
        Key::Char('?' | 'h') => browse.mode = Mode::Help,
        Key::Char('p' | ' ') => {
            return Some(if state.is_paused() { Command::Resume } else { Command::Pause });
        }
        Key::Char('+' | '=') => return step(true, browse, state),
        Key::Char('-' | '_') => return step(false, browse, state),
        Key::Char('n') => browse.mode = Mode::Level(String::new()),
        Key::Char('l') => browse.load = (browse.load + 1) % state.loads.len().max(1),
        Key::Char('w') => browse.last_minute = !browse.last_minute,
        Key::Char('/') => browse.mode = Mode::Filter,
        Key::Char('o') => {
            let at = Sort::ALL.iter().position(|own| *own == browse.sort).unwrap_or(0);
            browse.sort = Sort::ALL[(at + 1) % Sort::ALL.len()];
        }
        Key::Char('r') => browse.reversed = !browse.reversed,
        Key::Escape => browse.filter.clear(),
        _ => go(key, browse, &Tab::of(state.metrics.has_target(), !state.nodes.all().is_empty())),
    }
    None
}

/// Another one of the tabs, or other rows of it.
fn go(key: Key, browse: &mut Browse, tabs: &[Tab]) {
    let tab = match key {
        Key::Tab | Key::Right => Some(browse.tab.step(tabs, false)),
        Key::BackTab | Key::Left => Some(browse.tab.step(tabs, true)),
        Key::Char(digit) => digit
            .to_digit(10)
            .and_then(|number| tabs.get((number as usize).wrapping_sub(1)).copied()),
        _ => None,
    };
    if let Some(tab) = tab {
        (browse.tab, browse.scroll) = (tab, 0);
    }
    browse.scroll = match key {
        Key::Up | Key::Char('k') => browse.scroll.saturating_sub(1),
        Key::Down | Key::Char('j') => browse.scroll + 1,
        Key::PageUp => browse.scroll.saturating_sub(PAGE),
        Key::PageDown => browse.scroll + PAGE,
        Key::Home => 0,
        // The view knows how many rows there are, and goes no further.
        Key::End => usize::MAX / 2,
        _ => browse.scroll,
    };
}

fn filter(key: Key, browse: &mut Browse) {
    match key {
        Key::Enter => return,
        Key::Escape => {
            browse.filter.clear();
            return;
        }
        Key::Backspace => {
            browse.filter.pop();
        }
        Key::Char(c) if browse.filter.chars().count() < MAX_TYPED && !c.is_control() => {
            browse.filter.push(c);
        }
        _ => {}
    }
    (browse.mode, browse.scroll) = (Mode::Filter, 0);
}

/// A little more or less of the chosen load.
fn step(more: bool, browse: &Browse, state: &LiveState) -> Option<Command> {
    let load = state.loads.get(browse.load)?;
    Some(Command::step(load, state.load_s(), more))
}

fn level(key: Key, mut typed: String, browse: &mut Browse, state: &LiveState) -> Option<Command> {
    match key {
        Key::Escape => return None,
        Key::Enter => return wanted(&typed, browse, state),
        Key::Backspace => {
            typed.pop();
        }
        Key::Char(c) if typed.chars().count() < MAX_TYPED && !c.is_control() => typed.push(c),
        _ => {}
    }
    browse.mode = Mode::Level(typed);
    None
}

/// The level that was typed.
fn wanted(typed: &str, browse: &mut Browse, state: &LiveState) -> Option<Command> {
    let load = state.loads.get(browse.load)?;
    match Command::level(load, typed) {
        Ok(command) => Some(command),
        Err(why) => {
            browse.notice = Some((state.now_s, why));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Stopping;
    use crate::state::tests::{mixed, resume};

    fn all(text: &str, browse: &mut Browse, state: &LiveState) -> Vec<Command> {
        text.chars()
            .filter_map(|c| {
                let key = if c == '\n' { Key::Enter } else { Key::Char(c) };
                match press(key, browse, state)? {
                    Asked::OfRun(command) => Some(command),
                    Asked::Redraw => None,
                }
            })
            .collect()
    }

    #[test]
    fn a_stop_is_asked_for_twice_and_the_second_is_at_once() {
        let (mut state, mut browse) = (mixed(), Browse::default());
        assert_eq!(all("qn", &mut browse, &state), []);
        assert_eq!(browse.mode, Mode::Keys);
        assert_eq!(all("qy", &mut browse, &state), [Command::Stop]);
        state.stopping = Some(Stopping::InOrder);
        assert_eq!(all("s\n", &mut browse, &state), [Command::Abort]);
    }

    #[test]
    fn the_load_is_changed_by_tenths_or_to_a_number() {
        let (state, mut browse) = (mixed(), Browse::default());
        let users = |users| Command::Users { scenario: "buyer".to_owned(), users };
        let rate = |rate| Command::Rate { scenario: "guest".to_owned(), rate };
        assert_eq!(all("+-", &mut browse, &state), [users(220), users(180)]);
        assert_eq!(all("n 5x\n", &mut browse, &state), []);
        assert!(browse.notice.take().is_some_and(|(_, text)| text.contains("`5x`")));
        assert_eq!(all("n17\n", &mut browse, &state), [users(17)]);
        assert_eq!(
            all("l+-n30\nn2/min\n", &mut browse, &state),
            [rate(1_100.0), rate(900.0), rate(30.0), rate(2.0 / 60.0)]
        );
        assert_eq!(all("l+", &mut browse, &state), [users(220)], "and around");
    }

    #[test]
    fn a_few_users_change_by_one() {
        let (mut state, mut browse) = (mixed(), Browse::default());
        state.scaled("buyer", 1.0);
        let users = |users| Command::Users { scenario: "buyer".to_owned(), users };
        assert_eq!(all("+-", &mut browse, &state), [users(2), users(0)]);
    }

    #[test]
    fn pause_and_go_on_are_one_key() {
        let (mut state, mut browse) = (mixed(), Browse::default());
        assert_eq!(all("p", &mut browse, &state), [Command::Pause]);
        crate::state::tests::pause(&mut state);
        assert_eq!(all(" ", &mut browse, &state), [Command::Resume]);
        resume(&mut state);
        assert_eq!(all("p", &mut browse, &state), [Command::Pause]);
    }

    #[test]
    fn tabs_rows_order_and_filter() {
        let (state, mut browse) = (mixed(), Browse::default());
        assert_eq!(all("2jjo/q+o", &mut browse, &state), [], "a filter takes every character");
        assert_eq!(
            (browse.tab, browse.sort, browse.filter.as_str()),
            (Tab::Requests, Sort::Name, "q+o")
        );
        assert_eq!(browse.scroll, 0, "a filter shows its first row");
        press(Key::Enter, &mut browse, &state);
        assert_eq!(browse.mode, Mode::Keys);
        for (key, tab) in [
            (Key::Tab, Tab::Errors),
            (Key::BackTab, Tab::Requests),
            (Key::Left, Tab::Overview),
            (Key::Left, Tab::Metrics),
        ] {
            press(key, &mut browse, &state);
            assert_eq!(browse.tab, tab);
        }
        press(Key::Escape, &mut browse, &state);
        assert_eq!((browse.filter.as_str(), browse.mode.clone()), ("", Mode::Keys));
        assert_eq!(
            all("?q", &mut browse, &state),
            [],
            "any key ends the help, and does nothing else"
        );
        assert_eq!(browse.mode, Mode::Keys);
    }
}
