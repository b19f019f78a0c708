//! The files that a plan names: what it reads, and what it writes.

use std::path::PathBuf;

use crate::model::{
    Body, DataFormat, FormPartContent, Plan, Request, ResponseBody, Step, StepKind,
};
use crate::node_files;
use crate::template::Template;

/// What becomes of a file that a plan names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    /// It is read: data, bodies, keys and certificates.
    Read,
    /// It is a Unix socket that requests are sent to.
    Socket,
    /// It is written.
    Written,
}

/// A file's name in a plan, to be looked at and changed.
#[derive(Debug)]
pub enum FileName<'p> {
    /// A path that is known.
    Path(&'p mut PathBuf),
    /// A path of rows, of which each node of a fleet may have its own.
    Rows(&'p mut PathBuf),
    /// A path that may have expressions.
    Template(&'p mut Template),
}

impl FileName<'_> {
    /// The name, if it has no expressions.
    pub fn known(&self) -> Option<String> {
        match self {
            FileName::Path(path) | FileName::Rows(path) => Some(path.display().to_string()),
            FileName::Template(template) => template.literal().map(ToOwned::to_owned),
        }
    }

    /// All names that it stands for: itself if it has no expressions, and where nodes have files of their own those that are
    /// there.
    pub fn all(&self) -> Vec<String> {
        match self {
            FileName::Rows(path) => {
                node_files::all(path).iter().map(|path| path.display().to_string()).collect()
            }
            FileName::Path(_) | FileName::Template(_) => self.known().into_iter().collect(),
        }
    }

    /// The name as the plan has it.
    pub fn source(&self) -> String {
        match self {
            FileName::Path(path) | FileName::Rows(path) => path.display().to_string(),
            FileName::Template(template) => template.source().to_owned(),
        }
    }

    /// Puts another name in its place.
    pub fn set(&mut self, name: &str) {
        match self {
            FileName::Path(path) | FileName::Rows(path) => **path = PathBuf::from(name),
            FileName::Template(template) => **template = Template::text(name),
        }
    }
}

impl Plan {
    /// The files of its load, and what becomes of each: those of setup and teardown, of samples and of programs that it runs
    /// are not among them, nor what was included when it was read.
    pub fn files_mut(&mut self) -> Vec<(FileUse, FileName<'_>)> {
        let mut found = Vec::new();
        let data = self.data.iter_mut();
        let data = data.filter(|own| !matches!(own.format, DataFormat::Numbers(_)));
        let read = |path| (FileUse::Read, FileName::Path(path));
        found.extend(data.map(|own| (FileUse::Read, FileName::Rows(&mut own.file.value))));
        let connections = &mut self.connections;
        found.extend(
            connections.unix.iter_mut().map(|path| (FileUse::Socket, FileName::Path(path))),
        );
        let tls = &mut connections.tls;
        let own = [&mut tls.ca, &mut tls.cert, &mut tls.key];
        found.extend(own.into_iter().flatten().map(|path| read(&mut path.value)));
        for cert in &mut tls.client_certs {
            found.push(read(&mut cert.cert));
            found.push(read(&mut cert.key));
        }
        found.extend(tls.key_store.iter_mut().map(|store| read(&mut store.file.value)));
        let steps = self.scenarios.iter_mut().flat_map(|scenario| &mut scenario.steps);
        steps.for_each(|step| of_step(step, &mut found));
        found
    }
}

fn of_step<'p>(step: &'p mut Step, found: &mut Vec<(FileUse, FileName<'p>)>) {
    let is_block = !matches!(
        step.kind,
        StepKind::Request(_) | StepKind::Exec(_) | StepKind::Write(_) | StepKind::Script(_)
    );
    if is_block {
        return step.inner_mut().for_each(|inner| of_step(inner, found));
    }
    match &mut step.kind {
        StepKind::Request(request) => of_request(request, found),
        StepKind::Exec(exec) => {
            found.extend(
                exec.stdin.iter_mut().map(|path| (FileUse::Read, FileName::Template(path))),
            );
            let written = [&mut exec.stdout, &mut exec.stderr].into_iter().flatten();
            found.extend(written.map(|path| (FileUse::Written, FileName::Template(path))));
        }
        StepKind::Write(write) => {
            found.push((FileUse::Written, FileName::Template(&mut write.file)));
        }
        StepKind::Script(script) => {
            found.push((FileUse::Read, FileName::Path(&mut script.file.value)));
        }
        _ => {}
    }
}

fn of_request<'p>(request: &'p mut Request, found: &mut Vec<(FileUse, FileName<'p>)>) {
    match &mut request.body {
        Body::File { path, .. } => found.push((FileUse::Read, FileName::Template(path))),
        Body::Multipart(parts) => {
            found.extend(parts.iter_mut().filter_map(|part| match &mut part.content {
                FormPartContent::File { path, .. } => {
                    Some((FileUse::Read, FileName::Template(path)))
                }
                FormPartContent::Text(_) => None,
            }));
        }
        Body::None | Body::Text(_) | Body::Json(_) | Body::Form(_) => {}
    }
    if let Some(ResponseBody::File(path)) = &mut request.response_body {
        found.push((FileUse::Written, FileName::Template(path)));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn all_files_are_found() {
        let text = "
target: http://127.0.0.1:1
data: {people: {csv: people.csv}, n: {numbers: {from: 1}}}
connections: {unix: a.sock, tls: {ca: ca.pem, cert: c.pem, key: k.pem, client_certs: {x: {cert: xc.pem, key: xk.pem}}}}
setup: [{post: /, body: {file: setup.bin}}]
scenarios:
  a:
    load: {users: 1, iterations: 1}
    steps:
      - group: g
        steps:
          - {post: /, body: {file: 'up/${n}.bin'}}
          - repeat: 2
            steps: [{post: /, multipart: {f: {file: part.txt}, t: text}, response_body: {file: out.bin}}]
      - {exec: [cat], stdin: in.txt, stdout: o.txt, stderr: e.txt}
      - {write: log.txt, text: x}
";
        let loaded = crate::yaml::load_str("p", text, Path::new("f"), &Default::default());
        let mut plan = loaded.unwrap_or_else(|errors| panic!("{:?}", errors.diagnostics)).plan;
        let mut found = plan.files_mut();
        let names: Vec<(FileUse, String)> =
            found.iter().map(|(of, name)| (*of, name.source())).collect();
        use FileUse::{Read, Socket, Written};
        let expected = [
            (Read, "f/people.csv"),
            (Socket, "f/a.sock"),
            (Read, "f/ca.pem"),
            (Read, "f/c.pem"),
            (Read, "f/k.pem"),
            (Read, "f/xc.pem"),
            (Read, "f/xk.pem"),
            (Read, "f/up/${n}.bin"),
            (Read, "f/part.txt"),
            (Written, "out.bin"),
            (Read, "in.txt"),
            (Written, "o.txt"),
            (Written, "e.txt"),
            (Written, "log.txt"),
        ];
        let expected: Vec<(FileUse, String)> =
            expected.iter().map(|(of, name)| (*of, (*name).to_owned())).collect();
        assert_eq!(names, expected);
        assert_eq!(found[7].1.known(), None);
        assert_eq!(found[8].1.known().as_deref(), Some("f/part.txt"));
        found[8].1.set("/tmp/${x}");
        assert_eq!(plan.files_mut()[8].1.known().as_deref(), Some("/tmp/${x}"));
    }
}
