//! Settings that must be equal at both ends of a link, a session or a tunnel. The rules read them from the
//! text.

mod credentials;
mod eigrp;
mod eigrp_segments;
mod ike;
mod parts;
mod text;

use text::Text;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};

/// Reports ends whose settings do not match.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let texts: Vec<Text> = trees.iter().map(|nodes| Text::new(nodes)).collect();
    credentials::check(snapshot, &texts, found);
    eigrp::check(snapshot, &texts, found);
    eigrp_segments::check(snapshot, trees, found);
    ike::check(snapshot, &texts, found);
}
