// The events about a node. `node.cordoned` is used for both cordon and uncordon; the event's reason
// distinguishes the two.

import type { Infer, NodeFault, nodeShape } from '@holdfast/contract'
import type { StoredNode } from '../../store/records.ts'
import type { NewEvent } from '../record-write.ts'
import type { RefusedLabel } from './attest-labels.ts'

type NodeIdentity = Pick<Infer<typeof nodeShape>, 'id' | 'name'>

/** Identifies a node as the subject of an event. */
export const nodeSubject = ({ id, name }: NodeIdentity) => ({ kind: 'Node', name, uid: id })

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

/**
 * The event of refused labels, emitted at an enrollment or new session if other labels are refused than the last time.
 */
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
    message: `Node ${node.name} advertises labels that its join token did not attest: ${names}. They are ignored.`,
    data: { refused: refused.map((each) => ({ ...each })) },
  }
}

/** A peer address that an agent stated and that the tenant's other nodes cannot use. */
export interface RefusedAddress {
  /** The option of the agent that sets the address. */
  readonly option: string
  readonly received: string
  /** Why it is refused, as one word. */
  readonly kind: string
}

export const addressTexts = (refused: readonly RefusedAddress[]): string[] =>
  refused.map(({ option, received, kind }) => `${option} ${received} (${kind})`)

/** The event of refused peer addresses, emitted at a new session if other addresses are refused than the last time. */
export function addressRefusedEvent(
  node: Pick<StoredNode, 'id' | 'name' | 'session'>,
  refused: readonly RefusedAddress[],
): NewEvent {
  const { name } = node
  const texts = addressTexts(refused)
  return {
    type: 'node.address_refused',
    severity: 'warning',
    subject: nodeSubject(node),
    cause: String(node.session.epoch),
    reason: refused[0]?.kind ?? '',
    message: `Node ${name} states addresses at which no other node can reach it: ${texts.join(', ')}. They are ignored.`,
    data: {
      refused: refused.map((each) => ({ ...each })),
      fix: `Restart the agent of ${name} with an IP address or name of this machine that the tenant's other nodes reach, for example ${refused[0]?.option} 10.0.0.5:8081. Addresses of the kinds loopback, link-local, multicast, reserved, unspecified and metadata are accepted only while the tenant has one node.`,
    },
  }
}

/** The event of a node whose pool is another one than before. Each pool that is found gives one event. */
export function poolChangedEvent(node: StoredNode): NewEvent {
  const { poolId = '', storage } = node
  const found = storage?.poolId ?? null
  return {
    type: 'node.degraded',
    severity: 'warning',
    subject: nodeSubject(node),
    cause: `${node.generation} ${poolId} ${node.degraded?.since}`,
    reason: 'pool_changed',
    message: `The storage pool of node ${node.name} is another one than before. The node gets no new volume work. Restore the former pool, or enroll the node again to use the new one.`,
    data: { poolId, found },
  }
}

/** The event of a node whose engine does not answer: at first, and when it has failed. */
export function engineSilentEvent(
  { id, name }: NodeIdentity,
  { since, failed = false }: NodeFault,
): NewEvent {
  const effect = failed
    ? 'Its replicas are unknown: those that mount no volume are replaced on other nodes, and no route leads to it.'
    : 'It gets no new work.'
  return {
    type: 'node.degraded',
    severity: failed ? 'error' : 'warning',
    subject: nodeSubject({ id, name }),
    cause: `engine ${since} ${failed}`,
    reason: 'engine_silent',
    message: `The container engine of node ${name} has not answered since ${since}. ${effect} Restart the engine, for example with systemctl restart docker.`,
    data: { since, failed },
  }
}

/** The event of a node whose engine answers again. */
export function engineRecoveredEvent({ id, name }: NodeIdentity, { since }: NodeFault): NewEvent {
  return {
    type: 'node.recovered',
    severity: 'info',
    subject: nodeSubject({ id, name }),
    cause: `engine ${since}`,
    reason: 'engine_silent',
    message: `The container engine of node ${name} answers again. It was silent since ${since}.`,
    data: { since },
  }
}

/** The event of a node whose engine has a nearly full disk. */
export function diskPressureEvent(
  { id, name }: NodeIdentity,
  { since }: NodeFault,
  usedPercent: number,
): NewEvent {
  return {
    type: 'node.degraded',
    severity: 'warning',
    subject: nodeSubject({ id, name }),
    cause: `disk ${since}`,
    reason: 'disk_pressure',
    message: `The disk of the container engine of node ${name} is ${usedPercent} % full, in bytes or inodes. The node gets no new work until it is down to 80 %; its replicas stay. Free space on the machine.`,
    data: { since, usedPercent },
  }
}

/** The event of a node whose disk has space again. */
export function diskRecoveredEvent(
  { id, name }: NodeIdentity,
  { since }: NodeFault,
  usedPercent: number,
): NewEvent {
  return {
    type: 'node.recovered',
    severity: 'info',
    subject: nodeSubject({ id, name }),
    cause: `disk ${since}`,
    reason: 'disk_pressure',
    message: `The disk of the container engine of node ${name} has space again: it is ${usedPercent} % full.`,
    data: { since },
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
    message: schedulable
      ? `Node ${name} was uncordoned: it accepts new replicas.`
      : `Node ${name} was cordoned: it gets no new replicas.`,
    data: { schedulable },
  }
}

export function drainingEvent(node: NodeIdentity, cause: string): NewEvent {
  return {
    type: 'node.cordoned',
    severity: 'info',
    subject: nodeSubject(node),
    cause,
    reason: 'draining',
    message: `Node ${node.name} is being drained: its replicas move to other nodes.`,
    data: { schedulable: false, draining: true },
  }
}

export function drainedEvent(node: NodeIdentity, cause: string): NewEvent {
  return {
    type: 'node.drained',
    severity: 'info',
    subject: nodeSubject(node),
    cause,
    reason: 'drained',
    message: `Node ${node.name} was drained: no replica is left on it.`,
    data: {},
  }
}

/** The most container names in an event; GET /nodes/{id}/containers lists all containers. */
const NAMED = 20

/** The event of unmanaged containers; `names` are their sorted names. Equal names give one event only. */
export function orphansFoundEvent(node: StoredNode, names: readonly string[]): NewEvent {
  const { name, generation } = node
  return {
    type: 'node.orphans_found',
    severity: 'warning',
    subject: nodeSubject(node),
    cause: `${generation} ${names.join()}`,
    reason: 'left',
    message:
      names.length === 1
        ? `Node ${name} runs 1 unmanaged container, more than half of all; it was not removed.`
        : `Node ${name} runs ${names.length} unmanaged containers, more than half of all; none was removed.`,
    data: {
      count: names.length,
      containers: names.slice(0, NAMED),
      fix: `Deploy again what should still run, for example after a restore from a backup. Then remove other containers on ${name} with docker rm --force NAME. Once fewer than half are unmanaged, the agent removes the rest.`,
    },
  }
}

const POOL_TEXTS = {
  none: '',
  wiped: ' Its agent has confirmed that no data of volumes is left on it.',
  unknown:
    ' Its storage pool may still have data of volumes, which is deleted before another tenant can use the pool.',
}

export function claimReleasedEvent(
  node: NodeIdentity,
  reason: 'released' | 'removed' | 'forced',
  pool: keyof typeof POOL_TEXTS,
): NewEvent {
  return {
    type: 'node.claim_released',
    severity: reason === 'forced' ? 'warning' : 'info',
    subject: nodeSubject(node),
    cause: 'released',
    reason,
    message: `Node ${node.name} no longer belongs to this tenant.${POOL_TEXTS[pool]}`,
    data: { pool },
  }
}
