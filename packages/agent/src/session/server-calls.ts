// Calls from the agent to the server: the tenant's credential for a registry, the environment of a container about to be
// created, and changes of a volume's promotable nodes. An answer with secrets is encrypted to this node and states which call it is for. See docs/design/secrets.md#dispatch.

import { type KeyObject, randomUUID } from 'node:crypto'
import {
  type Answer,
  type AssignmentId,
  type Call,
  type Configuration,
  type ConfigureRequest,
  decodeOpen,
  object,
  type Shape,
  sealedEnvironmentShape,
  string,
} from '@holdfast/contract'
import { type EnvironmentAnswer, NoSessionError, type RegistryCredential } from '../ports/session.ts'
import { openSealed } from './open-sealed.ts'

const CALL_MS = 10_000
const sealedCredentialShape = object({ host: string(), username: string(), password: string() })

interface PendingCall {
  settle(answer: Answer | 'late'): void
  fail(error: Error): void
}

type CallBody = Pick<Call, 'method' | 'host' | 'assignmentId' | 'attempt' | 'requests'>

export interface ServerCalls {
  registryCredential(host: string): Promise<RegistryCredential | undefined>
  containerEnvironment(id: AssignmentId): Promise<EnvironmentAnswer>
  /** At most CALL_VOLUMES requests. Rejects if the outcome is unknown. */
  configure(requests: readonly ConfigureRequest[]): Promise<readonly Configuration[]>
  settle(answer: Answer): void
  /** Rejects all open calls, because the connection is gone. */
  abandon(): void
}

/** Creates the functions that call the server. `send` returns false if no session is open. */
export function createServerCalls(
  encryptionKey: KeyObject,
  send: (call: Call & { type: 'call' }) => boolean,
): ServerCalls {
  const pending = new Map<string, PendingCall>()
  const call = (body: CallBody): Promise<Answer | 'late'> => sendCall(pending, body, send)
  return {
    async registryCredential(host) {
      const answer = await call({ method: 'registry', host })
      if (answer === 'late') throw new Error('The server did not answer in time.')
      if (answer.error !== undefined) throw new Error(`The server returned no credential: ${answer.error}`)
      if (answer.sealed === undefined) return undefined
      const opened = openAs(sealedCredentialShape, encryptionKey, answer.sealed)
      if (opened?.host !== host)
        throw new Error('The sealed credential is unreadable or is for another registry.')
      return { username: opened.username, password: opened.password }
    },
    // Each call has a new attempt id, because the server answers each attempt only once.
    async containerEnvironment(assignmentId) {
      const attempt = randomUUID()
      const answer = await call({ method: 'environment', assignmentId, attempt })
      return readEnvironment(encryptionKey, answer, assignmentId, attempt)
    },
    async configure(requests) {
      const answer = await call({ method: 'configure', requests: [...requests] })
      if (answer === 'late') throw new Error('The server did not answer in time.')
      if (answer.error !== undefined) throw new Error(`The server changed no configuration: ${answer.error}`)
      return answer.configurations ?? []
    },
    settle: (answer) => pending.get(answer.id)?.settle(answer),
    abandon() {
      for (const one of [...pending.values()]) one.fail(new NoSessionError())
    },
  }
}

function sendCall(
  pending: Map<string, PendingCall>,
  body: CallBody,
  send: (call: Call & { type: 'call' }) => boolean,
): Promise<Answer | 'late'> {
  const id = randomUUID()
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer)
      pending.delete(id)
    }
    const settle = (answer: Answer | 'late'): void => {
      done()
      resolve(answer)
    }
    const fail = (error: Error): void => {
      done()
      reject(error)
    }
    const timer = setTimeout(() => settle('late'), CALL_MS)
    pending.set(id, { settle, fail })
    if (!send({ type: 'call', id, ...body })) fail(new NoSessionError())
  })
}

function readEnvironment(
  encryptionKey: KeyObject,
  answer: Answer | 'late',
  assignmentId: AssignmentId,
  attempt: string,
): EnvironmentAnswer {
  if (answer === 'late') return { kind: 'unresolved', about: 'no_answer' }
  if (answer.error !== undefined) return { kind: 'unresolved', about: answer.about ?? answer.error }
  const opened =
    answer.sealed === undefined ? undefined : openAs(sealedEnvironmentShape, encryptionKey, answer.sealed)
  // An environment made for another container, or for another attempt, must not be used.
  if (opened?.assignmentId !== assignmentId || opened.attempt !== attempt)
    return { kind: 'unresolved', about: 'answer_unusable' }
  const { environment, proof } = opened
  return { kind: 'resolved', environment, proof }
}

/**
 * Decrypts an answer; undefined if it is not sealed to this node or malformed. Errors are dropped: they may quote a
 * secret.
 */
function openAs<T>(shape: Shape<T>, encryptionKey: KeyObject, sealed: string): T | undefined {
  try {
    return decodeOpen(shape, JSON.parse(openSealed(encryptionKey, sealed).toString('utf8')))
  } catch {
    return undefined
  }
}
