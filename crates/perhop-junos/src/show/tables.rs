//! `show class-of-service forwarding-class`, `classifier` and `drop-profile`.

use std::collections::BTreeSet;

use perhop_device::show::ShownObject;
use serde_json::{Value, json};

use super::applied::Applied;
use super::layout::Indexes;
use crate::cos::{CodePoints, Form};

/// The number of queues of a restricted port, to which its classes are mapped.
const RESTRICTED: u8 = 4;
/// The name of the profile of loss priorities without a configured profile.
pub(super) const DEFAULT_PROFILE: &str = "<default-drop-profile>";
/// The built-in classifiers with their types and indexes. Outputs of devices show the indexes 7 and 11
/// (EX2200), and 9 and 13 (genieparser). The other indexes are recalled.
pub(super) const BUILT_IN: [(&str, CodePoints, u32); 7] = [
    ("dscp-default", CodePoints::Dscp, 7),
    ("dscp-ipv6-default", CodePoints::DscpIpv6, 8),
    ("dscp-ipv6-compatibility", CodePoints::DscpIpv6, 9),
    ("exp-default", CodePoints::Exp, 10),
    ("ieee8021p-default", CodePoints::Ieee8021, 11),
    ("ipprec-default", CodePoints::InetPrecedence, 12),
    ("ipprec-compatibility", CodePoints::InetPrecedence, 13),
];

/// Returns the output for all classes, or for the class `name`.
///
/// PTX with Junos Evolved prints the column for classes without loss (K. Nawaz, MPLS Backbone Class of
/// Service Design Principles); the columns of other devices are recalled.
pub(super) fn forwarding_classes(applied: &Applied, name: Option<&str>) -> Vec<ShownObject> {
    let is_evolved = applied.layout.indexes == Indexes::Zero;
    let heading = format!("{:<39}{:<8}{:<10}", "Forwarding class", "ID", "Queue");
    let heading = heading + if is_evolved { "No-Loss" } else { "Restricted queue  Fabric priority" };
    let (mut lines, mut classes) = (vec![heading], Vec::new());
    for (id, class) in applied.cos.classes.iter().enumerate() {
        if name.is_some_and(|name| name != class.name) {
            continue;
        }
        let loss = if class.is_lossless { "Enabled" } else { "Disabled" };
        let restricted = class.queue % RESTRICTED;
        let others = if is_evolved { loss.to_owned() } else { format!("{restricted:<18}low") };
        lines.push(format!("  {:<37}{id:<8}{:<10}{others}", class.name, class.queue));
        let own = json!({"name": class.name, "id": id, "queue": class.queue, "no_loss": class.is_lossless});
        classes.push(own);
    }
    if classes.is_empty() {
        return Vec::new();
    }
    let document = json!({"classes": classes});
    vec![ShownObject { name: name.unwrap_or_default().to_owned(), text: lines.join("\n") + "\n", document }]
}

/// Returns the output for each classifier, built-in ones first, or for the classifiers called `name`.
pub(super) fn classifiers(applied: &Applied, name: Option<&str>) -> Vec<ShownObject> {
    let own = applied.cos.classifiers.names().map(|(kind, name)| (name, kind, 0));
    let built_in = BUILT_IN.into_iter().map(|(name, kind, index)| (name, kind, applied.layout.index(index)));
    // A configured classifier replaces a built-in one of the same name.
    let is_free =
        |(name, kind, _): &(&str, CodePoints, u32)| applied.cos.classifiers.get(*kind, name).is_none();
    let all = built_in.filter(is_free).chain(own);
    let meant = all.filter(|(own, _, _)| name.is_none_or(|name| name == *own));
    meant.map(|(name, kind, index)| classifier(applied, name, kind, index)).collect()
}

fn classifier(applied: &Applied, name: &str, kind: CodePoints, index: u32) -> ShownObject {
    let cos = &applied.cos;
    let table = cos.classifiers.table(kind, name, &cos.classes);
    let listed = cos.classifiers.listed(kind, name);
    let mut lines = vec![
        format!("Classifier: {name}, Code point type: {}, Index: {index}", kind.word()),
        "  Code point         Forwarding class                    Loss priority".to_owned(),
    ];
    let mut rows: Vec<Value> = Vec::new();
    for (point, treatment) in table.iter().enumerate() {
        let Some(class) = cos.classes.at(treatment.label).filter(|_| is_listed(listed.as_ref(), point))
        else {
            continue;
        };
        let point = format!("{point:0width$b}", width = kind.bits());
        let loss = treatment.loss.name();
        lines.push(format!("  {point:<19}{:<36}{loss}", class.name));
        rows.push(json!({"code_point": point, "forwarding_class": class.name, "loss_priority": loss}));
    }
    let document = json!({"name": name, "type": kind.word(), "index": index, "code_points": rows});
    ShownObject { name: name.to_owned(), text: lines.join("\n") + "\n\n", document }
}

/// Whether a classifier lists a codepoint; `None` if it lists all.
fn is_listed(listed: Option<&BTreeSet<u8>>, point: usize) -> bool {
    listed.is_none_or(|points| u8::try_from(point).is_ok_and(|point| points.contains(&point)))
}

/// Returns the output for each drop profile, the default one first, or for the profile `name`.
pub(super) fn drop_profiles(applied: &Applied, name: Option<&str>) -> Vec<ShownObject> {
    let own = applied.cos.drop_profiles.iter().map(|(name, profile)| {
        let form = match profile.form {
            Form::Steps => "discrete",
            Form::Interpolated => "interpolated",
        };
        drop_profile(name, form, 0, &profile.table())
    });
    let default = drop_profile(DEFAULT_PROFILE, "discrete", applied.layout.index(1), &[(100, 100)]);
    let is_meant = |object: &ShownObject| name.is_none_or(|name| object.name == name);
    [default].into_iter().chain(own).filter(is_meant).collect()
}

fn drop_profile(name: &str, form: &str, index: u32, table: &[(u8, u8)]) -> ShownObject {
    let mut lines = vec![
        format!("Drop profile: {name}, Type: {form}, Index: {index}"),
        "  Fill level    Drop probability".to_owned(),
    ];
    lines.extend(table.iter().map(|(fill, drop)| format!("{fill:>12}{drop:>20}")));
    let points: Vec<Value> =
        table.iter().map(|(fill, drop)| json!({"fill_level": fill, "drop_probability": drop})).collect();
    let document = json!({"name": name, "type": form, "index": index, "points": points});
    ShownObject { name: name.to_owned(), text: lines.join("\n") + "\n", document }
}
