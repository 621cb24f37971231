// An answer that goes on: its head under the deadline of a call, then chunk after chunk, each under its own idleTimer, so
// that a connection which died without a word is noticed.

import type { Connection } from './connection.ts'
import { contentType, foreignResponse, NO_TYPE, readRejection } from './read-response.ts'
import type { ApiCall } from './request.ts'
import { failed, type Result } from './result.ts'
import { failureOf, send } from './send.ts'

export type StreamEnd =
  | { readonly kind: 'ended' | 'interrupted' }
  | { readonly kind: 'cut'; readonly reason: string }

/** Gives texts as they come, and at last why no more come. */
export type TextStream = AsyncGenerator<string, StreamEnd, void>

export interface StreamForm {
  /** The content type it comes in. */
  readonly type: string
  /** How long nothing may come; absent where networkError is usual. */
  readonly idleMs?: number
}

export async function openStream(
  connection: Connection,
  call: ApiCall,
  { type, idleMs }: StreamForm,
): Promise<Result<TextStream>> {
  const idleTimer = createIdleTimer()
  idleTimer.wait(connection.deadlineMs)
  const attempt = await send(connection, call, idleTimer.signal)
  const { baseUrl, deadlineMs } = connection
  if (attempt.kind === 'interrupted') return failed({ kind: 'interrupted' })
  if (attempt.kind !== 'answer') {
    const reason = attempt.kind === 'timeout' ? `no answer within ${deadlineMs / 1000} s` : attempt.reason
    return failed({ kind: 'unreachable', reason: `${baseUrl}: ${reason}` })
  }
  const { response } = attempt
  // A page of somebody else, such as a portal's, is no stream that ended: asking again would bring it again.
  const isOurs = [type, NO_TYPE].includes(contentType(response))
  if (response.ok && isOurs) return { ok: true, value: readTexts(call, response, idleTimer, idleMs) }
  if (response.ok) {
    idleTimer.end()
    await response.body?.cancel().catch(() => {})
    return failed(foreignResponse(response))
  }
  const text = await response.text().catch(() => '')
  idleTimer.end()
  return failed(readRejection(response, text))
}

async function* readTexts(
  call: ApiCall,
  response: Response,
  idleTimer: IdleTimer,
  idleMs: number | undefined,
): TextStream {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  try {
    while (reader !== undefined) {
      if (idleMs === undefined) idleTimer.end()
      else idleTimer.wait(idleMs)
      const { done, value } = await reader.read()
      if (done) break
      yield decoder.decode(value, { stream: true })
    }
    return { kind: 'ended' }
  } catch (error) {
    const networkError = failureOf(call, idleTimer.signal, error)
    if (networkError.kind === 'interrupted') return { kind: 'interrupted' }
    return {
      kind: 'cut',
      reason: networkError.kind === 'timeout' ? 'nothing came any more' : networkError.reason,
    }
  } finally {
    idleTimer.end()
    // Whoever stops reading half-way lets the server know.
    await reader?.cancel().catch(() => {})
  }
}

interface IdleTimer {
  readonly signal: AbortSignal
  wait(ms: number): void
  end(): void
}

function createIdleTimer(): IdleTimer {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = (): void => clearTimeout(timer)
  return {
    signal: controller.signal,
    wait(ms) {
      end()
      timer = setTimeout(() => controller.abort(), ms)
    },
    end,
  }
}
