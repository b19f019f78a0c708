//! What every kind of step says of itself, besides its keys.

use crate::model::http_options::Resources;
use crate::span::Spanned;
use crate::template::Template;

/// What a step is to the plan around it. `S`: a step, as blocks hold them.
pub(crate) trait Kind<S> {
    /// The steps directly within it.
    fn inner<'s>(&'s self, _into: &mut Vec<&'s S>) {}

    /// The same, to be changed.
    fn inner_mut<'s>(&'s mut self, _into: &mut Vec<&'s mut S>) {}

    /// The variables that it sets itself.
    fn writes<'s>(&'s self, _into: &mut Vec<&'s str>) {}

    /// What it needs itself while it is done. `inherited`: the resources that requests load which say nothing of that.
    fn needs(&self, _inherited: Option<&Resources>) -> Needs {
        Needs::default()
    }
}

/// What a step needs of the machine while it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// Exchanges with a target.
    pub exchanges: u64,
    /// Connections at the same time.
    pub connections: u64,
    /// Files that are open at the same time.
    pub files: u64,
}

impl<S, K: Kind<S>> Kind<S> for Box<K> {
    fn inner<'s>(&'s self, into: &mut Vec<&'s S>) {
        (**self).inner(into);
    }

    fn inner_mut<'s>(&'s mut self, into: &mut Vec<&'s mut S>) {
        (**self).inner_mut(into);
    }

    fn writes<'s>(&'s self, into: &mut Vec<&'s str>) {
        (**self).writes(into);
    }

    fn needs(&self, inherited: Option<&Resources>) -> Needs {
        (**self).needs(inherited)
    }
}

impl<S, K: Kind<S>> Kind<S> for Vec<K> {
    fn inner<'s>(&'s self, into: &mut Vec<&'s S>) {
        self.iter().for_each(|own| own.inner(into));
    }

    fn inner_mut<'s>(&'s mut self, into: &mut Vec<&'s mut S>) {
        self.iter_mut().for_each(|own| own.inner_mut(into));
    }

    fn writes<'s>(&'s self, into: &mut Vec<&'s str>) {
        self.iter().for_each(|own| own.writes(into));
    }
}

/// A variable and its value.
impl<S, V> Kind<S> for (Spanned<String>, V) {
    fn writes<'s>(&'s self, into: &mut Vec<&'s str>) {
        into.push(&self.0.value);
    }
}

/// A text.
impl<S> Kind<S> for Template {}
/// A name.
impl<S> Kind<S> for Spanned<String> {}
/// A name, or nothing.
impl<S> Kind<S> for Option<String> {}
