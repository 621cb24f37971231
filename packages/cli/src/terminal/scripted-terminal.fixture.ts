// Runs commands in tests without a process or a platform: records the output and answers API requests from a table.

import { type Client, createClient } from '@holdfast/client'
import type { Invocation } from '../command.ts'
import type { Terminal } from './terminal.ts'

export interface ScriptedTerminal extends Terminal {
  readonly printed: { out: string; err: string }
}

export function scriptTerminal({
  isTerminal = false,
  typed,
}: {
  isTerminal?: boolean
  typed?: string
} = {}): ScriptedTerminal {
  const printed = { out: '', err: '' }
  const interrupted = new AbortController()
  return {
    printed,
    out(text) {
      printed.out += text
    },
    err(text) {
      printed.err += text
    },
    outIsTerminal: isTerminal,
    errIsTerminal: isTerminal,
    inIsTerminal: isTerminal,
    color: false,
    columns: () => 120,
    rows: () => 24,
    now: () => Date.parse('2026-01-31T12:00:00Z'),
    readInput: async () => new Uint8Array(),
    async askSecret(question) {
      printed.err += question
      return undefined
    },
    async ask(question) {
      printed.err += question
      return typed
    },
    interrupted: interrupted.signal,
  }
}

/** Creates a parsed command line for tests. `typed`: the options, by long name. */
export function invocation(
  terminal: Terminal,
  args: readonly string[],
  typed: { readonly [option: string]: string | boolean } = {},
): Invocation {
  const text = (option: string) => {
    const given = typed[option]
    return typeof given === 'string' ? given : undefined
  }
  return {
    args,
    text,
    terminal,
    env: {},
    contextsFile: '/nowhere',
    texts: (option) => [text(option) ?? []].flat(),
    flag: (option) => typed[option] === true,
    settings: async () => ({ ok: true, settings: {} }),
  }
}

/**
 * Creates a client that answers from `responses`, whose keys have the form `GET /path`. A text is sent as it is, for
 * streams; everything else as JSON. Any other request fails the test.
 * The first `refusedConnections` requests fail to connect.
 */
export function scriptClient(
  responses: { readonly [request: string]: unknown },
  { refusedConnections = 0 } = {},
): Client {
  let remaining = refusedConnections
  return createClient({
    baseUrl: 'http://platform',
    runtime: {
      wait: async () => {},
      async fetch(url, { method }) {
        remaining -= 1
        if (remaining >= 0) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
        const body = responses[`${method} ${url.replace('http://platform/api/v1', '')}`]
        if (body === undefined) throw new Error(`unexpected request: ${method} ${url}`)
        const sent = typeof body === 'string' ? new TextEncoder().encode(body) : JSON.stringify(body)
        return new Response(sent, { status: 200 })
      },
    },
  })
}

/** An event of a list, two minutes before the time of the scripted terminal. */
export const anEvent = (parts: object): object => ({
  id: 'evt_1',
  tenant: 't',
  time: '2026-01-31T11:58:00.000Z',
  severity: 'info',
  reason: '',
  data: {},
  cursor: '',
  count: 1,
  firstSeen: '2026-01-31T11:58:00.000Z',
  lastSeen: '2026-01-31T11:58:00.000Z',
  ...parts,
})
