// Which version of each credential do the containers of an admitted deployment get? DECISIONS 5, Secret versions: for process
// and external entries the newest one that no rotation has staged; for volume(<id>) entries the pin moves by cutover only.

import { type Alteration, elementPath, type SecretEntry } from '@holdfast/contract'
import type { Pins } from '../node/container-template.ts'
import { anchorVolume } from './anchor.ts'
import { credentialPath } from './vault-path.ts'

/** What is stored of the credential that a label names. */
export interface CredentialFact {
  readonly namespace: string
  /** The newest version that no rotation has staged; null while there is none. */
  readonly newest: number | null
  /** The version that a deployment without a pin uses. */
  readonly initial: number | null
  /** Of the version that the containers of this write would be made with; absent where the write brings it. */
  readonly keys?: readonly string[]
}

export interface PinQuestion {
  /** Of the spec that is to be stored. */
  readonly entries: readonly SecretEntry[]
  /** Of the record before; none for a create. */
  readonly before: readonly SecretEntry[]
  /** Of the record before. */
  readonly pins: Pins
  /** By label: what is stored of each. */
  readonly credentials: ReadonlyMap<string, CredentialFact>
  /** By label: the version that this very write brings. */
  readonly staged: ReadonlyMap<string, number>
}

export interface PinPlan {
  /** A label without one uses the credential's initial version. */
  readonly pins: Pins
  readonly alterations: Alteration[]
}

export function planPins(question: PinQuestion): PinPlan {
  const { entries, pins, credentials } = question
  const referenced = new Set(question.before.map(labelOf))
  const anchored = new Set(entries.filter(({ anchor }) => anchorVolume(anchor) !== undefined).map(labelOf))
  const planned: { [label: string]: number } = {}
  const alterations: Alteration[] = []
  for (const [label, index] of firstPlaces(entries)) {
    const pin = Object.hasOwn(pins, label) ? pins[label] : undefined
    const { newest = null, initial = null } = credentials.get(label) ?? {}
    const used = referenced.has(label) ? (pin ?? initial) : null
    const staged = question.staged.get(label)
    const next = anchored.has(label) ? (used ?? staged ?? newest) : (staged ?? newer(used, newest))
    // Nothing is written down that is true without it: a pin that appears would recreate containers for nothing.
    const isImplied = pin === undefined && staged === undefined && next === initial
    if (next !== null && !isImplied) planned[label] = next
    if (next !== null && !isImplied && next !== used) alterations.push(pinned(index, used, next))
  }
  return { pins: planned, alterations }
}

const labelOf = ({ vault_path }: SecretEntry): string => credentialPath(vault_path).label

/** Two entries may name one credential: its first place is where it is told of. */
function firstPlaces(entries: readonly SecretEntry[]): Map<string, number> {
  const places = new Map<string, number>()
  entries.forEach((entry, index) => {
    const label = labelOf(entry)
    if (!places.has(label)) places.set(label, index)
  })
  return places
}

/** A pin above the newest is one that a rotation's cutover has set: it stays. */
function newer(used: number | null, newest: number | null): number | null {
  if (used === null || newest === null) return used ?? newest
  return Math.max(used, newest)
}

function pinned(index: number, from: number | null, to: number): Alteration {
  const why = 'Containers are made with this version of the credential from now on.'
  return {
    code: 'secret_version_pinned',
    field: `${elementPath('secrets', index)}.vault_path`,
    from,
    to,
    why,
  }
}
