// Where are the requests of a deployment led? One small file for each port that it is routed to, which Caddy reads anew for
// each request ({file.*}): a rename is seen by the next request, and none breaks. Caddy picks the places out of the line
// by a pattern that has room for just so many, so the places are repeated until the room is full.

import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '../../durable-file.ts'
import { createLimit } from '../../limit.ts'
import type { Backend, Leads } from '../../ports/router.ts'

/** Room for this many, each with many divisors: every replica has nearly the same share. More than the last are left out. */
export const ROOMS = [12, 60, 240] as const
export const AWAY_ROOM = 12
const WRITES_AT_ONCE = 8

export const leadFile = (folder: string, name: string, port: number): string =>
  join(folder, `${name}.${port}`)

/** `here12 10.208.0.2:80 ...`, `away12 node:8081 ...`, or `none`. */
export function leadLine({ local, peers }: Backend, port: number): string {
  if (local.length > 0) {
    const room = ROOMS.find((size) => size >= local.length) ?? Math.max(...ROOMS)
    const places = local.map((address) => `${address}:${port}`)
    return `here${room} ${fill(places, room)}`
  }
  return peers.length > 0 ? `away${AWAY_ROOM} ${fill(peers, AWAY_ROOM)}` : 'none'
}

const fill = (places: readonly string[], room: number): string =>
  Array.from({ length: room }, (_, at) => places[at % places.length]).join(' ')

function linesOf(folder: string, backends: readonly Backend[]): Map<string, string> {
  return new Map(
    backends.flatMap((backend) =>
      [...new Set(backend.routes.map(({ port }) => port))].map((port): [string, string] => [
        leadFile(folder, backend.name, port),
        leadLine(backend, port),
      ]),
    ),
  )
}

export interface LeadFiles {
  read(): Promise<Leads>
  write(backends: readonly Backend[]): Promise<void>
  /** Those of other deployments, and of ports that are routed to no more. */
  removeOthers(backends: readonly Backend[]): Promise<void>
}

export function openLeadFiles(folder: string): LeadFiles {
  const written = new Map<string, string>()
  const limit = createLimit(WRITES_AT_ONCE)
  const write = async (file: string, line: string): Promise<void> => {
    // Until it is known to be written, nothing is known of it.
    written.delete(file)
    await writeDurably(file, `${line}\n`)
    written.set(file, line)
  }
  return {
    read: () => readLeads(folder),
    async write(backends) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const changed = [...linesOf(folder, backends)].filter(([file, line]) => written.get(file) !== line)
      await Promise.all(changed.map(([file, line]) => limit(() => write(file, line))))
    },
    async removeOthers(backends) {
      const wanted = linesOf(folder, backends)
      for (const name of await readdir(folder)) {
        const file = join(folder, name)
        if (wanted.has(file)) continue
        written.delete(file)
        await rm(file, { force: true })
      }
    },
  }
}

async function readLeads(folder: string): Promise<Leads> {
  const leads = new Map<string, string[]>()
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const file of await readdir(folder)) {
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
