// The interface of an invariant: it receives each moment with the one before and returns the violations. Invariants read
// records and machines on their own and call none of the code that they check. See docs/design/simulation.md#invariants

import type { Violation } from '../cluster/snapshot.ts'
import type { Script } from '../script/script.ts'
import type { Moment } from './moment.ts'

/** `subject`: a deployment, a node, a tenant. */
export type Broken = Pick<Violation, 'subject' | 'message'>

type Judge = (moment: Moment) => Iterable<Broken>

export interface Invariant {
  readonly name: string
  /** Once for each run, because a judge may remember what it has seen. */
  start(script: Script): Judge
  /** Only of the last moment, when all faults are over and there was time to settle. */
  readonly atEnd?: boolean
}
