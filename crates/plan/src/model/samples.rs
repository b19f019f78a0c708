//! Files of samples that a plan itself asks for.

use crate::keys::{Rule, record, words};
use crate::span::Spanned;

record! {
    /// A file with a row for each sample, which a run writes beside those that its user asks for.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct SampleFile as "a file of samples" {
        /// The file, relative to the working directory. Missing folders are created.
        #[key(required)]
        pub file: Spanned<String>,
        /// Its form.
        #[key(required)]
        pub form: SampleForm,
        /// Which samples it contains.
        pub only: WhichSamples,
        /// The scenarios whose samples it contains.
        #[key(default "all, and setup and teardown")]
        pub scenarios: Vec<Spanned<String>>,
        /// Whether to append to what is in it; otherwise it is overwritten. Only JMeter's forms can be appended to.
        pub append: bool,
    }
    rules(_this, keys) {
        let words = &["jtl", "jtl_xml"];
        keys.rule(Rule::OnlyWithOneOf { key: "append", other: "form", words, unless: "[false]" });
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
