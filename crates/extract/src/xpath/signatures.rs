//! The functions of the core library of XPath 1.0 (section 4): their names, and what they take and give.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Boolean,
    Ceiling,
    Concat,
    Contains,
    Count,
    False,
    Floor,
    Id,
    Lang,
    Last,
    LocalName,
    Name,
    NamespaceUri,
    NormalizeSpace,
    Not,
    Number,
    Position,
    Round,
    StartsWith,
    String,
    StringLength,
    Substring,
    SubstringAfter,
    SubstringBefore,
    Sum,
    Translate,
    True,
}

/// Each function with its name and the least and largest number of arguments.
const FUNCTIONS: [(&str, Function, usize, usize); 27] = [
    ("boolean", Function::Boolean, 1, 1),
    ("ceiling", Function::Ceiling, 1, 1),
    ("concat", Function::Concat, 2, usize::MAX),
    ("contains", Function::Contains, 2, 2),
    ("count", Function::Count, 1, 1),
    ("false", Function::False, 0, 0),
    ("floor", Function::Floor, 1, 1),
    ("id", Function::Id, 1, 1),
    ("lang", Function::Lang, 1, 1),
    ("last", Function::Last, 0, 0),
    ("local-name", Function::LocalName, 0, 1),
    ("name", Function::Name, 0, 1),
    ("namespace-uri", Function::NamespaceUri, 0, 1),
    ("normalize-space", Function::NormalizeSpace, 0, 1),
    ("not", Function::Not, 1, 1),
    ("number", Function::Number, 0, 1),
    ("position", Function::Position, 0, 0),
    ("round", Function::Round, 1, 1),
    ("starts-with", Function::StartsWith, 2, 2),
    ("string", Function::String, 0, 1),
    ("string-length", Function::StringLength, 0, 1),
    ("substring", Function::Substring, 2, 3),
    ("substring-after", Function::SubstringAfter, 2, 2),
    ("substring-before", Function::SubstringBefore, 2, 2),
    ("sum", Function::Sum, 1, 1),
    ("translate", Function::Translate, 3, 3),
    ("true", Function::True, 0, 0),
];

impl Function {
    pub(super) fn by_name(name: &str) -> Option<Function> {
        FUNCTIONS.iter().find(|(known, ..)| *known == name).map(|(_, function, ..)| *function)
    }

    fn arity(self) -> (usize, usize) {
        let found = FUNCTIONS.iter().find(|(_, function, ..)| *function == self);
        found.map_or((0, 0), |(_, _, least, most)| (*least, *most))
    }

    pub(super) fn takes(self, arguments: usize) -> bool {
        let (least, most) = self.arity();
        (least..=most).contains(&arguments)
    }

    /// How many arguments it takes, in words.
    pub(super) fn arity_text(self) -> String {
        match self.arity() {
            (0, 0) => "no arguments".into(),
            (1, 1) => "one argument".into(),
            (least, most) if least == most => format!("{least} arguments"),
            (least, usize::MAX) => format!("{least} arguments or more"),
            (least, most) => format!("{least} or {most} arguments"),
        }
    }

    pub(super) fn gives_number(self) -> bool {
        matches!(
            self,
            Function::Ceiling
                | Function::Count
                | Function::Floor
                | Function::Last
                | Function::Number
                | Function::Position
                | Function::Round
                | Function::StringLength
                | Function::Sum
        )
    }

    pub(super) fn takes_nodes(self) -> bool {
        matches!(
            self,
            Function::Count
                | Function::Sum
                | Function::Name
                | Function::LocalName
                | Function::NamespaceUri
        )
    }
}
