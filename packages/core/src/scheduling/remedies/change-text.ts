// Builds the texts of remedies, and is the only file that does: one sentence for each change. Amounts of memory use the
// largest unit that is exact, because a remedy states the least amount that helps and a rounded amount might not help.

import type { Capacity, ChangeKind, Constraint, NodeStatus } from '@holdfast/contract'
import type { Step } from './apply-changes.ts'

/** The node that a change is about, with the facts that the text of the change needs. */
export interface ChangedNode {
  readonly nodeName: string
  readonly nodeStatus: NodeStatus
}

/** The texts of all changes of a remedy, in one paragraph. */
export const textOfSteps = (steps: readonly Step[], node: ChangedNode): string =>
  steps.map((step) => textOfStep(step, node)).join(' ')

export const textOfStep = (change: Step, node: ChangedNode): string => TEXTS[change.kind](change, node)

type TextOf = (change: Step, node: ChangedNode) => string

const TEXTS: { readonly [kind in ChangeKind]: TextOf } = {
  make_ready: (_change, { nodeName, nodeStatus }) =>
    nodeStatus === 'pending' ? `Start the agent on ${nodeName}.` : `Bring ${nodeName} back online.`,
  uncordon: (_change, { nodeName }) => `Uncordon ${nodeName}.`,
  upgrade_agent: (_change, { nodeName }) => `Upgrade the agent on ${nodeName}.`,
  set_label: ({ label, value }, { nodeName }) =>
    value === undefined
      ? `Remove the label ${label} from ${nodeName}.`
      : `Set the label ${label} to "${value}" on ${nodeName}.`,
  attest_label: ({ label, value }, { nodeName }) =>
    `Enroll ${nodeName} again with a join token that attests the label ${label} as "${value}", if the machine is located there.`,
  free: ({ resources }, { nodeName }) => `Free ${textOfAmounts(resources)} on ${nodeName}.`,
  place_beside: ({ deployment }, { nodeName }) => `Place a replica of ${deployment} on ${nodeName}.`,
  move_away: ({ deployment }, { nodeName }) => `Move ${deployment} away from ${nodeName}.`,
  name_node: ({ nodeId }, { nodeName }) => `Set nodeId to ${nodeId} (${nodeName}).`,
  change_constraint: ({ constraint }) =>
    `Remove the constraint ${constraint === undefined ? '' : textOfConstraint(constraint)} from placement.constraints.`,
  change_affinity: ({ deployment }) => `Remove ${deployment} from placement.affinity.`,
  change_anti_affinity: ({ deployment }) => `Remove ${deployment} from placement.antiAffinity.`,
  change_networks: ({ network }) => `Remove ${network} from networks.`,
  change_residency: ({ demand, value }) =>
    demand === 'blockedCountries'
      ? `Remove ${value} from placement.residency.blockedCountries.`
      : `Remove placement.residency.${demand} (${value}).`,
  lower_request: ({ resources }) => `Lower the request to ${textOfAmounts(resources)}.`,
  raise_quota: ({ limit }) => `Raise the containers quota to ${limit}.`,
  enforce_residency: () => 'Turn on residency.enforcement in the server configuration.',
}

/** Maps a refusal code to advice, for refusals that no change by the tenant can end. */
const WITHOUT_REMEDY: { readonly [code: string]: (nodeName: string) => string } = {
  control_plane_node: (nodeName) =>
    `Enroll another node: ${nodeName} is reserved for the platform's own deployments.`,
  engine_silent: (nodeName) =>
    `Restart the container engine of ${nodeName} (systemctl restart docker), or enroll another node.`,
  creation_failed: (nodeName) =>
    `Repair the container engine of ${nodeName}, which is tried again ten minutes after it failed, or enroll another node.`,
  disk_pressure: (nodeName) =>
    `Free space or inodes on the disk of the container engine of ${nodeName}, or enroll another node.`,
  node_claims_releasing: (nodeName) =>
    `Enroll another node: this tenant is releasing its claim on ${nodeName}.`,
  storage_pool_missing: (nodeName) => `Give ${nodeName} a storage pool, or enroll a node that has one.`,
  storage_pool_unusable: (nodeName) =>
    `Repair the storage pool of ${nodeName}, or use another node; \`holdfast describe node ${nodeName}\` shows the fault.`,
  insufficient_storage: (nodeName) =>
    `Delete volumes on ${nodeName}, choose a smaller size, or enroll a node with a larger storage pool.`,
  volume_without_primary: () => 'Wait until the volume has a primary; its `why` explains what it needs.',
  not_the_volume_primary: (nodeName) =>
    `Make the node of the volume's primary accept the replica: ${nodeName} cannot run it.`,
  volume_handed_over: () => 'Wait until the volume is handed over to another node.',
  volume_primary_residency: () =>
    'Change placement.residency, or use a volume whose primary is on a node that satisfies it.',
  node_claims_shared: (nodeName) => `Wait until the other claim on ${nodeName} is released.`,
}

export const textWithoutRemedy = (code: string, { nodeName }: ChangedNode): string =>
  WITHOUT_REMEDY[code]?.(nodeName) ?? ANOTHER_NODE

export const FIRST_NODE =
  'Enroll a node: run the command that `holdfast node join-token NAME` prints on the machine.'
export const ANOTHER_NODE = 'Enroll another node.'

const LISTED = 3

function textOfConstraint({ label, operator, values = [] }: Constraint): string {
  if (operator !== 'in' && operator !== 'notIn') return `"${label} ${operator}"`
  const more = values.length - LISTED
  const listed = values.slice(0, LISTED).map((value) => (value === '' ? '(empty)' : value))
  return `"${label} ${operator} ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}"`
}

function textOfAmounts({ cpuMillis, memoryBytes }: Partial<Capacity> = {}): string {
  const cpu = cpuMillis === undefined ? '' : counted(cpuMillis, 'millicore')
  if (memoryBytes === undefined) return cpu
  const memory = `${textOfBytes(memoryBytes)} of memory`
  return cpu === '' ? memory : `${cpu} and ${memory}`
}

const UNITS = [
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
] as const

function textOfBytes(bytes: number): string {
  for (const [unit, size] of UNITS) if (bytes > 0 && bytes % size === 0) return `${bytes / size} ${unit}`
  return counted(bytes, 'byte')
}

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`
