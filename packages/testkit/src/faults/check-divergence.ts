// Compares what a client can download of a former primary's data with the files on its machine, as the host reads them.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Divergence, Divergences } from '@holdfast/contract'
import { type LabNode, waitUntil } from '@holdfast/testkit'
import type { ApiClient } from '../platform/api-client.ts'
import type { LabPlatform } from '../scenarios/start-lab-platform.ts'
import { poolOf, type WitnessLine } from './witness.ts'

const LISTED_MS = 30_000
const MAX_FILE = 1024 ** 3

export interface DivergedWorld {
  readonly cluster: LabPlatform
  readonly api: ApiClient
}

/** The epoch of a volume that a promotion ended, and its primary. */
export interface EndedEpoch {
  readonly volume: string
  readonly epoch: number
  readonly nodeId: string
}

export interface ComparedDivergence {
  /** The length of the downloaded archive; 0 if there is none. */
  readonly bytes: number
  readonly violations: readonly string[]
}

const pathOf = ({ cluster: { platform } }: DivergedWorld, volume: string): string =>
  `/api/v1/tenants/${platform.acme.id}/volumes/${volume}/divergences`

export async function listDivergences(world: DivergedWorld, volume: string): Promise<Divergences> {
  const { status, body, text } = await world.api.get(`${pathOf(world, volume)}?limit=500`)
  if (status !== 200) throw new Error(text)
  return Object(body)
}

export const deleteDivergence = (world: DivergedWorld, volume: string, epoch: number) =>
  world.api.delete(`${pathOf(world, volume)}/${epoch}`)

/** Lists, downloads and compares the data that the former primary keeps of the epoch. */
export async function compareDivergence(
  world: DivergedWorld,
  { volume, epoch, nodeId }: EndedEpoch,
  from: LabNode,
): Promise<ComparedDivergence> {
  const isOwn = (item: Divergence) => item.epoch === epoch && item.nodeId === nodeId
  const item = await waitUntil(
    async () => (await listDivergences(world, volume)).items.find((one) => isOwn(one) && !one.unavailable),
    { what: `epoch ${epoch} of ${volume} is listed and available`, timeoutMs: LISTED_MS },
  ).catch(() => undefined)
  if (item === undefined) return { bytes: 0, violations: [`epoch ${epoch} is not listed as available`] }
  const archive = await download(world, volume, epoch)
  if (typeof archive === 'string') return { bytes: 0, violations: [archive] }
  return {
    bytes: archive.length,
    violations: differences(archive, join(liveFolder(from, volume), `${epoch}`)),
  }
}

const liveFolder = (node: LabNode, volume: string): string => join(poolOf(node), 'quarantine', volume)

async function download(world: DivergedWorld, volume: string, epoch: number): Promise<Buffer | string> {
  const { baseUrl, acme } = world.cluster.platform
  const response = await fetch(`${baseUrl}${pathOf(world, volume)}/${epoch}`, {
    headers: { authorization: `Bearer ${acme.token}` },
  })
  if (response.status !== 200) return `the download of epoch ${epoch} got ${response.status}`
  return response.arrayBuffer().then(
    (bytes) => Buffer.from(bytes),
    (error: unknown) => `the download of epoch ${epoch} broke: ${error}`,
  )
}

/** The files whose bytes differ between the archive and the machine. The witness makes no folders. */
function differences(archive: Buffer, kept: string): string[] {
  const live = join(kept, 'live')
  const names = readdirSync(live).toSorted()
  const listed = tar(['--list'], archive).toString('utf8').split('\n')
  const archived = listed.flatMap((name) => (/^\.\/[^/]+$/.test(name) ? name.slice(2) : [])).toSorted()
  if (archived.join() !== names.join()) return [`the archive has ${archived}, and the machine has ${names}`]
  return names
    .filter(
      (name) =>
        !tar(['--extract', '--to-stdout', `./${name}`], archive).equals(readFileSync(join(live, name))),
    )
    .map((name) => `the downloaded file ${name} differs from that on the machine`)
}

function tar(args: readonly string[], input: Buffer): Buffer {
  const { status, stdout, stderr } = spawnSync('tar', [...args, '--file=-'], { input, maxBuffer: MAX_FILE })
  if (status !== 0) throw new Error(`tar ${args.join(' ')}: ${stderr}`)
  return stdout
}

const keyOf = ({ number, host, atMs }: WitnessLine): string => `${number} ${host} ${atMs}`

/** Remembers the lines of each group that promotions left behind, which must never be in its volume again. */
export interface LeftBehind {
  /** Adds the lines that this promotion left behind; returns how many of all are among the current ones. */
  add(group: string, lost: readonly WitnessLine[], current: readonly WitnessLine[]): number
}

export function createLeftBehind(): LeftBehind {
  const byGroup = new Map<string, Set<string>>()
  return {
    add(group, lost, current) {
      const all = byGroup.get(group) ?? new Set()
      byGroup.set(group, all)
      for (const line of lost) all.add(keyOf(line))
      return current.filter((line) => all.has(keyOf(line))).length
    },
  }
}
