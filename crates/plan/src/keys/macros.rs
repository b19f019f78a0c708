//! One list for a struct of the model and its keys, and for an enum and its words.

/// A struct whose fields are keys of a mapping. What is written above a field describes its key, and
/// `#[key(...)]` says, in this order and all of it optional: `required`, another name, `[Form]`, and
/// `default` with what holds without it. `#[key(flat)]` is a field that is written with keys of its own
/// in the same mapping, `#[key(no)]` one that is no key. What follows the struct is the field with the name under which it
/// stands in a plan (`named`), and whether that is one of a variable; keys that stand before these (`first`); and what else
/// there is to say (`rules`).
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident as $title:literal {
            $(
                $(#[doc = $about:literal])+
                $(#[key($($how:tt)*)])?
                pub $field:ident: $type:ty,
            )*
        }
        $(named($by:ident $($variable:ident)?))?
        $(first($first_this:ident, $first_keys:ident) $first:block)?
        $(rules($this:ident, $keys:ident) $rules:block)?
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[doc = $about])+ pub $field: $type,)*
        }

        impl $crate::keys::Record for $name {
            const TITLE: &'static str = $title;
            fn keys(&mut self, keys: &mut $crate::keys::Keys<'_>) {
                $(let ($first_this, $first_keys) = (&mut *self, &mut *keys); $first)?
                $($crate::keys::record!(@key self keys $field $type, concat!($($about),+); $($($how)*)?);)*
                $(let ($this, $keys) = (&mut *self, &mut *keys); $rules)?
            }
        }

        impl $crate::keys::Plain for $name {
            type Form = $crate::keys::Of<$name>;
        }

        $(impl $crate::keys::Named for $name {
            const VARIABLES: bool = $crate::keys::record!(@is_variable $($variable)?);
            fn set_name(&mut self, name: $crate::span::Spanned<String>, _: &mut $crate::nodes::Reader) {
                self.$by = name;
            }
            fn name(&self) -> &str {
                &self.$by.value
            }
        })?
    };
    (@is_variable) => { false };
    (@is_variable variable) => { true };
    (@key $self:ident $keys:ident $field:ident $type:ty, $about:expr; no) => {};
    (@key $self:ident $keys:ident $field:ident $type:ty, $about:expr; flat) => {
        $self.$field.keys($keys);
    };
    (@key $self:ident $keys:ident $field:ident $type:ty, $about:expr; required $($name:literal)? $([$form:ty])?) => {
        $keys.key::<$crate::keys::record!(@form $type $(, $form)?)>(
            &mut $self.$field,
            $crate::keys::Key::required($crate::keys::record!(@name $field $($name)?), $about),
        );
    };
    (@key $self:ident $keys:ident $field:ident $type:ty, $about:expr; $($name:literal)? $([$form:ty])? $(default $default:literal)?) => {
        $keys.key::<$crate::keys::record!(@form $type $(, $form)?)>(
            &mut $self.$field,
            $crate::keys::Key {
                default: $crate::keys::record!(@default $($default)?),
                ..$crate::keys::Key::new($crate::keys::record!(@name $field $($name)?), $about)
            },
        );
    };
    (@form $type:ty) => { <$type as $crate::keys::Plain>::Form };
    (@form $type:ty, $form:ty) => { $form };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
}

/// An enum of words, each with what it means.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[doc = $about:literal])+ $(#[$default:ident])? $variant:ident = $word:literal,)*
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[doc = $about])+ $(#[$default])? $variant,)*
        }

        impl $crate::keys::Words for $name {
            const WORDS: &'static [(&'static str, $name, &'static str)] =
                &[$(($word, $name::$variant, concat!($($about),+)),)*];
        }

        impl $crate::keys::Plain for $name {
            type Form = $crate::keys::Word<$name>;
        }
    };
}

pub(crate) use {record, words};
