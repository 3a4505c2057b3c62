//! Packet captures: writing of pcapng files, and reading of pcap and pcapng files. This crate processes only
//! bytes. The caller opens the files. Reading order: [`headers`] (IP, UDP, TCP), `stack` (the headers of a
//! link around an IP packet), [`link_layer`] (the framing), [`writer`], and then [`reader`], which divides a
//! file into blocks with `blocks` and parses packets with `dissector`.

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
