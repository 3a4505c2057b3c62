//! Keys and passwords in lines. [`hide`] marks the secrets, so that [`without_secrets`] can remove them from
//! messages.

use super::super::secrets::{key_of_type_7, reveal_type_7};

/// The first character of a marked word. No configuration contains this character.
const MARK: char = '\u{1}';
/// Replaces a marked word in messages.
const SHOWN: &str = "(secret)";
/// Words that precede a key or password.
const BEFORE: &[&str] = &[
    "area-password",
    "authentication-key",
    "authentication-password",
    "domain-password",
    "encrypted-password",
    "key-string",
    "password",
    "pre-shared-key",
    "secret",
    "simple-password",
    "wpa-psk",
];
/// Words that can be between a word of [`BEFORE`] and the secret: kinds of encryption, algorithms and
/// directions.
const BETWEEN: &[&str] = &[
    "aes",
    "ascii",
    "ascii-text",
    "clear",
    "encrypted",
    "hex",
    "hexadecimal",
    "key-string",
    "local",
    "md5",
    "remote",
    "sha",
    "text",
];
/// The maximum number of digits of an encryption type or key number. Longer numbers can be secrets.
const LONGEST_NUMBER: usize = 3;
/// Words before `key` in lines that contain no secret, or only the name of a key.
const PUBLIC: &[&str] = &["crypto", "tunnel"];
/// Commands about groups of routers with a virtual address.
const GROUPS: &[&str] = &["glbp", "standby", "vrrp"];
/// Words after `authentication` that are not a secret.
const METHODS: &[&str] = &["key-chain", "message-digest", "mode", "null", "pre-share"];

/// Whether a word is a marked secret.
pub(super) fn is_hidden(word: &str) -> bool {
    word.starts_with(MARK)
}

/// Returns the index of each secret in a line, with the marked word that replaces it. Secrets of type 7 are
/// encoded with the same salt, so that equal secrets are equal words.
pub(super) fn hide(words: &[&str]) -> Vec<(usize, String)> {
    let places = (0..words.len()).filter_map(|place| secret_after(words, place));
    let mut found: Vec<(usize, String)> = places.map(|place| (place, marked(words, place))).collect();
    found.dedup_by_key(|(place, _)| *place);
    found
}

/// Returns a message in which each marked secret is replaced by [`SHOWN`].
pub(super) fn without_secrets(message: &str) -> String {
    let mut parts = message.split(MARK);
    let mut found = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| letter.is_whitespace() || letter == '`').unwrap_or(part.len());
        found.push_str(SHOWN);
        found.push_str(&part[end..]);
    }
    found
}

/// Returns the index of the secret that follows the word at `place`; `None` if no secret follows.
fn secret_after(words: &[&str], place: usize) -> Option<usize> {
    let before = |distance: usize| place.checked_sub(distance).and_then(|place| words.get(place)).copied();
    let announces = match words[place] {
        "key" => !before(1).is_some_and(|word| PUBLIC.contains(&word)) && names_no_key(words, place),
        "md5" => before(2) == Some("message-digest-key"),
        "authentication" => {
            let is_of_group = words.first().is_some_and(|word| GROUPS.contains(word));
            (is_of_group || words.starts_with(&["ip", "nhrp"])) && !METHODS.contains(words.get(place + 1)?)
        }
        "auth" | "community" | "priv" => words.first() == Some(&"snmp-server"),
        word => BEFORE.contains(&word),
    };
    if !announces {
        return None;
    }
    let is_number =
        |word: &str| word.len() <= LONGEST_NUMBER && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_between = |word: &str| is_number(word) || BETWEEN.contains(&word);
    let mut secret = place + 1;
    while words.get(secret + 1).is_some() && is_between(words[secret]) {
        secret += 1;
    }
    let word = words.get(secret)?;
    (!["address", "hostname", "key-chain"].contains(word)).then_some(secret)
}

/// Whether a secret follows the word `key`. No secret follows in `key chain NAME` and in `key NUMBER`, which
/// begins a block.
fn names_no_key(words: &[&str], place: usize) -> bool {
    let rest = &words[place + 1..];
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    match rest {
        [] | ["chain" | "config-key" | "generate", ..] => false,
        [only] => place > 0 || !is_number(only),
        _ => true,
    }
}

fn marked(words: &[&str], place: usize) -> String {
    let word = words[place];
    let is_type_7 = place.checked_sub(1).is_some_and(|before| words[before] == "7");
    let bytes = is_type_7.then(|| reveal_type_7(word)).flatten();
    let hidden = bytes.map(|bytes| {
        let digits =
            bytes.iter().enumerate().map(|(place, byte)| format!("{:02X}", byte ^ key_of_type_7(place)));
        format!("00{}", digits.collect::<String>())
    });
    format!("{MARK}{}", hidden.as_deref().unwrap_or(word))
}

#[cfg(test)]
mod tests {
    use super::{hide, without_secrets};

    fn shown(line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let mut all: Vec<String> = words.iter().map(ToString::to_string).collect();
        for (place, word) in hide(&words) {
            all[place] = word;
        }
        without_secrets(&format!("`{}`", all.join(" ")))
    }

    #[test]
    fn secrets_are_not_shown() {
        for line in [
            "key-string 7 S",
            "crypto isakmp key S address 192.0.2.1",
            "pre-shared-key address 192.0.2.1 key S",
            "pre-shared-key local S",
            "ppp chap password 0 S",
            "standby 1 authentication md5 key-string S",
            "standby 1 authentication S",
            "ip ospf message-digest-key 12 md5 S",
            "ip ospf authentication-key S",
            "ntp authentication-key 1 md5 S 7",
            "tacacs-server host 192.0.2.1 key 7 S",
            "neighbor 192.0.2.1 password S",
            "snmp-server community S RO",
            "ip nhrp authentication S",
            "username admin privilege 15 secret 5 S",
            "authentication-key \"S\";",
        ] {
            let expected = line.split(' ').map(|word| if word.contains('S') { "(secret)" } else { word });
            assert_eq!(shown(line), format!("`{}`", expected.collect::<Vec<_>>().join(" ")));
        }
    }

    #[test]
    fn other_words_are_shown() {
        for line in [
            "key chain NAME",
            "key 1",
            "tunnel key 7",
            "crypto key generate rsa",
            "ip ospf authentication message-digest",
            "ip ospf authentication key-chain NAME",
            "standby 1 authentication md5 key-chain NAME",
            "authentication pre-share",
            "set community 65000:1",
        ] {
            assert_eq!(shown(line), format!("`{line}`"));
        }
    }
}
