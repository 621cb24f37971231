// The in-memory store as the key-value engine of one server. It passes the same conformance suite as the etcd client and
// a differential test against etcd. Simulations and controller tests use it, because they need no network.

import type { EngineStatus, KeyValueEngine } from '@holdfast/server/ports/key-value'
import type { MemoryKeyspace } from './keyspace.ts'
import { type Line, type LineCall, type LineOptions, sendOver } from './line.ts'
import { startWatch } from './watch.ts'

/** Deadline of a request, equal to the deadline in the etcd client. */
const DEADLINE_MS = 5_000

/** Connects to the in-memory store. `close` ends every watch; pending requests are applied without an answer. */
export function connectMemory(keyspace: MemoryKeyspace, options: LineOptions = {}): KeyValueEngine {
  const line: Line = {
    delayMs: options.delayMs ?? (() => 0),
    fault: options.fault ?? (() => 'none'),
    closed: false,
  }
  const send = <T>(call: LineCall, deadlineMs: number | undefined, apply: () => T): Promise<T> =>
    sendOver(line, { call, deadlineMs: deadlineMs ?? DEADLINE_MS, apply })
  return {
    range: (request, call) => send('range', call?.deadlineMs, () => keyspace.range(request)),
    transact: (request, call) => send('transact', call?.deadlineMs, () => keyspace.transact(request)),
    watch: (request) => startWatch(keyspace.log, line, request),
    compact: (revision, call) => send('transact', call?.deadlineMs, () => keyspace.compact(revision)),
    status: (call) => send('range', call?.deadlineMs, () => [statusOf(keyspace)]),
    close() {
      line.closed = true
    },
  }
}

function statusOf({ revision, bytes }: MemoryKeyspace): EngineStatus {
  return {
    endpoint: 'memory',
    revision,
    dbSizeBytes: bytes,
    dbSizeInUseBytes: bytes,
    leader: true,
    alarms: [],
  }
}
