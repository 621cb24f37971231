// Builds objects with optional members. Under exactOptionalPropertyTypes a value that may be undefined cannot be
// assigned to an optional member; `{ id, ...defined({ label }) }` leaves the member out if the value is undefined.

/** The type T with every member that may be undefined made optional. */
export type Defined<T> = {
  [K in keyof ({ [M in keyof T as undefined extends T[M] ? never : M]: T[M] } & {
    [M in keyof T as undefined extends T[M] ? M : never]?: T[M]
  })]: Exclude<T[K], undefined>
}

/** Copies an object without the members whose value is undefined. Too slow for hot paths: it copies the object twice. */
export function defined<T extends object>(members: T): Defined<T>
export function defined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
