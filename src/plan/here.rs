//! Writes what is asked of paths in the names of a trace, which has `$DIR` in place of the folder
//! that a command runs in.

use crate::scenario::{Confined, Literal, Test};
use perf_records::glob::path_glob;

const HERE: &str = "$DIR";

/// The test in these names. `directory` is the path of the directory, from the root.
pub(super) fn test(test: &Test, directory: &str) -> Test {
    let either = |tests: Vec<Test>| match <[Test; 1]>::try_from(tests) {
        Ok([test]) => test,
        Err(tests) => Test::OneOf(tests),
    };
    match test {
        Test::Is(Literal::Text(text)) => Test::Is(Literal::Text(path(text, directory))),
        Test::Prefix(prefix) if directory.starts_with(prefix) => {
            let here = (prefix.len() < directory.len()).then(|| Test::Prefix(prefix.clone()));
            either(
                here.into_iter()
                    .chain([Test::Prefix(HERE.to_owned())])
                    .collect(),
            )
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

/// What a run may do, in these names.
pub(super) fn confined(rules: &mut Confined, directory: &str) {
    let lists = [&mut rules.writes, &mut rules.reads, &mut rules.programs];
    for list in lists.into_iter().flatten() {
        let each = list.iter().flat_map(|glob| globs(glob, directory));
        *list = each.collect();
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
    let stays = path(glob, directory) == glob;
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
        ([part, rest @ ..], [folder, deeper @ ..]) => match part.split_once("**") {
            // It takes slashes as well, and so all the other folders.
            Some((start, end)) if path_glob(format!("{start}*"), folder) => {
                let end = format!("**{end}");
                into.push([&[end.as_str()], rest].concat().join("/"));
            }
            Some(_) => {}
            None if path_glob(part, folder) => below(rest, deeper, into),
            None => {}
        },
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
        assert_eq!(all("/home/you/**"), ["/home/you/**"]);
        assert_eq!(all("/home/me/w"), ["$DIR"]);
        assert_eq!(all("/home/me/work"), ["/home/me/work"]);
        assert_eq!(all("src/**"), ["src/**"]);
        assert_eq!(all("**/x"), ["**/x"]);
    }

    #[test]
    fn a_path_and_a_beginning_from_the_root_are_those_of_the_directory() {
        let all = |it: Test| test(&it, "/home/me/w").to_string();
        let is = |text: &str| all(Test::Is(Literal::Text(text.to_owned())));
        let begins = |text: &str| all(Test::Prefix(text.to_owned()));
        assert_eq!(is("/home/me/w/a"), "{ equals: $DIR/a }");
        assert_eq!(is("/home/me/wa"), "/home/me/wa");
        assert_eq!(begins("/home/me/w/"), "{ prefix: $DIR/ }");
        assert_eq!(begins("/home/me/w"), "{ prefix: $DIR }");
        assert_eq!(begins("/home/"), "[{ prefix: /home/ }, { prefix: $DIR }]");
        assert_eq!(begins("/etc/"), "{ prefix: /etc/ }");
    }
}
