//! Data files of which each node of a fleet has its own: `${node}` in a path stands for the number of the node.

use std::path::{Path, PathBuf};

/// What stands for the number.
pub(crate) const NODE: &str = "${node}";
/// Most nodes of a fleet.
const MAX_NODES: u32 = 10_000;

/// Whether each node has a file of its own at a path.
pub fn is_by_node(path: &Path) -> bool {
    path.to_string_lossy().contains(NODE)
}

/// The file of a node at a path: the path itself, unless each has its own.
pub fn of_node(path: &Path, node: u32) -> PathBuf {
    match is_by_node(path) {
        true => path.to_string_lossy().replace(NODE, &node.to_string()).into(),
        false => path.to_owned(),
    }
}

/// The nodes whose files are there at a path, in order, of 10,000.
pub fn nodes(path: &Path) -> Vec<u32> {
    (1..=MAX_NODES).filter(|node| of_node(path, *node).exists()).collect()
}

/// The files at a path: itself, or those of nodes that are there.
pub fn all(path: &Path) -> Vec<PathBuf> {
    match is_by_node(path) {
        true => nodes(path).into_iter().map(|node| of_node(path, node)).collect(),
        false => vec![path.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_its_number_in_the_path() {
        let of = |path: &str, node| of_node(Path::new(path), node).display().to_string();
        assert_eq!(of("a/${node}/users.${node}.csv", 12), "a/12/users.12.csv");
        assert_eq!(of("a/users.csv", 12), "a/users.csv");
        assert!(!is_by_node(Path::new("${nodes}.csv")));
        let folder = std::env::temp_dir().join(format!("squall-node-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for node in [1, 2, 4] {
            std::fs::write(folder.join(format!("u{node}.csv")), "a\n1\n").expect("a file");
        }
        let path = folder.join("u${node}.csv");
        assert_eq!(nodes(&path), [1, 2, 4]);
        assert_eq!(all(&path), [1, 2, 4].map(|node| folder.join(format!("u{node}.csv"))));
        assert_eq!(all(&folder.join("no.csv")), [folder.join("no.csv")]);
        std::fs::remove_dir_all(&folder).expect("it was there");
    }
}
