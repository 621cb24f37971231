// One engine of each kind per process, started at the first call: a vitest worker starts each engine once for all its
// files. Tests are isolated by name (unique-names.ts). No test stops a shared engine; it ends with the process.

import type { DockerLine } from './docker-engine.ts'
import {
  type DockerEngineOptions,
  type StandaloneDockerEngine,
  startDockerEngine,
} from './start-docker-engine.ts'
import { type EtcdCluster, startEtcd } from './start-etcd.ts'
import { type Registry, startRegistry } from './start-registry.ts'
import { type SecretsStore, startSecretsStore } from './start-secrets-store.ts'

/** A Docker Engine and a registry that it can pull from. */
export interface DockerWithRegistry {
  readonly docker: StandaloneDockerEngine
  readonly registry: Registry
}

interface SharedEngines {
  etcd?: Promise<EtcdCluster>
  secretsStore?: Promise<SecretsStore>
  registry?: Promise<Registry>
  readonly docker: Map<DockerLine, Promise<DockerWithRegistry>>
}

declare global {
  // A global variable, so that a test runner that reloads this module for each test file still finds the engines.
  var holdfastSharedEngines: SharedEngines | undefined
}

function shared(): SharedEngines {
  globalThis.holdfastSharedEngines ??= { docker: new Map() }
  return globalThis.holdfastSharedEngines
}

/** The shared one-member etcd cluster. A test that kills, pauses, fills or compacts etcd starts its own cluster. */
export function sharedEtcd(): Promise<EtcdCluster> {
  const engines = shared()
  engines.etcd ??= startEtcd()
  return engines.etcd
}

/** The shared secrets store. A test that seals or pauses it must undo that before the test ends. */
export function sharedSecretsStore(): Promise<SecretsStore> {
  const engines = shared()
  engines.secretsStore ??= startSecretsStore()
  return engines.secretsStore
}

/** The shared registry, without authentication. */
export function sharedRegistry(): Promise<Registry> {
  const engines = shared()
  engines.registry ??= startRegistry()
  return engines.registry
}

/** The shared Docker Engine. A test that kills or pauses an engine starts its own engine. */
export function sharedDocker(line: DockerLine): Promise<DockerWithRegistry> {
  const { docker } = shared()
  const found = docker.get(line) ?? startDockerWithRegistry(line)
  docker.set(line, found)
  return found
}

export async function startDockerWithRegistry(
  line: DockerLine,
  options: Omit<DockerEngineOptions, 'line'> = {},
): Promise<DockerWithRegistry> {
  const docker = await startDockerEngine({ ...options, line })
  return { docker, registry: await startRegistry({ address: docker.hostAddress }) }
}
