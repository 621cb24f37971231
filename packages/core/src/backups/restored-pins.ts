// Which versions of secrets a restore keeps. The data of a volume depends on the version with which it was written, so
// an entry that is anchored to a volume keeps that version, also after its deployment was deleted. Other entries use the
// newest version, as after a rollback.

import type { SecretEntry } from '@holdfast/contract'
import type { Pins } from '../node/container-template.ts'
import { anchorVolume } from '../secrets/anchor.ts'
import { credentialPath } from '../secrets/vault-path.ts'

/** The secret entries of a deployment and their pinned versions, by label. */
export interface RestoredPins {
  readonly secrets: readonly SecretEntry[]
  readonly pins: Pins
}

const labelOf = ({ vault_path }: SecretEntry): string => credentialPath(vault_path).label
const isAnchored = ({ anchor }: SecretEntry): boolean => anchorVolume(anchor) !== undefined

/** The version that each label anchored to a volume uses. `initialOf` is the version of a label without a pin. */
export function anchoredVersions(
  { secrets, pins }: RestoredPins,
  initialOf: (label: string) => number | null,
): Pins {
  const labels = new Set(secrets.filter(isAnchored).map(labelOf))
  const versions = [...labels].flatMap((label) => {
    const version = (Object.hasOwn(pins, label) ? pins[label] : undefined) ?? initialOf(label)
    return version === null ? [] : [[label, version] as const]
  })
  return Object.fromEntries(versions)
}

/**
 * The state from which a restore plans its pins: the current one, and the anchored entries of the backup that the
 * current deployment lacks. A version that no longer exists is left out, so that the newest one is pinned and announced.
 */
export function withAnchoredPins(
  current: RestoredPins,
  backup: RestoredPins,
  isListed: (label: string, version: number) => boolean,
): RestoredPins {
  const known = new Set(current.secrets.map(labelOf))
  const kept = Object.entries(backup.pins).filter(
    ([label, version]) => !known.has(label) && isListed(label, version),
  )
  const labels = new Set(kept.map(([label]) => label))
  return {
    secrets: [...current.secrets, ...backup.secrets.filter((entry) => labels.has(labelOf(entry)))],
    pins: { ...current.pins, ...Object.fromEntries(kept) },
  }
}
