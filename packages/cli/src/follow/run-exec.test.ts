// `holdfast exec` without a result from the server: ends after a timeout or at Ctrl-C, but not while the server pings.

import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { scriptTerminal } from '../terminal/scripted-terminal.fixture.ts'
import { runExec } from './run-exec.ts'

const PIPED = { tty: false, input: false }

let server: WebSocketServer
let url: string
beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'holdfast.exec.v1' })
  await new Promise((resolve) => server.once('listening', resolve))
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  vi.useRealTimers()
  for (const client of server.clients) client.terminate()
  server.close()
})

/** Starts an exec session with an open connection and fake timers. */
async function begin() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const connected = new Promise<WebSocket>((resolve) => server.once('connection', resolve))
  const terminal = scriptTerminal()
  const ended = runExec(terminal, url, PIPED)
  const socket = await connected
  const ping = () => new Promise((resolve) => socket.once('pong', resolve).ping())
  await ping()
  return { terminal, ended, socket, ping }
}

test('exec fails when the server sends nothing for 100 s', async () => {
  const { terminal, ended } = await begin()
  vi.advanceTimersByTime(100_000)
  expect(await ended).toBe(7)
  expect(terminal.printed.err).toContain('the connection to the command was lost')
})

test('exec stays connected while the server pings', async () => {
  const { ended, socket, ping } = await begin()
  for (let minute = 1; minute <= 5; minute += 1) {
    vi.advanceTimersByTime(60_000)
    await ping()
  }
  socket.send(Buffer.concat([Buffer.of(4), Buffer.from('{"exitCode":9}')]))
  expect(await ended).toBe(9)
})

test('Ctrl-C ends exec while it connects, without an error message', async () => {
  const terminal = { ...scriptTerminal(), interrupted: AbortSignal.abort() }
  expect(await runExec(terminal, url, PIPED)).toBe(130)
  expect(terminal.printed.err).toBe('')
})
