//! Screens of a made-up run at two sizes, held against files (`golden/`, written anew with `UPDATE_GOLDEN=1`), and what
//! holds at any size.

use ratatui_core::style::{Color, Modifier};

use super::*;
use crate::input::Key;
use crate::keys::press;
use crate::state::nodes::tests::recorded;
use crate::state::target::tests::sampled;
use crate::state::tests::{awaiting, failing, mixed};

fn screen(state: &LiveState, browse: &Browse, columns: u16, rows: u16, has_colors: bool) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    draw(state, browse, Theme { has_colors }, &mut buffer);
    buffer
}

/// The rows of a screen as text.
fn text(buffer: &Buffer) -> String {
    let columns = usize::from(buffer.area().width);
    let row = |cells: &[ratatui_core::buffer::Cell]| {
        let row: String = cells.iter().map(|cell| cell.symbol()).collect();
        format!("{}\n", row.trim_end())
    };
    buffer.content().chunks(columns).map(row).collect()
}

/// How the letters of a screen look: a letter for each colour, a capital one where they are bold; `#` for reversed ones.
fn looks(buffer: &Buffer) -> String {
    let columns = usize::from(buffer.area().width);
    let look = |cell: &ratatui_core::buffer::Cell| {
        let letter = match cell.fg {
            Color::Indexed(number) => (b'a' + number % 26) as char,
            _ => '.',
        };
        match (cell.modifier.contains(Modifier::REVERSED), cell.modifier.contains(Modifier::BOLD)) {
            (true, _) => '#',
            (false, true) if letter == '.' => '!',
            (false, true) => letter.to_ascii_uppercase(),
            (false, false) => letter,
        }
    };
    let row = |cells: &[ratatui_core::buffer::Cell]| {
        let row: String = cells.iter().map(look).collect();
        format!("{}\n", row.trim_end_matches('.'))
    };
    buffer.content().chunks(columns).map(row).collect()
}

fn hold(name: &str, shown: &str) {
    let path = format!("{}/src/view/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(std::path::Path::new(&path).parent().expect("a folder"))
            .expect("a folder");
        std::fs::write(&path, shown).expect("a golden file is written");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == shown, "{path} differs; shown now:\n{shown}");
}

#[test]
fn every_tab_at_both_sizes() {
    let state = failing();
    for (columns, rows) in [(80, 24), (200, 60)] {
        for tab in Tab::ALL {
            let browse = Browse { tab, ..Browse::default() };
            let colored = screen(&state, &browse, columns, rows, true);
            let name = format!("{}-{columns}x{rows}", tab.label().to_lowercase());
            hold(&name, &text(&colored));
            let plain = screen(&state, &browse, columns, rows, false);
            assert_eq!(text(&plain), text(&colored), "colours change no text");
            assert!(
                plain
                    .content()
                    .iter()
                    .all(|cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset))
            );
            assert!(colored.content().iter().all(|cell| cell.bg == Color::Reset), "light or dark");
        }
    }
    hold("overview-80x24-well", &text(&screen(&mixed(), &Browse::default(), 80, 24, true)));
    hold("overview-80x24-looks", &looks(&screen(&state, &Browse::default(), 80, 24, true)));
    hold(
        "overview-80x24-looks-no-colors",
        &looks(&screen(&state, &Browse::default(), 80, 24, false)),
    );
}

/// A run of so many nodes in two zones: one is slow, and one has fallen silent.
fn fleet(nodes: usize) -> crate::state::LiveState {
    let mut state = mixed();
    let names: Vec<String> = (0..nodes).map(|at| format!("node-{at}")).collect();
    for second in 0..8 {
        let each = names.iter().enumerate().filter(|(at, _)| *at != 5 || second < 2);
        let each = each.map(|(at, name)| {
            let zone = if at % 2 == 0 { "eu" } else { "us" };
            (name.as_str(), zone, if at == 4 { 410.0 } else { 30.0 + (at % 3) as f64 })
        });
        state.nodes.add(second, &recorded(&each.collect::<Vec<_>>()));
    }
    state
}

#[test]
fn nodes_are_rows_and_what_needs_a_look_comes_first() {
    let browse = Browse { tab: Tab::Nodes, ..Browse::default() };
    for (columns, rows) in [(80, 24), (200, 60)] {
        let shown = text(&screen(&fleet(8), &browse, columns, rows, true));
        hold(&format!("nodes-{columns}x{rows}-fleet"), &shown);
    }
    let shown = text(&screen(&fleet(8), &browse, 120, 24, false));
    let rows: Vec<&str> = shown.lines().skip(7).take(2).collect();
    assert!(rows[0].contains("node-5") && rows[0].contains("silent"), "{shown}");
    assert!(rows[1].contains("node-4") && rows[1].contains("odd"), "{shown}");
    let many = fleet(1_000);
    let shown = text(&screen(&many, &browse, 80, 24, true));
    assert!(shown.contains("8 Nodes"), "there is room for all tabs: {shown}");
    let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
    let furthest = draw(&many, &browse, Theme { has_colors: true }, &mut buffer);
    assert_eq!(furthest, 1_000 - 16);
    assert!(!text(&screen(&mixed(), &Browse::default(), 80, 24, true)).contains("Nodes"));
}

#[test]
fn the_target_is_shown_by_monitor_and_what_is_full_stands_out() {
    let mut state = mixed();
    (0..30).for_each(|second| state.metrics.add(second, &sampled(second)));
    let browse = Browse { tab: Tab::Target, ..Browse::default() };
    for (columns, rows) in [(80, 24), (200, 60)] {
        let shown = text(&screen(&state, &browse, columns, rows, true));
        hold(&format!("target-{columns}x{rows}-sampled"), &shown);
    }
    let shown = text(&screen(&state, &browse, 80, 24, true));
    assert!(shown.contains("8 Target"), "{shown}");
    assert!(!text(&screen(&mixed(), &browse, 80, 24, true)).contains("8 Target"));
    let filtered = Browse { filter: "app".to_owned(), ..browse };
    let shown = text(&screen(&state, &filtered, 60, 12, true));
    assert!(shown.contains("pool_waiting") && !shown.contains("rss"), "{shown}");
    // They are not among the metrics of the plan.
    let metrics = Browse { tab: Tab::Metrics, ..Browse::default() };
    assert!(!text(&screen(&state, &metrics, 200, 60, true)).contains("pool_waiting"));
}

#[test]
fn what_is_asked_stands_in_the_last_row() {
    let (state, mut browse) = (mixed(), Browse::default());
    let last = |browse: &Browse| {
        let text = text(&screen(&state, browse, 80, 24, true));
        text.lines().last().unwrap_or_default().to_owned()
    };
    press(Key::Char('q'), &mut browse, &state);
    assert!(last(&browse).contains("stop the run?"), "{}", last(&browse));
    press(Key::Escape, &mut browse, &state);
    "ln7".chars().for_each(|c| drop(press(Key::Char(c), &mut browse, &state)));
    assert!(last(&browse).contains("arrivals a second of guest: 7_"), "{}", last(&browse));
    press(Key::Escape, &mut browse, &state);
    browse.notice = Some((state.now_s, "no load".to_owned()));
    assert!(last(&browse).contains("no load"));
    press(Key::Char('?'), &mut browse, &state);
    let help = text(&screen(&state, &browse, 80, 24, true));
    assert!(help.contains("stop in order") && help.contains("any key: back"), "{help}");
    assert!(
        help.contains("In flight: the peak of concurrent requests"),
        "there is room to its last line: {help}"
    );
}

#[test]
fn no_size_breaks_it() {
    let state = failing();
    for columns in [1, 5, 20, 39, 40, 41, 60, 79, 81, 100, 131, 333] {
        for rows in [1, 2, 5, 11, 12, 13, 20, 40, 99] {
            for tab in Tab::ALL {
                let browse = Browse { tab, scroll: 3, ..Browse::default() };
                screen(&state, &browse, columns, rows, true);
            }
            let help = Browse { mode: Mode::Help, ..Browse::default() };
            screen(&state, &help, columns, rows, true);
        }
    }
}

#[test]
fn nothing_that_a_terminal_obeys_is_shown() {
    for tab in Tab::ALL {
        let browse = Browse { tab, ..Browse::default() };
        let shown = screen(&failing(), &browse, 200, 60, true);
        assert!(!text(&shown).replace('\n', "").contains(char::is_control), "{tab:?}");
    }
    let requests = Browse { tab: Tab::Requests, ..Browse::default() };
    assert!(text(&screen(&failing(), &requests, 200, 60, true)).contains("pay \\x1b[31mred"));
}

#[test]
fn rows_are_sorted_filtered_and_scrolled() {
    let state = failing();
    let shown = |browse: &Browse| {
        let text = text(&screen(&state, browse, 80, 24, true));
        let rows = text.lines().skip(7).take_while(|line| !line.is_empty());
        rows.filter_map(|line| line.split_whitespace().next().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let mut browse = Browse { tab: Tab::Requests, ..Browse::default() };
    assert_eq!(shown(&browse)[..3], ["GET", "login", "pay"]);
    browse.sort = crate::browse::Sort::P95;
    assert_eq!(shown(&browse)[..3], ["pay", "login", "GET"]);
    browse.filter = "LOG".to_owned();
    assert!(
        text(&screen(&state, &browse, 80, 24, false)).contains("  filter: LOG\n"),
        "beside seven tabs"
    );
    assert_eq!(shown(&browse), ["login"]);
    let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 12));
    let all = Browse { tab: Tab::Requests, ..Browse::default() };
    assert_eq!(
        draw(&state, &all, Theme { has_colors: true }, &mut buffer),
        1,
        "five rows, room for four"
    );
}

#[test]
fn what_is_to_come_nobody_knows_when_is_said() {
    let shown = text(&screen(&awaiting(), &Browse::default(), 100, 30, false));
    assert!(shown.contains("after others  not known yet"), "{shown}");
    assert!(shown.contains("0.00/s planned, then guest"), "{shown}");
}
