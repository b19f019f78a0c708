//! Cookie managers and cache managers: each is a jar, or a cache, of its own, which has a name if a group has several.

use squall_plan::model::{Step, StepKind};

use super::group::Gathered;
use super::request::each_request;
use super::{Translator, names, step};
use crate::scope::Scope;
use crate::tree::ElementId;

/// Cookie policies of which JMeter keeps and sends cookies as here: what differs the documentation says.
const POLICIES: [&str; 8] = [
    "",
    "standard",
    "standard-strict",
    "default",
    "compatibility",
    "best-match",
    "netscape",
    "rfc2109",
];

/// What a manager's jar or cache is called until it is known how many of them its group has.
pub(super) fn of(manager: ElementId) -> String {
    manager.number().to_string()
}

/// The managers of a group, each once, with the name that its jar or cache has in the end.
type Stores = Vec<(ElementId, Option<String>)>;

/// The name that one has in the end.
fn name_of(stores: &Stores, name: Option<&String>) -> Option<String> {
    let (_, last) = stores.iter().find(|(id, _)| name.is_some_and(|name| *name == of(*id)))?;
    last.clone()
}

impl Translator<'_> {
    /// Gives the jars and caches of a group's steps their names, and says how the iterations of its threads begin with
    /// them.
    pub(super) fn stores(
        &self,
        gathered: &Gathered,
        steps: &mut [Step],
        same_user: bool,
    ) -> Vec<Step> {
        let jars = self.named(&gathered.cookie_managers);
        let caches = self.named(&gathered.cache_managers);
        each_request(steps, &mut |request| {
            request.http.cookie_jar = name_of(&jars, request.http.cookie_jar.as_ref());
            request.http.cache_name = name_of(&caches, request.http.cache_name.as_ref());
        });
        let caches = caches.into_iter().filter(|(id, _)| self.clears_cache(*id, same_user));
        let caches = caches.map(|(_, name)| step(StepKind::ClearCache(name)));
        let cookies = jars.iter().flat_map(|(id, name)| {
            let given = self.given_cookies(id, name.as_ref());
            if self.clears_cookies(*id, same_user) {
                let clear = step(StepKind::ClearCookies(name.clone()));
                return std::iter::once(clear).chain(given).collect();
            }
            match given.is_empty() {
                true => Vec::new(),
                false => vec![step(StepKind::OncePerUser(given))],
            }
        });
        caches.chain(cookies).collect()
    }

    /// Managers, each once; named after their elements if they are several.
    fn named(&self, managers: &[ElementId]) -> Stores {
        let mut managers = managers.to_vec();
        managers.sort();
        managers.dedup();
        if let [one] = managers.as_slice() {
            return vec![(*one, None)];
        }
        let mut stores: Stores = Vec::new();
        for id in managers {
            let name = &self.tree.element(id).name;
            // `true` would mean all of them.
            let is_taken = |name: &str| {
                matches!(name, "" | "true" | "false")
                    || stores.iter().any(|own| own.1.as_deref() == Some(name))
            };
            let unique = names::numbered(name, is_taken);
            stores.push((id, Some(unique)));
        }
        stores
    }

    /// The manager of a request's cookies, if it keeps any: the outermost one, which is the one that JMeter takes.
    pub(super) fn cookie_manager(&self, held: &Scope) -> Option<ElementId> {
        let manager = held.configs.iter().rfind(|id| self.class(**id) == "CookieManager")?;
        let reader = self.read(*manager);
        let policy = reader.constant("CookieManager.policy").unwrap_or_default();
        if !policy.eq_ignore_ascii_case("ignoreCookies") {
            return Some(*manager);
        }
        if !reader.list("CookieManager.cookies").is_empty() {
            self.obstacle(*manager, "cookies of its own beside the policy `ignoreCookies`");
        }
        None
    }

    /// Whether a manager's cookies are forgotten with each iteration.
    fn clears_cookies(&self, manager: ElementId, same_user: bool) -> bool {
        let reader = self.read(manager);
        let clears = reader.flag("CookieManager.clearEachIteration", false);
        let by_group = reader.flag("CookieManager.controlledByThreadGroup", false);
        reader.pass(&["CookieManager.cookies"]);
        let policy = reader.constant("CookieManager.policy").unwrap_or_default();
        if !POLICIES.contains(&policy.to_ascii_lowercase().as_str()) {
            self.obstacle(manager, format!("the cookie policy `{policy}`"));
        }
        let handler = reader.source("CookieManager.implementation");
        if !matches!(handler.rsplit('.').next(), Some("" | "HC4CookieHandler")) {
            self.obstacle(manager, format!("the cookie handler `{handler}`"));
        }
        reader.finish();
        if by_group { !same_user } else { clears }
    }

    /// Whether what a manager's cache knows is forgotten with each iteration.
    fn clears_cache(&self, manager: ElementId, same_user: bool) -> bool {
        let reader = self.read(manager);
        match reader.flag("CacheManager.controlledByThread", false) {
            true => !same_user,
            false => reader.flag("clearEachIteration", false),
        }
    }
}
