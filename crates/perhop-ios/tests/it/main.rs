//! Tests of `perhop-ios` from outside, linked as one program.

mod accounted;
mod classified_once;
mod colors;
mod false_findings;
mod forwarding;
mod golden;
mod hostile;
mod ios_xr;
mod ios_xr_lines;
mod links;
mod long_lists;
mod mark_only_children;
mod marks;
mod mls;
mod node;
mod printed;
mod profiles;
mod reference;
mod refused;
mod resolved;
mod shadows;
mod show;
mod taken_back;
mod uadp;
mod work;
mod write;
