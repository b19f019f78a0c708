//! How much memory a data file takes. In a binary of its own, since it is the whole process that is
//! looked at.

use std::io::Write;

use squall_engine::{CompileOptions, compile};
use squall_plan::model::{Advance, AtEnd, Csv, DataFormat, DataSource, Pick, Plan, Share};
use squall_plan::span::{Span, Spanned};

/// The most memory that this process ever had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line =
        status.lines().find(|line| line.starts_with("VmHWM:")).expect("a line of peak memory");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn millions_of_rows_take_little_more_than_their_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = peak();
    // 3.9 million rows in 7.8 MB, which are kept in memory, and ten times as many, which are not.
    for rows in [3_900_000u64, 39_000_000] {
        let path = folder.path().join(format!("{rows}.csv"));
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
        file.write_all(b"n\n").expect("room");
        for n in 0..rows {
            file.write_all(&[b'0' + (n % 10) as u8, b'\n']).expect("room");
        }
        file.flush().expect("room");
        let span = Span::default();
        let data = DataSource {
            name: Spanned { value: "d".to_owned(), span },
            file: Spanned { value: path, span },
            format: DataFormat::Csv(Csv::default()),
            pick: Pick::Next,
            share: Share::All,
            at_end: AtEnd::Cycle,
            advance: Advance::Iteration,
            ..DataSource::default()
        };
        let plan = Plan { data: vec![data], ..Plan::default() };
        let program = compile(&plan, &CompileOptions::default()).expect("a good plan");
        let grown = peak() - before;
        assert!(grown < 40 << 10, "{rows} rows take {grown} KiB");
        println!("{rows} rows: {grown} KiB");
        drop(program);
    }
}
