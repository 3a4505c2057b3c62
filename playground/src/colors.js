// The role of each class in the page's palette. As in perhop's other charts, classes with equal names have
// equal roles.
const PRECEDENCES = ["green", "yellow", "red"];

export function rolesOf(names) {
  const roles = {};
  let taken = 0;
  for (const name of names) {
    const named = PRECEDENCES.find((color) => name.toLowerCase().includes(color));
    const isFree = named && !Object.values(roles).includes(named);
    roles[name] = isFree ? named : `class${taken++ % 8}`;
  }
  return roles;
}

// The roles of queues: a queue with the name of a class, also of an inner class, has the role of that class.
export function rolesOfQueues(queues, classes) {
  const own = rolesOf(queues);
  return Object.fromEntries(queues.map((name) => [name, classes[name] ?? classes[name.split("/").at(-1)] ?? own[name]]));
}
