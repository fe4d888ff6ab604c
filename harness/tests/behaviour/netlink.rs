//! Messages of netlink in snapshots.

use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// Asks for the first device, with a number for the question that is another one in each run, by a
/// socket whose port is its own.
const ASKS: &str = "\
import os, socket, struct
number = int.from_bytes(os.urandom(4), 'little') | 1
asks = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
asks.bind((0, 0))
asks.sendto(struct.pack('=IHHIIBxHiII', 32, 18, 1, number, 0, 0, 0, 1, 0, 0), (0, 0))
assert struct.unpack_from('=I', asks.recv(4096), 8)[0] == number
asks.sendto(struct.pack('=IHHIIBxHiII', 32, 18, 1, number, 0, 0, 0, 99, 0, 0), (0, 0))
asks.recv(4096)
";

fn scenario(run: &str, contents: u16) -> String {
    format!(
        "workload: {{ {run} }}
trace: {{ events: [{{ syscalls: [sendto, recvfrom, sendmsg, recvmsg] }}] }}
snapshot: {{ contents: {contents} }}
"
    )
}

/// The snapshot of a scenario, whose next runs are the same.
fn snapshot(yaml: &str) -> String {
    let project = Project::with("it", yaml);
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    project
        .harness(&["run", "--repeat", "5", "scenarios"])
        .assert_status(0);
    project.read("snapshots/it.snap")
}

fn asks(contents: u16) -> String {
    let script = ASKS.replace('\n', "\\n");
    snapshot(&scenario(
        &format!("run: [python3, -I, -S, -c, \"{script}\"]"),
        contents,
    ))
}

#[test]
fn a_question_and_its_answer_are_the_same_text_in_every_run() {
    require!(right_to_trace());
    require!(program("python3"));
    let snapshot = asks(4096);
    let header = "nlmsg_seq=<cookie>, nlmsg_pid=";
    let device = "ifi_index=if_nametoindex(\"lo\")";
    for line in [
        format!(
            "sendto(<netlink:1>, [{{nlmsg_len=32, nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST, \
             {header}0}}, {{ifi_family=AF_UNSPEC, ifi_type=ARPHRD_NETROM, {device}, ifi_flags=0, \
             ifi_change=0}}], 32, 0, {{sa_family=AF_NETLINK"
        ),
        format!(
            "nlmsg_type=RTM_NEWLINK, nlmsg_flags=0, {header}P1}}, {{ifi_family=AF_UNSPEC, \
             ifi_type=ARPHRD_LOOPBACK, {device}, "
        ),
        "[{nla_len=7, nla_type=IFLA_IFNAME}, \"lo\"]".to_owned(),
        "[{nla_len=8, nla_type=IFLA_MTU}, 65536]".to_owned(),
        "{rx_packets=<machine>, ".to_owned(),
        format!(
            "{header}P1}}, {{error=-ENODEV, msg=[{{nlmsg_len=32, nlmsg_type=RTM_GETLINK, \
             nlmsg_flags=NLM_F_REQUEST, {header}0}}, {{ifi_family="
        ),
    ] {
        assert!(snapshot.contains(&line), "{line}\n{snapshot}");
    }
}

#[test]
fn a_message_that_is_cut_ends_with_dots() {
    require!(right_to_trace());
    require!(program("python3"));
    let snapshot = asks(24);
    let cut = "{ifi_family=AF_UNSPEC, ifi_type=ARPHRD_LOOPBACK, ifi_index=if_nametoindex(\"lo\"), ...}, ...], ";
    assert!(snapshot.contains(cut), "{snapshot}");
    // Not even a header.
    let snapshot = asks(8);
    let bytes = "sendto(<netlink:1>, \" \\0\\0\\0\\22\\0\\1\\0\"..., 32, 0, ";
    assert!(snapshot.contains(bytes), "{snapshot}");
}

#[test]
fn what_ip_asks_of_a_network_of_its_own_is_the_same_text_in_every_run() {
    require!(right_to_trace());
    require!(program("ip"));
    let script = "ip link set lo up; ip address add 10.1.2.3/8 dev lo; ip link; ip address; \
                  ip route show table local; ip neighbour; ip rule";
    let snapshot = snapshot(&scenario(&format!("shell: \"{script}\""), 4096));
    for told in [
        "[{nla_len=8, nla_type=IFA_LOCAL}, inet_addr(\"10.1.2.3\")]",
        "[{nla_len=8, nla_type=RTA_DST}, inet_addr(\"10.0.0.0\")]",
        "cstamp=<time>, tstamp=<time>}",
        "[{nla_len=8, nla_type=FRA_TABLE}, RT_TABLE_LOCAL]",
    ] {
        assert!(snapshot.contains(told), "{told}\n{snapshot}");
    }
}
