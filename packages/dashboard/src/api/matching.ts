// Changes that are valid only for the record that a person sees: the server refuses them once the record is another one.

import type { Result } from '@holdfast/client'
import { isConflict } from './plan/other-change.ts'

/** The condition that the record still has this revision; none if it is unknown. */
export const matching = (revision: number | undefined): { readonly ifMatch?: string } =>
  revision === undefined ? {} : { ifMatch: String(revision) }

/** Calls `then` if the record has changed, so that the page reads it again. The refusal itself is shown. */
export const afterConflict =
  <T>(then: () => void) =>
  (result: Result<T>): Result<T> => {
    if (!result.ok && isConflict(result.failure)) then()
    return result
  }

/** Backups and tokens never change, so each has its first revision for ever. */
export const NEVER_CHANGES = matching(1)
