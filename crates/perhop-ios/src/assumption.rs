//! Match criteria that the user supplies for classes without a usable definition: `VOICE = dscp ef`.

use std::collections::BTreeMap;

use perhop_lint::LineState;

use crate::ast::{Combination, Configuration, Criterion};
use crate::check;
use crate::grammar::Grammar;
use crate::nexus;
use crate::parser;

/// Match criteria by class, in the syntax of `match`; alternatives are joined by ` or `.
pub type Assumptions = BTreeMap<String, String>;

/// Parses `text` like [`parse`](crate::parse()), but `assumptions` replace the definitions of classes.
///
/// # Errors
/// An assumption is not a criterion. The error has the class and the fault.
pub fn parse_assuming(text: &str, assumptions: &Assumptions) -> Result<Configuration, (String, String)> {
    parse_in(text, Grammar::of_text(text), None, assumptions)
}

/// Reads `text` in `grammar`. `model` is the product that the user names, if any. `assumptions` replace the
/// definitions of classes.
///
/// # Errors
/// An assumption is not a criterion. The error has the class and the fault.
pub(crate) fn parse_in(
    text: &str,
    grammar: Grammar,
    model: Option<&str>,
    assumptions: &Assumptions,
) -> Result<Configuration, (String, String)> {
    let mut configuration = parser::read(text, grammar);
    nexus::complete(&mut configuration, model);
    for (class, criteria) in assumptions {
        let criteria: Vec<String> = criteria.split(" or ").map(|part| part.trim().to_owned()).collect();
        let defined = definition(class, &criteria, grammar).map_err(|message| (class.clone(), message))?;
        let place = configuration.class_maps.place(class, || defined.clone());
        if let Some(map) = configuration.class_maps.at_mut(place) {
            *map = defined;
        }
        configuration.assumed.insert(class.clone(), criteria);
    }
    check::check(&mut configuration);
    Ok(configuration)
}

/// Returns a match-any class-map with `criteria`.
fn definition(class: &str, criteria: &[String], grammar: Grammar) -> Result<crate::ast::ClassMap, String> {
    let mut text = format!("class-map match-any {class}");
    for criterion in criteria {
        text += "\n match ";
        text += criterion;
    }
    let read = parser::read(&text, grammar);
    for line in read.lines.iter().skip(1) {
        if line.state != LineState::Modelled {
            let note = line.note.clone().unwrap_or_else(|| line.state.to_string());
            return Err(format!("`{}`: {note}", line.text.trim()));
        }
    }
    let map = read.class_maps.get(class).ok_or_else(|| format!("`{class}` is not the name of a class"))?;
    let unseen =
        map.statements.iter().any(|statement| matches!(statement.criterion, Criterion::NotModelled(_)));
    if unseen || map.statements.is_empty() {
        return Err("perhop models none of the criteria".to_owned());
    }
    let mut map = map.clone();
    map.combination = Combination::MatchAny;
    map.line = 0;
    for statement in &mut map.statements {
        statement.line = 0;
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assume(text: &str, class: &str, criteria: &str) -> Result<Configuration, (String, String)> {
        let assumptions = Assumptions::from([(class.to_owned(), criteria.to_owned())]);
        parse_assuming(text, &assumptions)
    }

    #[test]
    fn a_class_that_is_not_defined_gets_a_definition() {
        let text = "policy-map p\n class VOICE\n  priority 100\n";
        assert_eq!(crate::parse(text).diagnostics.len(), 1);
        let configuration = assume(text, "VOICE", "dscp ef or ip precedence 5").unwrap();
        assert!(configuration.diagnostics.is_empty(), "{:?}", configuration.diagnostics);
        assert_eq!(configuration.class_maps.get("VOICE").unwrap().statements.len(), 2);
    }

    #[test]
    fn invalid_criteria_are_refused() {
        let (class, message) = assume("", "VOICE", "dscp eff").unwrap_err();
        assert_eq!(class, "VOICE");
        assert!(message.contains("match dscp eff"), "{message}");
    }
}
