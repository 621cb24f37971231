// Tests the question of one server replica to the others whether they have a fresh view of the store.

import { afterEach, expect, test, vi } from 'vitest'
import { secret } from '../../ports/secret.ts'
import { realClock as clock } from '../../system-clock.ts'
import type { PostAnswer } from './post-json.ts'
import { createViewCalls } from './view-calls.ts'

afterEach(() => vi.useRealTimers())

interface Place {
  readonly fresh?: () => Promise<void>
  readonly acceptsAgents?: boolean
  readonly key?: string
}

function replicaWith({ fresh = async () => {}, acceptsAgents = true, key = 'one cluster' }: Place = {}) {
  const closing = new AbortController()
  const context = { store: { fresh, get: () => undefined }, clock, clusterKey: secret(key), acceptsAgents }
  const views = (addresses: readonly string[], post: (url: string) => Promise<PostAnswer>) =>
    createViewCalls(
      { ...context, post: ({ url }: { url: URL }) => post(url.origin) } as unknown as Parameters<
        typeof createViewCalls
      >[0],
      { known: () => [...addresses] },
      closing.signal,
    )
  return { closing, views }
}

/** The answer of a replica to a question that another replica with the cluster key `key` really asks. */
async function ask(place: Place, key = 'one cluster', stops = false): Promise<PostAnswer> {
  const answering = replicaWith(place)
  if (stops) answering.closing.abort()
  const { handler } = answering.views([], () => Promise.reject(new Error('asks no server')))
  let answer: PostAnswer = { status: 0, body: '' }
  const asking = createViewCalls(
    {
      store: { fresh: async () => {}, get: () => undefined },
      clock,
      clusterKey: secret(key),
      async post({ url, body, authorization }: { url: URL; body: string; authorization: string }) {
        answer = await handler({ headers: { authorization }, path: url.pathname, body })
        return answer
      },
    } as unknown as Parameters<typeof createViewCalls>[0],
    { known: () => ['http://b'] },
    new AbortController().signal,
  )
  await asking.askOthers()
  return answer
}

test('answers that its view is fresh only if it reads the store now and agents may connect to it', async () => {
  const away = async () => Promise.reject(new Error('store away'))
  expect(await ask({})).toEqual({ status: 200, body: '{"fresh":true}' })
  expect(await ask({ fresh: away })).toEqual({ status: 200, body: '{"fresh":false}' })
  expect(await ask({ acceptsAgents: false })).toEqual({ status: 200, body: '{"fresh":false}' })
  expect(await ask({}, 'one cluster', true)).toEqual({ status: 200, body: '{"fresh":false}' })
  expect(await ask({}, 'another cluster')).toEqual({ status: 401, body: '{}' })
})

test('answers within its deadline although its own store does not answer', async () => {
  vi.useFakeTimers()
  const answer = ask({ fresh: () => new Promise(() => {}) })
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await answer).toEqual({ status: 200, body: '{"fresh":false}' })
})

test('one fresh view is enough, and a replica that cannot be asked proves nothing', async () => {
  const answers: { readonly [url: string]: () => Promise<PostAnswer> } = {
    'http://dead': () => Promise.reject(new Error('no answer in time')),
    'http://old': async () => ({ status: 404, body: '{}' }),
    'http://stale': async () => ({ status: 200, body: '{"fresh":false}' }),
    'http://odd': async () => ({ status: 200, body: 'hello' }),
    'http://good': async () => ({ status: 200, body: '{"fresh":true}' }),
  }
  const others = (addresses: readonly string[]) =>
    replicaWith()
      .views(addresses, (url) => answers[url]?.() ?? Promise.reject(new Error(url)))
      .askOthers()
  expect(await others([])).toEqual({ fresh: false, others: {} })
  expect(await others(['http://dead', 'http://old', 'http://stale', 'http://odd'])).toMatchObject({
    fresh: false,
    others: {
      'http://dead': 'did not answer: Error: no answer in time',
      'http://old': 'answered 404',
      'http://stale': 'has no fresh view',
    },
  })
  expect((await others(Object.keys(answers))).fresh).toBe(true)
})
