// Volumes and agents of a lab, for the benchmarks of volumes.

import { readdirSync, readFileSync } from 'node:fs'
import { type LabNode, waitUntil } from '@holdfast/testkit'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'

const TICK_US = 10_000
const READY_MS = 240_000

export interface VolumeSpec {
  readonly name: string
  readonly sizeBytes: number
  readonly replicas: number
  /** The node of the primary. */
  readonly nodeId: string
}

const volumesOf = ({ platform }: LabPlatform): string => `/api/v1/tenants/${platform.acme.id}/volumes`

/** Creates a volume of class replicated; returns its id. */
export async function createVolume(cluster: LabPlatform, spec: VolumeSpec): Promise<string> {
  const created = await cluster.api('acme').post(volumesOf(cluster), { class: 'replicated', ...spec })
  if (created.status !== 201) throw new Error(`no volume: ${created.text}`)
  return String(Object(created.body['volume']).id)
}

export async function readVolume(cluster: LabPlatform, id: string) {
  return Object((await cluster.api('acme').get(`${volumesOf(cluster)}/${id}`)).body)
}

/** Waits until each volume has all its copies and none of them lags. */
export async function untilReplicated(cluster: LabPlatform, ids: readonly string[]): Promise<void> {
  for (const id of ids)
    await waitUntil(
      async () => {
        const { phase, reason } = await readVolume(cluster, id)
        return phase === 'Ready' && reason === null
      },
      { what: `volume ${id} is replicated`, timeoutMs: READY_MS },
    )
}

/** The ids of the tenant's nodes by name. */
export async function nodeIds(cluster: LabPlatform): Promise<ReadonlyMap<string, string>> {
  const { body } = await cluster.api('acme').get('/api/v1/nodes')
  const items: { name: string; id: string }[] = Object.values(Object(body['items']))
  return new Map(items.map(({ name, id }) => [name, id]))
}

export function agentPid(node: LabNode): number {
  const state = `${node.folder}/agent`
  const isAgent = (pid: string): boolean => {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return words.includes('run') && words[words.indexOf('--state') + 1] === state
  }
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && ifReadable(() => isAgent(name)))
  if (found.length !== 1) throw new Error(`${found.length} agents of ${node.name}`)
  return Number(found[0])
}

/** A process that has just ended has no files. */
function ifReadable(read: () => boolean): boolean {
  try {
    return read()
  } catch {
    return false
  }
}

/** CPU time of a process and its ended children, such as the agent's btrfs commands, in microseconds. */
export function cpuWithChildren(pid: number): { readonly own: number; readonly children: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number)
  return { own: (user + system) * TICK_US, children: (childUser + childSystem) * TICK_US }
}
