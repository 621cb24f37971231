// The id of an assignment follows from what it was decided on: the deployment, the replica's number and the state of the
// placement record that it replaces. SAFETY 4b: whoever decides on the same state makes the same id, so two processes that
// both believe to be the owner cannot make two; and no id ever comes twice, because no state does.

import { hash } from 'node:crypto'
import { type AssignmentId, asAssignmentId, type DeploymentUid } from '@holdfast/contract'

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const CHARACTERS = 26

/** `attempt` is the modification revision of the placement record, 0 where there was none. */
export function assignmentId(uid: DeploymentUid, replica: number, attempt: number): AssignmentId {
  const digest = hash('sha256', `${uid}/${replica}/${attempt}`, 'buffer')
  let text = ''
  for (let at = 0; at < CHARACTERS; at += 1) text += CROCKFORD[(digest[at] ?? 0) & 31]
  return asAssignmentId(`rep_${text}`)
}
