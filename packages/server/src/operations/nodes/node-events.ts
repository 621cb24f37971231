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

/** `cause` tells this advertisement from the last one that was refused. */
export function labelsRefusedEvent(node: Named, refused: readonly RefusedLabel[], cause: string): NewEvent {
  const names = refused.map(({ label }) => label).join(', ')
  return {
    type: 'node.labels_refused',
    severity: 'warning',
    subject: nodeSubject(node),
    cause,
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
