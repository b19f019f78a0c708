//! The console.

use super::once;
use crate::{Event, Level};

#[test]
fn values_are_written_as_k6_writes_them() {
    let (host, result) = once(
        "export default function () {
  console.log('a', 1, true, null, undefined);
  console.log({ a: [1, 'x'], n: null });
  console.log([1, { b: 2 }], 'end');
  const round = {}; round.own = round;
  console.log(round);
  console.debug('d'); console.info('i'); console.warn('w'); console.error('e');
  console.log();
}",
    );
    result.expect("no error");
    let lines: Vec<(Level, &str)> = host
        .told
        .iter()
        .map(|own| match own {
            Event::Log { level, text } => (*level, text.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        (Level::Info, "a 1 true null undefined"),
        (Level::Info, r#"{"a":[1,"x"],"n":null}"#),
        (Level::Info, r#"[1,{"b":2}] end"#),
        (Level::Info, "[object Object]"),
        (Level::Debug, "d"),
        (Level::Info, "i"),
        (Level::Warn, "w"),
        (Level::Error, "e"),
        (Level::Info, ""),
    ];
    assert_eq!(lines, expected);
}
