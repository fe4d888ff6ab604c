//! A workload finds the same world on every machine, or what its scenario asks for.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;

use nix::sys::resource::{Resource, getrlimit};

use super::{assert_pass, attempt, bait, project, script};
use crate::support::require::{program, require, right_to_trace};

#[test]
fn a_server_and_a_client_talk_over_a_loopback_of_their_own() {
    require!(right_to_trace());
    let project = project();
    // The port is taken outside, which does not matter inside.
    let _taken = TcpListener::bind("127.0.0.1:4242");
    project.scenario("root", &attempt(&["talk-to-itself"], "{}"));
    project.scenario("nobody", &attempt(&["talk-to-itself"], "{ user: nobody }"));
    project.scenario(
        "only",
        &script(
            "sed -n 's/^ *\\([^:|]*\\):.*/\\1/p' /proc/net/dev",
            "{}",
            "lo\n",
        ),
    );
    assert_pass(&project);
}

#[test]
fn the_machine_has_the_name_and_the_mask_that_the_scenario_says() {
    require!(right_to_trace());
    let project = project();
    project.scenario("fixed", &script("uname -n; umask", "{}", "sandbox\n0022\n"));
    let sandbox = "{ hostname: other.name, umask: \"0077\" }";
    project.scenario(
        "own",
        &script("uname -n; umask", sandbox, "other.name\n0077\n"),
    );
    project.scenario(
        "user",
        &script(
            "uname -n; umask; id -un",
            "{ user: nobody }",
            "sandbox\n0022\nnobody\n",
        ),
    );
    // The name is its own to change, and no other world's.
    let rename = "hostname renamed 2>/dev/null || echo renamed > /proc/sys/kernel/hostname; true";
    project.scenario("renames", &script(rename, "{}", ""));
    let before = nix::sys::utsname::uname()
        .expect("uname")
        .nodename()
        .to_owned();
    assert_pass(&project);
    assert_eq!(
        nix::sys::utsname::uname().expect("uname").nodename(),
        before
    );
}

#[test]
fn times_texts_and_input_do_not_depend_on_who_started_the_harness() {
    require!(right_to_trace());
    let project = project();
    let says = "date -d @0 +%H; locale 2>/dev/null | sed -n s/LC_ALL=//p; cat | wc -c; env | cut -d= -f1 | grep -v ^_ | sort | tr '\\n' ' '";
    project.scenario("it", &script(says, "{}", "00\n\n0\nHOME PATH PWD TMPDIR "));
    let more = [
        ("TZ", "Asia/Tokyo"),
        ("LC_ALL", "de_DE.UTF-8"),
        ("LD_PRELOAD", "/nowhere.so"),
        ("SECRET", "x"),
    ];
    let run = project.harness_with(&more, &["run", "--format", "json", "scenarios"]);
    assert_eq!(run.verdicts()["it"].0, "pass", "{run:?}");
    project.assert_nothing_left();
}

#[test]
fn file_systems_in_memory_are_as_large_as_the_limit_of_memory() {
    require!(right_to_trace());
    let project = project();
    let sizes = "for at in /tmp /run /dev/shm /dev; do echo $(($(stat -f -c '%b * %S' $at))); done";
    let expected = "67108864\n67108864\n67108864\n65536\n";
    let sandbox = "{ limits: { memory: 64MiB } }";
    project.scenario("memory", &script(sizes, sandbox, expected));
    assert_pass(&project);
}

#[test]
fn a_crash_starts_no_program_for_core_dumps() {
    require!(right_to_trace());
    let project = project();
    // With 1 the kernel starts none, whatever /proc/sys/kernel/core_pattern says.
    let limit = "set -- $(grep 'core file' /proc/self/limits); echo $5 $6";
    let own = getrlimit(Resource::RLIMIT_CORE).expect("a limit").1.min(1);
    project.scenario("limit", &script(limit, "{}", &format!("{own} {own}\n")));
    assert_pass(&project);
}

#[test]
fn a_harness_with_less_than_a_workload_may_have_gives_it_what_there_is() {
    require!(right_to_trace());
    require!(program("prlimit"));
    let project = project();
    let limits = "grep -e core -e processes /proc/self/limits | tr -s ' ' | sed 's/.* \\([0-9]*\\) [a-z]* $/\\1/'";
    let expected = "0\n600\n";
    project.scenario("limits", &script(limits, "{ user: nobody }", expected));
    let words = [
        "prlimit",
        "--core=0:0",
        "--nproc=600:600",
        env!("CARGO_BIN_EXE_harness"),
        "run",
        "scenarios",
    ];
    project.run(&[], &words).assert_status(0);
}

#[test]
fn addresses_are_the_same_in_each_process_unless_they_shall_differ() {
    require!(right_to_trace());
    let project = project();
    // Stack and libraries of two executions of the same program.
    let look =
        "one() { grep -e stack -e libc.so /proc/self/maps | cut -d' ' -f1 | cut -d- -f1; }; ";
    let same = format!("{look} [ \"$(one)\" = \"$(one)\" ] && echo same || echo other");
    project.scenario("fixed", &script(&same, "{}", "same\n"));
    project.scenario("user", &script(&same, "{ user: nobody }", "same\n"));
    project.scenario("random", &script(&same, "{ addresses: random }", "other\n"));
    assert_pass(&project);
}

#[test]
fn a_workload_runs_as_the_user_that_the_scenario_names() {
    require!(right_to_trace());
    let nobody = nix::unistd::User::from_name("nobody")
        .expect("the users")
        .expect("nobody");
    let (uid, gid) = (nobody.uid, nobody.gid);
    let project = project();
    let says = "id -u; id -g; id -G; touch made && stat -c '%u %g' made; sed -n 's/^Cap\\(Inh\\|Prm\\|Eff\\|Amb\\):.//p' /proc/self/status | sort -u; \
                touch /etc/x 2>/dev/null || echo refused";
    let expected = format!("{uid}\n{gid}\n{gid}\n{uid} {gid}\n0000000000000000\nrefused\n");
    project.scenario("by-name", &script(says, "{ user: nobody }", &expected));
    project.scenario(
        "by-number",
        &script(says, &format!("{{ user: {uid} }}"), &expected),
    );
    project.scenario(
        "host",
        &script(
            "id -u",
            "{ user: nobody, root: host, network: host }",
            &format!("{uid}\n"),
        ),
    );
    assert_pass(&project);
}

#[test]
fn the_root_of_the_host_can_be_written_where_the_scenario_says_so() {
    require!(right_to_trace());
    let (project, folder) = (project(), bait());
    let path = folder.path().display();
    project.scenario(
        "host",
        &script(&format!("echo new > {path}/made"), "{ root: host }", ""),
    );
    assert_pass(&project);
    assert_eq!(
        fs::read_to_string(folder.path().join("made")).expect("what was made"),
        "new\n"
    );
    assert_eq!(
        fs::metadata(folder.path().join("made")).expect("it").uid(),
        0
    );
}

#[test]
fn the_network_of_the_host_is_there_where_the_scenario_says_so() {
    require!(right_to_trace());
    let project = project();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = format!("tcp:{}", listener.local_addr().expect("an address"));
    let reached = format!("reached {place}\n");
    let yaml = attempt(&["reach-network", &place], "{ network: host }");
    let yaml = yaml.replace(
        "stdout: \"\"",
        &format!("exit: 1, stdout: {{ contains: {reached:?} }}"),
    );
    project.scenario("it", &yaml);
    assert_pass(&project);
    listener.set_nonblocking(true).expect("fcntl");
    assert!(listener.accept().is_ok());
}

#[test]
fn without_a_sandbox_a_workload_is_on_the_bare_host() {
    require!(right_to_trace());
    let project = project();
    let kinds = ["ipc", "mnt", "net", "pid", "user", "uts"];
    let link = |kind: &str| fs::read_link(format!("/proc/self/ns/{kind}")).expect("procfs");
    let host: String = kinds
        .map(|kind| format!("{}\n", link(kind).display()))
        .concat();
    let says = format!(
        "for kind in ipc mnt net pid user uts; do readlink /proc/self/ns/$kind; done; uname -n; [ -d /proc/{} ] && echo seen",
        std::process::id()
    );
    let name = nix::sys::utsname::uname()
        .expect("uname")
        .nodename()
        .to_string_lossy()
        .into_owned();
    let expected = format!("{host}{name}\nseen\n");
    project.scenario("bare", &script(&says, "none", &expected));
    // A sandbox has none of them.
    let none = "for kind in ipc mnt net pid user uts; do readlink /proc/self/ns/$kind; done | sort > inside; sort host inside | uniq -d";
    let yaml = script(none, "{}", "").replace(
        "\ntrace:",
        &format!("\n  files: {{ host: {host:?} }}\ntrace:"),
    );
    project.scenario("own", &yaml);
    assert_pass(&project);
}

#[test]
fn a_set_user_id_program_has_its_effect_in_a_sandbox() {
    require!(right_to_trace());
    let touch = require!(program("touch"));
    let project = project();
    fs::copy(touch, project.join("touch")).expect("a copy");
    project.scenario(
        "laid-in",
        "workload:\n  shell: ./touch made; [ $(stat -c %u made) = 0 ] || exec sleep infinity\n  timeout: 2s\n  \
         files: { touch: { from: ../touch, mode: \"4755\", owner: root } }\nsnapshot: false\n\
         trace: { events: [{ syscalls: [exit_group] }] }\nsandbox: { user: nobody }",
    );
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let (verdict, reason) = run.verdicts()["laid-in"].clone();
    assert_eq!(verdict, "pass", "{reason}");
    project.assert_nothing_left();
}

#[test]
fn a_runtime_that_looks_for_its_limits_takes_the_same_paths_on_each_machine() {
    require!(right_to_trace());
    let project = project();
    // As libuv does: the group's path, below the folder of all.
    let looks = "for group in $(cut -d: -f3- /proc/self/cgroup | sort -u); do echo $group; \
                 ls -A /sys/fs/cgroup$group; done";
    for (name, sandbox) in [
        ("plain", "{}"),
        ("nobody", "{ user: nobody }"),
        ("limits", "{ limits: { processes: 50 } }"),
    ] {
        project.scenario(name, &script(looks, sandbox, "/\n"));
    }
    assert_pass(&project);
}

#[test]
fn a_workload_does_not_have_the_soft_limits_of_who_starts_the_harness() {
    require!(right_to_trace());
    require!(program("prlimit"));
    let project = project();
    let softs = "ulimit -S -n; ulimit -S -s; ulimit -S -v; ulimit -S -d; ulimit -S -t";
    let hard = |resource| getrlimit(resource).expect("a limit").1;
    assert!(hard(Resource::RLIMIT_NOFILE) >= 1024 && hard(Resource::RLIMIT_STACK) >= 8 << 20);
    let unlimited = |resource, unit: u64| match hard(resource) {
        libc::RLIM_INFINITY => "unlimited".to_owned(),
        limit => (limit / unit).to_string(),
    };
    let [space, data, time] = [
        unlimited(Resource::RLIMIT_AS, 1024),
        unlimited(Resource::RLIMIT_DATA, 1024),
        unlimited(Resource::RLIMIT_CPU, 1),
    ];
    let expected = format!("1024\n8192\n{space}\n{data}\n{time}\n");
    project.scenario("root", &script(softs, "{}", &expected));
    project.scenario("nobody", &script(softs, "{ user: nobody }", &expected));
    project.scenario(
        "own",
        &script("ulimit -n", "{ limits: { open_files: 77 } }", "77\n"),
    );
    let words = [
        "prlimit",
        "--nofile=612:",
        "--stack=4194304:",
        "--as=90000000000:",
        "--data=80000000000:",
        "--cpu=500:",
        env!("CARGO_BIN_EXE_harness"),
        "run",
        "scenarios",
    ];
    project.run(&[], &words).assert_status(0);
}
