//! What a scenario lays into the working directory of its workload.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::is_root;
use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};

/// A project with a folder, and a scenario that lists a copy of it.
fn listed(files: &str, stdout: &str) -> Project {
    let project = Project::new();
    for (path, mode) in [("bin", 0o755), ("private", 0o700), ("private/empty", 0o500)] {
        let path = project.join("fixture").join(path);
        fs::create_dir_all(&path).expect("a folder");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    }
    for (path, mode) in [("bin/tool", 0o755), ("config", 0o640)] {
        project.write(&format!("fixture/{path}"), "fixture\n");
        let path = project.join("fixture").join(path);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    }
    symlink("bin/tool", project.join("fixture/link")).expect("a link");
    symlink("/nowhere", project.join("fixture/private/lost")).expect("a link");
    let list = "find data -printf '%M %TY %p %l\\n' | LC_ALL=C sort -k 3; cat data/config";
    project.scenario(
        "it",
        &format!(
            "workload:\n  shell: {list:?}\n  files: {files}\nexpect: {{ stdout: {stdout:?} }}\n\
             trace: {{ events: [{{ syscalls: [mkdir] }}] }}\nsnapshot: false"
        ),
    );
    project
}

const ALL: &str = "\
drwxr-xr-x 2000 data \n\
drwxr-xr-x 2000 data/bin \n\
-rwxr-xr-x 2000 data/bin/tool \n\
-rw-r----- 2000 data/config \n\
lrwxrwxrwx 2000 data/link bin/tool\n\
drwx------ 2000 data/private \n\
dr-x------ 2000 data/private/empty \n\
lrwxrwxrwx 2000 data/private/lost /nowhere\n\
fixture\n";

fn run(project: &Project) -> Run {
    project.harness(&["run", "scenarios"])
}

#[test]
fn a_folder_is_laid_out_with_its_files_folders_links_and_modes() {
    require!(right_to_trace());
    let project = listed("{ data: { from: ../fixture } }", ALL);
    run(&project).assert_status(0);
    project.assert_nothing_left();
}

#[test]
fn of_a_folder_that_is_laid_out_the_scenario_may_write_a_file_itself() {
    require!(right_to_trace());
    let own = ALL.replace("-rw-r----- 2000 data/config", "-rw-r--r-- 2000 data/config");
    let own = own.replace("fixture\n", "own\n");
    let files = "{ data: { from: ../fixture }, data/config: \"own\\n\" }";
    run(&listed(files, &own)).assert_status(0);
}

#[test]
fn a_folder_that_is_laid_out_for_another_user_belongs_to_him_with_all_in_it() {
    require!(right_to_trace());
    require!(is_root());
    let all = "drwx------ 1234 data/private\n\
               dr-x------ 1234 data/private/empty\n\
               lrwxrwxrwx 1234 data/private/lost\n";
    let project = listed("{ data: { from: ../fixture, owner: 1234 } }", all);
    let scenario = project.read("scenarios/it.yaml");
    let (before, list) = scenario.split_once("find data").expect("a list");
    let (_, after) = list.split_once("data/config").expect("its end");
    let list = "find data/private -printf '%M %U %p\\n' | sort -k 3";
    project.write("scenarios/it.yaml", &format!("{before}{list}{after}"));
    run(&project).assert_status(0);
}

#[test]
fn what_a_folder_holds_that_is_laid_out_is_a_part_of_what_a_recording_was_given() {
    require!(right_to_trace());
    let project = listed("{ data: { from: ../fixture } }", ALL);
    let saved = project.harness(&["run", "--save", "saved", "scenarios"]);
    saved.assert_status(0);
    let replay = || project.harness(&["run", "--from", "saved/it.data", "scenarios/it.yaml"]);
    replay().assert_status(0);
    let link = project.join("fixture/link");
    fs::remove_file(&link).expect("the link");
    symlink("config", &link).expect("a link");
    let judged = replay();
    assert!(
        judged.stdout.contains("`workload.files.data/link`"),
        "{judged:?}"
    );
}

#[test]
fn what_cannot_be_laid_out_of_a_folder_is_an_error_before_anything_runs() {
    let project = listed("{ data: { from: ../fixture, mode: \"0600\" } }", "");
    let refused = |what: &str| {
        let refused = run(&project);
        refused.assert_status(2);
        assert!(refused.stderr.contains(what), "{refused:?}");
    };
    refused("what is in a folder has the modes that it has there");
    let scenario = project.read("scenarios/it.yaml");
    project.write(
        "scenarios/it.yaml",
        &scenario.replace(", mode: \"0600\"", ""),
    );
    let pipe = project.join("fixture/private/pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR).expect("a pipe");
    refused("`../fixture/private/pipe` in it is no file, folder or link: it cannot be laid out");
    fs::remove_file(&pipe).expect("the pipe");
    // Through the link it would be laid out elsewhere.
    for (file, above) in [
        ("bin/tool/x", "bin/tool"),
        ("private/lost/x", "private/lost"),
    ] {
        let inside = format!("data: {{ from: ../fixture }}, data/{file}: y");
        project.write(
            "scenarios/it.yaml",
            &scenario.replace("data: { from: ../fixture, mode: \"0600\" }", &inside),
        );
        refused(&format!("`data/{above}` is a file here, not a folder"));
    }
}

#[test]
fn a_power_cut_may_change_a_folder_that_was_laid_out() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("fixture/kept", "old\n");
    project.scenario(
        "it",
        "workload: { shell: 'echo new > data/kept', files: { data: { from: ../fixture } } }\n\
         crash: { watch: [data], recovers: { shell: 'grep -qx old data/kept' } }\nsnapshot: false",
    );
    let run = project.harness(&["crash", "scenarios/it.yaml"]);
    run.assert_status(1);
    assert!(run.stdout.contains("fail"), "{run:?}");
}
