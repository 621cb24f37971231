// Decides which version of each credential the containers of a deployment get: the newest that no rotation has staged.
// For volume(<id>) entries the pin moves only by a cutover.

import { type Alteration, elementPath, type SecretEntry } from '@holdfast/contract'
import type { Pins } from '../node/container-template.ts'
import { anchorVolume } from './anchor.ts'
import { credentialPath } from './vault-path.ts'

/** The stored state of the credential that a label names. */
export interface CredentialFact {
  readonly namespace: string
  /** The newest version that no rotation has staged; null while there is none. */
  readonly newest: number | null
  /** The version that a deployment without a pin uses. */
  readonly initial: number | null
  /** Keys of the version that the containers of this write would use; absent if the write brings it. */
  readonly keys?: readonly string[]
}

export interface PinQuestion {
  /** The spec to store. */
  readonly entries: readonly SecretEntry[]
  /** Entries of the current record; none for a create. */
  readonly before: readonly SecretEntry[]
  /** Pins of the current record. */
  readonly pins: Pins
  /** By label: the stored state. */
  readonly credentials: ReadonlyMap<string, CredentialFact>
  /** By label: the version that this write brings. */
  readonly staged: ReadonlyMap<string, number>
}

export interface PinPlan {
  /** A label without a pin uses the credential's initial version. */
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
    // The initial version needs no pin. Writing one would change the template and recreate containers for nothing.
    const isImplied = pin === undefined && staged === undefined && next === initial
    if (next !== null && !isImplied) planned[label] = next
    if (next !== null && !isImplied && next !== used) alterations.push(pinned(index, used, next))
  }
  return { pins: planned, alterations }
}

const labelOf = ({ vault_path }: SecretEntry): string => credentialPath(vault_path).label

/** Several entries may name one credential; it is reported at the first of them. */
function firstPlaces(entries: readonly SecretEntry[]): Map<string, number> {
  const places = new Map<string, number>()
  entries.forEach((entry, index) => {
    const label = labelOf(entry)
    if (!places.has(label)) places.set(label, index)
  })
  return places
}

/** A pin above the newest version was set by a cutover and stays. */
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
