// The server's side of the logs and exec protocols, with a local process in place of a container, for tests of the CLI at
// a terminal. Real containers are tested in the lab. See docs/design/api.md#streams

import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

export interface WirePeer {
  readonly url: string
  /** Requests received, in order: the body of an exec request, the query of a logs request. */
  readonly asked: unknown[]
  /** Terminal window sizes that the client has sent. */
  readonly sizes: unknown[]
  /** Cuts every open connection between the simulated server and the CLI. */
  cut(): void
  stop(): Promise<void>
}

const line = (text: string): string =>
  `${JSON.stringify({ time: new Date().toISOString(), replica: 1, node: 'n1', stream: 'stdout', text })}\n`

/** Starts the simulated server, with TLS if a certificate and its key are given as PEM. */
export async function startWirePeer(tls?: {
  readonly cert: string
  readonly key: string
}): Promise<WirePeer> {
  const asked: unknown[] = []
  const sizes: unknown[] = []
  const commands = new Map<string, { command: string[] }>()
  const running = new Set<ChildProcess>()
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://peer')
    if (url.pathname.endsWith('/logs')) return serveLogs(url, response, asked)
    let body = ''
    for await (const piece of request) body += piece
    const wanted: { command: string[] } = JSON.parse(body)
    asked.push(wanted)
    const id = `exec-${commands.size}`
    commands.set(id, wanted)
    response
      .writeHead(201, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id, ticket: 'canary-ticket' }))
  }
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer)
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'holdfast.exec.v1' })
  sockets.on('connection', (socket, request) => {
    const wanted = commands.get(/exec-\d+/.exec(request.url ?? '')?.[0] ?? '')
    const [file = 'false', ...args] = wanted?.command ?? []
    const child = spawn(file, args)
    running.add(child)
    const say = (channel: number, bytes: Buffer | string) =>
      socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(bytes)]))
    child.stdout.on('data', (bytes: Buffer) => say(1, bytes))
    child.stderr.on('data', (bytes: Buffer) => say(2, bytes))
    child.on('close', (code) => say(4, JSON.stringify({ exitCode: code ?? 137 })))
    child.stdin.on('error', () => {})
    socket.on('close', () => child.kill())
    socket.on('message', (data) => {
      const bytes = Buffer.isBuffer(data) ? data : Buffer.alloc(0)
      if (bytes[0] === 3) sizes.push(JSON.parse(bytes.subarray(1).toString()))
      else if (bytes.length === 1) child.stdin.end()
      else child.stdin.write(bytes.subarray(1))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const cut = () => {
    for (const socket of sockets.clients) socket.terminate()
    server.closeAllConnections()
  }
  return {
    url: `http${tls === undefined ? '' : 's'}://127.0.0.1:${port}`,
    asked,
    sizes,
    cut,
    async stop() {
      cut()
      for (const child of running) child.kill()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function serveLogs(url: URL, response: ServerResponse, asked: unknown[]): void {
  asked.push(Object.fromEntries(url.searchParams))
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  response.write(line('first') + line('\u001b[31mred'))
  response.write(`${JSON.stringify({ skipped: { replica: 1, lines: 3, bytes: 9 } })}\n`)
  response.write(`${JSON.stringify({ unavailable: { replica: 2, node: 'n2', reason: 'unreachable' } })}\n`)
  if (url.searchParams.get('follow') !== 'true') response.end()
}
