import { readAll } from '@holdfast/client'
import type { Node } from '@holdfast/contract'
import { cpu, memory } from '../print/amounts.ts'
import { colorOf } from '../print/color.ts'
import { findNode } from './find-node.ts'
import type { Resource } from './resource.ts'

export const nodes: Resource<Node> = {
  names: ['nodes', 'node', 'no'],
  kind: 'node',
  begin: 'holdfast node join-token <name> prints the command that enrolls a machine',
  nameOf: ({ name }) => name,
  list: (client) => readAll((page) => client.nodes.list(page)),
  read: findNode,
  columns: [
    { header: 'NAME', value: ({ name }) => name },
    { header: 'STATUS', value: statusText, tint: ({ status }) => colorOf(status) },
    {
      header: 'WORK',
      value: workOf,
      tint: ({ schedulable }) => (schedulable ? undefined : 'yellow'),
    },
    { header: 'CPU', value: ({ capacity }) => cpu(capacity.cpuMillis) },
    { header: 'MEMORY', value: ({ capacity }) => memory(capacity.memoryBytes) },
    { header: 'ENGINE', drop: 2, value: ({ engine }) => engine.version },
    {
      header: 'AGENT',
      drop: 1,
      value: agentText,
      tint: ({ agentOutdated }) => (agentOutdated ? 'yellow' : undefined),
    },
    { header: 'STORAGE', wide: true, value: storageText },
    { header: 'LABELS', wide: true, value: ({ labels }) => labelText(labels) },
    { header: 'ID', wide: true, value: ({ id }) => id },
  ],
}

/** Text that shows whether the node accepts new replicas, or the reason why it does not. */
export function workOf({ schedulable, draining, controlPlane, claims, hold }: Node): string {
  const notes = [
    ...(draining === true ? ['draining'] : schedulable ? [] : ['cordoned']),
    ...(controlPlane ? ['control plane'] : []),
    ...(claims.some(({ state }) => state === 'releasing') ? ['releasing'] : []),
  ]
  const removals = hold === undefined ? '' : ', removes nothing'
  return `${notes.join(', ') || 'accepted'}${removals}`
}

/** Why the node removes nothing, and what ends that; empty if it may remove. */
export const holdText = ({ hold }: Pick<Node, 'hold'>): string =>
  hold === undefined
    ? ''
    : `nothing is removed since ${hold.since}: ${hold.reason}. An operator of the platform ends it with holdfast-server restored --confirm`

/** The status of the node, and why it is degraded. */
export function statusText({ status, reason, faults }: Pick<Node, 'status' | 'reason' | 'faults'>): string {
  const reasons = faults?.map((fault) => fault.reason).join(', ') ?? reason
  return reasons === undefined ? status : `${status} (${reasons})`
}

/** The version of the node's agent, and whether it is older than the server's; empty before its first session. */
export function agentText({
  agentVersion = '',
  agentOutdated,
}: Pick<Node, 'agentVersion' | 'agentOutdated'>): string {
  return agentOutdated === true ? `${agentVersion} (outdated)` : agentVersion
}

/** The used and total bytes of the node's pool; empty if the node has no pool. */
export function storageText({ storage }: Pick<Node, 'storage'>): string {
  if (storage?.fault !== undefined) return storage.fault
  return storage === undefined ? '' : `${memory(storage.usedBytes)} of ${memory(storage.poolBytes)}`
}

export const labelText = (labels: Node['labels']): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')
