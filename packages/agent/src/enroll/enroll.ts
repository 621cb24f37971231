// `holdfast-agent enroll`: the keys are made here, the join token is spent once, and what the server answers is kept. Until
// the server has said yes the machine stays the node that it was. DECISIONS 8. The token is written to no file and no log.

import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { type Capacity, decodeKnown, type Enrolled, type Enrollment, enrolledShape } from '@holdfast/contract'
import type { EngineVersion } from '../ports/engine.ts'
import { wholeMachine } from '../state/machine.ts'
import { makeNodeKeys, prepareFolder, publicKeyText, saveNode } from '../state/node-state.ts'
import { connectTrusted, fetchPinned } from './enroll-trust.ts'
import { explainRefusal, explainSilence, type HttpAnswer } from './explain-enrollment.ts'

const PATH = '/api/v1/nodes/enroll'
const DEADLINE_MS = 15_000
const MAX_ANSWER = 64 * 1024

export interface EnrollOptions {
  readonly server: string
  /** PEM of the authority to trust. */
  readonly ca?: string
  /** Or what the join command says of it: `sha256:` and the hex of its certificate's hash. */
  readonly caPin?: string
  readonly joinToken: string
  readonly nodeName: string
  readonly labels: { readonly [key: string]: string }
  readonly folder: string
  /** Address of the engine, and what it said of itself. */
  readonly engine: string
  readonly engineVersion: EngineVersion
  readonly capacity?: Capacity
}

const CREATED = 201

/** What an operator can mend, in a sentence: the server's no, or why there is none to be heard. */
export class EnrollmentFailed extends Error {
  override readonly name = 'EnrollmentFailed'
}

export async function enroll(options: EnrollOptions): Promise<Enrolled> {
  const { server, caPin, nodeName, labels, folder, engine, engineVersion, capacity } = options
  await prepareFolder(folder)
  const ca = options.ca ?? (caPin === undefined ? undefined : await authorityOf(server, caPin))
  const keys = makeNodeKeys()
  const body: Enrollment = {
    nodeName,
    joinToken: options.joinToken,
    publicKey: publicKeyText(keys.identityKey),
    encryptionKey: publicKeyText(keys.encryptionKey),
    labels: { ...labels },
    engine: { ...engineVersion },
    capacity: capacity ?? wholeMachine(),
  }
  const answer = await ask(server, ca, JSON.stringify(body))
  if (answer.status !== CREATED) throw new EnrollmentFailed(explainRefusal(server, answer))
  const { warnings = [], ...enrolled } = decodeKnown(enrolledShape, JSON.parse(answer.text))
  const pinned = ca === undefined ? {} : { ca }
  const offered = capacity === undefined ? {} : { capacity }
  const kept = { server, nodeName, labels: { ...labels }, engine, engineVersion: { ...engineVersion } }
  await saveNode(folder, { ...kept, ...pinned, ...offered, ...enrolled }, keys)
  return warnings.length === 0 ? enrolled : { ...enrolled, warnings }
}

async function authorityOf(server: string, pin: string): Promise<string> {
  const pinned = await fetchPinned(server, pin)
  if ('fault' in pinned) throw new EnrollmentFailed(pinned.fault)
  return pinned.pem
}

async function ask(server: string, ca: string | undefined, body: string): Promise<HttpAnswer> {
  try {
    return await post(new URL(PATH, server), ca, body)
  } catch (error) {
    throw new EnrollmentFailed(explainSilence(server, error), { cause: error })
  }
}

async function post(url: URL, ca: string | undefined, body: string): Promise<HttpAnswer> {
  const trusted = url.protocol === 'https:' ? await connectTrusted(url, ca) : undefined
  const options = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    signal: AbortSignal.timeout(DEADLINE_MS),
  }
  return new Promise((resolve, reject) => {
    const asked =
      trusted === undefined
        ? plainRequest(url, options)
        : secureRequest(url, { ...options, createConnection: () => trusted })
    asked.on('error', reject)
    asked.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('error', reject)
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length > MAX_ANSWER) asked.destroy(new Error('The answer of the server is too long.'))
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asked.end(body)
  })
}
