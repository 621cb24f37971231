// What the agent asks of the server: the tenant's credential of a registry (DECISIONS 8), and the environment of a container
// that is about to be made (SAFETY 4e). Both answers are sealed to this node, and say inside the seal what they are for. A
// rejection means that nobody knows.

import { type KeyObject, randomUUID } from 'node:crypto'
import {
  type Answer,
  type AssignmentId,
  type Call,
  decode,
  object,
  type Shape,
  sealedEnvironmentShape,
  string,
} from '@holdfast/contract'
import { type EnvironmentAnswer, NoSessionError, type RegistryCredential } from '../ports/session.ts'
import { openSealed } from './open-sealed.ts'

const CALL_MS = 10_000
const sealedCredentialShape = object({ host: string(), username: string(), password: string() })

interface Waiting {
  settle(answer: Answer | 'late'): void
  fail(error: Error): void
}

type Asked = Pick<Call, 'method' | 'host' | 'assignmentId' | 'attempt'>

export interface ServerCalls {
  registryCredential(host: string): Promise<RegistryCredential | undefined>
  containerEnvironment(id: AssignmentId): Promise<EnvironmentAnswer>
  settle(answer: Answer): void
  /** The connection is gone. */
  abandon(): void
}

/** `send` is false where no session is open. */
export function createServerCalls(
  encryptionKey: KeyObject,
  send: (call: Call & { type: 'call' }) => boolean,
): ServerCalls {
  const waiting = new Map<string, Waiting>()
  const ask = (asked: Asked): Promise<Answer | 'late'> => waitFor(waiting, asked, send)
  return {
    async registryCredential(host) {
      const answer = await ask({ method: 'registry', host })
      if (answer === 'late') throw new Error('The server did not answer in time.')
      if (answer.error !== undefined) throw new Error(`The server gives no credential: ${answer.error}`)
      if (answer.sealed === undefined) return undefined
      const opened = openAs(sealedCredentialShape, encryptionKey, answer.sealed)
      // An answer to another question is no answer to this one.
      if (opened?.host !== host) throw new Error('The sealed credential is none, or for another registry.')
      return { username: opened.username, password: opened.password }
    },
    // Each attempt is answered once: what an answer that got lost has shown to nobody is asked for anew.
    async containerEnvironment(assignmentId) {
      const attempt = randomUUID()
      const answer = await ask({ method: 'environment', assignmentId, attempt })
      return readEnvironment(encryptionKey, answer, assignmentId, attempt)
    },
    settle: (answer) => waiting.get(answer.id)?.settle(answer),
    abandon() {
      for (const one of [...waiting.values()]) one.fail(new NoSessionError())
    },
  }
}

function waitFor(
  waiting: Map<string, Waiting>,
  asked: Asked,
  send: (call: Call & { type: 'call' }) => boolean,
): Promise<Answer | 'late'> {
  const id = randomUUID()
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer)
      waiting.delete(id)
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
    waiting.set(id, { settle, fail })
    if (!send({ type: 'call', id, ...asked })) fail(new NoSessionError())
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
  // What was made for another container, or for another attempt of this one, is not put into it. SAFETY 2 row 25.
  if (opened?.assignmentId !== assignmentId || opened.attempt !== attempt)
    return { kind: 'unresolved', about: 'answer_unusable' }
  const { environment, proof } = opened
  return { kind: 'given', environment, proof }
}

/** Undefined where it is not sealed to this node or is nothing of the kind: a parser's own words would quote what it read. */
function openAs<T>(shape: Shape<T>, encryptionKey: KeyObject, sealed: string): T | undefined {
  try {
    return decode(shape, JSON.parse(openSealed(encryptionKey, sealed).toString('utf8')))
  } catch {
    return undefined
  }
}
