// The broker's side of the internal API. Callers must prove that they belong to the cluster; they get only sealed secret
// values and results of image checks.

import { decodeOpen, encodeOpen } from '@holdfast/contract'
import { refuseEpoch } from '../gateway/peers/calling-epoch.ts'
import { createProofCheck } from '../gateway/peers/cluster-proof.ts'
import { type Broker, credentialAskShape, environmentAskShape, imageAskShape } from '../ports/broker.ts'
import type { Clock } from '../ports/clock.ts'
import type { Secret } from '../ports/secret.ts'
import type { Store } from '../store/store.ts'

export const BROKER_PATHS = {
  image: '/internal/broker/image',
  environment: '/internal/broker/environment',
  credential: '/internal/broker/credential',
} as const
export type BrokerQuestion = keyof typeof BROKER_PATHS

export interface BrokerRequest {
  readonly headers: { readonly authorization?: string | undefined }
  readonly path: string
  readonly body: string
}

export interface BrokerReply {
  readonly status: number
  readonly body: string
}

export interface BrokerServing {
  readonly store: Pick<Store, 'get' | 'fresh' | 'fault'>
  readonly clusterKey: Secret
  readonly clock: Clock
}

export function serveBroker(
  broker: Broker,
  { store, clusterKey, clock }: BrokerServing,
): (request: BrokerRequest) => Promise<BrokerReply> {
  const isProven = createProofCheck(clusterKey, clock)
  return async ({ headers, path, body }) => {
    if (!isProven(headers.authorization, { method: 'POST', path, body })) return { status: 401, body: '{}' }
    const refused = refuseEpoch(store, body)
    if (refused !== undefined) return { status: refused, body: '{}' }
    const ask = readQuestion(broker, path, body)
    if (ask === undefined) return { status: 400, body: '{}' }
    return { status: 200, body: encodeOpen(await ask()) }
  }
}

function readQuestion(broker: Broker, path: string, body: string): (() => Promise<object>) | undefined {
  try {
    const asked: unknown = JSON.parse(body)
    if (path === BROKER_PATHS.image) {
      const { tenant, image, credentialVersion } = decodeOpen(imageAskShape, asked)
      return () => broker.checkImage(tenant, image, credentialVersion)
    }
    if (path === BROKER_PATHS.environment) {
      const ask = decodeOpen(environmentAskShape, asked)
      return () => broker.sealEnvironment(ask)
    }
    if (path !== BROKER_PATHS.credential) return undefined
    const ask = decodeOpen(credentialAskShape, asked)
    return () => broker.sealCredential(ask)
  } catch {
    // A body that cannot be decoded is answered with 400.
    return undefined
  }
}
