// The invitation with which a machine joins a platform: the other machines, and every file that the new machine cannot make
// itself. It contains keys, so it is a file that only root can read, and its content is never printed.

import { decode, type Infer, integer, list, map, object, string } from '@holdfast/contract'
import type { CertificateName } from '../layout.ts'

/** A file of the invitation: `ca` is the certificate of the authority, whose key stays where it is. */
export type InvitedFile =
  | 'ca'
  | `${CertificateName}.pem`
  | `${CertificateName}-key.pem`
  | 'cluster-key'
  | 'api-secret-id'
  | 'broker-secret-id'
  | 'server.yaml'
  | 'broker.yaml'

const invitationShape = object({
  /** The form of this file. */
  v: integer(),
  name: string(),
  address: string(),
  publicUrl: string(),
  listenPort: integer(),
  /** Addresses of the machines that are members already. */
  etcd: list(string()),
  secretsStores: list(string()),
  files: map(string()),
})
export type Invitation = Infer<typeof invitationShape>

const FORM = 1

/** Returns undefined for a text that is no invitation of this form. The faults are dropped, because they could quote a key. */
export function readInvitation(text: string): Invitation | undefined {
  try {
    const invitation = decode(invitationShape, JSON.parse(text))
    return invitation.v === FORM ? invitation : undefined
  } catch {
    return undefined
  }
}

export const writeInvitation = (invitation: Omit<Invitation, 'v'>): string =>
  `${JSON.stringify({ ...invitation, v: FORM })}\n`
