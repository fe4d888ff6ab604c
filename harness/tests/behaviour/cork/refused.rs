//! What never gets through the cork, and why.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use perf_live::sandbox::WorldSpec;
use perf_live::sandbox::{LaunchError, Workload, World, launch};

use super::{own_world, watch, workload, worlds};
use crate::support::PATIENCE;
use crate::support::require::{require, right_to_trace};

#[test]
fn each_reason_why_a_program_does_not_run_has_a_message_of_its_own() {
    require!(right_to_trace());
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str, mode| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("permissions");
    };
    write("denied", "#!/bin/sh\n", 0o644);
    write("orphan", "#!/no/such/interpreter -x\n", 0o755);
    write("text", "echo no program\n", 0o755);
    fs::create_dir(folder.path().join("folder")).expect("a folder");
    let cases = [
        (
            "./gone",
            127,
            "`./gone` could not be executed: no such file",
        ),
        (
            "./gone/further",
            127,
            "`./gone/further` could not be executed: no such file",
        ),
        (
            "./denied",
            126,
            "`./denied` could not be executed: permission denied",
        ),
        (
            "./orphan",
            126,
            "`./orphan` could not be executed: its interpreter `/no/such/interpreter` does not exist",
        ),
        (
            "./folder",
            126,
            "`./folder` could not be executed: it is a directory",
        ),
        (
            "./text",
            126,
            "`./text` could not be executed: not a program and no `#!` line",
        ),
    ];
    for world in worlds() {
        for (program, status, message) in cases {
            let corked = launch(&Workload {
                directory: Some(folder.path().to_owned()),
                ..workload(&[program], &world)
            });
            let corked = corked.expect("the cork does not look at the program");
            let watched = watch(&corked);
            match corked.uncork(PATIENCE) {
                Err(LaunchError::NotExecuted(error)) => {
                    assert_eq!(
                        (error.shell_status(), error.to_string().as_str()),
                        (status, message)
                    );
                }
                other => panic!("{world:?} `{program}`: {other:?}"),
            }
            watched.wait();
        }
    }
}

#[test]
fn a_step_before_the_program_that_fails_is_named() {
    require!(right_to_trace());
    for world in [World::Host, own_world(&WorldSpec::default())] {
        let corked = launch(&Workload {
            directory: Some(Path::new("/no/such/folder").to_owned()),
            ..workload(&["true"], &world)
        });
        let error = corked
            .expect("a cork")
            .uncork(PATIENCE)
            .expect_err("no such folder");
        let text = perf_live::errors::chain(&error);
        let doing = match world {
            World::Host => "the workload's process failed while changing to its working directory",
            World::Own(_) => {
                "the sandbox could not be made: it failed while getting hold of `/no/such/folder`"
            }
        };
        assert_eq!(text, format!("{doing}: no such file or directory"));
    }
}
