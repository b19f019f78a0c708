//! What a plan looks like, as data: the JSON Schema and the reference are made from it.

/// What is said of a key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
    /// What holds without it, where the model's own default does not say it.
    pub default: Option<&'static str>,
    /// Whether it has to be there.
    pub required: bool,
}

impl Key {
    /// A key that may be left out.
    pub const fn new(name: &'static str, about: &'static str) -> Key {
        Key { name, about, default: None, required: false }
    }

    /// A key that has to be there.
    pub const fn required(name: &'static str, about: &'static str) -> Key {
        Key { required: true, ..Key::new(name, about) }
    }
}

/// What a text looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Looks {
    /// What people call it.
    pub name: &'static str,
    /// Its pattern, in the syntax of JSON Schema.
    pub pattern: &'static str,
    /// The whole numbers that may stand for it without quotes; `None`: it has to be a text.
    pub numbers: Option<(u64, u64)>,
}

impl Looks {
    /// A text.
    pub const fn text(name: &'static str, pattern: &'static str) -> Looks {
        Looks { name, pattern, numbers: None }
    }
}

/// What may stand behind a key.
#[derive(Clone)]
pub(crate) enum Shape {
    /// A text, which may hold `${...}` where it says so.
    Text,
    /// A text that looks like something.
    Pattern(Looks),
    /// An expression.
    Expression,
    /// The name of a variable.
    Identifier,
    /// A file, relative to the folder of the plan.
    Path,
    /// true or false.
    Bool,
    /// A whole number within limits.
    Int(u64, u64),
    /// A number from 0, or above it.
    Number { above_0: bool },
    /// A number with a unit.
    Quantity(Quantity),
    /// Anything, texts in it with `${...}`.
    Any,
    /// One of several words, with what they mean.
    Words(Vec<(&'static str, &'static str)>),
    /// The keys of a record.
    Record(fn() -> Table),
    /// A list with so many elements at least and at most, or a single element alone.
    List(Box<Shape>, usize, usize),
    /// Names of the user's choice.
    Names(Box<Shape>, Naming),
    /// One of several.
    Either(Vec<Shape>),
    /// The first if it is a mapping with this key, otherwise the second.
    IfKey(&'static str, Box<(Shape, Shape)>),
    /// A list of steps, with at least so many.
    Steps(usize),
}

/// What names of the user's choice look like, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Naming {
    /// Whether they are those of variables.
    pub variables: bool,
    /// Another pattern that they have.
    pub pattern: Option<&'static str>,
    pub least: usize,
    pub most: usize,
}

impl Naming {
    /// Any number of any names.
    pub const ANY: Naming = Naming { variables: false, pattern: None, least: 0, most: usize::MAX };

    /// Of variables or of anything, and at least so many.
    pub fn from(least: usize, variables: bool) -> Naming {
        Naming { least, variables, ..Naming::ANY }
    }
}

/// What a number with a unit measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Quantity {
    Time,
    /// Two times with `..` between.
    Range,
    Size,
    Rate,
    Bandwidth,
    /// A share of one.
    Percent,
}

impl Quantity {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Time => "time",
            Quantity::Range => "range",
            Quantity::Size => "size",
            Quantity::Rate => "rate",
            Quantity::Bandwidth => "bandwidth",
            Quantity::Percent => "percentage",
        }
    }

    /// How it is written.
    pub fn examples(self) -> &'static [&'static str] {
        match self {
            Quantity::Time => &["300ms", "2s", "1m30s"],
            Quantity::Range => &["1s..3s"],
            Quantity::Size => &["64KiB", "1MB"],
            Quantity::Rate => &["500/s", "30/min"],
            Quantity::Bandwidth => &["2Mbit/s", "64kbit/s", "1MB/s"],
            Quantity::Percent => &["2%", "0.02"],
        }
    }
}

/// The keys of a mapping.
#[derive(Clone, Default)]
pub(crate) struct Table {
    /// What messages call it, such as `a timeout`.
    pub title: &'static str,
    /// What it is; may be empty.
    pub about: &'static str,
    /// Its keys.
    pub entries: Vec<Entry>,
    /// How they depend on each other.
    pub rules: Vec<Rule>,
}

/// A key, or several of which one way is chosen.
#[derive(Clone)]
pub(crate) enum Entry {
    /// A key.
    Key(KeyShape),
    /// The keys of one of these tables; the first key of each decides.
    OneOf {
        /// Whether one has to be there.
        required: bool,
        /// The ways.
        tables: Vec<Table>,
    },
}

/// A key and what stands behind it.
#[derive(Clone)]
pub(crate) struct KeyShape {
    pub key: Key,
    pub shape: Shape,
    /// What holds without it.
    pub default: Option<String>,
}

/// How keys of a mapping depend on each other; the last text of each says what to do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// Not both.
    Excludes(&'static str, &'static str, &'static str),
    /// The first only with the other.
    Needs(&'static str, &'static str, &'static str),
    /// At least one of them; what is said if there is none.
    AnyOf(&'static [&'static str], &'static str, &'static str),
    /// `key` if, and only if, `other` is `word`.
    OnlyWith { key: &'static str, other: &'static str, word: &'static str, help: &'static str },
    /// `key` only where `other` is one of the words, unless its value is one of a JSON list, which says as much as no
    /// key. Whoever uses it says what is wrong.
    OnlyWithOneOf {
        key: &'static str,
        other: &'static str,
        words: &'static [&'static str],
        unless: &'static str,
    },
    /// The text of `key` has a pattern where `other` is `word`. Whoever uses it says what is wrong.
    LooksWith { key: &'static str, pattern: &'static str, other: &'static str, word: &'static str },
    /// `key` is above 0 where `other` is missing. Whoever uses it says what is wrong.
    Above0Without { key: &'static str, other: &'static str },
    /// `key` has to be there unless `other` is `word`.
    NeededUnless { key: &'static str, other: &'static str, word: &'static str },
}

impl Table {
    /// All of its keys.
    pub fn all_keys(&self) -> Vec<&KeyShape> {
        let mut all: Vec<&KeyShape> = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::Key(key) => all.push(key),
                Entry::OneOf { tables, .. } => {
                    for key in tables.iter().flat_map(Table::all_keys) {
                        if !all.iter().any(|known| known.key.name == key.key.name) {
                            all.push(key);
                        }
                    }
                }
            }
        }
        all
    }

    /// The keys of which one is chosen.
    pub fn choices(&self) -> Vec<&'static str> {
        let ways = self.entries.iter().flat_map(|entry| match entry {
            Entry::Key(_) => &[],
            Entry::OneOf { tables, .. } => tables.as_slice(),
        });
        ways.flat_map(Table::deciding).collect()
    }

    /// The keys that decide that it is this one of several ways.
    pub fn deciding(&self) -> Vec<&'static str> {
        match self.entries.first() {
            None => Vec::new(),
            Some(Entry::Key(key)) => vec![key.key.name],
            Some(Entry::OneOf { tables, .. }) => tables.iter().flat_map(Table::deciding).collect(),
        }
    }
}
