// Work by key: each key at most once at a time, as many keys at once as given, a change while a key is being worked on
// leads to exactly one more turn. A failure rests for a while, longer each time; a new change ends the rest. DESIGN 4.

export interface KeyQueue {
  /** The key needs a look, now. */
  add(key: string): void
  /** Keys that wait, run or rest after a failure. */
  readonly size: number
  /** Takes no more and waits for what runs. */
  stop(): Promise<void>
}

export interface KeyQueueOptions {
  readonly concurrency: number
  work(key: string): Promise<void>
  /** How long a key rests after so many failures in a row. */
  restMs(failures: number): number
  onError(key: string, error: unknown): void
}

interface Entry {
  state: 'waiting' | 'running' | 'resting'
  /** Changed while running. */
  again: boolean
  failures: number
  timer?: NodeJS.Timeout
}

interface Running extends KeyQueueOptions {
  readonly entries: Map<string, Entry>
  readonly turns: Set<Promise<void>>
  /** In the order of arrival, from `next` on. */
  waiting: string[]
  next: number
  stopped: boolean
  /** When the first key of this turn of the event loop was begun. */
  since?: number | undefined
}

export function createKeyQueue(options: KeyQueueOptions): KeyQueue {
  const queue: Running = {
    ...options,
    entries: new Map(),
    turns: new Set(),
    waiting: [],
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
      await Promise.all(queue.turns)
    },
  }
}

function add(queue: Running, key: string): void {
  if (queue.stopped) return
  const entry = queue.entries.get(key)
  if (entry?.state === 'running') entry.again = true
  else if (entry?.state === 'resting') enqueue(queue, key, entry)
  else if (entry === undefined) {
    const made: Entry = { state: 'waiting', again: false, failures: 0 }
    queue.entries.set(key, made)
    enqueue(queue, key, made)
  }
}

function enqueue(queue: Running, key: string, entry: Entry): void {
  clearTimeout(entry.timer)
  entry.state = 'waiting'
  queue.waiting.push(key)
  pump(queue)
}

const CUT_AFTER = 1_000

function pump(queue: Running): void {
  while (!queue.stopped && queue.turns.size < queue.concurrency && queue.next < queue.waiting.length) {
    if (!hasTime(queue)) return
    const key = queue.waiting[queue.next] ?? ''
    queue.next += 1
    const entry = queue.entries.get(key)
    if (entry !== undefined) start(queue, key, entry)
  }
  // Cut now and then, not at each turn: the front of a long array is dear to remove.
  if (queue.next > CUT_AFTER || queue.next === queue.waiting.length) {
    queue.waiting = queue.waiting.slice(queue.next)
    queue.next = 0
  }
}

/** Work that needs no answer of anybody goes on without a pause: after so long, others have their turn. */
const SLICE_MS = 10

function hasTime(queue: Running): boolean {
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

function start(queue: Running, key: string, entry: Entry): void {
  entry.state = 'running'
  entry.again = false
  const turn = queue.work(key).then(
    () => finish(queue, key, entry),
    (error: unknown) => fail(queue, key, entry, error),
  )
  queue.turns.add(turn)
  void turn.finally(() => {
    queue.turns.delete(turn)
    pump(queue)
  })
}

function finish(queue: Running, key: string, entry: Entry): void {
  entry.failures = 0
  if (entry.again) enqueue(queue, key, entry)
  else queue.entries.delete(key)
}

function fail(queue: Running, key: string, entry: Entry, error: unknown): void {
  queue.onError(key, error)
  entry.failures += 1
  if (queue.stopped) return
  if (entry.again) enqueue(queue, key, entry)
  else {
    entry.state = 'resting'
    entry.timer = setTimeout(() => enqueue(queue, key, entry), queue.restMs(entry.failures))
  }
}

/** Doubles from the first to the longest rest, between half and all of it, so that what failed together returns apart. */
export function exponentialBackoff(firstMs: number, longestMs: number, random: () => number) {
  return (failures: number): number => {
    const full = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30))
    return full * (0.5 + random() / 2)
  }
}
