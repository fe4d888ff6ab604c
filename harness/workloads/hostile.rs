//! A workload that tries to escape its sandbox, to outlive it, or to take it along.
//!
//! Each subcommand is one behaviour, of a careless program or of a malicious one. What a subcommand
//! tries and is refused is no failure of it; what it needs in order to be what it is, is checked:
//! it panics where that does not work, so that a test does not take its absence for the sandbox's
//! merit. How each must end is in the table of `tests/behaviour/hostile.rs`.
//!
//! It has no Rust `main`, for the reasons that `oracle.rs` gives.
#![no_main]
#![expect(
    unsafe_code,
    reason = "it forks, makes calls that no safe wrapper makes, and breaks what can be broken"
)]

#[path = "hostile/crowds.rs"]
mod crowds;
#[path = "hostile/daemons.rs"]
mod daemons;
#[path = "hostile/escapes.rs"]
mod escapes;
#[path = "hostile/files.rs"]
mod files;
#[path = "hostile/kernel.rs"]
mod kernel;
#[path = "hostile/objects.rs"]
mod objects;
#[path = "hostile/signals.rs"]
mod signals;
#[path = "hostile/tracers.rs"]
mod tracers;
#[path = "hostile/worlds.rs"]
mod worlds;

use std::ffi::{c_char, c_int};

/// A behaviour: its result is the exit status.
type Behaviour = fn() -> i32;

const BEHAVIOURS: &[(&str, Behaviour)] = &[
    // What outlives the main process.
    ("double-fork", daemons::double_fork),
    ("session-of-its-own", daemons::session),
    ("daemon-closes-everything", daemons::closes_everything),
    ("daemon-holds-output", daemons::holds_output),
    ("daemon-stops-itself", daemons::stops_itself),
    ("daemon-hops", daemons::hops),
    ("daemon-is-not-dumpable", daemons::is_not_dumpable),
    ("daemon-holds-objects", daemons::holds_objects),
    ("daemon-listens", daemons::listens),
    ("daemon-of-a-subreaper", daemons::of_a_subreaper),
    ("daemon-in-a-namespace", worlds::daemon),
    ("daemon-in-nested-namespaces", worlds::nested),
    // Signals.
    ("ignores-signals", signals::ignores),
    ("handles-signals", signals::handles),
    ("stops-itself", signals::stops_itself),
    ("stops-all", signals::stops_all),
    ("kills-all", signals::kills_all),
    ("kills-its-group", signals::kills_its_group),
    ("kills-init", signals::kills_init),
    ("segfaults", signals::segfaults),
    ("aborts-in-a-thread", signals::aborts_in_a_thread),
    // Processes and threads without number or order.
    ("fork-bomb", crowds::fork_bomb),
    ("fork-storm", crowds::fork_storm),
    ("thread-bomb", crowds::thread_bomb),
    ("exec-loop", crowds::exec_loop),
    ("zombies", crowds::zombies),
    ("orphans", crowds::orphans),
    ("vfork-without-exec", crowds::vfork_without_exec),
    ("leader-ends-first", crowds::leader_ends_first),
    ("leader-ends-alone", crowds::leader_ends_alone),
    ("ends-while-others-fork", crowds::ends_while_others_fork),
    ("spins", crowds::spins),
    ("sleeps", crowds::sleeps),
    // Tracers.
    ("tracer-leaves", tracers::leaves),
    ("tracer-of-init", tracers::of_init),
    ("tracer-holds-the-exit", tracers::holds_the_exit),
    // Mounts and roots.
    ("chroots-and-climbs", worlds::chroots_and_climbs),
    ("mounts-over-its-directory", worlds::mounts),
    ("binds-the-root", worlds::binds_the_root),
    ("unmounts-everything", worlds::unmounts),
    ("makes-control-groups", worlds::makes_control_groups),
    // Files and output.
    ("fills-a-pipe", files::fills_a_pipe),
    ("floods-output", files::floods_output),
    ("sparse-file", files::sparse_file),
    ("many-files", files::many_files),
    ("deep-folders", files::deep_folders),
    ("forbidden-folders", files::forbidden_folders),
    ("odd-names", files::odd_names),
    ("special-files", files::special_files),
    ("removes-its-directory", files::removes_its_directory),
    ("removes-its-program", files::removes_its_program),
    ("removed-program", files::removed_program),
    ("uses-devices", files::uses_devices),
    // Descriptors, limits and other objects of the kernel.
    ("closes-descriptors", objects::closes_descriptors),
    ("exhausts-descriptors", objects::exhausts_descriptors),
    ("plays-with-limits", objects::plays_with_limits),
    ("limits-init", objects::limits_init),
    ("system-v-ipc", objects::system_v_ipc),
    ("posix-ipc", objects::posix_ipc),
    ("keys", objects::keys),
    ("pending-io-uring", objects::pending_io_uring),
    ("terminal", objects::terminal),
    ("faults-for-ever", objects::faults_for_ever),
];

/// Runs the subcommand; without one, it lists those of the table.
// SAFETY: the program has no other `main`; the name is what the C runtime looks for.
#[unsafe(no_mangle)]
pub extern "C" fn main(_argc: c_int, _argv: *const *const c_char) -> c_int {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if words.is_empty() {
        for (name, _) in BEHAVIOURS {
            kernel::say(name);
        }
        return 0;
    }
    match run(&words) {
        Some(status) => status,
        None => {
            kernel::say("there is no such behaviour");
            2
        }
    }
}

fn run(words: &[&str]) -> Option<i32> {
    let status = match *words {
        ["talk-to-itself"] => escapes::network::talks_to_itself(),
        ["reach-network", ref places @ ..] => escapes::network::reach(places),
        _ if is_the_bare_host() => {
            kernel::say("it kills, unmounts and exhausts: only in a sandbox");
            2
        }
        ["write-everywhere", bait] => escapes::writes::everywhere(bait),
        ["reach-processes", ref pids @ ..] => escapes::processes::reach(pids),
        ["look-for", ref words @ ..] => escapes::processes::look_for(words),
        [name] => {
            let (_, behaviour) = BEHAVIOURS.iter().find(|(known, _)| *known == name)?;
            behaviour()
        }
        _ => return None,
    };
    Some(status)
}

/// Whether there is nothing between this program and the machine: the first namespaces of a kernel
/// have fixed numbers (`include/linux/proc_ns.h`).
fn is_the_bare_host() -> bool {
    let is_first = |kind: &str, first: &str| {
        let link = std::fs::read_link(format!("/proc/self/ns/{kind}"));
        link.map_or(true, |link| link == std::path::Path::new(first))
    };
    is_first("user", "user:[4026531837]") || is_first("pid", "pid:[4026531836]")
}
