//! Writes what is asked of paths in the names of a trace, which has `$DIR` in place of the folder
//! that a command runs in.

use crate::scenario::{AddressPattern, Confined, Literal, Test};
use perf_records::glob::{is_glob, path_glob};

const HERE: &str = "$DIR";

/// The test in these names. `directory` is the path of the folder, from the root.
pub(super) fn test(test: &Test, directory: &str) -> Test {
    let either = |tests: Vec<Test>| match <[Test; 1]>::try_from(tests) {
        Ok([test]) => test,
        Err(tests) => Test::OneOf(tests),
    };
    match test {
        Test::Is(Literal::Text(text)) => Test::Is(Literal::Text(path(text, directory))),
        // It may begin the names of other folders, too.
        Test::Prefix(prefix) if directory.starts_with(prefix) => {
            Test::OneOf([prefix, HERE].map(|it| Test::Prefix(it.to_owned())).into())
        }
        Test::Prefix(prefix) => Test::Prefix(path(prefix, directory)),
        Test::Glob(glob) => either(globs(glob, directory).map(Test::Glob).collect()),
        Test::OneOf(tests) => {
            Test::OneOf(tests.iter().map(|it| self::test(it, directory)).collect())
        }
        Test::Not(test) => Test::Not(Box::new(self::test(test, directory))),
        Test::Spelled(test) => Test::Spelled(Box::new(self::test(test, directory))),
        other => other.clone(),
    }
}

/// What a run may do, in these names. A path that leads to the directory by a link is also that of
/// the link.
pub(super) fn confined(rules: &mut Confined, directory: &str, is_by_link: bool) {
    let lists = [&mut rules.writes, &mut rules.reads, &mut rules.programs];
    for list in lists.into_iter().flatten() {
        let link = list.iter().find(|glob| is_by_link && *glob == directory);
        let link = link.cloned();
        let each = list.iter().flat_map(|glob| globs(glob, directory));
        *list = each.chain(link).collect();
    }
}

/// The same for a folder that is no part of those around it: only what is written below it is
/// meant.
pub(super) fn of_sandbox(rules: &mut Confined, directory: &str) {
    let lists = [&mut rules.writes, &mut rules.reads, &mut rules.programs];
    let globs = lists.into_iter().flatten().flatten();
    let sockets = rules.network.iter_mut().flatten();
    let of_sockets = sockets.filter_map(|address| match address {
        AddressPattern::Path(glob) => Some(glob),
        _ => None,
    });
    for glob in globs.chain(of_sockets) {
        *glob = path(glob, directory);
    }
}

fn path(path: &str, directory: &str) -> String {
    match path.strip_prefix(directory) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{HERE}{rest}"),
        _ => path.to_owned(),
    }
}

/// The glob, and those by which it takes what is in the directory.
fn globs(glob: &str, directory: &str) -> impl Iterator<Item = String> {
    let mut rest = Vec::new();
    if let (Some(glob), Some(directory)) = (glob.strip_prefix('/'), directory.strip_prefix('/')) {
        let parts: Vec<&str> = glob.split('/').collect();
        below(&parts, &directory.split('/').collect::<Vec<_>>(), &mut rest);
    }
    rest.dedup();
    let here = rest.into_iter().map(|rest| match rest.is_empty() {
        true => HERE.to_owned(),
        false => format!("{HERE}/{rest}"),
    });
    let stays = is_glob(directory) || path(glob, directory) == glob;
    stays.then(|| glob.to_owned()).into_iter().chain(here)
}

/// Adds what is left of a glob where it has gone through these folders.
fn below(glob: &[&str], folders: &[&str], into: &mut Vec<String>) {
    match (glob, folders) {
        (rest, []) => into.push(rest.join("/")),
        ([], _) => {}
        (["**", rest @ ..], [_, deeper @ ..]) => {
            below(rest, folders, into);
            below(glob, deeper, into);
        }
        ([part, rest @ ..], _) => {
            // With `**` in it a part may take several folders, and more than there are.
            let most = if part.contains("**") {
                folders.len()
            } else {
                1
            };
            for taken in 1..=most {
                if let Some((taken, deeper)) = folders.split_at_checked(taken)
                    && path_glob(part, taken.join("/"))
                {
                    below(rest, deeper, into);
                }
            }
            if let Some((start, end)) = part.split_once("**")
                && path_glob(format!("{start}**"), folders.join("/"))
            {
                let end = format!("**{end}");
                into.push([&[end.as_str()], rest].concat().join("/"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_from_the_root_takes_what_is_in_the_directory() {
        let all = |glob: &str| globs(glob, "/home/me/w").collect::<Vec<_>>();
        assert_eq!(all("/home/me/w/a*"), ["$DIR/a*"]);
        assert_eq!(all("/home/*/w/**"), ["/home/*/w/**", "$DIR/**"]);
        assert_eq!(all("/home/**"), ["/home/**", "$DIR/**"]);
        assert_eq!(all("/**/*.c"), ["/**/*.c", "$DIR/**/*.c"]);
        assert_eq!(all("/home/m**.c"), ["/home/m**.c", "$DIR/**.c"]);
        assert_eq!(
            all("/home/m**/w/*"),
            ["/home/m**/w/*", "$DIR/*", "$DIR/w/*", "$DIR/**/w/*"]
        );
        assert_eq!(all("/home/you/**"), ["/home/you/**"]);
        assert_eq!(all("/home/me/w"), ["$DIR"]);
        assert_eq!(all("/home/me/work"), ["/home/me/work"]);
        assert_eq!(all("src/**"), ["src/**"]);
        assert_eq!(all("**/x"), ["**/x"]);
        let odd = globs("/x/[w]/*", "/x/[w]").collect::<Vec<_>>();
        assert_eq!(odd, ["/x/[w]/*", "$DIR/*"]);
        let root = globs("/etc/*", "/").collect::<Vec<_>>();
        assert_eq!(root, ["/etc/*"]);
    }

    #[test]
    fn a_path_and_a_beginning_from_the_root_are_those_of_the_directory() {
        let all = |it: Test| test(&it, "/home/me/w").to_string();
        let is = |text: &str| all(Test::Is(Literal::Text(text.to_owned())));
        let begins = |text: &str| all(Test::Prefix(text.to_owned()));
        assert_eq!(is("/home/me/w/a"), "{ equals: $DIR/a }");
        assert_eq!(is("/home/me/wa"), "/home/me/wa");
        assert_eq!(begins("/home/me/w/"), "{ prefix: $DIR/ }");
        assert_eq!(
            begins("/home/me/w"),
            "[{ prefix: /home/me/w }, { prefix: $DIR }]"
        );
        assert_eq!(begins("/home/"), "[{ prefix: /home/ }, { prefix: $DIR }]");
        assert_eq!(begins("/etc/"), "{ prefix: /etc/ }");
    }
}
