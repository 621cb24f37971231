// A work queue by key. Runs of one key never overlap, and any number of changes during a run cause exactly one more run.
// A failed key backs off exponentially; a new change ends the backoff. See docs/design/leadership.md#work-queue

export interface KeyQueue {
  /** Enqueues the key. A key that is already queued is not queued twice. */
  add(key: string): void
  /** Number of keys that are queued, running or backing off after a failure. */
  readonly size: number
  /** Accepts no more keys and waits for the running keys to finish. */
  stop(): Promise<void>
}

export interface KeyQueueOptions {
  readonly concurrency: number
  work(key: string): Promise<void>
  /** The backoff in milliseconds of a key after `failures` consecutive failures. */
  backoffMs(failures: number): number
  onError(key: string, error: unknown): void
}

interface Entry {
  state: 'queued' | 'running' | 'backing off'
  /** True if a change arrived while the key was running, so that the key must run once more. */
  again: boolean
  failures: number
  timer?: NodeJS.Timeout
}

interface QueueState extends KeyQueueOptions {
  readonly entries: Map<string, Entry>
  readonly runs: Set<Promise<void>>
  /** The keys in order of arrival. Keys before index `next` were already started and are removed later. */
  queued: string[]
  next: number
  stopped: boolean
  /** Start of the current slice of time: the time at which the first key after the last pause was started. */
  since?: number | undefined
}

export function createKeyQueue(options: KeyQueueOptions): KeyQueue {
  const queue: QueueState = {
    ...options,
    entries: new Map(),
    runs: new Set(),
    queued: [],
    next: 0,
    stopped: false,
  }
  return {
    add: (key) => add(queue, key),
    get size() {
      return queue.entries.size
    },
    async stop() {
      queue.stopped = true
      for (const { timer } of queue.entries.values()) clearTimeout(timer)
      await Promise.all(queue.runs)
    },
  }
}

function add(queue: QueueState, key: string): void {
  if (queue.stopped) return
  const entry = queue.entries.get(key)
  if (entry?.state === 'running') entry.again = true
  else if (entry?.state === 'backing off') enqueue(queue, key, entry)
  else if (entry === undefined) {
    const created: Entry = { state: 'queued', again: false, failures: 0 }
    queue.entries.set(key, created)
    enqueue(queue, key, created)
  }
}

function enqueue(queue: QueueState, key: string, entry: Entry): void {
  clearTimeout(entry.timer)
  entry.state = 'queued'
  queue.queued.push(key)
  pump(queue)
}

const CUT_AFTER = 1_000

function pump(queue: QueueState): void {
  while (!queue.stopped && queue.runs.size < queue.concurrency && queue.next < queue.queued.length) {
    if (!hasTime(queue)) return
    const key = queue.queued[queue.next] ?? ''
    queue.next += 1
    const entry = queue.entries.get(key)
    if (entry !== undefined) start(queue, key, entry)
  }
  // Removing the front of a long array is expensive, so started keys are removed only now and then.
  if (queue.next > CUT_AFTER || queue.next === queue.queued.length) {
    queue.queued = queue.queued.slice(queue.next)
    queue.next = 0
  }
}

/** Maximum time without a pause. Without pauses, keys whose work awaits no I/O would block the event loop. */
const SLICE_MS = 10

function hasTime(queue: QueueState): boolean {
  const now = performance.now()
  if (queue.since === undefined) {
    queue.since = now
    setImmediate(() => {
      queue.since = undefined
      pump(queue)
    })
  }
  return now - queue.since < SLICE_MS
}

function start(queue: QueueState, key: string, entry: Entry): void {
  entry.state = 'running'
  entry.again = false
  const run = queue.work(key).then(
    () => finish(queue, key, entry),
    (error: unknown) => fail(queue, key, entry, error),
  )
  queue.runs.add(run)
  void run.finally(() => {
    queue.runs.delete(run)
    pump(queue)
  })
}

function finish(queue: QueueState, key: string, entry: Entry): void {
  entry.failures = 0
  if (entry.again) enqueue(queue, key, entry)
  else queue.entries.delete(key)
}

function fail(queue: QueueState, key: string, entry: Entry, error: unknown): void {
  queue.onError(key, error)
  entry.failures += 1
  if (queue.stopped) return
  if (entry.again) enqueue(queue, key, entry)
  else {
    entry.state = 'backing off'
    entry.timer = setTimeout(() => enqueue(queue, key, entry), queue.backoffMs(entry.failures))
  }
}

/** Backoff that doubles from `firstMs` to `longestMs`, less a random part of up to a half, which spreads retries. */
export function exponentialBackoff(firstMs: number, longestMs: number, random: () => number) {
  return (failures: number): number => {
    const full = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30))
    return full * (0.5 + random() / 2)
  }
}
