// A client for what was chosen. It is loaded only where it is needed: help and completion start without it.

import type { Client, Exchange } from '@holdfast/client'
import { durationSeconds } from './args/forms.ts'
import type { Invocation, Settings } from './command.ts'
import { report, type Terminal } from './terminal/terminal.ts'

export type Connected =
  | { readonly ok: true; readonly client: Client }
  | { readonly ok: false; readonly why: string }

export async function connect(
  invocation: Invocation,
  { url, token, tenant, caFile }: Settings & { readonly url: string },
): Promise<Connected> {
  const distrust = caFile === undefined ? undefined : await trustFrom(caFile)
  if (distrust !== undefined) return { ok: false, why: distrust }
  const { createClient } = await import('@holdfast/client')
  const seconds = durationSeconds(invocation.text('timeout') ?? '')
  const client = createClient({
    ...{ baseUrl: url, signal: invocation.terminal.interrupted },
    ...(token === undefined ? {} : { token }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(seconds === undefined ? {} : { deadlineMs: seconds * 1000 }),
    ...(invocation.flag('verbose')
      ? { observe: (exchange: Exchange) => printExchange(invocation.terminal, exchange) }
      : {}),
  })
  return { ok: true, client }
}

async function trustFrom(caFile: string): Promise<string | undefined> {
  const { trustOnly } = await import('./trust.ts')
  return trustOnly(caFile)
}

function printExchange(terminal: Terminal, { method, path, status, requestId, tookMs }: Exchange): void {
  report(terminal, `${method} ${path} ${status ?? 'no answer'} ${requestId ?? '-'} ${Math.round(tookMs)}ms`)
}
