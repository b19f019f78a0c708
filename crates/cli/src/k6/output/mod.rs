//! k6's outputs: sinks that write or send what a script measures while the run goes on.

mod file;
mod points;
mod push;
mod series;

use squall_k6::output::OutputTarget;
use squall_runner::Sink;

use file::PointFile;
pub use points::Measuring;
use points::Points;
use push::Push;

/// The sink of an output, with its name.
pub fn sink(target: OutputTarget, own: &Measuring) -> (String, Box<dyn Sink>) {
    let points = Points::new(own);
    match target {
        OutputTarget::File(target) => {
            let shown = target.file.clone().unwrap_or_else(|| "standard output".to_owned());
            (shown, Box::new(PointFile::new(target, own, points)))
        }
        OutputTarget::Push(target) => (target.target.shown(), Box::new(Push::new(*target, points))),
    }
}

#[cfg(test)]
mod tests {
    use squall_k6::options::{Layers, Options, Source};

    /// The options of a script that says this.
    pub(super) fn options(value: &serde_json::Value) -> Options {
        let mut layers = Layers::default();
        layers.add_map(&Source::Script, value).expect("options");
        Options::read(&layers, &[]).expect("options")
    }
}
