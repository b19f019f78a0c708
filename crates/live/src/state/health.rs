//! Answers to the questions of a tester. Plain data.

/// How good an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// There is none yet.
    Unknown,
    /// As it should be.
    Good,
    Doubtful,
    /// Not as it should be.
    Bad,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HealthAnswer {
    /// The question in a word or two.
    pub question: &'static str,
    /// How good it is.
    pub mood: Mood,
    /// The answer in a word or two.
    pub word: String,
    /// What it is based on.
    pub detail: String,
}

/// What the three answers come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// How good it is.
    pub mood: Mood,
    /// Who limits the run, or which threshold fails, in a few words.
    pub word: String,
    /// What that means, in a sentence.
    pub text: String,
}
