// What is told of a node. DECISIONS 7. The vocabulary has one word for both turns of a cordon; the reason says which.

import type { Infer, nodeShape } from '@holdfast/contract'
import type { StoredNode } from '../../store/records.ts'
import type { NewEvent } from '../record-write.ts'
import type { RefusedLabel } from './attest-labels.ts'

type Named = Pick<Infer<typeof nodeShape>, 'id' | 'name'>

/** A node as the subject of an event. */
export const nodeSubject = ({ id, name }: Named) => ({ kind: 'Node', name, uid: id })

export function enrolledEvent(node: StoredNode): NewEvent {
  return {
    type: 'node.enrolled',
    severity: 'info',
    subject: nodeSubject(node),
    cause: String(node.generation),
    reason: 'enrolled',
    message: `Node ${node.name} was enrolled, generation ${node.generation}.`,
    data: { generation: node.generation, labels: node.labels, controlPlane: node.controlPlane },
  }
}

/** Of the enrollment or the opening that made the node as it is: told where it is another refusal than the last. */
export function labelsRefusedEvent(
  node: Pick<StoredNode, 'id' | 'name' | 'session'>,
  refused: readonly RefusedLabel[],
): NewEvent {
  const names = refused.map(({ label }) => label).join(', ')
  return {
    type: 'node.labels_refused',
    severity: 'warning',
    subject: nodeSubject(node),
    cause: String(node.session.epoch),
    reason: 'not_attested',
    message: `Node ${node.name} advertises what its join token did not attest: ${names}. It does not count.`,
    data: { refused: refused.map((each) => ({ ...each })) },
  }
}

export function cordonEvent(node: StoredNode, cause: string): NewEvent {
  const { name, schedulable } = node
  return {
    type: 'node.cordoned',
    severity: 'info',
    subject: nodeSubject(node),
    cause,
    reason: schedulable ? 'uncordoned' : 'cordoned',
    message: schedulable ? `Node ${name} takes new work again.` : `Node ${name} takes no new work.`,
    data: { schedulable },
  }
}

export function drainingEvent(node: Named, cause: string): NewEvent {
  return {
    type: 'node.cordoned',
    severity: 'info',
    subject: nodeSubject(node),
    cause,
    reason: 'draining',
    message: `Node ${node.name} takes no new work; its replicas are moved away.`,
    data: { schedulable: false, draining: true },
  }
}

export function drainedEvent(node: Named, cause: string): NewEvent {
  return {
    type: 'node.drained',
    severity: 'info',
    subject: nodeSubject(node),
    cause,
    reason: 'drained',
    message: `Node ${node.name} is drained: no replica is left on it.`,
    data: {},
  }
}

/** Named in an event: the rest is in GET /nodes/{id}/containers. */
const NAMED = 20

/** `names`: of the containers that no assignment wishes any more, in order. The same ones told again are the same event. */
export function orphansFoundEvent(node: StoredNode, names: readonly string[]): NewEvent {
  const { name, generation } = node
  return {
    type: 'node.orphans_found',
    severity: 'warning',
    subject: nodeSubject(node),
    cause: `${generation} ${names.join()}`,
    reason: 'left',
    message: `Node ${name} runs ${names.length} containers that nothing wishes any more. As they are most of what it runs, they were left.`,
    data: {
      count: names.length,
      containers: names.slice(0, NAMED),
      fix: `Deploy again what should still run, for example after a restore from a backup, and then remove what is left on ${name} itself: docker rm --force NAME. Once they are fewer than half, the agent removes the rest.`,
    },
  }
}

export function claimReleasedEvent(node: Named, reason: 'released' | 'removed' | 'forced'): NewEvent {
  return {
    type: 'node.claim_released',
    severity: reason === 'forced' ? 'warning' : 'info',
    subject: nodeSubject(node),
    cause: 'released',
    reason,
    message: `Node ${node.name} no longer belongs to this tenant.`,
    data: {},
  }
}
