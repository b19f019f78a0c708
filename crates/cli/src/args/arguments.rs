//! The whole command line.

use clap::Parser;

use super::commands::Command;
use super::one_line::OneLine;

/// A load-testing tool: generates load and reports what the target did.
#[derive(Debug, Parser)]
#[command(
    name = "squall",
    version = env!("SQUALL_VERSION"),
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    after_help = "`squall COMMAND --help` explains a command; `squall run --help` has more options, for a URL too.\n\n\
                  Examples:\n  squall http://127.0.0.1:8080/ -c 64 -d 10s\n  \
                  squall http://127.0.0.1:8080/login -m POST -b 'user=a' -n 1000\n  \
                  squall run shop.yaml --users 500 --for 2m"
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub one_line: OneLine,
}

/// The help of squall itself where it was asked for: in short, since each command explains itself.
pub fn short_help() -> Option<String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_asked = matches!(words.as_slice(), [only] if only == "--help" || only == "help");
    is_asked.then(|| <Arguments as clap::CommandFactory>::command().render_help().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    /// Whether a default is shown by clap, where the text says one itself.
    fn shows_two_defaults(arg: &clap::Arg) -> bool {
        let says = |text: Option<&clap::builder::StyledStr>| {
            text.is_some_and(|text| text.to_string().contains("[default"))
        };
        let is_shown = !arg.get_default_values().is_empty() && !arg.is_hide_default_value_set();
        is_shown && (says(arg.get_help()) || says(arg.get_long_help()))
    }

    #[test]
    fn a_flag_shows_one_default() {
        use clap::CommandFactory;
        let mut commands = vec![Arguments::command()];
        while let Some(command) = commands.pop() {
            for arg in command.get_arguments() {
                assert!(!shows_two_defaults(arg), "{}: {}", command.get_name(), arg.get_id());
            }
            commands.extend(command.get_subcommands().cloned());
        }
    }
}
