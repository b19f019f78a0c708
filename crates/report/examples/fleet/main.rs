//! Makes up a run of a fleet, to look at its report and its page: `cargo run --example fleet -- runs 1000 60` writes its
//! folder into `runs`.

mod made;

use std::io;
use std::path::Path;

use squall_report::{Recording, RunFolder, document};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, otherwise: u32| {
        arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let base = Path::new(arguments.first().map_or("fleet-runs", String::as_str));
    let nodes = number(1, 8) as usize;
    let mut folder = RunFolder::create(base, &made::meta(nodes), "name: shop\n")?;
    let mut run = made::run(nodes, number(2, 60), |slice| folder.slice(slice));
    run.evaluate_to_draw(&mut Recording::open(&folder.path().join("slices.bin"))?)?;
    run.warn();
    let result = document(&run);
    folder.write_result(&result)?;
    folder.write_totals(&run.totals)?;
    folder.write_page(&run, &result)?;
    println!("{}", folder.path().display());
    Ok(())
}
