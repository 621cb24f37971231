// Tracks the container names in use on the machine: those of the last full list, adjusted by what the agent created, removed
// and found in use since. A name missing here only costs a create that Docker rejects.

export interface TakenNames {
  all(): ReadonlySet<string>
  add(name: string): void
  drop(name: string): void
  /** Call this before a full list is requested, and the returned function with the names it contains. */
  beginList(): (listed: Iterable<string>) => void
}

export function createTakenNames(): TakenNames {
  let taken = new Set<string>()
  /** Names added since a list was requested, which the list may not contain. */
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
