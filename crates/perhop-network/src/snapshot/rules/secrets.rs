//! [`Secret`]: a key or password in a configuration, for the comparison of two ends.
//!
//! Messages and debug output never contain a secret.

use std::fmt;

/// The constant of encryption type 7 (Cisco, "Cisco IOS Password Encryption Facts": the method is
/// reversible).
const KEY_OF_TYPE_7: &[u8] = b"dsfd;kfoA,.iyewrkldJKDHSUBsgvca69834ncxv9873254k;fg87";
/// The letters of `$9$` secrets, in families. The family of the first letter determines the number of random
/// letters that follow it.
const FAMILIES_OF_9: [&str; 4] =
    ["QzF3n6/9CAtpu0O", "B1IREhcSyrleKvMW8LXx", "7N-dVbwsY2g4oaJZGUDj", "iHkq.mPf5T"];
/// The weights of the letters that encode a byte of a `$9$` secret. Successive bytes use successive rows.
const WEIGHTS_OF_9: [&[usize]; 7] =
    [&[1, 4, 32], &[1, 16, 32], &[1, 8, 32], &[1, 64], &[1, 32], &[1, 4, 16, 128], &[1, 32, 64]];

/// The encoding of a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    Plain,
    Type7,
    Type9,
    /// An encoding that cannot be reversed.
    Sealed,
}

/// A secret of a configuration.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret {
    writing: Writing,
    bytes: Vec<u8>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_struct("Secret").field("writing", &self.writing).finish_non_exhaustive()
    }
}

impl Secret {
    /// Reads the words after the command that sets a secret: `KEY`, `0 KEY`, `7 HIDDEN`, `"$9$…"`.
    pub(super) fn read(words: &[&str]) -> Option<Secret> {
        let words: Vec<&str> = words.iter().map(|word| word.trim_matches(['"', ';'])).collect();
        let found = |writing, bytes| Some(Secret { writing, bytes });
        match words.as_slice() {
            ["7", hidden, ..] => match reveal_type_7(hidden) {
                Some(bytes) => found(Writing::Type7, bytes),
                None => found(Writing::Sealed, hidden.bytes().collect()),
            },
            ["0" | "clear", plain, ..] => found(Writing::Plain, plain.bytes().collect()),
            [kind, sealed, ..] if is_kind(kind) => found(Writing::Sealed, sealed.bytes().collect()),
            [hidden, ..] if hidden.starts_with("$9$") => match reveal_type_9(hidden) {
                Some(bytes) => found(Writing::Type9, bytes),
                None => found(Writing::Sealed, hidden.bytes().collect()),
            },
            [plain, ..] => found(Writing::Plain, plain.bytes().collect()),
            [] => None,
        }
    }

    /// Whether two secrets differ for certain. Secrets with two different encodings are not compared, because
    /// an operator who publishes a configuration may replace the secrets of each encoding separately.
    pub(super) fn differs(&self, other: &Secret) -> bool {
        self.writing == other.writing && self.writing != Writing::Sealed && self.bytes != other.bytes
    }
}

/// Whether a word before a secret states that the secret is encrypted: a type (`3` of NX-OS, `5`, `6`, `8`,
/// `9`), or a keyword of IOS XR.
fn is_kind(word: &str) -> bool {
    let is_type = word.len() == 1 && word.bytes().all(|digit| digit.is_ascii_digit());
    is_type || ["encrypted", "password"].contains(&word)
}

/// Returns the bytes of a secret of type 7.
pub(super) fn reveal_type_7(hidden: &str) -> Option<Vec<u8>> {
    if hidden.len() < 4 || !hidden.len().is_multiple_of(2) {
        return None;
    }
    let salt: usize = hidden.get(..2)?.parse().ok()?;
    let bytes = (2..hidden.len()).step_by(2).map(|at| u8::from_str_radix(hidden.get(at..at + 2)?, 16).ok());
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    Some(bytes.iter().enumerate().map(|(place, byte)| byte ^ key_of_type_7(salt + place)).collect())
}

/// Returns the byte of the type 7 constant at an index.
pub(super) fn key_of_type_7(place: usize) -> u8 {
    KEY_OF_TYPE_7[place % KEY_OF_TYPE_7.len()]
}

/// Returns the bytes of a secret of Junos. The value of each letter is its distance from the previous letter.
fn reveal_type_9(hidden: &str) -> Option<Vec<u8>> {
    let letters: Vec<char> = hidden.strip_prefix("$9$")?.chars().collect();
    let all: Vec<char> = FAMILIES_OF_9.iter().flat_map(|family| family.chars()).collect();
    let place = |letter: char| all.iter().position(|candidate| *candidate == letter);
    let first = *letters.first()?;
    let family = FAMILIES_OF_9.iter().position(|family| family.contains(first))?;
    let mut rest = letters.get(1 + FAMILIES_OF_9.len() - 1 - family..)?;
    let (mut previous, mut found) = (place(first)?, Vec::new());
    while !rest.is_empty() {
        let weights = WEIGHTS_OF_9[found.len() % WEIGHTS_OF_9.len()];
        let mut byte = 0;
        for (letter, weight) in rest.get(..weights.len())?.iter().zip(weights) {
            let own = place(*letter)?;
            let gap = (own + all.len() - previous) % all.len();
            byte += gap.checked_sub(1)? * weight;
            previous = own;
        }
        found.push(u8::try_from(byte % 256).ok()?);
        rest = &rest[weights.len()..];
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::Secret;

    fn read(text: &str) -> Secret {
        Secret::read(&text.split(' ').collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn one_word_with_two_salts_is_one_secret() {
        // "cisco" of type 7 with the salts 7 and 2, and "lc" of Junos.
        assert_eq!(read("7 070C285F4D06"), read("7 02050D480809"));
        assert_eq!(read("\"$9$LbHX-wg4Z\";").bytes, b"lc");
        assert!(!read("7 070C285F4D06").differs(&read("7 02050D480809")));
        assert!(read("7 070C285F4D06").differs(&read("7 02050D48080A")));
    }

    #[test]
    fn secrets_in_two_ways_of_writing_are_not_compared() {
        assert!(read("one").differs(&read("0 two")) && !read("one").differs(&read("0 one")));
        assert!(!read("one").differs(&read("7 070C285F4D06")));
        assert!(!read("6 ABC").differs(&read("6 DEF")), "type 6 depends on a key of the device");
        assert!(!read("3 abc").differs(&read("def")), "type 3 of NX-OS is encrypted");
        assert!(!read("password 02050D480809").differs(&read("def")), "IOS XR writes `key-string password`");
        assert!(read("clear abc").differs(&read("def")));
        assert!(!format!("{:?}", read("0 lc")).contains("108"), "the bytes of a secret are not shown");
        assert!(Secret::read(&[]).is_none());
    }
}
