// The witness: a container program that appends numbered lines to a volume, each synced before the next, some 20 a second.
// A line has its number, the container's host name and the time on CLOCK_BOOTTIME, which all nodes of a lab share.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Lab, LabNode } from '@holdfast/testkit'
import { stateOf } from '../scenarios/lab-agents.ts'

/** The word in the command line of every process of the witness that can write: program and volume have this name. */
export const WITNESS = 'witness'

/** The variable with the name of the deployment: two containers of one deployment must never run at once. */
export const WITNESS_GROUP = 'WITNESS_GROUP'

/**
 * Each line is appended by one write and synced. Afterwards it is added to `synced`, which is never synced itself: the
 * host reads there what the writer knows to be durable.
 */
const SCRIPT = `#!/bin/sh
trap 'exit 0' TERM
last=$(tail -n 1 /witness/lines 2>/dev/null)
number=\${last%% *}
: "\${number:=0}"
while :; do
  number=$((number + 1))
  read now rest </proc/uptime
  line="$number $HOSTNAME $now"
  echo "$line" | dd of=/witness/lines oflag=append conv=notrunc,fsync status=none && echo "$line" >>/witness/synced
  sleep 0.04
done
`

/** Pushes the image of the witness; returns its reference. */
export async function pushWitness(lab: Lab): Promise<string> {
  const { reference } = await lab.registry.pushBusyboxImage('acme/witness', '1.0', {
    command: ['/bin/sh', '/bin/witness'],
    files: [{ name: 'bin/witness', content: Buffer.from(SCRIPT), executable: true }],
  })
  return reference
}

/** The body of a deployment of the witness with its volume. It is healthy once it has synced a line. */
export const witnessBody = (name: string, image: string, volume: string) => ({
  kind: 'Deployment',
  name,
  image,
  replicas: 1,
  environment: { [WITNESS_GROUP]: name },
  stopGracePeriod: '1s',
  healthCheck: { type: 'exec', command: ['ls', '/witness/synced'], interval: '5s' },
  volumes: [{ volume, target: '/witness', type: 'volume', readOnly: false }],
})

export interface WitnessLine {
  readonly number: number
  readonly host: string
  /** When the writer began the line, on CLOCK_BOOTTIME. */
  readonly atMs: number
}

/** The complete lines of a file; none if there is no file. */
export function readLines(path: string): WitnessLine[] {
  return textOf(path).split('\n').slice(0, -1).map(decodeLine)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

function decodeLine(line: string): WitnessLine {
  const [, number, host = '', seconds] = /^(\d+) (\S+) (\d+\.\d+)$/.exec(line) ?? []
  if (number === undefined) throw new Error(`the witness never wrote the line ${JSON.stringify(line)}`)
  return { number: Number(number), host, atMs: Math.round(Number(seconds) * 1000) }
}

/** Folder of the pool of a node's agent, as the host sees it. */
export const poolOf = (node: LabNode): string => join(stateOf(node), 'pool')

/** Folder of the live data of a volume on a node. */
export const liveOf = (node: LabNode, volume: string): string => join(poolOf(node), 'volumes', volume)
