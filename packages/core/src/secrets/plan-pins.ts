// Decides which version of each credential the containers of a deployment get: the newest version that is not staged by
// a rotation. If a volume depends on the credential, only the cutover of a rotation changes the version.

import { type Alteration, elementPath, type SecretEntry } from '@holdfast/contract'
import type { Pins } from '../node/container-template.ts'
import { anchorVolume } from './anchor.ts'
import { credentialPath } from './vault-path.ts'

/** The stored state of the credential that a label names. */
export interface CredentialFact {
  readonly namespace: string
  /** The newest version that is not staged by a rotation; null while the credential has no such version. */
  readonly newest: number | null
  /** The version used by a deployment whose record pins no version. */
  readonly initial: number | null
  /** Keys of the version that the containers would use; absent if the current request creates that version. */
  readonly keys?: readonly string[]
  /** Keys of the newest version; absent while the credential has none. */
  readonly newestKeys?: readonly string[]
}

export interface PinQuestion {
  /** Secret entries of the spec to store. */
  readonly entries: readonly SecretEntry[]
  /** Secret entries of the current record; empty for a create. */
  readonly before: readonly SecretEntry[]
  /** Pinned versions of the current record. */
  readonly pins: Pins
  /** The stored state of each credential, by label. */
  readonly credentials: ReadonlyMap<string, CredentialFact>
  /** Maps a label to the version of its credential that the current request creates. */
  readonly staged: ReadonlyMap<string, number>
  /** The pins of the canary that is promoted: its containers were tried with these versions, so newer ones are not used. */
  readonly tried?: Pins
}

export interface PinPlan {
  /** The pinned version of each label. A label without a pin uses the credential's initial version. */
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
    const [pin, tried] = [pins, question.tried ?? {}].map((each) => ownPin(each, label))
    const { newest = null, initial = null } = credentials.get(label) ?? {}
    const used = referenced.has(label) ? (pin ?? initial) : null
    const staged = question.staged.get(label)
    const chosen = anchored.has(label) ? (used ?? staged ?? newest) : (staged ?? newer(used, newest))
    const next = question.tried === undefined ? chosen : (tried ?? initial)
    // The initial version needs no pin. Adding a pin would change the template and recreate containers needlessly.
    const isImplied = (tried ?? pin) === undefined && staged === undefined && next === initial
    if (next !== null && !isImplied) planned[label] = next
    if (next !== null && !isImplied && next !== used) alterations.push(pinned(index, used, next))
  }
  return { pins: planned, alterations }
}

const ownPin = (pins: Pins, label: string): number | undefined =>
  Object.hasOwn(pins, label) ? pins[label] : undefined

const labelOf = ({ vault_path }: SecretEntry): string => credentialPath(vault_path).label

/** Maps each label to the index of its first secret entry, at which changes of the credential are reported. */
function firstPlaces(entries: readonly SecretEntry[]): Map<string, number> {
  const places = new Map<string, number>()
  entries.forEach((entry, index) => {
    const label = labelOf(entry)
    if (!places.has(label)) places.set(label, index)
  })
  return places
}

/** The newer of two versions. A pin above the newest unstaged version was set by a cutover and is kept. */
function newer(used: number | null, newest: number | null): number | null {
  if (used === null || newest === null) return used ?? newest
  return Math.max(used, newest)
}

function pinned(index: number, from: number | null, to: number): Alteration {
  const why = 'Containers created from now on use this version of the secret.'
  return {
    code: 'secret_version_pinned',
    field: `${elementPath('secrets', index)}.vault_path`,
    from,
    to,
    why,
  }
}
