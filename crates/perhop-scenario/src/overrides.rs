//! `--set path=value`: replaces values in a document.

use serde_json::{Map, Value};

use super::diagnostic::{Diagnostic, Severity};
use super::document::{Document, yaml_value};
use super::nearest::suggest;
use super::path::ValuePath;
use super::schema;

impl Document {
    /// Sets the value at `path` to the YAML `text`. Dots separate keys. An index or a `name` selects a list
    /// element (`traffic.voice.source.cbr.rate`); a `*` in the name selects several (`traffic.voice-*.dscp`).
    /// A key that is not in the document is added if the language defines it.
    ///
    /// # Errors
    /// The path does not exist, or `text` is not YAML. The value itself is checked later.
    pub fn set(&mut self, path: &str, text: &str) -> Result<(), Box<Diagnostic>> {
        let set = format!("{path}={text}");
        let refuse = |at: &ValuePath, message: String, help: String| {
            let diagnostic = Diagnostic::new(Severity::Error, at, message).in_override(&set);
            Box::new(if help.is_empty() { diagnostic } else { diagnostic.help(help) })
        };
        let value = yaml_value(text)
            .map_err(|error| refuse(&path.into(), format!("not YAML: {}", error.message), String::new()))?;
        if path.is_empty() || path.split('.').any(str::is_empty) {
            let help = "for example links.0.rate=10Mb/s".to_owned();
            return Err(refuse(&path.into(), format!("`{path}` is not a path"), help));
        }
        let segments: Vec<&str> = path.split('.').collect();
        let nowhere = |Nowhere { at, message, help }| refuse(&at, message, help);
        for segments in spread(&self.value, &segments).map_err(nowhere)? {
            let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
            let resolved = resolve(&self.value, &segments).map_err(nowhere)?;
            *slot(&mut self.value, &resolved) = value.clone();
            self.overrides.push((resolved, set.clone()));
        }
        Ok(())
    }
}

/// The reason why the document has no value at a path.
struct Nowhere {
    at: ValuePath,
    message: String,
    help: String,
}

/// Expands `segments` to one path, or to one path for each list element whose name matches a `*`.
fn spread(document: &Value, segments: &[&str]) -> Result<Vec<Vec<String>>, Nowhere> {
    let owned = |segments: &[&str]| segments.iter().map(|segment| (*segment).to_owned()).collect::<Vec<_>>();
    let Some(place) = segments.iter().position(|segment| segment.contains('*')) else {
        return Ok(vec![owned(segments)]);
    };
    let path = resolve(document, &segments[..place])?;
    let Some(Value::Array(elements)) = document.pointer(&path.pointer()) else {
        return Err(Nowhere {
            at: path.join(segments[place]),
            message: format!("`{path}` is not a list"),
            help: "`*` matches elements of a list, as in traffic.voice-*.dscp".into(),
        });
    };
    let fits = |index: usize, element: &Value| match name_of(element) {
        Some(name) => matches(segments[place], name),
        None => matches(segments[place], &index.to_string()),
    };
    let mut paths = Vec::new();
    for (index, _) in elements.iter().enumerate().filter(|(index, element)| fits(*index, element)) {
        let index = index.to_string();
        let single = [&segments[..place], &[index.as_str()], &segments[place + 1..]].concat();
        paths.extend(spread(document, &single)?);
    }
    if paths.is_empty() {
        return Err(Nowhere {
            at: path.join(segments[place]),
            message: format!("no element of `{path}` matches `{}`", segments[place]),
            help: elements_of(elements, segments[place]),
        });
    }
    Ok(paths)
}

/// Whether `name` matches `pattern`, in which `*` matches any text.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len()).any(|from| name.get(from..).is_some_and(|tail| matches(rest, tail)))
        }),
    }
}

/// Resolves `segments` to a path, with indices in place of names of list elements.
fn resolve(document: &Value, segments: &[&str]) -> Result<ValuePath, Nowhere> {
    let mut path = ValuePath::root();
    let mut current = Some(document);
    let mut rest = segments;
    while let Some(first) = rest.first() {
        let taken = match current {
            Some(Value::Array(elements)) => {
                let (index, taken) = element(elements, rest).ok_or_else(|| Nowhere {
                    at: path.join(first),
                    message: format!("`{path}` has no element `{first}`"),
                    help: elements_of(elements, first),
                })?;
                (current, path) = (elements.get(index), path.join(index));
                taken
            }
            // Keys may contain dots, so the longest matching key is used.
            Some(Value::Object(entries)) if longest_key(entries, rest).is_some() => {
                let (key, taken) = longest_key(entries, rest).unwrap_or_default();
                (current, path) = (entries.get(&key), path.join(key));
                taken
            }
            // The value is missing or empty, or an earlier override has set it, so the keys are those of the
            // schema.
            Some(Value::Object(_) | Value::Null) | None => {
                let inner = path.join(first);
                if !schema::declares(&inner) {
                    return Err(unknown_key(&path, current, first));
                }
                (current, path) = (None, inner);
                1
            }
            Some(_) => {
                return Err(Nowhere {
                    at: path.join(first),
                    message: format!("`{path}` is a single value and has no `{first}`"),
                    help: format!("set `{path}` itself"),
                });
            }
        };
        rest = &rest[taken..];
    }
    Ok(path)
}

fn unknown_key(path: &ValuePath, current: Option<&Value>, found: &str) -> Nowhere {
    let present = current.and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned();
    let mut known: Vec<String> = present.collect();
    known.extend(schema::keys(path).into_iter().filter(|key| !known.contains(key)).collect::<Vec<_>>());
    Nowhere {
        at: path.join(found),
        message: if path.is_root() {
            format!("there is no `{found}` at the top level")
        } else {
            format!("there is no `{found}` in `{path}`")
        },
        help: suggest("keys", found, known.iter().map(String::as_str)),
    }
}

/// Returns the longest key of `entries` that equals the first `segments`, joined by dots, and the number of
/// those segments.
fn longest_key(entries: &Map<String, Value>, segments: &[&str]) -> Option<(String, usize)> {
    let spelled = (1..=segments.len()).rev().map(|count| (segments[..count].join("."), count));
    spelled.into_iter().find(|(key, _)| entries.contains_key(key))
}

/// Returns the index of the list element that the first `segments` select by index or `name`, and the number
/// of those segments.
fn element(elements: &[Value], segments: &[&str]) -> Option<(usize, usize)> {
    let by_name = (1..=segments.len()).rev().find_map(|count| {
        let name = segments[..count].join(".");
        Some((elements.iter().position(|element| name_of(element) == Some(&name))?, count))
    });
    let by_index = || segments[0].parse().ok().filter(|index| *index < elements.len());
    by_name.or_else(|| by_index().map(|index| (index, 1)))
}

fn name_of(element: &Value) -> Option<&str> {
    element.get("name")?.as_str()
}

fn elements_of(elements: &[Value], found: &str) -> String {
    let names: Vec<&str> = elements.iter().filter_map(name_of).collect();
    match elements.len() {
        0 => "the list is empty".into(),
        count if names.is_empty() => format!("elements: 0 to {}", count - 1),
        _ => suggest("elements", found, names),
    }
}

/// Returns the value at a `path` from [`resolve`], and adds missing mappings.
fn slot<'a>(value: &'a mut Value, path: &ValuePath) -> &'a mut Value {
    path.segments().iter().fold(value, |value, segment| match value {
        // The index is below the length, because `resolve` found it in the list.
        Value::Array(elements) => &mut elements[segment.parse::<usize>().unwrap_or_default()],
        other => {
            if !other.is_object() {
                *other = Value::Object(Map::new());
            }
            &mut other[segment.as_str()]
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        Document::from_json(serde_json::json!({
            "hosts": {"a.b": {}},
            "links": [{"rate": "1Mb/s"}],
            "traffic": [{"name": "red"}, {"name": "yellow", "source": {"cbr": {"rate": "1Mb/s"}}}],
        }))
    }
    fn refused(path: &str) -> (String, String) {
        let diagnostic = document().set(path, "1").unwrap_err();
        (diagnostic.message, diagnostic.help.unwrap_or_default())
    }

    #[test]
    fn names_indices_and_dotted_keys_lead_to_their_values() {
        for (path, pointer, resolved) in [
            ("traffic.yellow.source.cbr.rate", "/traffic/1/source/cbr/rate", "traffic.1.source.cbr.rate"),
            ("links.0.rate", "/links/0/rate", "links.0.rate"),
            ("hosts.a.b.address", "/hosts/a.b/address", "hosts.a.b.address"),
            ("measure.warmup", "/measure/warmup", "measure.warmup"),
            ("seed", "/seed", "seed"),
        ] {
            let mut document = document();
            document.set(path, "2Mb/s").unwrap();
            assert_eq!(document.value.pointer(pointer), Some(&"2Mb/s".into()), "{path}");
            assert_eq!(document.overrides[0].0.to_string(), resolved);
        }
    }

    #[test]
    fn a_star_matches_several_elements() {
        let named = |path: &str| -> Vec<String> {
            let mut document = document();
            document.set(path, "af11").unwrap();
            document.overrides.iter().map(|(resolved, _)| resolved.to_string()).collect()
        };
        assert_eq!(named("traffic.*.dscp"), ["traffic.0.dscp", "traffic.1.dscp"]);
        assert_eq!(named("traffic.*e*.dscp"), ["traffic.0.dscp", "traffic.1.dscp"]);
        assert_eq!(named("traffic.y*w.dscp"), ["traffic.1.dscp"]);
        assert_eq!(named("links.*.rate"), ["links.0.rate"]);
        assert_eq!(refused("traffic.blue*.dscp").0, "no element of `traffic` matches `blue*`");
        assert_eq!(refused("hosts.*.address").0, "`hosts` is not a list");
        assert_eq!(refused("traffic.*.dcsp").0, "there is no `dcsp` in `traffic.0`");
    }

    #[test]
    fn an_unknown_path_is_refused_with_the_nearest_name() {
        assert_eq!(refused("traffic.yelow.dscp").0, "`traffic` has no element `yelow`");
        assert!(refused("traffic.yelow.dscp").1.starts_with("did you mean `yellow`?"));
        assert!(refused("mesure.warmup").1.starts_with("did you mean `measure`?"));
        assert!(refused("links.0.rat").1.starts_with("did you mean `rate`?"));
        assert_eq!(refused("links.7.rate").1, "elements: 0 to 0");
        assert!(refused("hosts.new.address").0.contains("no `new` in `hosts`"));
        assert!(refused("links.0.rate.unit").0.contains("single value"));
        assert!(refused("links..rate").0.contains("not a path"));
    }
}
