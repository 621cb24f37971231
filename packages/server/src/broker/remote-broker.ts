// The broker for a process without the role broker: calls another server replica over the internal API and relays sealed
// secret values that this process cannot read.

import { performance } from 'node:perf_hooks'
import { decodeOpen, defined, encodeOpen, type Shape } from '@holdfast/contract'
import { noteRefusal, withEpoch } from '../gateway/peers/calling-epoch.ts'
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
  readonly store: Pick<Store, 'listWithIds' | 'get' | 'fresh' | 'fault'>
  readonly clock: Clock
  readonly clusterKey: Secret
  /** PEM of the authority that signs the certificates of the server replicas; absent: the system's authorities. */
  readonly clusterCa?: string
  readonly log: Pick<BrokerLog, 'warn'>
  /** Deadline of the call to one broker. */
  readonly deadlineMs?: number
  readonly nowMs?: () => number
}

/** Deadline of a call to a broker. It exceeds the broker's own deadline of 5 s, so that the broker's error arrives. */
const DEADLINE_MS = 6_000
const MAX_BROKERS = 3
const UNAVAILABLE: SealedAnswer = { error: 'broker_unavailable' }

export function createRemoteBroker(deps: RemoteBrokerDeps): Broker {
  const ask = createAsk(deps)
  return {
    async checkImage(tenant, image, credentialVersion) {
      const body = { tenant, image, ...defined({ credentialVersion }) }
      const reply = await ask('image', image, body, imageReplyShape)
      const answer = reply === undefined ? undefined : imageAnswerOf(reply)
      if (answer !== undefined) return answer
      // If the check needs no credential, an unavailable broker means only that the registry could not be asked.
      return credentialVersion === undefined
        ? { kind: 'unreachable', cause: 'broker_unavailable' }
        : { kind: 'credentials_unavailable' }
    },
    sealEnvironment: async (request) =>
      (await ask('environment', request.assignmentId, request, sealedAnswerShape)) ?? UNAVAILABLE,
    sealCredential: async (request) =>
      (await ask('credential', request.assignmentId ?? request.volume ?? '', request, sealedAnswerShape)) ??
      UNAVAILABLE,
  }
}

type Ask = <T>(
  question: BrokerQuestion,
  subject: string,
  body: object,
  shape: Shape<T>,
) => Promise<T | undefined>

/** Builds the function that asks one broker after another; it returns undefined if no broker responded. */
function createAsk(deps: RemoteBrokerDeps): Ask {
  const { nowMs = () => performance.now(), log } = deps
  const brokers = createBrokerDirectory(deps.store, nowMs)
  return async (question, subject, body, shape) => {
    for (const { id, url } of brokers.inOrder(subject).slice(0, MAX_BROKERS)) {
      try {
        const answer = await post(deps, new URL(BROKER_PATHS[question], url), body)
        if (answer.status === 200) return decodeOpen(shape, JSON.parse(answer.body))
        noteRefusal(deps.store, answer.status)
        log.warn({ broker: id, question, status: answer.status }, 'broker rejected the request')
      } catch (error) {
        log.warn({ broker: id, question, error: nameOf(error) }, 'broker did not respond')
      }
      brokers.deprioritize(id)
    }
    return undefined
  }
}

function post(deps: RemoteBrokerDeps, url: URL, content: object): Promise<PostAnswer> {
  const { store, clusterKey, clusterCa, clock, deadlineMs = DEADLINE_MS } = deps
  const body = encodeOpen(withEpoch(store, content))
  const authorization = proveRequest(clusterKey, clock, { method: 'POST', path: url.pathname, body })
  return postJson({ url, body, authorization, deadlineMs, ...defined({ ca: clusterCa }) })
}

/** Returns only the name of an error, because the text of the error may quote the response. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
