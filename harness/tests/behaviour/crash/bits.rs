//! Set-user-ID and set-group-ID bits that the kernel takes by itself are in no state behind that.

use super::{crash, lost, python};
use crate::support::is_root;
use crate::support::require::{program, require, right_to_trace};

/// A program that changes `old` and says which mode stat(2) has for it then.
fn script(change: &str) -> String {
    format!(
        "import os\nfile = os.open('old', os.O_RDWR)\nfolder = os.open('.', os.O_RDONLY)\n{change}\n\
         os.fsync(file)\nos.fsync(folder)\n\
         os.write(1, b'%o' % (os.stat('old').st_mode & 0o7777))"
    )
}

/// What was said of the mode is so.
const SAID: &str = "recovers: { shell: '[ ! -s acknowledged ] || \
                    [ $(stat -c %a old) = $(cat acknowledged) ]' }";

#[test]
fn a_change_of_the_owner_takes_the_bits_with_it() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(is_root());
    for (mode, left) in [("0o4755", 0o755), ("0o6755", 0o755), ("0o2745", 0o2745)] {
        for change in [
            "os.chown('old', 3, 4)",
            "os.lchown('old', 3, -1)",
            "os.fchown(file, -1, 4)",
            "os.chown(f'/proc/self/fd/{file}', 3, 4)",
            "os.chown('old', -1, -1)",
        ] {
            let change = format!("os.chmod('old', {mode})\n{change}");
            let check = format!("assert os.stat('old').st_mode & 0o7777 == {left}");
            let lines = crash(
                &python(&script(&format!("{change}\n{check}")), SAID),
                0,
                &[],
            );
            assert!(
                lines[0]["calls"].to_string().contains("chown(old)"),
                "{lines:?}"
            );
        }
    }
}

#[test]
fn a_change_of_the_owner_and_of_the_mode_that_it_brings_are_lost_together() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(is_root());
    // The file is never one that runs with the rights of its new owner.
    let change = "os.chmod('old', 0o4755)\nos.fsync(file)\nos.chown('old', 3, 4)";
    let held = "recovers: { shell: 'case $(stat -c %u:%a old) in 3:4*) exit 1;; esac' }";
    let lines = crash(&python(&script(change), held), 0, &[]);
    assert!(lost(&lines).is_empty(), "{lines:?}");
}

#[test]
fn who_lacks_the_right_takes_the_bits_by_what_he_writes() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(is_root());
    for change in [
        "os.write(file, b'x')",
        "os.truncate('old', 2)",
        "os.ftruncate(file, 3)",
        "os.close(os.open('old', os.O_WRONLY | os.O_TRUNC))",
        "os.posix_fallocate(file, 0, 100)",
    ] {
        let change = format!(
            "os.chmod('old', 0o6777)\nos.setresuid(7, 7, 7)\n{change}\n\
             assert os.stat('old').st_mode & 0o6000 != 0o6000"
        );
        crash(&python(&script(&change), SAID), 0, &[]);
    }
    // Of a group that the owner is not in.
    let change = "os.chown('old', 7, 8)\nos.setresgid(9, 9, 9)\nos.setgroups([])\n\
                  os.setresuid(7, 7, 7)\nos.chmod('old', 0o2755)\n\
                  assert os.stat('old').st_mode & 0o7777 == 0o755";
    crash(&python(&script(change), SAID), 0, &[]);
}
