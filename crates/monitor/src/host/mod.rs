//! The host that squall runs on.

mod cpu;
mod disks;
mod network;

use std::io;
use std::time::Duration;

use squall_metrics::{Monitored, MonitoredKind};

use self::cpu::Cpu;
use self::disks::Disks;
use self::network::Network;
use crate::pressure::Pressures;
use crate::sampler::Reader;
use crate::samples::Samples;
use crate::system::{System, behind};

/// Samples the host.
#[derive(Debug, Default)]
pub(crate) struct Host {
    system: System,
    cpu: Cpu,
    pressures: Pressures,
    disks: Disks,
    network: Network,
}

impl Reader for Host {
    fn names(&self) -> Vec<String> {
        Monitored::names(&[MonitoredKind::Host])
    }

    fn read(&mut self, now: Duration, into: &mut Samples) -> io::Result<()> {
        let stat = self
            .system
            .text("proc/stat")
            .map_err(|error| io::Error::other(format!("/proc/stat cannot be read: {error}")))?;
        self.cpu.put(&stat, into);
        let memory = self.system.text("proc/meminfo").unwrap_or_default();
        put_memory(&memory, into);
        self.pressures.put(&self.system, |what| format!("proc/pressure/{what}"), now, into);
        self.disks.put(&self.system, now, into);
        self.network.put(&self.system, now, into);
        Ok(())
    }
}

fn put_memory(meminfo: &str, into: &mut Samples) {
    let bytes = |name: &str| behind(meminfo, name).map(|kib| kib * 1024.0);
    let less = |all: &str, free: &str| Some((bytes(all)? - bytes(free)?).max(0.0));
    into.put_known("memory_used", less("MemTotal", "MemAvailable"));
    into.put_known("memory_limit", bytes("MemTotal"));
    into.put_known("swap_used", less("SwapTotal", "SwapFree"));
}

#[cfg(test)]
mod tests;
