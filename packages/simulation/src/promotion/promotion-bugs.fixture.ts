// The seeded bugs of the promotion protocol: each removes one guard of the reducers, and has the bounds of the search that finds it.

import type { Edit } from '@holdfast/testkit/builds/copy-packages'
import type { Scenario } from './world.ts'

export interface PromotionBug {
  readonly name: string
  readonly edits: readonly Edit[]
  /** The bounds of the search that finds it. */
  readonly bounds: Partial<Scenario>
  /** The guarantee that breaks without the guard. */
  readonly breaks: string
}

const edit = (file: string, find: string, replace: string): Edit => ({
  file: `packages/core/src/promotion/${file}.ts`,
  find,
  replace,
})

const bug = (name: string, bounds: Partial<Scenario>, ...edits: readonly Edit[]): PromotionBug => ({
  name,
  bounds,
  breaks: OTHER_BREAKS[name] ?? 'two writers at the same time',
  edits,
})

/** Of the bugs that do not lead to two writers. */
const OTHER_BREAKS: { readonly [bug: string]: string | undefined } = {
  'a group is promoted by halves': 'an acknowledged checkpoint is lost',
  'a restarted copy states a loss that is too small': 'the stated loss is too small',
}

export const PROMOTION_BUGS: readonly PromotionBug[] = [
  bug(
    'a prepared copy acknowledges renewals',
    { messages: 2, maxCv: 2 },
    edit('copy', 'if (durable.prepared && renew.cv <= durable.cv) return ignore(state)\n', ''),
  ),
  bug(
    'the lease counts from the arrival of the acknowledgment',
    { messages: 2, maxCv: 2 },
    edit('primary', 'Math.min(ack.sent.ms, nowMs)', 'nowMs'),
  ),
  bug(
    'the primary uses an old configuration',
    { messages: 2, maxCv: 4 },
    edit('primary', 'if (cv <= durable.cv) return state\n', ''),
  ),
  bug(
    'a grow does not compare the configuration version',
    { messages: 2, maxCv: 6 },
    edit('controller', 'epoch === record.epoch && cv === record.cv\n', 'epoch === record.epoch && cv > 0\n'),
  ),
  bug(
    'the primary asks to grow without needing the promise',
    { messages: 2, maxCv: 4 },
    edit(
      'primary-requests',
      'state: { ...state, durable: { ...durable, asked } },',
      'state: asked && state,',
    ),
  ),
  bug(
    'a copy votes before its promise expires',
    { messages: 1, maxCv: 2 },
    edit(
      'copy',
      'if (nowMs < state.promisedUntilMs) return ignore(state)',
      'if (nowMs < 0) return ignore(state)',
    ),
  ),
  bug(
    'a promotion does not compare the configuration version',
    { messages: 2, maxCv: 4 },
    edit('controller', 'if (vote.cv !== record.cv) return undefined\n', ''),
  ),
  bug(
    'a promotion compares neither configuration version nor membership',
    { messages: 2, maxCv: 3 },
    edit('controller', 'if (vote.cv !== record.cv) return undefined\n', ''),
    edit('controller', 'promotable.includes(from) || force?.primaryIsDead === true', 'true'),
  ),
  bug(
    'a restarted copy forgets its promise',
    { messages: 1, maxCv: 2, agentCrashes: 1 },
    edit(
      'copy',
      'promisedUntilMs = nowMs + timings.promiseMs\n',
      'promisedUntilMs = nowMs + timings.promiseMs * 0\n',
    ),
  ),
  bug(
    'a restarted copy forgets that it is prepared',
    { messages: 2, maxCv: 2, agentCrashes: 1 },
    edit(
      'copy',
      'return { node, volumes, durable, start, promisedUntilMs, lastAcked',
      'return { node, volumes, durable: { ...durable, prepared: false }, start, promisedUntilMs, lastAcked',
    ),
  ),
  bug(
    'a restarted primary returns to solo mode',
    { messages: 2, maxCv: 4, agentCrashes: 1 },
    edit(
      'primary',
      'return { node, copies, durable, boot, lease,',
      'return { node, copies, durable: { ...durable, asked: [] }, boot, lease,',
    ),
  ),
  bug(
    'a late acknowledgment revives the lease after abdication',
    { messages: 2, maxCv: 3, handover: true },
    edit('primary', 'if (hasAbdicated(state)) return ignore(state)\n', ''),
  ),
  bug(
    'a primary cancels its handover without the transaction',
    { messages: 2, maxCv: 3, handover: true },
    edit(
      'primary-requests',
      "return { state, send: [{ kind: 'cancel'",
      "return { state: { ...state, durable: { ...state.durable, handover: undefined } }, send: [{ kind: 'cancel'",
    ),
  ),
  bug(
    'force promotes a node that is not promotable',
    { messages: 1, maxCv: 3, force: true },
    edit('controller', 'force?.primaryIsDead === true', 'force !== undefined'),
  ),
  bug(
    'a group is promoted by halves',
    { messages: 1, maxCv: 2, maxCheckpoint: 2, volumes: ['a', 'b'] },
    edit('copy', 'isNewer(common, each)', 'isNewer(each, common)'),
  ),
  bug(
    'a fence does not stay in force',
    { messages: 1, maxCv: 2 },
    edit('fencer', 'const kill = fenced\n', 'const kill = fenced && !state.fenced\n'),
  ),
  bug(
    'a lease of an earlier boot is used',
    { messages: 2, maxCv: 2, machineCrashes: 1 },
    edit('primary', 'if (ack.sent.boot !== state.boot) return ignore(state)\n', ''),
  ),
  bug(
    'a restarted copy states a loss that is too small',
    { messages: 2, maxCv: 2, agentCrashes: 1 },
    edit('copy', 'bounded: state.bounded || renew.start === state.start', 'bounded: true'),
  ),
]
