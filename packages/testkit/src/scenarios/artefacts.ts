// Searches everything that the product writes or sends for secret values. The engine's own configuration of a container
// is excluded, because it has to contain the container's environment.

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { LabNode } from '@holdfast/testkit'
import type { ApiClient } from '../platform/api-client.ts'
import type { ValueSearch } from '../secrets/find-values.ts'
import type { LabPlatform } from './start-lab-platform.ts'

/** Secret values found, by the place in which they were found: `<artifact>: <file, if the artifact is a folder>`. */
export type Finds = ReadonlyMap<string, ReadonlySet<string>>

export interface Recorded {
  /** Every log line of every server, to be searched. */
  readonly logs: readonly string[]
  /** Every response of the API, streams included, to be searched. */
  readonly answers: readonly string[]
  /** The audit log of the platform's secrets store. */
  readonly auditLogPath: string
}

/** Searches all artifacts except the storage of the secrets store and the engine's configuration of containers. */
export function searchArtefacts(cluster: LabPlatform, recorded: Recorded, search: ValueSearch): Finds {
  const texts: [string, Uint8Array][] = [
    ['logs of the servers', Buffer.from(recorded.logs.join('\n'))],
    ['answers', Buffer.from(recorded.answers.join('\n'))],
    ['audit log of the secrets store', readFileSync(recorded.auditLogPath)],
  ]
  const folders: [string, Finds][] = [
    ...(cluster.etcd?.members ?? []).map(({ name, dataDir }): [string, Finds] => [
      name,
      search.inFolder(dirname(dataDir)),
    ]),
    ...cluster.lab.nodes.map((node): [string, Finds] => [node.name, search.inFolder(node.folder, isEngines)]),
  ]
  return new Map(
    [
      ...texts.map(([name, bytes]): [string, Set<string>] => [name, search.in(bytes)]),
      ...folders.flatMap(([name, finds]) => [...finds].map(nameAll(name))),
    ].filter(([, found]) => found.size > 0),
  )
}

const nameAll =
  (artefact: string) =>
  ([path, found]: [string, ReadonlySet<string>]): [string, ReadonlySet<string>] => [
    `${artefact}: ${path}`,
    found,
  ]

/** Files with a container's configuration, which are not searched, because they have to contain its environment. */
const CONFIGURATION =
  /^(?:lib\/docker\/containers\/[0-9a-f]{64}\/config\.v2\.json|lib\/containerd\/io\.containerd\.metadata\.v1\.bolt\/meta\.db|run\/containerd\/io\.containerd\.runtime\.v2\.task\/moby\/[0-9a-f]{64}\/config\.json)$/
/** Mounts and network namespaces of containers, which are not searched. The layers are searched where they are stored. */
const MOUNTED =
  /^lib\/docker\/(?:overlay2\/[^/]+\/merged|rootfs)$|^run\/docker\/netns$|\/moby\/[0-9a-f]{64}\/rootfs$/

const isEngines = (path: string): boolean => CONFIGURATION.test(path) || MOUNTED.test(path)

/** Searches Docker's own configuration of the node's containers for secret values. */
export function searchEngine(node: LabNode, search: ValueSearch): Set<string> {
  const found = search.inFolder(`${node.folder}/lib/docker/containers`)
  return new Set([...found.values()].flatMap((values) => [...values]))
}

/** Values of one tenant to use as path parameters, by name of the parameter. */
export interface Known {
  readonly tenant: string
  readonly deployments: readonly string[]
  readonly labels: readonly string[]
  readonly nodeIds: readonly string[]
}

/**
 * Reads every GET endpoint that is not a stream, with all known values of its path parameters, and returns the responses.
 */
export async function readEverything(cluster: LabPlatform, api: ApiClient, known: Known): Promise<string[]> {
  const paths = cluster.platform.server.endpoints
    .filter(({ method, path }) => method === 'GET' && !ENDLESS.includes(path))
    .flatMap(({ path, query }) => {
      const all = query.includes('limit') ? '?limit=500' : ''
      return fill(path, known).map((filled) => `${filled}${all}`)
    })
  const answers: string[] = []
  for (const path of paths) answers.push(`${path}\n${(await api.get(path)).text}`)
  return answers
}

const ENDLESS = ['/api/v1/events/stream', '/api/v1/changes/stream', '/api/v1/exec/{id}']

function fill(path: string, known: Known): string[] {
  const [parameter] = /\{\w+\}/.exec(path) ?? []
  if (parameter === undefined) return [path]
  const values: { readonly [parameter: string]: readonly string[] } = {
    '{tenant}': [known.tenant],
    '{name}': path.includes('/secrets/resources/') ? known.labels : known.deployments,
    '{revision}': ['1', '2', '3', '4', '5', '6'],
    '{id}': known.nodeIds,
    '{code}': ['secret_material_would_persist'],
  }
  const filled = values[parameter] ?? []
  if (filled.length === 0) throw new Error(`no value is known for ${parameter} of ${path}`)
  return filled.flatMap((value) => fill(path.replace(parameter, value), known))
}
