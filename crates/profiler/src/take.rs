//! Takes a profile: which programs run, one after the other, and what is said when one cannot.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use squall_report::Stacks;

use crate::stop::Stop;
use crate::tools::{Ran, Tools};
use crate::{jfr, native};

/// Samples a second of `perf`: not a round number, so that it does not keep step with what the target does by the clock.
const FREQUENCY: &str = "99";
/// Stacks are unwound from copies of so many bytes, as most programs are built without frame pointers.
const UNWIND: &str = "dwarf,8192";
/// Most processes that are profiled together.
const MAX_PROCESSES: usize = 64;
/// Most Java virtual machines that are profiled together.
const MAX_JVMS: usize = 4;
/// How long a program may take that records nothing.
const PATIENCE: Duration = Duration::from_secs(25);
/// How long after its time a JVM ends a recording by itself, should squall be killed.
const BY_ITSELF: Duration = Duration::from_secs(60);

/// What is to be profiled.
#[derive(Debug)]
pub(crate) struct Order {
    /// The processes.
    pub pids: Vec<u32>,
    /// For how long.
    pub lasts: Duration,
    /// Where files may lie meanwhile.
    pub folder: PathBuf,
}

/// What came of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Taken {
    pub tool: &'static str,
    /// How long it took.
    pub lasted: Duration,
    pub stacks: Stacks,
}

/// Takes a profile, until its time is over or `stop` says that the load is.
///
/// # Errors
/// It cannot be, in a sentence that says what to do.
pub(crate) fn take(order: &Order, tools: &mut dyn Tools, stop: &Stop) -> Result<Taken, String> {
    let jvms = order.pids.iter().copied().filter(|pid| tools.is_jvm(*pid));
    let jvms: Vec<u32> = jvms.take(MAX_JVMS).collect();
    if jvms.is_empty() { of_native(order, tools, stop) } else { of_jvms(&jvms, order, tools, stop) }
}

fn of_native(order: &Order, tools: &mut dyn Tools, stop: &Stop) -> Result<Taken, String> {
    needs(tools, "perf", "linux-perf")?;
    let pids: Vec<String> =
        order.pids.iter().take(MAX_PROCESSES).map(ToString::to_string).collect();
    let (data, pids) = (path(&order.folder.join("perf.data")), pids.join(","));
    let seconds = format!("{:.3}", order.lasts.as_secs_f64());
    let record = words(&[
        "perf",
        "record",
        "--quiet",
        "-F",
        FREQUENCY,
        "--call-graph",
        UNWIND,
        "-p",
        &pids,
        "-o",
        &data,
        "--",
        "sleep",
        &seconds,
    ]);
    let began = Instant::now();
    let ran = tools.run(&record, order.lasts + PATIENCE, Some(stop))?;
    let lasted = began.elapsed().min(order.lasts);
    if !ran.is_good {
        return Err(no_perf(&ran));
    }
    // Functions that were inlined would take it minutes to find.
    let script = words(&["perf", "script", "--no-inline", "-i", &data]);
    let printed = good(tools.run(&script, PATIENCE, None)?, "perf script")?;
    let stacks = read(&printed, native::stacks)?;
    Ok(Taken { tool: "perf", lasted, stacks })
}

/// A profile of several virtual machines together. Whatever becomes of one, the recordings of all are ended.
fn of_jvms(
    pids: &[u32],
    order: &Order,
    tools: &mut dyn Tools,
    stop: &Stop,
) -> Result<Taken, String> {
    for tool in ["jcmd", "jfr"] {
        needs(tools, tool, "openjdk-17-jdk-headless, or that of the target's version")?;
    }
    let name = format!("name=squall-{}", std::process::id());
    let by_itself = format!("duration={}s", (order.lasts + BY_ITSELF).as_secs());
    let mut begun = Vec::new();
    let mut recorded = Ok(Stacks::default());
    for pid in pids.iter().map(ToString::to_string) {
        let start = words(&["jcmd", &pid, "JFR.start", &name, "settings=profile", &by_itself]);
        match tools.run(&start, PATIENCE, None).and_then(|ran| good(ran, "jcmd JFR.start")) {
            Ok(_) => begun.push(pid),
            Err(why) => recorded = Err(why),
        }
    }
    let began = Instant::now();
    if recorded.is_ok() {
        stop.wait(order.lasts);
    }
    let lasted = began.elapsed().min(order.lasts);
    let mut files = Vec::new();
    for pid in &begun {
        let file = path(&order.folder.join(format!("{pid}.jfr")));
        let dump = words(&["jcmd", pid, "JFR.dump", &name, &format!("filename={file}")]);
        let dumped = tools.run(&dump, PATIENCE, None).and_then(|ran| good(ran, "jcmd JFR.dump"));
        let stopped = tools.run(&words(&["jcmd", pid, "JFR.stop", &name]), PATIENCE, None);
        let ended = dumped.and(stopped).and_then(|ran| good(ran, "jcmd JFR.stop"));
        recorded = recorded.and_then(|own| ended.map(|_| own));
        files.push(file);
    }
    let mut stacks = recorded?;
    for file in &files {
        let print =
            ["jfr", "print", "--stack-depth", "64", "--events", "jdk.ExecutionSample", file];
        let printed = good(tools.run(&words(&print), PATIENCE, None)?, "jfr print")?;
        stacks.merge(&read(&printed, jfr::stacks)?);
    }
    Ok(Taken { tool: "JFR", lasted, stacks })
}

/// That a program is there.
fn needs(tools: &dyn Tools, program: &str, package: &str) -> Result<(), String> {
    match tools.has(program) {
        true => Ok(()),
        false => Err(format!(
            "`{program}` was not found on the PATH: on Debian it is in the package {package}"
        )),
    }
}

/// Why `perf record` failed.
fn no_perf(ran: &Ran) -> String {
    let text = fs::read_to_string(&ran.printed).unwrap_or_default().to_lowercase();
    let is_forbidden =
        ["perf_event_paranoid", "permission", "not permitted"].iter().any(|own| text.contains(own));
    if !is_forbidden {
        return format!("perf record failed: {}", ran.last_words());
    }
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    format!(
        "the kernel does not permit it: kernel.perf_event_paranoid is {}; with 2 or less a user may profile own processes \
         (sysctl kernel.perf_event_paranoid=2), root may profile all",
        level.trim()
    )
}

/// What a program printed that did what it was to do.
fn good(ran: Ran, what: &str) -> Result<PathBuf, String> {
    match ran.is_good {
        true => Ok(ran.printed),
        false => Err(format!("{what} failed: {}", ran.last_words())),
    }
}

fn read(
    printed: &Path,
    stacks: impl FnOnce(BufReader<File>) -> std::io::Result<Stacks>,
) -> Result<Stacks, String> {
    let file = File::open(printed).and_then(|file| stacks(BufReader::new(file)));
    file.map_err(|error| format!("{}: {error}", printed.display()))
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|own| (*own).to_owned()).collect()
}

/// A path for a command line: that of a folder of ours, which is text.
fn path(own: &Path) -> String {
    own.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs that print what was recorded.
    struct Scripted {
        folder: tempfile::TempDir,
        /// By the beginning of a command what it prints, and whether it is good.
        prints: Vec<(&'static str, &'static str, bool)>,
        missing: &'static str,
        is_jvm: bool,
        ran: Vec<String>,
    }

    impl Tools for Scripted {
        fn has(&self, program: &str) -> bool {
            program != self.missing
        }
        fn is_jvm(&self, _: u32) -> bool {
            self.is_jvm
        }
        fn run(
            &mut self,
            command: &[String],
            _: Duration,
            _: Option<&Stop>,
        ) -> Result<Ran, String> {
            let line = command.join(" ");
            let found = self.prints.iter().find(|(begin, ..)| line.starts_with(begin));
            let (_, text, is_good) = found.copied().unwrap_or(("", "", true));
            self.ran.push(line);
            let printed = self.folder.path().join("log");
            fs::write(&printed, text).expect("it is written");
            Ok(Ran { is_good, printed })
        }
    }

    fn scripted(is_jvm: bool, prints: Vec<(&'static str, &'static str, bool)>) -> Scripted {
        let folder = tempfile::tempdir().expect("a folder");
        Scripted { folder, prints, missing: "", is_jvm, ran: Vec::new() }
    }

    fn taken(tools: &mut Scripted) -> Result<Taken, String> {
        let stop = Stop::default();
        stop.stop();
        let order =
            Order { pids: vec![7, 8], lasts: Duration::from_secs(10), folder: PathBuf::from("/f") };
        take(&order, tools, &stop)
    }

    #[test]
    fn perf_takes_that_of_a_native_program() {
        let text = include_str!("recorded/perf-script.txt");
        let mut tools = scripted(false, vec![("perf script", text, true)]);
        let taken = taken(&mut tools).expect("it is taken");
        assert_eq!((taken.tool, taken.stacks.samples()), ("perf", 4));
        let expected = "perf record --quiet -F 99 --call-graph dwarf,8192 -p 7,8 -o /f/perf.data -- sleep 10.000";
        assert_eq!(tools.ran[0], expected);
    }

    #[test]
    fn the_flight_recorder_takes_that_of_a_jvm() {
        let text = include_str!("recorded/jfr-print.txt");
        let mut tools = scripted(true, vec![("jfr print", text, true)]);
        let taken = taken(&mut tools).expect("it is taken");
        assert_eq!((taken.tool, taken.stacks.hottest(1)[0].name.as_str()), ("JFR", "Hot.burn"));
        let of_one = jfr::stacks(text.as_bytes()).expect("it is read").samples();
        assert_eq!(taken.stacks.samples(), 2 * of_one, "of both");
        let begun = |line: &String| line.contains("JFR.start");
        assert_eq!(tools.ran.iter().position(|own| !begun(own)), Some(2), "both begin first");
        assert_eq!(tools.ran.len(), 8);
        assert!(tools.ran[0].starts_with("jcmd 7 JFR.start name=squall-"), "{}", tools.ran[0]);
        assert!(tools.ran[0].ends_with("settings=profile duration=70s"), "{}", tools.ran[0]);
    }

    /// The recording is ended also when it could not be read.
    #[test]
    fn a_recording_that_cannot_be_dumped_is_ended() {
        let mut tools = scripted(true, vec![("jcmd 7 JFR.dump", "x\nno room\n", false)]);
        assert_eq!(taken(&mut tools), Err("jcmd JFR.dump failed: no room".to_owned()));
        let ended = tools.ran.iter().filter(|line| line.contains("JFR.stop")).count();
        assert_eq!(ended, 2, "that of the other one, too");
    }

    #[test]
    fn what_is_missing_or_forbidden_is_said_with_what_to_do() {
        let mut tools = Scripted { missing: "perf", ..scripted(false, Vec::new()) };
        assert!(taken(&mut tools).is_err_and(|error| error.contains("package linux-perf")));
        let mut tools = Scripted { missing: "jcmd", ..scripted(true, Vec::new()) };
        assert!(taken(&mut tools).is_err_and(|error| error.contains("jdk-headless")));
        let text = "Error:\nAccess to performance monitoring is limited: No permission\n";
        let mut tools = scripted(false, vec![("perf record", text, false)]);
        let error = taken(&mut tools).expect_err("it is forbidden");
        assert!(error.contains("kernel.perf_event_paranoid"), "{error}");
        let mut tools = scripted(false, vec![("perf record", "Error:\nno such process\n", false)]);
        assert_eq!(taken(&mut tools), Err("perf record failed: no such process".to_owned()));
    }
}
