// Checks a desired item on the node before its container is created. The agent does not trust the control plane blindly,
// so it repeats the admission checks that protect the machine.

import type { DesiredItem } from '@holdfast/contract'
import { isDeploymentName } from '../grammar.ts'

const BY_DIGEST = /^[^@\s]{1,512}@sha256:[0-9a-f]{64}$|^[^@\s]{1,512}@sha512:[0-9a-f]{128}$/
const RESERVED_LABELS = ['holdfast.io/', 'traefik.', 'caddy', 'com.docker.']

/** Returns a sentence that describes the first fault of a desired item, or undefined for a valid item. */
export function findItemFault({ template }: DesiredItem): string | undefined {
  if (!isDeploymentName(template.name)) return 'Its name is not a valid deployment name.'
  if (!BY_DIGEST.test(template.image)) return 'Its image is not pinned by a digest.'
  const reserved = Object.keys(template.labels).find((key) =>
    RESERVED_LABELS.some((one) => key.toLowerCase().startsWith(one)),
  )
  return reserved === undefined
    ? undefined
    : 'It sets a label that is reserved for Holdfast, the router or Docker.'
}
