// The shape and tone of each word of state: phases of deployments, statuses of nodes, states of replicas, severities. A word
// of a newer server has the neutral shape and is shown as sent.

import type { IconName } from './icon.tsx'

type Tone = 'ok' | 'warn' | 'bad' | 'busy' | 'idle'

export interface WordTone {
  readonly tone: Tone
  readonly icon: IconName
}

const OK: WordTone = { tone: 'ok', icon: 'check' }
const WARN: WordTone = { tone: 'warn', icon: 'triangle' }
const BAD: WordTone = { tone: 'bad', icon: 'diamond' }
const BUSY: WordTone = { tone: 'busy', icon: 'arrows' }
const WAITS: WordTone = { tone: 'busy', icon: 'clock' }
const ENDED: WordTone = { tone: 'idle', icon: 'square' }
const NOTE: WordTone = { tone: 'busy', icon: 'info' }
const UNKNOWN: WordTone = { tone: 'idle', icon: 'circle' }

const TONES: { readonly [word: string]: WordTone } = {
  Running: OK,
  Pending: WARN,
  Waiting: WAITS,
  Progressing: BUSY,
  Degraded: BAD,
  Stopped: ENDED,
  Deleting: ENDED,
  Ready: OK,
  Materializing: BUSY,
  Promoting: BUSY,
  Resizing: BUSY,
  Failed: BAD,
  Lost: BAD,
  current: OK,
  seeding: BUSY,
  lagging: WARN,
  missing: BAD,
  succeeded: OK,
  cancelled: ENDED,
  ready: OK,
  unreachable: BAD,
  failed: BAD,
  degraded: WARN,
  pending: WAITS,
  assigned: WAITS,
  pulling: BUSY,
  starting: BUSY,
  running: BUSY,
  stopping: BUSY,
  stopped: ENDED,
  lost: BAD,
  error: BAD,
  warning: WARN,
  info: NOTE,
}

export const toneOf = (word: string): WordTone =>
  (Object.hasOwn(TONES, word) ? TONES[word] : undefined) ?? UNKNOWN
