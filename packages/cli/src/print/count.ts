// Writes a number of things: `1 replica`, `3 replicas`.

/** `many` is needed if it is not `one` followed by an s: `count(2, 'line was', 'lines were')`. */
export const count = (amount: number, one: string, many = `${one}s`): string =>
  `${amount} ${amount === 1 ? one : many}`
