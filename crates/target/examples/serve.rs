//! Serves the built-in target until it is killed: `serve [ADDRESS [THREADS]]`.

use squall_target::{Options, Server, describe_routes};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options::default();
    if let Some(address) = arguments.next() {
        options.listen = vec![address];
    }
    if let Some(threads) = arguments.next() {
        options.threads = threads.parse()?;
    }
    let server = Server::start(options)?;
    println!("{}\n{}", server.url(), describe_routes());
    loop {
        std::thread::park();
    }
}
