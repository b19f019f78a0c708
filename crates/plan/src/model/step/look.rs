//! A step that looks at a text as at a response.

use super::kind::Kind;
use crate::expr::Expr;
use crate::keys::record;
use crate::model::response::{Check, Checks, Extract, Extracts, variables};
use crate::span::Span;
use crate::template::Template;

record! {
    /// A text that is looked at as a response is. It sends nothing and counts nowhere but in its checks; where it fails,
    /// the groups around it do, and `on_error` holds.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Look as "a look step" {
        /// The text: to extracts and checks it is the `body`.
        #[key(required "look")]
        pub text: Template,
        /// What `status` is: a number or an expression, of a text where no number says it.
        #[key(default "200")]
        pub status: Expr,
        /// What `reason` is.
        #[key(default "OK")]
        pub reason: Option<Template>,
        /// What `sent_body` is, as if that had been sent.
        pub sent: Option<Template>,
        /// Values taken from the text, in order.
        #[key([Extracts])]
        pub extract: Vec<Extract>,
        /// Assertions, in order, after the extracts; `duration` is that of the innermost group so far, and so, at its end, of the whole of it.
        #[key([Checks])]
        pub check: Vec<Check>,
    }
    first(this, _keys) {
        if this.status == Expr::default() {
            this.status = Expr::number(200, Span::default());
        }
    }
}

impl<S> Kind<S> for Look {
    fn writes<'s>(&'s self, into: &mut Vec<&'s str>) {
        into.extend(variables(&self.extract));
    }
}
