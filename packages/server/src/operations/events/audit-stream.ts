// Writes audit entries to the log, where neither age nor number removes them, so that a tenant that fills its trail with
// writes cannot hide an earlier one. Rejected writes are listed there only. See docs/design/events.md#audit-stream.

import type { AuditEntry, Code } from '@holdfast/contract'
import type { Logger } from 'pino'
import type { Caller } from '../caller.ts'

/** The caller as it is known once its credential was checked, whether or not its role permits the request. */
export type Actor = Pick<Caller, 'tenant' | 'token' | 'tokenName' | 'role' | 'onBehalf'>

export interface RejectedWrite {
  readonly requestId: string
  readonly actor: Actor
  readonly action: string
  /** The parameters of the path, as they were sent. */
  readonly target: { readonly [name: string]: string }
  readonly status: number
  readonly codes: readonly Code[]
}

export interface AuditStream {
  stored(entry: AuditEntry): void
  rejected(write: RejectedWrite): void
}

/** The lines are written at every `log.level`: an operator who wants fewer lines still needs the trail. */
export function createAuditStream(log: Pick<Logger, 'child'>): AuditStream {
  const stream = log.child({ stream: 'audit' }, { level: 'info' })
  return {
    stored: (entry) => stream.info({ audit: { outcome: 'stored', ...entry } }, 'audit entry stored'),
    rejected({ actor, target, ...write }) {
      const { tenant, onBehalf, token, tokenName: name, role } = actor
      const entry = { outcome: 'rejected', tenant, actor: { token, name, role }, onBehalf, ...write }
      stream.info({ audit: { ...entry, target: shownTarget(target) } }, 'write rejected')
    },
  }
}

const NAME = /^[a-z0-9][a-z0-9./-]{0,254}$/
const ID = /^[a-z]{2,6}_[0-9A-HJKMNP-TV-Z]{26}$/
const UNNAMED = '(invalid)'

/** Names and ids only: a client may have put anything into the path, a credential as well. */
const shownTarget = (target: RejectedWrite['target']): { [name: string]: string } =>
  Object.fromEntries(
    Object.entries(target).map(([name, text]) => [name, NAME.test(text) || ID.test(text) ? text : UNNAMED]),
  )
