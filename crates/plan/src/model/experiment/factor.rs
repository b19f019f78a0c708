//! What differs between the variants of an experiment.

use crate::keys::{
    Any, At, ByName, Form, Key, Keys, Known, Listed, Names, Short, ShortOr, Text, Union, Word,
    record, words,
};
use crate::model::{Json, Var, Variable};
use crate::span::Spanned;

record! {
    /// One thing that differs, and its values.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Factor as "a factor" {
        /// Its name.
        #[key(no)]
        pub name: Spanned<String>,
        /// What is set to its values.
        #[key(no)]
        pub kind: FactorKind,
        /// Its values.
        #[key(required [Listed<Any, 1>])]
        pub values: Vec<Json>,
    }
    named(name variable)
    first(this, keys) {
        keys.union(&mut this.kind, false);
    }
}

/// The form of a factor: its values alone, or with what is set to them.
pub(crate) type FactorForm = ShortOr<Factor>;

/// The values alone: the factor is a variable.
impl Short for Factor {
    type Form = Listed<Any, 1>;
    fn from_short(values: <Self::Form as Form>::Value) -> Factor {
        Factor { values, ..Factor::default() }
    }
    fn short(&self) -> Option<Vec<Json>> {
        (self.kind == FactorKind::Variable).then(|| self.values.clone())
    }
}

record! {
    /// A variant, where they are named one by one.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct FactorVariant as "a variant" {
        /// Its name.
        #[key(no)]
        pub name: Spanned<String>,
        /// Variables, known to the plan and to all that the experiment starts.
        #[key([ByName<Variable>])]
        pub vars: Vec<Var>,
        /// Keys of the plan that are set, by their paths.
        #[key([Names<Any, false>])]
        pub plan: Vec<(Spanned<String>, Json)>,
        /// Settings of the kernel, which are put back afterwards.
        #[key([Names<Known, false>])]
        pub sysctl: Vec<(Spanned<String>, String)>,
    }
    named(name)
}

/// What a factor sets.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum FactorKind {
    /// A variable, known to the plan and to all that the experiment starts, under the factor's name.
    #[default]
    Variable,
    /// A part of the plan's load.
    Load(LoadKey),
    /// A key of the plan, by its path: `connections.reuse`.
    Plan(Spanned<String>),
    /// A setting of the kernel: `net.ipv4.tcp_tw_reuse`.
    Sysctl(Spanned<String>),
}

words! {
    /// A part of a load.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum LoadKey {
        /// The number of virtual users.
        #[default] Users = "users",
        /// The arrival rate.
        Rate = "rate",
        /// How long it lasts.
        For = "for",
        /// How many iterations each user makes.
        Iterations = "iterations",
    }
}

impl LoadKey {
    /// The key of a load that it is.
    pub fn label(self) -> &'static str {
        match self {
            LoadKey::Users => "users",
            LoadKey::Rate => "rate",
            LoadKey::For => "for",
            LoadKey::Iterations => "iterations",
        }
    }
}

impl Union for FactorKind {
    fn variants() -> Vec<FactorKind> {
        vec![
            FactorKind::Load(LoadKey::default()),
            FactorKind::Plan(Spanned::default()),
            FactorKind::Sysctl(Spanned::default()),
        ]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match self {
            FactorKind::Variable => {}
            FactorKind::Load(key) => {
                let about = "The part of the plan's load that is set.";
                keys.key::<Word<LoadKey>>(key, Key::required("load", about));
            }
            FactorKind::Plan(path) => {
                let about =
                    "The key of the plan that is set, by its path, such as `connections.reuse`.";
                keys.key::<At<Text>>(path, Key::required("plan", about));
            }
            FactorKind::Sysctl(name) => {
                let about = "The setting of the kernel, such as `net.ipv4.tcp_tw_reuse`; it is put back afterwards.";
                keys.key::<At<Text>>(name, Key::required("sysctl", about));
            }
        }
    }
}
