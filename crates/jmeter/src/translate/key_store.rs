//! The client's certificates: the key store of Java's system properties, of which a Keystore Configuration takes one by a
//! variable.

use std::path::PathBuf;

use squall_plan::model::KeyStore;
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;

use super::{TranslationContext, Translator};

const CLASS: &str = "KeystoreConfig";

/// The file that system properties name, or else properties of JMeter with these names.
pub(super) fn of(given: &TranslationContext) -> Option<KeyStore> {
    let system = &given.machine.properties;
    let property = |name: &str| {
        let name = format!("javax.net.ssl.{name}");
        system.get(&name).or_else(|| given.properties.get(&name))
    };
    let file = property("keyStore").map(|file| file.trim()).filter(|file| !file.is_empty())?;
    // It is relative to where the program was started.
    let folder = system.get("user.dir").map(PathBuf::from).unwrap_or_default();
    let password = property("keyStorePassword").map(|password| Template::text(password));
    let file = Spanned::new(folder.join(file), Span::default());
    Some(KeyStore { file, password: password.unwrap_or_default() })
}

impl Translator<'_> {
    /// The name of the certificate that all requests are sent with, if a variable says it.
    pub(super) fn client_certificate(&self) -> Option<Template> {
        let id = *self.scopes.of_class(CLASS).first()?;
        let reader = self.read(id);
        // All of them are read before the run.
        reader.pass(&["preload"]);
        let name = reader.constant("clientCertAliasVarName").unwrap_or_default();
        let (first, last) = (reader.number("startIndex", 0), reader.number("endIndex", -1));
        reader.finish();
        if self.key_store.is_none() {
            self.obstacle(id, "no key store, which `-Djavax.net.ssl.keyStore` names");
            return None;
        }
        if name.is_empty() {
            self.obstacle(id, "certificates that are taken in turn, as no variable names one");
            return None;
        }
        if (first, last) != (Some(0), Some(-1)) {
            self.obstacle(id, "certificates by their places in the file");
        }
        let name = self.variable(&name).map_err(|what| self.obstacle(id, what)).ok()?;
        Some(self.template_of(id, &[name]))
    }
}
