// Constant traffic on the API: a list of requests, sent again and again at a steady pace. Every response that is no
// success is recorded. A refusal that names a version is counted apart: it is how an older part declines newer work.

import { setTimeout as pause } from 'node:timers/promises'
import type { ApiAnswer, ApiClient } from '../platform/api-client.ts'

export interface Request {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

export interface TrafficResult {
  readonly sent: number
  /** Refusals whose code is agent_version. */
  readonly versionRefusals: number
  readonly failures: readonly string[]
}

export interface ApiTraffic {
  result(): TrafficResult
  stop(): Promise<TrafficResult>
}

const VERSION_CODES = ['agent_version']
const EVERY_MS = 50

/** `requestsOf` returns the requests of a round; rounds are counted from 1. */
export function startApiTraffic(
  api: ApiClient,
  requestsOf: (round: number) => readonly Request[],
): ApiTraffic {
  const failures: string[] = []
  let [sent, versionRefusals, round] = [0, 0, 0]
  let stopped = false

  async function send({ method, path, body }: Request): Promise<void> {
    sent += 1
    const outcome = await api.send(method, path, body).catch((error: Error) => error)
    if (outcome instanceof Error) failures.push(`${method} ${path}: ${outcome.message}`)
    else if (namesVersion(outcome)) versionRefusals += 1
    else if (outcome.status >= 300) failures.push(`${method} ${path}: ${outcome.status} ${outcome.text}`)
  }
  async function run(): Promise<void> {
    while (!stopped) {
      round += 1
      for (const request of requestsOf(round)) {
        if (stopped) return
        await Promise.all([send(request), pause(EVERY_MS)])
      }
    }
  }
  const running = run()
  const result = () => ({ sent, versionRefusals, failures: [...failures] })
  return {
    result,
    async stop() {
      stopped = true
      await running
      return result()
    },
  }
}

const namesVersion = ({ codes }: ApiAnswer): boolean => codes.some((code) => VERSION_CODES.includes(code))
