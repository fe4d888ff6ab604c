//! Many files of one folder as one rule.

use crate::matching::PROCESSES;
use perf_live::host::is_of_procfs;
use perf_records::glob::open_at;
use std::collections::{BTreeMap, BTreeSet};

/// How many files of one folder are named one by one.
const MOST: usize = 8;

/// How many names below a folder whose name was drawn are named one by one.
const MOST_DRAWN: usize = 2;

/// How many folders a folder outside of the working directory lies in, and itself, at least, if one
/// rule allows to read all of it: `/usr/lib/python3.11`.
const DEEP: usize = 3;

/// As many for what one rule allows to write.
const DEEP_TO_WRITE: usize = 2;

/// How many folders below a home a folder lies there, with itself, at least, if one rule allows all
/// of it: what programs keep for themselves lies beside passwords, as in `.config` and `.cargo`.
const DEEP_IN_HOME: usize = 3;

/// How deep a folder is at least of which one rule allows all; `elsewhere`, if it is in no home and
/// holds none. `None` if it never is.
fn least(folder: &str, elsewhere: usize, homes: &[String]) -> Option<usize> {
    if !folder.starts_with('/') {
        return Some(0);
    }
    let name = folder.strip_prefix("/home/").unwrap_or_default();
    let name = name.split('/').next().unwrap_or_default();
    let usual = ["/root".to_owned(), format!("/home/{name}")];
    let mut least = elsewhere;
    for home in usual.iter().chain(homes) {
        let home = home.trim_end_matches('/');
        if is_in(folder, home) && !home.is_empty() {
            least = least.max(depth(home) + DEEP_IN_HOME);
        } else if is_in(home, folder) {
            return None;
        }
    }
    Some(least)
}

fn depth(folder: &str) -> usize {
    folder.matches('/').count()
}

/// Whether a path is that of a folder, or lies below it.
fn is_in(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

/// Globs for folders of which many files are named. `homes` are more folders like those in `/home`.
pub(super) fn folded(names: BTreeSet<String>, homes: &[String]) -> BTreeSet<String> {
    let mut of_folder: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        of_folder.entry(folder.to_owned()).or_default().push(name);
    }
    let least = |folder: &str| least(folder, DEEP_TO_WRITE, homes);
    let is_deep = |folder: &str| least(folder).is_some_and(|least| depth(folder) >= least);
    let mut all = BTreeSet::new();
    for (folder, names) in of_folder {
        match names.len() > MOST && !folder.is_empty() && is_deep(&folder) {
            true => drop(all.insert(format!("{folder}/*"))),
            false => all.extend(names),
        }
    }
    // Many such folders of one folder, likewise.
    let mut above: BTreeMap<String, usize> = BTreeMap::new();
    let over = |glob: &str| {
        let folder = glob.strip_suffix("/*")?;
        let (above, _) = folder.rsplit_once('/')?;
        is_deep(above).then(|| above.to_owned())
    };
    for folder in all.iter().filter_map(|glob| over(glob)) {
        *above.entry(folder).or_default() += 1;
    }
    above.retain(|_, n| *n > MOST);
    all.retain(|glob| over(glob).is_none_or(|folder| !above.contains_key(&folder)));
    all.extend(above.into_keys().map(|folder| format!("{folder}/**")));
    all
}

/// Globs with one rule for a folder whose name was drawn, where more than [`MOST_DRAWN`] names
/// below it have one each: what lies there is for the moment, and of another number in the next
/// run.
pub(super) fn without_below_drawn(names: BTreeSet<String>) -> BTreeSet<String> {
    let drawn = |glob: &str| {
        let wild = open_at(glob).filter(|_| !glob.starts_with(PROCESSES))?;
        let end = glob.get(wild..)?.find('/')?;
        glob.get(..wild + end).map(str::to_owned)
    };
    let mut below: BTreeMap<String, usize> = BTreeMap::new();
    for folder in names.iter().filter_map(|name| drawn(name)) {
        *below.entry(folder).or_default() += 1;
    }
    below.retain(|_, n| *n > MOST_DRAWN);
    let mut globs = names;
    globs.retain(|glob| drawn(glob).is_none_or(|folder| !below.contains_key(&folder)));
    globs.extend(below.into_keys().map(|folder| format!("{folder}/**")));
    globs
}

/// Globs for what was read: of more than [`MOST`] files below one folder, at whatever depth, that
/// folder. It is the uppermost one that is [`DEEP`] and holds no working directory (`folder`);
/// `homes` as for [`folded`].
pub(super) fn folded_reads(
    names: BTreeSet<String>,
    folder: &str,
    homes: &[String],
) -> BTreeSet<String> {
    let is_folded = |name: &String| name.starts_with('/') && !is_of_kernel(name);
    let (outside, others): (BTreeSet<String>, _) = names.into_iter().partition(is_folded);
    let mut globs = folded(others, homes);
    let outside: Vec<&str> = outside.iter().map(String::as_str).collect();
    let is_deep = |path: &str, elsewhere: usize| {
        let least = least(path, elsewhere, homes).filter(|_| !path.is_empty());
        least.is_some_and(|least| depth(path) >= least) && !is_in(folder, path)
    };
    fold("", &outside, &is_deep, &mut globs);
    globs
}

/// What lies there is of processes and devices.
fn is_of_kernel(name: &str) -> bool {
    is_of_procfs(name.as_bytes()) || name.starts_with("/dev/")
}

/// Puts globs for names below a folder, whose path has no slash at its end. `is_deep` says of such
/// a folder whether one rule may allow all of it, if elsewhere it must be so deep.
fn fold(
    path: &str,
    names: &[&str],
    is_deep: &dyn Fn(&str, usize) -> bool,
    globs: &mut BTreeSet<String>,
) {
    let mut files = Vec::new();
    let mut below: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in names {
        let rest = name.get(path.len() + 1..).unwrap_or_default();
        match rest.split_once('/') {
            Some((first, _)) => below.entry(first).or_default().push(name),
            None => files.push(*name),
        }
    }
    let is_only_way = files.is_empty() && below.len() == 1;
    if names.len() > MOST && is_deep(path, DEEP) && !is_only_way {
        globs.insert(format!("{path}/**"));
        return;
    }
    match files.len() > MOST && is_deep(path, DEEP - 1) {
        true => drop(globs.insert(format!("{path}/*"))),
        false => globs.extend(files.into_iter().map(str::to_owned)),
    }
    for (first, names) in below {
        fold(&format!("{path}/{first}"), &names, is_deep, globs);
    }
}

#[cfg(test)]
mod tests {
    use super::{folded, folded_reads, without_below_drawn};
    use std::collections::BTreeSet;

    fn check(names: impl IntoIterator<Item = String>, globs: &[&str]) {
        let found = folded_reads(names.into_iter().collect(), "/home/me/src/project", &[]);
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, globs);
    }

    fn some(folder: &str, n: usize) -> impl Iterator<Item = String> {
        (0..n).map(move |n| format!("{folder}/{n}"))
    }

    #[test]
    fn many_files_of_a_folder_become_one_rule() {
        let few = ["/etc/a", "/etc/b"].map(str::to_owned);
        let names: BTreeSet<String> = some("out", 20).chain(few).collect();
        let rules: Vec<String> = folded(names, &[]).into_iter().collect();
        assert_eq!(rules, ["/etc/a", "/etc/b", "out/*"]);
    }

    #[test]
    fn many_files_that_were_read_deep_below_a_folder_become_one_rule_for_it() {
        let library = some("/usr/lib/python3.11", 5)
            .chain(some("/usr/lib/python3.11/json", 3))
            .chain(some("/usr/lib/python3.11/re/x", 3))
            .chain(["/usr/lib/ssl/openssl.cnf".to_owned()]);
        check(
            library,
            &["/usr/lib/python3.11/**", "/usr/lib/ssl/openssl.cnf"],
        );
        // The one that holds all of them.
        let package = some("/opt/venv/lib/site-packages/a", 5)
            .chain(some("/opt/venv/lib/site-packages/b", 5));
        check(package, &["/opt/venv/lib/site-packages/**"]);
        // Few are named.
        check(
            some("/usr/share/x", 2),
            &["/usr/share/x/0", "/usr/share/x/1"],
        );
        check(
            some("/usr/include", 20).chain(some("/usr/include/linux", 9)),
            &["/usr/include/*", "/usr/include/linux/**"],
        );
    }

    #[test]
    fn many_names_below_a_folder_that_was_drawn_become_one_rule() {
        let many = some("t/pytest-[0-9]*/test_a[0-9]*", 3);
        let names = many.chain(some("t/run-??????", 2));
        let found = without_below_drawn(names.collect());
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(
            found,
            ["t/pytest-[0-9]*/**", "t/run-??????/0", "t/run-??????/1"]
        );
    }

    #[test]
    fn a_folder_with_a_letter_of_globs_in_its_name_was_not_drawn() {
        let names: BTreeSet<String> = some("q[?]x", 3).chain(some("out[*]", 3)).collect();
        assert_eq!(without_below_drawn(names.clone()), names);
        let names = some("q[?]x/run-??????", 3);
        let found = without_below_drawn(names.collect());
        assert_eq!(found, ["q[?]x/run-??????/**".to_owned()].into());
    }

    #[test]
    fn a_folder_of_many_things_or_of_the_working_directory_is_never_one_rule() {
        for folder in [
            "",
            "/etc",
            "/home",
            "/home/me",
            "/root",
            "/tmp",
            "/home/me/src",
        ] {
            let below = format!("{folder}/x");
            let names = some(folder, 9).chain(some(&below, 1));
            let found = folded_reads(names.collect(), "/home/me/src/project", &[]);
            assert_eq!(found.len(), 10, "{found:?}");
        }
        let of_kernel = some("/proc/*/task/1", 9);
        check(of_kernel, &["/proc/*/task/1/*"]);
    }

    #[test]
    fn a_folder_in_a_home_is_one_rule_only_where_it_lies_three_deep_there() {
        let homes = ["/srv/ci/me/".to_owned()];
        for home in ["/home/you", "/root", "/srv/ci/me"] {
            // Beside these lie passwords.
            for folder in ["", "/.cargo", "/.config", "/.config/gh"] {
                let names: BTreeSet<String> = some(&format!("{home}{folder}"), 9).collect();
                let reads = folded_reads(names.clone(), "/work", &homes);
                assert_eq!(reads, names);
                assert_eq!(folded(names.clone(), &homes), names);
            }
            let source = format!("{home}/.cargo/registry/src");
            let config = format!("{home}/.cargo/config.toml");
            let names = some(&source, 9).chain([config.clone()]);
            let reads = folded_reads(names.collect(), "/work", &homes);
            assert_eq!(reads, [config, format!("{source}/**")].into());
            let wrote = folded(some(&source, 9).collect(), &homes);
            assert_eq!(wrote, [format!("{source}/*")].into());
        }
        // Nor is one that holds a home.
        let names = some("/srv/ci/a/x", 5).chain(some("/srv/ci/a/y", 5));
        let reads = folded_reads(names.collect(), "/work", &["/srv/ci/a/z/me".to_owned()]);
        assert_eq!(reads.len(), 10, "{reads:?}");
    }
}
