//! The world of a workload, without its trace: a user who may not trace has it too.

use std::ffi::CString;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::Signal;
use perf_live::sandbox::{Base, Content, File, WorkDir, Workload, World, launch};
use perf_live::sandbox::{Root, WorldSpec};
use perf_live::sys::removal::Members;
use perf_live::units::ExitKind;

use crate::cork::{end_of, own_world, workload};
use crate::support::PATIENCE;
use crate::support::fifo::Fifo;
use crate::support::process::Started;
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// What `sh` says of its world, a line each.
fn say(world: &World, script: &str) -> String {
    let base = Base::new(None, Members::Kill).expect("a base");
    let directory = WorkDir::lay_out(base.into(), &[], None).expect("a working directory");
    let corked = launch(&Workload {
        directory: Some(directory.path().to_owned()),
        environment: vec![CString::from(c"PATH=/usr/sbin:/usr/bin:/sbin:/bin")],
        ..workload(&["sh", "-c", script], world)
    });
    let exited = end_of(corked.expect("a cork").uncork(PATIENCE).expect("a world"));
    let [stdout, stderr] = exited.outputs.expect("captured outputs");
    let said = String::from_utf8_lossy(&stdout.bytes).into_owned();
    assert_eq!(
        exited.exit,
        ExitKind::Code(0),
        "{said}{}",
        String::from_utf8_lossy(&stderr.bytes)
    );
    said
}

const LOOK: &str = "pwd; hostname; echo $$ $PPID; ls /tmp /run /dev; touch here /tmp/there; \
                    ! touch /etc/x 2>/dev/null; ! touch /usr/x 2>/dev/null; \
                    tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; date +%Z; cat < /dev/null; echo x > /dev/null";

const SEEN: &str = "/tmp/sandbox\nsandbox\n2 1\n/dev:\ncore\nfd\nfull\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzero\n\
                    \n/run:\n\n/tmp:\nsandbox\nlo\nUTC\n";

#[test]
fn a_world_has_what_is_documented_and_nothing_else() {
    require!(right_to_trace());
    assert_eq!(say(&own_world(&WorldSpec::default()), LOOK), SEEN);
}

/// Says all that a workload can see of a world: what is mounted and how, every file of its own
/// folders, names, descriptors, limits, what the network has and has counted.
const LOOK_ROUND: &str = "cut -d' ' -f5- /proc/self/mountinfo | sed s/harness-base.*// | sort; \
    find /dev /run /tmp | sort; stat -c '%n %a %s' . /dev /run /tmp /dev/shm /dev/pts; hostname; \
    umask; ulimit -a; env | sort; ls /proc/self/fd; ls -d /proc/[0-9]*; cat /proc/sysvipc/*; \
    cat /proc/net/dev /proc/net/snmp /proc/net/netstat /proc/net/tcp /proc/net/unix /proc/net/route \
    | sed 's/^[0-9a-f]*: //'";

/// Leaves behind what it can, in all of these.
const LEAVE: &str = "umask 077; ulimit -n 20; export LEFT=1; exec 9</dev/null; \
    touch left /tmp/left /run/left /dev/shm/left /dev/left; chmod 700 /tmp /run; \
    hostname left; mkdir over; mount -t tmpfs left over; \
    python3 -c '
import socket, ctypes
server = socket.create_server((\"127.0.0.1\", 4000))
client = socket.create_connection((\"127.0.0.1\", 4000))
server.accept()[0].close()
client.close()
socket.socket(socket.AF_UNIX).bind(\"\\0left\")
ctypes.CDLL(None).shmget(7, 4096, 0o1600)
with open(\"/proc/net/tcp\") as sockets: print(len(sockets.readlines()))
'; ls /tmp";

#[test]
fn nothing_that_a_workload_leaves_in_its_world_is_in_the_next() {
    require!(right_to_trace());
    require!(program("python3"));
    let world = own_world(&WorldSpec::default());
    let first = say(&world, LOOK_ROUND);
    for _ in 0..3 {
        let left = say(&world, LEAVE);
        // The server's end of the connection, and the server and the other end as well while they
        // are being closed; and the file.
        let (sockets, files) = left.split_once('\n').expect("two parts");
        assert!(sockets.parse::<u32>().expect("a number") > 1, "{left}");
        assert_eq!(files, "left\nsandbox\n");
        assert_eq!(say(&world, LOOK_ROUND), first);
    }
}

/// Not a test by itself: the next one runs it as another user.
#[test]
#[ignore = "a part of another test, which runs it as a process of its own"]
fn says_what_it_sees() {
    let world = own_world(&WorldSpec::default());
    print!("{}", say(&world, LOOK));
    let host = own_world(&WorldSpec {
        root: Root::Host,
        ..WorldSpec::default()
    });
    print!("{}", say(&host, "id -u; id -ur; touch here; hostname"));
}

#[test]
fn an_ordinary_user_has_the_same_world() {
    require!(right_to_trace());
    let this = std::env::current_exe().expect("this program");
    // Where everybody may execute it.
    let place = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let program = place.path().join("tests");
    // Not by this process: what is started beside would hold the copy open for writing.
    let copied = Command::new("cp").arg(this).arg(&program).status();
    assert!(copied.expect("cp").success());
    std::fs::set_permissions(
        place.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .expect("permissions");
    let run = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(program)
        .args([
            "--ignored",
            "--exact",
            "world::says_what_it_sees",
            "--nocapture",
            "--quiet",
        ])
        .env_remove("TMPDIR")
        .output()
        .expect("setpriv of util-linux");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let expected = format!("{SEEN}65534\n65534\nsandbox\n");
    assert!(said.contains(&expected), "{said}");
}

/// In a process of its own: other tests start programs in ways that know nothing of what is laid
/// out here.
#[test]
fn a_program_that_was_just_laid_out_can_be_executed_whatever_starts_beside_it() {
    let this = std::env::current_exe().expect("this program");
    let run = Command::new(this)
        .args([
            "--ignored",
            "--exact",
            "world::lays_programs_out_and_executes_them",
        ])
        .output()
        .expect("this program");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

/// A child that another thread makes has a copy of what is open here, for as long as it takes to
/// close it: a program that is open for writing in anybody cannot be executed.
#[test]
#[ignore = "a part of another test, which runs it as a process of its own"]
fn lays_programs_out_and_executes_them() {
    let base = Arc::new(Base::new(None, Members::Kill).expect("a base"));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let others = || {
            while !is_over.load(Ordering::Relaxed) {
                drop(launch(&workload(&["true"], &World::Host)).expect("a cork"));
            }
        };
        scope.spawn(others);
        scope.spawn(others);
        let program = std::fs::read("/bin/true").expect("true");
        let refused = (0..400).find_map(|_| {
            let file = File {
                path: "program".into(),
                content: Content::Bytes(program.clone()),
                mode: Some(0o755),
                owner: None,
            };
            let directory = WorkDir::lay_out(Arc::clone(&base), &[file], None).expect("laid out");
            let corked = launch(&Workload {
                directory: Some(directory.path().to_owned()),
                ..workload(&["./program"], &World::Host)
            });
            corked.expect("a cork").uncork(PATIENCE).err()
        });
        is_over.store(true, Ordering::Relaxed);
        assert!(refused.is_none(), "{refused:?}");
    });
}

#[test]
fn a_command_can_be_traced_in_a_world_of_its_own_which_ends_with_a_signal_to_the_harness() {
    require!(right_to_trace());
    let project = Project::new();
    let script = "pwd; hostname; ! touch /etc/x 2>/dev/null";
    let arguments = ["trace", "--sandbox", "-o", "trace", "-e", "openat", "--"];
    let run = project.harness(&[&arguments[..], &["sh", "-c", script]].concat());
    run.assert_status(0);
    assert_eq!(run.stdout, "/tmp/sandbox\nsandbox\n");
    let refused = "openat(AT_FDCWD, \"/etc/x\"";
    let trace = project.read("trace");
    assert!(
        trace
            .lines()
            .any(|line| line.contains(refused) && line.contains("EROFS")),
        "{trace}"
    );
    let mut fifo = Fifo::new(&project.join("fifo"));
    let endless = "echo ready; exec sleep infinity";
    let mut command = project.program(&[&arguments[..], &["sh", "-c", endless]].concat());
    let output = std::fs::OpenOptions::new().write(true).open(fifo.path());
    let mut harness = Started::new(command.stdout(output.expect("the fifo")));
    drop(command);
    fifo.wait_for_lines(1);
    assert_eq!(harness.end_by(Signal::SIGTERM), 137);
    fifo.wait_for_end();
    project.assert_nothing_left();
}
