//! Completions and man pages: shells take them, and they name every command and flag.

use std::process::Command;

use crate::common::squall;

/// What a command prints; it must end well.
fn printed(args: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let output = squall(folder.path(), args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("a text")
}

/// The commands that `squall --help` lists.
fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let (_, list) = help.split_once("Commands:\n").expect("commands");
    let (list, _) = list.split_once("\n\n").expect("an end");
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<String> =
        names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    assert!(names.len() >= 10 && names.contains(&"completions".to_owned()), "{names:?}");
    names
}

/// What bash offers for a word at the end of a line.
fn offered(words: &str) -> Vec<String> {
    let script = printed(&["completions", "bash"]);
    let line = format!(
        "{script}\nCOMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
         _squall squall \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let output = Command::new("bash").args(["--norc", "-c", &line]).output().expect("bash");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a text").lines().map(str::to_owned).collect()
}

#[test]
fn the_version_is_that_of_the_build_with_its_commit() {
    let version = env!("SQUALL_VERSION");
    assert!(version.starts_with(env!("CARGO_PKG_VERSION")), "{version}");
    assert_eq!(printed(&["--version"]), format!("squall {version}\n"));
}

#[test]
fn bash_completes_commands_and_flags() {
    assert_eq!(offered("squall doc"), ["doctor"]);
    assert_eq!(offered("squall run --stri"), ["--strict"]);
    assert_eq!(offered("squall run --io e"), ["epoll"]);
}

#[test]
fn every_shells_completions_name_every_command() {
    let commands = commands();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&["completions", shell]);
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell}: {command}");
        }
    }
}

#[test]
fn a_bad_address_to_listen_on_is_bad_input_and_a_taken_one_is_not() {
    let other = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = other.local_addr().expect("an address").to_string();
    let folder = tempfile::tempdir().expect("a folder");
    for (address, code) in [("1", 2), ("127.0.0.1:x", 2), (taken.as_str(), 3)] {
        let output = squall(folder.path(), &["target", "--listen", address]);
        assert_eq!(output.status.code(), Some(code), "{address}: {output:?}");
    }
}

#[test]
fn there_is_a_page_for_squall_and_for_each_command() {
    let own = printed(&["man"]);
    assert!(own.contains(".TH squall 1"), "{own}");
    for command in commands().iter().filter(|command| *command != "help") {
        assert!(own.contains(&format!("squall\\-{command}(1)")), "{command}: {own}");
        let page = printed(&["man", command]);
        assert!(page.contains(&format!(".TH squall-{command} 1")), "{page}");
    }
    assert!(printed(&["man", "run"]).contains("\\-\\-strict"));
    let below = printed(&["man", "baseline", "save"]);
    assert!(below.contains(".TH squall-baseline-save 1"), "{below}");
    let folder = tempfile::tempdir().expect("a folder");
    for names in [&["man", "nothing"][..], &["man", "baseline", "nothing"]] {
        let output = squall(folder.path(), names);
        assert_eq!(output.status.code(), Some(2), "{names:?}");
        let error = format!("squall: unknown command `{}`", names[1..].join(" "));
        assert!(String::from_utf8_lossy(&output.stderr).contains(&error), "{output:?}");
    }
}
