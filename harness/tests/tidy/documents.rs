//! What the documents and the configuration say, against what there is.

use super::source::Source;
use super::{expect_none, expect_one_at, planted, repository};
use std::path::Path;

/// Words that no file may hold, with what to do. Put together here, so that this file does not hold
/// them.
fn forbidden() -> Vec<(String, &'static str)> {
    let suppress = "use #[expect(.., reason = \"..\")], which fails when it is not needed any more";
    let finish = "do it, or open an issue";
    let foreign = "a clone has no such place";
    vec![
        (["#[al", "low("].concat(), suppress),
        (["#![al", "low("].concat(), suppress),
        (["TO", "DO"].concat(), finish),
        (["FIX", "ME"].concat(), finish),
        (["../sha", "red"].concat(), foreign),
        (["/wo", "rk/"].concat(), foreign),
    ]
}

/// The lock file names what it was resolved from, and licences are other people's words.
fn is_ours(path: &str) -> bool {
    path != "Cargo.lock" && !path.ends_with("LICENSE-APACHE")
}

fn forbidden_words(sources: &[&Source]) -> Vec<String> {
    let words = forbidden();
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| is_ours(&source.path)) {
        for (line, text) in source.text.lines().enumerate() {
            for (word, advice) in words.iter().filter(|(word, _)| stands_in(text, word)) {
                complaints.push(format!("{}:{}: `{word}`: {advice}", source.path, line + 1));
            }
        }
    }
    complaints
}

/// Whether a word starts in a line elsewhere than within a longer word or path.
fn stands_in(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '}'))
    })
}

#[test]
fn nothing_is_suppressed_unfinished_or_bound_to_one_machine() {
    expect_none(&forbidden_words(&repository::all()));
    for (word, _) in forbidden() {
        let bad = planted("ci/check", &format!("a\nb {word}c\nd"));
        expect_one_at("ci/check:2", &forbidden_words(&bad));
    }
    expect_none(&forbidden_words(&planted(
        "ci/check",
        &["$dir/wo", "rk/a"].concat(),
    )));
}

/// Where a link leads, for every link of a Markdown line.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#']).next())
}

fn dead_links(sources: &[&Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| source.path.ends_with(".md")) {
        let folder =
            repository::root().join(Path::new(&source.path).parent().unwrap_or(Path::new("")));
        for (line, text) in source.text.lines().enumerate() {
            // A front page that rustdoc shows may link to items, which rustdoc checks.
            let is_file = |target: &&str| {
                !target.is_empty() && !target.contains("::") && !target.contains("//")
            };
            for target in link_targets(text)
                .filter(is_file)
                .filter(|target| !folder.join(target).exists())
            {
                complaints.push(format!(
                    "{}:{}: there is no `{target}`: mend the link",
                    source.path,
                    line + 1
                ));
            }
        }
    }
    complaints
}

#[test]
fn links_between_documents_lead_somewhere() {
    expect_none(&dead_links(&repository::all()));
    let bad = planted(
        "harness/NOTES.md",
        "[a](../README.md#top) [b](crate::run)\n[c](../gone.md)",
    );
    expect_one_at("harness/NOTES.md:2", &dead_links(&bad));
}

/// What the fragment of a link to a heading is, as GitHub makes it.
fn fragment(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c => (c.is_alphanumeric() || matches!(c, '-' | '_')).then_some(c),
    });
    kept.collect()
}

/// Links to headings that there are not.
fn dead_fragments(sources: &[&Source]) -> Vec<String> {
    let headings = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with('#'));
        lines.map(fragment).collect()
    };
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| source.path.ends_with(".md")) {
        let folder = Path::new(&source.path).parent().unwrap_or(Path::new(""));
        for (line, text) in source.text.lines().enumerate() {
            let links = text.split("](").skip(1);
            let links = links.filter_map(|rest| rest.split(')').next()?.split_once('#'));
            for (path, wanted) in links.filter(|(path, _)| !path.contains("//")) {
                let there = match path {
                    "" => headings(&source.text),
                    path if !path.ends_with(".md") => continue,
                    path => headings(&repository::read(&folder.join(path).to_string_lossy())),
                };
                if !there.iter().any(|one| one == wanted) {
                    let place = format!("{}:{}", source.path, line + 1);
                    complaints.push(format!("{place}: there is no heading `#{wanted}`"));
                }
            }
        }
    }
    complaints
}

#[test]
fn links_to_headings_lead_to_one() {
    expect_none(&dead_fragments(&repository::all()));
    let bad = planted(
        "harness/NOTES.md",
        "# `a`, and b_c\n[a](#a-and-b_c) [b](../README.md#install)\n[c](../README.md#gone)",
    );
    expect_one_at("harness/NOTES.md:3", &dead_fragments(&bad));
    let bad = planted("harness/NOTES.md", "# a\n[b](#b)");
    expect_one_at("harness/NOTES.md:2", &dead_fragments(&bad));
}

/// The widest that a line of prose may be, in characters.
const WIDEST: usize = 100;

/// The text of a line that is prose: of a document, or of a comment that fills its line.
fn prose<'a>(source: &Source, line: &'a str) -> Option<&'a str> {
    if !source.is_rust() {
        return source.path.ends_with(".md").then_some(line);
    }
    let comment = line.trim_start().strip_prefix("//")?;
    Some(comment.trim_start_matches(['/', '!']))
}

/// Prose that is wider; not what is shown as it is, between fences, and no rows of tables.
fn wide_prose(sources: &[&Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        let mut is_fenced = false;
        for (number, line) in source.text.lines().enumerate() {
            let Some(text) = prose(source, line).map(str::trim_start) else {
                is_fenced = false;
                continue;
            };
            if text.starts_with("```") {
                is_fenced = !is_fenced;
            }
            let width = line.chars().count();
            if width > WIDEST && !is_fenced && !text.starts_with(['|', '`']) {
                let path = &source.path;
                complaints.push(format!(
                    "{path}:{}: {width} characters: break the line at {WIDEST}",
                    number + 1
                ));
            }
        }
    }
    complaints
}

#[test]
fn prose_has_lines_of_a_hundred_characters() {
    expect_none(&wide_prose(&repository::all()));
    let wide = "word ".repeat(21);
    for (path, text) in [
        ("README.md", format!("a\n{wide}")),
        ("src/lib.rs", format!("fn f() {{}}\n    /// {wide}")),
    ] {
        expect_one_at(&format!("{path}:2"), &wide_prose(&planted(path, &text)));
    }
    for (path, text) in [
        ("README.md", format!("```\n{wide}\n```\n| {wide}")),
        (
            "src/lib.rs",
            format!("let text = \"{wide}\";\n//! ```\n//! {wide}"),
        ),
    ] {
        expect_none(&wide_prose(&planted(path, &text)));
    }
}

/// The map is read whole, so it stays short.
const LONGEST_MAP: usize = 150;

#[test]
fn the_map_of_the_architecture_stays_short() {
    let length = repository::read("src/ARCHITECTURE.md").lines().count();
    assert!(
        length <= LONGEST_MAP,
        "src/ARCHITECTURE.md:{LONGEST_MAP}: the map has {length} lines: move what is about one room into the \
         DECISIONS.md beside it"
    );
}

/// The value of `key = "value"` in a TOML table.
fn toml_value<'a>(text: &'a str, table: &str, key: &str) -> Option<&'a str> {
    let body = text.split_once(&format!("[{table}]\n"))?.1;
    let line = body
        .lines()
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == key).then_some(value)
        })?;
    Some(line.trim().trim_matches('"'))
}

#[test]
fn the_changelog_knows_the_version() {
    let manifest = repository::read("Cargo.toml");
    let version = toml_value(&manifest, "workspace.package", "version").expect("a version");
    let changelog = repository::read("CHANGELOG.md");
    assert!(
        changelog
            .lines()
            .any(|line| line.starts_with(&format!("## [{version}]"))),
        "CHANGELOG.md:1: no section `## [{version}]`: write what is new in the version of Cargo.toml"
    );
}

#[test]
fn the_formatter_is_set_as_the_manifest_is() {
    let manifest = repository::read("Cargo.toml");
    let format = format!("[all]\n{}", repository::read("ci/rustfmt.toml"));
    let edition = toml_value(&manifest, "workspace.package", "edition");
    assert_eq!(
        toml_value(&format, "all", "edition"),
        edition,
        "ci/rustfmt.toml, and Cargo.toml"
    );
    assert_eq!(
        toml_value(&format, "all", "max_width"),
        Some("100"),
        "ci/rustfmt.toml"
    );
}

#[test]
fn every_package_takes_its_lints_and_licence_from_the_workspace() {
    let manifests = [
        "Cargo.toml",
        "src/perf/Cargo.toml",
        "src/calls/Cargo.toml",
        "src/live/Cargo.toml",
        "harness/Cargo.toml",
    ];
    for manifest in manifests {
        let text = repository::read(manifest);
        assert_eq!(
            toml_value(&text, "lints", "workspace"),
            Some("true"),
            "{manifest}"
        );
        assert_eq!(
            toml_value(&text, "package", "license.workspace"),
            Some("true"),
            "{manifest}"
        );
    }
}

fn foreign_packages(lock: &str) -> Vec<String> {
    let home = "registry+https://github.com/rust-lang/crates.io-index";
    let sources = lock.lines().enumerate().filter_map(|(line, text)| {
        let source = text.strip_prefix("source = \"")?.strip_suffix('"')?;
        (source != home).then(|| {
            format!(
                "Cargo.lock:{}: a package comes from `{source}`: lock it to the public registry",
                line + 1
            )
        })
    });
    sources.collect()
}

#[test]
fn packages_come_from_the_public_registry() {
    expect_none(&foreign_packages(&repository::read("Cargo.lock")));
    expect_one_at(
        "Cargo.lock:2",
        &foreign_packages("[[package]]\nsource = \"git+https://example.org/x\""),
    );
}

/// What is wrong with the licences of the packages that are published. A package holds them
/// itself, as files: some ways of copying a repository turn a symbolic link into its text.
fn other_licences(sources: &[&Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    let is_published = |source: &&&Source| source.text.contains("publish.workspace");
    let packages = sources.iter().filter(is_published);
    for package in packages.filter_map(|it| it.path.strip_suffix("/Cargo.toml")) {
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let path = format!("{package}/{name}");
            let held = sources.iter().find(|source| source.path == path);
            if held.is_none_or(|held| held.text != repository::read(name)) {
                complaints.push(format!("{path}: copy the repository's `{name}` here"));
            }
        }
    }
    complaints
}

#[test]
fn every_package_holds_the_licences() {
    expect_none(&other_licences(&repository::all()));
    let manifest = planted("src/new/Cargo.toml", "publish.workspace = true");
    assert_eq!(other_licences(&manifest).len(), 2);
}
