//! Tests of `perhop-junos` from outside, linked as one program.

mod conditions;
mod families;
mod faults;
mod forms;
mod hostile;
mod idle_groups;
mod intentions;
mod link_marks;
mod marks;
mod nodes;
mod other_statements;
mod policers;
mod read;
mod readings;
mod routing;
mod show;
mod show_counters;
mod write;
