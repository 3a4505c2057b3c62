//! Tests of the rules of all front ends.

use std::collections::BTreeSet;

use perhop_front_ends::FRONT_ENDS;

#[test]
fn names_differ_and_pages_are_complete() {
    let all = FRONT_ENDS.rules();
    assert!(all.len() > 90, "{}", all.len());
    let names: BTreeSet<&str> = all.iter().map(|rule| rule.id).collect();
    assert_eq!(names.len(), all.len());
    for rule in all {
        assert!(rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", rule.id);
        assert!(rule.page.starts_with(&format!("# {}\n\n", rule.id)), "{}", rule.id);
        for part in ["Why", "Source", "Remedy"] {
            assert!(rule.page.contains(&format!("\n## {part}\n\n")), "{}: {part}", rule.id);
        }
    }
}
