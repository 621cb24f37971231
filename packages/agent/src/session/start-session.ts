// The agent's session with the server: connects, and reconnects after a delay, until the agent stops.
// See docs/design/agent.md#session.

import type { Session, SessionOptions } from '../ports/session.ts'
import { createUsageFeed } from '../usage/usage-feed.ts'
import type { UsagePart } from '../usage/usage-history.ts'
import { type Connection, createConnection } from './connection.ts'
import { createDial } from './dial.ts'
import { createKeptReports, inMessages } from './kept-reports.ts'
import { reconnectDelayMs } from './reconnect-delay.ts'
import { createServerCalls } from './server-calls.ts'

export interface SessionTimes {
  /** After a session of at least this duration, the next reconnect delay is short again. */
  readonly steadyMs: number
  /** Time limit from dialing to the first desired set. */
  readonly openMs: number
  /** Delay before the next connection. `heartbeatMs`: the heartbeat interval that the server last requested. */
  reconnectDelayMs(failures: number, heartbeatMs: number | undefined): number
}

const SHIPPED_TIMES: SessionTimes = {
  steadyMs: 10_000,
  openMs: 20_000,
  reconnectDelayMs: (failures, heartbeatMs) => reconnectDelayMs(failures, Math.random(), heartbeatMs),
}

export function startSession(options: SessionOptions, times: SessionTimes = SHIPPED_TIMES): Session {
  const { state, log } = options
  const pinned = state.ca === undefined ? undefined : [state.ca]
  const dial = createDial(state.server, options.authorities?.trusted ?? (() => pinned))
  const reports = createKeptReports()
  const calls = createServerCalls(state.encryptionKey, (call) => current?.send(call) ?? false)
  let heartbeatMs: number | undefined
  const onHeartbeat = (requestedMs: number): void => {
    heartbeatMs = requestedMs
  }
  const sendUsage = (part: UsagePart): boolean => current?.sendUsage(part) ?? false
  const feed = options.sampler && createUsageFeed({ sampler: options.sampler, send: sendUsage })
  const openConnection = createConnection({ ...options, onHeartbeat, feed }, reports, calls)
  let current: Connection | undefined
  let timer: NodeJS.Timeout | undefined
  let failures = 0
  let closed = false

  const connect = (): void => {
    const began = performance.now()
    const socket = dial()
    current = openConnection(socket, times.openMs)
    socket.on('close', (code: number) => {
      current = undefined
      calls.abandon()
      if (closed) return
      failures = performance.now() - began >= times.steadyMs ? 0 : failures + 1
      const waitMs = times.reconnectDelayMs(failures, heartbeatMs)
      log.info({ code, waitMs: Math.round(waitMs) }, 'session ended, reconnecting')
      timer = setTimeout(connect, waitMs)
    })
    socket.on('error', (error) => log.warn({ error: error.message }, 'connection to the server failed'))
  }
  connect()
  return {
    report(observations) {
      reports.keep(observations)
      for (const part of inMessages(observations)) current?.report(part)
    },
    reportOrphans(names) {
      reports.keepOrphans(names)
      if (names.length > 0) current?.report([], names)
    },
    reportCopies(copies) {
      for (const part of inMessages(copies)) current?.reportCopies(part)
    },
    reportPool: (pool) => current?.reportPool(pool),
    reportNetworks(networks) {
      for (const part of inMessages(networks)) current?.reportNetworks(part)
    },
    reportDisks: (disks) => current?.reportDisks(disks),
    reportAuthorities: (pins) => current?.reportAuthorities(pins),
    registryCredential: calls.registryCredential,
    containerEnvironment: calls.containerEnvironment,
    configure: calls.configure,
    close() {
      closed = true
      clearTimeout(timer)
      calls.abandon()
      current?.close()
    },
  }
}
