//! What the scripts of elements know of the sample that they follow, by the names that each of them has for it.

use super::value::{Kind, Script};
use super::{Parser, Place};

impl Parser<'_> {
    /// What a name stands for by itself, where a script judges a sample.
    pub(super) fn fact(&self, name: &str) -> Option<Script> {
        let is_assertion = self.place == Place::Assertion;
        Some(match name {
            "ResponseCode" if is_assertion => Script::new(Kind::Text, "string(status)"),
            "ResponseMessage" if is_assertion => Script::new(Kind::Text, "reason"),
            "ResponseHeaders" if is_assertion => Script::new(Kind::Text, "head"),
            "Failure" if is_assertion => Script::new(Kind::Bool, self.state.failed.clone()),
            _ => return None,
        })
    }

    /// What a method of the sample gives.
    ///
    /// # Errors
    /// It is not known here.
    pub(super) fn fact_of_sample(&self, method: &str, arguments: usize) -> Result<Script, String> {
        let looks = matches!(self.place, Place::After | Place::Assertion) && arguments == 0;
        let (kind, source) = match method {
            "getResponseCode" if looks => (Kind::Text, "string(status)"),
            "getResponseMessage" if looks => (Kind::Text, "reason"),
            "getResponseDataAsString" if looks => (Kind::Text, "string(body)"),
            "getResponseHeaders" if looks => (Kind::Text, "head"),
            "getTime" if looks => (Kind::Number, "floor(duration)"),
            "isSuccessful" if looks && self.place == Place::After => {
                (Kind::Bool, self.state.is_ok())
            }
            _ => return Err(format!("the method `{method}` of the sample")),
        };
        Ok(Script::new(kind, source))
    }
}
