//! Counts the faults of files. Each line of the standard input names one; three lines of the output tell what it has
//! as HTML, as XHTML and as XML: the number of the format, its errors and warnings, and the file.

use std::io::{BufRead, Write};

use squall_extract::{Documents, Limits, MarkupFormat};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for file in std::io::stdin().lock().lines() {
        let file = file?;
        let page = std::fs::read(&file)?;
        let documents = Documents::new(&page, Limits::default());
        for format in [MarkupFormat::Html, MarkupFormat::Xhtml, MarkupFormat::Xml] {
            match documents.faults(format) {
                Ok(faults) => {
                    let (errors, warnings) = (faults.errors, faults.warnings);
                    writeln!(out, "{} {errors} {warnings} {file}", format as usize)?;
                }
                Err(error) => writeln!(out, "{} failed {error} {file}", format as usize)?,
            }
        }
    }
    Ok(())
}
