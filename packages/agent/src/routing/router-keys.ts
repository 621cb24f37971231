// The key pair of the node's router and its certificates, in one file of the agent's state folder. The router faces the
// internet, so it never holds the node's identity key. A new certificate is announced long before the router presents it,
// because other routers accept only certificates that they know.

import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { join } from 'node:path'
import {
  branded,
  encodeOpen,
  type Infer,
  integer,
  list,
  type NodeId,
  object,
  string,
} from '@holdfast/contract'
import type { Logger } from 'pino'
import type { RouterIdentity } from '../ports/router.ts'
import { writeDurably } from '../state/durable-file.ts'
import { readOwnFile } from '../state/read-own-file.ts'
import { createSaver } from '../state/saver.ts'
import { makeRouterCertificate, readRouterCertificate } from './router-certificate.ts'

const FILE = 'router-keys.json'
const DAY_MS = 86_400_000
const VALID_MS = 1095 * DAY_MS
/** Time left at which the next certificate is made and announced. */
const RENEW_MS = 540 * DAY_MS
/** Time left until which the router presents the older certificate. */
const PRESENT_MS = 90 * DAY_MS
const MAX_CERTIFICATES = 2

const fileShape = object({
  nodeId: branded<NodeId>(),
  generation: integer(),
  key: string(),
  /** Base64 of DER, the newest first. */
  certificates: list(string()),
})
type KeyFile = Infer<typeof fileShape>
type Enrollment = Pick<KeyFile, 'nodeId' | 'generation'>

export interface RouterKeys {
  /** The key and the certificate that the router presents now. */
  identity(): RouterIdentity
  /** The newest certificate, as base64 of DER, which the agent announces. */
  announced(): string
  close(): void
}

/**
 * Opens the keys of this enrollment, and makes new ones if there are none. The next certificate is made when it is time: at
 * the start of the agent, or during its run.
 */
export async function openRouterKeys(
  folder: string,
  { nodeId, generation }: Enrollment,
  log: Logger,
  now: () => number = Date.now,
): Promise<RouterKeys> {
  const path = join(folder, FILE)
  const save = (file: KeyFile): Promise<void> => writeDurably(path, `${encodeOpen(file)}\n`)
  let isNew = false
  let file = await readKeys(path, { nodeId, generation }, log)
  if (file === undefined) {
    const key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
    file = { nodeId, generation, key: pemOf(key), certificates: [newCertificate(key, now())] }
    isNew = true
  }
  let current = file
  // Keys that are lost with this run are made again by the next one, and announced again.
  const saver = createSaver({
    write: () => save(current),
    onFailed: (error) => log.error({ path, message: String(error) }, 'router keys write failed, retrying'),
    onSaved: () => log.info({ path }, 'router keys written'),
  })
  if (isNew) saver.save()
  await saver.settled()
  const announced = (): string => current.certificates[0] ?? ''
  async function renew(): Promise<void> {
    if (timeLeft(announced(), now()) > RENEW_MS) return
    const next = newCertificate(createPrivateKey(current.key), now())
    const certificates = [next, ...current.certificates].slice(0, MAX_CERTIFICATES)
    await save({ ...current, certificates })
    current = { ...current, certificates }
    log.info({}, 'router certificate renewed')
  }
  const failed = (): void => log.warn({}, 'router certificate cannot be renewed, trying again tomorrow')
  await renew().catch(failed)
  const timer = setInterval(() => void renew().catch(failed), DAY_MS).unref()
  return {
    identity: () => identityOf(current, now()),
    announced,
    close() {
      clearInterval(timer)
      void saver.close()
    },
  }
}

async function readKeys(path: string, own: Enrollment, log: Logger): Promise<KeyFile | undefined> {
  try {
    const file = await readOwnFile(path, fileShape, own)
    if (file === undefined) return undefined
    createPrivateKey(file.key)
    return file.certificates.every((one) => readRouterCertificate(one)) ? file : undefined
  } catch {
    // The message of the error could quote the file, which contains the key.
    log.error({}, 'router keys are unusable, making new ones')
    return undefined
  }
}

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const newCertificate = (key: KeyObject, nowMs: number): string => makeRouterCertificate(key, nowMs + VALID_MS)
const timeLeft = (certificate: string, nowMs: number): number =>
  (readRouterCertificate(certificate)?.endsMs ?? 0) - nowMs

function identityOf({ key, certificates }: KeyFile, nowMs: number): RouterIdentity {
  const presented = certificates.findLast((one) => timeLeft(one, nowMs) > PRESENT_MS) ?? certificates[0] ?? ''
  return { key, certificate: readRouterCertificate(presented)?.pem ?? '' }
}
