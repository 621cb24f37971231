// The broker: the one role that reads secret material. What leaves it is an answer about an image, or sealed to one node's
// key. DECISIONS 8, SAFETY 2 rows 25 and 26.

import { performance } from 'node:perf_hooks'
import { parseRegistryHost } from '@holdfast/core'
import type { Broker, CredentialAsk, EnvironmentAsk, SealedAnswer } from '../ports/broker.ts'
import { registryCredentials } from '../store/records.ts'
import { inTenant } from '../store/transaction.ts'
import { type Attempts, createAttempts } from './attempts.ts'
import { createImageChecks, type ImageCheckDeps } from './check-images.ts'
import { findLive } from './live-assignment.ts'
import { readCredential } from './read-credential.ts'
import { createDocumentReads } from './read-documents.ts'
import { seal } from './seal.ts'
import { type DispatchDeps, lookUp, resolveAndSeal } from './seal-environment.ts'

export interface BrokerDeps extends ImageCheckDeps, Pick<DispatchDeps, 'store' | 'ids'> {
  readonly log: BrokerLog
  /** From the ask to the answer. */
  readonly deadlineMs?: number
  /** Told of each answer to an ask for an environment. */
  readonly onAnswer?: (outcome: EnvironmentOutcome) => void
}

export interface BrokerLog {
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}

export type EnvironmentOutcome = 'sealed' | NonNullable<SealedAnswer['error']>

const DEADLINE_MS = 5_000
const SOUND_ATTEMPT = /^[\w.-]{1,64}$/

interface Running extends DispatchDeps {
  readonly deps: BrokerDeps
  readonly attempts: Attempts
  readonly deadlineMs: number
}

export function createBroker(deps: BrokerDeps): Broker {
  const { store, ids, secretsStore, nowMs = () => performance.now(), deadlineMs = DEADLINE_MS } = deps
  const readDocument = createDocumentReads({ secretsStore, nowMs })
  const attempts = createAttempts()
  const running: Running = { store, ids, readDocument, deps, attempts, deadlineMs }
  return {
    ...createImageChecks(deps),
    async sealEnvironment(ask) {
      const answer = await withinDeadline(running, environmentFor(running, ask))
      deps.onAnswer?.(answer.error ?? 'sealed')
      return answer
    },
    sealCredential: (ask) => withinDeadline(running, credentialFor(running, ask)),
  }
}

/** What goes wrong beside the secrets store is ours, and the next attempt's: its kind alone is told, its text may quote. */
function withinDeadline({ deps, deadlineMs }: Running, work: Promise<SealedAnswer>): Promise<SealedAnswer> {
  const unavailable: SealedAnswer = { error: 'broker_unavailable' }
  return new Promise((resolve) => {
    // A little later than the deadline of the reads, which know better what did not answer.
    const timer = setTimeout(() => resolve(unavailable), deadlineMs + 250)
    work
      .then(resolve, (error: unknown) => {
        deps.log.warn({ error: error instanceof Error ? error.name : 'unknown' }, 'a node got no answer')
        resolve(unavailable)
      })
      .finally(() => clearTimeout(timer))
  })
}

async function environmentFor(running: Running, ask: EnvironmentAsk): Promise<SealedAnswer> {
  const { attempts, deps } = running
  const { assignmentId, attempt } = ask
  const found = SOUND_ATTEMPT.test(attempt) ? await current(running, () => lookUp(running, ask)) : undefined
  if (found === undefined) return { error: 'not_assigned' }
  if (!attempts.take(assignmentId, attempt)) {
    deps.log.error(ask, 'ALARM: a second ask for the environment of one attempt to make a container')
    return { error: 'already_answered' }
  }
  let answer: SealedAnswer = {}
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), running.deadlineMs)
  try {
    answer = await resolveAndSeal(running, ask, found, deadline.signal)
  } finally {
    clearTimeout(timer)
    if (answer.sealed === undefined) attempts.release(assignmentId, attempt)
  }
  return answer
}

/** What the cache does not know may be newer than the cache. */
async function current<T>({ store }: DispatchDeps, look: () => T | undefined): Promise<T | undefined> {
  const known = look()
  if (known !== undefined) return known
  await store.fresh()
  return look()
}

/** Only of a registry that the assignment's image comes from. */
async function credentialFor(running: Running, ask: CredentialAsk): Promise<SealedAnswer> {
  const { store, deps } = running
  const { tenant, host } = ask
  await store.fresh()
  const live = findLive(store, ask)
  if (!live?.template.image.startsWith(`${host}/`)) return { error: 'not_assigned' }
  // A template's image leaves the port out that HTTPS implies; what is kept is kept under the whole host.
  const registryHost = parseRegistryHost(host) ?? host
  const kept = store.get(inTenant(tenant, registryCredentials, registryHost))?.record
  if (kept === undefined) return {}
  const credential = await readCredential(deps.secretsStore, tenant, registryHost, kept.version)
  if (credential === undefined) return { error: 'credential_unavailable' }
  const { username, password } = credential
  return {
    sealed: seal(live.node.encryptionKey, JSON.stringify({ host, username, password: password.reveal() })),
  }
}
