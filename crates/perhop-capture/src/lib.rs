//! Packet captures: pcapng out of what a network carried, and packets out of pcap and pcapng files.
//!
//! Bytes only: the caller opens the files. Reading order: [`link_layer`] (what stands around an IP packet),
//! [`headers`] (IP, UDP, TCP), [`writer`], [`reader`], which leaves what is in a packet to `dissector`.

mod dissector;
pub mod headers;
pub mod link_layer;
pub mod reader;
pub mod writer;

pub use headers::{TcpFields, Transport};
pub use reader::{Observed, Unreadable, read};
pub use writer::{Frame, Interface, SnapLength, Writer};
