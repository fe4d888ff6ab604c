//! Rules that let a command do what it did.

mod folders;
mod names;

use crate::matching::{Done, PROCESSES, Realm, Statement, any_port};
use crate::scenario::{RulesDraft, literal};
use folders::{folded, folded_reads, without_below_drawn};
use names::Names;
use perf_live::units::ExitKind;
use perf_records::glob::{open_at, path_glob};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

/// What rules are learnt of.
#[derive(Clone, Copy, Debug)]
pub struct Learning<'a> {
    /// The command and its arguments.
    pub command: &'a [String],
    /// How it ended.
    pub exit: ExitKind,
    /// The path of the folder that it ran in.
    pub folder: &'a str,
    /// The paths of homes, beside `/root` and those in `/home`: the rule of a folder that lies in
    /// one is for all of it only where that is deep enough.
    pub homes: &'a [String],
    /// The folders for temporary files, as rules name them: relative to that folder, and empty for
    /// it itself, if they lie there.
    pub temporary: &'a [String],
    /// The keys of `confined` that are written.
    pub realms: &'a [Realm],
}

/// Makes rules of what a command did. Names that differ from run to run become globs: those of
/// temporary files that the command made, and of files that it took away again.
#[must_use]
pub fn rules(learning: &Learning<'_>, statement: &Statement) -> RulesDraft {
    let Learning {
        command,
        exit,
        homes,
        temporary,
        ..
    } = *learning;
    let of_files = Names::of(statement, temporary);
    let glob = |path: &str| match path.split_at_checked(5) {
        Some(("unix:", path)) => format!("unix:{}", literal(&of_files.glob(path))),
        _ => literal(&of_files.glob(path)),
    };
    let mut worlds: BTreeMap<Realm, BTreeSet<String>> = BTreeMap::new();
    let mut named: BTreeSet<&str> = BTreeSet::new();
    let mut nameless: BTreeSet<String> = BTreeSet::new();
    let allowed = |done: &&Done| !done.is_own && !done.is_usual;
    for done in statement.done.iter().filter(allowed) {
        let Some(realm) = done.realm else { continue };
        let names = worlds.entry(realm).or_default();
        match (&done.to, realm) {
            (None, _) => drop(nameless.insert(format!(
                "no rule names what was {} here and not read",
                done.what.word()
            ))),
            (Some(address), Realm::Network) if !address.starts_with("unix:") => {
                names.insert(any_port(address));
            }
            (Some(call), Realm::Privileges) => drop(names.insert(call.clone())),
            (Some(path), _) => {
                names.insert(glob(path));
            }
        }
        let others = done.others.iter();
        let others = others.flat_map(|(old, new)| iter::once(old).chain(new));
        names.extend(done.new.iter().chain(others).map(|path| glob(path)));
        named.extend(
            [&done.to, &done.new]
                .into_iter()
                .flatten()
                .map(String::as_str),
        );
    }
    let mut of = |realm: Realm| {
        let names = worlds.remove(&realm).unwrap_or_default();
        let names = match realm {
            Realm::Writes => folded(without_below_drawn(names), homes),
            Realm::Reads => folded_reads(without_below_drawn(names), learning.folder, homes),
            Realm::Network => without_any(names),
            Realm::Programs | Realm::Privileges => names,
        };
        let names = names.into_iter().map(|name| {
            let remark = remark(&name, &named, temporary);
            (name, remark)
        });
        (realm.word(), names.collect())
    };
    RulesDraft {
        description: format!(
            "{} does what it did when these were learnt",
            command.join(" ")
        ),
        exit: (exit != ExitKind::Code(0)).then_some(exit),
        worlds: learning.realms.iter().map(|realm| of(*realm)).collect(),
        remarks: nameless.into_iter().collect(),
    }
}

/// How many names a glob stands for, and what would narrow it; `None` for one name.
fn remark(glob: &str, named: &BTreeSet<&str>, temporary: &[String]) -> Option<String> {
    if glob == "#" || glob.ends_with("/#") {
        return Some("files that never had a name (O_TMPFILE)".to_owned());
    }
    let path = glob.strip_prefix("unix:").unwrap_or(glob);
    if open_at(path).is_none() || path.starts_with(PROCESSES) || !path.contains(['/', '.', '?']) {
        return None;
    }
    let mut temporary = temporary.iter().filter(|folder| folder.starts_with('/'));
    let is_temporary = temporary.any(|folder| path.starts_with(&format!("{folder}/")));
    let narrower = match is_temporary && !path.ends_with("/**") {
        true => "narrower with a TMPDIR of its own",
        false => "narrower with the names that are meant",
    };
    let names = named.iter().filter(|name| path_glob(glob, **name)).count();
    let names = match names {
        1 => "1 name".to_owned(),
        n => format!("{n} names"),
    };
    Some(format!("for {names}; {narrower}"))
}

/// Addresses without those that another one takes in: of port 0, which is any that is free.
fn without_any(mut names: BTreeSet<String>) -> BTreeSet<String> {
    let internet = names.iter().filter(|name| !name.starts_with("unix:"));
    let any = internet.filter_map(|name| name.strip_suffix('*'));
    let any: Vec<String> = any.map(str::to_owned).collect();
    let is_within = |name: &String, any: &String| {
        let port = name.strip_prefix(&**any);
        port.is_some_and(|port| port != "*")
    };
    names.retain(|name| !any.iter().any(|any| is_within(name, any)));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_the_kernel_chose_on_the_loopback_is_any() {
        assert_eq!(any_port("127.0.0.1:40001"), "127.0.0.1:*");
        assert_eq!(any_port("[::1]:40001"), "[::1]:*");
        assert_eq!(any_port("127.0.0.1:8123"), "127.0.0.1:8123");
        assert_eq!(any_port("10.0.0.1:40001"), "10.0.0.1:40001");
    }

    #[test]
    fn a_port_that_is_any_free_one_is_not_named_beside_any() {
        let of = |names: &[&str]| without_any(names.iter().map(|it| (*it).to_owned()).collect());
        let names = of(&["127.0.0.1:*", "127.0.0.1:0", "[::1]:0", "10.0.0.1:8"]);
        let left: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(left, ["10.0.0.1:8", "127.0.0.1:*", "[::1]:0"]);
    }

    #[test]
    fn a_comment_says_for_how_many_names_a_glob_stands_and_what_would_narrow_it() {
        let named = ["/tmp/tmpab12cd_x", "/tmp/tmp9z8y7x_w", "/tmp/a"].into();
        let said = remark("/tmp/tmp????????", &named, &["/tmp".to_owned()]).unwrap();
        assert!(
            said.starts_with("for 2 names; ") && said.contains("TMPDIR"),
            "{said}"
        );
        assert_eq!(remark("/tmp/a[*]", &named, &["/tmp".to_owned()]), None);
    }
}
