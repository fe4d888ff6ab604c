//! What is left out where a trace starts with the programs themselves.

use super::Story;
use crate::trace::{Level, View};
use syscall_model::{Observation, Role, ThreadId};

fn story() -> Story {
    let mut story = Story::new(500);
    story.born(0, 0, None);
    story
}

/// A call that is this to the start of its program.
fn call(story: &mut Story, name: &str, role: Option<Role>) {
    story.tell(super::entered_as(0, name));
    if let Some(role) = role {
        story.tell(Observation::Starting(ThreadId(0), role));
    }
    story.finish_call(0, name, [0; 6], 0);
}

const LOADS: Option<Role> = Some(Role::Loads);
const FIRST: Option<Role> = Some(Role::First);

fn lines(story: Story, level: Level) -> Vec<String> {
    let view = View {
        level,
        ..View::default()
    };
    let text = story.text(&view);
    let lines = text.lines().filter_map(|line| line.strip_prefix("  "));
    let name = |line: &str| line.split('(').next().map(str::to_owned);
    lines.filter_map(name).collect()
}

/// An exec, three calls of the loader, two of the program, and a library loaded later.
fn started() -> Story {
    let mut story = story();
    call(&mut story, "getpid", None);
    story.executed(0, "it");
    for name in ["getuid", "getgid", "sync"] {
        call(&mut story, name, LOADS);
    }
    call(&mut story, "sync", FIRST);
    call(&mut story, "getuid", None);
    story
}

#[test]
fn what_the_loader_did_is_left_out_once_the_program_makes_a_call() {
    assert_eq!(
        lines(started(), Level::Sequence),
        ["getpid", "sync", "getuid"]
    );
    assert_eq!(
        lines(started(), Level::Counts),
        ["getpid 1", "getuid 1", "sync 1"]
    );
}

#[test]
fn a_loader_that_never_gives_way_is_shown() {
    let start = |ends: bool| {
        let mut story = story();
        call(&mut story, "getuid", LOADS);
        // It executes another program, or ends.
        if ends {
            story.executed(0, "other");
            call(&mut story, "getgid", LOADS);
            call(&mut story, "sync", FIRST);
        }
        lines(story, Level::Sequence)
    };
    assert_eq!(start(false), ["getuid"]);
    assert_eq!(start(true), ["getuid", "sync"]);
}
