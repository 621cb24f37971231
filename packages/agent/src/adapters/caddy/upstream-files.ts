// Upstream files: one small file per deployment and port, which Caddy reads for each request ({file.*}), so that a
// changed upstream takes effect with the next request and breaks no connection. Caddy extracts the addresses with a
// pattern of fixed length, so a line repeats its addresses until it is full. See docs/design/routing.md#upstreams.

import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createLimit } from '../../converge/limit.ts'
import { type Backend, type Pool, poolNames, type Upstreams } from '../../ports/router.ts'
import { openDiskReserve } from '../../state/disk-reserve.ts'
import { writeDurably } from '../../state/durable-file.ts'
import { readSplitLine, splitLine } from './split-pools.ts'

/** Possible numbers of addresses in an upstream line. They have many divisors, so replicas get similar request rates. */
export const ROOMS = [12, 60, 240] as const
export const AWAY_ROOM = 12
const MAX_WRITES = 8

/** Names of upstream files: `<deployment>.<port>`. Deployment names have no dots. */
const UPSTREAM_FILE = /^[a-z0-9-]+\.[0-9]+$/
const NOWHERE = 'none'

export const upstreamFile = (folder: string, name: string, port: number): string =>
  join(folder, fileName(name, port))

/** Line of an upstream file: that of the replicas, or a split line if a canary can be reached as well. */
export function upstreamLine(backend: Backend, port: number): string {
  const stable = poolLine(backend, port)
  const { canary } = backend
  const other = canary === undefined || canary.weight === 0 ? NOWHERE : poolLine(canary, port)
  if (canary === undefined || other === NOWHERE) return stable
  return stable === NOWHERE ? other : splitLine(canary.weight, stable, other)
}

/**
 * Line of one pool: `here12` and 12 addresses of local replicas; `away12` and 12 of other nodes by plain HTTP;
 * `safe12` and 12 of other nodes by TLS; `both12` and 12 by TLS and 12 by plain HTTP; or `none`.
 */
function poolLine({ local, peers, securePeers = [] }: Pool, port: number): string {
  if (local.length > 0) {
    const room = ROOMS.find((size) => size >= local.length) ?? Math.max(...ROOMS)
    const places = local.map((address) => `${address}:${port}`)
    return `here${room} ${fill(places, room)}`
  }
  if (securePeers.length > 0 && peers.length > 0)
    return `both${AWAY_ROOM} ${fill(securePeers, AWAY_ROOM)} ${fill(peers, AWAY_ROOM)}`
  if (securePeers.length > 0) return `safe${AWAY_ROOM} ${fill(securePeers, AWAY_ROOM)}`
  return peers.length > 0 ? `away${AWAY_ROOM} ${fill(peers, AWAY_ROOM)}` : NOWHERE
}

const fill = (places: readonly string[], room: number): string =>
  Array.from({ length: room }, (_, at) => places[at % places.length]).join(' ')

export interface UpstreamFiles {
  read(): Promise<Upstreams>
  /** Writes the upstream files. When the promise resolves, no file lists an upstream that is not in `backends`. */
  write(backends: readonly Backend[]): Promise<void>
  /** Deletes files of deployments and ports that are not in `backends`, except files written after this call began. */
  removeOthers(backends: readonly Backend[]): Promise<void>
}

export function openUpstreamFiles(folder: string): UpstreamFiles {
  /** The line of each existing upstream file; undefined if the file's content is unknown. */
  let lines: Map<string, string | undefined> | undefined
  let latest: ReadonlySet<string> = new Set()
  const oneAtATime = createLimit(1)
  const limit = createLimit(MAX_WRITES)
  // Upstreams that cannot be changed would lead requests to containers that are gone.
  const reserve = openDiskReserve(`${folder}.reserve`)
  const known = async (): Promise<Map<string, string | undefined>> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    lines ??= new Map((await listUpstreams(folder)).map((file) => [file, undefined]))
    return lines
  }
  const write = async (file: string, line: string): Promise<void> => {
    // During a write and after a failed write, the file's content is unknown: the old or the new line.
    lines?.set(file, undefined)
    await reserve.write(() => writeDurably(join(folder, file), `${line}\n`))
    lines?.set(file, line)
  }
  return {
    read: () => readUpstreams(folder),
    write: (backends) =>
      oneAtATime(async () => {
        const before = await known()
        const planned = linesOf(backends)
        latest = new Set(planned.keys())
        const lines = new Map([...others(before.keys(), backends), ...planned])
        const changed = [...lines].filter(([file, line]) => before.get(file) !== line)
        await Promise.all(changed.map(([file, line]) => limit(() => write(file, line))))
        await reserve.fill()
      }),
    removeOthers: (backends) =>
      oneAtATime(async () => {
        await known()
        const planned = linesOf(backends)
        for (const file of await readdir(folder)) {
          if (planned.has(file) || latest.has(file)) continue
          lines?.delete(file)
          await rm(join(folder, file), { force: true })
        }
      }),
  }
}

const fileName = (name: string, port: number): string => `${name}.${port}`

function linesOf(backends: readonly Backend[]): Map<string, string> {
  return new Map(
    backends.flatMap((backend) =>
      [...new Set(backend.routes.map(({ port }) => port))].map((port): [string, string] => [
        fileName(backend.name, port),
        upstreamLine(backend, port),
      ]),
    ),
  )
}

/**
 * Lines for the files of removed routes, which a router with an older configuration still reads. They list the current
 * replicas of their deployment or none, so that a request never reaches another container with a reused address.
 */
function others(files: Iterable<string>, backends: readonly Backend[]): [string, string][] {
  const byName = new Map(backends.map((backend) => [backend.name, backend]))
  return [...files].map((file) => {
    const [name = '', port] = file.split('.')
    const backend = byName.get(name)
    return [file, backend === undefined ? NOWHERE : upstreamLine(backend, Number(port))]
  })
}

/** Lists the upstream files, without temporary files that a crashed write left behind. */
async function listUpstreams(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch((error: unknown) => {
    // If the folder does not exist, no upstream file was ever written.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  })
  return files.filter((file) => UPSTREAM_FILE.test(file))
}

async function readUpstreams(folder: string): Promise<Upstreams> {
  const upstreams = new Map<string, string[]>()
  for (const file of await listUpstreams(folder)) {
    const [name = ''] = file.split('.')
    const line = (await readFile(join(folder, file), 'utf8')).trim()
    const pools = readSplitLine(line)
    const names = poolNames(name)
    const add = (pool: string, text: string): void => {
      upstreams.set(pool, [...new Set([...(upstreams.get(pool) ?? []), ...placesOf(text)])])
    }
    add(names.stable, pools?.stable ?? line)
    if (pools !== undefined) add(names.canary, pools.canary)
  }
  return upstreams
}

function placesOf(line: string): string[] {
  const [kind = '', ...places] = line.trim().split(' ')
  return kind.startsWith('here') ? places.map((place) => place.replace(/:\d+$/, '')) : []
}
