// For tests of key-value engines: requests in short form, and a watch that records the events it receives.

import type {
  Compare,
  KeyRange,
  KeyValueEngine,
  Operation,
  TransactionRequest,
  Watch,
  WatchEvent,
} from '@holdfast/server/ports/key-value'

export const bytesOf = (text: string): Uint8Array => Buffer.from(text)
export const textOf = (value: Uint8Array): string => Buffer.from(value).toString()

/** The range of all keys that start with `prefix`, which must end in '/'. */
export const under = (prefix: string): KeyRange => ({ key: prefix, rangeEnd: `${prefix.slice(0, -1)}0` })

export const put = (key: string, value: string | Uint8Array = ''): Operation => ({
  kind: 'put',
  key,
  value: typeof value === 'string' ? bytesOf(value) : value,
})

export const absent = (key: string): Compare => ({ key, target: 'version', is: 'equal', value: 0 })

export const unconditionally = (...success: Operation[]): TransactionRequest => ({
  compares: [],
  success,
  failure: [],
})

/** Writes one key and returns the revision of the write. */
export async function write(
  engine: KeyValueEngine,
  key: string,
  value: string | Uint8Array = '',
): Promise<number> {
  return (await engine.transact(unconditionally(put(key, value)))).revision
}

export interface RecordingWatch extends Watch {
  readonly batches: { readonly events: readonly WatchEvent[]; readonly revision: number }[]
  readonly progress: number[]
  readonly compacted: number[]
  events(): WatchEvent[]
  /** The recorded events as `put key=value` or `delete key`, in order of arrival. */
  story(): string[]
}

export function recordWatch(
  engine: Pick<KeyValueEngine, 'watch'>,
  range: KeyRange,
  startRevision: number,
): RecordingWatch {
  const batches: RecordingWatch['batches'] = []
  const progress: number[] = []
  const compacted: number[] = []
  const watch = engine.watch({
    ...range,
    startRevision,
    onEvents: (events, revision) => batches.push({ events, revision }),
    onProgress: (revision) => progress.push(revision),
    onCompacted: (revision) => compacted.push(revision),
  })
  const events = () => batches.flatMap((batch) => batch.events)
  return { ...watch, batches, progress, compacted, events, story: () => events().map(describeEvent) }
}

function describeEvent({ kind, kv }: WatchEvent): string {
  return kind === 'put' ? `put ${kv.key}=${textOf(kv.value)}` : `delete ${kv.key}`
}
