//! The workload that does what it is told and says what it did: `workloads/oracle.rs`.

use std::path::PathBuf;

/// The built oracle.
pub(crate) fn path() -> String {
    example("oracle")
}

/// A built example, which lies beside the program under test.
pub(crate) fn example(name: &str) -> String {
    let mut path = PathBuf::from(env!("CARGO_BIN_EXE_harness"));
    path.set_file_name("examples");
    path.push(name);
    assert!(
        path.is_file(),
        "`{}` is not built; `cargo test` builds it, `cargo test --test NAME` needs \
         `cargo build --examples` before",
        path.display()
    );
    path.to_str().expect("a path of letters").to_owned()
}

/// A word of the line of that kind, as `kind key=value key=value` has it.
pub(crate) fn fact<'a>(said: &'a str, kind: &str, key: &str) -> Vec<&'a str> {
    let lines = said
        .lines()
        .filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '));
    lines
        .filter_map(|line| {
            line.split(' ')
                .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
        })
        .collect()
}
