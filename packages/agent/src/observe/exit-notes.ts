// Remembers exits and OOM kills that events announced, by container. The engine forgets the exit code of a run when the next
// run starts, which may be before the agent's inspection.

export interface ExitNote {
  readonly code: number
  readonly oomKilled: boolean
}

export interface ExitNotes {
  /**
   * Notes an exit. An OOM kill noted since the exit before belongs to this one. `oomKilled`: whether the kernel logged an
   * OOM kill of this run.
   */
  noteExit(containerId: string, code: number, oomKilled?: boolean): void
  /** Notes the start of a run. */
  noteStart(containerId: string): void
  /** Notes an OOM kill that the engine announced. Returns true if it explains an exit that was noted without one. */
  noteOom(containerId: string): boolean
  /** Returns the last exit. */
  of(containerId: string): ExitNote | undefined
  forget(containerId: string): void
}

/** An OOM kill that is announced this soon after an exit without one belongs to that exit, not to the next run. */
const LATE_OOM_MS = 1000
/** Exit code of a process that SIGKILL ended, such as the victim of an OOM kill. */
const SIGKILLED = 137

interface NotedExit extends ExitNote {
  readonly notedMs: number
  readonly hasNextRun: boolean
}

export function createExitNotes(monotonicMs: () => number = () => performance.now()): ExitNotes {
  const exits = new Map<string, NotedExit>()
  const ooms = new Set<string>()
  const isLate = ({ code, oomKilled, notedMs, hasNextRun }: NotedExit): boolean =>
    !oomKilled && monotonicMs() - notedMs < LATE_OOM_MS && (!hasNextRun || code === SIGKILLED)
  return {
    noteExit(id, code, oomKilled = false) {
      const wasAnnounced = ooms.delete(id)
      exits.set(id, {
        code,
        oomKilled: oomKilled || wasAnnounced,
        notedMs: monotonicMs(),
        hasNextRun: false,
      })
    },
    noteStart(id) {
      const exit = exits.get(id)
      if (exit !== undefined) exits.set(id, { ...exit, hasNextRun: true })
    },
    noteOom(id) {
      const exit = exits.get(id)
      const explains = exit !== undefined && isLate(exit)
      if (explains) exits.set(id, { ...exit, oomKilled: true })
      // The engine announces one kill many times, also after its exit.
      else if (exit === undefined || exit.hasNextRun || !exit.oomKilled) ooms.add(id)
      return explains
    },
    of: (id) => exits.get(id),
    forget(id) {
      exits.delete(id)
      ooms.delete(id)
    },
  }
}
