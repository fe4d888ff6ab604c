//! Rules that are learnt let the same command pass in its next run.

use super::Project;
use super::elsewhere::elsewhere;
use crate::support::require::{program, require, right_to_trace};

impl Project {
    /// Learns rules of a command, with options in front of it and variables.
    fn learnt(&self, variables: &[(&str, &str)], options: &[&str], command: &[&str]) -> String {
        let check = ["check", "--learn", "rules.yaml"];
        let words = [&check[..], options, &["--"], command].concat();
        self.harness_with(variables, &words).assert_status(0);
        self.read("rules.yaml")
    }

    /// Holds a command to the rules.
    fn holds(&self, variables: &[(&str, &str)], command: &[&str]) {
        let words = [&["check", "rules.yaml", "--"], command].concat();
        self.harness_with(variables, &words).assert_status(0);
    }
}

#[test]
fn drawn_names_that_begin_alike_keep_that_in_learnt_rules() {
    require!(right_to_trace());
    let project = Project::new();
    let script = |drawn: &[&str]| {
        let all = drawn.join(" ");
        format!(
            "for d in {all}; do for p in pp po; do\n\
             f=${{TMPDIR:-/tmp}}/$p$d; echo x > $f; rm $f; done; done\n"
        )
    };
    project.write("t.sh", &script(&["R4xk1Q", "a0bWzz", "X9d2Lm"]));
    let rules = project.learnt(&[], &[], &["sh", "t.sh"]);
    assert!(rules.contains("/pp??????\" # for 3 names; "), "{rules}");
    assert!(!rules.contains("/????????"), "{rules}");
    project.write("t.sh", &script(&["0MqqIT", "abcdef"]));
    project.holds(&[], &["sh", "t.sh"]);
    project.write("t.sh", "f=${TMPDIR:-/tmp}/settings; echo x > $f; rm $f\n");
    let run = project.harness(&["check", "rules.yaml", "--", "sh", "t.sh"]);
    run.assert_status(1);
}

/// Python makes and removes a file without a front, of eight letters, which may look like a word.
#[test]
fn names_of_temporary_files_are_learnt_as_drawn_where_that_folder_is_the_working_directorys() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let text = |drawn: &str, run: u32| {
        format!(
            "import os, tempfile\n\
             t = os.environ['TMPDIR']\n\
             open(t + '/{drawn}', 'w').close(); os.remove(t + '/{drawn}')\n\
             d = t + '/runs/run-{run}'; os.makedirs(d); open(d + '/kept', 'w').close()\n\
             tempfile.mkdtemp()\n"
        )
    };
    project.write("t/in", "");
    let folder = project.join("t").canonicalize().expect("the folder");
    let variables = [("TMPDIR", folder.to_str().expect("letters"))];
    project.write("t.py", &text("negdehai", 4));
    let command = ["python3", "-I", "-S", "t.py"];
    let rules = project.learnt(&variables, &[], &command);
    assert!(rules.contains("\"t/runs/run-[0-9]*/kept\""), "{rules}");
    project.write("t.py", &text("axlphabe", 15));
    project.holds(&variables, &command);
}

#[test]
fn a_folder_for_temporary_files_names_what_the_command_did_not_make_as_it_is() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("t/venv-3.11/python3.11/a1b2c3d4.py", "x");
    let folder = project.join("t").canonicalize().expect("the folder");
    let folder = folder.to_str().expect("letters");
    let file = format!("{folder}/venv-3.11/python3.11/a1b2c3d4.py");
    let shell = format!("cd /; cat {file}");
    let rules = project.learnt(&[("TMPDIR", folder)], &[], &["sh", "-c", &shell]);
    assert!(!rules.contains("[0-9]*") && !rules.contains('?'), "{rules}");
}

#[test]
fn many_files_that_are_read_deep_below_a_folder_are_learnt_as_that_folder() {
    require!(right_to_trace());
    let project = Project::new();
    let other = Project::new();
    for n in 0..6 {
        other.write(&format!("lib/a/{n}"), "x");
        other.write(&format!("lib/b/cc/{n}"), "x");
    }
    let folder = other.join("lib").canonicalize().expect("the folder");
    let folder = folder.to_str().expect("letters");
    let shell = format!("cat {folder}/*/? {folder}/*/*/? > /dev/null");
    let rules = project.learnt(&[], &[], &["sh", "-c", &shell]);
    assert!(rules.contains(&format!("{folder}/**")), "{rules}");
    other.write("lib/b/new", "x");
    let more = format!("{shell}; cat {folder}/b/new > /dev/null");
    project.holds(&[], &["sh", "-c", &more]);
}

#[test]
fn what_lies_beside_files_of_a_home_that_were_read_is_not_allowed_by_learnt_rules() {
    require!(right_to_trace());
    let project = Project::new();
    let other = Project::new();
    for n in 0..9 {
        other.write(&format!(".cargo/registry/src/{n}"), "x");
    }
    other.write(".cargo/config.toml", "x");
    other.write(".cargo/credentials.toml", "x");
    let home = other.path().canonicalize().expect("the folder");
    let variables = [("HOME", home.to_str().expect("letters"))];
    let shell = "cat ~/.cargo/registry/src/* ~/.cargo/config.toml > /dev/null";
    let rules = project.learnt(&variables, &[], &["sh", "-c", shell]);
    assert!(rules.contains("/.cargo/registry/src/**"), "{rules}");
    project.holds(&variables, &["sh", "-c", shell]);
    let words = ["check", "rules.yaml", "--", "sh", "-c"];
    let shell = "cat ~/.cargo/credentials.toml > /dev/null";
    let run = project.harness_with(&variables, &[&words[..], &[shell]].concat());
    run.assert_status(1);
    let said = "credentials.toml`";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn keys_that_are_not_asked_for_are_not_learnt() {
    require!(right_to_trace());
    let project = Project::new();
    let options = ["--learn-only", "writes,network"];
    let command = ["sh", "-c", "cat /etc/passwd > out"];
    let rules = project.learnt(&[], &options, &command);
    assert!(
        rules.ends_with("    writes:\n      - out\n    network: []\n"),
        "{rules}"
    );
    project.holds(&[], &command);
    project.holds(&[], &["sh", "-c", "cat /etc/group > out"]);
    let alone = project.harness(&["check", "--learn-only", "writes", "--", "true"]);
    assert_eq!(alone.status, 125, "{}", alone.stderr);
}

#[test]
fn a_name_that_is_no_text_is_learnt_with_a_glob_for_each_such_byte() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let write = "import sys; open(b'k\\xfe\\xe2\\x82z', 'w').close()";
    let command = ["python3", "-I", "-S", "-c", write];
    let rules = project.learnt(&[], &[], &command);
    assert!(rules.contains("k???z"), "{rules}");
    project.holds(&[], &command);
    project.write("rules.yaml", "expect: { confined: { writes: [] } }\n");
    let run = project.harness(&[&["check", "rules.yaml", "--"], &command[..]].concat());
    assert!(
        run.stderr.contains("what allows it: writes: [\"k???z\"]"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_free_port_of_the_loopback_is_learnt_once() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    project.write(
        "net.py",
        "import socket\n\
         a = socket.socket(); a.bind((\"127.0.0.1\", 0)); a.listen()\n\
         b = socket.socket(); b.connect(a.getsockname())\n",
    );
    let command = ["python3", "-I", "-S", "net.py"];
    let rules = project.learnt(&[], &["--learn-only", "network"], &command);
    assert!(
        rules.contains("- \"127.0.0.1:*\"") && !rules.contains(":0"),
        "{rules}"
    );
    project.holds(&[], &command);
}

/// As a suite that looks for a daemon: it finds it on one machine, and on another it does not.
#[test]
fn an_attempt_at_a_socket_that_is_not_there_is_one_and_can_be_allowed() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    for (kind, call) in [
        ("SOCK_STREAM", "connect_ex('none')"),
        ("SOCK_STREAM", "connect_ex('rules.yaml/none')"),
        ("SOCK_DGRAM", "sendto(b'x', '/run/harness-none/log')"),
        ("SOCK_DGRAM", "sendmsg([b'x'], [], 0, 'none')"),
    ] {
        let text = format!(
            "import socket\ns = socket.socket(socket.AF_UNIX, socket.{kind})\n\
             try: s.{call}\nexcept OSError: pass\n"
        );
        let command = ["python3", "-I", "-S", "-c", &text];
        project.write("rules.yaml", "expect: { confined: { network: [] } }\n");
        let run = project.harness(&[&["check", "rules.yaml", "--"], &command[..]].concat());
        run.assert_status(1);
        assert!(
            run.stderr.contains("network` does not allow `unix:"),
            "{}",
            run.stderr
        );
        std::fs::remove_file(project.join("rules.yaml")).expect("removed");
        let rules = project.learnt(&[], &["--learn-only", "network"], &command);
        assert!(rules.contains("none"), "{rules}");
        project.holds(&[], &command);
    }
}

#[test]
fn all_names_of_a_program_that_was_executed_are_learnt() {
    require!(right_to_trace());
    let project = Project::new();
    let script = "cp /bin/true one && ln one two && ./one";
    let rules = project.learnt(&[], &[], &["sh", "-c", script]);
    for name in ["./one", "./two"] {
        assert!(rules.contains(name), "{rules}");
    }
    for made in ["one", "two"] {
        std::fs::remove_file(project.join(made)).expect("a program");
    }
    project.holds(&[], &["sh", "-c", script]);
}

#[test]
fn the_link_by_which_a_command_came_to_its_folder_can_be_allowed() {
    require!(right_to_trace());
    let (project, elsewhere) = elsewhere();
    let link = elsewhere.path().join("current");
    let path = link.display().to_string();
    let came = [("PWD", path.as_str())];
    let remove = ["rm", &path];
    let linked = || std::os::unix::fs::symlink(project.path(), &link).expect("a link");
    linked();
    let rules = project.learnt(&came, &[], &remove);
    assert!(rules.contains(&path), "{rules}");
    linked();
    project.holds(&came, &remove);
    // What was learnt of another path does not allow it.
    project.write("rules.yaml", "expect: { confined: { writes: [made] } }\n");
    linked();
    let words = [&["check", "rules.yaml", "--"], &remove[..]].concat();
    project.harness_with(&came, &words).assert_status(1);
}
