//! Certificates of the client.

use super::*;

#[test]
fn a_variable_names_the_certificate_of_a_key_store() {
    let config = |more: &str| {
        let name = string("clientCertAliasVarName", "who");
        format!(r#"<KeystoreConfig testname="k">{name}{more}</KeystoreConfig><hashTree/>"#)
    };
    let translated = |config: &str, store: &str| {
        let tree = Tree::read(plan(&(config.to_owned() + &request("r", TO_SHOP, ""))).as_bytes())
            .expect("a plan");
        let properties =
            [("javax.net.ssl.keyStore", store), ("javax.net.ssl.keyStorePassword", "pw")];
        let properties = properties.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let machine = crate::Machine { properties, ..Default::default() };
        let made =
            translate(&tree, TranslationContext { machine, ..TranslationContext::default() });
        let what: Vec<String> = made.obstacles.into_iter().map(|obstacle| obstacle.what).collect();
        (quoted(&made.plan), what)
    };
    let (text, obstacles) = translated(&config(""), "/own/store.p12");
    assert_eq!(obstacles, [""; 0]);
    for line in
        [r#""client_cert": "$${who}""#, r#""file": "/own/store.p12""#, r#""password": "pw""#]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
    let (text, _) = translated("", "/own/store.p12");
    assert!(text.contains("key_store") && !text.contains("client_cert"), "{text}");
    for (config, store, expected) in [
        (config(""), "", "no key store, which `-Djavax.net.ssl.keyStore` names"),
        (
            config("").replace("who", ""),
            "a",
            "certificates that are taken in turn, as no variable names one",
        ),
        (config(&string("endIndex", "3")), "a", "certificates by their places in the file"),
    ] {
        assert_eq!(translated(&config, store).1, [expected]);
    }
}
