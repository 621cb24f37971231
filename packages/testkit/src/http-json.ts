// Calls an engine's administration interface with JSON over HTTP, with a deadline for every call.

export interface HttpCall {
  readonly method?: string
  readonly headers?: { readonly [name: string]: string }
  readonly body?: unknown
  readonly timeoutMs?: number
}

export class HttpStatusError extends Error {
  readonly status: number
  constructor(url: string, status: number, text: string) {
    super(`${url} answered ${status}: ${text.slice(0, 500)}`)
    this.status = status
  }
}

/** Makes a call and returns the decoded body of a 2xx response, undefined if it is empty; any other status throws. */
export async function callJson(url: string, call: HttpCall = {}): Promise<unknown> {
  const answer = await fetch(url, {
    method: call.method ?? (call.body === undefined ? 'GET' : 'POST'),
    headers: { 'content-type': 'application/json', ...call.headers },
    signal: AbortSignal.timeout(call.timeoutMs ?? 10_000),
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new HttpStatusError(url, answer.status, text)
  return text === '' ? undefined : JSON.parse(text)
}

/** The named field of a JSON object; undefined if the field is missing. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value).find(([key]) => key === name)?.[1]
}

export function textMember(value: unknown, name: string): string {
  const text = member(value, name)
  if (typeof text !== 'string') throw new TypeError(`No text "${name}" in ${JSON.stringify(value)}`)
  return text
}

export function listMember(value: unknown, name: string): readonly unknown[] {
  const items = member(value, name)
  return Array.isArray(items) ? items : []
}
