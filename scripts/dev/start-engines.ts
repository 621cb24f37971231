// Starts the engines of the development platform: three etcd members, the secrets store, and a registry with sample images:
// a page, whose versions 1.0 and 2.0 work and whose version 3.0 fails, and a PostgreSQL. All are children of the calling
// process.

import {
  type EtcdCluster,
  type Lab,
  type Registry,
  type SecretsStore,
  startEtcd,
  startRegistry,
  startSecretsStore,
} from '@holdfast/testkit'
import { type DevFolder, writePrivate } from './dev-folder.ts'
import { addProcess } from './process-list.ts'
import type { Step } from './step.ts'
import type { SampleImages } from './write-manifest.ts'

/** Size limit of etcd's database; must equal the quota in the server configuration. */
export const ETCD_QUOTA_BYTES = 2 * 1024 ** 3

const SAMPLE = 'samples/hello'
/** Shell command of the sample image that serves a page and logs each request. */
const SERVE = "trap 'exit 0' TERM; echo hello listens on 8080; httpd -f -v -p 8080 -h /www & wait"
/** Shell command of the broken sample image: logs an error and exits, to demonstrate a failed update. */
const BROKEN = 'echo "hello: no page for 3.0" >&2; exit 1'

export interface Engines {
  readonly etcd: EtcdCluster
  readonly secretsStore: SecretsStore
  readonly registry: Registry
  /** References of the sample images in the registry, with their digests. */
  readonly images: SampleImages
  /** Address of this machine at which the server listens and which the nodes can reach. */
  readonly address: string
}

export async function startEngines(folder: DevFolder, step: Step, lab: Lab | undefined): Promise<Engines> {
  const [etcd, secretsStore, registry] = await Promise.all([
    step('etcd, three members', () => startState(folder)),
    step('secrets store, initialized and unsealed', () => startSecrets(folder)),
    openRegistry(folder, lab?.registry),
  ])
  // Compressing images blocks this process for seconds, in which calls to the other engines would reach their deadlines.
  const images = await step('registry with sample images', () => pushImages(registry))
  return { etcd, secretsStore, registry, images, address: lab?.hostAddress ?? '127.0.0.1' }
}

async function startState(folder: DevFolder): Promise<EtcdCluster> {
  const etcd = await startEtcd({
    members: 3,
    folder: folder.engine('etcd'),
    quotaBytes: ETCD_QUOTA_BYTES,
  })
  for (const { name, pid } of etcd.members) addProcess(folder, name, pid)
  return etcd
}

async function startSecrets(folder: DevFolder): Promise<SecretsStore> {
  const store = await startSecretsStore({ folder: folder.engine('secrets-store') })
  addProcess(folder, 'secrets-store', store.pid)
  const { address, rootToken, unsealKey } = store
  writePrivate(folder.storeKeys, `${JSON.stringify({ address, rootToken, unsealKey }, null, 2)}\n`)
  return store
}

/** Starts a registry. Uses the registry of the lab (simulated machines) if there is one: nodes can reach it. */
async function openRegistry(folder: DevFolder, given: Registry | undefined): Promise<Registry> {
  const registry = given ?? (await startRegistry({ folder: folder.engine('registry') }))
  addProcess(folder, 'registry', registry.pid)
  return registry
}

async function pushImages(registry: Registry): Promise<SampleImages> {
  const push = (tag: string, script: string) =>
    registry.pushBusyboxImage(SAMPLE, tag, { command: ['/bin/sh', '-c', script] })
  const { reference } = await push('1.0', SERVE)
  await push('2.0', SERVE)
  await push('3.0', BROKEN)
  const database = await registry.pushPostgresImage('samples/postgres', '15')
  return { hello: reference, database: database.reference }
}
