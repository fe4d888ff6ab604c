//! What a new scenario suggests, and says, of files that must be on the disk.

use super::{here, new, with_suggestions};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

#[test]
fn a_folder_is_synced_by_whichever_descriptor() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let script = |before: &str, behind: &str| {
        format!(
            "import os\nos.mkdir('e')\n{before}\nnew = os.open('e/new', os.O_CREAT | os.O_WRONLY)\n\
             os.write(new, b'x')\nos.fsync(new)\nos.rename('e/new', 'e/config')\n{behind}\n"
        )
    };
    let open = "folder = os.open('e', os.O_RDONLY)";
    let fsync = Some("fsync: { fd: e, returns: 0 }");
    for (name, before, behind, step, is_lacking) in [
        (
            "plain",
            "",
            &*format!("{open}; os.fsync(folder)"),
            fsync,
            false,
        ),
        ("before", open, "os.fsync(folder)", fsync, false),
        ("all", "", "os.sync()", Some("sync: { returns: 0 }"), false),
        ("none", "", "os.fsync(new)", None, true),
        // Which folder that is the trace does not say.
        (
            "link",
            "os.symlink('e', 'l'); folder = os.open('l', os.O_RDONLY)",
            "os.fsync(folder)",
            None,
            false,
        ),
    ] {
        project.write("save.py", &script(before, behind));
        new(&project, name, &["python3", "save.py"]).assert_status(0);
        let file = format!("scenarios/{name}.yaml");
        let text = project.read(&file);
        let says = text.contains("But nothing syncs the folder");
        assert_eq!(says, is_lacking, "{name}: {text}");
        assert!(!text.contains("But nothing syncs what"), "{text}");
        if let Some(step) = step {
            assert!(text.contains(&format!("  #  - {step}\n")), "{text}");
        }
        project.write(&file, &with_suggestions(&text));
        project.harness(&["run", &file]).assert_status(0);
    }
}

#[test]
fn that_a_file_is_not_synced_is_said_only_of_what_was_written_and_of_the_last_write() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let script = |between: &str| {
        format!(
            "import os\nnew = os.open('new', os.O_CREAT | os.O_RDWR)\n{between}\n\
             os.rename('new', 'config')\n"
        )
    };
    let write = "os.write(new, b'x')";
    let read_only = "import os\nold = os.open('a', os.O_RDONLY)\nos.rename('a', 'b')\n".to_owned();
    let late = script(&format!("{write}; os.fsync(new); {write}"));
    let synced = script(&format!("{write}; os.fsync(new)"));
    let each = script(&format!(
        "{write}; os.pwritev(new, [b'x'], 0, os.RWF_DSYNC)"
    ));
    project.write("a", "x");
    for (name, text, is_replaced, is_lacking) in [
        ("read-only", &read_only, false, false),
        ("late", &late, true, true),
        ("synced", &synced, true, false),
        ("each", &each, true, false),
    ] {
        project.write("save.py", text);
        let words = ["--file", "a", name, "-n", "10", "--", "python3", "save.py"];
        here(&project, &[&["new"][..], &words].concat()).assert_status(0);
        let text = project.read(&format!("scenarios/{name}.yaml"));
        let says = |what: &str| text.contains(what);
        assert_eq!(says("is replaced whole"), is_replaced, "{name}: {text}");
        let lacks = says("But nothing syncs what is in it");
        assert_eq!(lacks, is_lacking, "{name}: {text}");
    }
}

/// Answers three requests, each when it is on the disk.
const STORE: &str = "use IO::Handle;\n\
                     open my $log, '>', 'log' or die;\n\
                     for (1 .. 3) { syswrite $log, 'x'; $log->sync; syswrite STDOUT, \"done\\n\"; }\n";

#[test]
fn what_always_comes_between_is_suggested_and_fails_where_it_comes_too_late() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("store.pl", STORE);
    new(&project, "store", &["perl", "store.pl"]).assert_status(0);
    let text = project.read("scenarios/store.yaml");
    let between = "  #between:\n  #  - first: { write: { fd: log } }\n\
                   \x20 #    then: { write: { fd: stdout } }\n\
                   \x20 #    there_is: { fsync: { fd: log, returns: 0 } }\n";
    assert!(text.contains(between), "{text}");
    let text = with_suggestions(&text) + "snapshot: false\n";
    project.write("scenarios/store.yaml", &text);
    project.harness(&["run", "scenarios"]).assert_status(0);
    // In order there still are a write, a sync and an answer.
    let late = STORE.replace(
        "$log->sync; syswrite STDOUT, \"done\\n\";",
        "syswrite STDOUT, \"done\\n\"; $log->sync;",
    );
    assert_ne!(late, STORE);
    project.write("store.pl", &late);
    let run = project.harness(&["run", "scenarios"]);
    run.assert_status(1);
    assert!(run.stdout.contains("in 3 of 3 cases"), "{run:?}");
}

/// Stores three requests of its client, and answers each by this statement.
fn server(stored: &str) -> String {
    format!(
        "import os, socket\nlistener = socket.socket(socket.AF_UNIX)\nlistener.bind('new')\n\
         listener.listen()\nos.rename('new', 'socket')\n\
         log = os.open('log', os.O_CREAT | os.O_WRONLY)\npeer, _ = listener.accept()\n\
         while data := peer.recv(9):\n    os.write(log, data)\n    {stored}\n"
    )
}

const CLIENT: &str = "import os, socket, time\n\
                      while not os.path.exists('socket'): time.sleep(0.01)\n\
                      server = socket.socket(socket.AF_UNIX)\nserver.connect('socket')\n\
                      for _ in range(3): server.sendall(b'x'); server.recv(9)\n";

#[test]
fn what_comes_behind_a_write_is_a_call_of_the_process_that_wrote() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    project.write("client.py", CLIENT);
    let sync = "os.fsync(log)";
    // The client calls `sendto` too, and nothing of the others.
    for (name, answer, by) in [
        ("sendto", "peer.sendall(b'ok')", ", process: $writer"),
        ("sendmsg", "peer.sendmsg([b'ok'])", ""),
        ("write", "os.write(peer.fileno(), b'ok')", ""),
        ("writev", "os.writev(peer.fileno(), [b'ok'])", ""),
    ] {
        project.write("server.py", &server(&format!("{sync}; {answer}")));
        let command = "python3 server.py & python3 client.py; wait";
        new(&project, name, &["sh", "-c", command]).assert_status(0);
        let file = format!("scenarios/{name}.yaml");
        let text = project.read(&file);
        let between = format!(
            "  #between:\n  #  - first: {{ write: {{ fd: log{by} }} }}\n\
             \x20 #    then: {{ {name}: {{ fd: unix{by} }} }}\n\
             \x20 #    there_is: {{ fsync: {{ fd: log, returns: 0 }} }}\n  # How often"
        );
        assert!(text.contains(&between), "{text}");
        // How often what was done is the same wherever it answers.
        project.write(&file, &(with_suggestions(&text) + "snapshot: false\n"));
        project.harness(&["run", &file]).assert_status(0);
        project.write("server.py", &server(&format!("{answer}; {sync}")));
        let run = project.harness(&["run", &file]);
        run.assert_status(1);
        assert!(run.stdout.contains("in 3 of 3 cases"), "{run:?}");
    }
}

#[test]
fn what_is_stored_through_a_shared_mapping_is_told_of_and_never_said_to_be_in_order() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let script = |more: &str, stored: &str| {
        format!(
            "import ctypes, mmap, os\nfile = os.open('data', os.O_CREAT | os.O_RDWR)\n\
             os.ftruncate(file, 4096)\n{more}\nfor _ in range(3):\n    \
             os.write(file, b'x'); {stored}; os.write(1, b'done')\nos.rename('data', 'config')\n"
        )
    };
    let map = |how: &str| format!("map = mmap.mmap(file, 4096, {how})");
    let shared = map("mmap.MAP_SHARED");
    let read_only = map("mmap.MAP_SHARED, mmap.PROT_READ");
    let private = map("mmap.MAP_PRIVATE");
    let address = "ctypes.addressof(ctypes.c_char.from_buffer(map))";
    let late = format!(
        "{shared}\nasync_ = lambda: \
         ctypes.CDLL(None).msync(ctypes.c_void_p({address}), ctypes.c_size_t(4096), 1)"
    );
    let sync = "os.fsync(file)";
    let told = "# Written through a shared mapping: `data`. Such stores are no calls,\n";
    for (name, before, stored, is_told, is_lacking) in [
        ("none", "", sync, false, false),
        ("private", &private, sync, false, false),
        ("reading", &read_only, sync, false, false),
        ("synced", &shared, sync, true, false),
        ("stored", &shared, "map[0] = 1", true, true),
        ("flushed", &shared, "map.flush()", true, false),
        ("late", &late, "async_()", true, true),
    ] {
        project.write("save.py", &script(before, stored));
        new(&project, name, &["python3", "save.py"]).assert_status(0);
        let file = format!("scenarios/{name}.yaml");
        let text = project.read(&file);
        let says = |what: &str| text.contains(what);
        assert_eq!(says(told), is_told, "{name}: {text}");
        assert_eq!(says("is replaced whole"), !is_told, "{name}: {text}");
        assert_eq!(says("#between:"), !is_told, "{name}: {text}");
        assert_eq!(says("MS_ASYNC is no sync"), name == "late", "{text}");
        let lacks = says("But nothing syncs what is in it");
        assert_eq!(lacks, is_lacking, "{name}: {text}");
        assert!(!says("mmap") && !says("mprotect"), "{text}");
        project.write(&file, &with_suggestions(&text));
        project.harness(&["run", &file]).assert_status(0);
    }
}

#[test]
fn a_file_that_is_taken_away_before_the_rename_is_not_replaced_whole() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    project.write("config", "old");
    for (name, before, call) in [
        ("unlinked", "os.unlink('config')", Some("unlink")),
        ("kept", "os.rename('config', 'backup')", Some("rename")),
        (
            "linked",
            "os.link('config', 'backup'); os.unlink('backup')",
            None,
        ),
        (
            "again",
            "os.unlink('config'); os.close(os.open('config', os.O_CREAT | os.O_WRONLY))",
            None,
        ),
        ("emptied", "open('config', 'w').close()", Some("openat")),
    ] {
        let script = format!(
            "import os\nnew = os.open('new', os.O_CREAT | os.O_WRONLY)\nos.write(new, b'x')\n\
             os.fsync(new)\n{before}\nos.rename('new', 'config')\n"
        );
        project.write("save.py", &script);
        new(&project, name, &["python3", "save.py", "config"]).assert_status(0);
        let text = project.read(&format!("scenarios/{name}.yaml"));
        let whole = text.contains("`config` is replaced whole:");
        assert_eq!(whole, call.is_none(), "{name}: {text}");
        if let Some(call) = call {
            let why =
                format!("`config` is not replaced whole: `{call}` takes or empties the old one");
            assert!(text.contains(&why), "{name}: {text}");
        }
    }
}

#[test]
fn a_sync_of_a_mapping_shows_its_file_by_its_lasting_name() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import mmap, os, tempfile\n\
                  for file in os.open('data', os.O_CREAT | os.O_RDWR), tempfile.mkstemp(dir='.')[0]:\n    \
                  os.ftruncate(file, 4096); map = mmap.mmap(file, 4096); map.flush()\n";
    let yaml = "workload: { run: [python3, save.py], files: { save.py: { from: ../save.py } } }\n\
                trace: { events: [{ syscalls: [msync, mmap] }], since: main }\n\
                expect: { sequence: [{ msync: { start: \"<$DIR/data>\", flags: MS_SYNC } }] }\n\
                snapshot: { temporary: [\"tmp*\"], hide: [mmap] }\n";
    let project = Project::with("map", yaml);
    project.write("save.py", script);
    project
        .harness(&["run", "scenarios", "--update"])
        .assert_status(0);
    let lines = "  msync(<$DIR/data>, 4096, MS_SYNC) = 0\n\
                 \x20 msync(<$DIR/<temporary:1>>, 4096, MS_SYNC) = 0\n";
    let snapshot = project.read("snapshots/map.snap");
    assert!(snapshot.contains(lines), "{snapshot}");
    project.harness(&["run", "scenarios"]).assert_status(0);
}

#[test]
fn a_program_that_keeps_data_is_offered_a_test_of_power_cuts() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let offered = "#crash: { recovers: { run: [./check] } }\n";
    for (name, script, is_offered) in [
        (
            "sync",
            "import os; os.fsync(os.open('f', os.O_CREAT | os.O_WRONLY))",
            true,
        ),
        (
            "rename",
            "import os; open('f', 'w').write('x'); os.rename('f', 'g')",
            true,
        ),
        (
            "failed",
            "import os; os.path.exists('f') and os.rename('f', 'g')",
            false,
        ),
        ("write", "open('f', 'w').write('x')", false),
    ] {
        new(&project, name, &["python3", "-c", script]).assert_status(0);
        let file = format!("scenarios/{name}.yaml");
        let text = project.read(&file);
        assert_eq!(text.contains(offered), is_offered, "{name}: {text}");
        if is_offered {
            let taken = "crash: { recovers: { run: ['true'] } }\n";
            project.write(&file, &text.replace(offered, taken));
            project.harness(&["run", &file]).assert_status(0);
        }
    }
}
