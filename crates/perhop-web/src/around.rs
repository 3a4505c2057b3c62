//! [`around`]: the scenario inferred from a router configuration, as in `perhop run`.

use perhop_front_ends::FRONT_ENDS;
use perhop_inference::{ClassTraffic, Failure, Inferred, Request, infer};
use perhop_network::Devices;
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::ask::Around;

/// Returns the scenario inferred for the interface in `choices`, and its classes.
///
/// # Errors
/// The interface does not exist, or the router would refuse its configuration.
pub(crate) fn around(choices: &Around) -> Result<Answer, Answer> {
    let rate = choices.rate.as_ref().map(|written| {
        let read = written.parse().ok().filter(|rate| *rate > perhop_qos::Rate::from_bits_per_second(0));
        read.ok_or_else(|| Answer::failed(&format!("`{written}` is not a rate"), "for example 2Mb/s"))
    });
    let request = Request {
        text: choices.text.clone(),
        configuration: Map::from_iter([("text".to_owned(), json!(choices.text))]),
        base: ".".to_owned(),
        interface: choices.interface.clone(),
        rate: rate.transpose()?,
        ring: choices.ring,
        load: choices.load,
        loads: choices.loads.clone(),
        ..Request::default()
    };
    let inferred = infer(&Devices::new(FRONT_ENDS), &request, None).map_err(refused)?;
    Ok(answer(&inferred))
}

fn refused(failure: Failure) -> Answer {
    match failure {
        Failure::Invalid { message, help, .. } => Answer::failed(&message, &help),
        Failure::Option(error) => Answer::failed(&error.message, &error.help.unwrap_or_default()),
        Failure::Refused { found, .. } => Answer::refused(&found),
    }
}

fn answer(inferred: &Inferred) -> Answer {
    let Inferred { scenario, leaving, wire, port, load, offered, missing, assumed, not_looked_at, .. } =
        inferred;
    // The load of a queue is the sum of the loads of its classes.
    let mut loads: Vec<(&str, f64)> = Vec::new();
    for class in offered {
        let queue = class.queue.as_deref().unwrap_or(&class.class);
        match loads.iter_mut().find(|(known, _)| *known == queue) {
            Some((_, load)) => *load += class.load,
            None => loads.push((queue, class.load)),
        }
    }
    let classes: Vec<Value> =
        loads.into_iter().map(|(queue, load)| json!({"queue": queue, "load": load})).collect();
    let place = |class: &ClassTraffic| {
        Some((class.class.clone(), json!({"port": port, "queue": class.queue.as_ref()?})))
    };
    let queues: Map<String, Value> = offered.iter().filter_map(place).collect();
    Answer::ok(json!({
        "queues": queues, "scenario": scenario, "interface": leaving, "rate": wire, "load": load, "classes": classes, "missing": missing,
        "assumed": assumed, "not_looked_at": not_looked_at,
    }))
}
