// Opens a streaming response. The headers must arrive within the call deadline, and every chunk within the idle timeout, so
// that a dead connection is detected.

import type { Connection } from './connection.ts'
import { contentType, foreignResponse, NO_TYPE, readRejection } from './read-response.ts'
import type { ApiCall } from './request.ts'
import { failed, type Result } from './result.ts'
import { failureOf, send } from './send.ts'

export type StreamEnd =
  | { readonly kind: 'ended' | 'interrupted' }
  | { readonly kind: 'cut'; readonly reason: string }

/** Yields the bytes of a stream as they arrive, and returns the reason why the stream ended. */
export type ByteStream = AsyncGenerator<Uint8Array, StreamEnd, void>

/** Yields the text of a stream as it arrives, and returns the reason why the stream ended. */
export type TextStream = AsyncGenerator<string, StreamEnd, void>

export interface StreamForm {
  /** The content type that the response must have. */
  readonly type: string
  /** Maximum time between two chunks; absent if the stream may be silent for any time. */
  readonly idleMs?: number
}

export async function openStream(
  connection: Connection,
  call: ApiCall,
  form: StreamForm,
): Promise<Result<TextStream>> {
  const opened = await openBytes(connection, call, form)
  return opened.ok ? { ok: true, value: readTexts(opened.value) } : opened
}

export async function openBytes(
  connection: Connection,
  call: ApiCall,
  { type, idleMs }: StreamForm,
): Promise<Result<ByteStream>> {
  const idleTimer = createIdleTimer()
  idleTimer.wait(connection.deadlineMs)
  const attempt = await send(connection, call, idleTimer.signal)
  const { baseUrl, deadlineMs } = connection
  // A timer that is left would keep the process of a caller alive that has stopped waiting.
  if (attempt.kind !== 'answer') idleTimer.end()
  if (attempt.kind === 'interrupted') return failed({ kind: 'interrupted' })
  if (attempt.kind !== 'answer') {
    const reason = attempt.kind === 'timeout' ? `no response within ${deadlineMs / 1000} s` : attempt.reason
    return failed({ kind: 'unreachable', reason: `${baseUrl}: ${reason}` })
  }
  const { response } = attempt
  // A page of another server, such as a login portal, is a final failure: a retry would return the same page.
  const isExpected = [type, NO_TYPE].includes(contentType(response))
  if (response.ok && isExpected) return { ok: true, value: readBytes(call, response, idleTimer, idleMs) }
  if (response.ok) {
    idleTimer.end()
    // The response is discarded, so an error while closing it has no effect.
    await response.body?.cancel().catch(() => {})
    return failed(foreignResponse(response))
  }
  const text = await response.text().catch(() => '')
  idleTimer.end()
  return failed(readRejection(response, text))
}

async function* readTexts(bytes: ByteStream): TextStream {
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await bytes.next()
      if (done === true) return value
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    await bytes.return({ kind: 'interrupted' })
  }
}

async function* readBytes(
  call: ApiCall,
  response: Response,
  idleTimer: IdleTimer,
  idleMs: number | undefined,
): ByteStream {
  const reader = response.body?.getReader()
  try {
    while (reader !== undefined) {
      if (idleMs === undefined) idleTimer.end()
      else idleTimer.wait(idleMs)
      const { done, value } = await reader.read()
      if (done) break
      yield value
    }
    return { kind: 'ended' }
  } catch (error) {
    const failure = failureOf(call, idleTimer.signal, error)
    if (failure.kind === 'interrupted') return { kind: 'interrupted' }
    return {
      kind: 'cut',
      reason: failure.kind === 'timeout' ? 'the stream timed out' : failure.reason,
    }
  } finally {
    idleTimer.end()
    // If the caller stops early, cancelling the reader closes the connection, so that the server stops sending.
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
