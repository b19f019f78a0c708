//! What JMeter says of a request that came to nothing: the class of the exception with which its HTTP client fails, and
//! what that says (HttpClient 4.5.14 of Apache JMeter 5.6.3, with Java 17). Dashboards and assertions look for these texts.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use squall_metrics::ErrorKind;

const HOST_CONNECT: &str = "org.apache.http.conn.HttpHostConnectException";
const CONNECT_TIMEOUT: &str = "org.apache.http.conn.ConnectTimeoutException";
const SOCKET: &str = "java.net.SocketException";
/// How an error of the way to a proxy begins.
const OF_PROXY: &str = "the proxy ";

/// The class of the exception and its message, for an error of a request to a URL; `None`: a response came, which is
/// looked at. What JMeter has not is named as in all results, and what it says of names, files and protocols is what squall
/// says.
pub(super) fn exception<'s>(
    kind: ErrorKind,
    detail: &'s str,
    url: &str,
) -> Option<(&'static str, Cow<'s, str>)> {
    use ErrorKind as K;
    let (class, message): (_, Cow<'s, str>) = match kind {
        K::Status | K::Extract | K::Check => return None,
        // What the proxy says is the response.
        K::Proxy if detail.contains(": status ") => return None,
        K::Dns => {
            let of_proxy = detail.strip_prefix(OF_PROXY).and_then(|detail| detail.split_once(": "));
            let host = of_proxy.map_or(host_and_port(url).0, |(host, _)| host);
            ("java.net.UnknownHostException", format!("{host}: Name or service not known").into())
        }
        K::ConnectRefused => (HOST_CONNECT, connect(url, detail, "Connection refused").into()),
        K::ConnectTimeout => (CONNECT_TIMEOUT, connect(url, detail, "Connect timed out").into()),
        K::TlsTimeout => (CONNECT_TIMEOUT, connect(url, detail, "Read timed out").into()),
        K::ConnectFailed if detail.contains("Network is unreachable") => {
            (SOCKET, "Network is unreachable".into())
        }
        K::ConnectFailed if detail.contains("not an address of this machine") => {
            ("java.net.BindException", "Cannot assign requested address".into())
        }
        K::ConnectFailed => ("java.net.NoRouteToHostException", "No route to host".into()),
        K::NoFreePort => ("java.net.BindException", "Cannot assign requested address".into()),
        K::TooManyOpenFiles => (SOCKET, "Too many open files".into()),
        K::Tls if detail.contains("does not speak TLS") => {
            ("javax.net.ssl.SSLException", "Unsupported or unrecognized SSL message".into())
        }
        K::Tls => ("javax.net.ssl.SSLHandshakeException", detail.into()),
        K::Reset => (SOCKET, "Connection reset".into()),
        K::ClosedEarly if detail.contains("within the body") => (
            "org.apache.http.ConnectionClosedException",
            "Premature end of Content-Length delimited message body".into(),
        ),
        K::ClosedEarly => {
            let (host, port) = host_and_port(url);
            let message = format!("{host}:{port} failed to respond");
            ("org.apache.http.NoHttpResponseException", message.into())
        }
        K::TimeoutSend | K::TimeoutFirstByte | K::TimeoutBody => {
            ("java.net.SocketTimeoutException", "Read timed out".into())
        }
        // That has no message of its own.
        K::MalformedResponse => ("org.apache.http.client.ClientProtocolException", "null".into()),
        K::Decode => ("java.util.zip.ZipException", "Not in GZIP format".into()),
        K::TooManyRedirects => {
            let most = detail.strip_prefix("more than ").unwrap_or(detail);
            let message = format!("Exceeded maximum number of redirects: {most}");
            ("java.io.IOException", message.into())
        }
        K::BadRedirect => ("java.net.MalformedURLException", bad_url(detail)),
        K::Render | K::Variable => ("java.net.URISyntaxException", detail.into()),
        K::BodyFile => ("java.io.FileNotFoundException", detail.into()),
        K::Interrupted => (SOCKET, "Socket closed".into()),
        K::PoolTimeout => (
            "org.apache.http.conn.ConnectionPoolTimeoutException",
            "Timeout waiting for connection from pool".into(),
        ),
        K::Io | K::Proxy | K::Exec | K::Script => ("java.io.IOException", detail.into()),
        K::BodyTooLarge | K::HostNotAllowed | K::AddressBlocked => (kind.label(), detail.into()),
    };
    Some((class, message))
}

/// What is said of a connection that did not come about. The address is what the detail begins with, or else the host of the URL
/// if it is one. Of a proxy it is said of that.
fn connect(url: &str, detail: &str, why: &str) -> String {
    let of_proxy = detail.strip_prefix(OF_PROXY);
    let (url, detail) = match of_proxy.and_then(|detail| detail.split_once(": ")) {
        Some((place, _)) => (place, &detail[OF_PROXY.len()..]),
        None => (url, detail),
    };
    let (host, port) = host_and_port(url);
    let own: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    let tried = detail.split(": ").next().and_then(|address| address.parse::<SocketAddr>().ok());
    let named = if own.is_some() { "" } else { host };
    let address = tried.map(|address| address.ip()).or(own);
    let address = address.map(|address| format!(" [{named}/{}]", as_java(address)));
    format!("Connect to {host}:{port}{} failed: {why}", address.unwrap_or_default())
}

/// What is said of a URL of another protocol, or else what squall says.
fn bad_url(detail: &str) -> Cow<'_, str> {
    let scheme = detail.split_once("its scheme is `").and_then(|(_, rest)| rest.split_once('`'));
    scheme.map_or(detail.into(), |(scheme, _)| format!("unknown protocol: {scheme}").into())
}

/// An address as Java writes it: one of version 6 without leaving anything out.
fn as_java(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => address.segments().map(|part| format!("{part:x}")).join(":"),
    }
}

/// The host of a URL and its port.
fn host_and_port(url: &str) -> (&str, &str) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let port = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    port.unwrap_or((host, if scheme == "https" { "443" } else { "80" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_as_the_http_client_tells_them() {
        use ErrorKind as K;
        for (kind, detail, url, class, message) in [
            (
                K::ConnectRefused,
                "127.0.0.1:9: Connection refused (os error 111)",
                "http://localhost:9/a",
                HOST_CONNECT,
                "Connect to localhost:9 [localhost/127.0.0.1] failed: Connection refused",
            ),
            (
                K::ConnectRefused,
                "[::1]:9: Connection refused (os error 111)",
                "http://[::1]:9/a",
                HOST_CONNECT,
                "Connect to [::1]:9 [/0:0:0:0:0:0:0:1] failed: Connection refused",
            ),
            (
                K::ConnectTimeout,
                "",
                "https://10.0.0.1/a?b=c:d",
                CONNECT_TIMEOUT,
                "Connect to 10.0.0.1:443 [/10.0.0.1] failed: Connect timed out",
            ),
            (
                K::ConnectTimeout,
                "",
                "http://shop.test",
                CONNECT_TIMEOUT,
                "Connect to shop.test:80 failed: Connect timed out",
            ),
            (
                K::Dns,
                "shop.test: no such name",
                "http://shop.test/",
                "java.net.UnknownHostException",
                "shop.test: Name or service not known",
            ),
            (
                K::ConnectRefused,
                "the proxy 127.0.0.1:9: Connection refused (os error 111)",
                "http://shop.test/a",
                HOST_CONNECT,
                "Connect to 127.0.0.1:9 [/127.0.0.1] failed: Connection refused",
            ),
            (
                K::Dns,
                "the proxy proxy.test: no such name",
                "http://shop.test/",
                "java.net.UnknownHostException",
                "proxy.test: Name or service not known",
            ),
            (
                K::ConnectFailed,
                "127.0.0.1:80: 10.0.0.9 is not an address of this machine",
                "http://shop.test/",
                "java.net.BindException",
                "Cannot assign requested address",
            ),
            (
                K::ClosedEarly,
                "before any byte of the response",
                "http://shop.test:81/",
                "org.apache.http.NoHttpResponseException",
                "shop.test:81 failed to respond",
            ),
            (
                K::TooManyRedirects,
                "more than 20",
                "http://shop.test/",
                "java.io.IOException",
                "Exceeded maximum number of redirects: 20",
            ),
            (
                K::BadRedirect,
                "URL `myapp://x`: its scheme is `myapp`, not http or https",
                "http://shop.test/",
                "java.net.MalformedURLException",
                "unknown protocol: myapp",
            ),
            (
                K::TimeoutFirstByte,
                "",
                "http://shop.test/",
                "java.net.SocketTimeoutException",
                "Read timed out",
            ),
        ] {
            assert_eq!(exception(kind, detail, url), Some((class, message.into())));
        }
        let refused = "the proxy 127.0.0.1:9, CONNECT shop.test:443: status 407";
        for (kind, detail) in [(K::Check, "a"), (K::Proxy, refused)] {
            assert_eq!(exception(kind, detail, "http://shop.test/"), None);
        }
    }
}
