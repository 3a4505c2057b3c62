//! The fast engine: the same network and the same results as the plain engine, with fewer events.
//!
//! Reading order: [`World`] (the state), `link` (the plan of a link), `plan` (the construction of these
//! plans), `forwarding` (the path of a packet), `hop` (one link of this path), `catch_up` (ports that are not
//! polled, and lookahead), `prefetch` (hints for the caches).

mod catch_up;
mod forwarding;
mod hop;
mod link;
mod lookahead;
mod plan;
mod prefetch;
mod world;

pub use world::World;
