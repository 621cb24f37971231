// Tests of behavior that all commands share if they call a platform.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { run } from './run.ts'
import { scriptTerminal } from './terminal/scripted-terminal.fixture.ts'

const REJECTION = { code: 'unauthenticated', field: '', received: '', expected: 'a', why: 'b', doc: '/c' }
const UNAUTHENTICATED = JSON.stringify({ ...REJECTION, rejections: [REJECTION] })

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(onRequest: () => void, body?: string): Promise<string> {
  server = createServer((_request, response) => {
    onRequest()
    if (body !== undefined) response.writeHead(401, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.each([['get nodes'], ['node drain n1'], ['secret list'], ['status'], ['token list --tenant t']])(
  '%s exits with 130 at the first Ctrl-C, without waiting for a response',
  async (typed) => {
    const ctrlC = new AbortController()
    const url = await serve(() => ctrlC.abort())
    const terminal = { ...scriptTerminal(), interrupted: ctrlC.signal }
    const env = { HOLDFAST_URL: url, HOLDFAST_TOKEN: 't', HOLDFAST_CONTEXTS_FILE: '/nowhere' }
    expect(await run(typed.split(' '), env, terminal)).toBe(130)
    expect(terminal.printed).toEqual({ out: '', err: '' })
  },
)

test('Ctrl-C at the hidden token prompt ends login without trying another token', async () => {
  const ctrlC = new AbortController()
  const url = await serve(() => expect.unreachable())
  const askSecret = async () => {
    ctrlC.abort()
    throw ctrlC.signal.reason
  }
  const terminal = { ...scriptTerminal({ isTerminal: true }), askSecret, interrupted: ctrlC.signal }
  expect(await run(['login', '--url', url], { HOLDFAST_CONTEXTS_FILE: '/nowhere' }, terminal)).toBe(130)
  expect(terminal.printed.err).toBe('')
})

test('login prompts for a token only if none is given', async () => {
  const url = await serve(() => {}, UNAUTHENTICATED)
  const printedFor = async (env: { [name: string]: string }) => {
    const terminal = scriptTerminal({ isTerminal: true })
    await run(['login', '--url', url], { HOLDFAST_CONTEXTS_FILE: '/nowhere', ...env }, terminal)
    return terminal.printed.err
  }
  expect(await printedFor({ HOLDFAST_TOKEN: 'hf_x' })).toMatch(/^error: unauthenticated/)
  expect(await printedFor({})).toMatch(/^Token: error: no token given/)
})

test('warns once about a contexts file that other users can read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-run-'))
  const file = join(folder, 'config.yaml')
  try {
    writeFileSync(file, 'contexts: {}\n', { mode: 0o644 })
    const url = await serve(() => {}, UNAUTHENTICATED)
    const terminal = scriptTerminal()
    const words = ['token', 'list', '--tenant', 't', '--url', url]
    expect(await run(words, { HOLDFAST_CONTEXTS_FILE: file }, terminal)).toBe(7)
    expect(terminal.printed.err.match(/is readable by other users/g)).toHaveLength(1)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.each([
  ['create --help', "error: unknown command 'create'\nholdfast init NAME writes a manifest"],
  ['deploy -h', "error: unknown command 'deploy'\nholdfast apply -f FILE"],
  ['rollout hstory --help', "error: unknown command 'hstory'\ndid you mean holdfast rollout history?"],
])('%s rejects the unknown command', async (typed, message) => {
  const terminal = scriptTerminal()
  expect(await run(typed.split(' '), {}, terminal)).toBe(2)
  expect(terminal.printed).toEqual({ out: '', err: expect.stringContaining(message) })
})

test.each([['rollout --help'], ['--help'], ['get --help'], ['exec --help']])(
  '%s prints help',
  async (typed) => {
    const terminal = scriptTerminal()
    expect(await run(typed.split(' '), {}, terminal)).toBe(0)
    expect(terminal.printed).toEqual({ out: expect.stringContaining('Usage: holdfast'), err: '' })
  },
)

test('get --help lists the kinds', async () => {
  const terminal = scriptTerminal()
  await run(['get', '--help'], {}, terminal)
  expect(terminal.printed.out).toContain('Kinds: deployments, nodes, replicas,')
})
