//! What a program does beside telling a failure: what it must never do, what it loses, and what is
//! not known of it.

use serde_json::Value;

use super::{all_are, otherwise, python, runs, sweep};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

#[test]
fn what_tells_a_failure_and_does_what_is_forbidden_is_not_handled() {
    require!(right_to_trace());
    require!(program("python3"));
    let never = "expect: { never: [{ mkdir: { path: b } }] }";
    let does = otherwise("os.mkdir('b'); sys.exit(1)", never);
    let lines = sweep(&does, 1, &["--errors", "ENOSPC"]);
    all_are("forbidden", &lines);
    let why = runs(&lines)[0]["why"][0].to_string();
    assert!(why.contains("mkdir"), "{why}");
    let asked = otherwise("sys.exit(1)", never);
    all_are("handled status", &sweep(&asked, 0, &["--errors", "ENOSPC"]));
    // A signal tells it as a status does.
    let by_signal = otherwise(
        "os.mkdir('b'); signal.signal(signal.SIGPIPE, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGPIPE)",
        never,
    );
    all_are("forbidden", &sweep(&by_signal, 1, &["--errors", "ENOSPC"]));
}

#[test]
fn what_tells_a_failure_and_writes_where_it_is_not_confined_to_is_not_handled() {
    require!(right_to_trace());
    let confined = |does: &str| {
        Project::with(
            "it",
            &format!(
                "workload: {{ shell: \"mkdir a || {{ {does} exit 3; }}\" }}\n\
                 expect: {{ confined: {{ writes: [a] }} }}\nsnapshot: false"
            ),
        )
    };
    let options = ["-e", "mkdir", "--errors", "ENOSPC"];
    let does = confined("echo x > b;");
    all_are("forbidden", &sweep(&does, 1, &options));
    let does_not = confined("");
    all_are("handled status", &sweep(&does_not, 0, &options));
}

#[test]
fn a_success_of_which_no_result_is_expected_is_unknown() {
    require!(right_to_trace());
    require!(program("python3"));
    // What must never be done is no result.
    for expect in ["", "expect: { never: [{ mkdir: { path: b } }] }"] {
        let lines = sweep(&otherwise("pass", expect), 1, &[]);
        all_are("unknown", &lines);
        assert_eq!(lines[0]["expects_results"], false, "{expect}");
    }
}

#[test]
fn another_standard_output_of_which_nothing_is_expected_is_unknown_and_no_message() {
    require!(right_to_trace());
    require!(program("python3"));
    // How many folders there are: a wrong number is no message.
    let counts = |then: &str, expect: &str| {
        let script = format!(
            "import os, sys\ntry: os.mkdir('a')\nexcept OSError: {then}\n\
             print(sum(one.is_dir() for one in os.scandir()), 'folders')\n"
        );
        let expect =
            format!("expect: {{ files_after: {{ script.py: {{ exists: true }} }}, {expect} }}");
        let project = python(&script, "mkdir", &format!("{expect}\nsnapshot: false"));
        move |status| sweep(&project, status, &["--errors", "ENOSPC"])
    };
    all_are("unknown", &counts("pass", "")(1));
    all_are("unknown", &counts("sys.exit(0)", "")(1));
    all_are("silent", &counts("pass", "stdout: \"1 folders\\n\"")(1));
    let says = "print('there is no a', file=sys.stderr)";
    all_are("handled message", &counts(says, "")(0));
    let says = "print('there is no a')";
    all_are(
        "handled message",
        &counts(says, "stdout: { contains: folders }")(0),
    );
    all_are("handled status", &counts("sys.exit(1)", "")(0));
    // What is expected came, and something else did not.
    let script = "import os\ntry:\n    os.mkdir('a')\n    print('a')\n\
                  except OSError: pass\nprint('end')\n";
    let expect = "expect: { stdout: { contains: end } }\nsnapshot: false";
    let lines = sweep(&python(script, "mkdir", expect), 0, &["--errors", "ENOSPC"]);
    all_are("handled did_without", &lines);
    let why = serde_json::json!(["standard output is another", "`a` is missing"]);
    assert_eq!(runs(&lines)[0]["why"], why);
}

#[test]
fn who_did_without_is_told_with_the_files_that_are_otherwise() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nopen('main', 'w').write('x')\n\
                  try:\n    os.mkdir('cache')\n    os.symlink('main', 'index')\n\
                  except OSError: open('cache.tmp', 'w').close()\n";
    let expect = "expect: { files_after: { main: x } }\nsnapshot: false";
    let project = python(script, "mkdir", expect);
    let lines = sweep(&project, 0, &["--errors", "ENOSPC"]);
    all_are("handled did_without", &lines);
    let why = [
        "`cache` is missing",
        "`cache.tmp` is there as well",
        "`index` is missing",
    ];
    assert_eq!(runs(&lines)[0]["why"], serde_json::json!(why));
    let words = ["sweep", "--errors", "ENOSPC", "scenarios/it.yaml"];
    let run = project.harness(&words);
    let line = "  handled  ENOSPC       did without: `cache` is missing, and 2 more\n";
    assert!(run.stdout.contains(line), "{run:?}");
}

#[test]
fn a_file_that_was_given_and_is_neither_old_nor_new_is_damaged() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = |script: &str| {
        let rest = "expect: { files_after: { list: \"milk\\n\" } }\nsnapshot: false";
        let project = python(script, "write, rename", rest);
        let text = project.read("scenarios/it.yaml");
        let own = "script.py: { from: ../script.py }";
        let text = text.replace(own, &format!("{own}, list: \"bread\\n\""));
        project.write("scenarios/it.yaml", &text);
        project
    };
    let in_place = "import os\nlist = os.open('list', os.O_WRONLY | os.O_TRUNC)\n\
                    os.write(list, b'milk\\n')\n";
    let lines = sweep(&project(in_place), 1, &["--errors", "ENOSPC,EIO"]);
    all_are("damaged", &lines);
    let why = runs(&lines)[0]["why"][0].to_string();
    assert!(why.contains("`list` is neither as it was given"), "{why}");
    // So it is beside a message, or with something else that is forbidden.
    let beside = "import os\nnew = os.open('new', os.O_WRONLY | os.O_CREAT)\n\
                  os.write(new, b'milk\\n')\nos.rename('new', 'list')\n";
    let lines = sweep(&project(beside), 0, &["--errors", "ENOSPC,EIO"]);
    all_are("handled status", &lines);
    // What was kept under another name is there.
    let moved = "import os\nos.rename('list', 'list.old')\n\
                 list = os.open('list', os.O_WRONLY | os.O_CREAT)\nos.write(list, b'milk\\n')\n";
    let options = ["-e", "write", "--errors", "ENOSPC,EIO"];
    all_are("handled status", &sweep(&project(moved), 0, &options));
}

#[test]
fn a_call_that_only_the_first_run_without_faults_makes_is_told_and_no_good_end() {
    require!(right_to_trace());
    let project = Project::new();
    let runs_so_far = project.join("runs").display().to_string();
    project.scenario(
        "it",
        &format!(
            "sandbox: {{ root: host }}\n\
             workload: {{ shell: \"echo >> '{runs_so_far}'; mkdir a || exit 1; \
             test $(wc -l < '{runs_so_far}') -gt 1 || rmdir a\" }}\n\
             trace: {{ events: [{{ syscalls: [mkdir, rmdir] }}] }}\nsnapshot: false"
        ),
    );
    let lines = sweep(&project, 1, &["--errors", "EACCES"]);
    all_are("handled status", &lines);
    let lost = lines[0]["lost"].as_array().expect("a list");
    assert_eq!(lost.len(), 1, "{lines:#?}");
    assert_eq!(lost[0]["call"], "rmdir");
    assert_eq!(lost[0]["line"], "rmdir(\"a\") = 0");
    assert_eq!(lines.last().expect("a summary")["lost"], 1);
    project.write("runs", "");
    let run = project.harness(&["sweep", "--errors", "EACCES", "scenarios/it.yaml"]);
    run.assert_status(1);
    assert!(
        run.stdout
            .contains("rmdir  rmdir(\"a\") = 0\n    unknown  never failed: only the first"),
        "{run:?}"
    );
    assert!(run.stdout.ends_with("; 1 site never failed\n"), "{run:?}");
}

#[test]
fn a_call_that_only_the_second_run_without_faults_makes_is_told_as_such() {
    require!(right_to_trace());
    let project = Project::new();
    let runs_so_far = project.join("runs").display().to_string();
    project.scenario(
        "it",
        &format!(
            "sandbox: {{ root: host }}\n\
             workload: {{ shell: \"echo >> '{runs_so_far}'; mkdir a || exit 1; \
             test $(wc -l < '{runs_so_far}') -ne 2 || rmdir a\" }}\n\
             trace: {{ events: [{{ syscalls: [mkdir, rmdir] }}] }}\nsnapshot: false"
        ),
    );
    let lines = sweep(&project, 1, &["--errors", "EACCES"]);
    let lost = lines[0]["lost"].as_array().expect("a list");
    assert_eq!(lost.len(), 1, "{lines:#?}");
    assert_eq!(lost[0]["call"], "rmdir");
    let why = "only the second of the two runs without faults has such a call";
    assert_eq!(lost[0]["why"], why);
}

#[test]
fn what_a_message_says_and_which_process_hangs_is_shown() {
    require!(right_to_trace());
    require!(program("python3"));
    let says = otherwise("print('there is no a', file=sys.stderr)", "");
    let words = ["sweep", "--errors", "ENOSPC", "scenarios/it.yaml"];
    let run = says.harness(&words);
    run.assert_status(0);
    let line = "  handled  ENOSPC       a message: there is no a\n";
    assert!(run.stdout.contains(line), "{run:?}");
    let hung = Project::with(
        "it",
        "workload: { shell: \"mkdir a || sleep 1000\" }\n\
         trace: { events: [{ syscalls: [mkdir] }] }\nsnapshot: false",
    );
    let lines = sweep(&hung, 1, &["--errors", "ENOSPC"]);
    all_are("hung", &lines);
    let told = |why: &Value| why.to_string().contains("(`sleep 1000`)");
    let why = runs(&lines)[0]["why"].as_array().expect("a list");
    assert!(why.iter().any(told), "{lines:#?}");
}
