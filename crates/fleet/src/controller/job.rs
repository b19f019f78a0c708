//! What nodes are sent of a run: the job and the plan's files, all encrypted with the run's key.

use std::collections::BTreeMap;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use squall_base::hex::hex;
use squall_engine::ExchangeFilter;
use squall_plan::model::Plan;
use squall_plan::{FileUse, files};
use squall_runner::LoadOrder;

use crate::protocol::io::Bytes;
use crate::protocol::messages::{Job, Order, SentFile, WantedCopies};
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

/// A file of a plan.
pub(crate) struct PlanFile {
    /// SHA-256 of what is in it, in hexadecimal.
    digest: String,
    bytes: Vec<u8>,
}

/// The files that a plan's load reads, by their names in it, those of all nodes where each has its own. One whose name is
/// made while the load runs is not known here: nodes look for it below what they allow.
///
/// # Errors
/// One cannot be read, in a sentence with its name.
pub(crate) fn plan_files(plan: &Plan) -> Result<BTreeMap<String, PlanFile>, String> {
    let mut plan = plan.clone();
    let (mut found, mut all) = (BTreeMap::new(), 0);
    let read = plan.files_mut().into_iter().filter(|(of, _)| *of == FileUse::Read);
    for name in read.flat_map(|(_, name)| name.all()) {
        if found.contains_key(&name) {
            continue;
        }
        let bytes = files::bytes(Path::new(&name), MOST_FILE)
            .map_err(|error| format!("{name}, which the plan sends to the nodes: {error}"))?;
        all += bytes.len();
        if found.len() >= MOST_FILES || all > MOST_BYTES {
            return Err(format!(
                "the plan sends more than {MOST_FILES} files, or more than 4 GiB, to the nodes: put the files on their machines, and \
                 start them with --allow-files"
            ));
        }
        let digest = hex(&Sha256::digest(&bytes));
        found.insert(name, PlanFile { digest, bytes });
    }
    Ok(found)
}

/// The job that nodes are given of a load, with these files.
pub(crate) fn job(order: &LoadOrder<'_>, files: &BTreeMap<String, PlanFile>) -> Job {
    let (compile, asked) = (order.compile, order.asked);
    let setup = compile.setup.iter().map(|(name, value)| (name.clone(), value.to_json()));
    Job {
        plan: squall_plan::yaml::print(order.plan, false),
        files: files.iter().map(|(name, own)| (name.clone(), own.digest.clone())).collect(),
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
pub(crate) fn seal(
    job: &Job,
    files: BTreeMap<String, PlanFile>,
    key: &RunKey,
) -> Result<Sealed, String> {
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
    for PlanFile { digest, bytes } in files.into_values() {
        if sent.iter().any(|own| own.digest == digest) {
            continue;
        }
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
        let found = plan_files(&plan).expect("all are there");
        let names: Vec<&String> = found.keys().collect();
        let at = |name: &str| folder.path().join(name).display().to_string();
        assert_eq!(names, [&at("body.bin"), &at("people.csv")]);
        let job = Job {
            plan: squall_plan::yaml::print(&plan, false),
            files: found.iter().map(|(name, own)| (name.clone(), own.digest.clone())).collect(),
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
    fn a_file_that_is_missing_or_a_folder_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("people.csv")).expect("a folder");
        let why = plan_files(&plan(folder.path(), "people.csv")).err().expect("a folder");
        assert!(why.contains("people.csv") && why.contains("a folder, and not a file"), "{why}");
        let why = plan_files(&plan(folder.path(), "nobody.csv")).err().expect("missing");
        assert!(why.contains("nobody.csv, which the plan sends to the nodes: "), "{why}");
    }
}
