//! The fast engine: the same network as the plain one, and the same results, with fewer events.
//!
//! Reading order: [`World`] (what it is), `link` (the plan of a link: which ways packets take), `plan` (how
//! the plan is made), `forwarding` (a packet's way), `hop` (one link on it), `catch_up` (ports that nobody
//! polls, and lookahead).

mod catch_up;
mod forwarding;
mod hop;
mod link;
mod lookahead;
mod plan;
mod world;

pub use world::World;
