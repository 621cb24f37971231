// Remembers exits and OOM kills that events announced, by container. The engine forgets the exit code of a run when the next
// run starts, which may be before the agent's inspection.

export interface ExitNote {
  readonly code: number
  readonly oomKilled: boolean
}

export interface ExitNotes {
  /** Notes an exit. An OOM kill noted since the exit before belongs to this one. */
  noteExit(containerId: string, code: number): void
  /** Notes an OOM kill. Returns true if it explains an exit that was already noted. */
  noteOom(containerId: string): boolean
  /** Returns the last exit. */
  of(containerId: string): ExitNote | undefined
  forget(containerId: string): void
}

/** An OOM kill that is announced this soon after an exit belongs to that exit, not to the next run. */
const LATE_OOM_MS = 1000

export function createExitNotes(monotonicMs: () => number = () => performance.now()): ExitNotes {
  const exits = new Map<string, ExitNote & { readonly notedMs: number }>()
  const ooms = new Set<string>()
  return {
    noteExit: (id, code) => {
      exits.set(id, { code, oomKilled: ooms.delete(id), notedMs: monotonicMs() })
    },
    noteOom(id) {
      const exit = exits.get(id)
      const isLate = exit !== undefined && !exit.oomKilled && monotonicMs() - exit.notedMs < LATE_OOM_MS
      if (isLate) exits.set(id, { ...exit, oomKilled: true })
      else ooms.add(id)
      return isLate
    },
    of: (id) => exits.get(id),
    forget(id) {
      exits.delete(id)
      ooms.delete(id)
    },
  }
}
