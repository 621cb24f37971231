// The agent's side of its session with the server: dial, prove, beat, and dial again, for as long as the agent runs.
// SAFETY 4e.

import type { Session, SessionOptions } from '../ports/session.ts'
import { backOffMs } from './back-off.ts'
import { createConversation } from './conversation.ts'
import { createDial } from './dial.ts'
import { createKeptReports, inMessages } from './kept-reports.ts'
import { createServerCalls } from './server-calls.ts'

export interface SessionTimes {
  /** A session that lasted so long was a good one: the next wait is short again. */
  readonly steadyMs: number
  /** From dialling to the first desired set. */
  readonly openMs: number
  /** `heartbeatMs`: as the server asked for it last. */
  backOffMs(failures: number, heartbeatMs: number | undefined): number
}

const SHIPPED_TIMES: SessionTimes = {
  steadyMs: 10_000,
  openMs: 20_000,
  backOffMs: (failures, heartbeatMs) => backOffMs(failures, Math.random(), heartbeatMs),
}

export function startSession(options: SessionOptions, times: SessionTimes = SHIPPED_TIMES): Session {
  const { state, log } = options
  const dial = createDial(state.server, state.ca)
  const reports = createKeptReports()
  const calls = createServerCalls(state.encryptionKey, (call) => current?.send(call) ?? false)
  let heartbeatMs: number | undefined
  const onHeartbeat = (askedMs: number): void => {
    heartbeatMs = askedMs
  }
  const converse = createConversation({ ...options, onHeartbeat }, reports, calls)
  let current: ReturnType<typeof converse> | undefined
  let timer: NodeJS.Timeout | undefined
  let failures = 0
  let closed = false

  const connect = (): void => {
    const began = performance.now()
    const socket = dial()
    current = converse(socket, times.openMs)
    socket.on('close', (code: number) => {
      current = undefined
      calls.abandon()
      if (closed) return
      failures = performance.now() - began >= times.steadyMs ? 0 : failures + 1
      const waitMs = times.backOffMs(failures, heartbeatMs)
      log.info({ code, waitMs: Math.round(waitMs) }, 'the session ended; dialling again')
      timer = setTimeout(connect, waitMs)
    })
    socket.on('error', (error) => log.warn({ error: error.message }, 'the connection to the server failed'))
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
    registryCredential: calls.registryCredential,
    containerEnvironment: calls.containerEnvironment,
    close() {
      closed = true
      clearTimeout(timer)
      calls.abandon()
      current?.close()
    },
  }
}
