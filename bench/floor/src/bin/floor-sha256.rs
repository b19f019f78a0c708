//! SHA-256 of 1 GiB, in pieces of at most 64 KiB, without anything of a load generator: of one piece again and
//! again, which stays in the processor's caches (`hot`); of memory that is read once (`cold`); or of what a
//! target sends for `GET /big` (its address). Prints the CPU time that it took.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use sha2::{Digest as _, Sha256};

const PIECE: usize = 64 * 1024;
const TOTAL: usize = 1 << 30;

fn main() -> Result<(), String> {
    let what = std::env::args().nth(1).ok_or("usage: floor-sha256 hot|cold|ADDRESS")?;
    let (seconds, hash) = match what.as_str() {
        "hot" => of_memory(PIECE)?,
        "cold" => of_memory(TOTAL)?,
        address => of_response(address).map_err(|error| format!("{address}: {error}"))?,
    };
    // The hash is used, so that it cannot be left out.
    println!(r#"{{"cpu_s": {seconds:.4}, "first_byte": {}}}"#, hash.finalize()[0]);
    Ok(())
}

fn of_memory(length: usize) -> Result<(f64, Sha256), String> {
    // Written, so that there are pages behind it.
    let memory: Vec<u8> = (0..length).map(|at| at as u8).collect();
    let (begin, mut hash) = (cpu_seconds(), Sha256::new());
    for _ in 0..TOTAL / length {
        memory.chunks(PIECE).for_each(|piece| hash.update(piece));
    }
    Ok((cpu_seconds() - begin, hash))
}

fn of_response(address: &str) -> std::io::Result<(f64, Sha256)> {
    let mut stream = TcpStream::connect(address)?;
    let (begin, mut hash) = (cpu_seconds(), Sha256::new());
    stream.write_all(b"GET /big HTTP/1.1\r\nHost: floor\r\nConnection: close\r\n\r\n")?;
    let mut buffer = vec![0; PIECE];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok((cpu_seconds() - begin, hash)),
            count => hash.update(&buffer[..count]),
        }
    }
}

/// CPU time of this process so far.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is written to a place that is valid for the call. The clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
