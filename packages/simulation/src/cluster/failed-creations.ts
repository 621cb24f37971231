// Attempts of a simulated agent to create containers on a machine that cannot: the errors of its engine, and the delays before
// further attempts, which grow as those of the real agent do. See docs/design/nodes-that-fail.md

import type { AssignmentId } from '@holdfast/contract'
import { type FailedAttempt, isCauseOfNode, type ReplicaView } from '@holdfast/core/node'
import type { CreationFault } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import type { Machine } from './machine.ts'

/** The reason that a real agent reports for each cause, and the words of its engine. */
const ATTEMPTS: { readonly [fault in CreationFault]: FailedAttempt } = {
  engine: { reason: 'create_failed', fault: 'failed', message: 'error creating overlay mount' },
  network: { reason: 'network_failed', fault: 'failed', message: 'failed to create the bridge' },
  disk: { reason: 'image_pull_failed', fault: 'failed', message: 'write layer: no space left on device' },
  registry: { reason: 'image_pull_failed', fault: 'failed', message: 'unexpected status 503' },
}

/** The assignments that the machine could not create, for a cause of its own. Another machine could create them. */
export const notCreated = ({ creationFault }: Pick<Machine, 'creationFault'>): ReadonlySet<AssignmentId> =>
  creationFault === undefined || creationFault.cause === 'registry' ? NONE : new Set(creationFault.met)
const NONE: ReadonlySet<AssignmentId> = new Set()

/** A machine cannot create containers from now on. Assignments that met an earlier cause of the machine meet this one as well. */
export function failCreations(machine: Pick<Machine, 'creationFault'>, cause: CreationFault): () => void {
  const fault = { cause, met: new Set(notCreated(machine)) }
  machine.creationFault = fault
  return () => {
    if (machine.creationFault === fault) machine.creationFault = undefined
  }
}

const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 60_000

type Reported = Required<Pick<ReplicaView, 'trouble' | 'cause' | 'attempts' | 'isOfNode'>>

export type MetFault = NonNullable<Machine['creationFault']>

export interface FailedCreations {
  /** Records a failed attempt and returns the delay until the next one, in milliseconds. */
  record(id: AssignmentId, fault: MetFault): number
  /** The assignments that wait for their next attempt. */
  waiting(): AssignmentId[]
  retry(id: AssignmentId): void
  reported(id: AssignmentId): Reported | undefined
  clear(id: AssignmentId): void
}

/** The failed attempts of an agent that starts, which counts from zero, as the real one does. */
export function createFailedCreations(
  random: Random,
  machine: Pick<Machine, 'creationFault'>,
): FailedCreations {
  machine.creationFault?.met.clear()
  const failures = new Map<AssignmentId, Reported & { readonly isWaiting: boolean }>()
  return {
    record(id, { cause: kind, met }) {
      met.add(id)
      const attempt = ATTEMPTS[kind]
      const isOfNode = isCauseOfNode(attempt)
      const last = failures.get(id)
      const attempts = last?.isOfNode === isOfNode ? last.attempts + 1 : 1
      const { reason: trouble, message: cause } = attempt
      failures.set(id, { trouble, cause, attempts, isOfNode, isWaiting: true })
      const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LAST_RETRY_MS)
      return Math.floor(delayMs * (0.75 + random.below(500) / 1_000))
    },
    waiting: () => [...failures].filter(([, { isWaiting }]) => isWaiting).map(([id]) => id),
    retry(id) {
      const failure = failures.get(id)
      if (failure !== undefined) failures.set(id, { ...failure, isWaiting: false })
    },
    reported: (id) => failures.get(id),
    clear: (id) => failures.delete(id),
  }
}
