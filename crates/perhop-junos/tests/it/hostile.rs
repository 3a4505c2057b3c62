//! Texts that are not configurations, and texts that could take long to read.

use perhop_device::{FrontEnd, ParseOptions};
use perhop_junos::Junos;
use proptest::prelude::*;

use crate::read::{MX, parse};

#[test]
fn deep_nesting_is_not_recognized_and_does_not_recurse() {
    let deep = format!("class-of-service {{\n{}x;\n{}}}\n", "a {\n".repeat(100_000), "}\n".repeat(100_000));
    let model = parse(&deep, Some("junos-mx"));
    assert_eq!(model.lines.len(), 200_003);
    let words = format!("set class-of-service {}\n", "a ".repeat(100_000));
    assert!(parse(&words, Some("junos-mx")).router.ports.is_empty());
}

#[test]
fn groups_that_apply_each_other_end() {
    let text = "set groups a interfaces <*> apply-groups a\nset groups a interfaces <*> unit <*> apply-groups a\n\
                set apply-groups a\nset interfaces ge-0/0/0 unit 0 family inet\n";
    parse(text, Some("junos-mx"));
    let lines = |n: u32| format!("set groups g interfaces <a{n}*> unit 0 x\nset interfaces a{n} b\n");
    let many: Vec<String> = (0..3000).map(lines).collect();
    parse(&format!("{}set interfaces apply-groups g\n", many.concat()), Some("junos-mx"));
}

#[test]
fn imports_in_a_circle_end() {
    let text = "set class-of-service classifiers dscp a import b\nset class-of-service classifiers dscp b import a\n\
                set class-of-service interfaces ge-0/0/0 unit 0 classifiers dscp a\n\
                set interfaces ge-0/0/0 unit 0 family inet\n";
    assert_eq!(parse(text, Some("junos-mx")).router.ports.len(), 1);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(set |delete |[{};\\[\\]\"#]|/\\*|\\*/|class-of-service|interfaces|[ -~]|\n){0,200}") {
        let _ = Junos.recognize(&text);
        let model = parse(&text, Some("junos-mx"));
        prop_assert_eq!(model.lines.len(), text.lines().count());
    }

    /// A configuration whose bytes change at one place.
    #[test]
    fn a_changed_configuration_is_read(at in 0..MX.len(), with in "[ -~\n]") {
        let mut text = MX.to_owned();
        if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
            text.replace_range(at..=at, &with);
        }
        let options = ParseOptions::default();
        prop_assert!(Junos.parse(&text, &options).is_ok());
    }
}
