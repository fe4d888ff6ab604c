//! Which words there are, and what they come to. Where the other test includes `update.rs` no test
//! runs, so that these stand apart.

use crate::update::Update;

fn of(set: &[(&str, &str)]) -> Result<Update, String> {
    Update::of(|name| {
        let mut set = set.iter();
        set.find_map(|(known, word)| (*known == name).then(|| word.into()))
    })
}

#[test]
fn the_words_are_those_of_insta() {
    for (word, update) in [
        ("", Update::Pending),
        ("auto", Update::Pending),
        ("new", Update::Pending),
        ("unseen", Update::Unseen),
        ("always", Update::Accept),
        ("force", Update::Accept),
        ("1", Update::Accept),
        ("no", Update::Never),
    ] {
        for name in ["HARNESS_UPDATE", "INSTA_UPDATE"] {
            assert_eq!(of(&[(name, word)]), Ok(update), "{name}={word}");
            for (ci, expected) in [("", update), ("0", update), ("true", Update::Never)] {
                assert_eq!(of(&[(name, word), ("CI", ci)]), Ok(expected), "{word} {ci}");
            }
        }
    }
    assert_eq!(of(&[]), Ok(Update::Pending));
}

#[test]
fn a_word_that_is_none_is_told_of_with_its_variable() {
    for name in ["HARNESS_UPDATE", "INSTA_UPDATE"] {
        for word in ["0", "yes", "Always"] {
            let told = of(&[(name, word)]).unwrap_err();
            assert!(told.starts_with(&format!("{name} is `{word}`")), "{told}");
        }
    }
}

#[test]
fn what_is_said_to_the_harness_itself_comes_first() {
    let both = |own, other| of(&[("HARNESS_UPDATE", own), ("INSTA_UPDATE", other)]);
    assert_eq!(both("no", "always"), Ok(Update::Never));
    assert_eq!(both("always", "no"), Ok(Update::Accept));
    assert_eq!(both("", "no"), Ok(Update::Never));
}

#[test]
fn what_is_not_written_waits_for_no_review_and_is_not_forgiven() {
    let set = |_: &str| Some("1".into());
    let forgiving = [Update::Pending, Update::Unseen, Update::Accept];
    assert!(forgiving.iter().all(|update| update.forgives(set)));
    assert!(!Update::Never.forgives(set));
    assert!(!Update::Pending.forgives(|_| None));
}
