//! [`Node`]: the lines of a configuration as a tree. Indentation determines the depth.

/// A line of a configuration with its number.
pub(crate) type Numbered<'t> = (usize, &'t str);

/// A line, and the lines inside its block.
pub(crate) struct Node<'t> {
    pub(crate) line: Numbered<'t>,
    pub(crate) inner: Vec<Node<'t>>,
}

impl<'t> Node<'t> {
    /// Whether the line of the node begins with a text, regardless of the indentation. This is faster than
    /// [`Node::words`] for lines that a rule skips.
    pub(crate) fn begins_with(&self, text: &str) -> bool {
        self.line.1.trim_start().starts_with(text)
    }

    /// Whether the block of an interface turns the interface off.
    pub(crate) fn is_shut(&self) -> bool {
        self.inner.iter().any(|inner| matches!(inner.line.1.trim(), "shutdown" | "disable;"))
    }

    /// Returns the words of the line of the node.
    pub(crate) fn words(&self) -> Vec<&'t str> {
        self.line.1.split_whitespace().collect()
    }
}

/// Returns the block of the policy-map with a name (IOS, NX-OS, IOS XR).
pub(crate) fn policy_map<'n, 't>(nodes: &'n [Node<'t>], name: &str) -> Option<&'n Node<'t>> {
    nodes.iter().find(|node| node.begins_with("policy-map ") && node.words().last() == Some(&name))
}

/// Returns the lines as a tree. A line is inside the block of the previous line with a smaller indentation.
pub(crate) fn tree<'t>(lines: &[Numbered<'t>]) -> Vec<Node<'t>> {
    let mut open: Vec<(usize, Node)> = Vec::new();
    let mut found = Vec::new();
    let close = |open: &mut Vec<(usize, Node<'t>)>, found: &mut Vec<Node<'t>>, depth: usize| {
        while open.last().is_some_and(|(own, _)| *own >= depth) {
            let Some((_, node)) = open.pop() else { break };
            match open.last_mut() {
                Some((_, outer)) => outer.inner.push(node),
                None => found.push(node),
            }
        }
    };
    for line in lines {
        let depth = line.1.len() - line.1.trim_start().len();
        close(&mut open, &mut found, depth);
        open.push((depth, Node { line: *line, inner: Vec::new() }));
    }
    close(&mut open, &mut found, 0);
    found
}
