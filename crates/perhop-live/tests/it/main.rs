//! Tests of `perhop-live` through its public interface, linked as one program.

mod ack_filter;
mod confinement;
mod frames;
mod hostile;
mod lowering;
mod marking;
mod replay;
mod scenarios;
mod waking;
