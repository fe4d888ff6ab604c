//! A function that is called so many times is probed so many times, by us as by bpftrace and perf.

use std::path::{Path, PathBuf};
use std::process::Output;

use super::support::command::{Place, clean_command};
use super::support::compiler;
use super::support::perf;
use super::support::require::{self, program, require};

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");

const SOURCE: &str = r#"
#include <stdio.h>
#define APART __attribute__((noinline, noclone))
namespace store { APART int commit(const char *path, long n) { asm volatile(""); return -n; } }
int main() { int n = 0; for (int i = 0; i < 5; i++) n += store::commit("/data/x", i); printf("%d\n", n); }
"#;

/// A program of C++ whose file no other process uses.
fn compiled(place: &Place) -> Result<PathBuf, String> {
    let name = format!("probed{}.cc", std::process::id());
    compiler::compiled(place, &name, &["-g", "-O1"], SOURCE).map(PathBuf::from)
}

fn said(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{out}{err}");
    format!("{out}{err}")
}

fn in_namespace(words: &[&str]) -> Output {
    let mut all = vec!["unshare"];
    all.extend(perf::WITH_TRACEFS.iter().chain(words));
    clean_command(&all).output().expect("unshare")
}

/// What bpftrace counts of a file's function, in a command that finds its libraries in a folder
/// first. It probes the file for every process of the machine, of which none but this may use it.
fn counted_by_bpftrace(probe: &str, command: &str, libraries: &Path) -> Vec<u64> {
    // It counts for everybody, unless it is told whom.
    let script = format!(
        "uprobe:{probe} /pid == cpid/ {{ @a = count(); }} uretprobe:{probe} /pid == cpid/ {{ @b = count(); }}"
    );
    let first = format!("LD_LIBRARY_PATH={}", libraries.display());
    let words = ["env", &first, "bpftrace", "-e", &script, "-c", command];
    let text = said(&in_namespace(&words));
    let count = |line: &str| line.split_once(": ")?.1.trim().parse().ok();
    let lines = text.lines().filter(|line| line.starts_with('@'));
    lines.filter_map(count).collect()
}

/// What we count: in and out.
fn counted(probe: &str, command: &str) -> Vec<u64> {
    let events = format!("uprobe:{probe},uretprobe:{probe}");
    let words: Vec<&str> = command.split(' ').collect();
    let mut all = vec![
        HARNESS,
        "stat",
        "--format",
        "json",
        "-o",
        "/dev/stderr",
        "-e",
        &events,
        "--",
    ];
    all.extend(words);
    let output = clean_command(&all).output().expect("harness");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let values = text.lines().filter_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        line["value"].as_u64()
    });
    values.collect()
}

#[test]
fn calls_and_returns_are_those_that_bpftrace_counts() {
    require!(require::right_to_trace());
    require!(program("bpftrace"));
    let place = Place::new();
    let path = require!(compiled(&place));
    let path = path.display().to_string();
    let mangled = "_ZN5store6commitEPKcl";
    assert_eq!(
        counted_by_bpftrace(&format!("{path}:{mangled}"), &path, Path::new("")),
        [5, 5]
    );
    for name in [mangled, "store::commit", "store::commit(char const*, long)"] {
        // A blank ends the symbol in a word.
        if !name.contains(' ') {
            assert_eq!(counted(&format!("{path}:{name}"), &path), [5, 5], "{name}");
        }
    }
    // A program that was not written for this test.
    let library = "/lib/x86_64-linux-gnu/libc.so.6";
    let command = "/bin/ls -l /etc/hostname";
    let own = place.beside("libraries");
    std::fs::create_dir(&own).expect("a folder");
    let copy = own.join("libc.so.6");
    std::fs::copy(library, &copy).expect("a copy of the library");
    let theirs = counted_by_bpftrace(&format!("{}:fclose", copy.display()), command, &own);
    assert!(theirs.iter().all(|count| *count > 0), "{theirs:?}");
    assert_eq!(counted(&format!("{library}:fclose"), command), theirs);
    assert_eq!(counted("libc.so.6:fclose", command), theirs);
}

/// What perf makes of a probe of its own, which it removes again.
fn by_perf(path: &Path) -> (u64, String) {
    let name = path.file_name().expect("a name").to_string_lossy();
    let path = path.display().to_string();
    let script = format!(
        "set -e; cd /; perf probe -q -x {path} _ZN5store6commitEPKcl; \
         perf stat -x, -o {path}.stat -e 'probe_{name}:*' -- {path} > /dev/null; \
         perf probe -q -d 'probe_{name}:*'; cat {path}.stat"
    );
    let text = said(&in_namespace(&["sh", "-c", &script]));
    let line = text.lines().find(|line| line.contains("probe_"));
    let count = line.and_then(|line| line.split(',').next()?.parse().ok());
    (
        count.unwrap_or_else(|| panic!("no count in `{text}`")),
        text,
    )
}

#[test]
fn calls_are_those_that_perf_counts_and_perf_reads_what_is_recorded() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    let path = require!(compiled(&place));
    assert_eq!(by_perf(&path).0, 5);
    let path = path.display().to_string();
    let file = place.beside("perf.data");
    let events =
        format!("uprobe:{path}:store::commit path n,uretprobe:{path}:store::commit $retval");
    let data = file.to_str().expect("letters");
    let words = [HARNESS, "record", "-o", data, "-e", &events, "--", &path];
    said(&clean_command(&words).output().expect("harness"));
    let lines = |text: &str| -> Vec<String> {
        // Addresses are others in each run, and perf has more blanks.
        let of_line = |line: &str| {
            let (_, event) = line.split_once("probe:")?;
            let (name, rest) = event.split_once(": (")?;
            Some(format!("{name} {}", rest.split_once(") ")?.1.trim()))
        };
        text.lines().filter_map(of_line).collect()
    };
    let theirs = lines(&perf::said_of(&["script"], &file));
    let mut wanted = Vec::new();
    for n in 0..5 {
        wanted.push(format!("store_commit path=\"/data/x\" n={n}"));
        wanted.push(format!("store_commit retval={}", -n));
    }
    assert_eq!(theirs, wanted);
    let ours = clean_command(&[HARNESS, "script", "-i", data]).output();
    assert_eq!(lines(&said(&ours.expect("harness"))), wanted);
}
