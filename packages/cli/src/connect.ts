// A client for what was chosen. It is loaded only where it is needed: help and completion start without it.

import type { Client, Exchange } from '@holdfast/client'
import type { Invocation, Settings } from './command.ts'
import { durationSeconds } from './forms.ts'
import { type Terminal, tell } from './terminal.ts'

export async function connect(
  invocation: Invocation,
  { url, token, tenant }: Settings & { readonly url: string },
): Promise<Client> {
  const { createClient } = await import('@holdfast/client')
  const seconds = durationSeconds(invocation.text('timeout') ?? '')
  return createClient({
    baseUrl: url,
    ...(token === undefined ? {} : { token }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(seconds === undefined ? {} : { deadlineMs: seconds * 1000 }),
    ...(invocation.flag('verbose')
      ? { observe: (exchange: Exchange) => tellExchange(invocation.terminal, exchange) }
      : {}),
  })
}

function tellExchange(terminal: Terminal, { method, path, status, requestId, tookMs }: Exchange): void {
  tell(terminal, `${method} ${path} ${status ?? 'no answer'} ${requestId ?? '-'} ${Math.round(tookMs)}ms`)
}
