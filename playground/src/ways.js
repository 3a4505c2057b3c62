// The ways of packets through a port, as the engine answers them.

// The packets of an answer, in the order of arrival; what did not happen is undefined.
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

// The instants at which something happens to a packet, and what is said of it.
export function eventsOf(way) {
  return [way.arrived, way.dequeued, way.starts, way.dropped ?? way.ends].filter((at) => at !== undefined);
}
