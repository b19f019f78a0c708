//! squall
fn main() {}
