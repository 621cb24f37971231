// An agent's session as the agent opens it, for a node without an engine: it reports no container.

import type { SessionTimes } from '@holdfast/agent/session/start-session'
import { startSession } from '@holdfast/agent/session/start-session'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import type { EnrolledNode } from './session-records.ts'

/** Where the agent connects, and the authority of the certificate there as PEM. */
interface AgentPlace {
  readonly server: string
  readonly ca: string
}

/** Opens the session until the test has finished. `times`: by default as shipped. */
export function runAgent(place: AgentPlace, enrolled: EnrolledNode, times?: SessionTimes): void {
  const { nodeId, tenant, generation, identityKey, openingKey } = enrolled
  const engineVersion = { version: '29.0.0', apiVersion: '1.52' }
  const session = startSession(
    {
      state: {
        ...{ ...place, nodeId, nodeName: 'n', tenant, generation, engineVersion },
        ...{ labels: {}, engine: '', identityKey, encryptionKey: openingKey },
      },
      machine: () => ({
        ...{ bootId: 'boot-1', version: '0.1.0', capabilities: [], labels: {}, engine: engineVersion },
        capacity: { cpuMillis: 2_000, memoryBytes: 2 ** 32 },
      }),
      log: pino({ level: 'silent' }),
      onDesired: () => {},
      containers: async () => [],
    },
    times,
  )
  onTestFinished(() => session.close())
}
