//! Packet captures: writing of pcapng files, and reading of pcap and pcapng files. This crate handles only
//! bytes, and the caller opens the files. Read in this order: [`headers`] (IP, UDP, TCP), `stack` (the
//! headers of a link around an IP packet), [`link_layer`] (the framing), and [`writer`]. Then read
//! [`reader`], which divides a file with `blocks` and parses packets with `dissector`.

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
