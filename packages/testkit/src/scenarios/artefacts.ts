// Everything that the product writes down or says, in whatever place: where a secret value may not be. The engine's
// own configuration of a container, in which its environment has to stand, is told apart.

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type LabNode, sharedSecretsStore } from '@holdfast/testkit'
import type { ApiClient } from '../platform/api-client.ts'
import type { ValueSearch } from '../secrets/find-values.ts'
import type { LabPlatform } from './start-lab-platform.ts'

/** Values by the place in which they were found: `<artefact>: <file, where it is a folder>`. */
export type Finds = ReadonlyMap<string, ReadonlySet<string>>

export interface Said {
  /** Every line of every server. */
  readonly logs: readonly string[]
  /** Every answer of the API, and what it streamed. */
  readonly answers: readonly string[]
}

/** All but the secrets store's own storage and the engine's configuration of containers. */
export async function searchArtefacts(whole: LabPlatform, said: Said, search: ValueSearch): Promise<Finds> {
  const { auditLogPath } = await sharedSecretsStore()
  const texts: [string, Uint8Array][] = [
    ['logs of the servers', Buffer.from(said.logs.join('\n'))],
    ['answers', Buffer.from(said.answers.join('\n'))],
    ['audit log of the secrets store', readFileSync(auditLogPath)],
  ]
  const folders: [string, Finds][] = [
    ...(whole.etcd?.members ?? []).map(({ name, dataDir }): [string, Finds] => [
      name,
      search.inFolder(dirname(dataDir)),
    ]),
    ...whole.lab.nodes.map((node): [string, Finds] => [node.name, search.inFolder(node.folder, isEngines)]),
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

/** Docker's configuration of a container; containerd's record and bundle of it. */
const CONFIGURATION =
  /^(?:lib\/docker\/containers\/[0-9a-f]{64}\/config\.v2\.json|lib\/containerd\/io\.containerd\.metadata\.v1\.bolt\/meta\.db|run\/containerd\/io\.containerd\.runtime\.v2\.task\/moby\/[0-9a-f]{64}\/config\.json)$/
/** The network of a container, and its file system, whose layers are searched where they are kept. */
const MOUNTED =
  /^lib\/docker\/(?:overlay2\/[^/]+\/merged|rootfs)$|^run\/docker\/netns$|\/moby\/[0-9a-f]{64}\/rootfs$/

const isEngines = (path: string): boolean => CONFIGURATION.test(path) || MOUNTED.test(path)

/** In Docker's own configuration of the containers of a node. */
export function searchEngine(node: LabNode, search: ValueSearch): Set<string> {
  const found = search.inFolder(`${node.folder}/lib/docker/containers`)
  return new Set([...found.values()].flatMap((values) => [...values]))
}

/** What may stand for each parameter of a path, of one tenant. */
export interface Known {
  readonly tenant: string
  readonly deployments: readonly string[]
  readonly labels: readonly string[]
  readonly nodeIds: readonly string[]
}

/** The answer of every GET of the API that ends, with everything that is known in place of its parameters. */
export async function readEverything(whole: LabPlatform, api: ApiClient, known: Known): Promise<string[]> {
  const paths = whole.platform.server.endpoints
    .filter(({ method, path }) => method === 'GET' && !ENDLESS.includes(path))
    .flatMap(({ path, query }) => {
      const all = query.includes('limit') ? '?limit=500' : ''
      return fill(path, known).map((filled) => `${filled}${all}`)
    })
  const answers: string[] = []
  for (const path of paths) answers.push(`${path}\n${(await api.get(path)).text}`)
  return answers
}

const ENDLESS = ['/api/v1/events/stream', '/api/v1/exec/{id}']

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
  if (filled.length === 0) throw new Error(`nothing stands for ${parameter} of ${path}`)
  return filled.flatMap((value) => fill(path.replace(parameter, value), known))
}
