//! Writes the page of a made-up run of a fleet, to look at it: `cargo run --example fleet -- 1000 60 fleet.html`.

mod made;

use std::io;

use squall_report::{Details, Recording, document, html};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, otherwise: u32| {
        arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let path = arguments.get(2).map_or("fleet.html", String::as_str);
    let name = format!("squall-fleet-example-{}.bin", std::process::id());
    let recorded = std::env::temp_dir().join(name);
    let mut recording = Recording::create(&recorded)?;
    let run = made::run(number(0, 8) as usize, number(1, 60), &mut recording);
    std::fs::remove_file(&recorded)?;
    let result = document(&run);
    std::fs::write(path, html(&result, &Details::of(&run, None)))
}
