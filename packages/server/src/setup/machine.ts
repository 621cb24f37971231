// The parts of a machine that setup changes beside files: units and owners. systemd in production, child processes in a test.

import type { Unit } from './layout.ts'

export interface Machine {
  /** Whether the unit runs, and starts again at boot. */
  isRunning(unit: Unit): Promise<boolean>
  /** Starts the unit now and at each boot. Resolves when the process runs; it may not answer yet. */
  start(unit: Unit): Promise<void>
  restart(unit: Unit): Promise<void>
  /** Last log lines of the unit, for the message about a unit that does not answer. */
  readLog(unit: Unit): Promise<string>
  hasUser(user: string): boolean
  /** Name of the owner of a user id; undefined if owners are not tracked. */
  nameOwner(uid: number): string | undefined
  /** Gives the file to the user and the user's group. */
  giveTo(path: string, user: string): void
}
