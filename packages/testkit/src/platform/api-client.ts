// A small HTTP client for tests that returns responses as data. Bodies may be any text, so that tests can send invalid
// bodies.

import { findValues } from '../received/find-values.ts'
import { addReceived, RECEIVED_FILE } from '../received/received-values.ts'

export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: { [name: string]: unknown }
  /** Error codes of all rejections in the response, in order. */
  readonly codes: string[]
  readonly text: string
}

export interface ApiClient {
  send(method: string, path: string, body?: unknown, headers?: { [name: string]: string }): Promise<ApiAnswer>
  get(path: string, headers?: { [name: string]: string }): Promise<ApiAnswer>
  post(path: string, body: unknown, headers?: { [name: string]: string }): Promise<ApiAnswer>
  put(path: string, body: unknown, headers?: { [name: string]: string }): Promise<ApiAnswer>
  delete(path: string, headers?: { [name: string]: string }): Promise<ApiAnswer>
}

export function createApiClient(baseUrl: string, token: string | undefined): ApiClient {
  const send: ApiClient['send'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return answerOf(response.status, response.headers, await response.text())
  }
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    put: (path, body, headers) => send('PUT', path, body, headers),
    delete: (path, headers) => send('DELETE', path, undefined, headers),
  }
}

function answerOf(status: number, headers: Headers, text: string): ApiAnswer {
  const json = headers.get('content-type')?.startsWith('application/json') === true
  const body: { [name: string]: unknown } = json ? JSON.parse(text) : {}
  if (RECEIVED_FILE !== undefined) for (const found of findValues(body)) addReceived(found)
  const listed = Array.isArray(body['rejections']) ? body['rejections'] : []
  return { status, headers, body, text, codes: listed.map((rejection: { code: string }) => rejection.code) }
}
