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
    let page =
        match &args.command {
            None => Man::new(all),
            Some(name) => {
                let found = all.find_subcommand(name).cloned();
                Man::new(found.ok_or_else(|| {
                    CommandError::bad_input(format!("there is no command `{name}`"))
                })?)
            }
        };
    let mut text = Vec::new();
    page.render(&mut text).map_err(CommandError::incomplete)?;
    out::print_bytes(&text);
    Ok(Exit::Ok)
}
