//! The published advice for kernel settings of load generators and servers, as its pages had it in November 2026.

/// Who advises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Its name in a line.
    pub name: &'static str,
    /// Its page.
    pub url: &'static str,
}

const GATLING: Source =
    Source { name: "Gatling's guide", url: "https://docs.gatling.io/concepts/operations" };
const GATLING_BEFORE: Source = Source {
    name: "Gatling's guide before",
    url: "https://gatling.io/docs/current/general/operations",
};
const K6: Source =
    Source { name: "k6's guide", url: "https://grafana.com/docs/k6/latest/set-up/fine-tune-os" };
const NGINX_FILES: Source = Source {
    name: "a guide to nginx",
    url: "https://www.cyberciti.biz/faq/linux-unix-nginx-too-many-open-files",
};
const SYSCTL_LIST: Source = Source {
    name: "a list for servers",
    url: "https://gist.github.com/behrad/c95ce4dbd87c5ed23e8b",
};

/// A value that somebody advises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// The setting, as `sysctl` names it.
    pub setting: &'static str,
    /// The value, as `sysctl` takes it.
    pub value: &'static str,
    pub source: Source,
}

const fn says(source: Source, setting: &'static str, value: &'static str) -> Published {
    Published { setting, value, source }
}

/// All of it.
pub const PUBLISHED: &[Published] = &[
    says(GATLING, "net.ipv4.ip_local_port_range", "1024 65535"),
    says(K6, "net.ipv4.ip_local_port_range", "1024 65535"),
    says(SYSCTL_LIST, "net.ipv4.ip_local_port_range", "10000 65535"),
    says(GATLING, "net.ipv4.tcp_tw_reuse", "1"),
    says(K6, "net.ipv4.tcp_tw_reuse", "1"),
    says(GATLING, "net.ipv4.tcp_max_tw_buckets", "8192"),
    says(SYSCTL_LIST, "net.ipv4.tcp_max_tw_buckets", "2000000"),
    says(SYSCTL_LIST, "net.ipv4.tcp_tw_recycle", "1"),
    says(GATLING, "net.ipv4.tcp_fin_timeout", "15"),
    says(GATLING, "fs.nr_open", "1073741816"),
    says(GATLING_BEFORE, "fs.nr_open", "300000"),
    says(GATLING_BEFORE, "fs.file-max", "300000"),
    says(NGINX_FILES, "fs.file-max", "70000"),
    says(GATLING_BEFORE, "net.core.somaxconn", "40000"),
    says(GATLING_BEFORE, "net.ipv4.tcp_max_syn_backlog", "40000"),
    says(GATLING_BEFORE, "net.core.netdev_max_backlog", "300000"),
    says(GATLING_BEFORE, "net.core.rmem_max", "134217728"),
    says(GATLING_BEFORE, "net.core.wmem_max", "134217728"),
    says(SYSCTL_LIST, "net.core.rmem_max", "16777216"),
    says(SYSCTL_LIST, "net.core.wmem_max", "16777216"),
    says(GATLING, "net.ipv4.tcp_rmem", "4096 131072 33554432"),
    says(GATLING_BEFORE, "net.ipv4.tcp_rmem", "4096 277750 134217728"),
    says(SYSCTL_LIST, "net.ipv4.tcp_rmem", "4096 4096 16777216"),
    says(GATLING, "net.ipv4.tcp_wmem", "4096 16384 4194304"),
    says(GATLING_BEFORE, "net.ipv4.tcp_wmem", "4096 277750 134217728"),
    says(SYSCTL_LIST, "net.ipv4.tcp_wmem", "4096 4096 16777216"),
];
