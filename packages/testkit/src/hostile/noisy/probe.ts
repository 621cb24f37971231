// Measures how long the requests of a quiet tenant take: reads at an interval, whether or not earlier ones were answered, and
// a write each second.

import { sleep } from '@holdfast/server/lib/sleep'

export interface Probed {
  /** All statuses of responses, and 0 for none. */
  readonly statuses: readonly number[]
  readonly reads: Times
  readonly writes: Times
}

export interface Times {
  readonly p50: number
  readonly p99: number
  readonly count: number
}

export interface ProbeOptions {
  readonly baseUrl: string
  readonly token: string
  readonly forMs: number
  /** The body of a deployment that exists. */
  readonly body: { readonly name: string }
}

/** 750 reads a minute: within the rate of one token, with room for the writes. */
const READ_EVERY_MS = 80
const WRITE_EVERY_MS = 1_000
const DEADLINE_MS = 20_000

interface Answer {
  readonly status: number
  readonly ms: number
}

export async function probe({ baseUrl, token, forMs, body }: ProbeOptions): Promise<Probed> {
  const url = `${baseUrl}/api/v1/deployments/${body.name}`
  const send = (path: string, init: RequestInit): Promise<Answer> => timed(`${url}${path}`, token, init)
  const until = performance.now() + forMs
  const [reads, writes] = await Promise.all([
    repeatUntil(until, READ_EVERY_MS, () => send('/status', {})),
    repeatUntil(until, WRITE_EVERY_MS, (at) =>
      send('', { method: 'PUT', body: JSON.stringify({ ...body, labels: { at: `${at}` } }) }),
    ),
  ])
  const statuses = [...new Set([...reads, ...writes].map(({ status }) => status))]
  return { statuses, reads: timesOf(reads), writes: timesOf(writes) }
}

async function repeatUntil(
  until: number,
  everyMs: number,
  send: (at: number) => Promise<Answer>,
): Promise<Answer[]> {
  const sent: Promise<Answer>[] = []
  const begun = performance.now()
  while (performance.now() < until) {
    sent.push(send(sent.length))
    await sleep(Math.max(0, begun + sent.length * everyMs - performance.now()))
  }
  return Promise.all(sent)
}

async function timed(url: string, token: string, init: RequestInit): Promise<Answer> {
  const begun = performance.now()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const status = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(DEADLINE_MS) }).then(
    async (response) => {
      await response.arrayBuffer()
      return response.status
    },
    () => 0,
  )
  return { status, ms: performance.now() - begun }
}

function timesOf(answers: readonly Answer[]): Times {
  const times = answers.map(({ ms }) => ms).toSorted((left, right) => left - right)
  const at = (share: number): number =>
    Math.round((times[Math.floor((times.length - 1) * share)] ?? 0) * 10) / 10
  return { p50: at(0.5), p99: at(0.99), count: times.length }
}
