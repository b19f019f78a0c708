//! Colours that can be read on black and on white, and what takes their place without colours. Pure.

use ratatui_core::style::{Color, Modifier, Style};

use crate::state::Mood;

/// Numbers of xterm's colours that no theme changes (16 to 231); each has a contrast of at least 3:1 against black and
/// against white, as WCAG 2.2 asks of large text and graphics (1.4.3, 1.4.11).
const GREEN: u8 = 28;
const RED: u8 = 160;
const ORANGE: u8 = 166;
const BLUE: u8 = 33;
const PURPLE: u8 = 133;
const TEAL: u8 = 30;
/// Grey, of the same contrast.
const GREY: u8 = 243;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Whether there are colours.
    pub has_colors: bool,
}

impl Theme {
    fn colored(self, number: u8) -> Style {
        match self.has_colors {
            true => Style::new().fg(Color::Indexed(number)),
            false => Style::new(),
        }
    }

    pub fn mood(self, mood: Mood) -> Style {
        match mood {
            Mood::Unknown => self.dim(),
            Mood::Good => self.colored(GREEN).add_modifier(Modifier::BOLD),
            Mood::Doubtful => {
                self.colored(ORANGE).add_modifier(Modifier::BOLD | Modifier::REVERSED)
            }
            Mood::Bad => self.colored(RED).add_modifier(Modifier::BOLD | Modifier::REVERSED),
        }
    }

    pub fn error(self) -> Style {
        self.colored(RED).add_modifier(Modifier::BOLD)
    }

    /// Of what matters less.
    pub fn dim(self) -> Style {
        match self.has_colors {
            true => self.colored(GREY),
            false => Style::new().add_modifier(Modifier::DIM),
        }
    }

    pub fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Of a line across the screen, and of the tab that is shown.
    pub fn bar(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
    }

    /// Of a curve: the first is the most prominent.
    pub fn curve(self, number: usize) -> Style {
        self.colored([BLUE, PURPLE, TEAL, ORANGE][number % 4])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The colour of a number of the cube or the greys, as relative luminance (WCAG 2.2).
    fn luminance(number: u8) -> f64 {
        let levels = [0u8, 95, 135, 175, 215, 255];
        let rgb = match number {
            232.. => [8 + 10 * (number - 232); 3],
            _ => {
                let at = number - 16;
                [at / 36, at / 6 % 6, at % 6].map(|level| levels[level as usize])
            }
        };
        let [red, green, blue] = rgb.map(|level| {
            let part = f64::from(level) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn every_color_can_be_read_on_black_and_on_white() {
        for number in [GREEN, RED, ORANGE, BLUE, PURPLE, TEAL, GREY] {
            let own = luminance(number);
            let (on_black, on_white) = ((own + 0.05) / 0.05, 1.05 / (own + 0.05));
            assert!(on_black >= 3.0 && on_white >= 3.0, "{number}: {on_black:.2}, {on_white:.2}");
        }
    }

    #[test]
    fn without_colors_there_is_none() {
        let theme = Theme { has_colors: false };
        let moods =
            [Mood::Unknown, Mood::Good, Mood::Doubtful, Mood::Bad].map(|mood| theme.mood(mood));
        for style in
            moods.into_iter().chain([theme.error(), theme.dim(), theme.bar(), theme.curve(2)])
        {
            assert_eq!((style.fg, style.bg), (None, None));
        }
    }
}
