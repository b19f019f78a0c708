//! What became of what a sink sends elsewhere: counts that the sink keeps and the result shows. Losses here are no
//! failure of the run: somebody else's receiver was not there, and what squall measured is complete without it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use squall_base::escape_control;
use squall_plan::secrets::{Excerpt, Secrets};
use squall_report::FeedReport;

/// Most bytes of a receiver's own words that are looked at.
const MAX_SAID: usize = 4 << 10;
/// Most characters that are shown of squall's words, and of a receiver's.
const MAX_SHOWN: usize = 200;
/// In place of words that repeat a secret.
const NOT_SHOWN: &str = "(it repeats a secret, and is not shown)";

/// What went wrong with a receiver: squall's words, and the receiver's own. It may have said what authorized, so that no text
/// can be made of this but by [`Trouble::shown`].
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Trouble {
    what: String,
    said: Vec<u8>,
    is_cut: bool,
}

impl Trouble {
    /// In squall's words, or the system's.
    pub fn new(what: impl fmt::Display) -> Trouble {
        Trouble { what: what.to_string(), ..Trouble::default() }
    }

    /// With what the receiver said, of which no more than a beginning is kept.
    #[must_use]
    pub fn said(self, words: &[u8]) -> Trouble {
        let kept = &words[..words.len().min(MAX_SAID)];
        Trouble { said: kept.to_vec(), is_cut: kept.len() < words.len(), ..self }
    }

    /// As people may see it: short, without secrets, and with nothing that a terminal would obey.
    pub fn shown(&self, secrets: &Secrets) -> String {
        let said = self.said.trim_ascii();
        let said = (!said.is_empty())
            .then(|| shown(Excerpt { bytes: said, is_cut: self.is_cut }, secrets));
        let what = shown(Excerpt { bytes: self.what.as_bytes(), is_cut: false }, secrets);
        [what].into_iter().chain(said).collect::<Vec<_>>().join(": ")
    }
}

/// It may hold secrets.
impl fmt::Debug for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trouble").finish_non_exhaustive()
    }
}

fn shown(excerpt: Excerpt<'_>, secrets: &Secrets) -> String {
    // Cut only when no secret is in it any more: the beginning of one would not be found.
    match secrets.mask_foreign(excerpt) {
        Some(text) => escape_control(&text).chars().take(MAX_SHOWN).collect(),
        None => NOT_SHOWN.to_owned(),
    }
}

/// Counts what a sink has sent and lost. Clones are the same account.
#[derive(Debug, Clone)]
pub struct Delivery {
    report: Arc<Mutex<FeedReport>>,
    secrets: Arc<Secrets>,
}

impl Delivery {
    /// Nothing sent yet, to a receiver of this name, in which secrets are masked, with all secrets that it may repeat.
    pub fn new(name: impl Into<String>, secrets: Secrets) -> Delivery {
        let report = FeedReport { name: name.into(), ..FeedReport::default() };
        Delivery { report: Arc::new(Mutex::new(report)), secrets: Arc::new(secrets) }
    }

    /// So many more points have arrived, as far as the receiver says.
    pub fn sent(&self, points: u64) {
        self.report_mut().points_sent += points;
    }

    /// So many more points are lost.
    pub fn lost(&self, points: u64) {
        self.report_mut().points_lost += points;
    }

    /// Something went wrong. The first is kept.
    pub fn trouble(&self, trouble: &Trouble) {
        self.report_mut().error.get_or_insert_with(|| trouble.shown(&self.secrets));
    }

    /// The account as it is now.
    pub fn report(&self) -> FeedReport {
        self.report_mut().clone()
    }

    fn report_mut(&self) -> MutexGuard<'_, FeedReport> {
        // Each change is whole, so that a panic elsewhere leaves nothing half done.
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWORD: &str = "Gr\u{fc}n \"7/q+Zx4Kp<9";
    const TOKEN: &str = "tok_9f8Ab3Cd7Ef1Gh";
    /// Base64 of `me:` and the password, which is what is sent.
    const BASIC: &str = "bWU6R3LDvG4gIjcvcStaeDRLcDw5";

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        [PASSWORD, TOKEN, BASIC].into_iter().for_each(|own| secrets.add(own));
        secrets
    }

    /// Nothing of a secret that is longer than a chance.
    fn assert_hides(said: &[u8]) {
        let own = secrets();
        let shown = Trouble::new("status 401").said(said).shown(&own);
        assert!(shown.starts_with("status 401: "), "{shown}");
        let bare: String =
            shown.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        for part in [
            "tok9f8",
            "9f8ab3",
            "7ef1gh",
            "zx4kp",
            "gr\u{fc}n",
            "bwu6r3",
            "3ldvg",
            "d0s0",
            "746f6b5f",
            "m9fowz",
        ] {
            assert!(!bare.contains(part), "{part} of {:?}: {shown}", String::from_utf8_lossy(said));
        }
    }

    #[test]
    fn whatever_form_a_secret_comes_back_in_it_is_not_shown() {
        let fold = |text: &str, end: &str| -> String {
            let parts: Vec<&str> = text
                .as_bytes()
                .chunks(5)
                .map(|own| std::str::from_utf8(own).expect("ASCII"))
                .collect();
            parts.join(end)
        };
        let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        let percent =
            |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let escaped = |text: &str| {
            text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
        };
        let quoted = serde_json::Value::from(PASSWORD).to_string();
        let as_form = squall_base::form::encoded(PASSWORD);
        let beyond = "x".repeat(MAX_SAID - 9);
        for said in [
            PASSWORD.to_owned(),
            TOKEN.to_owned(),
            format!("Authorization: Bearer {TOKEN}"),
            format!("authorization: BEARER {TOKEN}\r\n"),
            format!("bearer\t{TOKEN}"),
            format!("Authorization: Basic {BASIC}"),
            format!("AUTHORIZATION:BASIC {BASIC}=="),
            format!("basic,{}", BASIC.to_lowercase()),
            TOKEN.to_uppercase(),
            TOKEN.to_lowercase(),
            format!("http://me:{}@host/write", percent(PASSWORD)),
            percent(TOKEN),
            percent(TOKEN).to_lowercase(),
            percent(&percent(TOKEN)),
            percent(&percent(&percent(TOKEN))),
            as_form.clone(),
            as_form.to_lowercase(),
            quoted.clone(),
            serde_json::Value::from(quoted.as_str()).to_string(),
            escaped(TOKEN),
            escaped(PASSWORD),
            PASSWORD.replace('"', "&quot;").replace('<', "&lt;"),
            hex(TOKEN),
            hex(TOKEN).to_uppercase(),
            fold(&hex(TOKEN), ":"),
            fold(TOKEN, "\r\n "),
            fold(BASIC, "\r\n\t"),
            fold(TOKEN, " "),
            fold(TOKEN, "-"),
            fold(BASIC, "\\r\\n"),
            BASIC.replace('+', "-").replace('/', "_"),
            // The token in base64, alone and within more.
            "dG9rXzlmOEFiM0NkN0VmMUdo".to_owned(),
            "eyJ0IjoidG9rXzlmOEFiM0NkN0VmMUdoIn0=".to_owned(),
            format!("{beyond}{TOKEN}"),
            format!("{beyond}{}", TOKEN.to_uppercase()),
            format!("{}{TOKEN}", "x".repeat(MAX_SHOWN - 8)),
            format!("{}{BASIC}", "x ".repeat(MAX_SHOWN / 2 - 4)),
            format!("a\u{1b}[2J{TOKEN}\u{9b}"),
        ] {
            assert_hides(said.as_bytes());
        }
        // In Latin-1.
        assert_hides(&PASSWORD.chars().map(|c| u32::from(c) as u8).collect::<Vec<u8>>());
    }

    #[test]
    fn what_says_no_secret_is_shown_up_to_a_length() {
        let shown = |said: &str| Trouble::new("status 400").said(said.as_bytes()).shown(&secrets());
        assert_eq!(shown(""), "status 400");
        assert_eq!(shown(" partial write: a\tb\u{7} \n"), "status 400: partial write: a\tb\\x07");
        assert_eq!(shown(&"x".repeat(1 << 20)).len(), 12 + MAX_SHOWN);
        let what = Trouble::new(format!("no answer of http://h/?token={TOKEN}"));
        assert_eq!(what.shown(&secrets()), "no answer of http://h/?token=***");
        assert!(!format!("{what:?}").contains("tok_"));
    }
}
