// `holdfast-agent enroll`: generates the node's keys, spends the join token and saves the server's answer. Until the
// server accepts, the machine keeps its previous enrollment. The token is written to no file and no log.
// See docs/design/agent.md#enrollment.

import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import {
  type Capacity,
  decodeOpen,
  defined,
  type Enrolled,
  type Enrollment,
  enrolledShape,
} from '@holdfast/contract'
import type { EngineVersion } from '../ports/engine.ts'
import { isDiskFull } from '../state/durable-file.ts'
import { wholeMachine } from '../state/machine.ts'
import { generateNodeKeys, prepareFolder, publicKeyText, saveNode } from '../state/node-state.ts'
import { connectTrusted, fetchPinned } from './enroll-trust.ts'
import { explainNoAnswer, explainRejections, type HttpAnswer } from './explain-enrollment.ts'

const PATH = '/api/v1/nodes/enroll'
const DEADLINE_MS = 15_000
const MAX_ANSWER = 64 * 1024

export interface EnrollOptions {
  readonly server: string
  /** PEM of the certificate authority to trust. */
  readonly ca?: string
  /** Pin from the join command, instead of `ca`: `sha256:` and the hash of the authority's certificate in hex. */
  readonly caPin?: string
  readonly joinToken: string
  readonly nodeName: string
  readonly labels: { readonly [key: string]: string }
  readonly folder: string
  /** The address of the node's Docker Engine. */
  readonly engine: string
  readonly engineVersion: EngineVersion
  readonly capacity?: Capacity
}

const CREATED = 201

/** A failed enrollment that the operator can fix; the message explains how. */
export class EnrollmentFailed extends Error {
  override readonly name = 'EnrollmentFailed'
}

export async function enroll(options: EnrollOptions): Promise<Enrolled> {
  const { server, caPin, nodeName, labels, folder, engine, engineVersion, capacity } = options
  await prepareFolder(folder).catch((error: unknown) => throwUnwritable(folder, error))
  const ca = options.ca ?? (caPin === undefined ? undefined : await authorityOf(server, caPin))
  const keys = generateNodeKeys()
  const body: Enrollment = {
    nodeName,
    joinToken: options.joinToken,
    publicKey: publicKeyText(keys.identityKey),
    encryptionKey: publicKeyText(keys.encryptionKey),
    labels: { ...labels },
    engine: { ...engineVersion },
    capacity: capacity ?? wholeMachine(),
  }
  const answer = await send(server, ca, JSON.stringify(body))
  if (answer.status !== CREATED) throw new EnrollmentFailed(explainRejections(server, answer))
  const { warnings = [], ...enrolled } = decodeOpen(enrolledShape, JSON.parse(answer.text))
  const node = { server, nodeName, labels: { ...labels }, engine, engineVersion: { ...engineVersion } }
  await saveNode(folder, { ...node, ...defined({ ca, capacity }), ...enrolled }, keys)
  return warnings.length === 0 ? enrolled : { ...enrolled, warnings }
}

/** The keys of the node must be on disk before the server knows them. The join token was not sent. */
function throwUnwritable(folder: string, error: unknown): never {
  if (!isDiskFull(error)) throw error
  throw new EnrollmentFailed(
    `The disk of ${folder} has no space for the keys of the node. Nothing was sent and the join token is still valid. Free space or inodes on that disk and enroll again.`,
    { cause: error },
  )
}

async function authorityOf(server: string, pin: string): Promise<string> {
  const pinned = await fetchPinned(server, pin)
  if ('fault' in pinned) throw new EnrollmentFailed(pinned.fault)
  return pinned.pem
}

async function send(server: string, ca: string | undefined, body: string): Promise<HttpAnswer> {
  try {
    return await post(new URL(PATH, server), ca, body)
  } catch (error) {
    throw new EnrollmentFailed(explainNoAnswer(server, error), { cause: error })
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
    const request =
      trusted === undefined
        ? plainRequest(url, options)
        : secureRequest(url, { ...options, createConnection: () => trusted })
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('error', reject)
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length > MAX_ANSWER) request.destroy(new Error('The server sent too long an answer.'))
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.end(body)
  })
}
