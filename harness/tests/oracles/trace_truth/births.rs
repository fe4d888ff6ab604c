//! Tasks that come into being in unusual ways, or become another program.

use crate::support::calls::Outcome;
use crate::support::harness::trace;
use crate::support::oracle;
use crate::support::require::{self, require};

#[test]
fn a_child_by_vfork_is_followed_into_its_program() {
    require!(require::right_to_trace());
    if cfg!(not(target_arch = "x86_64")) {
        return require::skip("vfork is a call on x86_64 only");
    }
    let traced = trace(&[&oracle::path(), "vfork"]);
    let facts = traced.facts();
    let child = facts.one("child");
    let pid = child.id("pid");
    let parent = traced
        .calls
        .iter()
        .find(|call| call.name == "vfork" && call.ret != Some(0));
    assert_eq!(parent.and_then(|call| call.ret), Some(child.number("pid")));
    let names: Vec<String> = traced
        .thread(pid)
        .iter()
        .map(|call| call.name.clone())
        .collect();
    let own: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| *name != "vfork")
        .collect();
    assert_eq!(
        own[..6],
        [
            "getpgid", "getpgid", "getpgid", "getpgid", "getpgid", "execve"
        ]
    );
    assert_eq!(own.last(), Some(&"exit_group"));
    assert_eq!(traced.successes(pid, "getpgid"), child.number("count"));
    assert_eq!(traced.successes(pid, "execve"), 1);
    let last = traced.thread(pid).last().map(|call| call.comm.clone());
    assert_eq!(last.as_deref(), Some("true"), "the name after the exec");
}

#[test]
fn a_child_by_clone3_is_followed() {
    require!(require::right_to_trace());
    let traced = trace(&[&oracle::path(), "clone3"]);
    let facts = traced.facts();
    let child = facts.one("child");
    let parent = traced
        .calls
        .iter()
        .find(|call| call.name == "clone3" && call.ret != Some(0));
    assert_eq!(parent.and_then(|call| call.ret), Some(child.number("pid")));
    assert_eq!(
        traced.successes(child.id("pid"), "getpgid"),
        child.number("count")
    );
}

#[test]
fn a_daemonised_grandchild_is_followed_to_its_end() {
    require!(require::right_to_trace());
    let traced = trace(&[&oracle::path(), "daemon"]);
    let facts = traced.facts();
    let daemon = facts.one("daemon");
    assert_eq!(
        traced.successes(daemon.id("pid"), "getpgid"),
        daemon.number("count")
    );
    let last = traced
        .thread(daemon.id("pid"))
        .last()
        .map(|call| call.call());
    let last = last.expect("calls of the daemon");
    assert_eq!(
        (last.name.as_str(), last.outcome),
        ("exit_group", Outcome::Never)
    );
    assert_eq!(traced.successes(facts.one("middle").id("pid"), "setsid"), 1);
}

#[test]
fn an_exec_by_another_thread_ends_the_others_calls_without_a_result() {
    require!(require::right_to_trace());
    let traced = trace(&[&oracle::path(), "thread-exec"]);
    let facts = traced.facts();
    let exec = facts.one("exec");
    let (thread, leader) = (exec.id("tid"), exec.id("pid"));
    for blocked in facts.all("blocked") {
        let calls = traced.thread(blocked.id("tid"));
        let last = calls.iter().rfind(|call| call.name == blocked.word("call"));
        let last = last.expect("the call in which the thread was blocked");
        // The leader's id passes to the thread that executes; the execve's result must not become
        // the futex's.
        assert_eq!(last.ret, None, "{last:?}");
    }
    let execs: Vec<_> = traced
        .calls
        .iter()
        .filter(|call| call.name == "execve")
        .collect();
    let [first, second] = execs[..] else {
        panic!("two programs were executed: {execs:?}");
    };
    assert_eq!((first.tid, first.ret), (leader, Some(0)));
    // It is entered by the thread and returns to the leader's id: either is true.
    assert!(second.tid == thread || second.tid == leader, "{second:?}");
    assert_eq!((second.pid, second.ret), (leader, Some(0)));
    let after = traced
        .calls
        .iter()
        .filter(|call| call.time_ns > second.time_ns && call.comm == "true");
    let tids: Vec<i32> = after.map(|call| call.tid).collect();
    assert!(
        tids.len() > 5 && tids.iter().all(|tid| *tid == leader),
        "{tids:?}"
    );
}

#[test]
fn a_process_that_executes_itself_stays_one_process() {
    require!(require::right_to_trace());
    let traced = trace(&[&oracle::path(), "exec-self", "3"]);
    let facts = traced.facts();
    let said = facts.all("exec");
    assert_eq!(said.len(), 4);
    let pid = said[0].id("pid");
    assert_eq!(traced.successes(pid, "execve"), 4);
    assert!(
        traced
            .calls
            .iter()
            .all(|call| call.tid == pid && call.pid == pid)
    );
}
