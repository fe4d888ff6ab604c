//! The C compiler and this machine's headers as witnesses of every number that has a name.

use std::collections::BTreeMap;
use std::process::Command;

use syscall_model::constants::tables;

use super::support::command::PATH;
use super::support::require::{self, require};

/// Reads `set name value` lines; the command is the one that makes the tables, which here only asks
/// the compiler.
fn of_the_headers() -> BTreeMap<(String, String), u64> {
    let command = concat!(env!("CARGO_MANIFEST_DIR"), "/../ci/capture-constants");
    let output = Command::new("python3")
        .args([command, "--installed"])
        .env("PATH", PATH)
        .output()
        .expect("python3 starts");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let text = String::from_utf8(output.stdout).expect("names");
    let line = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let names = (words.next()?, words.next()?);
        Some((names, words.next()?.parse().ok()?))
    };
    text.lines()
        .map(|text| line(text).unwrap_or_else(|| panic!("`{text}`")))
        .collect()
}

fn headers() -> Result<(), String> {
    require::program("python3")?;
    require::program("cc")?;
    let output = Command::new("cc")
        .args([
            "-E",
            "-include",
            "linux/fcntl.h",
            "-include",
            "sys/socket.h",
            "-",
        ])
        .env("PATH", PATH)
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err("the headers of the kernel or of the C library are not installed".to_owned()),
    }
}

#[test]
fn every_named_number_is_the_headers() {
    require!(headers());
    let headers = of_the_headers();
    let mut checked = 0;
    for set in tables::ALL {
        for (name, value) in set.names() {
            // What is newer than the headers is not there.
            let Some(of_header) = headers.get(&(set.name.to_owned(), name.to_owned())) else {
                continue;
            };
            assert_eq!(value, *of_header, "{set:?} {name}");
            checked += 1;
        }
    }
    assert!(checked > 1500, "{checked}");
}
