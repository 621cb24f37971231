// Files of an invitation that a step writes. A file that is missing ends the setup.

import type { CertificateName } from '../layout.ts'
import { SetupFault } from '../performing.ts'
import type { Invitation, InvitedFile } from './invitation.ts'

export function requireFile(invitation: Invitation | undefined, item: InvitedFile): string {
  const text = invitation?.files[item]
  if (text === undefined) throw new SetupFault(`The invitation lacks ${item}. Create a new one.`)
  return text
}

/** The certificate and the key of an invitation. */
export const requirePair = (invitation: Invitation | undefined, name: CertificateName) => ({
  cert: requireFile(invitation, `${name}.pem`),
  key: requireFile(invitation, `${name}-key.pem`),
})
