//! A fault is meant for a file under the names that the trace has for it, whatever leads there.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use tempfile::TempDir;

use super::{passes, python};
use crate::support::project::{folder_of_the_machine, verdict};
use crate::support::require::{program, require, right_to_trace};

/// Links, and what they say: those of a merged `/usr` and of alternatives, and some that lead
/// nowhere.
const LINKS: [(&str, &str); 5] = [
    ("usr/bin/awk", "../../etc/alternatives/awk"),
    ("etc/alternatives/awk", "../../usr/bin/mawk"),
    ("bin", "usr/bin"),
    ("dangling", "bin/none"),
    ("round", "round"),
];

/// A program that tries each of these, having begun with these lines.
fn tries(lines: &str, calls: &[&str], (fault, told): (&str, &str)) -> String {
    let calls = calls.iter().map(|call| format!("tell(lambda: {call})\n"));
    let script = format!(
        "import os\n\
         def tell(call):\n  \
         try: call(); print('yes', end=' ')\n  \
         except OSError as error: print(error.errno, end=' ')\n\
         {lines}\
         here = os.getcwd()\n\
         data = os.open('usr/bin/data', os.O_RDONLY)\n\
         {}",
        calls.collect::<String>()
    );
    let yaml = python(
        &script,
        "openat, newfstatat, linkat",
        fault,
        &format!("stdout: \"{told}\""),
    );
    let files = "  files:\n    usr/bin/mawk: it\n    usr/bin/data: some\n    \
                 etc/alternatives/README: links\n";
    yaml.replacen("  files:\n", files, 1)
}

/// The same with links that the program makes in its working directory.
fn makes_links(calls: &[&str], fault: &str, told: &str) -> String {
    let links = LINKS.map(|(link, to)| format!("os.symlink('{to}', '{link}')\n"));
    tries(&links.concat(), calls, (fault, told))
}

/// A folder of the machine with such links, which were there before a run begins.
fn merged() -> TempDir {
    let folder = folder_of_the_machine();
    let at = |name: &str| folder.path().join(name);
    for path in ["usr/bin", "etc/alternatives"] {
        fs::create_dir_all(at(path)).expect("a folder");
    }
    for name in ["mawk", "data"] {
        fs::write(at("usr/bin").join(name), name).expect("a file");
    }
    for (link, to) in LINKS {
        symlink(to, at(link)).expect("a link");
    }
    // Times of files have the grain of a tick, before which a link may have been another.
    let changed = |path: &Path| {
        let of = fs::symlink_metadata(path).expect("it is there");
        of.ctime() * 1_000_000_000 + of.ctime_nsec()
    };
    let later = changed(&at("round")) + 50_000_000;
    fs::write(at("later"), "").expect("a file");
    while changed(&at("later")) < later {
        fs::write(at("later"), "").expect("a file");
    }
    folder
}

#[test]
fn a_file_is_one_by_each_link_to_it_and_through_each_linked_folder() {
    require!(right_to_trace());
    require!(program("python3"));
    let calls = [
        "os.open('bin/awk', 0)",
        "os.open('usr/bin/awk', 0)",
        "os.open('etc/alternatives/awk', 0)",
        "os.open(here + '/bin/mawk', 0)",
        "os.open('bin/../bin/./mawk', 0)",
        "os.open('mawk', 0, dir_fd=os.open('bin', 0))",
        "os.open('bin/data', 0)",
    ];
    let told = "5 5 5 5 5 5 yes ";
    let fault = "{ openat: { path: { glob: usr/bin/mawk }, error: EIO } }";
    passes(&makes_links(&calls, fault, told));
    let folder = merged();
    let there = folder.path().to_str().expect("text");
    let before = format!("os.chdir('{there}')\n");
    for path in ["bin/awk", "usr/bin/awk", "bin/mawk", "usr/bin/mawk"] {
        let fault = format!("{{ openat: {{ path: {there}/{path}, error: EIO }} }}");
        passes(&tries(&before, &calls, (&fault, told)));
    }
}

#[test]
fn a_call_that_looks_at_a_link_is_not_about_what_that_leads_to() {
    require!(right_to_trace());
    require!(program("python3"));
    let calls = [
        "os.lstat('bin/awk')",
        "os.lstat('usr/bin/awk')",
        "os.lstat('bin/mawk')",
        "os.stat('bin/awk')",
        "os.lstat('bin/')",
        "os.lstat('bin')",
    ];
    let fault = |test: &str| format!("{{ newfstatat: {{ path: {test}, error: EIO }} }}");
    let of_link = fault("{ glob: usr/bin/awk }");
    passes(&makes_links(&calls, &of_link, "5 5 yes yes yes yes "));
    let of_file = fault("{ glob: usr/bin/mawk }");
    passes(&makes_links(&calls, &of_file, "yes yes 5 5 yes yes "));
    let of_folder = fault("{ glob: usr/bin }");
    passes(&makes_links(&calls, &of_folder, "yes yes yes yes 5 yes "));
}

#[test]
fn what_is_not_there_is_called_as_it_would_be_behind_links() {
    require!(right_to_trace());
    require!(program("python3"));
    let calls = [
        "os.open('bin/none', 0)",
        "os.open('bin/none/deep', 0)",
        "os.open('bin/mawk/deep', 0)",
        "os.open('dangling', 0)",
        "os.open('dangling/', 0)",
        "os.open('bin/../none', 0)",
        "os.open('none', 0)",
        "os.open('round', 0)",
        "os.open('round/none', 0)",
    ];
    let fault = "{ openat: { path: { glob: \"usr/**\" }, when: \"2..\", error: EIO } }";
    // The first is that of `data`, and what the kernel says of the others stands behind them.
    passes(&makes_links(&calls, fault, "5 5 5 5 5 5 2 40 40 "));
}

#[test]
fn a_file_is_one_by_the_links_of_procfs() {
    require!(right_to_trace());
    require!(program("python3"));
    let calls = [
        "os.open(f'/proc/self/fd/{data}', 0)",
        "os.open(f'/proc/thread-self/fd/{data}', 0)",
        "os.open(f'/dev/fd/{data}', 0)",
        "os.open('/proc/self/cwd/bin/data', 0)",
        "os.open('/proc/self/root' + here + '/bin/data', 0)",
        "os.open('/proc/self/cwd/bin/mawk', 0)",
        "os.open('/proc/self/maps', 0)",
        "os.open('/proc/self/mem', 0)",
        "os.open('/proc/self/none', 0)",
        "os.open('/proc/self/fd/99', 0)",
        "os.open('/dev/fd/99', 0)",
        "os.open('/dev/stdin', 0)",
    ];
    let fault = "{ openat: { path: { glob: usr/bin/data }, when: \"2..\", error: EIO } }";
    let told = "5 5 5 5 5 yes yes yes 2 2 2 yes ";
    passes(&makes_links(&calls, fault, told));
}

#[test]
fn a_file_that_is_written_out_is_meant_under_its_later_names_and_one_that_replaces_it_too() {
    require!(right_to_trace());
    require!(program("python3"));
    let calls = [
        "os.rename('usr/bin/data', 'moved')",
        "os.open('moved', 0)",
        "os.open('usr/bin/data', 0)",
        "os.link('moved', 'linked')",
        "os.open('linked', 0)",
        "os.unlink('moved')",
        "os.unlink('linked')",
        "os.close(data)",
        // It may get the inode's number.
        "os.mkfifo('fresh')",
        "os.open('fresh', os.O_RDWR)",
    ];
    let fault = "{ openat: { path: usr/bin/data, when: \"2..\", error: EIO } }";
    let told = "yes 5 5 yes 5 yes yes yes yes yes ";
    passes(&makes_links(&calls, fault, told));
}

#[test]
fn a_thread_with_a_folder_of_its_own_begins_there() {
    require!(right_to_trace());
    require!(program("python3"));
    let lines = "import ctypes, threading\n\
                 def work():\n  \
                 ctypes.CDLL(None).unshare(0x200)\n  \
                 os.chdir('bin')\n  \
                 tell(lambda: os.open('mawk', 0))\n  \
                 tell(lambda: os.open('../mawk', 0))\n\
                 def other():\n  \
                 it = threading.Thread(target=work)\n  \
                 it.start()\n  \
                 it.join()\n\
                 os.mkdir('bin')\n\
                 open('bin/mawk', 'w').close()\n";
    let calls = ["other()", "os.open('mawk', 0)", "os.open('bin/mawk', 0)"];
    let fault = "{ openat: { path: { glob: bin/mawk }, when: \"2..\", error: EIO } }";
    passes(&tries(lines, &calls, (fault, "5 2 yes 2 5 ")));
}

#[test]
fn where_a_hard_link_of_the_run_makes_a_difference_the_call_and_both_names_are_told() {
    require!(right_to_trace());
    require!(program("python3"));
    let calls = ["os.link('usr/bin/data', 'other')", "os.open('other', 0)"];
    let fault = "{ openat: { path: { glob: \"usr/**\" }, when: 1, delay: 1ms } }";
    let yaml = makes_links(&calls, fault, "yes yes ");
    let (verdict, why) = verdict(&yaml);
    assert_eq!(verdict, "incomplete", "{why}");
    for part in [
        "counted 1 call, and 2 of the trace are meant",
        "openat(AT_FDCWD, \"other\", O_RDONLY|O_CLOEXEC)",
        "is `$DIR/other`, `$DIR/usr/bin/data` by the trace, and was `$DIR/other` while it was held",
    ] {
        assert!(why.contains(part), "{part} in {why}");
    }
}
