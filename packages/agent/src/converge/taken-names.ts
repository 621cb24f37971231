// Which names are taken on this machine, by whomever? What the last list of all containers said, and what we have made,
// removed and run into since. One that is missing here costs a create that the engine refuses (DECISIONS 4).

export interface TakenNames {
  all(): ReadonlySet<string>
  add(name: string): void
  drop(name: string): void
  /** To be called before all containers are listed; gives what takes the names of that list. */
  ask(): (listed: Iterable<string>) => void
}

export function createTakenNames(): TakenNames {
  let taken = new Set<string>()
  /** Since a list was last asked for: it may be older than they are. */
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
    ask() {
      added = new Set()
      return (listed) => {
        taken = new Set([...listed, ...added])
      }
    },
  }
}
