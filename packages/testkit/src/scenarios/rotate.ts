// Runs a rotation as an operator does, and checks the state of the rotation at every step.

import type { CredentialRotation } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { expect } from 'vitest'
import type { ApiAnswer, ApiClient } from '../platform/api-client.ts'

/** API path of the secrets of `shop`, the deployment through which the operator rotates the shared credential. */
const SECRETS_PATH = '/api/v1/deployments/shop/secrets'
const GENERATE = { keys: ['password'], length: 40, charset: 'alphanumeric' }

export function rotate(
  api: ApiClient,
  phase: string,
  headers: { [name: string]: string } = {},
): Promise<ApiAnswer> {
  const material = phase === 'stage' ? { generate: GENERATE } : {}
  return api.post(`${SECRETS_PATH}/rotate`, { phase, secret: 'APP', ...material }, headers)
}

export async function rotationOf(api: ApiClient): Promise<CredentialRotation> {
  const { status, body, text } = await api.get(`${SECRETS_PATH}/rotation`)
  expect(status, text).toBe(200)
  return onlyCredential(body)
}

export const onlyCredential = (body: ApiAnswer['body']): CredentialRotation => Object(body['credentials'])[0]

/** How long the consumers may take to change versions, one after another. */
const PATIENCE_MS = 600_000

/**
 * Polls a rotation until the condition is true, and checks in every state that at most one consumer is changing versions.
 */
export async function untilRotation(
  api: ApiClient,
  what: string,
  holds: (rotation: CredentialRotation) => boolean,
): Promise<CredentialRotation> {
  let last: CredentialRotation | undefined
  const found = await waitUntil(
    async () => {
      last = await rotationOf(api)
      return holds(last) && last
    },
    {
      what,
      timeoutMs: PATIENCE_MS,
      giveUp: () => (last === undefined ? undefined : tooManyMoving(last)),
    },
  ).catch((error: Error) => {
    throw new Error(`${error.message} Last state: ${JSON.stringify(last)}`)
  })
  return found
}

/** Returns an error message if more than one consumer is changing to the new version. */
function tooManyMoving({ phase, next, versions, consumers }: CredentialRotation): string | undefined {
  if (phase !== 'cutover' || !next.includes('retire')) return undefined
  const moving = consumers.filter(({ pinned, proved }) => pinned === versions.new && !proved)
  return moving.length > 1
    ? `moved at once: ${moving.map(({ deployment }) => deployment).join(', ')}`
    : undefined
}

export const allProved = ({ blockedBy, consumers }: CredentialRotation): boolean =>
  blockedBy.length === 0 && consumers.every(({ proved }) => proved)
