//! Files of samples that a plan itself asks for.

use crate::keys::{record, words};
use crate::span::Spanned;

record! {
    /// A file with a row for each sample, which a run writes beside those that its user asks for.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct SampleFile as "a file of samples" {
        /// The file, relative to the working directory. Folders that are missing are made.
        #[key(required)]
        pub file: Spanned<String>,
        /// Its form.
        #[key(required)]
        pub form: SampleForm,
        /// Which samples it has.
        pub only: WhichSamples,
        /// The scenarios whose samples it has.
        #[key(default "all, and setup and teardown")]
        pub scenarios: Vec<Spanned<String>>,
        /// Whether it goes on behind what is in it; otherwise it is made anew. Only the forms of JMeter go on.
        pub append: bool,
    }
}

words! {
    /// The form of a file of samples.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum SampleForm {
        /// Comma-separated values.
        #[default]
        Csv = "csv",
        /// The same with the columns of JMeter's results.
        Jtl = "jtl",
        /// JMeter's results as XML.
        JtlXml = "jtl_xml",
        /// The columns of `csv`, as Parquet.
        Parquet = "parquet",
    }
}

words! {
    /// Which samples are in a file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum WhichSamples {
        /// Each.
        #[default]
        All = "all",
        /// Those that failed.
        Errors = "errors",
        /// Those that did not.
        Successes = "successes",
    }
}
