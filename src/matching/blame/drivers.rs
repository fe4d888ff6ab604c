//! Programs of runners that run one test each, and say which by their arguments.

/// The name of the test that a program with these words runs, and nothing in it where the name
/// stands behind what was read of them; `None` if it is no such program. The first word is the
/// program.
pub(super) fn of_driver(words: &[&[u8]], is_cut: bool) -> Option<Option<Vec<u8>>> {
    match of_automake(words) {
        Some(name) => Some(Some(name)),
        None => of_bats(words).map(|name| Some(name).filter(|_| !is_cut)),
    }
}

/// A driver of Automake's: `test-driver --test-name NAME --log-file .. --trs-file .. -- PROGRAM`.
fn of_automake(words: &[&[u8]]) -> Option<Vec<u8>> {
    let options = words.iter().take_while(|word| **word != b"--");
    let options: Vec<&[u8]> = options.copied().collect();
    let value = |name: &[u8]| {
        options.iter().enumerate().find_map(|(at, word)| {
            let rest = word.strip_prefix(name)?;
            match rest.strip_prefix(b"=") {
                None if rest.is_empty() => options.get(at + 1).copied(),
                value => value,
            }
        })
    };
    value(b"--trs-file")
        .and(value(b"--test-name"))
        .map(<[u8]>::to_vec)
}

/// `bats-exec-test [OPTIONS] FILE FUNCTION NUMBER..`, by itself or by the name that bash reads.
fn of_bats(words: &[&[u8]]) -> Option<Vec<u8>> {
    let name_of = |path: &[u8]| path.rsplit(|byte| *byte == b'/').next() == Some(b"bats-exec-test");
    let at = words.iter().take(2).position(|word| name_of(word))?;
    let arguments = words.get(at + 1..)?;
    let is_number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    let function = arguments.iter().rfind(|word| !is_number(word))?;
    Some(described(function))
}

/// The description of a test, of which bats makes the name of a function: a blank becomes a `_`,
/// and what is no letter `-` and its number; `_` becomes `-5f`, and that `-2d5f` where no other
/// sign is.
fn described(function: &[u8]) -> Vec<u8> {
    let Some(mut rest) = function.strip_prefix(b"test_") else {
        return function.to_vec();
    };
    let mut text = Vec::new();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        let number = behind.split_at_checked(2).filter(|_| *first == b'-');
        let number = number.and_then(|(digits, behind)| {
            let digits = core::str::from_utf8(digits).ok()?;
            Some((u8::from_str_radix(digits, 16).ok()?, behind))
        });
        match (first, number) {
            (_, Some((b'-', behind))) if behind.starts_with(b"5f") => {
                text.push(b'_');
                rest = behind.get(2..).unwrap_or_default();
            }
            (_, Some((letter, behind))) => {
                text.push(letter);
                rest = behind;
            }
            (b'_', None) => text.push(b' '),
            (letter, None) => text.push(*letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::of_driver;

    fn check(words: &[&str], name: Option<&str>) {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let found = of_driver(&words, false);
        let name = name.map(|name| Some(name.as_bytes().to_vec()));
        assert_eq!(found, name, "{words:?}");
    }

    #[test]
    fn a_driver_of_automakes_names_its_test() {
        let driver = ["/bin/bash", "./test-driver", "--test-name", "sub/net.sh"];
        let files = ["--log-file", "net.sh.log", "--trs-file", "net.sh.trs"];
        let program = ["--", "./net.sh", "--test-name", "other"];
        check(
            &[&driver[..], &files, &program].concat(),
            Some("sub/net.sh"),
        );
        let perl = [
            "perl",
            "tap-driver.pl",
            "--trs-file=t.trs",
            "--test-name=t/a.t",
            "--",
            "t/a.t",
        ];
        check(&perl, Some("t/a.t"));
        check(&[&driver[..], &program].concat(), None);
        check(
            &[&driver[..2], &["--"], &driver[2..], &files].concat(),
            None,
        );
    }

    #[test]
    fn a_program_of_bats_that_runs_one_test_names_it_as_it_is_described() {
        let check = |function: &str, name: &str| {
            let words = [
                "/usr/libexec/bats-core/bats-exec-test",
                "--dummy-flag",
                "/x/a.bats",
            ];
            let all = [&words[..], &[function, "1", "12", "1"]].concat();
            check(&all, Some(name));
            check(&[&["bash"], &all[..]].concat(), Some(name));
        };
        check("test_saves_a_file", "saves a file");
        check("test_a-2d5fb-2dc", "a_b-c");
        check("test_net-3a_a-5fb", "net: a_b");
        check("own_function", "own_function");
        let cut: [&[u8]; 3] = [b"bats-exec-test", b"--dummy-flag", b"/x/a.bats"];
        assert_eq!(of_driver(&cut, true), Some(None));
    }
}
