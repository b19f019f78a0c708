//! The groups of a script with their checks, as a tree. Pure.

use md5::{Digest as _, Md5};
use squall_base::hex::hex;

use super::facts::CheckFacts;

/// Stands before each name of a path.
const SEPARATOR: &str = "::";

/// A group, or the whole script, which has no name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Group {
    pub name: String,
    /// Its name and those of the groups around it, as in `::shop::cart`.
    pub path: String,
    pub checks: Vec<Check>,
    pub groups: Vec<Group>,
}

/// A check, and what it came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Check {
    pub name: String,
    /// Its name and those of the groups around it.
    pub path: String,
    pub passes: u64,
    pub fails: u64,
}

impl Group {
    /// The tree of groups and checks, in the order in which they are given.
    pub(super) fn tree(groups: &[Vec<String>], checks: &[CheckFacts]) -> Group {
        let mut root = Group::default();
        for group in groups {
            root.at(group);
        }
        for check in checks {
            root.at(&check.group).add(check);
        }
        root
    }

    /// The group of a path, which is made if it is new.
    fn at(&mut self, path: &[String]) -> &mut Group {
        let Some((name, rest)) = path.split_first() else { return self };
        let known = self.groups.iter().position(|group| group.name == *name);
        let place = known.unwrap_or_else(|| {
            let path = format!("{}{SEPARATOR}{name}", self.path);
            self.groups.push(Group { name: name.clone(), path, ..Group::default() });
            self.groups.len() - 1
        });
        self.groups[place].at(rest)
    }

    fn add(&mut self, facts: &CheckFacts) {
        let CheckFacts { name, passes, fails, .. } = facts;
        let path = format!("{}{SEPARATOR}{name}", self.path);
        add(&mut self.checks, Check { name: name.clone(), path, passes: *passes, fails: *fails });
    }

    /// Its checks and those of the groups in it, in their order; those of one name as one, as in k6 (`checkFor` in
    /// `internal/output/summary/data.go`).
    pub(super) fn all_checks(&self) -> Vec<Check> {
        let mut all = self.checks.clone();
        let inner = self.groups.iter().flat_map(Group::all_checks);
        inner.for_each(|check| add(&mut all, check));
        all
    }
}

/// Adds a check to that of its name, if there is one.
fn add(checks: &mut Vec<Check>, new: Check) {
    match checks.iter_mut().find(|check| check.name == new.name) {
        Some(check) => {
            check.passes = check.passes.saturating_add(new.passes);
            check.fails = check.fails.saturating_add(new.fails);
        }
        None => checks.push(new),
    }
}

/// What identifies a group or a check in k6's summary: the MD5 of its path in hexadecimal.
pub(super) fn id(path: &str) -> String {
    hex(&Md5::digest(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_stand_in_their_groups() {
        let check = |group: &[&str], name: &str, passes, fails| CheckFacts {
            group: group.iter().map(|name| (*name).to_owned()).collect(),
            name: name.to_owned(),
            passes,
            fails,
        };
        let checks = [
            check(&["a", "b"], "ok", 1, 2),
            check(&[], "up", 3, 0),
            check(&["a", "b"], "ok", 10, u64::MAX),
            check(&["c"], "up", 1, 1),
        ];
        let root = Group::tree(&[vec!["c".to_owned()], vec!["a".to_owned()]], &checks);
        let names: Vec<&str> = root.groups.iter().map(|group| &*group.path).collect();
        assert_eq!(names, ["::c", "::a"]);
        let all: Vec<_> = root
            .all_checks()
            .iter()
            .map(|check| (check.path.clone(), check.passes, check.fails))
            .collect();
        let expected = [("::up".to_owned(), 4, 1), ("::a::b::ok".to_owned(), 11, u64::MAX)];
        assert_eq!(all, expected);
    }

    #[test]
    fn the_script_has_the_known_id_of_no_path() {
        assert_eq!(id(""), "d41d8cd98f00b204e9800998ecf8427e");
    }
}
