//! What belongs to an installed program besides itself: completions for shells, and man pages. Both are made from
//! the arguments, so that they cannot differ from them.

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::{self, Arguments};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

/// Prints a shell's completions.
pub fn completions(args: &args::Completions) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "squall", &mut script);
    out::print_bytes(&script);
    Ok(Exit::Ok)
}

/// Prints the man page of squall or of one of its commands.
pub fn man(args: &args::Man) -> CommandResult {
    let mut all = Arguments::command();
    all.build();
    let mut command = &all;
    for name in &args.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            CommandError::bad_input(format!("unknown command `{}`", args.command.join(" ")))
        })?;
    }
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text).map_err(CommandError::incomplete)?;
    out::print_bytes(&text);
    Ok(Exit::Ok)
}
