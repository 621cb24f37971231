import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import type { ClientRuntime } from './connection.ts'
import { networkError } from './scripted-runtime.fixture.ts'

const at = (second: number, text: string): string =>
  `${JSON.stringify({ time: `2026-01-01T00:00:0${second}Z`, replica: 1, node: 'n1', stream: 'stdout', text })}\n`

interface Platform {
  readonly requests: string[]
  readonly fetch: ClientRuntime['fetch']
}

/** A followed stream sends its lines and stays open until it is aborted; other reads get `stored`. */
function platform(followed: string, stored: string): Platform {
  const requests: string[] = []
  return {
    requests,
    async fetch(url, { signal }) {
      requests.push(new URL(url).search)
      if (!url.includes('follow=true')) return new Response(new TextEncoder().encode(stored))
      return new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(followed))
            signal?.addEventListener('abort', () => controller.error(signal.reason))
          },
        }),
      )
    },
  }
}

const clientOf = (fetch: ClientRuntime['fetch']) =>
  createClient({ baseUrl: 'http://platform', runtime: { fetch, wait: async () => {} } })

test('a followed log ends with the job and includes the lines that the stream did not deliver', async () => {
  const { fetch, requests } = platform(`${at(1, 'a')}${at(2, 'b')}`, `${at(2, 'b')}${at(3, 'c')}`)
  const finished = new AbortController()
  const texts: string[] = []
  const options = { finished: finished.signal }
  for await (const item of clientOf(fetch).jobs.logs('job_1', { follow: true, tail: 5 }, options)) {
    texts.push(item.kind === 'line' && 'text' in item.line ? item.line.text : item.kind)
    if (texts.length === 2) finished.abort()
  }
  expect(texts).toEqual(['a', 'b', 'c'])
  expect(requests).toEqual(['?follow=true&tail=5', '?tail=10000&since=2026-01-01T00%3A00%3A02Z'])
})

test('a followed log that breaks for good continues at the end of the job', async () => {
  const { fetch } = platform('', at(1, 'a'))
  const finished = new AbortController()
  const refusing: ClientRuntime['fetch'] = (url, init) =>
    url.includes('follow=true') ? Promise.reject(networkError('ECONNREFUSED')) : fetch(url, init)
  const kinds: string[] = []
  const options = { finished: finished.signal }
  for await (const item of clientOf(refusing).jobs.logs('job_1', { follow: true }, options)) {
    kinds.push(item.kind)
    finished.abort()
  }
  expect(kinds).toEqual(['failed', 'line'])
})

test('the log of a job that has ended is read once', async () => {
  const { fetch, requests } = platform('', at(1, 'a'))
  const items = clientOf(fetch).jobs.logs('job_1', { follow: true }, { finished: AbortSignal.abort() })
  for await (const item of items) expect(item.kind).toBe('line')
  expect(requests).toEqual([''])
})

test('a followed log delivers the rest of the stream after the end of the job', async () => {
  const finished = new AbortController()
  const requests: string[] = []
  const fetch: ClientRuntime['fetch'] = async (url, { signal }) => {
    requests.push(new URL(url).search)
    if (!url.includes('follow=true')) return new Response(new TextEncoder().encode(at(2, 'second attempt')))
    // The server sends the lines of the first attempt only after the client has learned of the end.
    async function* lines() {
      await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
      yield new TextEncoder().encode(at(1, 'first attempt'))
    }
    finished.abort()
    return new Response(ReadableStream.from(lines()))
  }
  const never: ClientRuntime['wait'] = () => new Promise(() => {})
  const client = createClient({ baseUrl: 'http://platform', runtime: { fetch, wait: never } })
  const texts: string[] = []
  for await (const item of client.jobs.logs('job_1', { follow: true }, { finished: finished.signal }))
    texts.push(item.kind === 'line' && 'text' in item.line ? item.line.text : item.kind)
  expect(texts).toEqual(['first attempt', 'second attempt'])
  expect(requests).toHaveLength(2)
})
