//! Programs that break promises about processes, descriptors, rights and time.

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        scenario: "true-does-nothing",
        breaks: "it sleeps",
        edits: &[("run: [\"true\"]", "run: [sleep, \"0\"]")],
        says: &["only", "clock_nanosleep"],
    },
    Mutant {
        scenario: "a-server-gives-up-root-before-it-accepts",
        breaks: "the groups of root stay",
        edits: &[("os.setgroups([])\n", "")],
        says: &["setgroups"],
    },
    Mutant {
        scenario: "a-server-gives-up-root-before-it-accepts",
        breaks: "the group is given up before the groups",
        edits: &[
            ("os.setgroups([])\n", ""),
            (
                "os.setresgid(NOBODY, NOBODY, NOBODY)\n",
                "os.setresgid(NOBODY, NOBODY, NOBODY)\nos.setgroups([])\n",
            ),
        ],
        says: &["setresgid"],
    },
    Mutant {
        scenario: "a-server-gives-up-root-before-it-accepts",
        breaks: "the saved user is still root",
        edits: &[
            (
                "os.setresuid(NOBODY, NOBODY, NOBODY)",
                "os.setresuid(NOBODY, NOBODY, 0)",
            ),
            ("    raise SystemExit(\"still root\")\n", "    pass\n"),
        ],
        says: &["setresuid", "suid"],
    },
    Mutant {
        scenario: "a-server-gives-up-root-before-it-accepts",
        breaks: "a client may speak to root",
        edits: &[
            (
                "os.setgroups([])\n",
                "peer, _ = server.accept()\nos.setgroups([])\n",
            ),
            ("    pass\npeer, _ = server.accept()\n", "    pass\n"),
        ],
        says: &["forbids", "accept4"],
    },
    Mutant {
        scenario: "a-pipeline-leaves-no-end-of-a-pipe-open",
        breaks: "a member has the writer a second time",
        edits: &[("cat words |", "cat words 3>&1 |")],
        says: &["never", "dup2"],
    },
    Mutant {
        scenario: "a-pipeline-leaves-no-end-of-a-pipe-open",
        breaks: "the first member keeps the reader, as the one who made it does not see him",
        edits: &[(
            "run: [dash, -c, \"cat words | sort | wc -l\"]",
            "run: [perl, -e, '$^F = 9; pipe R, W; pipe S, X; sub run { my ($in, $out, $not, @argv) = @_; return if fork; if ($in) { open STDIN, \"<&\", $in; close $in } if ($out) { open STDOUT, \">&\", $out; close $out } close $_ for @$not; exec @argv } run(0, W, [], \"cat\", \"words\"); run(R, X, [W, S], \"sort\"); run(S, 0, [R, W, X], \"wc\", \"-l\"); close $_ for R, W, S, X; 1 while wait > 0']",
        )],
        says: &["close"],
    },
    Mutant {
        scenario: "python-passes-no-descriptor-to-a-child",
        breaks: "the file is made inheritable",
        edits: &[(
            "copy = os.dup(secret.fileno())",
            "copy = os.dup(secret.fileno()); os.set_inheritable(copy, True)",
        )],
        says: &["never", "FIONCLEX"],
    },
    Mutant {
        scenario: "python-passes-no-descriptor-to-a-child",
        breaks: "a library opens a file in its own way",
        edits: &[(
            "copy = os.dup",
            "import ctypes; ctypes.CDLL(None).open(b\"secret\", 0); copy = os.dup",
        )],
        says: &["never", "O_CLOEXEC"],
    },
    Mutant {
        scenario: "each-child-is-reaped-exactly-once",
        breaks: "the last child becomes a zombie",
        edits: &[(
            "for my $number (1 .. @workers) {",
            "for my $number (1 .. @workers - 1) {",
        )],
        says: &["wait4", "$third"],
    },
    Mutant {
        scenario: "each-child-is-reaped-exactly-once",
        breaks: "each is waited for twice",
        edits: &[(
            "    waitpid($worker->{pid}, 0) ==",
            "    waitpid($worker->{pid}, 0); my $status = $?; waitpid($worker->{pid}, 0); $? = $status; $worker->{pid} ==",
        )],
        says: &["never", "ECHILD"],
    },
    Mutant {
        scenario: "make-links-when-both-parts-are-there",
        breaks: "a prerequisite is forgotten",
        edits: &[
            ("[make, -s, -j2]", "[make, -s]"),
            ("whole: one two", "all: whole two\n      whole: one"),
        ],
        says: &["execve", "whole"],
    },
    Mutant {
        scenario: "a-build-executes-its-tools-and-speaks-to-nobody",
        breaks: "the time of the build is asked for",
        edits: &[(
            "-o hello hello.c\\n",
            "-o hello hello.c\\n\\tdate > stamp\\n",
        )],
        says: &["only", "/sh"],
    },
    Mutant {
        scenario: "a-build-executes-its-tools-and-speaks-to-nobody",
        breaks: "a server is asked",
        edits: &[(
            "run: [make, -s]",
            "shell: 'exec 2> log; bash -c \"echo > /dev/tcp/127.0.0.1/9\"; make -s'",
        )],
        says: &["only", "socket"],
    },
    Mutant {
        scenario: "a-new-network-namespace-reaches-nobody",
        breaks: "there is no new namespace",
        edits: &[("[unshare, --net, bash,", "[unshare, --uts, bash,")],
        says: &["unshare", "CLONE_NEWNET"],
    },
    Mutant {
        scenario: "a-new-network-namespace-reaches-nobody",
        breaks: "the world can be reached",
        edits: &[("[unshare, --net, bash,", "[bash,")],
        says: &["never", "connect", "ECONNREFUSED"],
    },
    Mutant {
        scenario: "flock-holds-its-lock-until-the-command-has-ended",
        breaks: "the lock is taken beside the command",
        edits: &[(
            "run: [flock, lock, sh, -c, \"echo 1 >> count\"]",
            "shell: flock lock true; sh -c 'echo 1 >> count'",
        )],
        says: &["execve"],
    },
    Mutant {
        scenario: "flock-holds-its-lock-until-the-command-has-ended",
        breaks: "others may have the lock as well",
        edits: &[("[flock, lock,", "[flock, -s, lock,")],
        says: &["flock", "LOCK_SH"],
    },
    Mutant {
        scenario: "a-loop-in-real-time-neither-allocates-nor-opens",
        breaks: "the loop allocates",
        edits: &[(
            "substr($history, $tick * 100_000, 5, 'tick ');",
            "$history .= 'x' x 4_000_000;",
        )],
        says: &["never", "%memory"],
    },
    Mutant {
        scenario: "a-loop-in-real-time-neither-allocates-nor-opens",
        breaks: "the loop opens its log each time",
        edits: &[(
            "syswrite($log, \"tick\\n\");",
            "open($log, '>>', 'log'); syswrite($log, \"tick\\n\");",
        )],
        says: &["only", "openat"],
    },
];
