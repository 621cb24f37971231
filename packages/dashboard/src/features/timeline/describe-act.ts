// An audit entry in words: who did what, and whether it only read.

import type { AuditEntry } from '@holdfast/contract'
import { tokenText } from '../../texts/author.ts'
import { acts } from '../../texts/en/acts.ts'
import { texts } from '../../texts/en.ts'
import { wordsOf } from '../../texts/show-value.ts'

const READS = ['deployments:logs', 'jobs:logs', 'sign-ins:open', 'sign-ins:close', 'deployments:exec-open']
const JOINING = 'join_'

/** Entries that change nothing: reading a log, signing in, and the second entry of a terminal. */
export const isRead = ({ action }: Pick<AuditEntry, 'action'>): boolean => READS.includes(action)

/** The author: a token, or a machine that joins with its join token. */
export const authorOf = ({ name, token }: AuditEntry['actor']): string =>
  token.startsWith(JOINING) ? texts.timeline.machine : tokenText(name, token)

/** The words between author and subject; an action of a newer server is shown with its own words. */
export const verbOf = (action: string): string => acts[action] ?? wordsOf(action.replace(':', ' '))

/** The further facts of an entry, as the server names them. */
export const factsOf = ({ detail = {} }: Pick<AuditEntry, 'detail'>): string[] =>
  Object.entries(detail).map(([name, value]) => `${wordsOf(name)} ${value}`)
