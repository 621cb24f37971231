// A real OCI registry: docker-registry with its data in files, with deletes allowed, and with optional basic
// authentication.

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { type BusyboxImage, makeBusyboxImage } from '../images/busybox-image.ts'
import { makePostgresImage } from '../images/postgres-image.ts'
import { makeRedisImage } from '../images/redis-image.ts'
import { deleteManifest, pushImage, type RegistryAccess } from '../images/registry-push.ts'
import { makeSampleImage, type SampleImage } from '../images/sample-image.ts'
import type { TempFolder } from '../temp-folder.ts'
import { engineBinary } from './engine-binaries.ts'
import { type EngineHome, openHome, retryPortClash, subfolder, waitUntilReady } from './engine-home.ts'
import { type EngineProcess, startEngineProcess } from './engine-process.ts'

export interface RegistryCredential {
  readonly username: string
  readonly password: string
}
export interface RegistryOptions extends EngineHome {
  /** Listening address, 127.0.0.1 by default. A registry for the nodes of a lab listens at the lab's host address. */
  readonly address?: string
  /** The registry's only account. If absent, pull and push need no authentication. */
  readonly htpasswd?: RegistryCredential
}
export interface PushedImage {
  /** Image reference as in a deployment: `ADDRESS:PORT/repository:tag`. */
  readonly reference: string
  readonly digest: string
}

export interface Registry {
  /** Address of the registry: `ADDRESS:PORT`. */
  readonly host: string
  readonly url: string
  readonly pid: number
  /** Pushes a small image whose content depends only on repository and tag, so that a second push is the same image. */
  pushSampleImage(repository: string, tag: string): Promise<PushedImage>
  /** Pushes a runnable busybox image, by default with a web server that is healthy at once. */
  pushBusyboxImage(repository: string, tag: string, image?: BusyboxImage): Promise<PushedImage>
  /** Pushes an image with a real PostgreSQL, its clients and a shell. */
  pushPostgresImage(repository: string, tag: string): Promise<PushedImage>
  /** Pushes an image with a real Redis, its client and a shell. */
  pushRedisImage(repository: string, tag: string): Promise<PushedImage>
  /** Pushes a new image and points the tag at it. */
  moveTag(repository: string, tag: string): Promise<PushedImage>
  /** Deletes a manifest. Afterwards the registry has neither the digest nor any tag that pointed at it. */
  deleteManifest(repository: string, digest: string): Promise<void>
  /** Stops the registry with SIGSTOP: it accepts connections and answers nothing. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

export function startRegistry(options: RegistryOptions = {}): Promise<Registry> {
  return retryPortClash(async () => {
    const folder = openHome('registry', options)
    const host = `${options.address ?? '127.0.0.1'}:${await freePort()}`
    const access = { url: `http://${host}`, headers: authorization(options.htpasswd) }
    const engine = launch(folder, host, options)
    const stop = async () => {
      await engine.kill()
      folder.remove()
    }
    try {
      await waitUntilReady(engine, 'the registry answers', () => answersOk(access))
    } catch (error) {
      await stop()
      throw error
    }
    return { host, url: access.url, pid: engine.pid, stop, ...operations(access, host, engine) }
  })
}

function operations(access: RegistryAccess, host: string, engine: EngineProcess) {
  const push = async (repository: string, tag: string, image: SampleImage): Promise<PushedImage> => ({
    reference: `${host}/${repository}:${tag}`,
    digest: await pushImage(access, repository, tag, image),
  })
  return {
    pushSampleImage: (repository: string, tag: string) =>
      push(repository, tag, makeSampleImage(`${repository}:${tag}\n`)),
    pushBusyboxImage: (repository: string, tag: string, image: BusyboxImage = {}) =>
      push(repository, tag, makeBusyboxImage({ page: `${repository}:${tag}\n`, ...image })),
    pushPostgresImage: (repository: string, tag: string) => push(repository, tag, makePostgresImage()),
    pushRedisImage: (repository: string, tag: string) => push(repository, tag, makeRedisImage()),
    moveTag: (repository: string, tag: string) => push(repository, tag, makeSampleImage(`${randomUUID()}\n`)),
    deleteManifest: (repository: string, digest: string) => deleteManifest(access, repository, digest),
    pause: () => engine.pause(),
    resume: () => engine.resume(),
  }
}

function launch(folder: TempFolder, host: string, options: RegistryOptions): EngineProcess {
  const config = join(folder.path, 'config.yml')
  writeFileSync(config, configText(folder, host, options.htpasswd))
  return startEngineProcess({
    binary: engineBinary('docker-registry'),
    args: ['serve', config],
    logFile: join(folder.path, 'registry.log'),
    detached: options.detached === true,
  })
}

function configText(folder: TempFolder, host: string, credential: RegistryCredential | undefined): string {
  const auth = credential === undefined ? {} : { auth: { htpasswd: htpasswdFile(folder, credential) } }
  // The registry reads its configuration as YAML, and JSON is valid YAML.
  return JSON.stringify({
    version: '0.1',
    log: { level: 'error', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: subfolder(folder, 'data') }, delete: { enabled: true } },
    http: { addr: host },
    ...auth,
  })
}

function htpasswdFile(folder: TempFolder, credential: RegistryCredential) {
  const path = join(folder.path, 'htpasswd')
  writeFileSync(path, `${credential.username}:${bcrypt(credential.password)}\n`, { mode: 0o600 })
  return { realm: 'holdfast-test', path }
}

/**
 * Hashes a password with bcrypt, the only kind that the registry accepts. Node has no bcrypt, so perl calls the C
 * library.
 */
function bcrypt(password: string): string {
  const salt = randomUUID().replaceAll('-', '').slice(0, 21)
  const script = 'local $/; my ($s, $p) = split /\\n/, <STDIN>, 2; print crypt($p, $s)'
  return execFileSync(engineBinary('perl'), ['-e', script], {
    input: `$2b$04$${salt}u\n${password}`,
  }).toString()
}

function authorization(credential: RegistryCredential | undefined): { readonly [name: string]: string } {
  if (credential === undefined) return {}
  const pair = Buffer.from(`${credential.username}:${credential.password}`).toString('base64')
  return { authorization: `Basic ${pair}` }
}

async function answersOk(access: RegistryAccess): Promise<boolean> {
  const answer = await fetch(`${access.url}/v2/`, {
    headers: access.headers,
    signal: AbortSignal.timeout(1_000),
  })
  return answer.status === 200
}
