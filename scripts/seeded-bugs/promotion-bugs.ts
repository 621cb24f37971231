// Seeded bugs of promotion. They are sought in the scripts of failures only. The bugs of the reducers are sought by the
// search (packages/simulation/src/promotion/promotion-bugs.fixture.ts).

import { type Bug, core, server } from './bug.ts'

const bugs: readonly Omit<Bug, 'inFailures'>[] = [
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
    name: 'volumes of a group promoted from different moments',
    edits: [
      core(
        'volumes/promotion/common-checkpoint.ts',
        'const found = byVolume[at]?.get(number)',
        'const found = [...(byVolume[at]?.values() ?? [])].at(-1)',
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
    name: 'version of the vote not compared',
    edits: [
      core(
        'volumes/promotion/promote-volumes.ts',
        'promoteGroup(before, voteOf(nodeId, answer, held, force))',
        'promoteGroup({ ...before, cv: answer.cv }, voteOf(nodeId, answer, held, force))',
      ),
    ],
    seenBy: ['volume-epochs', 'one-writer', 'volume-content', 'acknowledged-kept'],
  },
  {
    name: 'loss stated without the length of the lease',
    edits: [core('promotion/copy.ts', 'ms: lastAcked.ms + leaseMs }', 'ms: lastAcked.ms + leaseMs * 0 }')],
    seenBy: ['loss-stated'],
  },
  {
    name: 'loss stated after a restart of the copy',
    edits: [
      core('promotion/copy.ts', 'bounded: state.bounded || renew.start === state.start,', 'bounded: true,'),
    ],
    seenBy: ['loss-stated'],
  },
  {
    name: 'requested node forgotten by a restart',
    edits: [
      core(
        'promotion/node/follow-volume.ts',
        'const durable = { epoch, cv, configured, asked, handover, checkpoint: 0 }',
        'const durable = { epoch, cv, configured, asked: asked.slice(asked.length), handover, checkpoint: 0 }',
      ),
    ],
    seenBy: ['one-writer', 'volume-content'],
  },
  {
    name: 'promotable nodes forgotten by a restart',
    edits: [
      core(
        'promotion/node/follow-volume.ts',
        'const durable = { epoch, cv, configured, asked, handover, checkpoint: 0 }',
        'const durable = { epoch, cv, configured: configured.slice(configured.length), asked, handover, checkpoint: 0 }',
      ),
    ],
    seenBy: ['one-writer'],
  },
  {
    name: 'silent node dropped although its request has left',
    edits: [
      core(
        'promotion/node/plan-requests.ts',
        'const dropped = role.unsent.filter((node) => silent.includes(node))',
        'const dropped = role.primary.durable.asked.filter((node) => silent.includes(node))',
      ),
    ],
    seenBy: ['one-writer'],
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
    name: 'writer of an earlier epoch superseded while the primary is there',
    edits: [
      core(
        'placement/writer-claims.ts',
        'volume.primary !== null && volume.primary.nodeId !== nodeId',
        'volume.primary !== null && nodeId !== undefined',
      ),
    ],
    seenBy: ['one-writer', 'writer-claims', 'serves-until-replaced', 'no-more-than-desired'],
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
    name: 'numbers of checkpoints begin again with an epoch',
    edits: [
      core(
        'node/replication/checkpoints.ts',
        'Math.max(0, ...known.map(({ number }) => number)) + 1',
        'Math.max(0, ...known.filter(({ epoch }) => epoch === Math.max(...known.map((one) => one.epoch))).map(({ number }) => number)) % 7 + 1',
      ),
    ],
    seenBy: ['acknowledged-kept', 'volume-content', 'no-crash'],
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
]

export const PROMOTION_BUGS: readonly Bug[] = bugs.map((bug) => ({ ...bug, inFailures: true }))
