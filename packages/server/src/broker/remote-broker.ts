// The broker as a process without that role has it: another server replica, asked over the internal calls. It relays what it
// cannot read. DESIGN 3, SAFETY B4.

import { performance } from 'node:perf_hooks'
import { decode, type Shape } from '@holdfast/contract'
import { proveRequest } from '../gateway/peers/cluster-proof.ts'
import { type PostAnswer, postJson } from '../gateway/peers/post-json.ts'
import { type Broker, type SealedAnswer, sealedAnswerShape } from '../ports/broker.ts'
import type { Clock } from '../ports/clock.ts'
import type { Secret } from '../ports/secret.ts'
import type { Store } from '../store/store.ts'
import type { BrokerLog } from './create-broker.ts'
import { createBrokerDirectory } from './find-brokers.ts'
import { imageAnswerOf, imageReplyShape } from './image-reply.ts'
import { BROKER_PATHS, type BrokerQuestion } from './serve-broker.ts'

export interface RemoteBrokerDeps {
  readonly store: Pick<Store, 'listWithIds'>
  readonly clock: Clock
  readonly clusterKey: Secret
  /** PEM of the authority that signs the replicas' certificates; absent: the system's. */
  readonly clusterCa?: string
  readonly log: Pick<BrokerLog, 'warn'>
  /** For one broker; the next one has as long. */
  readonly deadlineMs?: number
  readonly nowMs?: () => number
}

/** A broker gives up after five seconds and says so. */
const DEADLINE_MS = 6_000
const MAX_ASKED = 3
const UNAVAILABLE: SealedAnswer = { error: 'broker_unavailable' }

export function createRemoteBroker(deps: RemoteBrokerDeps): Broker {
  const ask = createAsk(deps)
  return {
    async checkImage(tenant, image, credentialVersion) {
      const version = credentialVersion === undefined ? {} : { credentialVersion }
      const reply = await ask('image', image, { tenant, image, ...version }, imageReplyShape)
      const answer = reply === undefined ? undefined : imageAnswerOf(reply)
      if (answer !== undefined) return answer
      // Without a credential the image can still be had, once somebody can ask for it.
      return credentialVersion === undefined
        ? { kind: 'unreachable', cause: 'broker_unavailable' }
        : { kind: 'credentials_unavailable' }
    },
    sealEnvironment: async (asked) =>
      (await ask('environment', asked.assignmentId, asked, sealedAnswerShape)) ?? UNAVAILABLE,
    sealCredential: async (asked) =>
      (await ask('credential', asked.assignmentId, asked, sealedAnswerShape)) ?? UNAVAILABLE,
  }
}

type Ask = <T>(
  question: BrokerQuestion,
  subject: string,
  body: object,
  shape: Shape<T>,
) => Promise<T | undefined>

/** Undefined where none of them answered. */
function createAsk(deps: RemoteBrokerDeps): Ask {
  const { nowMs = () => performance.now(), log } = deps
  const brokers = createBrokerDirectory(deps.store, nowMs)
  return async (question, subject, body, shape) => {
    for (const { id, url } of brokers.inOrder(subject).slice(0, MAX_ASKED)) {
      try {
        const answer = await post(deps, new URL(BROKER_PATHS[question], url), body)
        if (answer.status === 200) return decode(shape, JSON.parse(answer.body))
        log.warn({ broker: id, question, status: answer.status }, 'a broker refused to answer')
      } catch (error) {
        log.warn({ broker: id, question, error: nameOf(error) }, 'a broker did not answer')
      }
      brokers.shun(id)
    }
    return undefined
  }
}

function post(deps: RemoteBrokerDeps, url: URL, content: object): Promise<PostAnswer> {
  const { clusterKey, clusterCa, clock, deadlineMs = DEADLINE_MS } = deps
  const body = JSON.stringify(content)
  const authorization = proveRequest(clusterKey, clock, { method: 'POST', path: url.pathname, body })
  const ca = clusterCa === undefined ? {} : { ca: clusterCa }
  return postJson({ url, body, authorization, deadlineMs, ...ca })
}

/** Not its text: that may quote what was answered. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
