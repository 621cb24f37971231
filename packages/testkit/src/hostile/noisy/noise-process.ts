// Attacks one server for one tenant, in a process of its own, so that its work does not delay the measurement: requests at the full
// rate of many tokens, half-open connections, slow bodies, and explanations in a loop. See start-noise.ts.

import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Noise, NoiseReport, ToNoise } from './noise-protocol.ts'

const MOST_UNANSWERED = 2_000
const TICK_MS = 50
const REOPEN_MS = 250
/** Connections opened in each tick, so that the backlog of the listener is not the only thing that is tested. */
const OPENED_PER_TICK = 250
/** Ports of one loopback address do not suffice for connections that are opened again all the time. */
const ADDRESSES = Array.from({ length: 16 }, (_, at) => `127.0.0.${at + 2}`)
const HOST = '127.0.0.1'
const DEPLOYMENTS = '/api/v1/deployments'
/** The paths that the tokens ask for in turn; listing and explaining cost the server the most. */
const READS = [
  DEPLOYMENTS,
  `${DEPLOYMENTS}/web/why`,
  '/api/v1/events?limit=500',
  '/api/v1/audit?limit=500',
  '/api/v1/nodes',
  `${DEPLOYMENTS}/web/status`,
]

const agent = new Agent({ keepAlive: true, maxSockets: 256 })
const answers = new Map<string, number>()
const held = new Set<Socket>()
let unanswered = 0
let skipped = 0
let opened = 0

function get(port: number, path: string, token: string): Promise<void> {
  unanswered += 1
  return new Promise((resolve) => {
    const done = (status: number): void => {
      const key = `${path.split('?')[0]} ${status}`
      answers.set(key, (answers.get(key) ?? 0) + 1)
      unanswered -= 1
      resolve()
    }
    const headers = { authorization: `Bearer ${token}` }
    const sent = request({ host: HOST, port, path, headers, agent, timeout: 30_000 }, (response) => {
      response.on('error', () => {}).on('close', () => done(response.statusCode ?? 0))
      response.resume()
    })
    sent.on('timeout', () => sent.destroy())
    sent.once('error', () => done(0))
    sent.end()
  })
}

/** Sends as many requests as are due since the last tick. */
function sendPaced({ port, tokens, perTokenMinute }: Noise): void {
  const begun = performance.now()
  let sent = 0
  setInterval(() => {
    const due = Math.floor(((performance.now() - begun) / 60_000) * perTokenMinute * tokens.length)
    for (; sent < due; sent += 1) {
      if (unanswered >= MOST_UNANSWERED) skipped += 1
      else void get(port, READS[sent % READS.length] ?? '/', tokens[sent % tokens.length] ?? '')
    }
  }, TICK_MS)
}

async function askWhy(port: number, token: string): Promise<never> {
  for (;;) await get(port, `${DEPLOYMENTS}/web/why`, token)
}

/** Keeps so many connections open; `begin` sends the first bytes of each. */
function keepOpen(port: number, count: number, begin: (socket: Socket, index: number) => void): void {
  const due = Array.from({ length: count }, (_, index) => index)
  const open = (index: number): void => {
    opened += 1
    const localAddress = ADDRESSES[opened % ADDRESSES.length] ?? HOST
    const socket = connect({ port, host: HOST, localAddress })
    held.add(socket)
    socket.on('error', () => {}).on('connect', () => begin(socket, index))
    socket.once('close', () => {
      held.delete(socket)
      setTimeout(() => due.push(index), REOPEN_MS)
    })
    socket.resume()
  }
  setInterval(() => due.splice(0, OPENED_PER_TICK).forEach(open), TICK_MS)
}

/** Every second connection sends nothing at all, the others a part of a head. */
function beginHead(socket: Socket, index: number): void {
  if (index % 2 === 0) socket.write(`GET ${DEPLOYMENTS} HTTP/1.1\r\nhost: ${HOST}\r\nx-`)
}

function beginBody(tokens: readonly string[]) {
  return (socket: Socket, index: number): void => {
    const isOpen = index % 4 === 0
    const credential = isOpen ? [] : [`authorization: Bearer ${tokens[index % tokens.length]}`]
    const lines = [
      `POST ${isOpen ? '/api/v1/nodes/enroll' : DEPLOYMENTS} HTTP/1.1`,
      `host: ${HOST}`,
      ...credential,
      ...['content-type: application/json', 'content-length: 50000', '', '{'],
    ]
    socket.write(lines.join('\r\n'))
    const drip = setInterval(() => socket.write(' '), 1_000)
    socket.once('close', () => clearInterval(drip))
  }
}

function begin(noise: Noise): void {
  const { port, tokens, halfOpen, slowBodies, whyLoops } = noise
  keepOpen(port, halfOpen, beginHead)
  keepOpen(port, slowBodies, beginBody(tokens))
  sendPaced(noise)
  for (const token of tokens.slice(0, whyLoops)) void askWhy(port, token)
}

const report = (): NoiseReport => ({
  ...{ kind: 'report', answers: Object.fromEntries(answers), skipped, opened },
  held: [...held].filter(({ readyState }) => readyState !== 'opening').length,
})

process.on('message', (message: ToNoise) => {
  if (message.kind === 'report') process.send?.(report())
  if (message.kind !== 'begin') return
  begin(message.noise)
  process.send?.({ kind: 'begun' })
})
process.on('disconnect', () => process.exit(0))
