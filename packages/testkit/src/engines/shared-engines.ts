// One engine of each kind per process, started at the first call: a vitest worker starts it once for all its files.
// Tests keep apart by names (unique-names). Nobody stops a shared engine: it goes when the process goes.

import { type EtcdCluster, startEtcd } from './start-etcd.ts'
import { type Registry, startRegistry } from './start-registry.ts'
import { type SecretsStore, startSecretsStore } from './start-secrets-store.ts'

interface SharedEngines {
  etcd?: Promise<EtcdCluster>
  secretsStore?: Promise<SecretsStore>
  registry?: Promise<Registry>
}

declare global {
  // Beside the module registry: a runner that loads this module anew for each test file still finds the same engines.
  var holdfastSharedEngines: SharedEngines | undefined
}

function shared(): SharedEngines {
  globalThis.holdfastSharedEngines ??= {}
  return globalThis.holdfastSharedEngines
}

/** A one-member cluster. A test that kills, pauses, fills or compacts starts its own. */
export function sharedEtcd(): Promise<EtcdCluster> {
  const engines = shared()
  engines.etcd ??= startEtcd()
  return engines.etcd
}

/** A test that seals or pauses it undoes that before it ends. */
export function sharedSecretsStore(): Promise<SecretsStore> {
  const engines = shared()
  engines.secretsStore ??= startSecretsStore()
  return engines.secretsStore
}

/** Without an account. */
export function sharedRegistry(): Promise<Registry> {
  const engines = shared()
  engines.registry ??= startRegistry()
  return engines.registry
}
