// What happened, twice: as lines that people read, and as one hash over everything, which two runs of the same seed share.

import { createHash } from 'node:crypto'
import type { Event } from '@holdfast/contract'
import type { Kept } from '../cluster/snapshot.ts'
import type { KeyWrite } from '../memory/keyspace.ts'

export interface StoryLine {
  /** Virtual milliseconds since the first step could happen; below zero while the cluster is being set up. */
  readonly atMs: number
  /** `step`: the script did it. `answer`: what a caller was told. `event`: what a tenant reads in its events. */
  readonly kind: 'step' | 'answer' | 'event'
  readonly severity: Event['severity']
  readonly tenant: string
  /** Who it is about: `deployment web`, `node n2`, `server a`. */
  readonly subject: string
  readonly message: string
}

export interface Trace {
  readonly story: readonly StoryLine[]
  tell(line: StoryLine): void
  note(kind: 'message' | 'warning', at: number, who: string, text: string): void
  noteWrite(write: KeyWrite): void
  hash(): string
}

export function createTrace(): Trace {
  const story: StoryLine[] = []
  const all = createHash('sha256')
  let pending = ''
  // One long text is hashed faster than many short ones.
  const add = (text: string): void => {
    pending += `${text}\n`
    if (pending.length < 65_536) return
    all.update(pending)
    pending = ''
  }
  return {
    story,
    tell(line) {
      story.push(line)
      add(JSON.stringify(line))
    },
    note: (kind, at, who, text) => add(`${kind} ${at} ${who} ${text}`),
    noteWrite: ({ kind, key, revision, bytes }) =>
      add(`${kind} ${revision} ${key} ${Buffer.from(bytes).toString('latin1')}`),
    hash: () => all.copy().update(pending).digest('hex'),
  }
}

export function eventLine({ record }: Kept<Event>, tenant: string, atMs: number): StoryLine {
  const { severity, subject, message } = record
  const who = `${subject.kind.toLowerCase()} ${subject.name}`
  return { atMs, kind: 'event', severity, tenant, subject: who, message }
}
