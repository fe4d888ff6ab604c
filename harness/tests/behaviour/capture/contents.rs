//! What is shown of a string: all of it, or that it is not.

use super::{Call, UNREAD, assert_all_read, texts, traced};
use crate::gate::calls_of_32_bits;
use crate::source::bpf_records_calls;
use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

#[test]
fn a_string_is_shown_with_every_byte_and_says_when_it_is_cut() {
    require!(right_to_trace());
    let project = Project::new();
    let script = "stat(''); stat(qq{/it-caf\\xe9\\xff\\x01\\n\\t\\\"\\\\\\x31}); stat('/' . 'x' x 4094); \
                  stat('/' . 'x' x 9000)";
    let calls = traced(&project, "newfstatat", &["perl", "-e", script]);
    let of_script = |word: &str| texts(&calls, 1, word);
    assert_eq!(
        of_script("/it"),
        [r#""/it-caf\351\377\1\n\t\"\\1""#],
        "as strace writes it"
    );
    // The longest legal path (PATH_MAX is 4096 with the zero byte), and one that is longer.
    let lengths = |text: &String| (text.matches('x').count(), text.ends_with("\"..."));
    let long: Vec<_> = of_script("/xx").iter().map(lengths).collect();
    assert_eq!(long, [(4094, false), (4095, true)]);
    assert_all_read(&calls);
    project.assert_nothing_left();
}

#[test]
fn a_vector_is_whole_up_to_64_strings_and_says_when_it_is_cut() {
    require!(right_to_trace());
    let project = Project::new();
    for n in [1, 62, 63, 64, 65, 1000] {
        let script = format!("exec '/bin/true', 1..{n}");
        let calls = traced(&project, "execve", &["perl", "-e", &script]);
        let vector = texts(&calls, 1, "");
        let all = std::iter::once("/bin/true".to_owned()).chain((1..=n).map(|i| i.to_string()));
        let shown: Vec<String> = all.take(64).map(|text| format!("\"{text}\"")).collect();
        let rest = if n < 64 { "]" } else { ", ...]" };
        let expected = format!("[{}{rest}", shown.join(", "));
        assert_eq!(vector.last(), Some(&expected), "{n}");
    }
    project.assert_nothing_left();
}

#[test]
fn an_address_that_nobody_can_read_is_shown_as_an_address() {
    require!(right_to_trace());
    let project = Project::new();
    // perl hands numbers on as they are.
    let (open, execve) = if cfg!(target_arch = "x86_64") {
        (257, 59)
    } else {
        (56, 221)
    };
    let script = format!(
        "my $path = '/bin/true'; syscall({open}, -100, 16, 0); syscall({execve}, $path, 24, 0)"
    );
    let calls = traced(&project, "openat,execve", &["perl", "-e", &script]);
    let opened: Vec<_> = calls
        .iter()
        .filter(|(name, _)| name == "openat")
        .cloned()
        .collect();
    assert_eq!(texts(&opened, 1, "0x"), ["0x10"]);
    let executed = calls.iter().rfind(|(name, _)| name == "execve");
    let vector = executed.and_then(|(_, texts)| texts.get(1));
    assert_eq!(vector.map(String::as_str), Some("0x18"));
    assert_all_read(&calls);
}

#[test]
fn a_string_is_that_of_the_calls_entry_though_another_thread_overwrites_it_during_the_call() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let fifo = project.join("given");
    // The open of a pipe waits for a writer; meanwhile the path becomes another one.
    let script = format!(
        r#"
import ctypes, os, threading
libc = ctypes.CDLL(None)
os.mkfifo({fifo:?})
path = ctypes.create_string_buffer({fifo:?}.encode())
tids = []
def reader():
    tids.append(threading.get_native_id())
    libc.open(path, 0)
thread = threading.Thread(target=reader)
thread.start()
def number():
    with open(f"/proc/self/task/{{tids[0]}}/syscall") as file:
        return file.read().split()[0]
while not tids or number() not in ("257", "2", "56"):
    pass
writer = {fifo:?}
ctypes.memset(path, ord("z"), len(path) - 1)
os.close(os.open(writer, os.O_WRONLY))
thread.join()
"#
    );
    let calls = traced(&project, "%file", &["python3", "-c", &script]);
    let opened: Vec<Call> = calls
        .into_iter()
        .filter(|(name, _)| name == "openat")
        .collect();
    let given = format!("{fifo:?}");
    assert_eq!(texts(&opened, 1, "given"), [given.clone(), given]);
    assert_eq!(texts(&opened, 1, "zzz"), [""; 0]);
}

#[test]
fn a_path_that_its_own_call_overwrote_before_it_was_read_is_not_known() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    // The path lies where nobody has looked yet, and the target of the link comes there.
    let script = "import ctypes, mmap, os\n\
                  os.symlink('another', 'link')\n\
                  with open('page', 'wb') as page: page.write(b'link'.ljust(4096, b'\\0'))\n\
                  page = os.open('page', os.O_RDWR)\n\
                  page = mmap.mmap(page, 4096, flags=mmap.MAP_PRIVATE)\n\
                  at = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page)))\n\
                  assert ctypes.CDLL(None).readlink(at, at, ctypes.c_size_t(100)) == 7";
    let calls = traced(&project, "readlink", &["python3", "-c", script]);
    let paths = texts(&calls, 0, "");
    assert_eq!(paths.last().map(String::as_str), Some(UNREAD), "{calls:?}");
    assert_eq!(texts(&calls, 1, "another").len(), 1, "{calls:?}");
}

/// mov eax, 64; lea rcx, [rip + 2]; int 0x80; ret: `getppid` there, and `semget` by the native
/// table.
const DISGUISED: &str = "import ctypes, mmap\n\
    page = mmap.mmap(-1, 4096, prot=7)\n\
    page.write(bytes.fromhex('b840000000488d0d02000000cd80c3'))\n\
    at = ctypes.addressof(ctypes.c_char.from_buffer(page))\n\
    ctypes.CFUNCTYPE(ctypes.c_int)(at)()";

fn disguised(project: &Project, source: &str) -> Run {
    let words = ["trace", "--source", source, "-e", "getppid,semget"];
    let command = ["-o", "trace", "--", "python3", "-c", DISGUISED];
    project.harness(&[&words[..], &command].concat())
}

#[test]
fn a_32_bit_call_that_looks_as_the_syscall_instruction_leaves_it_is_known_for_what_it_is() {
    require!(bpf_records_calls());
    require!(program("python3"));
    require!(calls_of_32_bits());
    let project = Project::new();
    disguised(&project, "bpf").assert_status(0);
    let trace = project.read("trace");
    assert!(
        trace.contains("[i386] getppid() = ") && !trace.contains("semget"),
        "{trace}"
    );
}

/// Its arguments are those of registers that a native call takes others from.
#[test]
fn a_32_bit_call_that_looks_as_a_native_one_to_perf_makes_a_trace_incomplete() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(calls_of_32_bits());
    let run = disguised(&Project::new(), "perf");
    run.assert_status(125);
    let said = "calls that may be native or of 32 bits (`int 0x80`)";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

/// Calls of C's `syscall()` one after another hand on what the one before left in `cx`.
#[test]
fn a_native_call_that_was_handed_where_the_last_one_returned_to_is_known_for_native() {
    require!(program("python3"));
    require!(bpf_records_calls());
    require!(calls_of_32_bits());
    // xor r10d, r10d; mov edx, 3; again: mov eax, 110; syscall; mov rsi, rcx; dec edx; jnz again.
    let script = DISGUISED.replace(
        "b840000000488d0d02000000cd80c3",
        "4531d2ba03000000b86e0000000f054889ceffca75f2c3",
    );
    let project = Project::new();
    for source in ["perf", "bpf"] {
        let words = ["trace", "--source", source, "-e", "getppid", "-o", "trace"];
        let command = ["--", "python3", "-c", &script];
        project
            .harness(&[&words[..], &command].concat())
            .assert_status(0);
        let trace = project.read("trace");
        assert_eq!(trace.matches("getppid() = ").count(), 3, "{trace}");
    }
}
