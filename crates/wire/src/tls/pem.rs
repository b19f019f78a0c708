//! Files of keys and certificates.

use std::path::Path;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::settings::SetupError;

/// Most bytes of a file of keys or certificates: some hundred times what all authorities of a machine take.
const MAX_PEM: u64 = 16 << 20;

/// The certificates of a file.
///
/// # Errors
/// It cannot be read, or holds none.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, SetupError> {
    let pem = read_pem(path)?;
    let certificates = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| unreadable(path, &error))?;
    if certificates.is_empty() {
        return Err(SetupError(format!(
            "{}: no certificate in it (PEM is expected)",
            path.display()
        )));
    }
    Ok(certificates)
}

/// What a file of keys or certificates holds, which is neither without end nor large.
pub(super) fn read_pem(path: &Path) -> Result<Vec<u8>, SetupError> {
    let about = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if !about.is_file() {
        return Err(unreadable(path, &"expected a regular file"));
    }
    if about.len() > MAX_PEM {
        return Err(unreadable(path, &format!("expected at most {MAX_PEM} bytes")));
    }
    // One that the system makes up has no size, and may wait for what is to come.
    if about.len() == 0 {
        return Err(unreadable(path, &"the file is empty"));
    }
    std::fs::read(path).map_err(|error| unreadable(path, &error))
}

pub(super) fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> SetupError {
    SetupError(format!("{}: {error}", path.display()))
}
