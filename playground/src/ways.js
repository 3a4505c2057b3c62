// The paths of packets through a port, as the engine returns them.

// Returns the packets of an answer, in the order of arrival. Times of events that did not happen are
// undefined.
export function waysOf(columns) {
  const names = Object.keys(columns);
  return Array.from(columns.number, (_, row) => {
    const way = {};
    for (const name of names) {
      const value = columns[name][row];
      way[name] = Number.isNaN(value) ? undefined : value;
    }
    return way;
  });
}

// Returns the instants of a packet's events.
export function eventsOf(way) {
  return [way.arrived, way.dequeued, way.starts, way.dropped ?? way.ends].filter((at) => at !== undefined);
}
