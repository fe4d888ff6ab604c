use super::{Names, lasting, without_hash};
use crate::matching::varying;
use perf_records::glob::path_glob;
use std::collections::BTreeMap;

/// Names of a command that made these, and took them away if they begin so.
fn names<'s>(temporary: &'s [String], made: &[&'s str], gone: &[&'s str]) -> Names<'s> {
    let mut names = Names {
        temporary,
        made: made.iter().copied().collect(),
        gone: gone.iter().copied().collect(),
        own: BTreeMap::new(),
    };
    names.generalise();
    names
}

#[test]
fn a_drawn_name_becomes_a_glob_and_another_one_stays() {
    for (name, glob) in [
        ("tmpk3j2h1_x", "tmp????????"),
        ("tmpabcdefg1", "tmp????????"),
        ("save.Xa81Qz", "save.??????"),
        (".conf.swp12", ".conf.swp12"),
        ("x.cpython-313.pyc.139842", "x.cpython-[0-9]*.pyc.[0-9]*"),
        ("pytest-of-root", "pytest-of-root"),
        ("pytest-12", "pytest-[0-9]*"),
        ("config.toml.tmp", "config.toml.tmp"),
        ("go-build310204", "go-build[0-9]*"),
        ("a[b]", "a[[]b]"),
        ("test_db0", "test_db[0-9]*"),
        ("test_a_name_of_two12", "test_a_name_of_two[0-9]*"),
        ("app_Xa81Qz", "app_??????"),
        ("app_k3j2h1_x", "app_????????"),
        ("abc_k3j1", "????????"),
        ("xkd_a1b2c3d4", "????????????"),
        (
            "garbage-1b9d6bcd-bbfd-4b2d-9b5d-abdfbbd4bded.d",
            "garbage-????????-????-????-????-????????????.d",
        ),
        (
            "1b9d6bcd-bbfd-4b2d-9b5d-abdfbbd4bdedx",
            "????????-bbfd-4b2d-9b5d-?????????????",
        ),
    ] {
        assert_eq!(varying(name), glob, "{name}");
    }
    assert_eq!(without_hash("net-0123456789abcdef"), "net-*");
    assert_eq!(without_hash("net-2"), "net-2");
}

#[test]
fn a_glob_of_a_drawn_name_does_not_take_its_neighbours() {
    let tmp = ["/tmp".to_owned()];
    for (drawn, other, evil) in [
        ("/tmp/tmpab12cd_x", "/tmp/tmp9z8y7x_w", "/tmp/evil"),
        ("/tmp/tmp.Xa81Qz4Rkw", "/tmp/tmp.b3Kd9LmQ2z", "/tmp/tmp.x"),
        ("/tmp/go-build310204", "/tmp/go-build99", "/tmp/go-evil"),
    ] {
        let glob = names(&tmp, &[drawn], &[]).glob(drawn);
        assert!(path_glob(&glob, drawn) && path_glob(&glob, other), "{glob}");
        assert!(!path_glob(&glob, evil), "{glob}");
    }
}

#[test]
fn of_a_name_that_is_gone_only_what_was_drawn_becomes_a_glob() {
    for (path, glob) in [
        ("sedY8MorW", "sed??????"),
        ("sedabcdef", "sed??????"),
        ("XX0ptU3B", "XX??????"),
        ("XXaaaaaa", "XX??????"),
        ("psm_734b6deb", "psm_????????"),
        ("psm_12345678", "psm_????????"),
        ("TryCompile-OI8Bx7", "TryCompile-??????"),
        ("TryCompile-OI8Bx7/a", "TryCompile-??????/a"),
        ("savedY8MorW", "saved??????"),
        (".conf.Xa81Qz", ".conf.??????"),
        // Nothing of these was drawn, or all.
        ("CMakeLists.txt", "CMakeLists.txt"),
        ("TryCompile", "TryCompile"),
        ("Makefile2", "Makefile2"),
        ("README", "README"),
        ("sediment", "sediment"),
        ("Y8MorW", "Y8MorW"),
        ("a[b]", "a[[]b]"),
    ] {
        assert_eq!(lasting(path, Some(0)), glob, "{path}");
    }
    // What lies above the name that is gone is as it was.
    let glob = lasting("run-12/sub.Xa81Qz/sedY8MorW", Some(18));
    assert_eq!(glob, "run-12/sub.Xa81Qz/sed??????");
}

#[test]
fn a_name_of_a_temporary_file_is_drawn_wherever_that_folder_is() {
    for (folder, below) in [("/tmp", "/tmp/"), ("t", "t/"), ("", "")] {
        let temporary = [folder.to_owned()];
        let path = |name: &str| format!("{below}{name}");
        let [try_one, run, old] =
            ["negdehai", "pytest-of-me/pytest-4", "pytest-of-me/pytest-1"].map(path);
        let names = names(&temporary, &[&try_one, &run], &[&try_one, &old]);
        for (name, glob) in [
            ("negdehai", "????????"),
            (
                "pytest-of-me/pytest-4/a.py",
                "pytest-of-me/pytest-[0-9]*/a.py",
            ),
            ("pytest-of-me/pytest-1", "pytest-of-me/pytest-[0-9]*"),
            // Of another run, beside those that this one made.
            (
                "pytest-of-me/pytest-3/.lock",
                "pytest-of-me/pytest-[0-9]*/.lock",
            ),
            // What the shell in front drew, as `mktemp` does.
            ("tmp.Xa81Qz4Rkw", "tmp.??????????"),
        ] {
            assert_eq!(names.glob(&path(name)), path(glob));
        }
    }
}

#[test]
fn what_lies_among_temporary_files_and_was_not_made_by_the_command_has_its_own_name() {
    let temporary = ["/tmp".to_owned()];
    let cached = "/tmp/ci/venv/lib/python3.11/a/__pycache__";
    let names = names(&temporary, &[cached, "/tmp/ci/venv/x9k2m4.pyc.1392"], &[]);
    for (path, glob) in [
        (
            "/tmp/ci/venv/lib/python3.11/virtualenv-20.17.1.dist-info/RECORD",
            None,
        ),
        ("/tmp/b4f3a2/checkout", None),
        (cached, None),
        (
            "/tmp/ci/venv/x9k2m4.pyc.1392",
            Some("/tmp/ci/venv/??????.pyc.[0-9]*"),
        ),
    ] {
        assert_eq!(names.glob(path), glob.unwrap_or(path));
    }
}

#[test]
fn names_of_several_families_keep_what_they_begin_with_in_folders_that_were_drawn() {
    let temporary = ["/tmp".to_owned()];
    let made = [
        "/tmp/run.Xa81Qz",
        "/tmp/run.Xa81Qz/ppR4xk1Q",
        "/tmp/run.Xa81Qz/ppa0bWzz",
        "/tmp/run.b3Kd9L/ppX9d2Lm",
        "/tmp/run.b3Kd9L",
        "/tmp/run.b3Kd9L/k3j2h1_x",
    ];
    let names = names(&temporary, &made, &[]);
    assert_eq!(names.glob(made[1]), "/tmp/run.??????/pp??????");
    assert_eq!(names.glob(made[5]), "/tmp/run.??????/????????");
    // It looks like a word, and is of the family.
    let other = "/tmp/run.b3Kd9L/ppabcdef";
    assert_eq!(names.glob(other), "/tmp/run.??????/pp??????");
}
