// Work that waits for a deployment to be ready or running. A change of that deployment requeues exactly its waiting
// dependents, by their queue keys. See docs/design/rollouts.md#dependencies

export interface Dependents {
  /** `on` has the names of deployments. */
  wait(key: string, on: readonly string[]): void
  forget(key: string): void
  waitingFor(name: string): readonly string[]
}

export function createDependents(): Dependents {
  const waiting = new Map<string, readonly string[]>()
  const byOther = new Map<string, Set<string>>()
  const forget = (key: string): void => {
    for (const other of waiting.get(key) ?? []) {
      const keys = byOther.get(other)
      keys?.delete(key)
      if (keys?.size === 0) byOther.delete(other)
    }
    waiting.delete(key)
  }
  return {
    forget,
    wait(key, on) {
      forget(key)
      waiting.set(key, on)
      for (const other of on) byOther.set(other, (byOther.get(other) ?? new Set()).add(key))
    },
    waitingFor: (name) => [...(byOther.get(name) ?? [])].sort(),
  }
}
