// What must hold at every moment of a simulation. An invariant is told of each moment, with what was before it, and answers
// with who breaks it. It reads the records and the machines by itself and asks none of the code that it judges: a filter that
// is wrong must not agree with itself.

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
