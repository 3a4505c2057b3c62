//! [`renames`]: corresponding parts of two policies with different names.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use crate::parts::{QUEUE, array, conditioner_names, text};

/// The names of corresponding parts, in the old and in the new policy.
pub(crate) type Names = Vec<(String, String)>;

/// Returns corresponding parts with different names in the `side` policies of a port.
pub(crate) fn renames(side: &str, old: &Value, new: &Value) -> Names {
    let mut found = Vec::new();
    let conditioners = [old, new].map(|policy| array(&policy["conditioners"]));
    let names = [0, 1].map(|at| conditioner_names(side, conditioners[at]));
    for (before, other) in pairs(conditioners[0], conditioners[1]) {
        if names[0][before] != names[1][other] {
            found.push((names[0][before].clone(), names[1][other].clone()));
        }
    }
    queues([&old["queueing"], &new["queueing"]], ["", ""], &mut found);
    found
}

fn queues(queueing: [&Value; 2], prefixes: [&str; 2], found: &mut Names) {
    let classes = queueing.map(|queueing| array(&queueing["classes"]));
    for (before, other) in pairs(classes[0], classes[1]) {
        let class = [&classes[0][before], &classes[1][other]];
        let names = [0, 1].map(|at| format!("{}{}", prefixes[at], text(class[at], "name")));
        if names[0] != names[1] {
            found.push((format!("{QUEUE}{}", names[0]), format!("{QUEUE}{}", names[1])));
        }
        let inside = class.map(|class| &class["queueing"]);
        let inner = names.map(|name| format!("{name}/"));
        queues(inside, [&inner[0], &inner[1]], found);
    }
}

/// The text that identifies an element; `None` for an element without counterpart.
type Key<'a> = dyn Fn(&Value) -> Option<String> + 'a;

/// Returns the indices of corresponding elements of two lists. Elements correspond by their whole content,
/// then by name, then by content without names. A stage named after its line number is not matched by name.
fn pairs(old: &[Value], new: &[Value]) -> Vec<(usize, usize)> {
    let mut left: [Vec<usize>; 2] = [(0..old.len()).collect(), (0..new.len()).collect()];
    let own_name = |value: &Value| Some(text(value, "name")).filter(|name| !is_numbered(name));
    let numbered = |value: &Value| is_numbered(&text(value, "name")).then(String::new);
    let keys: [&Key; 4] =
        [&|value| Some(value.to_string()), &own_name, &|value| Some(unnamed(value).to_string()), &numbered];
    let mut found = Vec::new();
    for key in keys {
        let mut by_key: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
        for other in &left[1] {
            if let Some(key) = key(&new[*other]) {
                by_key.entry(key).or_default().push_back(*other);
            }
        }
        let mut taken = BTreeSet::new();
        left[0].retain(|part| {
            let other = key(&old[*part]).and_then(|key| by_key.get_mut(&key)?.pop_front());
            found.extend(other.map(|other| (*part, other)));
            taken.extend(other);
            other.is_none()
        });
        left[1].retain(|other| !taken.contains(other));
    }
    found.sort_unstable();
    found
}

/// Whether a name contains the number of a line, which changes if lines are added above.
pub(crate) fn is_numbered(name: &str) -> bool {
    let number = name.rsplit_once("line ").map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns a conditioner or class without its name and the names of its inner classes.
fn unnamed(value: &Value) -> Value {
    let mut value = value.clone();
    if let Value::Object(map) = &mut value {
        map.shift_remove("name");
        if let Some(Value::Object(queueing)) = map.get_mut("queueing")
            && let Some(Value::Array(classes)) = queueing.get_mut("classes")
        {
            for class in classes {
                *class = unnamed(class);
            }
        }
    }
    value
}
