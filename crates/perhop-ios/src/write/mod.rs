//! [`IosWriter`]: policies as a configuration, which is read again to see what it does not say.
//!
//! ```text
//! PolicyConfig → classes (conditioners and queues of one class together, in an order that holds)
//!              → policy_map → configuration → parse → difference
//! ```

mod access_list;
mod actions;
mod blocks;
mod class;
mod class_map;
mod classes;
mod configuration;
mod criteria;
mod meter;
mod order;
mod policy_map;
mod queue;
mod random_detect;
mod rate_limit;
mod reading_again;
mod share;
mod table_map;
mod words;

pub(crate) use reading_again::IosWriter;
