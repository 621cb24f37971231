// Seeded bugs of promotion. They are sought in the scripts of failures only. The bugs of the reducers are sought by the
// search (packages/simulation/src/promotion/promotion-bugs.fixture.ts).

import { type Bug, core, server } from './bug.ts'

const bugs: readonly Omit<Bug, 'scripts'>[] = [
  {
    name: 'promotion of half a group',
    edits: [
      server(
        'operations/volumes/promotion/promotion-group.ts',
        '.filter((member) => member.volume.primary?.nodeId === volume.primary?.nodeId)',
        '.filter((member) => member.volume.id === volume.id)',
      ),
    ],
    seenBy: ['group-together'],
  },
  {
    name: 'promotable nodes kept by a promotion',
    edits: [
      core('volumes/promotion/promote-volumes.ts', 'promotable: [],', 'promotable: volume.promotable ?? [],'),
    ],
    seenBy: ['volume-epochs', 'volume-content'],
  },
  {
    name: 'promotable nodes kept by a handover',
    edits: [
      core(
        'volumes/configuration/keep-promotable.ts',
        'const promotable = isSameReign(before, after) ? remaining(after) : []',
        'const promotable = remaining(after)',
      ),
    ],
    seenBy: ['volume-epochs', 'volume-content'],
  },
  {
    name: 'loss stated without the length of the lease',
    edits: [core('promotion/copy.ts', 'ms: lastAcked.ms + leaseMs }', 'ms: lastAcked.ms + leaseMs * 0 }')],
    seenBy: ['loss-stated'],
  },
  {
    name: 'silent promotable node dropped without the server',
    edits: [
      core(
        'promotion/node/plan-requests.ts',
        'const primary = { ...role.primary, durable: { ...durable, asked: durable.asked.filter(isKept) } }',
        'const primary = { ...role.primary, durable: { ...durable, asked: durable.asked.filter(isKept), configured: [] } }',
      ),
      core(
        'promotion/node/plan-requests.ts',
        'if (dropped.length === 0) return role',
        'if (silent.length === 0) return role',
      ),
    ],
    seenBy: ['one-writer'],
  },
  {
    name: 'copy votes although its promise holds',
    edits: [
      core(
        'promotion/copy.ts',
        'if (nowMs < state.promisedUntilMs) return ignore(state)',
        'if (nowMs < state.promisedUntilMs - 12_000) return ignore(state)',
      ),
      core('promotion/node/copy-promise.ts', 'nowMs >= promisedUntilMs', 'nowMs >= promisedUntilMs - 12_000'),
    ],
    seenBy: ['one-writer'],
  },
  {
    name: 'data of a deposed primary deleted',
    edits: [
      core(
        'node/copies/plan-copy.ts',
        "note?.released === undefined ? { kind: 'quarantine', epoch: note?.content?.epoch ?? 0 } : { kind: 'retire' }",
        "({ kind: 'retire', ...(note && {}) })",
      ),
    ],
    seenBy: ['divergence-kept', 'data-kept'],
  },
  {
    name: 'copy that is not current made promotable',
    edits: [
      core(
        'promotion/primary-requests.ts',
        'const isCurrent = state.stored.get(node) === durable.checkpoint',
        'const isCurrent = true',
      ),
      core(
        'promotion/node/plan-requests.ts',
        'current?.nodes.find((each) => !required.includes(each))',
        'role.primary.copies.find((each) => !required.includes(each))',
      ),
    ],
    seenBy: ['volume-content', 'acknowledged-kept'],
  },
  {
    name: 'votes without the configuration version',
    edits: [
      server(
        'operations/volumes/promotion/promotion-port.ts',
        '[{ volume: id, epoch: primary.epoch, cv, ...(force && { force }) }]',
        '[{ volume: id, epoch: primary.epoch, cv: cv * 0, ...(force && { force }) }]',
      ),
      core(
        'promotion/copy.ts',
        'if (epoch !== state.durable.epoch || cv < state.durable.cv) return ignore(state)\n  if (nowMs',
        'if (epoch !== state.durable.epoch) return ignore(state)\n  if (nowMs',
      ),
      core('promotion/controller.ts', 'if (vote.cv !== record.cv) return undefined\n', ''),
    ],
    seenBy: ['vote-stands', 'one-writer'],
  },
  {
    name: 'copy that has voted promises again',
    edits: [
      core('promotion/copy.ts', 'if (durable.prepared && renew.cv <= durable.cv) return ignore(state)\n', ''),
    ],
    seenBy: ['vote-stands', 'one-writer'],
  },
  {
    name: 'primary follows an outdated configuration',
    edits: [core('promotion/primary.ts', 'if (cv <= durable.cv) return state\n', '')],
    seenBy: ['promises-needed', 'one-writer'],
  },
  {
    name: 'group without the volumes of a rolled back writer',
    edits: [
      server(
        'operations/volumes/volume-users.ts',
        'return hasLostPrimaries(mounts, nodeId, primaryOf) ? [] : mounts\n',
        'return hasLostPrimaries(mounts, nodeId, primaryOf) ? [] : mounts.slice(mounts.length)\n',
      ),
      server(
        'operations/volumes/volume-users.ts',
        '...placed, ...mountsAfterRollback(placement)]',
        '...placed]',
      ),
    ],
    seenBy: ['group-together', 'settled'],
  },
]

export const PROMOTION_BUGS: readonly Bug[] = bugs.map((bug) => ({ ...bug, scripts: 'failures' }))
