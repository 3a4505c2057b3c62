//! Packet captures: this crate writes pcapng files and reads pcap and pcapng files. The crate processes only
//! bytes, and the caller opens the files. Reading order: [`headers`] (IP, UDP, TCP), `stack` (the headers of
//! a link around an IP packet), [`link_layer`] (the framing), [`writer`], and then [`reader`], which divides
//! a file into blocks with `blocks` and parses packets with `dissector`.

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
