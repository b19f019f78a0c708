//! The programs that an experiment needs on this machine. Looks for their files, and starts none.

use squall_supervisor::find_program;

use crate::prepared::{Prepared, PreparedVariant};

/// The programs of an experiment that are not on the PATH, in a sentence that names each once; `None`: all are there. One that has
/// a path of its own may yet be built, and is not looked for.
pub fn missing_programs(own: &Prepared) -> Option<String> {
    let mut missing: Vec<String> = Vec::new();
    for variant in &own.variants {
        for (what, program, path) in programs(variant) {
            let is_named = program.contains('/');
            if !is_named && find_program(&program, &own.file.folder, path).is_err() {
                let named = format!("`{program}` ({what})");
                if !missing.contains(&named) {
                    missing.push(named);
                }
            }
        }
    }
    let all = missing.join(", ");
    (!missing.is_empty()).then(|| match missing.len() {
        1 => format!("{all} was not found on the PATH: install it, or write its path"),
        _ => format!("{all} were not found on the PATH: install them, or write their paths"),
    })
}

/// What a variant starts: what for, the program, and where it is looked for, if not on squall's own PATH.
fn programs(own: &PreparedVariant) -> Vec<(String, String, Option<&str>)> {
    let programs = &own.programs;
    let around =
        [("prepare", &programs.prepare), ("before", &programs.before), ("after", &programs.after)];
    let mut all = Vec::new();
    for (what, commands) in around {
        let first = commands.iter().filter_map(|command| command.first());
        all.extend(first.map(|program| (what.to_owned(), program.clone(), None)));
    }
    for server in &programs.servers {
        let path = server.env.iter().rev().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, value)| value.as_str());
        let name = &server.name;
        for (what, command) in [("server", &server.command), ("version of server", &server.version)]
        {
            let program = command.first().cloned();
            all.extend(program.map(|program| (format!("{what} `{name}`"), program, path)));
        }
    }
    let monitors = own.plan.get("monitor").and_then(|own| own.as_object()).into_iter().flatten();
    for (name, monitor) in monitors {
        let command = monitor.get("command");
        let program = command.and_then(|own| own.as_str().or_else(|| own.get(0)?.as_str()));
        all.extend(program.map(|program| (format!("monitor `{name}`"), program.to_owned(), None)));
    }
    all
}
