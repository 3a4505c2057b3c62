//! Conversion of text from files for display on a terminal.

use std::borrow::Cow;

/// Returns the displayed form of a character: a picture (Unicode, Control Pictures) for C0 characters except
/// tab and line feed; U+FFFD for other control characters and for characters that change the reading order.
pub fn picture(character: char) -> char {
    match character {
        '\t' | '\n' => character,
        '\0'..='\u{1f}' => {
            char::from_u32(0x2400 + u32::from(character)).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        _ if character.is_control() || changes_order(character) => char::REPLACEMENT_CHARACTER,
        _ => character,
    }
}

/// Replaces each character of `text` by its [`picture`], so that a terminal does not interpret it as a
/// command. Converts CR LF to LF.
pub fn pictured(text: &str) -> Cow<'_, str> {
    if text.chars().all(|character| picture(character) == character) {
        return text.into();
    }
    text.replace("\r\n", "\n").chars().map(picture).collect::<String>().into()
}

/// Whether a character changes the reading order of the text around it (Unicode Technical Report 36, section
/// 2.6).
pub fn changes_order(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::pictured;

    #[test]
    fn control_characters_are_replaced_for_terminals() {
        assert_eq!(
            pictured("eth0\x1b[31m\r\n\tx\u{9b}1m\u{202e}\ry\0\n"),
            "eth0␛[31m\n\tx\u{fffd}1m\u{fffd}␍y␀\n"
        );
        assert_eq!(pictured("naïve 数据"), "naïve 数据");
    }
}
