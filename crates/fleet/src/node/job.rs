//! Opens what an order seals, checks it against what this node allows, and makes a run of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use squall_base::hex::hex;
use squall_engine::{ExchangeFilter, Node};
use squall_plan::value::Value;
use squall_plan::vars::LoadOptions;
use squall_plan::yaml::{self, Loaded, PlanErrors};
use squall_runner::{MetricTags, Options, WantedExchanges};

use super::files::{self, RunFolder};
use super::policy::{self, MostUsers};
use crate::protocol::io::Bytes;
use crate::protocol::messages::{Allows, Job, Order, SentFile, WantedCopies};
use crate::seal::{NodeKey, RunKey};

/// Most files of a run, ...
const MAX_FILES: usize = 10_000;
/// ... and most bytes of all of them.
const MAX_BYTES: u64 = 4 << 30;
/// Most bytes that are copied of a request's or response's body, whatever is wanted.
const MAX_COPIED: u64 = 1 << 20;

/// Where the objects of a run come from.
pub trait Fetch: Send + Sync {
    /// Fetches an object; waits for it.
    ///
    /// # Errors
    /// It is not there, or did not come in time; in a sentence.
    fn object(&self, run: &str, digest: &str) -> Result<Bytes, String>;

    /// No more are fetched for now: what was opened for it may be closed.
    fn done(&self) {}
}

/// What a node is and may do: the same for all its runs.
pub(crate) struct Lender {
    /// Its name.
    pub name: String,
    /// What is sealed for the node is opened by this.
    pub key: NodeKey,
    /// What it may be used for.
    pub allows: Allows,
    /// Where objects come from.
    pub fetch: Arc<dyn Fetch>,
    /// Where a run's files are put.
    pub temporary: PathBuf,
}

/// An order that this node can run.
#[derive(Debug)]
pub(crate) struct Opened {
    pub plan: Loaded,
    pub options: Options,
    pub users: MostUsers,
    pub copies: Copies,
    /// Encrypts what goes along with records of requests' content.
    pub key: RunKey,
    /// Holds the plan's files as long as they are needed.
    _folder: RunFolder,
}

/// Which copies of requests the run wants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Copies {
    pub exchanges: Option<WantedExchanges>,
    pub groups: bool,
}

/// Opens an order.
///
/// # Errors
/// This node cannot run it, or may not; in a sentence.
pub(crate) fn open(
    lender: &Lender,
    order: &Order,
    key: &[u8],
    node: Node,
) -> Result<Opened, String> {
    let hosts = policy::hosts(&lender.allows)?;
    let key = lender.key.open(key).map_err(|error| format!("the run's key: {error}"))?;
    let job = object(lender, order, &key, &order.job, "the plan")?;
    let job: Job = serde_json::from_slice(&job).map_err(|error| {
        format!("the plan that was sent cannot be read ({error}): all machines need the same version of squall")
    })?;
    let mut folder = RunFolder::new(&lender.temporary).map_err(|error| {
        format!("no folder for the plan's files in {}: {error}", lender.temporary.display())
    })?;
    let (mut plan, metric_tags) = read(&job.plan)?;
    policy::programs(&plan.plan, &lender.allows)?;
    plan.plan.data.iter_mut().for_each(|data| *data = data.of_node(node.number));
    let wanted: BTreeSet<String> =
        plan.plan.files_mut().iter().filter_map(|(_, name)| name.known()).collect();
    let sent = receive(lender, order, &key, &job, &wanted, &mut folder)?;
    files::place(&mut plan.plan, &sent, &lender.allows)?;
    let options = Options {
        target: job.target.clone(),
        seed: Some(job.seed),
        allow_exec: job.allow_exec,
        workers: job.workers,
        io: io(&job.io)?,
        given: Some(given(&job)),
        allowed: Some(Arc::new(hosts)),
        node: Some(node),
        metric_tags,
        ..Options::default()
    };
    let copies = copies(job.exchanges.as_ref())?;
    Ok(Opened { users: MostUsers::of(&plan.plan), plan, options, copies, key, _folder: folder })
}

/// An object, decrypted.
fn object(
    lender: &Lender,
    order: &Order,
    key: &RunKey,
    digest: &str,
    what: &str,
) -> Result<Vec<u8>, String> {
    let sealed = lender.fetch.object(&order.run, digest).map_err(|why| format!("{what}: {why}"))?;
    key.decrypt(&sealed).map_err(|error| format!("{what}: {error}"))
}

/// Fetches those of the files and scripts that were sent which this node wants: where each is, by its name in the plan.
fn receive(
    lender: &Lender,
    order: &Order,
    key: &RunKey,
    job: &Job,
    wanted: &BTreeSet<String>,
    folder: &mut RunFolder,
) -> Result<BTreeMap<String, PathBuf>, String> {
    let known = order.files.iter().map(|file| (file.digest.as_str(), file)).collect();
    let files: Vec<_> = job.files.iter().filter(|(name, _)| wanted.contains(*name)).collect();
    let scripts: Vec<_> = job.scripts.iter().filter(|(name, _)| wanted.contains(*name)).collect();
    let of_scripts = scripts.iter().flat_map(|(_, script)| &script.files);
    let receiver = Receiver { lender, order, key, known };
    receiver.bound(files.iter().copied().chain(of_scripts))?;
    let mut sent = BTreeMap::new();
    for (name, digest) in files {
        let kept = folder.keep(name, &receiver.file(name, digest)?);
        sent.insert(name.clone(), kept.map_err(|error| unkept(name, &error))?);
    }
    for (name, script) in scripts {
        let tree = folder.tree().map_err(|error| unkept(name, &error))?;
        for (path, digest) in &script.files {
            let kept = tree.keep(path, &receiver.file(path, digest)?);
            let kept = kept.map_err(|error| unkept(path, &error))?;
            if *path == script.file {
                sent.insert(name.clone(), kept);
            }
        }
    }
    Ok(sent)
}

fn unkept(name: &str, error: &std::io::Error) -> String {
    format!("the file {name} cannot be kept: {error}")
}

/// Receives the files of an order.
struct Receiver<'a> {
    lender: &'a Lender,
    order: &'a Order,
    key: &'a RunKey,
    /// Those that were sent, by their digests.
    known: BTreeMap<&'a str, &'a SentFile>,
}

impl Receiver<'_> {
    fn sent(&self, name: &str, digest: &str) -> Result<&SentFile, String> {
        let file = self.known.get(digest).copied();
        file.ok_or_else(|| format!("the file {name} of the plan was not sent"))
    }

    /// Refuses files, by their names and digests, that are too many or too large.
    fn bound<'f>(
        &self,
        files: impl Iterator<Item = (&'f String, &'f String)>,
    ) -> Result<(), String> {
        let (mut count, mut bytes) = (0, 0_u64);
        for (name, digest) in files {
            count += 1;
            bytes = bytes.saturating_add(self.sent(name, digest)?.bytes);
        }
        match count > MAX_FILES || bytes > MAX_BYTES {
            true => Err(format!(
                "the plan's files are too many or too large: at most {MAX_FILES} files of {} GiB together",
                MAX_BYTES >> 30
            )),
            false => Ok(()),
        }
    }

    /// What is in a file.
    fn file(&self, name: &str, digest: &str) -> Result<Vec<u8>, String> {
        let file = self.sent(name, digest)?;
        let Receiver { lender, order, key, .. } = self;
        let bytes = object(lender, order, key, &file.object, &format!("the file {name}"))?;
        let is_it = bytes.len() as u64 == file.bytes && hex(&Sha256::digest(&bytes)) == file.digest;
        match is_it {
            true => Ok(bytes),
            false => Err(format!("the file {name} of the plan has come as another one")),
        }
    }
}

/// Reads the plan, with the tags of metrics that its thresholds ask for. What is judged, drawn and written is the controller's
/// business.
fn read(text: &str) -> Result<(Loaded, MetricTags), String> {
    let options = LoadOptions { alone: true, ..LoadOptions::default() };
    let loaded = yaml::load_str("the plan", text, Path::new(""), &options);
    let mut loaded = loaded.map_err(|errors| told(&errors))?;
    let plan = &mut loaded.plan;
    let metric_tags = squall_runner::metric_tags(plan);
    plan.thresholds.clear();
    plan.feeds.clear();
    plan.samples.clear();
    Ok((loaded, metric_tags))
}

/// What is wrong with a plan, on one line.
fn told(errors: &PlanErrors) -> String {
    let first = errors.diagnostics.first().map_or("it is not a plan", |first| &first.message);
    format!("the plan that was sent is wrong: {first}")
}

fn given(job: &Job) -> Vec<(String, Value)> {
    job.setup.iter().map(|(name, value)| (name.clone(), Value::from_json(value))).collect()
}

fn io(name: &str) -> Result<squall_runner::Io, String> {
    use squall_runner::Io;
    match name {
        "auto" => Ok(Io::Auto),
        "epoll" => Ok(Io::Epoll),
        "io_uring" => Ok(Io::Uring),
        other => Err(format!("invalid I/O backend `{other}`: expected auto, epoll or io_uring")),
    }
}

fn copies(wanted: Option<&WantedCopies>) -> Result<Copies, String> {
    let Some(wanted) = wanted else { return Ok(Copies::default()) };
    let which = match wanted.which.as_str() {
        "all" => Some(ExchangeFilter::All),
        "failed" => Some(ExchangeFilter::Failed),
        other => {
            let every = other.strip_prefix("1/").and_then(|every| every.parse().ok());
            every.filter(|every| *every > 0).map(ExchangeFilter::OneIn)
        }
    };
    let which = which.ok_or_else(|| {
        format!("`{}` says nothing of copies: expected all, failed or 1/N", wanted.which)
    })?;
    // It fits: it is less than a few million.
    let bytes = wanted.bytes.min(MAX_COPIED) as usize;
    Ok(Copies { exchanges: Some(WantedExchanges { which, bytes }), groups: wanted.groups })
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::HashMap;
    use std::sync::Mutex;

    use super::*;
    use crate::protocol::messages::{OnLoss, SentScript};

    /// Objects in memory.
    #[derive(Debug, Default)]
    pub(crate) struct Objects(Mutex<HashMap<String, Vec<u8>>>);

    impl Objects {
        /// Puts one there: its digest.
        pub(crate) fn put(&self, bytes: Vec<u8>) -> String {
            let digest = hex(&Sha256::digest(&bytes));
            self.0.lock().expect("no panic").insert(digest.clone(), bytes);
            digest
        }
    }

    impl Fetch for Objects {
        fn object(&self, _: &str, digest: &str) -> Result<Bytes, String> {
            let all = self.0.lock().expect("no panic");
            all.get(digest).map(|bytes| bytes.clone().into()).ok_or_else(|| "not there".to_owned())
        }
    }

    /// A run as a controller seals it.
    pub(crate) struct Sealed {
        pub lender: Lender,
        pub order: Order,
        pub key: Vec<u8>,
        pub temporary: tempfile::TempDir,
    }

    pub(crate) fn job(plan: &str) -> Job {
        Job {
            plan: plan.to_owned(),
            files: BTreeMap::new(),
            scripts: BTreeMap::new(),
            target: None,
            seed: 7,
            allow_exec: false,
            io: "epoll".to_owned(),
            workers: Some(1),
            setup: Vec::new(),
            exchanges: None,
        }
    }

    /// Seals a job with files, by their names in the plan, for a node that allows this.
    pub(crate) fn sealed(
        mut job: Job,
        files: &[(&str, &[u8])],
        allows: Allows,
        shards: u32,
    ) -> Sealed {
        let objects = Objects::default();
        let (key, node, sender) = (
            RunKey::new().expect("chance"),
            NodeKey::new().expect("chance"),
            NodeKey::new().expect("chance"),
        );
        let put = |plain: &[u8]| objects.put(key.encrypt(plain).expect("encrypted"));
        let mut sent = Vec::new();
        for (name, bytes) in files {
            let digest = hex(&Sha256::digest(bytes));
            job.files.insert((*name).to_owned(), digest.clone());
            sent.push(SentFile { digest, object: put(bytes), bytes: bytes.len() as u64 });
        }
        let order = Order {
            run: "r1".to_owned(),
            version: "test".to_owned(),
            shards,
            lease: 15_000_000_000,
            on_loss: OnLoss::default(),
            job: put(&serde_json::to_vec(&job).expect("JSON")),
            files: sent,
        };
        let for_node = key.seal_for(&node.public(), &sender).expect("sealed");
        let temporary = tempfile::tempdir().expect("a folder");
        let lender = Lender {
            name: "eu-3".to_owned(),
            key: node,
            allows,
            fetch: Arc::new(objects),
            temporary: temporary.path().to_owned(),
        };
        Sealed { lender, order, key: for_node, temporary }
    }

    pub(crate) fn local() -> Allows {
        Allows { hosts: vec!["127.0.0.1".to_owned()], ..Allows::default() }
    }

    const PLAN: &str = "
target: http://127.0.0.1:1
data: {people: {csv: data/people.csv}}
thresholds: ['p99 < 1ms', 'mean(waited, tag.page: \"home\") < 1']
scenarios:
  a: {load: {users: 2, iterations: 1}, steps: [{get: '/${people.name}'}]}
";

    #[test]
    fn an_order_is_opened_with_its_files() {
        let mut job = job(PLAN);
        job.setup = vec![("token".to_owned(), serde_json::json!([1, "x"]))];
        job.exchanges =
            Some(WantedCopies { which: "1/8".to_owned(), bytes: u64::MAX, groups: true });
        let sealed = sealed(job, &[("data/people.csv", b"name\nann\n")], local(), 8);
        let opened =
            open(&sealed.lender, &sealed.order, &sealed.key, Node::default()).expect("opened");
        let file = opened.plan.plan.data[0].file.value.clone();
        assert_eq!(std::fs::read(&file).expect("a file"), b"name\nann\n");
        assert!(opened.plan.plan.thresholds.is_empty());
        assert_eq!(opened.options.metric_tags["waited"].iter().collect::<Vec<_>>(), ["page"]);
        assert_eq!(opened.options.given.as_ref().map(Vec::len), Some(1));
        let wanted = opened.copies.exchanges.expect("wanted");
        assert_eq!((wanted.which, wanted.bytes), (ExchangeFilter::OneIn(8), 1 << 20));
        drop(opened);
        assert!(!file.exists(), "it goes with the run");
    }

    #[test]
    fn a_script_comes_with_its_files_and_no_others() {
        let plan = "target: http://127.0.0.1:1\nscenarios: {a: {load: {users: 1, iterations: 1}, steps: [{script: {file: /r/t/a.js}}]}}\n";
        let texts: [(&str, &str); 4] =
            [("t/a.js", "import '../lib/b.js'"), ("lib/b.js", ""), ("squall.lock", ""), ("x", "x")];
        let opened = |file: &str, more: &str| {
            let digest = |text: &str| hex(&Sha256::digest(text));
            let mut files: BTreeMap<String, String> =
                texts[..3].iter().map(|(name, text)| ((*name).to_owned(), digest(text))).collect();
            files.insert(more.to_owned(), digest("x"));
            let script = SentScript { file: file.to_owned(), files };
            let mut job = job(plan);
            job.scripts = [("/r/t/a.js".to_owned(), script)].into();
            let files: Vec<_> = texts.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
            let sealed = sealed(job, &files, local(), 8);
            (open(&sealed.lender, &sealed.order, &sealed.key, Node::default()), sealed)
        };
        let (good, _sealed) = opened("t/a.js", "data/x");
        let mut good = good.expect("opened");
        let files = good.plan.plan.files_mut();
        let file = files[0].1.known().expect("a name");
        let root = Path::new(&file).ancestors().nth(2).expect("a folder").to_owned();
        assert_eq!(file, root.join("t/a.js").display().to_string());
        for (name, text) in [("lib/b.js", ""), ("data/x", "x"), ("squall.lock", "")] {
            assert_eq!(std::fs::read_to_string(root.join(name)).ok().as_deref(), Some(text));
        }
        for outside in ["../x", "/tmp/x"] {
            let why = opened("t/a.js", outside).0.expect_err(outside);
            assert!(why.contains("leads out of the folder"), "{why}");
        }
        let why = opened("../../../../etc/passwd", "x").0.expect_err("it did not come");
        assert!(why.contains("--allow-files"), "{why}");
    }

    /// Of files by node each fetches its own, whatever others there are, and names the one that was not sent.
    #[test]
    fn a_node_reads_the_data_file_of_its_number() {
        let by_node = PLAN.replace("data/people.csv", "'data/people.${node}.csv'");
        let files: &[(&str, &[u8])] =
            &[("data/people.1.csv", b"name\nann\n"), ("data/people.2.csv", b"name\nbob\n")];
        let mut sealed = sealed(job(&by_node), files, local(), 8);
        let digest = |bytes: &[u8]| hex(&Sha256::digest(bytes));
        // The first one is not even asked for.
        sealed.order.files.retain(|file| file.digest == digest(b"name\nbob\n"));
        let open_at = |number: u32| {
            let node = Node { number, of: 3, ..Node::default() };
            open(&sealed.lender, &sealed.order, &sealed.key, node)
        };
        let opened = open_at(2).expect("opened");
        let data = &opened.plan.plan.data[0];
        assert_eq!(std::fs::read(&data.file.value).expect("a file"), b"name\nbob\n");
        assert_eq!(data.nodes, squall_plan::model::AmongNodes::Copy, "all rows are its own");
        let why = open_at(3).expect_err("nobody sent it");
        assert!(why.contains("data/people.3.csv") && why.contains("--allow-files"), "{why}");
    }

    #[test]
    fn what_is_not_for_this_node_is_refused() {
        let files: &[(&str, &[u8])] = &[("data/people.csv", b"name\nann\n")];
        let refused = |sealed: &Sealed| {
            open(&sealed.lender, &sealed.order, &sealed.key, Node::default())
                .expect_err("a refusal")
        };
        let none = sealed(job(PLAN), files, Allows::default(), 8);
        assert!(refused(&none).contains("--allow-hosts"));
        let mut other = sealed(job(PLAN), files, local(), 8);
        other.lender.key = NodeKey::new().expect("chance");
        assert!(refused(&other).contains("the run's key"), "{}", refused(&other));
        let mut lacks = sealed(job(PLAN), files, local(), 8);
        lacks.order.files.clear();
        assert!(refused(&lacks).contains("data/people.csv"), "{}", refused(&lacks));
        let mut lies = sealed(job(PLAN), files, local(), 8);
        lies.order.files[0].bytes = 3;
        assert!(refused(&lies).contains("as another one"), "{}", refused(&lies));
        lies.order.files[0].bytes = u64::MAX;
        assert!(refused(&lies).contains("too large"), "{}", refused(&lies));
        let unsent = sealed(job(PLAN), &[], local(), 8);
        assert!(refused(&unsent).contains("--allow-files"), "{}", refused(&unsent));
        let mut gone = sealed(job(PLAN), files, local(), 8);
        gone.order.job = "0".repeat(64);
        assert!(refused(&gone).contains("not there"), "{}", refused(&gone));
        for (text, why) in [
            (
                "scenarios: {a: {load: {users: 1, for: 1s}, steps: [{include: /etc/passwd}]}}",
                "include",
            ),
            ("target: [", "wrong"),
        ] {
            let wrong = sealed(job(text), &[], local(), 8);
            let error = refused(&wrong);
            assert!(error.contains(why) && !error.contains("root:"), "{error}");
        }
    }
}
