//! What a call changes is told by where its path begins for the kernel, and by what it asks for.

use super::{crash, python};
use crate::support::require::{program, require, right_to_trace};

/// A file that is there at each moment.
const THERE: &str = "recovers: { shell: 'test -e old' }";

/// Renames a file and renames it back, with all that was done before on the disk; `PATH` may begin
/// elsewhere by then.
const RENAMES: &str = "import ctypes, os\n\
                       libc, folder = ctypes.CDLL(None), os.open('.', os.O_RDONLY)\n\
                       log = os.open('log', os.O_CREAT | os.O_WRONLY)\nos.fsync(folder)\nBEFORE\n\
                       os.rename('old', 'aside', src_dir_fd=at, dst_dir_fd=at)\nos.fsync(folder)\n\
                       os.write(log, b'x')\nos.fsync(log)\n\
                       os.rename('aside', 'old', src_dir_fd=at, dst_dir_fd=at)\nos.fsync(folder)";

/// The same behind a change of the root, with the same folders in the new one.
const OTHER_ROOT: &str = "at = None\nroot = '/tmp/root'\n\
                          os.makedirs(root + os.getcwd())\nos.chroot(root)";

#[test]
fn a_relative_path_of_a_program_with_another_root_is_below_its_folder() {
    require!(right_to_trace());
    require!(program("python3"));
    for before in ["at = None", OTHER_ROOT, "at = folder\nos.chroot('/tmp')"] {
        let project = python(&RENAMES.replace("BEFORE", before), THERE);
        let lines = crash(&project, 1, &[]);
        assert!(lines[0]["calls"].to_string().contains("aside"), "{lines:?}");
    }
}

#[test]
fn a_path_that_leaves_a_folder_outside_of_the_root_is_gone_as_the_kernel_goes_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nos.mkdir('in')\nos.chdir('in')\nos.mkdir('/tmp/root')\n\
                  os.chroot('/tmp/root')\nos.rename('../old', '../aside')";
    let lines = crash(&python(script, THERE), 1, &[]);
    let calls = lines[0]["calls"].to_string();
    assert!(calls.contains("(old, aside)"), "{calls}");
}

#[test]
fn a_file_that_is_opened_as_a_place_is_neither_made_nor_emptied() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = |flags: &str| {
        format!(
            "import os\nfile = os.open('old', os.O_RDWR)\nos.open('old', {flags})\n\
             os.fsync(file)\nos.write(1, b'erased')\nos.truncate('old', 0)\nos.fsync(file)"
        )
    };
    let held = "recovers: { shell: '[ ! -s acknowledged ] || [ ! -s old ]' }";
    for (flags, status) in [
        ("os.O_PATH | os.O_TRUNC", 1),
        ("os.O_PATH | os.O_CREAT | os.O_TRUNC", 1),
        ("os.O_WRONLY | os.O_TRUNC", 0),
    ] {
        crash(&python(&script(flags), held), status, &[]);
    }
}

#[test]
fn a_path_whose_folder_is_its_root_is_below_it() {
    require!(right_to_trace());
    require!(program("python3"));
    // openat2 with O_WRONLY | O_TRUNC, and RESOLVE_IN_ROOT where the path begins at the root.
    let script = |path: &str, resolve: u32| {
        format!(
            "import ctypes, os\nfolder = os.open('.', os.O_RDONLY)\n\
             how = (ctypes.c_uint64 * 3)(os.O_WRONLY | os.O_TRUNC, 0, {resolve})\n\
             file = ctypes.CDLL(None).syscall(437, folder, b'{path}', how, 24)\n\
             assert file >= 0\nos.write(file, b'old')\nos.fsync(file)"
        )
    };
    for (path, resolve) in [("old", 0), ("/old", 0x10), ("/../old", 0x10), ("old", 0x0e)] {
        let lines = crash(
            &python(&script(path, resolve), "recovers: { shell: 'test -s old' }"),
            1,
            &[],
        );
        assert!(
            lines[0]["calls"].to_string().contains("openat2(old)"),
            "{lines:?}"
        );
    }
}

#[test]
fn a_link_with_a_slash_behind_it_is_followed_whatever_the_call_says_of_links() {
    require!(right_to_trace());
    require!(program("python3"));
    // A mode that is not what it was shows in the last state, which is compared with the folder.
    for change in [
        "if os.geteuid() == 0: os.lchown('link/', -1, 7)",
        "os.chmod('link///', 0o700)",
    ] {
        let script = format!("import os\nos.mkdir('d')\nos.symlink('d', 'link')\n{change}");
        crash(&python(&script, THERE), 0, &[]);
    }
}
