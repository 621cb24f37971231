// The engines of the development platform: three etcd members, the secrets store, the registry with a sample image: 1.0
// and 2.0 serve a page each, 3.0 is broken.
// They are children of the keeper and die with it, however it dies.

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

/** As much as the server's configuration says: both must be the same number. */
export const ETCD_QUOTA_BYTES = 2 * 1024 ** 3

const SAMPLE = 'samples/hello'
/** A page, and a line in the log for each request. */
const SERVE = "trap 'exit 0' TERM; echo hello listens on 8080; httpd -f -v -p 8080 -h /www & wait"
/** Starts, says why it cannot go on, and ends: for an update that goes wrong. */
const BROKEN = 'echo "hello: no page for 3.0" >&2; exit 1'

export interface Engines {
  readonly etcd: EtcdCluster
  readonly secretsStore: SecretsStore
  readonly registry: Registry
  /** A pinned reference that the registry holds. */
  readonly sampleImage: string
  /** Where the server listens: an address that nodes reach too, where there are nodes. */
  readonly address: string
}

export async function startEngines(folder: DevFolder, step: Step, lab: Lab | undefined): Promise<Engines> {
  const [etcd, secretsStore, { registry, sampleImage }] = await Promise.all([
    step('etcd, three members', () => startState(folder)),
    step('secrets store, initialised and unsealed', () => startSecrets(folder)),
    step('registry with a sample image', () => startImages(folder, lab?.registry)),
  ])
  return { etcd, secretsStore, registry, sampleImage, address: lab?.hostAddress ?? '127.0.0.1' }
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

/** The lab brings a registry that its nodes reach. */
async function startImages(folder: DevFolder, given: Registry | undefined) {
  const registry = given ?? (await startRegistry({ folder: folder.engine('registry') }))
  addProcess(folder, 'registry', registry.pid)
  const push = (tag: string, script: string) =>
    registry.pushBusyboxImage(SAMPLE, tag, { command: ['/bin/sh', '-c', script] })
  const { reference } = await push('1.0', SERVE)
  await push('2.0', SERVE)
  await push('3.0', BROKEN)
  return { registry, sampleImage: reference }
}
