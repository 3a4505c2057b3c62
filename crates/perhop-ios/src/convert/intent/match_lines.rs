//! The lines of class-maps in the router's output format.

use perhop_device::intent::PrintedMatches;

use crate::ast::{ClassMap, Combination, Configuration, Criterion, Polarity, Statement};

/// Returns the match lines of a class in the router's output format. `map` is `None` for a class without a
/// class-map.
pub(super) fn printed_matches(configuration: &Configuration, map: Option<&ClassMap>) -> PrintedMatches {
    PrintedMatches {
        combination: map.map_or(Combination::MatchAny, |map| map.combination),
        lines: map.map_or_else(|| vec!["any".to_owned()], |map| match_lines(configuration, map)),
    }
}

fn match_lines(configuration: &Configuration, map: &ClassMap) -> Vec<String> {
    if let Some(criteria) = configuration.assumed.get(&map.name) {
        return criteria.clone();
    }
    if map.statements.is_empty() {
        return vec!["none".to_owned()];
    }
    map.statements.iter().map(|statement| match_line(configuration, statement)).collect()
}

/// Returns a `match` line in the router's output format.
fn match_line(configuration: &Configuration, statement: &Statement) -> String {
    let line = configuration.lines.get(statement.line.wrapping_sub(1));
    let words: Vec<&str> = line.map_or_else(Vec::new, |line| line.text.split_ascii_whitespace().collect());
    let written = words.iter().skip_while(|word| !word.eq_ignore_ascii_case("match")).skip(1);
    let written: Vec<&str> = written.copied().collect();
    let not = if statement.polarity == Polarity::Not { "not " } else { "" };
    let of_ip = if written.contains(&"ip") { "ip" } else { "" };
    let text = match &statement.criterion {
        Criterion::Dscp(values) => {
            let values: Vec<String> =
                values.iter().map(|dscp| format!("{dscp} ({})", dscp.value())).collect();
            format!("{of_ip} dscp {}", values.join(" "))
        }
        Criterion::Precedence(values) => {
            let values: Vec<String> = values.iter().map(|value| format!("{} ", value.value())).collect();
            format!("{of_ip} precedence {}", values.concat())
        }
        // A predefined class has no line in the configuration, so this criterion has no written form.
        Criterion::QosGroup(group) if written.is_empty() => format!("qos-group {group}"),
        _ => written.into_iter().filter(|word| *word != "not").collect::<Vec<_>>().join(" "),
    };
    format!("{not}{text}")
}
