//! Ways in which a test of power cuts would pass though it says nothing.

use super::{crash, is_unknown, python, shell};
use crate::support::require::{program, require, right_to_trace};

/// What was promised is there.
const HELD: &str = "recovers: { shell: '[ ! -s acknowledged ] || grep -q NEW old' }";

#[test]
fn a_workload_that_changes_nothing_fails_as_it_has_nothing_to_lose() {
    require!(right_to_trace());
    let project = shell("cat old", "recovers: { run: ['true'] }");
    let run = project.harness(&["run", "scenarios/it.yaml"]);
    run.assert_status(1);
    assert!(run.stdout.contains("changed nothing"), "{}", run.stdout);
    let run = project.harness(&["crash", "scenarios/it.yaml"]);
    run.assert_status(1);
    assert!(run.stderr.contains("changed nothing"), "{}", run.stderr);
}

#[test]
fn a_sync_of_another_file_system_makes_nothing_durable_here() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = |folder: &str| {
        format!(
            "import ctypes, os\nfile = os.open('old', os.O_RDWR)\nos.write(file, b'NEW')\n\
             folder = os.open('{folder}', os.O_RDONLY)\n\
             assert ctypes.CDLL(None).syncfs(folder) == 0\nos.write(1, b'saved')"
        )
    };
    // Where `syncfs` makes durable what was written over other data.
    let held = &format!("model: ext4, {HELD}");
    crash(&python(&script("."), held), 0, &[]);
    crash(&python(&script("/proc"), held), 1, &[]);
}

#[test]
fn a_sync_of_other_memory_or_of_another_page_keeps_no_store() {
    require!(right_to_trace());
    require!(program("python3"));
    // In pieces of a page, so that there are few states.
    let held = &format!("model: {{ base: posix, torn: 4096 }}, {HELD}");
    let script = |sync: &str| {
        format!(
            "import mmap, os\nfile = os.open('old', os.O_RDWR)\n\
             os.write(file, b'o' * 8192)\nos.fsync(file)\n\
             map = mmap.mmap(file, 8192)\nother = mmap.mmap(-1, 4096)\n\
             map[5000:5003] = b'NEW'\n{sync}\nos.write(1, b'saved')"
        )
    };
    crash(&python(&script("map.flush(4096, 4096)"), held), 0, &[]);
    crash(&python(&script("map.flush()"), held), 0, &[]);
    crash(&python(&script("map.flush(0, 4096)"), held), 1, &[]);
    crash(&python(&script("other.flush()"), held), 1, &[]);
}

#[test]
fn a_sync_of_some_bytes_of_a_page_is_one_of_the_page() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = |length: &str| {
        format!(
            "import ctypes, mmap, os\nfile = os.open('old', os.O_RDWR)\n\
             os.write(file, b'o' * mmap.PAGESIZE)\nos.fsync(file)\n\
             map = mmap.mmap(file, mmap.PAGESIZE)\nmap[8:11] = b'NEW'\n\
             at = ctypes.addressof(ctypes.c_char.from_buffer(map))\n\
             assert ctypes.CDLL(None).msync(ctypes.c_void_p(at), ctypes.c_size_t({length}), 4) == 0\n\
             os.write(1, b'saved')"
        )
    };
    crash(&python(&script("8"), HELD), 0, &[]);
    crash(&python(&script("0"), HELD), 1, &[]);
}

#[test]
fn a_sync_of_memory_that_is_read_only_is_none_of_its_file() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import ctypes, os\nfile = os.open('old', os.O_RDWR)\nos.write(file, b'NEW')\n\
                  libc, size = ctypes.CDLL(None), ctypes.c_size_t(4096)\n\
                  libc.mmap.restype = ctypes.c_void_p\nfile = os.open('old', os.O_RDONLY)\n\
                  at = ctypes.c_void_p(libc.mmap(None, size, 1, 1, file, ctypes.c_long(0)))\n\
                  assert libc.msync(at, size, 4) == 0\nos.write(1, b'saved')";
    is_unknown(&python(script, HELD), "no store is allowed");
}

#[test]
fn a_write_that_is_a_sync_keeps_nothing_that_was_written_before_elsewhere() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = |flags: &str| {
        format!(
            "import os\nfile = os.open('old', os.O_RDWR)\n\
             os.pwritev(file, [b'NEW'], 0, {flags})\n\
             os.pwritev(file, [b'x'], 4096, os.RWF_DSYNC)\nos.write(1, b'saved')"
        )
    };
    crash(&python(&script("os.RWF_DSYNC"), HELD), 0, &[]);
    crash(&python(&script("0"), HELD), 1, &[]);
}

#[test]
fn a_store_that_comes_before_a_promise_may_be_on_the_disk_before_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import mmap, os\nfile = os.open('old', os.O_RDWR)\nmap = mmap.mmap(file, 4)\n\
                  map[0:3] = b'NEW'\nos.write(1, b'saved')";
    // What is not promised must not show.
    let hidden = "recovers: { shell: '[ -s acknowledged ] || ! grep -q NEW old' }";
    crash(&python(script, hidden), 1, &[]);
}

#[test]
fn memory_that_has_the_number_of_a_file_is_not_that_file() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import mmap, os\nmemory = os.memfd_create('it')\nos.write(memory, b'x' * 4096)\n\
                  map = mmap.mmap(memory, 4096)\nmap[0:1] = b'y'\nos.fsync(memory)\n\
                  file = os.open('old', os.O_RDWR)\nos.write(file, b'NEW')\nos.fsync(file)\n\
                  os.write(1, b'saved')";
    crash(&python(script, HELD), 0, &[]);
}

#[test]
fn a_name_that_is_there_for_a_moment_alone_is_not_taken_for_what_was_promised() {
    require!(right_to_trace());
    let script = "ln -s /dev/shm/elsewhere acknowledged; rm acknowledged; echo x > new";
    let project = shell(script, "recovers: { run: ['true'] }");
    is_unknown(&project, "has a file `acknowledged`");
    let script = "mv old ended; mv ended old";
    let project = shell(script, "recovers: { run: ['true'] }");
    is_unknown(&project, "has a file `ended`");
}

#[test]
fn what_is_changed_by_another_path_and_changed_back_makes_the_run_incomplete() {
    require!(right_to_trace());
    require!(program("python3"));
    // open_tree or open_tree_attr (Linux 6.15), AT_FDCWD, OPEN_TREE_CLONE
    let open = "libc.syscall(428, -100, b'.', 1)";
    let with_attributes =
        format!("libc.syscall(467, -100, b'.', 1, 0, 0)\nif tree < 0: tree = {open}");
    for open in [open, &with_attributes] {
        let script = format!(
            "import ctypes, os\nlibc = ctypes.CDLL(None)\ntree = {open}\nassert tree >= 0\n\
             file = os.open('old', os.O_RDWR, dir_fd=tree)\nos.write(file, b'bad')\n\
             os.pwrite(file, b'old', 0)\nos.mkdir('new')"
        );
        let project = python(&script, "recovers: { run: ['true'] }");
        is_unknown(&project, "changed where files are");
    }
}

#[test]
fn a_recovery_that_could_see_what_the_run_left_elsewhere_is_refused() {
    for sandbox in ["none", "{ root: host }"] {
        let project = shell("> new", "recovers: { run: ['true'] }");
        let path = project.path().join("scenarios/it.yaml");
        let text = std::fs::read_to_string(&path).expect("a scenario");
        std::fs::write(&path, format!("{text}sandbox: {sandbox}\n")).expect("written");
        let run = project.harness(&["run", "scenarios/it.yaml"]);
        run.assert_status(2);
        assert!(
            run.stderr.contains("`crash` needs a sandbox"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("it.yaml:"), "{}", run.stderr);
    }
}

#[test]
fn a_mode_of_the_watched_folder_itself_is_in_states() {
    require!(right_to_trace());
    let held = "recovers: { shell: '[ ! -s acknowledged ] || [ $(stat -c %a FOLDER) = 711 ]' }";
    for (folder, watch) in [(".", ""), ("data", "watch: [data], ")] {
        let script = |sync: &str| format!("chmod 711 {folder}; {sync} echo saved");
        let held = format!("{watch}{}", held.replace("FOLDER", folder));
        let synced = script(&format!("sync {folder};"));
        crash(&shell(&synced, &held), 0, &[]);
        crash(&shell(&script(""), &held), 1, &[]);
    }
}

#[test]
fn a_recovery_that_does_not_look_at_what_was_written_is_told_of() {
    require!(right_to_trace());
    let is_blind = "it does not look at what was written";
    let looks = "c=$(cat f 2>/dev/null); [ -z \\\"$c\\\" ] || [ \\\"$c\\\" = x ]";
    for (recovery, is_told) in [("test ! -d f", true), (looks, false)] {
        let recovers = format!("recovers: {{ shell: \"{recovery}\" }}");
        let project = shell("printf x > f", &recovers);
        for words in [&["run", "scenarios"], &["crash", "scenarios/it.yaml"]] {
            let run = project.harness(words);
            run.assert_status(0);
            assert_eq!(run.stdout.contains(is_blind), is_told, "{}", run.stdout);
        }
        let is_blind = |status, options| {
            let lines = super::crash(&project, status, options);
            lines.last().expect("a last line")["blind"].clone()
        };
        assert_eq!(is_blind(0, &[]), is_told);
        // One state says nothing of the recovery as a whole.
        assert_eq!(is_blind(0, &["--state", "1"]), serde_json::Value::Null);
    }
}

#[test]
fn bytes_that_were_there_before_are_written_all_the_same_and_a_recovery_may_be_blind_to_them() {
    require!(right_to_trace());
    let recovers = "recovers: { run: ['true'] }";
    let project = shell("printf 'old\\n' > old", recovers);
    let lines = super::crash(&project, 0, &[]);
    assert_eq!(lines.last().expect("a last line")["blind"], true);
    // Nothing was written that could be other bytes.
    let project = shell("mkdir d", recovers);
    let lines = super::crash(&project, 0, &[]);
    assert_eq!(lines.last().expect("a last line")["blind"], false);
}

#[test]
fn a_recovery_that_fails_is_not_asked_whether_it_looks() {
    require!(right_to_trace());
    let recovers = "recovers: { shell: 'test ! -e f' }";
    let lines = super::crash(&shell("printf x > f", recovers), 1, &[]);
    assert_eq!(
        lines.last().expect("a last line")["blind"],
        serde_json::Value::Null
    );
}

#[test]
fn a_filter_that_has_calls_refused_by_a_tracer_makes_the_run_incomplete() {
    require!(right_to_trace());
    require!(program("python3"));
    // prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER): all calls of a number ask.
    let script = |number: &str| {
        format!(
            "import ctypes, os, platform, struct\nlibc = ctypes.CDLL(None)\n\
             is_arm = platform.machine() == 'aarch64'\n\
             code = b''.join(struct.pack('HBBI', *it) for it in ((0x20, 0, 0, 0), \
             (0x15, 0, 1, {number}), (6, 0, 0, 0x7ff00000), (6, 0, 0, 0x7fff0000)))\n\
             room = ctypes.create_string_buffer(code)\nlibc.prctl(38, 1, 0, 0, 0)\n\
             program = struct.pack('HxxxxxxQ', 4, ctypes.addressof(room))\n\
             assert libc.prctl(22, 2, program, 0, 0) == 0\nos.mkdir('new')"
        )
    };
    let held = "recovers: { run: ['true'] }";
    is_unknown(
        &python(&script("82 if is_arm else 74"), held),
        "SECCOMP_RET_TRACE",
    );
    crash(&python(&script("141 if is_arm else 140"), held), 0, &[]);
}

#[test]
fn what_is_allocated_or_cleared_may_be_on_the_disk_before_what_was_written_beside_it() {
    require!(right_to_trace());
    require!(program("python3"));
    // fallocate(2) of new room, and with FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE.
    let script = |mode: u32, length: u32, sync: &str| {
        format!(
            "import ctypes, os\nfile = os.open('old', os.O_RDWR)\n\
             os.pwrite(file, b'x' * 8192, 0)\nos.fsync(file)\nos.pwrite(file, b'NEW', 4096)\n{sync}\n\
             assert ctypes.CDLL(None).fallocate(file, {mode}, ctypes.c_long(0), ctypes.c_long({length})) == 0\n\
             os.fsync(os.open('.', os.O_RDONLY))"
        )
    };
    // In pieces of a page, so that there are few states.
    let held = |is_done: &str| {
        format!(
            "model: {{ base: posix, torn: 4096 }}, \
             recovers: {{ shell: '{is_done} || grep -q NEW old' }}"
        )
    };
    for (mode, length, not_done) in [
        (0, 12288, "[ $(stat -c %s old) -le 8192 ]"),
        (3, 4096, "head -c 1 old | grep -q [ox]"),
    ] {
        let held = held(not_done);
        crash(&python(&script(mode, length, ""), &held), 1, &[]);
        crash(
            &python(&script(mode, length, "os.fsync(file)"), &held),
            0,
            &[],
        );
    }
}

#[test]
fn a_ring_of_operations_is_refused_or_makes_the_run_incomplete() {
    require!(right_to_trace());
    require!(program("python3"));
    for (number, name) in [(425, "io_uring_setup"), (CALL_OF_AIO, "io_setup")] {
        let script = format!(
            "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
             room = ctypes.create_string_buffer(120)\nopen('new', 'w').close()\n\
             if libc.syscall({number}, 1, room) < 0: assert ctypes.get_errno() == 38\n\
             else: open('made', 'w').close()"
        );
        let held = "recovers: { shell: '[ ! -e made ]' }";
        let project = python(&script, held);
        crash(&project, 0, &[]);
        let run = project.harness(&["run", "scenarios/it.yaml"]);
        let said = format!("{name} was answered with ENOSYS");
        assert!(run.stdout.contains(&said), "{}", run.stdout);
        let project = python(&script, &format!("io_uring: incomplete, {held}"));
        // No call that a ring could do as well is asked for, which is incomplete in any run.
        let text = project.read("scenarios/it.yaml");
        project.write("scenarios/it.yaml", &text.replace("[fsync]", "[getpid]"));
        is_unknown(&project, &format!("{name} was made"));
    }
}

/// The number of `io_setup(2)`.
const CALL_OF_AIO: u32 = if cfg!(target_arch = "x86_64") { 206 } else { 0 };

#[test]
fn a_store_may_be_on_the_disk_without_what_was_written_to_the_page_behind_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = |store: &str| {
        format!(
            "import mmap, os\nfile = os.open('old', os.O_RDWR)\nos.write(file, b'o' * 4096)\n\
             os.fsync(file)\nmap = mmap.mmap(file, 4096)\n{store}os.pwrite(file, b'end', 100)\n\
             map[0:3] = b'NEW'\nos.fsync(file)"
        )
    };
    let held = "model: { base: posix, torn: 4096 }, \
                recovers: { shell: '[ \"$(head -c 3 old)\" != NEW ] || grep -q end old' }";
    // Of what is stored behind the write a page never has without it.
    crash(&python(&script(""), held), 0, &[]);
    crash(&python(&script("map[0:3] = b'NEW'\n"), held), 1, &[]);
}

#[test]
fn a_run_that_writes_more_than_there_is_room_for_is_incomplete() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nfile = os.open('old', os.O_RDWR)\n\
                  for _ in range(9): os.pwrite(file, b'x' * (64 << 20), 0)";
    is_unknown(
        &python(script, "recovers: { run: ['true'] }"),
        "more than 512 MiB",
    );
}

#[test]
fn of_two_pages_each_may_be_on_the_disk_alone_but_where_a_model_keeps_all_in_order() {
    require!(right_to_trace());
    require!(program("python3"));
    // Stored into the first page, then written to the second.
    let script = "import mmap, os\nfile = os.open('old', os.O_RDWR)\nos.write(file, b'o' * 8192)\n\
                  os.fsync(file)\nmap = mmap.mmap(file, 8192)\nmap[0:3] = b'NEW'\n\
                  os.pwrite(file, b'end', 5000)\nos.fsync(file)";
    for (model, first, other, status) in [
        ("{ base: posix, torn: 4096 }", "NEW", "end", 1),
        ("{ base: posix, torn: 4096 }", "end", "NEW", 1),
        ("ordered", "NEW", "end", 1),
        ("ordered", "end", "NEW", 0),
    ] {
        let held = format!(
            "model: {model}, recovers: {{ shell: '! grep -q {first} old || grep -q {other} old' }}"
        );
        crash(&python(script, &held), status, &[]);
    }
}
