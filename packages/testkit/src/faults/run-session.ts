// The agent's own side of its session, with nothing behind it: what it is told is kept, what it reports is given.

import type { DesiredChange, Session } from '@holdfast/agent/ports/session'
import { type SessionTimes, startSession } from '@holdfast/agent/session/start-session'
import { pino } from 'pino'
import type { EnrolledNode } from '../session/session-records.ts'

export interface RunningSession {
  readonly session: Session
  readonly told: readonly DesiredChange[]
  /** How often a connection ended, or could not be made. */
  readonly ends: () => number
}

export function runSession(server: string, node: EnrolledNode, times: SessionTimes): RunningSession {
  const { nodeId, tenant, generation, identityKey, openingKey: encryptionKey } = node
  const engineVersion = { version: '29.0.0', apiVersion: '1.52' }
  const told: DesiredChange[] = []
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
        labels: {},
        engine: engineVersion,
        capacity: { cpuMillis: 1_000, memoryBytes: 1_000 },
      }),
      onDesired: (change) => told.push(change),
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
  return { session, told, ends: () => ends }
}
