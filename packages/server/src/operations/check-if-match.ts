// `If-Match` against the revision that is stored. DECISIONS 2: another one is 412 revision_conflict.

import type { Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core'

export function checkIfMatch(ifMatch: string | undefined, revision: number): Rejection | undefined {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch === `"${revision}"`) return undefined
  return reject('revision_conflict', 'If-Match', ifMatch, { etag: `"${revision}"` })
}
