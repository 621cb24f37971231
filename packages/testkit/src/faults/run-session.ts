// The agent's side of a session, without an engine: it records received changes and sends the reports that the caller
// provides.

import type { DesiredChange, Session } from '@holdfast/agent/ports/session'
import { type SessionTimes, startSession } from '@holdfast/agent/session/start-session'
import { pino } from 'pino'
import type { EnrolledNode } from '../session/session-records.ts'

export interface RunningSession {
  readonly session: Session
  readonly received: readonly DesiredChange[]
  /** Number of connections of the session that ended or failed. */
  readonly ends: () => number
}

export function runSession(server: string, node: EnrolledNode, times: SessionTimes): RunningSession {
  const { nodeId, tenant, generation, identityKey, openingKey: encryptionKey } = node
  const engineVersion = { version: '29.0.0', apiVersion: '1.52' }
  const received: DesiredChange[] = []
  let ends = 0
  const session = startSession(
    {
      state: {
        server,
        nodeId,
        nodeName: 'n',
        tenant,
        generation,
        identityKey,
        encryptionKey,
        labels: {},
        engine: '',
        engineVersion,
      },
      machine: () => ({
        bootId: 'boot-1',
        version: '0.1.0',
        capabilities: [],
        labels: {},
        engine: engineVersion,
        capacity: { cpuMillis: 1_000, memoryBytes: 1_000 },
      }),
      onDesired: (change) => received.push(change),
      containers: async () => [],
      log: pino({ enabled: false }),
    },
    {
      ...times,
      reconnectDelayMs(failures, heartbeatMs) {
        ends += 1
        return times.reconnectDelayMs(failures, heartbeatMs)
      },
    },
  )
  return { session, received, ends: () => ends }
}
