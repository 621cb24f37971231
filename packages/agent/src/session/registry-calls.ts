// Asking the server for the tenant's credential of a registry. The answer is sealed to this node; a rejection means that
// nobody knows, undefined that the tenant keeps none. DECISIONS 8.

import { type KeyObject, randomUUID } from 'node:crypto'
import { type Answer, type Call, decode, object, string } from '@holdfast/contract'
import { openSealed } from '../open-sealed.ts'
import type { RegistryCredential } from '../ports/session.ts'

const CALL_MS = 10_000
const sealedCredentialShape = object({ host: string(), username: string(), password: string() })

interface Waiting {
  settle(answer: Answer): void
  fail(error: Error): void
}

export interface RegistryCalls {
  /** `send` is false where no session is open. */
  ask(host: string, send: (call: Call) => boolean): Promise<RegistryCredential | undefined>
  settle(answer: Answer): void
  /** The connection is gone. */
  abandon(): void
}

export function createRegistryCalls(encryptionKey: KeyObject): RegistryCalls {
  const waiting = new Map<string, Waiting>()
  return {
    async ask(host, send) {
      const call: Call & { type: 'call' } = { type: 'call', id: randomUUID(), method: 'registry', host }
      const answer = await waitFor(waiting, call, send)
      if (answer.error !== undefined) throw new Error(`The server gives no credential: ${answer.error}`)
      return answer.sealed === undefined ? undefined : openCredential(encryptionKey, host, answer.sealed)
    },
    settle: (answer) => waiting.get(answer.id)?.settle(answer),
    abandon() {
      for (const one of [...waiting.values()])
        one.fail(new Error('The session ended before the answer came.'))
    },
  }
}

function waitFor(waiting: Map<string, Waiting>, call: Call, send: (call: Call) => boolean): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer)
      waiting.delete(call.id)
    }
    const fail = (error: Error): void => {
      done()
      reject(error)
    }
    const timer = setTimeout(() => fail(new Error('The server did not answer in time.')), CALL_MS)
    const settle = (answer: Answer): void => {
      done()
      resolve(answer)
    }
    waiting.set(call.id, { settle, fail })
    if (!send(call)) fail(new Error('There is no session with the server.'))
  })
}

/** The host is inside the seal: an answer to another question is no answer to this one. */
function openCredential(encryptionKey: KeyObject, host: string, sealed: string): RegistryCredential {
  const opened = decode(sealedCredentialShape, JSON.parse(openSealed(encryptionKey, sealed).toString('utf8')))
  if (opened.host !== host) throw new Error('The sealed credential is for another registry.')
  return { username: opened.username, password: opened.password }
}
