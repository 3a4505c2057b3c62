//! Conversion of lists whose entries are separate lines (`ip prefix-list NAME seq 5 permit …`) to blocks.

use super::super::tree::Node;

/// The words before the name of a list.
const LISTS: &[[&str; 2]] = &[["ip", "prefix-list"], ["ipv6", "prefix-list"]];
/// The number of words up to and including the name.
const NAMED: usize = 3;

/// Returns the lines of a configuration. The entries of each list are inside one block, at the line of the
/// first entry.
pub(super) fn with_lists(nodes: Vec<Node<'_>>) -> Vec<Node<'_>> {
    let mut found: Vec<Node> = Vec::new();
    for node in nodes {
        let Some((header, entry)) = parts(node.line.1) else {
            found.push(node);
            continue;
        };
        let entry = Node { line: (node.line.0, entry), inner: Vec::new() };
        // The entries of a list are adjacent lines.
        match found.last_mut().filter(|list| list.line.1 == header) {
            Some(list) => list.inner.push(entry),
            None => found.push(Node { line: (node.line.0, header), inner: vec![entry] }),
        }
    }
    found
}

/// Splits a line into the words up to the name of the list, and the words of the entry without its sequence
/// number.
fn parts(text: &str) -> Option<(&str, &str)> {
    let mut words = text.split(' ');
    let first = [words.next()?, words.next()?];
    if !LISTS.contains(&first) {
        return None;
    }
    let end = text.match_indices(' ').nth(NAMED - 1)?.0;
    let (header, entry) = (&text[..end], &text[end + 1..]);
    match entry.strip_prefix("seq ") {
        Some(rest) => Some((header, rest.split_once(' ')?.1)),
        None => Some((header, entry)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::texts::braces::read;
    use super::with_lists;

    #[test]
    fn entries_are_inside_their_list() {
        let text = "ip prefix-list A seq 5 permit 10.0.0.0/8\nip prefix-list A seq 10 deny 0.0.0.0/0\n\
                    ip prefix-list B permit 10.1.0.0/16 le 24\nip prefix-list sequence-number";
        let shown: Vec<_> = with_lists(read(text))
            .iter()
            .map(|node| (node.line, node.inner.iter().map(|inner| inner.line).collect::<Vec<_>>()))
            .collect();
        assert_eq!(
            shown,
            [
                ((1, "ip prefix-list A"), vec![(1, "permit 10.0.0.0/8"), (2, "deny 0.0.0.0/0")]),
                ((3, "ip prefix-list B"), vec![(3, "permit 10.1.0.0/16 le 24")]),
                ((4, "ip prefix-list sequence-number"), vec![])
            ]
        );
    }
}
