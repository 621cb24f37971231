// A command without a process and without a platform: what it prints is kept, what it asks is answered from a table.

import { type Client, createClient } from '@holdfast/client'
import type { Invocation } from '../command.ts'
import type { Terminal } from './terminal.ts'

export interface ScriptedTerminal extends Terminal {
  readonly printed: { out: string; err: string }
}

export function scriptTerminal({ isTerminal = false } = {}): ScriptedTerminal {
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
    ...{ outIsTerminal: isTerminal, errIsTerminal: isTerminal, inIsTerminal: isTerminal, color: false },
    ...{ columns: () => 120, rows: () => 24, now: () => Date.parse('2026-01-31T12:00:00Z') },
    readInput: async () => new Uint8Array(),
    async askSecret(question) {
      printed.err += question
      return undefined
    },
    interrupted: interrupted.signal,
  }
}

/** `typed`: options by their long name. */
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
    ...{ args, text, terminal, contextsFile: '/nowhere' },
    texts: (option) => [text(option) ?? []].flat(),
    flag: (option) => typed[option] === true,
    settings: async () => ({ ok: true, settings: {} }),
  }
}

/** Answers by `GET /path`; whatever is not in the table was not to be asked. `away`: so many calls find nobody. */
export function scriptClient(answers: { readonly [asked: string]: unknown }, { away = 0 } = {}): Client {
  let unanswered = away
  return createClient({
    baseUrl: 'http://platform',
    runtime: {
      wait: async () => {},
      async fetch(url, { method }) {
        unanswered -= 1
        if (unanswered >= 0) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
        const answer = answers[`${method} ${url.replace('http://platform/api/v1', '')}`]
        if (answer === undefined) throw new Error(`${method} ${url} was not to be asked`)
        return new Response(JSON.stringify(answer), { status: 200 })
      },
    },
  })
}
