// A deployment that writes a volume while processes change between builds. Each container first notes its own id in the
// volume, so a container that the engine started without its mount is missing in the notes. It then appends numbers.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineProcess } from '../engines/engine-process.ts'
import type { LabNode } from '../lab/lab-node.ts'
import { waitUntil } from '../wait-until.ts'
import type { BuildsPlatform } from './start-builds-platform.ts'

export const WRITER = 'writer'
const TARGET = '/data'
const WRITE = [
  `hostname >> ${TARGET}/starts`,
  `n=$(tail -n 1 ${TARGET}/numbers); n=\${n:-0}`,
  "trap 'exit 0' TERM",
  'httpd -p 8080 -h /www',
  `while :; do n=$((n+1)); echo $n >> ${TARGET}/numbers; sleep 0.2 & wait $!; done`,
].join('; ')

/** The deployment, without its image. */
export const writerOf = (volume: string): object => ({
  name: WRITER,
  replicas: 1,
  command: ['/bin/sh', '-c', WRITE],
  volumes: [{ volume, target: TARGET, type: 'bind', readOnly: false }],
})

/** The part of a volume that the tests read. */
export interface SeenVolume {
  readonly phase: string
  readonly reason: string | null
  readonly primary: { readonly nodeId: string; readonly nodeName: string } | null
  readonly copies: readonly { readonly nodeName: string; readonly state: string }[]
}

export const volumesPath = ({ tenant }: BuildsPlatform): string => `/api/v1/tenants/${tenant}/volumes`

export async function readVolume(platform: BuildsPlatform, id: string): Promise<SeenVolume> {
  return Object((await platform.api.get(`${volumesPath(platform)}/${id}`)).body)
}

export async function untilVolume(
  platform: BuildsPlatform,
  id: string,
  what: string,
  holds: (volume: SeenVolume) => boolean,
): Promise<SeenVolume> {
  let seen: SeenVolume | undefined
  const isSeen = async (): Promise<boolean> => {
    seen = await readVolume(platform, id)
    return holds(seen)
  }
  await waitUntil(isSeen, { what, timeoutMs: 90_000 }).catch((error: Error) => {
    throw new Error(`${error.message} Last: ${JSON.stringify(seen)}`)
  })
  return seen ?? readVolume(platform, id)
}

/** The data of a volume in the pool of a node: the ids of the containers that wrote, and their numbers. */
export async function readWritten(node: LabNode, volume: string) {
  const folder = join(node.folder, 'agent/pool/volumes', volume)
  const linesOf = async (file: string): Promise<string[]> =>
    (await node.exec(['cat', join(folder, file)])).split('\n').filter((line) => line !== '')
  return { starts: await linesOf('starts'), numbers: (await linesOf('numbers')).map(Number) }
}

/** Waits until the writer appends numbers. */
export async function untilWriting(node: LabNode, volume: string): Promise<void> {
  const count = async (): Promise<number> => (await readWritten(node, volume)).numbers.length
  const before = await count().catch(() => 0)
  await waitUntil(async () => (await count().catch(() => 0)) > before + 2, {
    what: 'the writer appends numbers',
    timeoutMs: 60_000,
  })
}

export interface Starts {
  /** Ids of the writer's containers that the engine has started, in the form of a host name. */
  ids(): string[]
  stop(): Promise<void>
}

const FACTS = '{{.ID}} {{index .Actor.Attributes "name"}}'

/** Records every start of a container on a node, as its engine announces it. */
export function watchStarts(node: LabNode): Starts {
  const logFile = join(node.folder, 'starts.log')
  const filters = ['--filter', 'type=container', '--filter', 'event=start']
  const watching: EngineProcess = node.startProcess({
    binary: 'docker',
    args: ['--host', `unix://${node.socketPath}`, 'events', ...filters, '--format', FACTS],
    logFile,
  })
  return {
    ids: () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .map((line) => line.split(' '))
        .filter(([, name = '']) => name.split('.')[0] === WRITER)
        .map(([id = '']) => id.slice(0, 12)),
    stop: () => watching.kill(),
  }
}
