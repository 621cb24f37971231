// Seeded bugs of volumes. Only seeds with volumes can find them, so only those run.

import { type Bug, core, server } from './bug.ts'

const bugs: readonly Omit<Bug, 'scripts'>[] = [
  {
    name: 'writer claim deleted before its agent confirmed the removal',
    edits: [
      core(
        'placement/writer-claims.ts',
        'return [...current, ...back].some(',
        `return [...current.filter((each) => each.desired === 'running'), ...back].some(`,
      ),
    ],
    seenBy: ['writer-claims', 'one-writer'],
  },
  {
    name: 'handover completed before the release',
    edits: [
      core(
        'volumes/handover.ts',
        'return primaryReport(volume, situation)?.released?.to === to',
        `return situation.reportOf(to)?.state === 'present'`,
      ),
      core(
        'volumes/handover.ts',
        'const from = primaryReport(volume, situation)?.released?.checkpoint',
        'const from = primaryReport(volume, situation)?.released?.checkpoint ?? { epoch: volume.primary?.epoch ?? 1, number: 1 }',
      ),
    ],
    seenBy: ['volume-content'],
  },
  {
    name: 'handover to a lagging copy',
    edits: [
      core(
        'volumes/handover.ts',
        `.filter(({ state, nodeId }) => state === 'current' && accepts(nodeId))`,
        '.filter(({ nodeId }) => accepts(nodeId))',
      ),
    ],
    seenBy: ['copies-allowed'],
  },
  {
    name: 'handover canceled without a new epoch',
    edits: [
      core(
        'volumes/handover.ts',
        `if (step.kind === 'cancel') return { ...volume, ...withoutHandover(volume) }`,
        `if (step.kind === 'cancel' && withoutHandover(volume)) return { ...volume, handover: null }`,
      ),
    ],
    seenBy: ['volume-epochs'],
  },
  {
    name: 'replica on the node of the primary',
    edits: [
      core('volumes/place-volume.ts', '.length === 0 && !taken.has(nodeId))', '.length === taken.size * 0)'),
    ],
    seenBy: ['copies-allowed'],
  },
  {
    name: 'residency of copies ignored',
    edits: [
      core(
        'volumes/place-volume.ts',
        'residency: desiredResidency(spec.residency, rules),',
        'residency: desiredResidency(undefined, rules),',
      ),
    ],
    seenBy: ['copies-allowed'],
  },
  {
    name: 'bytes of copies that are being deleted not counted',
    edits: [
      server(
        'operations/volumes/volume-facts.ts',
        'of [...record.copies, ...(record.leaving ?? [])])',
        'of record.copies)',
      ),
    ],
    seenBy: ['pool-bytes'],
  },
]

export const VOLUME_BUGS: readonly Bug[] = bugs.map((bug) => ({ ...bug, scripts: 'volumes' }))
