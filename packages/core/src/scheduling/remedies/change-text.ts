// A change as a person would say it. Amounts of memory are told in the largest unit that tells them exactly: what is asked
// for is the least that does, and a rounded one would not.

import type { Capacity, ChangeKind, Constraint } from '@holdfast/contract'
import type { NodeFacts } from '../facts.ts'
import type { Step } from './apply-changes.ts'

type Said = (change: Step, node: NodeFacts) => string

export const textOf: Said = (change, node) => TEXTS[change.kind](change, node)

const TEXTS: { readonly [kind in ChangeKind]: Said } = {
  make_ready: (_change, { name, status }) =>
    status === 'pending' ? `Start the agent on ${name}.` : `Bring ${name} back.`,
  uncordon: (_change, { name }) => `Uncordon ${name}.`,
  set_label: ({ label, value }, { name }) =>
    value === undefined
      ? `Remove the label ${label} on ${name}.`
      : `Set ${label}=${shown(value)} on ${name}.`,
  attest_label: ({ label, value = '' }, { name }) =>
    `Enroll ${name} anew with a join token that attests ${label}=${shown(value)}, if it stands there.`,
  free: ({ resources }, { name }) => `Free ${amounts(resources)} on ${name}.`,
  place_beside: ({ deployment }, { name }) => `Place a replica of ${deployment} on ${name}.`,
  move_away: ({ deployment }, { name }) => `Move ${deployment} away from ${name}.`,
  name_node: ({ nodeId }, { name }) => `Set nodeId to ${nodeId} (${name}).`,
  change_constraint: ({ constraint }) =>
    `Take ${constraint === undefined ? '' : constraintText(constraint)} out of placement.constraints.`,
  change_affinity: ({ deployment }) => `Take ${deployment} out of placement.affinity.`,
  change_anti_affinity: ({ deployment }) => `Take ${deployment} out of placement.antiAffinity.`,
  change_residency: ({ demand, value }) =>
    demand === 'blockedCountries'
      ? `Take ${value} out of placement.residency.blockedCountries.`
      : `Take placement.residency.${demand} (${value}) out.`,
  lower_request: ({ resources }) => `Lower the request to ${amounts(resources)}.`,
  raise_quota: ({ limit }) => `Raise quota containers to ${limit}.`,
  enforce_residency: () => 'Switch residency.enforcement on in the configuration of the control plane.',
}

const shown = (value: string): string => (value === '' ? '""' : value)

const LISTED = 3

function constraintText({ label, operator, values = [] }: Constraint): string {
  if (operator !== 'in' && operator !== 'notIn') return `"${label} ${operator}"`
  const more = values.length - LISTED
  const listed = values.slice(0, LISTED).map(shown).join(', ')
  return `"${label} ${operator} ${listed}${more > 0 ? ` and ${more} more` : ''}"`
}

function amounts({ cpuMillis, memoryBytes }: Partial<Capacity> = {}): string {
  const cpu = cpuMillis === undefined ? '' : counted(cpuMillis, 'millicore')
  if (memoryBytes === undefined) return cpu
  return cpu === '' ? memoryText(memoryBytes) : `${cpu} and ${memoryText(memoryBytes)}`
}

const UNITS = [
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
] as const

function memoryText(bytes: number): string {
  for (const [unit, size] of UNITS) if (bytes > 0 && bytes % size === 0) return `${bytes / size} ${unit}`
  return `${counted(bytes, 'byte')} of memory`
}

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`
