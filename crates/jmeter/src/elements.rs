//! The one table of JMeter's elements: what each is, and how far it is supported. What
//! `squall check` prints and the table in `docs/jmeter.md` are made of it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use Role::{
    Assertion, Config, Controller, Listener, Plan, PostProcessor, PreProcessor, Sampler,
    ThreadGroup, Timer, Tool,
};
use Support::{Aside, Full, Ignored, Missing, Partly};

/// The role of an element in its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// The test plan, or a part of one that others include.
    Plan,
    /// Who does how much, and when.
    ThreadGroup,
    /// Something that a thread does, and that is measured.
    Sampler,
    /// Which of the elements below it run, and how often.
    Controller,
    /// Defaults, variables and state for the samplers in its scope.
    Config,
    /// A wait before the samplers in its scope.
    Timer,
    /// What happens before each sampler in its scope.
    PreProcessor,
    /// What is taken from the response of each sampler in its scope.
    PostProcessor,
    /// What is asserted of each sampler in its scope.
    Assertion,
    /// What looks at results: it never changes what is sent.
    Listener,
    /// A part of JMeter's desk that takes no part in a run.
    Tool,
}

impl Role {
    /// The role in words.
    pub fn words(self) -> &'static str {
        match self {
            Role::Plan => "plan",
            Role::ThreadGroup => "thread group",
            Role::Sampler => "sampler",
            Role::Controller => "controller",
            Role::Config => "config element",
            Role::Timer => "timer",
            Role::PreProcessor => "pre-processor",
            Role::PostProcessor => "post-processor",
            Role::Assertion => "assertion",
            Role::Listener => "listener",
            Role::Tool => "tool",
        }
    }
}

/// How far an element is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// All that it does.
    Full,
    /// It runs where it does not need what is said here.
    Partly(&'static str),
    /// It is accepted and does nothing.
    Ignored,
    /// It takes no part in what is sent, and does what is said here.
    Aside(&'static str),
    Missing,
}

/// What is known of a class of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The class, as [`present_class`] gives it.
    pub class: &'static str,
    /// What JMeter's desk calls it.
    pub title: &'static str,
    pub role: Role,
    /// How far it is supported.
    pub support: Support,
}

/// What is known of a class.
pub fn find(class: &str) -> Option<&'static Known> {
    static BY_CLASS: LazyLock<HashMap<&str, &Known>> =
        LazyLock::new(|| ELEMENTS.iter().map(|known| (known.class, known)).collect());
    BY_CLASS.get(class).copied()
}

/// A class without its package, if it is JMeter's own.
pub fn without_package(class: &str) -> &str {
    match class.strip_prefix("org.apache.jmeter.") {
        Some(own) => own.rsplit_once('.').map_or(own, |(_, class)| class),
        None => class,
    }
}

/// The name by which an element is known here: what JMeter 5 calls a class that older versions called otherwise,
/// and one name for each role of a class that has several, which its dialog (`gui`) tells apart.
pub fn present_class<'n>(class: &'n str, gui: &str) -> &'n str {
    match (without_package(class), without_package(gui)) {
        ("HTTPSampler" | "HTTPSampler2", _) => "HTTPSamplerProxy",
        ("HTTPSamplerProxy", "GraphQLHTTPSamplerGui") => "GraphQL HTTP Request",
        ("ConfigTestElement", "HttpDefaultsGui" | "UrlConfigGui") => "HTTP Request Defaults",
        ("ConfigTestElement", "FtpConfigGui") => "FTP Request Defaults",
        ("ConfigTestElement", "TCPConfigGui") => "TCP Sampler Config",
        ("ConfigTestElement", "SimpleConfigGui") => "Simple Config Element",
        ("ConfigTestElement", "LdapConfigGui") => "LDAP Request Defaults",
        ("ConfigTestElement", "LdapExtConfigGui") => "LDAP Extended Request Defaults",
        ("ConfigTestElement", "LoginConfigGui") => "Login Config Element",
        ("ConfigTestElement", "PropertyControlGui") => "Property Display",
        ("DataSourceElement", _) => "JDBCDataSource",
        (class, _) => class,
    }
}

/// The role of a class that is not known, as far as its name tells: plug-ins that only draw, write or send results
/// are many, and follow few habits.
pub fn guessed_role(class: &str, gui: &str) -> Option<Role> {
    let last = class.rsplit('.').next().unwrap_or(class);
    let looks = |name: &str| {
        [".vizualizers.", ".visualizers.", ".reporters."].iter().any(|part| name.contains(part))
    };
    let ends = ["Collector", "Listener", "Visualizer", "Uploader"];
    let is_listener = ends.iter().any(|end| last.ends_with(end)) || looks(class) || looks(gui);
    is_listener.then_some(Role::Listener)
}

/// The table as Markdown, as it stands in `docs/jmeter.md`.
pub fn markdown() -> String {
    let mut out =
        String::from("| element | role | class | supported |\n| --- | --- | --- | --- |\n");
    for known in ELEMENTS {
        let Known { title, class, role, support } = known;
        let support = match support {
            Support::Full => "yes".to_owned(),
            Support::Partly(missing) => format!("partly: without {missing}"),
            Support::Ignored => "accepted, does nothing".to_owned(),
            Support::Aside(what) => format!("accepted, {what}"),
            Support::Missing => "no".to_owned(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "| {title} | {} | `{class}` | {support} |", role.words());
    }
    out
}

const fn known(class: &'static str, title: &'static str, role: Role, support: Support) -> Known {
    Known { class, title, role, support }
}

/// All elements that are known, by role.
#[rustfmt::skip]
pub const ELEMENTS: &[Known] = &[
    known("TestPlan", "Test Plan", Plan, Full),
    known("TestFragmentController", "Test Fragment", Plan, Full),

    known("ThreadGroup", "Thread Group", ThreadGroup, Partly("numbers known only while the plan runs")),
    known("SetupThreadGroup", "setUp Thread Group", ThreadGroup, Partly("numbers known only while the plan runs")),
    known("PostThreadGroup", "tearDown Thread Group", ThreadGroup, Partly("numbers known only while the plan runs, being run after a run that was stopped")),
    known("OpenModelThreadGroup", "Open Model Thread Group", ThreadGroup, Partly("arrivals of both kinds in one schedule")),
    known("kg.apc.jmeter.threads.UltimateThreadGroup", "Ultimate Thread Group", ThreadGroup, Partly("threads that end by themselves, the property `threads_schedule`")),
    known("kg.apc.jmeter.threads.SteppingThreadGroup", "Stepping Thread Group", ThreadGroup, Partly("threads that end by themselves")),
    known("com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup", "Concurrency Thread Group", ThreadGroup, Partly("a number of iterations, a log of its own")),
    known("com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup", "Arrivals Thread Group", ThreadGroup, Partly("a number of iterations, a log of its own")),
    known("com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup", "Free-Form Arrivals Thread Group", ThreadGroup, Partly("a number of iterations, a log of its own, a schedule in a property of JMeter")),

    known("HTTPSamplerProxy", "HTTP Request", Sampler, Partly("the source address of a device, a proxy that is spoken to by TLS, other protocols than HTTP, addresses of IPv6 as its host, redirects of DELETE within the HTTP client, encodings that browsers do not have, UTF-16 but for raw bodies, names in a URL that are not ASCII in other encodings than UTF-8, encoded arguments known only while the plan runs before one that is not encoded, encoded raw bodies, arguments of the defaults behind a raw body; with the client of Java without redirects within it of other methods than GET, HEAD and POST, and multipart bodies of other methods than POST or in other encodings than UTF-8")),
    known("GraphQL HTTP Request", "GraphQL HTTP Request", Sampler, Partly("what an HTTP Request is without")),
    known("AjpSampler", "AJP/1.3 Sampler", Sampler, Missing),
    known("DebugSampler", "Debug Sampler", Sampler, Partly("what looks at the variables and properties that it shows")),
    known("TestAction", "Flow Control Action", Sampler, Full),
    known("SystemSampler", "OS Process Sampler", Sampler, Partly("what looks at its request data, if that has several environment variables or a folder known only while the plan runs")),
    known("JavaSampler", "Java Request", Sampler, Partly("classes other than `JavaTest` and `SleepTest` of JMeter itself, and times known only while the plan runs")),
    known("TCPSampler", "TCP Sampler", Sampler, Partly("classes other than `TCPClientImpl`, `BinaryTCPClientImpl` and `LengthPrefixedBinaryTCPClientImpl`, a status in the response, other encodings than UTF-8, and what looks at its message or what was sent")),
    known("kg.apc.jmeter.samplers.DummySampler", "Dummy Sampler", Sampler, Partly("times that are not waited for, and what looks at its headers or URL")),
    known("JSR223Sampler", "JSR223 Sampler", Sampler, Partly("scripts that are more than simple statements, in files, or with parameters")),
    known("BeanShellSampler", "BeanShell Sampler", Sampler, Partly("scripts that are more than simple statements, in files, or with parameters")),
    known("BSFSampler", "BSF Sampler", Sampler, Partly("scripts that are more than simple statements, in files, or with parameters")),
    known("JDBCSampler", "JDBC Request", Sampler, Missing),
    known("FTPSampler", "FTP Request", Sampler, Missing),
    known("SmtpSampler", "SMTP Sampler", Sampler, Missing),
    known("MailReaderSampler", "Mail Reader Sampler", Sampler, Missing),
    known("LDAPSampler", "LDAP Request", Sampler, Missing),
    known("LDAPExtSampler", "LDAP Extended Request", Sampler, Missing),
    known("JMSSampler", "JMS Point-to-Point", Sampler, Missing),
    known("PublisherSampler", "JMS Publisher", Sampler, Missing),
    known("SubscriberSampler", "JMS Subscriber", Sampler, Missing),
    known("JUnitSampler", "JUnit Request", Sampler, Missing),
    known("AccessLogSampler", "Access Log Sampler", Sampler, Missing),
    known("SoapSampler", "SOAP/XML-RPC Request", Sampler, Missing),
    known("WebServiceSampler", "WebService(SOAP) Request", Sampler, Missing),
    known("MongoScriptSampler", "MongoDB Script", Sampler, Missing),
    known("BoltSampler", "Bolt Request", Sampler, Missing),

    known("GenericController", "Simple Controller", Controller, Full),
    known("RecordingController", "Recording Controller", Controller, Full),
    known("LoopController", "Loop Controller", Controller, Full),
    known("IfController", "If Controller", Controller, Partly("scripts that are more than one expression of comparisons, arithmetic and methods of texts")),
    known("WhileController", "While Controller", Controller, Partly("scripts that are more than one expression of comparisons, arithmetic and methods of texts")),
    known("ForeachController", "ForEach Controller", Controller, Full),
    known("TransactionController", "Transaction Controller", Controller, Partly("assertions about the size, headers, message or request of its own sample, and scripts about it")),
    known("OnceOnlyController", "Once Only Controller", Controller, Partly("being directly in a controller that loops on a condition, or chooses")),
    known("ThroughputController", "Throughput Controller", Controller, Partly("being directly in a controller that chooses")),
    known("RandomController", "Random Controller", Controller, Partly("loops on conditions and choices in it that may do nothing, and being left after each sample of a transaction or on a condition in it")),
    known("RandomOrderController", "Random Order Controller", Controller, Full),
    known("InterleaveControl", "Interleave Controller", Controller, Partly("loops on conditions and choices in it that may do nothing, and being left after each sample of a transaction or on a condition in it")),
    known("SwitchController", "Switch Controller", Controller, Full),
    known("RunTime", "Runtime Controller", Controller, Full),
    known("ModuleController", "Module Controller", Controller, Full),
    known("IncludeController", "Include Controller", Controller, Full),
    known("CriticalSectionController", "Critical Section Controller", Controller, Partly("being in a Parallel Controller with others")),
    known("com.blazemeter.jmeter.controller.ParallelSampler", "Parallel Controller", Controller, Full),

    known("HTTP Request Defaults", "HTTP Request Defaults", Config, Partly("what an HTTP Request is without")),
    known("HeaderManager", "HTTP Header Manager", Config, Partly("Expect, Transfer-Encoding, a Connection other than `close` and `keep-alive`, names known only while the plan runs, `Host` beside a port known only then, `Cookie` for what a page loads beside a cookie manager")),
    known("CookieManager", "HTTP Cookie Manager", Config, Partly("the policy `rfc2965`, cookies of its own beside the policy `ignoreCookies`")),
    known("CacheManager", "HTTP Cache Manager", Config, Full),
    known("AuthManager", "HTTP Authorization Manager", Config, Partly("domains, Kerberos, credentials for a URL known only while the plan runs")),
    known("DNSCacheManager", "DNS Cache Manager", Config, Partly("name servers of its own, hosts of its own for a part of the requests")),
    known("KeystoreConfig", "Keystore Configuration", Config, Partly("certificates that are taken in turn, or by their places in the file")),
    known("Arguments", "User Defined Variables", Config, Partly("functions that are not supported in values that are used")),
    known("CSVDataSet", "CSV Data Set Config", Config, Partly("encodings that are not ASCII where that goes, such as UTF-16, delimiters of several characters that are in the file")),
    known("CounterConfig", "Counter", Config, Partly("numbers below 0, formats with groups or fractions")),
    known("RandomVariableConfig", "Random Variable", Config, Partly("formats with groups or fractions")),
    known("Simple Config Element", "Simple Config Element", Config, Partly("properties of samplers")),
    known("Login Config Element", "Login Config Element", Config, Partly("the samplers that it is for")),
    known("TCP Sampler Config", "TCP Sampler Config", Config, Full),
    known("FTP Request Defaults", "FTP Request Defaults", Config, Partly("the samplers that it is for")),
    known("LDAP Request Defaults", "LDAP Request Defaults", Config, Partly("the samplers that it is for")),
    known("LDAP Extended Request Defaults", "LDAP Extended Request Defaults", Config, Partly("the samplers that it is for")),
    known("JavaConfig", "Java Request Defaults", Config, Full),
    known("JDBCDataSource", "JDBC Connection Configuration", Config, Missing),
    known("com.blazemeter.jmeter.RandomCSVDataSetConfig", "Random CSV Data Set Config", Config, Missing),
    known("kg.apc.jmeter.reporters.AutoStop", "AutoStop Listener", Config, Missing),

    known("ConstantTimer", "Constant Timer", Timer, Full),
    known("UniformRandomTimer", "Uniform Random Timer", Timer, Full),
    known("GaussianRandomTimer", "Gaussian Random Timer", Timer, Full),
    known("PoissonRandomTimer", "Poisson Random Timer", Timer, Full),
    known("ConstantThroughputTimer", "Constant Throughput Timer", Timer, Full),
    known("PreciseThroughputTimer", "Precise Throughput Timer", Timer, Partly("numbers that change while the plan runs, several that differ in one group")),
    known("SyncTimer", "Synchronizing Timer", Timer, Partly("all threads of a group whose number only the run knows")),
    known("kg.apc.jmeter.timers.VariableThroughputTimer", "Throughput Shaping Timer", Timer, Partly("the property `load_profile`")),
    known("JSR223Timer", "JSR223 Timer", Timer, Missing),
    known("BeanShellTimer", "BeanShell Timer", Timer, Missing),
    known("BSFTimer", "BSF Timer", Timer, Missing),

    known("UserParameters", "User Parameters", PreProcessor, Full),
    known("AnchorModifier", "HTML Link Parser", PreProcessor, Partly("requests whose body is a text or has parts, several for one request, a session put in beside it")),
    known("URLRewritingModifier", "HTTP URL Re-writing Modifier", PreProcessor, Partly("paths known only while the plan runs, or with a query, requests whose body is a text or has parts")),
    known("RegExUserParameters", "RegEx User Parameters", PreProcessor, Missing),
    known("SampleTimeout", "Sample Timeout", PreProcessor, Partly("pauses, and times known only while the plan runs")),
    known("JSR223PreProcessor", "JSR223 PreProcessor", PreProcessor, Partly("scripts that are more than simple statements, in files, or with parameters")),
    known("BeanShellPreProcessor", "BeanShell PreProcessor", PreProcessor, Partly("scripts that are more than simple statements, in files, or with parameters")),
    known("BSFPreProcessor", "BSF PreProcessor", PreProcessor, Missing),
    known("JDBCPreProcessor", "JDBC PreProcessor", PreProcessor, Missing),

    known("RegexExtractor", "Regular Expression Extractor", PostProcessor, Partly("the text of a document, sub-samples alone as its scope, all matches or a later one of all samples, patterns known only while the plan runs and several groups of any match of all samples, look-around and back references")),
    known("BoundaryExtractor", "Boundary Extractor", PostProcessor, Partly("the text of a document, sub-samples alone as its scope")),
    known("JSONPostProcessor", "JSON Extractor", PostProcessor, Partly("`noneof`, `subsetof` and paths to several values within filters, several names in one bracket, sub-samples alone as its scope")),
    known("JMESPathExtractor", "JSON JMESPath Extractor", PostProcessor, Partly("paths that are more than names, places and `[*]`, sub-samples alone as its scope")),
    known("HtmlExtractor", "CSS Selector Extractor", PostProcessor, Partly("sub-samples alone as its scope")),
    known("XPathExtractor", "XPath Extractor", PostProcessor, Partly("the markup of what is found, sub-samples alone as its scope")),
    known("XPath2Extractor", "XPath2 Extractor", PostProcessor, Partly("paths that XPath 1.0 does not have, namespaces of its own, the markup of what is found, sub-samples alone as its scope")),
    known("ResultAction", "Result Status Action Handler", PostProcessor, Full),
    known("DebugPostProcessor", "Debug PostProcessor", PostProcessor, Partly("its own sample within the request's")),
    known("com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor", "JSON Path Extractor (plug-in)", PostProcessor, Partly("YAML, paths that the JSON Extractor does not have")),
    known("JSR223PostProcessor", "JSR223 PostProcessor", PostProcessor, Partly("scripts that are more than simple statements, in files, or with parameters")),
    known("BeanShellPostProcessor", "BeanShell PostProcessor", PostProcessor, Partly("scripts that are more than simple statements, in files, or with parameters")),
    known("BSFPostProcessor", "BSF PostProcessor", PostProcessor, Missing),
    known("JDBCPostProcessor", "JDBC PostProcessor", PostProcessor, Missing),

    known("ResponseAssertion", "Response Assertion", Assertion, Partly("the text of a document, sub-samples alone as its scope, look-around and back references")),
    known("JSONPathAssertion", "JSON Assertion", Assertion, Partly("paths that the JSON Extractor does not have, look-around and back references")),
    known("JMESPathAssertion", "JSON JMESPath Assertion", Assertion, Partly("paths that are more than names and places, look-around and back references")),
    known("SizeAssertion", "Size Assertion", Assertion, Partly("sub-samples as its scope")),
    known("DurationAssertion", "Duration Assertion", Assertion, Partly("sub-samples as its scope")),
    known("XPathAssertion", "XPath Assertion", Assertion, Partly("sub-samples as its scope")),
    known("XPath2Assertion", "XPath2 Assertion", Assertion, Partly("paths that XPath 1.0 does not have, namespaces of its own, sub-samples as its scope")),
    known("XMLAssertion", "XML Assertion", Assertion, Full),
    known("XMLSchemaAssertion", "XML Schema Assertion", Assertion, Missing),
    known("HTMLAssertion", "HTML Assertion", Assertion, Missing),
    known("MD5HexAssertion", "MD5Hex Assertion", Assertion, Full),
    known("CompareAssertion", "Compare Assertion", Assertion, Missing),
    known("SMIMEAssertion", "SMIME Assertion", Assertion, Missing),
    known("com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion", "JSON Path Assertion (plug-in)", Assertion, Partly("paths that the JSON Extractor does not have, look-around and back references")),
    known("JSR223Assertion", "JSR223 Assertion", Assertion, Partly("scripts that are more than simple statements, in files, or with parameters")),
    known("BeanShellAssertion", "BeanShell Assertion", Assertion, Partly("scripts that are more than simple statements, in files, or with parameters")),
    known("BSFAssertion", "BSF Assertion", Assertion, Missing),

    known("ResultCollector", "Listeners of results (View Results Tree, Summary Report, ...)", Listener, Aside("writes its file if it stands directly in the plan or in a thread group")),
    known("Summariser", "Generate Summary Results", Listener, Ignored),
    known("ResultSaver", "Save Responses to a file", Listener, Ignored),
    known("BackendListener", "Backend Listener", Listener, Partly("classes other than `InfluxdbBackendListenerClient` and `GraphiteBackendListenerClient`, points over UDP and as pickles, parameters known only while the plan runs, patterns of names with look-around and back references, being in a controller or below a sampler: it then sends nothing, and the plan runs")),
    known("MailerResultCollector", "Mailer Visualizer", Listener, Ignored),

    // These do more than look: their scripts reach the variables, and may stop the test.
    known("JSR223Listener", "JSR223 Listener", Listener, Missing),
    known("BeanShellListener", "BeanShell Listener", Listener, Missing),
    known("BSFListener", "BSF Listener", Listener, Missing),

    known("WorkBench", "WorkBench", Tool, Ignored),
    known("ProxyControl", "HTTP(S) Test Script Recorder", Tool, Ignored),
    known("HttpMirrorControl", "HTTP Mirror Server", Tool, Ignored),
    known("Property Display", "Property Display", Tool, Ignored),
    known("org.jmeterplugins.protocol.http.control.HttpSimpleTableControl", "HTTP Simple Table Server", Config, Missing),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_stands_in_the_table_once() {
        let mut classes: Vec<&str> = ELEMENTS.iter().map(|known| known.class).collect();
        let all = classes.len();
        classes.sort_unstable();
        classes.dedup();
        assert_eq!(classes.len(), all);
    }

    /// The table is written again with `SQUALL_WRITE_DOCS=1 cargo test -p squall-jmeter`.
    #[test]
    fn the_documentation_has_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/jmeter.md");
        let text = std::fs::read_to_string(path).expect("docs/jmeter.md is readable");
        let (begin, end) = ("<!-- elements -->\n", "<!-- end of elements -->\n");
        let (before, rest) = text.split_once(begin).expect("where the table begins");
        let (table, after) = rest.split_once(end).expect("where the table ends");
        if std::env::var_os("SQUALL_WRITE_DOCS").is_some() {
            let text = format!("{before}{begin}{}{end}{after}", markdown());
            std::fs::write(path, text).expect("docs/jmeter.md is writable");
        } else {
            assert_eq!(table, markdown(), "docs/jmeter.md: run with SQUALL_WRITE_DOCS=1");
        }
    }

    #[test]
    fn old_names_and_roles_of_a_class_have_one_name_each() {
        assert_eq!(present_class("HTTPSampler2", "HttpTestSampleGui2"), "HTTPSamplerProxy");
        let gui = "org.apache.jmeter.protocol.http.config.gui.HttpDefaultsGui";
        let class = "org.apache.jmeter.config.ConfigTestElement";
        assert_eq!(present_class(class, gui), "HTTP Request Defaults");
        assert_eq!(
            present_class("kg.apc.jmeter.samplers.DummySampler", ""),
            "kg.apc.jmeter.samplers.DummySampler"
        );
        for class in ["HTTP Request Defaults", "HTTPSamplerProxy", "JDBCDataSource"] {
            assert!(find(class).is_some(), "{class}");
        }
    }

    #[test]
    fn plug_ins_that_only_look_are_told_by_their_names() {
        let guess = |class| guessed_role(class, "");
        assert_eq!(guess("kg.apc.jmeter.vizualizers.CorrectedResultCollector"), Some(Listener));
        assert_eq!(guess("com.github.johrstrom.listener.PrometheusListener"), Some(Listener));
        assert_eq!(guess("net.xmeter.samplers.PubSampler"), None);
    }
}
