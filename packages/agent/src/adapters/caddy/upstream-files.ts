// Where are the requests of a deployment led? One small file for each port that it is routed to, which Caddy reads anew for
// each request ({file.*}): a rename is seen by the next request, and none breaks. Caddy picks the places out of the line
// by a pattern that has room for just so many, so the places are repeated until the room is full.

import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createLimit } from '../../converge/limit.ts'
import type { Backend, Upstreams } from '../../ports/router.ts'
import { writeDurably } from '../../state/durable-file.ts'

/** Room for this many, each with many divisors: every replica has nearly the same share. More than the last are left out. */
export const ROOMS = [12, 60, 240] as const
export const AWAY_ROOM = 12
const WRITES_AT_ONCE = 8

/** A name has no dot (SPEC 2.2), so the file says whose it is. */
const LEAD = /^[a-z0-9-]+\.[0-9]+$/
const NOWHERE = 'none'

export const upstreamFile = (folder: string, name: string, port: number): string =>
  join(folder, fileName(name, port))

/** `here12 10.208.0.2:80 ...`, `away12 node:8081 ...`, or `none`. */
export function upstreamLine({ local, peers }: Backend, port: number): string {
  if (local.length > 0) {
    const room = ROOMS.find((size) => size >= local.length) ?? Math.max(...ROOMS)
    const places = local.map((address) => `${address}:${port}`)
    return `here${room} ${fill(places, room)}`
  }
  return peers.length > 0 ? `away${AWAY_ROOM} ${fill(peers, AWAY_ROOM)}` : NOWHERE
}

const fill = (places: readonly string[], room: number): string =>
  Array.from({ length: room }, (_, at) => places[at % places.length]).join(' ')

export interface UpstreamFiles {
  read(): Promise<Upstreams>
  /** On return no file leads otherwise than is told here. */
  write(backends: readonly Backend[]): Promise<void>
  /** Those of other deployments, and of ports that are routed to no more; not those that were written since. */
  removeOthers(backends: readonly Backend[]): Promise<void>
}

export function openUpstreamFiles(folder: string): UpstreamFiles {
  /** The line of each file that is there; undefined where it is not known. */
  let lines: Map<string, string | undefined> | undefined
  let latest: ReadonlySet<string> = new Set()
  const oneAtATime = createLimit(1)
  const limit = createLimit(WRITES_AT_ONCE)
  const known = async (): Promise<Map<string, string | undefined>> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    lines ??= new Map((await listUpstreams(folder)).map((file) => [file, undefined]))
    return lines
  }
  const write = async (file: string, line: string): Promise<void> => {
    // Until it is known to be written, nothing is known of it.
    lines?.set(file, undefined)
    await writeDurably(join(folder, file), `${line}\n`)
    lines?.set(file, line)
  }
  return {
    read: () => readUpstreams(folder),
    write: (backends) =>
      oneAtATime(async () => {
        const before = await known()
        const wanted = linesOf(backends)
        latest = new Set(wanted.keys())
        const told = new Map([...others(before.keys(), backends), ...wanted])
        const changed = [...told].filter(([file, line]) => before.get(file) !== line)
        await Promise.all(changed.map(([file, line]) => limit(() => write(file, line))))
      }),
    removeOthers: (backends) =>
      oneAtATime(async () => {
        await known()
        const wanted = linesOf(backends)
        for (const file of await readdir(folder)) {
          if (wanted.has(file) || latest.has(file)) continue
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
 * A router that was not told yet, or that comes back with what it had, still reads the files of routes that are no more: they
 * lead to the replicas of their deployment, or nowhere, and never to who has the address by then.
 */
function others(files: Iterable<string>, backends: readonly Backend[]): [string, string][] {
  const byName = new Map(backends.map((backend) => [backend.name, backend]))
  return [...files].map((file) => {
    const [name = '', port] = file.split('.')
    const backend = byName.get(name)
    return [file, backend === undefined ? NOWHERE : upstreamLine(backend, Number(port))]
  })
}

/** Not those that were being written when somebody died: what is in them is not whole. */
async function listUpstreams(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch((error: unknown) => {
    // Where no folder is, none has ever been led to.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  })
  return files.filter((file) => LEAD.test(file))
}

async function readUpstreams(folder: string): Promise<Upstreams> {
  const leads = new Map<string, string[]>()
  for (const file of await listUpstreams(folder)) {
    const [name = ''] = file.split('.')
    const before = leads.get(name) ?? []
    leads.set(name, [...new Set([...before, ...placesOf(await readFile(join(folder, file), 'utf8'))])])
  }
  return leads
}

function placesOf(line: string): string[] {
  const [kind = '', ...places] = line.trim().split(' ')
  return kind.startsWith('here') ? places.map((place) => place.replace(/:\d+$/, '')) : []
}
