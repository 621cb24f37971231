// An invariant is a property that must hold at every moment of a simulation. It compares each moment with the previous
// one and returns violations. It reads records and machines directly and calls no code under test, because an error in
// that code would then hide itself.

import type { Violation } from '../cluster/snapshot.ts'
import type { Script } from '../script/script.ts'
import type { Moment } from './moment.ts'

/** A violation without the invariant's name. `subject` is a deployment, a node or a tenant. */
export type Broken = Pick<Violation, 'subject' | 'message'>

type Judge = (moment: Moment) => Iterable<Broken>

export interface Invariant {
  readonly name: string
  /** Creates the check of this invariant for one run of a simulation; the check may keep state between moments. */
  start(script: Script): Judge
  /** True if the invariant is checked only at the last moment, when all faults are over and there was time to settle. */
  readonly atEnd?: boolean
}
