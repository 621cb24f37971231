// Deployments that wait for a dependency to be ready or running. A change of the dependency requeues exactly its waiting
// dependents. See docs/design/rollouts.md#dependencies

export interface Dependents {
  wait(name: string, on: readonly string[]): void
  forget(name: string): void
  waitingFor(name: string): readonly string[]
}

export function createDependents(): Dependents {
  const waiting = new Map<string, readonly string[]>()
  const byOther = new Map<string, Set<string>>()
  const forget = (name: string): void => {
    for (const other of waiting.get(name) ?? []) {
      const names = byOther.get(other)
      names?.delete(name)
      if (names?.size === 0) byOther.delete(other)
    }
    waiting.delete(name)
  }
  return {
    forget,
    wait(name, on) {
      forget(name)
      waiting.set(name, on)
      for (const other of on) byOther.set(other, (byOther.get(other) ?? new Set()).add(name))
    },
    waitingFor: (name) => [...(byOther.get(name) ?? [])],
  }
}
