// Creates the API client for the chosen settings. The client loads on demand, so that help and completion start fast.

import type { Client, Exchange } from '@holdfast/client'
import { defined } from '@holdfast/contract'
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
  const trustError = caFile === undefined ? undefined : await trustFrom(caFile)
  if (trustError !== undefined) return { ok: false, why: trustError }
  const { createClient } = await import('@holdfast/client')
  const seconds = durationSeconds(invocation.text('timeout') ?? '')
  const client = createClient({
    baseUrl: url,
    signal: invocation.terminal.interrupted,
    ...defined({
      token,
      tenant,
      deadlineMs: seconds === undefined ? undefined : seconds * 1000,
      observe: invocation.flag('verbose')
        ? (exchange: Exchange) => printExchange(invocation.terminal, exchange)
        : undefined,
    }),
  })
  return { ok: true, client }
}

async function trustFrom(caFile: string): Promise<string | undefined> {
  const { trustOnly } = await import('./trust.ts')
  return trustOnly(caFile)
}

function printExchange(terminal: Terminal, { method, path, status, requestId, tookMs }: Exchange): void {
  report(terminal, `${method} ${path} ${status ?? 'no response'} ${requestId ?? '-'} ${Math.round(tookMs)}ms`)
}
