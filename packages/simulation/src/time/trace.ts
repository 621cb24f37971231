// Records a simulation run in two forms: lines for people, and one hash over everything, which is equal for equal seeds.

import { createHash } from 'node:crypto'
import type { Event } from '@holdfast/contract'
import type { Kept } from '../cluster/snapshot.ts'
import type { KeyWrite } from '../memory/keyspace.ts'

export interface StoryLine {
  /** Virtual milliseconds since the start of the script; negative while the cluster is being set up. */
  readonly atMs: number
  /** `step`: an action of the script. `answer`: the answer to a caller. `event`: an event of a tenant. */
  readonly kind: 'step' | 'answer' | 'event'
  readonly severity: Event['severity']
  readonly tenant: string
  /** Subject of the line, for example `deployment web`, `node n2` or `server a`. */
  readonly subject: string
  readonly message: string
}

export interface Trace {
  readonly story: readonly StoryLine[]
  record(line: StoryLine): void
  note(kind: 'message' | 'warning', at: number, who: string, text: string): void
  noteWrite(write: KeyWrite): void
  hash(): string
}

export function createTrace(): Trace {
  const story: StoryLine[] = []
  const all = createHash('sha256')
  let pending = ''
  // Short texts are collected, because hashing one long text is faster than hashing many short ones.
  const add = (text: string): void => {
    pending += `${text}\n`
    if (pending.length < 65_536) return
    all.update(pending)
    pending = ''
  }
  return {
    story,
    record(line) {
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
