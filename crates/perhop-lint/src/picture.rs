//! Text of files as a terminal may show it: every string is data, whatever characters it has.

use std::borrow::Cow;

/// What stands for a character where text is shown: a picture (Unicode, Control Pictures) for C0 characters
/// but tab and line feed, U+FFFD for other control characters and for marks that change the order of what is
/// read.
pub fn picture(one: char) -> char {
    match one {
        '\t' | '\n' => one,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(one)).unwrap_or(char::REPLACEMENT_CHARACTER),
        _ if one.is_control() || changes_order(one) => char::REPLACEMENT_CHARACTER,
        _ => one,
    }
}

/// `text` with a [`picture`] for each character, which a terminal takes for nothing but text. Lines may end
/// as those of Windows do.
pub fn pictured(text: &str) -> Cow<'_, str> {
    if text.chars().all(|one| picture(one) == one) {
        return text.into();
    }
    text.replace("\r\n", "\n").chars().map(picture).collect::<String>().into()
}

/// Whether a character changes the order in which the text around it is read (Unicode Technical Report 36,
/// section 2.6).
pub fn changes_order(one: char) -> bool {
    matches!(one, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::pictured;

    #[test]
    fn no_terminal_takes_it_for_a_command() {
        assert_eq!(
            pictured("eth0\x1b[31m\r\n\tx\u{9b}1m\u{202e}\ry\0\n"),
            "eth0␛[31m\n\tx\u{fffd}1m\u{fffd}␍y␀\n"
        );
        assert_eq!(pictured("naïve 数据"), "naïve 数据");
    }
}
