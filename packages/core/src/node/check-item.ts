// Would this node make that container at all? The agent trusts no control plane blindly: an item outside the grammar that
// admission keeps is refused here as well. SAFETY 0 point 6, SAFETY 2 rows 11, 15 and 26.

import type { DesiredItem } from '@holdfast/contract'
import { isDeploymentName } from '../grammar.ts'

const BY_DIGEST = /^[^@\s]{1,512}@sha256:[0-9a-f]{64}$|^[^@\s]{1,512}@sha512:[0-9a-f]{128}$/
const RESERVED_LABELS = ['holdfast.io/', 'traefik.', 'caddy', 'com.docker.']

/** The fault in one sentence, or undefined. */
export function findItemFault({ template }: DesiredItem): string | undefined {
  if (!isDeploymentName(template.name)) return 'Its name is no deployment name.'
  if (!BY_DIGEST.test(template.image)) return 'Its image is not named by a digest.'
  const reserved = Object.keys(template.labels).find((key) =>
    RESERVED_LABELS.some((one) => key.toLowerCase().startsWith(one)),
  )
  return reserved === undefined ? undefined : 'It sets a label of ours or of the engine.'
}
