//! Names that a program or the kernel drew, as globs of what stays of them in the next run.

use perf_records::glob::escaped;

/// A name as [`varying`] has it, if something of it stays in front: a glob of a whole name would be
/// one of all that lies beside it.
#[must_use]
pub fn varying_behind(name: &str) -> Option<String> {
    Some(varying(name)).filter(|glob| !glob.starts_with(['*', '?', '[']))
}

/// A name with a `?` for each letter that looks drawn, and `[0-9]*` for a number.
#[must_use]
pub fn varying(name: &str) -> String {
    let mut glob = String::new();
    let mut rest = name;
    while !rest.is_empty() {
        let is_first = glob.chars().last().is_none_or(|c| !c.is_alphanumeric());
        if let Some((uuid, behind)) = rest.split_at_checked(UUID.len()).filter(|_| is_first)
            && is_uuid(uuid)
            && !behind.starts_with(char::is_alphanumeric)
        {
            glob.push_str(UUID);
            rest = behind;
            continue;
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        match is_drawn(word) {
            true => glob.push_str(&shape(word)),
            false => glob.push_str(word),
        }
        let mut letters = behind.chars();
        if let Some(letter) = letters.next() {
            glob.push_str(&escaped(letter.encode_utf8(&mut [0; 4])));
        }
        rest = letters.as_str();
    }
    glob
}

/// The shape of a UUID, of which each part could be a word of its own (RFC 9562).
const UUID: &str = "????????-????-????-????-????????????";

fn is_uuid(text: &str) -> bool {
    let is_of = |(letter, shape): (u8, u8)| match shape {
        b'-' => letter == b'-',
        _ => letter.is_ascii_hexdigit(),
    };
    text.len() == UUID.len() && text.bytes().zip(UUID.bytes()).all(is_of)
}

/// What stays of a drawn word: its length, a `tmp` or a word with a `_` in front, and letters
/// before a number.
#[must_use]
pub fn shape(word: &str) -> String {
    if let Some(drawn) = word.strip_prefix("tmp").filter(|drawn| drawn.len() >= 5) {
        return format!("tmp{}", "?".repeat(drawn.len()));
    }
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    if (is_small(letters) || are_words(letters)) && letters.len() < word.len() {
        return format!("{letters}[0-9]*");
    }
    // What Python draws has a `_` too, and eight letters.
    let front = word.find('_').map(|at| word.split_at(at + 1));
    match front.filter(|(front, _)| word.len() > 8 && are_words(front)) {
        Some((front, drawn)) if drawn.len() >= 6 => format!("{front}{}", "?".repeat(drawn.len())),
        _ => "?".repeat(word.len()),
    }
}

fn is_small(letters: &str) -> bool {
    letters.bytes().all(|c| c.is_ascii_lowercase())
}

/// Whether letters are words with a `_` between or behind them: `test_db`, `app_`.
fn are_words(letters: &str) -> bool {
    let has_vowel = |word: &str| word.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let Some((first, rest)) = letters.split_once('_') else {
        return false;
    };
    let mut rest = rest.split('_').filter(|it| !it.is_empty());
    is_small(first) && first.len() >= 3 && has_vowel(first) && rest.all(is_small)
}

/// Whether a word is a number or looks drawn: digits among letters, capitals behind small letters,
/// or what Python and Rust put behind `tmp`.
#[must_use]
pub fn is_drawn(word: &str) -> bool {
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    if is_number || (word.starts_with("tmp") && word.len() >= 8) {
        return true;
    }
    let has = |is: fn(char) -> bool| word.chars().any(is);
    let mixes = has(|c| c.is_ascii_digit()) && has(char::is_alphabetic);
    let capitals = word.chars().skip(1).any(char::is_uppercase) && has(char::is_lowercase);
    let no_vowel = !has(|c| "aeiouyAEIOUY".contains(c));
    word.len() >= 6 && (mixes || capitals || no_vowel)
}

/// An address; a port of the loopback that the kernel chooses is any.
#[must_use]
pub fn any_port(address: &str) -> String {
    const CHOSEN: u16 = 32768;
    let parsed: Option<core::net::SocketAddr> = address.parse().ok();
    match parsed {
        Some(at) if at.ip().is_loopback() && at.port() >= CHOSEN => {
            let (ip, _) = address.rsplit_once(':').unwrap_or((address, ""));
            format!("{ip}:*")
        }
        _ => address.to_owned(),
    }
}
