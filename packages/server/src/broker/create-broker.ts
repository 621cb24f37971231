// The broker, the only role that reads secret values. It returns whether an image exists, and secret values that are
// encrypted (sealed) to the key of one node. See docs/design/secrets.md#broker.

import { performance } from 'node:perf_hooks'
import { encodeOpen } from '@holdfast/contract'
import { parseRegistryHost } from '@holdfast/core'
import { withDeadline, withTimeoutSignal } from '../lib/with-deadline.ts'
import type { Broker, CredentialAsk, EnvironmentAsk, SealedAnswer } from '../ports/broker.ts'
import { registryCredentials } from '../store/records.ts'
import { inTenant } from '../store/transaction.ts'
import { type Attempts, createAttempts } from './attempts.ts'
import { createImageChecks, type ImageCheckDeps } from './check-images.ts'
import { findPuller } from './find-puller.ts'
import { readCredential } from './read-credential.ts'
import { createDocumentReads } from './read-documents.ts'
import { seal } from './seal.ts'
import { type DispatchDeps, lookUp, resolveAndSeal } from './seal-environment.ts'

export interface BrokerDeps extends ImageCheckDeps, Pick<DispatchDeps, 'store' | 'ids'> {
  readonly log: BrokerLog
  /** Deadline of an answer, measured from the arrival of the request. */
  readonly deadlineMs?: number
  /** Called with the outcome of each request for the environment of a container. */
  readonly onAnswer?: (outcome: EnvironmentOutcome) => void
}

export interface BrokerLog {
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}

export type EnvironmentOutcome = 'sealed' | NonNullable<SealedAnswer['error']>

const DEADLINE_MS = 5_000
const VALID_ATTEMPT = /^[\w.-]{1,64}$/

interface BrokerContext extends DispatchDeps {
  readonly deps: BrokerDeps
  readonly attempts: Attempts
  readonly deadlineMs: number
}

export function createBroker(deps: BrokerDeps): Broker {
  const { store, ids, secretsStore, nowMs = () => performance.now(), deadlineMs = DEADLINE_MS } = deps
  const readDocument = createDocumentReads({ secretsStore, nowMs })
  const attempts = createAttempts()
  const context: BrokerContext = { store, ids, readDocument, deps, attempts, deadlineMs }
  return {
    ...createImageChecks(deps),
    async sealEnvironment(ask) {
      const answer = await orUnavailable(context, environmentFor(context, ask))
      deps.onAnswer?.(answer.error ?? 'sealed')
      return answer
    },
    sealCredential: (ask) => orUnavailable(context, credentialFor(context, ask)),
  }
}

/**
 * A failure outside the secrets store is answered as unavailable; the node may try again. Only the name of the error is
 * logged, because the text of the error may quote a secret.
 */
function orUnavailable(
  { deps, deadlineMs }: BrokerContext,
  work: Promise<SealedAnswer>,
): Promise<SealedAnswer> {
  const unavailable: SealedAnswer = { error: 'broker_unavailable' }
  const answer = work.catch((error: unknown) => {
    deps.log.warn(
      { error: error instanceof Error ? error.name : 'unknown' },
      'broker request of a node failed',
    )
    return unavailable
  })
  // Reads of the secrets store time out 250 ms before this deadline, because their failures name the cause.
  return withDeadline(deadlineMs + 250, answer, () => unavailable)
}

async function environmentFor(context: BrokerContext, ask: EnvironmentAsk): Promise<SealedAnswer> {
  const { attempts, deps } = context
  const { assignmentId, attempt } = ask
  const found = VALID_ATTEMPT.test(attempt) ? await current(context, () => lookUp(context, ask)) : undefined
  if (found === undefined) return { error: 'not_assigned' }
  if (!attempts.claim(assignmentId, attempt)) {
    deps.log.error(ask, 'ALARM: second environment request for one container creation attempt')
    return { error: 'already_answered' }
  }
  let answer: SealedAnswer = {}
  try {
    answer = await withTimeoutSignal(context.deadlineMs, (signal) =>
      resolveAndSeal(context, ask, found, signal),
    )
  } finally {
    if (answer.sealed === undefined) attempts.release(assignmentId, attempt)
  }
  return answer
}

/** If a lookup finds nothing, refreshes the cache and looks up again, because the record may be newer than the cache. */
async function current<T>({ store }: DispatchDeps, find: () => T | undefined): Promise<T | undefined> {
  const known = find()
  if (known !== undefined) return known
  await store.fresh()
  return find()
}

/** Returns the sealed credential for the registry of an image that the node may pull, and for no other registry. */
async function credentialFor(context: BrokerContext, ask: CredentialAsk): Promise<SealedAnswer> {
  const { store, deps } = context
  const { tenant, host } = ask
  await store.fresh()
  if (findPuller(store, ask) === undefined) return { error: 'not_assigned' }
  // Image references omit the default port, but credentials are stored under host and port, so the port is added.
  const registryHost = parseRegistryHost(host) ?? host
  const kept = store.get(inTenant(tenant, registryCredentials, registryHost))?.record
  if (kept === undefined) return {}
  const credential = await readCredential(deps.secretsStore, tenant, registryHost, kept.version)
  if (credential === undefined) return { error: 'credential_unavailable' }
  // The node may have been removed during the read, or enrolled again with another key.
  await store.fresh()
  const node = findPuller(store, ask)
  if (node === undefined) return { error: 'not_assigned' }
  const { username, password } = credential
  return {
    sealed: seal(node.encryptionKey, encodeOpen({ host, username, password: password.reveal() })),
  }
}
