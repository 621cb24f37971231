// Creates the API client for the chosen settings. The client loads on demand, so that help and completion start fast.

import type { Client, Exchange, Failure } from '@holdfast/client'
import { defined, isTenantId } from '@holdfast/contract'
import { durationSeconds } from './args/forms.ts'
import type { Invocation, Settings } from './command.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { printError, printFailure } from './print/failure.ts'
import { report, type Terminal } from './terminal/terminal.ts'

export type Opened =
  | { readonly kind: 'client'; readonly client: Client; readonly url: string }
  /** No platform is configured. */
  | { readonly kind: 'unset' }
  /** The reason has been printed. */
  | { readonly kind: 'failed'; readonly exit: ExitCode }

/** Opens the platform that the command line, the environment and the contexts choose. */
export async function openChosen(invocation: Invocation): Promise<Opened> {
  const { terminal } = invocation
  const chosen = await invocation.settings()
  if (!chosen.ok) {
    printError(terminal, chosen.why)
    return { kind: 'failed', exit: EXIT.usage }
  }
  const { url } = chosen.settings
  if (url === undefined) return { kind: 'unset' }
  const connected = await connect(invocation, { ...chosen.settings, url })
  if (!connected.ok) return { kind: 'failed', exit: printUnconnected(terminal, connected) }
  return { kind: 'client', client: connected.client, url }
}

export type Connected =
  | { readonly ok: true; readonly client: Client }
  | { readonly ok: false; readonly why: string }
  | { readonly ok: false; readonly failure: Failure }

export async function connect(
  invocation: Invocation,
  { url, token, tenant, caFile }: Settings & { readonly url: string },
): Promise<Connected> {
  const trustError = caFile === undefined ? undefined : await trustFrom(caFile)
  if (trustError !== undefined) return { ok: false, why: trustError }
  const { createClient } = await import('@holdfast/client')
  const seconds = durationSeconds(invocation.text('timeout') ?? '')
  const options = {
    baseUrl: url,
    signal: invocation.terminal.interrupted,
    ...defined({
      token,
      deadlineMs: seconds === undefined ? undefined : seconds * 1000,
      observe: invocation.flag('verbose')
        ? (exchange: Exchange) => printExchange(invocation.terminal, exchange)
        : undefined,
    }),
  }
  if (tenant === undefined) return { ok: true, client: createClient(options) }
  if (isTenantId(tenant)) return { ok: true, client: createClient({ ...options, tenant }) }
  // The header X-Tenant-ID accepts ids only, so a name is resolved first.
  const named = await createClient(options).tenants.read(tenant)
  if (!named.ok) return { ok: false, failure: named.failure }
  return { ok: true, client: createClient({ ...options, tenant: named.value.id }) }
}

/** Prints why there is no client. */
export function printUnconnected(terminal: Terminal, connected: Exclude<Connected, { ok: true }>): ExitCode {
  if ('failure' in connected) return printFailure(terminal, connected.failure)
  printError(terminal, connected.why)
  return EXIT.usage
}

async function trustFrom(caFile: string): Promise<string | undefined> {
  const { trustOnly } = await import('./trust.ts')
  return trustOnly(caFile)
}

function printExchange(terminal: Terminal, { method, path, status, requestId, tookMs }: Exchange): void {
  report(terminal, `${method} ${path} ${status ?? 'no response'} ${requestId ?? '-'} ${Math.round(tookMs)}ms`)
}
