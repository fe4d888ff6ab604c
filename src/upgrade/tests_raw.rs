use super::*;

/// What `harness trace -o` says of a shell with a child and a thread, with these ids and this
/// address.
fn traced(shell: u32, child: u32, thread: u32, address: &str) -> String {
    format!(
        "{shell} execve(\"/usr/bin/sh\", [\"sh\"], ...) = 0\n\
{shell} brk(NULL) = {address}\n\
{shell} getppid() = {}\n\
{child} set_robust_list({address}, 24) = 0\n\
{shell} vfork() = {child}\n\
{child} execve(\"/bin/cat\", [\"cat\"], ...) = 0\n\
{child} openat(AT_FDCWD, \"/proc/{child}/maps\", O_RDONLY) = 3</proc/{child}/maps>\n\
{child} read(3</proc/{child}/maps>, {address}, {child}) = {child}\n\
{shell} clone3({{flags=CLONE_VM|CLONE_THREAD, stack={address}}} => {{parent_tid=[{thread}]}}, 88) = {thread}\n\
{thread} kill({shell}, SIGTERM) = -1 EPERM (Operation not permitted)\n\
{shell} sched:sched_process_exit comm=\"sh\" pid={shell} prio=120\n\
{shell} wait4({child}, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = {child}\n\
{shell} clock_nanosleep(CLOCK_REALTIME, 0, {{tv_sec=1, tv_nsec=5}}, NULL) = 0\n\
{shell} clock_gettime(CLOCK_MONOTONIC, {{tv_sec=12, tv_nsec={thread}}}) = 0\n",
        shell - 1
    )
}

#[test]
fn raw_text_is_put_into_the_grammar_of_traces() {
    let said = "P1 sh
  execve(\"/usr/bin/sh\", [\"sh\"], ...) = 0
  brk(NULL) = <addr>
  getppid() = <pid>
  vfork() = P2
  clone3({flags=CLONE_VM|CLONE_THREAD, stack=<addr>} => {parent_tid=[P1.T2]}, 88) = P1.T2
  sched:sched_process_exit comm=\"sh\" pid=P1 prio=120
  wait4(P2, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = P2
  clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=1, tv_nsec=5}, NULL) = 0
  clock_gettime(CLOCK_MONOTONIC, {tv_sec=<time>, tv_nsec=<time>}) = 0

P1.T2
  kill(P1, SIGTERM) = -1 EPERM

P2 cat, child of P1
  set_robust_list(<addr>, 24) = 0
  execve(\"/bin/cat\", [\"cat\"], ...) = 0
  openat(AT_FDCWD, \"/proc/P2/maps\", O_RDONLY) = 3</proc/P2/maps>
  read(3</proc/P2/maps>, <addr>, 64) = 64
";
    let text = traced(50, 64, 70, "0x7f1234567000");
    assert_eq!(normalised(&text).as_deref(), Some(said));
}

#[test]
fn of_two_runs_ids_and_addresses_and_times_are_no_difference_and_what_was_read_is() {
    let first = traced(1000, 1001, 1002, "0x7f1234567000");
    let second = traced(20, 31, 33, "0x55aa00000000");
    let [first, second] = [first, second].map(|text| normalised(&text).unwrap_or_default());
    let rows = side_by_side(&first, &second);
    let differing: Vec<_> = rows.iter().filter(|row| !row.is_same).collect();
    // A count is no id, however like one it looks.
    let lines: Vec<_> = differing.iter().map(|row| (row.left, row.right)).collect();
    assert_eq!(
        lines,
        [(
            Some("  read(3</proc/P2/maps>, <addr>, 1001) = 1001"),
            Some("  read(3</proc/P2/maps>, <addr>, 31) = 31")
        )]
    );
}

#[test]
fn what_has_no_path_is_numbered_in_the_order_of_the_trace() {
    let text = "5 close(1<pipe:[131]>) = 0\n5 write(2<socket:[17]>, \"<pipe:[9]>\", 9) = 9\n5 dup(0<pipe:[7]>) = 3<pipe:[7]>\n\
5 read(1<pipe:[131]>, NULL, 0) = 0\n";
    let said = "P1\n  close(1<pipe:[1]>) = 0\n  write(2<socket:[1]>, \"<pipe:[9]>\", 9) = 9\n  dup(0<pipe:[2]>) = 3<pipe:[2]>\n  \
read(1<pipe:[1]>, NULL, 0) = 0\n";
    assert_eq!(normalised(text).as_deref(), Some(said));
}

#[test]
fn what_the_program_was_given_is_numbered_in_a_normalised_trace_too() {
    let text = "P1 x\n  close(1<pipe:[131]>) = 0\n  dup(2<socket:[17]>) = 3<pipe:[131]>\n  read(<pipe:2 read>, \"a:[b]>\", 0<pipe:[7]>) = 0\n";
    let said = "P1 x\n  close(1<pipe:[1]>) = 0\n  dup(2<socket:[1]>) = 3<pipe:[1]>\n  read(<pipe:2 read>, \"a:[b]>\", 0<pipe:[2]>) = 0\n";
    assert_eq!(numbered(text), said);
}

#[test]
fn the_times_of_lines_make_no_difference() {
    let bare = traced(7, 8, 9, "0x7f01");
    let timed = |lead: &dyn Fn(usize) -> String| -> String {
        let lines = bare.lines().enumerate().map(|(number, line)| {
            let (task, rest) = line.split_once(' ').expect("a task");
            format!("{task} {} {rest} <0.00{number:04}>\n", lead(number))
        });
        lines.collect()
    };
    let expected = normalised(&bare);
    assert!(expected.is_some());
    let day = timed(&|number| format!("12:34:{number:02}"));
    assert_eq!(normalised(&day), expected);
    let exact = timed(&|number| format!("12:34:{number:02}.123456"));
    assert_eq!(normalised(&exact), expected);
    let epoch = timed(&|number| format!("17000000{number:02}.123456"));
    assert_eq!(normalised(&epoch), expected);
    let relative = timed(&|number| format!("-0.0000{number:02}"));
    assert_eq!(normalised(&relative), expected);
}

#[test]
fn the_layout_of_perf_script_is_read_as_well() {
    let text = "           my sh    16168 69002.717783:     raw_syscalls:sys_exit: NR 59 = 0
sh 16168 [001] 69002.717785:        1 sched:sched_switch: prev_comm=sh prev_pid=16168 prev_state=R ==> next_comm=dpkg next_pid=15888 next_prio=120
\tffffffff821facd8 __schedule+0x618 ([kernel.kallsyms])

sh   16168 69002.720576:     raw_syscalls:sys_exit: NR 12 = 94424619548672
sh   16170 69002.720577:    raw_syscalls:sys_enter: NR 257 (ffffff9c, 7fef31ce90b1, 80000, 0, 0, 55e0e35b90ca)
sh   16170 69002.720577:                    memory: 98000000
sh   16168 69002.720578:     raw_syscalls:sys_exit: NR 57 = 16170
sh   16168 69002.720579:     raw_syscalls:sys_enter: NR 61 (3f2a, 3f2b, 5, 0, 0, 0)
";
    let said = "P1 sh
  raw_syscalls:sys_exit NR 59 = 0
  sched:sched_switch prev_comm=sh prev_pid=P1 prev_state=R ==> next_comm=dpkg next_pid=<pid> next_prio=120
    __schedule+0x618 ([kernel.kallsyms])
  raw_syscalls:sys_exit NR 12 = <addr>
  raw_syscalls:sys_exit NR 57 = P2
  raw_syscalls:sys_enter NR 61 (P2, 3f2b, 5, 0, 0, 0)

P2 sh, child of P1
  raw_syscalls:sys_enter NR 257 (ffffff9c, <addr>, 80000, 0, 0, <addr>)
";
    assert_eq!(normalised(text).as_deref(), Some(said));
}

#[test]
fn what_is_in_that_grammar_already_or_no_trace_at_all_is_left_alone() {
    assert_eq!(normalised("# trace 2, level set\n\nP1 sh\n  close\n"), None);
    assert_eq!(normalised("some text\n17 bottles\n"), None);
    assert_eq!(normalised(""), None);
}
