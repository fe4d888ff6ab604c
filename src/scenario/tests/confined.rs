//! Faults in what a run is confined to.

use super::check;

#[test]
fn nothing_is_confined() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { confined: {} }
",
        "
error: `expect.confined` is empty
 --> x.yaml:3:21
  |
3 | expect: { confined: {} }
  |                     ^^
  |
  = help: say what is allowed: { writes: [\"data/**\"], network: [] }
",
    );
}

#[test]
fn an_address_by_a_name() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { confined: { network: [unix:/a, localhost:80] } }
",
        "
error: `expect.confined.network[1]`: `localhost` is no IP address
 --> x.yaml:3:42
  |
3 | expect: { confined: { network: [unix:/a, localhost:80] } }
  |                                          ^^^^^^^^^^^^
  |
  = help: an address is 127.0.0.1:8123, \"[::1]:*\", 10.0.0.0/8:443, \"*:53\", unix:/run/x, unix:@name, family:netlink or raw
",
    );
}

#[test]
fn a_path_that_climbs() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { confined: { writes: [../x] } }
",
        "
error: `expect.confined.writes[0]`: `../x` has `..`, and the paths that it is compared with have none
 --> x.yaml:3:32
  |
3 | expect: { confined: { writes: [../x] } }
  |                                ^^^^
",
    );
}

#[test]
fn a_path_with_what_a_shell_would_replace() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { confined: { writes: [\"/a/${TMPDIR}/**\"] } }
",
        "
error: `expect.confined.writes[0]`: in `/a/${TMPDIR}/**` the `$` stands for itself, and not for the value of a variable, as in a shell
 --> x.yaml:3:32
  |
3 | expect: { confined: { writes: [\"/a/${TMPDIR}/**\"] } }
  |                                ^^^^^^^^^^^^^^^^^
  |
  = help: write the path as it is (/tmp/**), or from the working directory (build/**); for a name with that letter write [$]
",
    );
    check(
        "\
description: d
workload: { run: [ls] }
expect: { confined: { reads: [~/.netrc] } }
",
        "
error: `expect.confined.reads[0]`: in `~/.netrc` the `~` stands for itself, and not for a home folder, as in a shell
 --> x.yaml:3:31
  |
3 | expect: { confined: { reads: [~/.netrc] } }
  |                               ^^^^^^^^
  |
  = help: write the path as it is (/tmp/**), or from the working directory (build/**); for a name with that letter write [~]
",
    );
}

#[test]
fn an_unknown_privilege() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { confined: { privileges: [setuuid] } }
",
        "
error: `expect.confined.privileges[0]`: unknown call that changes privileges `setuuid`
 --> x.yaml:3:36
  |
3 | expect: { confined: { privileges: [setuuid] } }
  |                                    ^^^^^^^
  |
  = help: did you mean `setuid`?
",
    );
}
