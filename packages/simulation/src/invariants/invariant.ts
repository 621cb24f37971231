// A property that holds at every moment of a simulation. An invariant sees each moment with the one before and returns its
// violations. It reads records and machines directly and calls none of the code that it checks: a wrong filter must not
// confirm itself.

import type { Violation } from '../cluster/snapshot.ts'
import type { Script } from '../script/script.ts'
import type { Moment } from './moment.ts'

/** `subject`: a deployment, a node, a tenant. */
export type Broken = Pick<Violation, 'subject' | 'message'>

type Judge = (moment: Moment) => Iterable<Broken>

export interface Invariant {
  readonly name: string
  /** Created once per run, because a check may keep state. */
  start(script: Script): Judge
  /** Checked at the last moment only, when all faults are over and there was time to settle. */
  readonly atEnd?: boolean
}
