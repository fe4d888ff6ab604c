//! The kernel enforces rules of Landlock, and each that is left out is missed.

use perf_live::sys::landlock;
use serde_json::{Value, json};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use super::{all, object, own, python, rules, shell};
use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

/// The ABI of the kernel's Landlock, as far as it is known here; it is this one or a later one.
fn abi(least: u32) -> Result<u32, String> {
    let abi = landlock::abi().map(|abi| abi.min(6));
    abi.filter(|abi| *abi >= least)
        .ok_or_else(|| format!("the kernel's Landlock has no ABI {least}"))
}

/// A project with this scenario and rules that this kernel can enforce.
fn enforceable(yaml: &str, abi: u32) -> Project {
    let project = Project::with("it", yaml);
    rules(&project, &["--abi", &abi.to_string()]).assert_status(0);
    project
}

/// The rules without a right.
fn without(object: &Value, (about, right): &(String, String)) -> Value {
    let mut object = object.clone();
    for (list, key) in [("pathBeneath", "parent"), ("netPort", "port")] {
        let Some(rules) = object.get_mut(list).and_then(Value::as_array_mut) else {
            continue;
        };
        for rule in rules.iter_mut() {
            let port = rule[key][0].as_u64().map(|port| port.to_string());
            let is_it = rule[key][0] == **about || port.as_ref() == Some(about);
            let rights = rule["allowedAccess"].as_array_mut().expect("rights");
            rights.retain(|known| !is_it || *known != **right);
        }
        rules.retain(|rule| rule["allowedAccess"] != json!([]));
    }
    object
}

/// Runs the scenarios under rules.
fn under(project: &Project, object: &Value) -> Run {
    project.write("q.json", &format!("{object:#}\n"));
    project.harness(&["run", "--policy", "q.json", "scenarios"])
}

/// Has the kernel enforce rules by calls of its own, and executes a command; knows nothing of the
/// harness.
const ENFORCE: &str = "\
import ctypes, json, os, stat, struct, sys
rules, home, command = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3:]
call = ctypes.CDLL(None).syscall
names = 'execute write_file read_file read_dir remove_dir remove_file make_char make_dir make_reg \\
make_sock make_fifo make_block make_sym refer truncate ioctl_dev'.split()
def bits(words, names): return sum(1 << names.index(word) for word in words)
head = rules['ruleset'][0]
attr = struct.pack('QQQ', bits(head['handledAccessFs'], names), 3 * ('handledAccessNet' in head), 3 * ('scoped' in head))
fd = call(444, attr, len(attr), 0)
assert fd >= 0
for rule in rules.get('pathBeneath', []):
    for path in rule['parent']:
        try: file = os.open(path.replace('${dir}', home), os.O_PATH)
        except FileNotFoundError: continue
        rights = bits(rule['allowedAccess'], names)
        if not stat.S_ISDIR(os.fstat(file).st_mode): rights &= 0b1100000000000111
        assert rights == 0 or call(445, fd, 1, struct.pack('=Qi', rights, file), 0) == 0
os.chdir(home)
assert ctypes.CDLL(None).prctl(38, 1, 0, 0, 0) == 0 and call(446, fd, 0) == 0
os.close(fd)
os.execv(command[0], command)
";

/// Most of what can be done to files, without a second try where something is refused.
const ALL: &str = "set -e; mkdir d; echo a > d/a; ln d/a b; ln -s a l; mkfifo p; cat b >> old; \
    : > old; echo '#!/bin/sh' > s; chmod +x s; ./s; rm l p d/a; rmdir d; ls . > /dev/null";

#[test]
fn under_its_own_rules_a_run_passes_and_without_any_one_it_fails_and_names_it() {
    require!(right_to_trace());
    let abi = require!(abi(2));
    let project = enforceable(&shell(ALL), abi);
    let whole = object(&project);
    under(&project, &whole).assert_status(0);
    let rules = all(&whole);
    assert!(rules.len() > 20, "{rules:?}");
    let check = project.harness(&["policy", "--check", "p.json", "scenarios"]);
    check.assert_status(0);
    let is_own = |(path, right): &&(String, String)| {
        path.starts_with("${dir}") || path.contains("sh") && right == "execute"
    };
    for rule in rules.iter().filter(is_own) {
        let run = under(&project, &without(&whole, rule));
        run.assert_status(1);
        let (path, right) = rule;
        let said = format!("the policy refuses `{path}: {right}`: q.json:");
        // Of a program that cannot be executed there is no record.
        let is_told = run.stdout.contains(&said) || run.stdout.contains("could not be executed");
        assert!(is_told, "{rule:?}: {}", run.stdout);
    }
    project.assert_nothing_left();
}

#[test]
fn what_enforces_the_file_alone_has_the_program_do_the_same_and_less_without_a_rule() {
    require!(right_to_trace());
    let abi = require!(abi(2));
    require!(program("python3"));
    let project = enforceable(&shell(ALL), abi);
    let whole = object(&project);
    let mut n_runs = 0;
    let mut enforced = |object: &Value| {
        n_runs += 1;
        let home = format!("home{n_runs}");
        project.write(&format!("{home}/old"), "old");
        project.write("q.json", &object.to_string());
        let home = project.join(&home);
        let home = home.to_str().expect("text");
        let words = [
            "python3", "-IBSc", ENFORCE, "q.json", home, "/bin/sh", "-c", ALL,
        ];
        project.run(&[("PATH", "/usr/bin:/bin")], &words)
    };
    enforced(&whole).assert_status(0);
    for rule in all(&whole) {
        let run = enforced(&without(&whole, &rule));
        // The loader does without its cache, and a C library without what it asks of the machine.
        let is_missed = rule.0.starts_with("${dir}") || rule.1 == "execute";
        assert!(!is_missed || run.status != 0, "{rule:?}: {}", run.stderr);
    }
}

#[test]
fn a_file_that_goes_elsewhere_has_the_rights_of_there_before() {
    require!(right_to_trace());
    let abi = require!(abi(2));
    let line = "ln old d/old; read -r it < d/other || true";
    let yaml = shell(line).replace("old: old", "old: old, d/other: x");
    let project = enforceable(&yaml, abi);
    // The right to a folder is one to all that is beneath.
    let expected = [": refer", "/d: make_reg", "/d/other: read_file"];
    assert_eq!(own(&project), expected);
    // What is read there may be read where it was.
    let line = "ln old d/old; cat d/*";
    let yaml = shell(line).replace("old: old", "old: old, d/other: x");
    let project = enforceable(&yaml, abi);
    assert!(own(&project).contains(&"/old: read_file".to_owned()));
    under(&project, &object(&project)).assert_status(0);
    // A rule for the folder takes the same of the file.
    let mut wider = object(&project);
    let rule = json!({ "allowedAccess": ["write_file"], "parent": ["${dir}/d"] });
    wider["pathBeneath"]
        .as_array_mut()
        .expect("rules")
        .push(rule);
    let run = under(&project, &wider);
    run.assert_status(1);
    let said = "the policy refuses `${dir}/old: write_file`";
    assert!(run.stdout.contains(said), "{}", run.stdout);
}

#[test]
fn ports_and_what_is_kept_within_the_program_are_those_of_the_run() {
    require!(right_to_trace());
    let abi = require!(abi(6));
    require!(program("python3"));
    let tcp = "import socket as s\na = s.socket(); a.bind(('127.0.0.1', 80)); a.listen()\n\
        s.create_connection(('127.0.0.1', 80))\nu = s.socket(type=s.SOCK_DGRAM); u.bind(('', 53))";
    let scoped = ["abstract_unix_socket", "signal"];
    let within = "import os, signal, socket as s\na = s.socket(s.AF_UNIX); a.bind('\\0x'); a.listen()\n\
        s.socket(s.AF_UNIX).connect('\\0x')\nos.kill(os.getpid(), 0); os.kill(0, 0)\n\
        it = os.fork() or os._exit(0); os.kill(it, 9)";
    let others = "import os\nos.kill(1, 0)";
    let ports = [("80", "bind_tcp"), ("80", "connect_tcp")];
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);
    let cases: [Case<'_>; 3] = [
        (tcp, &ports, &scoped),
        (within, &[], &scoped),
        (others, &[], &scoped[..1]),
    ];
    for (script, ports, scoped) in cases {
        let project = enforceable(&python(script), abi);
        let whole = object(&project);
        assert_eq!(whole["ruleset"][0]["scoped"], json!(scoped), "{script}");
        let all = all(&whole);
        let found = all.iter().filter(|(about, _)| !about.contains('/'));
        let found: Vec<_> = found.map(|(port, right)| (&**port, &**right)).collect();
        assert_eq!(found, ports, "{script}");
        under(&project, &whole).assert_status(0);
        for (port, right) in ports {
            let less = without(&whole, &((*port).to_owned(), (*right).to_owned()));
            let run = under(&project, &less);
            run.assert_status(1);
            assert!(run.stdout.contains("PermissionError"), "{}", run.stdout);
            let said = format!("the policy refuses `port {port}: {right}`: q.json:");
            assert!(run.stdout.contains(&said), "{}", run.stdout);
        }
        if script == others {
            let why = "signals to others:\n  it\n  it: `kill` signals a process that is none of the run's\n";
            assert!(project.read("p.json.why").ends_with(why));
            let mut less = whole;
            less["ruleset"][0]["scoped"] = json!(["signal"]);
            let run = under(&project, &less);
            run.assert_status(1);
            let said = "the policy refuses signals to others: q.json:";
            assert!(run.stdout.contains(said), "{}", run.stdout);
        }
    }
}

#[test]
fn what_rules_for_files_refuse_of_mounting_is_told() {
    require!(right_to_trace());
    let abi = require!(abi(2));
    require!(program("python3"));
    let script = "import ctypes; call = ctypes.CDLL(None).mount";
    let project = enforceable(&python(script), abi);
    let whole = object(&project);
    under(&project, &whole).assert_status(0);
    let mounts = format!("{script}; call(b'none', b'/mnt', b'tmpfs', 0, None)");
    project.scenario("it", &python(&mounts));
    let run = under(&project, &whole);
    run.assert_status(1);
    assert!(run.stdout.contains("`mount` was refused"), "{}", run.stdout);
    project.assert_nothing_left();
}

#[test]
fn a_message_to_a_socket_of_others_that_a_scope_may_have_refused_makes_a_run_incomplete() {
    require!(right_to_trace());
    let abi = require!(abi(6));
    require!(program("python3"));
    let name = format!("harness-policy-{}", std::process::id());
    let silent = "import ctypes as c, socket as s, struct\na = s.socket(s.AF_UNIX, s.SOCK_DGRAM)";
    let on_host = |script: &str| python(script) + "sandbox: { network: host }\n";
    let project = enforceable(&on_host(silent), abi);
    let length = 3 + name.len();
    let sends = format!(
        "{silent}\n\
         name = c.create_string_buffer(b'\\1\\0\\0{name}')\n\
         piece = c.create_string_buffer(struct.pack('QQ', c.addressof(name), 1))\n\
         words = (c.addressof(name), {length}, c.addressof(piece), 1, 0, 0, 0, 0)\n\
         c.CDLL(None).sendmmsg(a.fileno(), struct.pack('8Q', *words), 1, 0)"
    );
    project.scenario("it", &on_host(&sends));
    let address = SocketAddr::from_abstract_name(&name).expect("an address");
    let _other = UnixDatagram::bind_addr(&address).expect("a socket");
    let run = under(&project, &object(&project));
    run.assert_status(1);
    let said = "`sendmmsg` was refused";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    assert!(run.stdout.contains("1 incomplete"), "{}", run.stdout);
    project.assert_nothing_left();
}

#[test]
fn an_interpreter_that_the_rules_refuse_is_told_by_the_rule_that_is_missing() {
    require!(right_to_trace());
    let abi = require!(abi(2));
    let with = |interpreter: &str| {
        let script = json!({ "content": format!("#!{interpreter}\n"), "mode": "0755" });
        let line = json!(["sh", "-c", "./s 2> kept || : failed"]);
        format!("workload: {{ run: {line}, files: {{ s: {script} }} }}\nsnapshot: false\n")
    };
    let project = enforceable(&with("/bin/true"), abi);
    under(&project, &object(&project)).assert_status(0);
    project.scenario("it", &with("/bin/false"));
    let run = under(&project, &object(&project));
    run.assert_status(1);
    let said = "bin/false: execute`: q.json:";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    project.assert_nothing_left();
}

#[test]
fn which_interpreter_was_refused_is_not_known_of_a_script_that_is_changed_later() {
    require!(right_to_trace());
    let abi = require!(abi(3));
    let with = |line: &str| {
        let script = json!({ "content": "#!/bin/false\n", "mode": "0755" });
        let line = json!(["sh", "-c", line]);
        format!("workload: {{ run: {line}, files: {{ s: {script} }} }}\nsnapshot: false\n")
    };
    let project = enforceable(&with("read -r it < s; : > s"), abi);
    let mut wider = object(&project);
    let rule = json!({ "allowedAccess": ["execute"], "parent": ["${dir}/s"] });
    let rules = wider["pathBeneath"].as_array_mut().expect("rules");
    rules.push(rule);
    project.scenario("it", &with("./s; : > s"));
    let run = under(&project, &wider);
    run.assert_status(1);
    let said = "`execve` was refused";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    assert!(run.stdout.contains("1 incomplete"), "{}", run.stdout);
    project.assert_nothing_left();
}

#[test]
fn whom_a_socket_signals_by_a_request_is_not_known_to_be_its_own() {
    require!(right_to_trace());
    let abi = require!(abi(6));
    require!(program("python3"));
    let script = "import socket as s\na = s.socket()";
    let project = enforceable(&python(script), abi);
    let asks = format!("{script}\nimport fcntl\nfcntl.ioctl(a, 0x8901, b'\\1\\0\\0\\0')");
    project.scenario("it", &python(&asks));
    let run = under(&project, &object(&project));
    run.assert_status(1);
    let said = "the policy refuses signals to others: q.json:";
    assert!(run.stdout.contains(said), "{}", run.stdout);
}

#[test]
fn an_input_that_is_opened_again_needs_no_rule_and_is_read_under_the_rules() {
    require!(right_to_trace());
    let abi = require!(abi(2));
    let mut yaml = shell("cat /dev/stdin");
    yaml = yaml.replace("files:", "stdin: \"in\\n\", files:");
    yaml.push_str("expect: { stdout: \"in\\n\" }\n");
    let project = enforceable(&yaml, abi);
    let whole = object(&project);
    under(&project, &whole).assert_status(0);
    let check = project.harness(&["policy", "--check", "p.json", "scenarios"]);
    check.assert_status(0);
}
