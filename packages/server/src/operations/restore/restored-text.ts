// The text of `holdfast-server restored`.

import type { StoreEpoch } from '../../store/epoch.ts'
import type { Voided } from './declare-restored.ts'
import type { Review } from './review-restored.ts'

/** The most tokens and nodes that are listed each. */
const MOST_LINES = 1_000

export function restoredText(epoch: StoreEpoch, voided: Voided, review: Review): string {
  const lines = [
    `The store has the new epoch ${epoch.epoch}${epoch.clusterId === undefined ? '' : ` in etcd cluster ${epoch.clusterId}`}.`,
    `Deleted: ${count(voided.joinTokens, 'join token')}, ${count(voided.execTickets, 'exec ticket')}, ${count(voided.signIns, 'sign-in')}, ${count(voided.idempotentAnswers, 'kept response')} of requests with an Idempotency-Key, ${count(voided.intents, 'open secret write')}. No version of a secret was destroyed.`,
    '',
    review.newest === undefined
      ? 'The backup has no audit entry, so its time is unknown.'
      : `The newest audit entry in the backup is of ${review.newest}. Later changes are lost: revoke and remove again what was revoked or removed since.`,
    review.isRemembered
      ? 'The server of this machine remembers what it has seen revoked or removed. What it missed while it did not run is among the others.'
      : 'No server of this machine remembers what was revoked or removed, so all is listed as not known to be.',
    ...tokenSections(review),
    ...nodeSections(review),
    '',
    'Next:',
    '1. Start the servers.',
    '2. Revoke tokens and remove nodes from the lists above, and deploy again what the backup lacks.',
    '3. Run `holdfast-server restored --confirm`, or with `--tenant ID` for one tenant. Until then agents remove nothing;',
    '   afterwards they remove containers that the store does not name.',
    '',
  ]
  return lines.join('\n')
}

function tokenSections({ tokens }: Review): string[] {
  const line = (one: Review['tokens'][number]): string =>
    `${one.tenant}  ${one.id}  ${one.role}  ${one.name}  created ${one.createdAt}, expires ${one.expiresAt}`
  const revoked = tokens.filter(({ revokedAt }) => revokedAt !== undefined)
  const others = tokens.filter(({ revokedAt }) => revokedAt === undefined)
  return [
    ...section(
      'Tokens that were revoked after the backup and are valid again',
      revoked,
      (one) => `${line(one)}, revoked ${one.revokedAt}`,
    ),
    ...section('Other tokens that are valid', others, line),
  ]
}

function nodeSections({ nodes }: Review): string[] {
  const line = (one: Review['nodes'][number]): string =>
    `${one.tenant}  ${one.id}  ${one.name}  ${one.status} since ${one.statusSince}`
  const removed = nodes.filter(({ removedAt }) => removedAt !== undefined)
  const others = nodes.filter(({ removedAt }) => removedAt === undefined)
  return [
    ...section(
      'Nodes that were removed after the backup and may connect again',
      removed,
      (one) => `${line(one)}, removed ${one.removedAt}`,
    ),
    ...section('Other nodes that may connect', others, line),
  ]
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

function section<T>(title: string, all: readonly T[], line: (one: T) => string): string[] {
  const more = all.length - MOST_LINES
  const rest = more > 0 ? [`  and ${more} more`] : []
  return [
    '',
    `${title} (${all.length}):`,
    ...all.slice(0, MOST_LINES).map((one) => `  ${line(one)}`),
    ...rest,
  ]
}
