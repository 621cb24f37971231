// Derives the id of an assignment from its owner, the replica number, the mark of a canary and the revision of the
// placement record that the decision is based on. Two controllers that decide on the same state create the same id, so they cannot create two
// containers. An id is never used twice, because each write changes the revision. See docs/design/leadership.md#fencing

import type { AssignmentId, Owner } from '@holdfast/contract'

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const CHARACTERS = 26

/** `placementRevision` is the modification revision of the placement record; 0 if there is no record yet. */
export function assignmentId(
  owner: Owner,
  { number, isCanary }: { readonly number: number; readonly isCanary: boolean },
  placementRevision: number,
  sha256: (text: string) => string,
): AssignmentId {
  return idOf(sha256(`${owner}/${isCanary ? 'canary/' : ''}${number}/${placementRevision}`))
}

/** The id of an attempt of a job. Each attempt has its own number, so its id is never used twice. */
export const attemptId = (owner: Owner, attempt: number, sha256: (text: string) => string): AssignmentId =>
  idOf(sha256(`${owner}/attempt ${attempt}`))

function idOf(digest: string): AssignmentId {
  let text = ''
  for (let at = 0; at < CHARACTERS; at += 1) {
    const byte = Number.parseInt(digest.slice(2 * at, 2 * at + 2), 16)
    text += CROCKFORD[byte & 31]
  }
  return `rep_${text}` as AssignmentId
}
