//! Rules that let a command do what it did.

use crate::matching::{
    Deeds, Done, PROCESSES, Realm, Statement, any_port, is_drawn, shape, varying, varying_behind,
};
use crate::scenario::{RulesDraft, literal};
use perf_live::units::ExitKind;
use perf_records::glob::{escaped, is_glob, path_glob};
use std::collections::{BTreeMap, BTreeSet};

/// How many files of one folder are named one by one.
const MOST: usize = 8;

/// Where shared memory has names (`shm_overview(7)`): what a command makes there is for the moment.
const SHARED_MEMORY: &str = "/dev/shm/";

/// Makes rules of what a command did. Names that differ from run to run become globs: those of
/// files below `temporary`, and of files that the command itself removed or renamed again.
#[must_use]
pub fn rules(
    command: &[String],
    statement: &Statement,
    exit: ExitKind,
    temporary: &[String],
) -> RulesDraft {
    let gone = statement.done.iter();
    let gone = gone.filter(|done| matches!(done.what, Deeds::Deleted | Deeds::Renamed));
    let gone: BTreeSet<&str> = gone.filter_map(|done| done.to.as_deref()).collect();
    let made = statement.done.iter().flat_map(|done| {
        let is_made = matches!(done.what, Deeds::Written | Deeds::Bound);
        [done.to.as_deref().filter(|_| is_made), done.new.as_deref()]
    });
    let made: BTreeSet<&str> = made
        .flatten()
        .map(|name| name.strip_prefix("unix:").unwrap_or(name))
        .collect();
    let lasts = |path: &str| {
        let mut folders = temporary.iter();
        let is_below = folders.any(|it| {
            path.strip_prefix(&**it)
                .is_some_and(|it| it.starts_with('/'))
        });
        if is_below {
            return Lasts::Temporary;
        }
        // A folder that is gone took its files with it.
        let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let mut own = above.chain([path]).filter(|name| made.contains(name));
        match own.find(|name| gone.contains(name) || name.starts_with(SHARED_MEMORY)) {
            Some(name) => Lasts::Gone(name.rfind('/').map_or(0, |at| at + 1)),
            None => Lasts::Stays,
        }
    };
    let glob = |path: &str| match path.split_at_checked(5) {
        Some(("unix:", path)) => format!("unix:{}", literal(&general(path, lasts(path)))),
        _ => literal(&general(path, lasts(path))),
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
        names.extend(done.new.iter().chain(&done.others).map(|path| glob(path)));
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
            Realm::Writes | Realm::Reads => folded(names),
            Realm::Network => names,
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
        worlds: Realm::ALL.into_iter().map(&mut of).collect(),
        remarks: nameless.into_iter().collect(),
    }
}

/// How many names a glob stands for, and what would narrow it; `None` for one name.
fn remark(glob: &str, named: &BTreeSet<&str>, temporary: &[String]) -> Option<String> {
    let path = glob.strip_prefix("unix:").unwrap_or(glob);
    let letters = ["[*]", "[?]", "[[]", "[$]", "[~]"];
    let letters = letters.into_iter();
    let has_wildcard = letters.fold(path.to_owned(), |path, letter| path.replace(letter, ""));
    if !is_glob(&has_wildcard) || path.starts_with(PROCESSES) || !path.contains(['/', '.', '?']) {
        return None;
    }
    let mut temporary = temporary.iter();
    let is_temporary = temporary.any(|folder| path.starts_with(&format!("{folder}/")));
    let narrower = match is_temporary {
        true => "narrower with TMPDIR in the working directory",
        false => "narrower with the names that are meant",
    };
    let names = named.iter().filter(|name| path_glob(glob, **name)).count();
    let names = match names {
        1 => "1 name".to_owned(),
        n => format!("{n} names"),
    };
    Some(format!("for {names}; {narrower}"))
}

/// What became of a file that a command made.
#[derive(Clone, Copy)]
enum Lasts {
    /// It lies below a folder for temporary files.
    Temporary,
    /// The command made it and took it away again, or it is memory; what lies in front of this byte
    /// of its path stays.
    Gone(usize),
    /// Neither.
    Stays,
}

/// A path as a glob.
fn general(path: &str, lasts: Lasts) -> String {
    // A statement names no process.
    if let Some(rest) = path.strip_prefix(PROCESSES) {
        return format!("{PROCESSES}{}", escaped(rest));
    }
    let mut at = 0;
    let parts = path.split('/').map(|part| {
        let begin = at;
        at += part.len() + 1;
        match lasts {
            Lasts::Temporary => varying(part),
            Lasts::Gone(from) if begin >= from => behind_a_known_front(part)
                .or_else(|| varying_behind(part))
                .unwrap_or_else(|| behind_its_front(part)),
            Lasts::Gone(_) | Lasts::Stays => without_hash(part),
        }
    });
    let parts: Vec<String> = parts.collect();
    parts.join("/")
}

/// What some put in front of letters that they draw, and how many these are: sed and Perl where
/// they change a file in its place, and Python's shared memory.
const FRONTS: [(&str, usize); 3] = [("sed", 6), ("XX", 6), ("psm_", 8)];

/// A name with a `?` for each letter that one of these drew.
fn behind_a_known_front(name: &str) -> Option<String> {
    let is_known = |(front, n): &&(&str, usize)| {
        let drawn = name.strip_prefix(front);
        drawn.is_some_and(|it| it.len() == *n && it.bytes().all(|c| c.is_ascii_alphanumeric()))
    };
    let (front, n) = FRONTS.iter().find(is_known)?;
    Some(format!("{front}{}", "?".repeat(*n)))
}

/// A name with a `?` for each letter that was drawn, where what stands in front of these is kept;
/// as it is, where they are all of it.
fn behind_its_front(name: &str) -> String {
    let mut glob = String::new();
    for piece in name.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        match (glob.is_empty(), has_words(word)) {
            (_, true) => glob.push_str(word),
            (true, _) => glob.push_str(&with_drawn_end(word)),
            (false, _) if is_drawn(word) => glob.push_str(&shape(word)),
            (false, _) => glob.push_str(word),
        }
        glob.push_str(&escaped(piece.get(word.len()..).unwrap_or_default()));
    }
    glob
}

/// A word that may end in six letters that `mkstemp(3)` drew.
fn with_drawn_end(word: &str) -> String {
    const DRAWN: usize = 6;
    let front = word.len().saturating_sub(DRAWN);
    let Some((front, end)) = word.split_at_checked(front).filter(|(it, _)| it.len() > 1) else {
        return word.to_owned();
    };
    let is_digit = |c: char| c.is_ascii_digit();
    // A number behind a word is none.
    let letters = end.trim_end_matches(is_digit);
    let has_capitals = letters.chars().any(char::is_uppercase);
    match letters.contains(is_digit) || has_capitals && letters.chars().any(char::is_lowercase) {
        true => format!("{front}{}", "?".repeat(DRAWN)),
        false => word.to_owned(),
    }
}

/// Whether letters are words that are set together: `TryCompile`, `CMakeLists`, `index`.
fn has_words(letters: &str) -> bool {
    let letters = letters.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_capital = |c: char| c.is_ascii_uppercase();
    let mut rest = letters;
    while !rest.is_empty() {
        let word = rest.trim_start_matches(is_capital);
        let end = word.find(|c: char| !c.is_ascii_lowercase());
        let (small, behind) = word.split_at(end.unwrap_or(word.len()));
        if small.len() < 2 || behind.starts_with(|c: char| !is_capital(c)) {
            return false;
        }
        rest = behind;
    }
    !letters.is_empty()
}

/// The name of a program that Cargo built, whose hash is another after each change: `net-*`.
fn without_hash(name: &str) -> String {
    let hashed = name
        .rsplit_once('-')
        .filter(|(_, hash)| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
    match hashed {
        Some((name, _)) => format!("{}-*", escaped(name)),
        None => escaped(name),
    }
}

/// Globs for folders of which many files are named.
fn folded(names: BTreeSet<String>) -> BTreeSet<String> {
    let mut of_folder: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        of_folder.entry(folder.to_owned()).or_default().push(name);
    }
    let depth = |folder: &str| folder.matches('/').count();
    let mut all = BTreeSet::new();
    for (folder, names) in of_folder {
        let least = if folder.starts_with('/') { 2 } else { 0 };
        match names.len() > MOST && !folder.is_empty() && depth(&folder) >= least {
            true => drop(all.insert(format!("{folder}/*"))),
            false => all.extend(names),
        }
    }
    // Many such folders of one folder, likewise.
    let mut above: BTreeMap<String, usize> = BTreeMap::new();
    let over = |glob: &str| {
        let folder = glob.strip_suffix("/*")?;
        let (above, _) = folder.rsplit_once('/')?;
        let least = if above.starts_with('/') { 2 } else { 0 };
        (depth(above) >= least).then(|| above.to_owned())
    };
    for folder in all.iter().filter_map(|glob| over(glob)) {
        *above.entry(folder).or_default() += 1;
    }
    above.retain(|_, n| *n > MOST);
    all.retain(|glob| over(glob).is_none_or(|folder| !above.contains_key(&folder)));
    all.extend(above.into_keys().map(|folder| format!("{folder}/**")));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawn_name_becomes_a_glob_and_another_one_stays() {
        for (name, glob) in [
            ("tmpk3j2h1_x", "tmp????????"),
            ("tmpabcdefg1", "tmp????????"),
            ("save.Xa81Qz", "save.??????"),
            (".conf.swp12", ".conf.swp12"),
            ("x.cpython-313.pyc.139842", "x.cpython-[0-9]*.pyc.[0-9]*"),
            ("pytest-of-root", "pytest-of-root"),
            ("pytest-12", "pytest-[0-9]*"),
            ("config.toml.tmp", "config.toml.tmp"),
            ("go-build310204", "go-build[0-9]*"),
            ("a[b]", "a[[]b]"),
            (
                "garbage-1b9d6bcd-bbfd-4b2d-9b5d-abdfbbd4bded.d",
                "garbage-????????-????-????-????-????????????.d",
            ),
            (
                "1b9d6bcd-bbfd-4b2d-9b5d-abdfbbd4bdedx",
                "????????-bbfd-4b2d-9b5d-?????????????",
            ),
        ] {
            assert_eq!(varying(name), glob, "{name}");
        }
        assert_eq!(without_hash("net-0123456789abcdef"), "net-*");
        assert_eq!(without_hash("net-2"), "net-2");
    }

    #[test]
    fn a_glob_of_a_drawn_name_does_not_take_its_neighbours() {
        for (drawn, other, evil) in [
            ("/tmp/tmpab12cd_x", "/tmp/tmp9z8y7x_w", "/tmp/evil"),
            ("/tmp/tmp.Xa81Qz4Rkw", "/tmp/tmp.b3Kd9LmQ2z", "/tmp/tmp.x"),
            ("/tmp/go-build310204", "/tmp/go-build99", "/tmp/go-evil"),
        ] {
            let glob = general(drawn, Lasts::Temporary);
            assert!(path_glob(&glob, drawn) && path_glob(&glob, other), "{glob}");
            assert!(!path_glob(&glob, evil), "{glob}");
        }
        let named = ["/tmp/tmpab12cd_x", "/tmp/tmp9z8y7x_w", "/tmp/a"].into();
        let said = remark("/tmp/tmp????????", &named, &["/tmp".to_owned()]).unwrap();
        assert!(
            said.starts_with("for 2 names; ") && said.contains("TMPDIR"),
            "{said}"
        );
        assert_eq!(remark("/tmp/a[*]", &named, &["/tmp".to_owned()]), None);
    }

    #[test]
    fn of_a_name_that_is_gone_only_what_was_drawn_becomes_a_glob() {
        for (path, glob) in [
            ("sedY8MorW", "sed??????"),
            ("sedabcdef", "sed??????"),
            ("XX0ptU3B", "XX??????"),
            ("XXaaaaaa", "XX??????"),
            ("psm_734b6deb", "psm_????????"),
            ("psm_12345678", "psm_????????"),
            ("TryCompile-OI8Bx7", "TryCompile-??????"),
            ("TryCompile-OI8Bx7/a", "TryCompile-??????/a"),
            ("savedY8MorW", "saved??????"),
            (".conf.Xa81Qz", ".conf.??????"),
            // Nothing of these was drawn, or all.
            ("CMakeLists.txt", "CMakeLists.txt"),
            ("TryCompile", "TryCompile"),
            ("Makefile2", "Makefile2"),
            ("README", "README"),
            ("sediment", "sediment"),
            ("Y8MorW", "Y8MorW"),
            ("a[b]", "a[[]b]"),
        ] {
            assert_eq!(general(path, Lasts::Gone(0)), glob, "{path}");
        }
        // What lies above the name that is gone is as it was.
        let glob = general("run-12/sub.Xa81Qz/sedY8MorW", Lasts::Gone(18));
        assert_eq!(glob, "run-12/sub.Xa81Qz/sed??????");
    }

    #[test]
    fn many_files_of_a_folder_become_one_rule() {
        let many = (0..20).map(|n| format!("out/{n}.o"));
        let few = ["/etc/a", "/etc/b"].map(str::to_owned);
        let rules: Vec<String> = folded(many.chain(few).collect()).into_iter().collect();
        assert_eq!(rules, ["/etc/a", "/etc/b", "out/*"]);
    }

    #[test]
    fn a_port_that_the_kernel_chose_on_the_loopback_is_any() {
        assert_eq!(any_port("127.0.0.1:40001"), "127.0.0.1:*");
        assert_eq!(any_port("[::1]:40001"), "[::1]:*");
        assert_eq!(any_port("127.0.0.1:8123"), "127.0.0.1:8123");
        assert_eq!(any_port("10.0.0.1:40001"), "10.0.0.1:40001");
    }
}
