//! Packet captures: writing of pcapng files, and reading of pcap and pcapng files.
//!
//! This crate handles only bytes; the caller opens the files. Reading order: [`headers`] (IP, UDP, TCP),
//! `stack` (the headers of a link around them), [`link_layer`] (the framing), and [`writer`]. Then
//! [`reader`], which divides a file with `blocks` and leaves the contents of packets to `dissector`.

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
