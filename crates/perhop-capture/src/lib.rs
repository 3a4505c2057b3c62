//! Packet captures: writing of pcapng files, and reading of pcap and pcapng files.
//!
//! Bytes only: the caller opens the files. Reading order: [`headers`] (IP, UDP, TCP), `stack` (what a link
//! puts around them), [`link_layer`] (the framing), [`writer`], [`reader`], which takes a file apart with
//! `blocks` and leaves the contents of packets to `dissector`.

mod blocks;
mod dissector;
pub mod headers;
pub mod link_layer;
pub mod reader;
mod stack;
pub mod writer;

pub use headers::{FragmentFields, TcpFields, Transport};
pub use reader::{Observed, Unreadable, read};
pub use writer::{Frame, Interface, SnapLength, Writer};
