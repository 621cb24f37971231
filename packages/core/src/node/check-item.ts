// Checks a desired item on the node before its container is created. The agent does not trust the control plane blindly,
// so it repeats the admission checks that protect the machine.

import { type DesiredItem, isVolumeId, type TemplateMount } from '@holdfast/contract'
import { isDeploymentName, isMountTarget } from '../grammar.ts'

const BY_DIGEST = /^[^@\s]{1,512}@sha256:[0-9a-f]{64}$|^[^@\s]{1,512}@sha512:[0-9a-f]{128}$/
const RESERVED_LABELS = ['holdfast.io/', 'traefik.', 'caddy', 'com.docker.']

/** Returns a sentence that describes the first fault of a desired item, or undefined for a valid item. */
export function findItemFault({ template }: DesiredItem): string | undefined {
  if (!isDeploymentName(template.name)) return 'Its name is not a valid deployment name.'
  if (!BY_DIGEST.test(template.image)) return 'Its image is not pinned by a digest.'
  const reserved = Object.keys(template.labels).find((key) =>
    RESERVED_LABELS.some((one) => key.toLowerCase().startsWith(one)),
  )
  if (reserved !== undefined) return 'It sets a label that is reserved for Holdfast, the router or Docker.'
  if (!(template.networks ?? []).every(isDeploymentName)) return 'It joins a network without a valid name.'
  return findMountFault(template.mounts ?? [])
}

/** Types are checked as well: a newer server may send one that this agent does not know. */
function findMountFault(mounts: readonly TemplateMount[]): string | undefined {
  if (!mounts.every(({ volume }) => isVolumeId(volume))) return 'It mounts something that is no volume.'
  if (!mounts.every(({ target }) => isMountTarget(target)))
    return 'It has a mount whose target is not an absolute, normal path.'
  if (new Set(mounts.map(({ target }) => target)).size < mounts.length)
    return 'It has two mounts with the same target.'
  return mounts.every(isKnownMount) ? undefined : 'It has a mount of an unknown type or without its size.'
}

function isKnownMount({ type, sizeBytes }: TemplateMount): boolean {
  if (type === 'tmpfs') return Number.isSafeInteger(sizeBytes) && Number(sizeBytes) > 0
  return type === 'volume' || type === 'bind'
}
