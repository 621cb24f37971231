// How the server changes the records of each collection. The tests of unknown members check every change of a record
// against this table, and a collection that is missing from it fails them. See docs/design/store.md#records

import type { JsonObject } from '@holdfast/contract'

/** An object inside a record that the server replaces as a whole, together with its unknown members. */
export interface ReplacedObject {
  readonly reason: string
  /** Whether both records contain the same object, so that its unknown members must be kept. */
  isSame(before: JsonObject, next: JsonObject): boolean
}

export type RecordChange =
  | {
      readonly kind: 'changed'
      /** The test that must have changed a record of this collection. */
      readonly by: 'simulation' | 'platform'
      /** Replaced objects by their path, for example `rotation.askedBy`; `*` is any key. */
      readonly replaced?: { readonly [path: string]: ReplacedObject }
    }
  | { readonly kind: 'written once' | 'replaced'; readonly reason: string }

/** The value at a path of names; undefined if it is absent. */
function at(record: JsonObject, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => Object(value)[name], record)
}

/** An object that is another one as soon as one of the values at these paths changes. */
const identifiedBy = (reason: string, ...paths: readonly string[]): ReplacedObject => ({
  reason,
  isSame: (before, next) => paths.every((path) => at(before, path) === at(next, path)),
})

const fromHello = identifiedBy(
  'The agent reports it with each enrollment and session.',
  'generation',
  'session.epoch',
)

const reportedDisks = identifiedBy(
  'The agent reports it after a change.',
  'disks.engine.freeBytes',
  'disks.engine.freeInodes',
  'disks.pool.freeBytes',
)

const fromSpec: ReplacedObject = {
  reason: 'The template is built from the spec of the deployment, with the unknown members there.',
  isSame: () => false,
}

export const RECORD_CHANGES: { readonly [folder: string]: RecordChange } = {
  dep: { kind: 'changed', by: 'simulation' },
  place: {
    kind: 'changed',
    by: 'simulation',
    replaced: {
      rollout: identifiedBy('A new revision starts another rollout.', 'rollout.since', 'rollout.startedAt'),
      'rollout.failure': identifiedBy('Each failure of a rollout has its own time.', 'rollout.failure.at'),
      lastGood: identifiedBy('Another template is the last good one.', 'lastGood.templateHash'),
      decided: identifiedBy('Each decision has its own number.', 'decided.number'),
      'templates.*.healthCheck': fromSpec,
      'templates.*.limits': fromSpec,
      shortfall: identifiedBy('Another cause is another shortfall.', 'shortfall.reason', 'shortfall.summary'),
    },
  },
  node: {
    kind: 'changed',
    by: 'simulation',
    replaced: {
      capacity: fromHello,
      engine: fromHello,
      storage: identifiedBy(
        'The agent reports it with each enrollment and session, and after a change.',
        'generation',
        'session.epoch',
        'storage.poolBytes',
        'storage.poolId',
        'storage.fault',
      ),
      disks: reportedDisks,
      'disks.engine': reportedDisks,
      'disks.pool': reportedDisks,
      degraded: identifiedBy('Each fault of the node has its own time.', 'degraded.reason', 'degraded.since'),
      'health.faults': identifiedBy(
        'The list changes with the faults.',
        'health.faults.0.reason',
        'health.faults.1.reason',
      ),
      session: identifiedBy('Each session has its own epoch.', 'session.epoch'),
      attested: identifiedBy('The join token of each enrollment attests it.', 'generation'),
    },
  },
  nodename: { kind: 'changed', by: 'simulation' },
  tenant: { kind: 'changed', by: 'simulation' },
  shard: { kind: 'changed', by: 'simulation' },
  format: { kind: 'changed', by: 'simulation' },
  epoch: { kind: 'written once', reason: 'Only `holdfast-server restored` changes it, by copying it.' },
  chain: { kind: 'replaced', reason: 'A heartbeat; its server is the only reader.' },
  cred: {
    kind: 'changed',
    by: 'platform',
    replaced: {
      rotation: identifiedBy('Each rotation has its own versions.', 'rotation.old', 'rotation.new'),
      'rotation.askedBy': identifiedBy(
        'It describes the request of the last step.',
        'rotation.askedBy.requestId',
      ),
    },
  },
  reg: { kind: 'changed', by: 'platform' },
  intent: { kind: 'changed', by: 'platform' },
  mount: { kind: 'replaced', reason: 'It is announced, marked once by the sweep, and deleted.' },
  vol: { kind: 'changed', by: 'platform' },
  voluse: { kind: 'changed', by: 'platform' },
  volw: { kind: 'changed', by: 'platform' },
  volobs: {
    kind: 'replaced',
    reason: 'It is the newest report of an agent; a member of an older report is outdated.',
  },
  pool: {
    kind: 'replaced',
    reason: 'It is the newest report of an agent; a member of an older report is outdated.',
  },
  poolmark: {
    kind: 'replaced',
    reason: 'It describes the last node with the pool that was removed by force.',
  },
  net: { kind: 'changed', by: 'platform' },
  netobs: {
    kind: 'replaced',
    reason: 'It is the newest report of an agent; a member of an older report is outdated.',
  },
  job: { kind: 'changed', by: 'platform' },
  netname: { kind: 'written once', reason: 'A new use of the network writes it again unchanged.' },
  volname: { kind: 'written once', reason: 'A name is claimed and released.' },
  removal: { kind: 'written once', reason: 'A repeated deletion leaves it unchanged.' },
  obs: {
    kind: 'replaced',
    reason: 'It is the newest report of an agent; a member of an older report is outdated.',
  },
  replica: { kind: 'replaced', reason: 'Only the server replica that it describes writes it.' },
  cancel: { kind: 'replaced', reason: 'Only its presence matters; a repeated question writes it again.' },
  slot: { kind: 'written once', reason: 'It is claimed and deleted.' },
  route: { kind: 'written once', reason: 'It is claimed and deleted.' },
  arc: { kind: 'written once', reason: 'An archived revision does not change.' },
  bak: { kind: 'written once', reason: 'A backup does not change.' },
  bakdraft: { kind: 'written once', reason: 'It is written before the parts of a backup, and deleted.' },
  bakpart: { kind: 'written once', reason: 'The content of a backup does not change.' },
  evt: { kind: 'written once', reason: 'An event does not change.' },
  aud: { kind: 'written once', reason: 'An audit entry does not change.' },
  audx: { kind: 'written once', reason: 'An audit entry does not change.' },
  audr: { kind: 'replaced', reason: 'The server replica that counted reads writes the final number.' },
  idem: { kind: 'written once', reason: 'A stored response does not change.' },
  why: { kind: 'written once', reason: 'A recorded decision does not change.' },
  whypart: { kind: 'written once', reason: 'A recorded decision does not change.' },
  cfg: { kind: 'written once', reason: 'The id of the platform does not change.' },
  proof: { kind: 'written once', reason: 'The key of the platform does not change.' },
  tenantname: { kind: 'written once', reason: 'A name is claimed and released.' },
  signin: { kind: 'replaced', reason: 'A later use writes the time of the use.' },
  tokissue: { kind: 'replaced', reason: 'It names the token that was issued last.' },
  token: { kind: 'written once', reason: 'A token is issued and revoked.' },
  join: { kind: 'written once', reason: 'A join token is issued and consumed.' },
  exec: { kind: 'written once', reason: 'A ticket is issued and consumed.' },
}
