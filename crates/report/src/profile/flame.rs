//! A flame graph: functions as boxes, each as wide as the samples in it and in what it called, upon the one that called it
//! (Brendan Gregg, "The Flame Graph", CACM 59(6), 2016). Pure.

use std::fmt::Write as _;

use serde::Serialize;

use super::stacks::Stacks;
use crate::markup::escaped;

/// Most boxes: the widest.
const MAX_FRAMES: usize = 4_000;
/// The share of all samples below which a box cannot be seen.
const LEAST_SHARE: f64 = 0.000_5;
const WIDTH: f64 = 1_200.0;
const ROW: f64 = 17.0;
const CHARACTER: f64 = 6.6;

/// A box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlameFrame {
    pub name: String,
    /// How many functions are below it.
    pub depth: usize,
    /// How many samples are left of it.
    pub from: u64,
    /// The samples in it.
    pub samples: u64,
}

/// The boxes of a flame graph, those that can be seen.
pub(super) fn frames(stacks: &Stacks) -> Vec<FlameFrame> {
    let (mut done, mut open): (Vec<FlameFrame>, Vec<FlameFrame>) = (Vec::new(), Vec::new());
    let mut at = 0;
    let mut all: Vec<(Vec<&str>, u64)> =
        stacks.each().map(|(stack, samples)| (stack.collect(), samples)).collect();
    all.sort();
    // In the order of their names: what is the same in one stack and the next is one box.
    for (names, samples) in all {
        let same = open.iter().zip(&names).take_while(|(own, name)| own.name == **name).count();
        done.extend(open.drain(same..));
        open.iter_mut().for_each(|own| own.samples += samples);
        for (depth, name) in names.iter().enumerate().skip(same) {
            open.push(FlameFrame { name: (*name).to_owned(), depth, from: at, samples });
        }
        at += samples;
    }
    done.append(&mut open);
    let least = at as f64 * LEAST_SHARE;
    done.retain(|own| own.samples as f64 >= least);
    done.sort_by(|a, b| b.samples.cmp(&a.samples).then(a.depth.cmp(&b.depth)));
    done.truncate(MAX_FRAMES);
    done.sort_by_key(|own| (own.depth, own.from));
    done
}

/// The same as a picture, whose boxes say what they are when they are pointed at.
pub(super) fn picture(title: &str, frames: &[FlameFrame], samples: u64) -> String {
    let rows = frames.iter().map(|own| own.depth + 1).max().unwrap_or(0);
    let height = 30.0 + ROW * rows as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"6\" y=\"18\" font-size=\"13\">{}</text>\n",
        escaped(title)
    );
    let scale = WIDTH / samples.max(1) as f64;
    for own in frames {
        let (x, width) = (own.from as f64 * scale, own.samples as f64 * scale);
        let y = height - ROW * (own.depth + 1) as f64;
        let share = 100.0 * own.samples as f64 / samples.max(1) as f64;
        let share = format!("{share:.2}");
        let share = share.trim_end_matches('0').trim_end_matches('.');
        // Writing to a String cannot fail.
        let _ = write!(
            svg,
            "<g><title>{}: {} samples, {share}%</title><rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{}\" \
             fill=\"{}\"/>",
            escaped(&own.name),
            own.samples,
            ROW - 1.0,
            color(&own.name)
        );
        let room = (width / CHARACTER) as usize;
        if room >= 4 {
            let text: String = own.name.chars().take(room - 1).collect();
            let _ = write!(
                svg,
                "<text x=\"{:.2}\" y=\"{}\">{}</text>",
                x + 3.0,
                y + 12.0,
                escaped(&text)
            );
        }
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// The colour of a function: always the same one.
fn color(name: &str) -> String {
    let sum = name.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    format!("hsl({},85%,{}%)", 12 + sum % 40, 62 + sum / 64 % 14)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stacks_share_is_one_box() {
        let stacks = Stacks::parse("main;a 10\nmain;a b 5\nmain;a;b 20\nmain;c 65\n");
        let found: Vec<(String, usize, u64, u64)> = frames(&stacks)
            .into_iter()
            .map(|own| (own.name, own.depth, own.from, own.samples))
            .collect();
        let of = |name: &str, depth, from, samples| (name.to_owned(), depth, from, samples);
        let expected = [
            of("main", 0, 0, 100),
            of("a", 1, 0, 30),
            of("a b", 1, 30, 5),
            of("c", 1, 35, 65),
            of("b", 2, 10, 20),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_cannot_be_seen_is_left_out_and_names_are_no_markup() {
        let stacks = Stacks::parse("main;rare 1\nmain;<script>alert(1)</script> 9999\n");
        let all = frames(&stacks);
        assert!(!all.iter().any(|own| own.name == "rare"));
        let svg = picture("a & b", &all, stacks.samples());
        assert!(!svg.contains("<script") && svg.contains("a &amp; b"), "{svg}");
        assert!(frames(&Stacks::default()).is_empty());
    }
}
