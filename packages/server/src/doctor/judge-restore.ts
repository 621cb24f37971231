// Judges whether a restore of etcd is complete: declared, confirmed, and accepted by all nodes.
// See docs/design/restored-stores.md#agents

import { couldNotObserve, type Finding, type Observed, ok, warning } from './finding.ts'

export interface RestoreFacts {
  /** When an operator declared the store restored; undefined if that was not declared or is confirmed for all tenants. */
  readonly unconfirmedSince: string | undefined
  /** The tenants for which the restore is not confirmed. */
  readonly unconfirmedTenants: number
  /** The nodes that remove nothing, with the reason that their agents state. */
  readonly holds: readonly { readonly node: string; readonly reason: string }[]
}

const REVIEW =
  'revoke tokens and remove nodes that work again by mistake, then run holdfast-server restored --confirm'
const DECLARE =
  'after a confirmation, run the doctor again in two minutes; otherwise run holdfast-server restored, and then holdfast-server restored --confirm'

export function judgeRestore(facts: Observed<RestoreFacts>): Finding {
  const check = 'restored store'
  if (facts.kind === 'unobserved') return couldNotObserve(check, facts.why, 'repair etcd first')
  const { unconfirmedSince, unconfirmedTenants, holds } = facts.value
  const [first] = holds
  const held =
    first === undefined
      ? 'no node has reported that it holds'
      : `${count(holds.length, 'node')} ${holds.length === 1 ? 'removes' : 'remove'} nothing, among them ${first.node}: ${first.reason}`
  if (unconfirmedSince !== undefined && unconfirmedTenants > 0)
    return warning(
      check,
      `declared restored at ${unconfirmedSince} and not confirmed for ${count(unconfirmedTenants, 'tenant')}, whose agents remove nothing; ${held}`,
      REVIEW,
    )
  return first === undefined
    ? ok(check, 'no restore waits for a confirmation')
    : warning(check, held, DECLARE)
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
