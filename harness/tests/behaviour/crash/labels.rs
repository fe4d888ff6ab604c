//! Extended attributes are in states like all else that a file has.

use super::{crash, is_unknown, lost, python, shell};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use perf_live::sys::xattr;

/// A file system for sandboxes whose files have attributes of users (tmpfs since Linux 6.6).
fn attributes_of_files() -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = dir.path();
    let mut names = xattr::set(path, b"user.k", b"v").and_then(|()| xattr::names(path));
    if let Ok(names) = &mut names {
        names.retain(|name| name == b"user.k");
    }
    match names {
        Ok(names) if !names.is_empty() => Ok(()),
        _ => Err("files of this file system have no attributes of users".to_owned()),
    }
}

const HELD: &str = "recovers: { run: [python3, -c, \
    \"import os; s = os.path.getsize('acknowledged'); \
    assert not s or os.getxattr('old', 'user.k') == b'new'\"] }";

/// What a program does that gives a file an attribute and says so.
fn set(how: &str, sync: &str) -> String {
    format!(
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
         file = os.open('old', os.O_RDWR)\n{how}\n{sync}\nos.write(1, b'saved')"
    )
}

#[test]
fn an_attribute_is_durable_with_its_file_and_not_before() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(attributes_of_files());
    for how in [
        "os.setxattr('old', 'user.k', b'new')",
        "os.setxattr(file, 'user.k', b'new')",
        "os.setxattr('old', 'user.k', b'new', follow_symlinks=False)",
        "os.symlink('old', 'link'); os.setxattr('link', 'user.k', b'new')",
        "os.setxattr(file, 'user.k', b'old'); os.setxattr(file, 'user.k', b'new')",
    ] {
        crash(&python(&set(how, "os.fsync(file)"), HELD), 0, &[]);
        let lines = crash(&python(&set(how, ""), HELD), 1, &[]);
        let of_attribute = |it: &String| it.contains("setxattr(") && it.contains("user.k");
        let lost = lost(&lines);
        assert!(
            !lost.is_empty() && lost.iter().any(of_attribute),
            "{lost:?}"
        );
    }
    // Data alone is durable, of which an attribute is no part.
    let how = "os.setxattr(file, 'user.k', b'new')";
    crash(&python(&set(how, "os.fdatasync(file)"), HELD), 1, &[]);
}

#[test]
fn an_attribute_that_was_removed_may_be_back() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(attributes_of_files());
    let gone = "recovers: { run: [python3, -c, \
        \"import os; s = os.path.getsize('acknowledged'); \
        assert not s or not os.listxattr('old')\"] }";
    let how = "os.setxattr(file, 'user.k', b'x')\nos.fsync(file)\n\
               os.removexattr(file, 'user.k')";
    crash(&python(&set(how, "os.fsync(file)"), gone), 0, &[]);
    crash(&python(&set(how, ""), gone), 1, &[]);
}

#[test]
fn attributes_by_the_calls_with_a_folder_are_seen_where_the_kernel_has_them() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(attributes_of_files());
    // setxattrat(folder, path, flags, name, arguments, their size); without it, setxattr.
    let how = |folder: &str, path: &str, flags: &str| {
        format!(
            "class Arguments(ctypes.Structure):\n  \
             _fields_ = [('value', ctypes.c_void_p), ('size', ctypes.c_uint32), \
             ('flags', ctypes.c_uint32)]\n\
             value = ctypes.create_string_buffer(b'new', 3)\n\
             these = Arguments(ctypes.addressof(value), 3, 0)\n\
             done = libc.syscall(463, {folder}, {path}, {flags}, b'user.k', \
             ctypes.byref(these), 16)\n\
             if done: assert ctypes.get_errno() == 38; os.setxattr(file, 'user.k', b'new')"
        )
    };
    for (folder, path, flags) in [
        ("-100", "b'old'", "0"),
        ("-100", "b'old'", "0x100"),
        ("file", "b''", "0x1000"),
        ("file", "None", "0x1000"),
    ] {
        let how = how(folder, path, flags);
        crash(&python(&set(&how, "os.fsync(file)"), HELD), 0, &[]);
        crash(&python(&set(&how, ""), HELD), 1, &[]);
    }
}

#[test]
fn an_attribute_of_the_folder_itself_and_one_that_was_there_are_in_states() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(attributes_of_files());
    let script = |sync: &str| {
        format!(
            "import os\nos.setxattr('.', 'user.k', b'new')\n\
             folder = os.open('.', os.O_RDONLY)\n{sync}\nos.write(1, b'saved')"
        )
    };
    let held = &HELD.replace("'old'", "'.'");
    crash(&python(&script("os.fsync(folder)"), held), 0, &[]);
    crash(&python(&script(""), held), 1, &[]);
}

#[test]
fn attributes_that_mean_something_to_the_kernel_make_the_run_incomplete() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(attributes_of_files());
    let held = "recovers: { run: ['true'] }";
    // A capability, of which a write makes an end; revision 2, nothing permitted.
    let script = "import os\nvalue = bytes.fromhex('01000002') + bytes(16)\n\
                  os.setxattr('old', 'security.capability', value)\n\
                  open('old', 'a').write('x')";
    is_unknown(&python(script, held), "attributes of this kind");
}

#[test]
fn attributes_are_judged_from_a_recording_as_they_were_live() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(attributes_of_files());
    let how = "os.setxattr(file, 'user.k', b'new')";
    let again = |project: &Project, status| {
        let run = project.harness(&["run", "--save", "saved", "scenarios/it.yaml"]);
        run.assert_status(status);
        let run = project.harness(&["run", "--from", "saved/it.data", "scenarios/it.yaml"]);
        run.assert_status(status);
        run.stdout
    };
    again(&python(&set(how, "os.fsync(file)"), HELD), 0);
    let text = again(&python(&set(how, ""), HELD), 1);
    assert!(text.contains("the recovery fails after"), "{text}");
}

#[test]
fn a_list_of_access_that_says_no_more_than_a_mode_is_one() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(attributes_of_files());
    // Tags, bits and ids: the owner, the group, others; or a user by number and the mask as well.
    let list = |entries: &[(u16, u16, u32)]| {
        let entry = |(tag, bits, id): &(u16, u16, u32)| format!("({tag}, {bits}, {id})");
        let entries: Vec<String> = entries.iter().map(entry).collect();
        format!(
            "import os, struct\nall = [{}]\n\
             value = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *it) for it in all)\n\
             file = os.open('old', os.O_RDWR)\n\
             try: os.setxattr(file, 'system.posix_acl_access', value)\n\
             except OSError: os.fchmod(file, 0o640)\n",
            entries.join(", ")
        )
    };
    let all = u32::MAX;
    let plain = list(&[(1, 6, all), (4, 4, all), (0x20, 0, all)]);
    let held = "recovers: { shell: '[ ! -s acknowledged ] || [ $(stat -c %a old) = 640 ]' }";
    let script = |sync: &str| format!("{plain}{sync}\nos.write(1, b'saved')");
    crash(&python(&script("os.fsync(file)"), held), 0, &[]);
    crash(&python(&script(""), held), 1, &[]);
    let named = list(&[
        (1, 6, all),
        (2, 7, 77),
        (4, 4, all),
        (0x10, 7, all),
        (0x20, 0, all),
    ]);
    let named = named.replace(
        "os.fchmod(file, 0o640)",
        "os.setxattr(file, 'security.x', b'x')",
    );
    let project = python(&named, "recovers: { run: ['true'] }");
    is_unknown(&project, "are in no state");
}

#[test]
fn what_is_made_in_a_folder_with_the_set_group_id_bit_has_its_group_and_folders_the_bit() {
    require!(right_to_trace());
    // Only root may give a folder to any group.
    let group = if nix::unistd::Uid::effective().is_root() {
        "7"
    } else {
        "$(id -g)"
    };
    let project = |held: &str| {
        let script = format!("chgrp {group} .; chmod 2755 .; mkdir in; > in/it; sync");
        let recovers = format!("recovers: {{ shell: \"[ ! -e in/it ] || [ {held} ]\" }}");
        shell(&script, &recovers)
    };
    let bit = "$(stat -c %a in) = 2755".to_owned();
    let of_file = format!("$(stat -c %g in/it) = {group}");
    for held in [bit, of_file] {
        crash(&project(&held), 0, &[]);
        crash(&project(&format!("! {held}")), 1, &[]);
    }
}
