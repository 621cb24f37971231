// Tracks the container names in use on the machine: those of the last full list, adjusted by the names that the agent
// created, removed or found in use since. If a name in use is not tracked, Docker rejects the create, and the agent tries
// another name.

export interface TakenNames {
  all(): ReadonlySet<string>
  add(name: string): void
  drop(name: string): void
  /** Call before a full list of containers is requested; call the returned function with the names in the list. */
  beginList(): (listed: Iterable<string>) => void
}

export function createTakenNames(): TakenNames {
  let taken = new Set<string>()
  /** Container names added since the last list was requested; that list may lack these names. */
  let added = new Set<string>()
  return {
    all: () => taken,
    add(name) {
      taken.add(name)
      added.add(name)
    },
    drop(name) {
      taken.delete(name)
      added.delete(name)
    },
    beginList() {
      added = new Set()
      return (listed) => {
        taken = new Set([...listed, ...added])
      }
    },
  }
}
