// Builds objects with optional members. Under exactOptionalPropertyTypes a member that may be undefined cannot be
// assigned to an optional one; `{ id, ...defined({ label }) }` leaves it out instead.

/** The members of T: those that may be undefined become optional, the others stay as they are. */
export type Defined<T> = {
  [K in keyof ({ [M in keyof T as undefined extends T[M] ? never : M]: T[M] } & {
    [M in keyof T as undefined extends T[M] ? M : never]?: T[M]
  })]: Exclude<T[K], undefined>
}

/** A copy without the members whose value is undefined. Not for hot paths: it copies the object twice. */
export function defined<T extends object>(members: T): Defined<T>
export function defined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
