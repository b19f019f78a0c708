//! What nodes are sent of a run: the job and the plan's files, all encrypted with the run's key.

use std::collections::BTreeMap;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use squall_base::hex::hex;
use squall_engine::{ExchangeFilter, SCRIPT_LOCK, ScriptParts};
use squall_plan::model::Plan;
use squall_plan::{FileUse, files};
use squall_runner::LoadOrder;

use crate::protocol::io::Bytes;
use crate::protocol::messages::{Job, Order, SentFile, SentScript, WantedCopies};
use crate::seal::RunKey;

/// Most files that a plan sends to the nodes, and most bytes of them together: they are in memory while they are sealed.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: usize = 4 << 30;
/// Most bytes of a file that is sent.
const MOST_FILE: u64 = 1 << 30;

/// What is stored before nodes are called.
pub(crate) struct Sealed {
    /// The job's object.
    pub job: String,
    /// The files, each with its object.
    pub files: Vec<SentFile>,
    /// The objects by their digests.
    pub objects: Vec<(String, Bytes)>,
}

impl Sealed {
    /// Puts into an order what was sealed.
    pub(crate) fn in_order(&self, order: Order) -> Order {
        Order { job: self.job.clone(), files: self.files.clone(), ..order }
    }
}

/// The files of a plan that are sent.
#[derive(Debug, Default)]
pub(crate) struct PlanFiles {
    /// SHA-256 of each file, in hexadecimal, by its name in the plan.
    named: BTreeMap<String, String>,
    /// The scripts, by their names in the plan.
    scripts: BTreeMap<String, SentScript>,
    /// What is in the files, by their SHA-256.
    contents: BTreeMap<String, Vec<u8>>,
    /// How many files there are, and their bytes.
    size: (usize, usize),
}

/// The files that a plan's load reads, by their names in it, those of all nodes where each has its own, and its scripts with all
/// that these import and open. One whose name is made while the load runs is not known here: nodes look for it below what they
/// allow.
///
/// # Errors
/// One cannot be read, in a sentence with its name.
pub(crate) fn plan_files(
    plan: &Plan,
    mut scripts: impl Iterator<Item = ScriptParts>,
) -> Result<PlanFiles, String> {
    let (mut plan, mut found) = (plan.clone(), PlanFiles::default());
    scripts.try_for_each(|script| found.add_script(&script))?;
    let read = plan.files_mut().into_iter().filter(|(of, _)| *of == FileUse::Read);
    for name in read.flat_map(|(_, name)| name.all()) {
        if found.named.contains_key(&name) || found.scripts.contains_key(&name) {
            continue;
        }
        let digest = found.add(Path::new(&name))?;
        found.named.insert(name, digest);
    }
    Ok(found)
}

impl PlanFiles {
    /// Reads a file: its digest.
    fn add(&mut self, path: &Path) -> Result<String, String> {
        let bytes = files::bytes(path, MOST_FILE).map_err(|error| {
            format!("{}, which the plan sends to the nodes: {error}", path.display())
        })?;
        self.size = (self.size.0 + 1, self.size.1 + bytes.len());
        if self.size.0 > MOST_FILES || self.size.1 > MOST_BYTES {
            return Err(format!(
                "the plan sends more than {MOST_FILES} files, or more than 4 GiB, to the nodes: put the files on their machines, and \
                 start them with --allow-files"
            ));
        }
        Ok(self.add_bytes(bytes))
    }

    fn add_bytes(&mut self, bytes: Vec<u8>) -> String {
        let digest = hex(&Sha256::digest(&bytes));
        self.contents.entry(digest.clone()).or_insert(bytes);
        digest
    }

    /// Reads the files of a script. The same one with other values in `__ENV` may have opened others.
    fn add_script(&mut self, script: &ScriptParts) -> Result<(), String> {
        let name = script.file.display().to_string();
        let mut sent: Vec<(String, String)> = Vec::new();
        for file in &script.files {
            sent.push((below(&file.path)?, self.add(&script.root.join(&file.path))?));
        }
        // It says to the node as well where the root is.
        if !sent.iter().any(|(path, _)| path == SCRIPT_LOCK) {
            sent.push((SCRIPT_LOCK.to_owned(), self.add_bytes(Vec::new())));
        }
        let file = below(&script.below_root)?;
        let own = self.scripts.entry(name);
        own.or_insert(SentScript { file, files: BTreeMap::new() }).files.extend(sent);
        Ok(())
    }
}

/// A path below a root, as nodes are told of it.
fn below(path: &Path) -> Result<String, String> {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    let parts = parts.ok_or_else(|| format!("{}: its path is not UTF-8", path.display()))?;
    Ok(parts.join("/"))
}

/// The job that nodes are given of a load, with these files.
pub(crate) fn job(order: &LoadOrder<'_>, files: &PlanFiles) -> Job {
    let (compile, asked) = (order.compile, order.asked);
    let setup = compile.setup.iter().map(|(name, value)| (name.clone(), value.to_json()));
    Job {
        plan: squall_plan::yaml::print(order.plan, false),
        files: files.named.clone(),
        scripts: files.scripts.clone(),
        target: compile.target.clone(),
        seed: compile.seed,
        allow_exec: compile.allow_exec,
        io: asked.io.label().to_owned(),
        workers: asked.workers,
        setup: setup.collect(),
        exchanges: order.trace.as_ref().and_then(|trace| {
            let (which, bytes, groups) = trace.wanted();
            let which = match which {
                ExchangeFilter::All => "all".to_owned(),
                ExchangeFilter::Failed => "failed".to_owned(),
                ExchangeFilter::OneIn(every) => format!("1/{every}"),
                ExchangeFilter::None => return None,
            };
            Some(WantedCopies { which, bytes: bytes as u64, groups })
        }),
    }
}

/// Encrypts a job and its files.
///
/// # Errors
/// The system gives no random numbers.
pub(crate) fn seal(job: &Job, files: PlanFiles, key: &RunKey) -> Result<Sealed, String> {
    let mut objects: Vec<(String, Bytes)> = Vec::new();
    let mut put = |plain: &[u8]| -> Result<String, String> {
        let sealed = key.encrypt(plain).map_err(|error| error.to_string())?;
        let digest = hex(&Sha256::digest(&sealed));
        objects.push((digest.clone(), sealed.into()));
        Ok(digest)
    };
    let text = serde_json::to_vec(job).map_err(|error| format!("the job: {error}"))?;
    let job = put(&text)?;
    let mut sent: Vec<SentFile> = Vec::new();
    for (digest, bytes) in files.contents {
        let object = put(&bytes)?;
        sent.push(SentFile { digest, object, bytes: bytes.len() as u64 });
    }
    Ok(Sealed { job, files: sent, objects })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(folder: &Path, data: &str) -> Plan {
        let text = format!(
            "target: http://a\nvars: {{password: {{secret: s3cret-word}}}}\ndata: {{people: {{csv: {data}}}}}\nscenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps: [{{post: '/${{people.name}}', body: {{file: body.bin}}}}, {{post: /, multipart: {{f: {{file: '${{people.name}}.txt'}}}}}}]\n"
        );
        let loaded = squall_plan::yaml::load_str("p", &text, folder, &Default::default());
        loaded.unwrap_or_else(|errors| panic!("{:?}", errors.diagnostics)).plan
    }

    #[test]
    fn files_are_found_and_encrypted_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("a file");
        };
        write("people.csv", "name\nann\n");
        write("body.bin", "name\nann\n");
        let plan = plan(folder.path(), "people.csv");
        let found = plan_files(&plan, std::iter::empty()).expect("all are there");
        let names: Vec<&String> = found.named.keys().collect();
        let at = |name: &str| folder.path().join(name).display().to_string();
        assert_eq!(names, [&at("body.bin"), &at("people.csv")]);
        let job = Job {
            plan: squall_plan::yaml::print(&plan, false),
            files: found.named.clone(),
            scripts: found.scripts.clone(),
            target: None,
            seed: 1,
            allow_exec: false,
            io: "auto".to_owned(),
            workers: None,
            setup: Vec::new(),
            exchanges: None,
        };
        assert!(job.plan.contains("s3cret-word"));
        let key = RunKey::new().expect("random numbers");
        let sealed = seal(&job, found, &key).expect("sealed");
        // Both files have the same content.
        assert_eq!((sealed.files.len(), sealed.objects.len()), (1, 2));
        for (digest, bytes) in &sealed.objects {
            assert_eq!(*digest, hex(&Sha256::digest(bytes)));
            assert!(!bytes.windows(6).any(|own| own == b"s3cret" || own == b"name\na"));
        }
        let object = |digest: &str| {
            let found = sealed.objects.iter().find(|(own, _)| own == digest).expect("an object");
            key.decrypt(&found.1).expect("encrypted with this key")
        };
        let read: Job = serde_json::from_slice(&object(&sealed.job)).expect("a job");
        assert_eq!(read, job);
        assert_eq!(object(&sealed.files[0].object), b"name\nann\n");
        assert_eq!(job.files.values().next(), Some(&sealed.files[0].digest));
    }

    #[test]
    fn a_script_is_sent_with_all_that_it_was_made_of() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for (name, text) in [("t/a.js", "open"), ("lib/b.js", "b"), ("data.csv", "open")] {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            std::fs::write(path, text).expect("writable");
        }
        let text = format!(
            "target: http://a\nscenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{{script: {{file: {}}}}}]}}}}\n",
            root.join("t/a.js").display()
        );
        let loaded = squall_plan::yaml::load_str("p", &text, root, &Default::default());
        let plan = loaded.unwrap_or_else(|errors| panic!("{:?}", errors.diagnostics)).plan;
        let script = |names: &[&str]| ScriptParts {
            file: root.join("t/a.js"),
            below_root: "t/a.js".into(),
            root: root.to_owned(),
            files: names.iter().map(|name| read_file(name)).collect(),
            built_in: Vec::new(),
        };
        // The same script with other values has opened another file.
        let scripts = [script(&["t/a.js", "lib/b.js"]), script(&["t/a.js", "data.csv"])];
        let found = plan_files(&plan, scripts.into_iter()).expect("all are there");
        assert!(found.named.is_empty(), "the script comes with its files");
        let (name, sent) = found.scripts.iter().next().expect("a script");
        assert_eq!((name, &*sent.file), (&root.join("t/a.js").display().to_string(), "t/a.js"));
        let files: Vec<&str> = sent.files.keys().map(String::as_str).collect();
        assert_eq!(files, ["data.csv", "lib/b.js", SCRIPT_LOCK, "t/a.js"]);
        assert_eq!(sent.files["data.csv"], sent.files["t/a.js"]);
        assert_eq!(found.contents.len(), 3);
        assert_eq!(found.contents[&sent.files[SCRIPT_LOCK]], b"");
        let gone = plan_files(&plan, [script(&["gone.js"])].into_iter()).expect_err("it is gone");
        assert!(gone.contains("gone.js, which the plan sends to the nodes: "), "{gone}");
    }

    fn read_file(name: &str) -> squall_engine::ReadFile {
        squall_engine::ReadFile { path: name.into(), bytes: 0, url: None }
    }

    #[test]
    fn a_file_that_is_missing_or_a_folder_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("people.csv")).expect("a folder");
        let of = |data: &str| plan_files(&plan(folder.path(), data), std::iter::empty());
        let why = of("people.csv").expect_err("a folder");
        assert!(why.contains("people.csv") && why.contains("a folder, and not a file"), "{why}");
        let why = of("nobody.csv").expect_err("missing");
        assert!(why.contains("nobody.csv, which the plan sends to the nodes: "), "{why}");
    }
}
