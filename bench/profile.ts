// Which functions use the server's CPU time while it creates deployments? Prints a CPU profile under load, sorted by self
// time.
// Usage: node bench/profile.ts [--callers 64] [--seconds 6]

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeTempFolder } from '@holdfast/testkit'
import { closedLoop } from './lib/closed-loop.ts'
import { bodyOf, nameOf } from './lib/create-body.ts'
import { openHttpLoad } from './lib/http-load.ts'
import { startBenchPlatform } from './lib/platform.ts'

interface Frame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}
interface ProfileNode {
  readonly id: number
  readonly callFrame: Frame
}
interface Profile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const { values } = parseArgs({
  options: { callers: { type: 'string', default: '64' }, seconds: { type: 'string', default: '24' } },
})
const callers = Number(values.callers)
const folder = makeTempFolder('profile')
const platform = await startBenchPlatform(1, {
  nodeFlags: ['--cpu-prof', `--cpu-prof-dir=${folder.path}`],
})
const [tenant] = platform.tenants
const load = await openHttpLoad(platform.port, callers)
const groups = { client: [process.pid], server: [platform.serverPid], etcd: platform.etcdPids }
const seconds = Number(values.seconds) / 2
const create = (from: number) => async (index: number) =>
  (await load.post(tenant?.token ?? '', bodyOf(platform.image, nameOf(from + index)))) === 201
await closedLoop(create(0), { callers, seconds, groups })
const measured = await closedLoop(create(100_000_000), { callers, seconds, groups })
load.close()
await platform.stop()
console.log(
  `${measured.perSecond.toFixed(0)}/s, CPU us/op ${JSON.stringify(measured.microsPerOperation)}, failed ${measured.failed}`,
)
const [file = ''] = readdirSync(folder.path)
const profile: Profile = JSON.parse(readFileSync(join(folder.path, file), 'utf8'))
folder.remove()
print('by place', ownTimes(profile, placeOf).slice(0, 30))
print('by function', ownTimes(profile, nameOfFrame).slice(0, 70))

function print(title: string, rows: readonly (readonly [string, number])[]): void {
  console.log(`\n${title}`)
  for (const [name, micros] of rows)
    console.log(`${(micros / 1000).toFixed(0).padStart(7)} ms  ${name.slice(0, 120)}`)
}

function placeOf({ functionName, url }: Frame): string {
  const parts = url.replace(/^file:\/\//, '').split('/')
  const vendored = parts.lastIndexOf('node_modules')
  if (vendored >= 0) return parts.slice(vendored + 1, vendored + 3).join('/')
  return url === '' ? functionName.slice(0, 40) : parts.slice(-3, -1).join('/') || url
}

function nameOfFrame({ functionName, url, lineNumber }: Frame): string {
  return `${functionName || '(anonymous)'} ${url.split('/').slice(-3).join('/')}:${lineNumber}`
}

function ownTimes(
  { nodes, samples, timeDeltas }: Profile,
  label: (frame: Frame) => string,
): [string, number][] {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]))
  const own = new Map<string, number>()
  // Uses only the last part of the profile, because V8 compiles during startup and at the beginning of the load.
  const total = timeDeltas.reduce((sum, delta) => sum + delta, 0)
  const skipMicros = total - seconds * 1_000_000
  let elapsed = 0
  samples.forEach((id, index) => {
    elapsed += timeDeltas[index] ?? 0
    if (elapsed < skipMicros) return
    const frame = byId.get(id)
    const name = frame === undefined ? '' : label(frame)
    own.set(name, (own.get(name) ?? 0) + (timeDeltas[index] ?? 0))
  })
  return [...own].sort(([, left], [, right]) => right - left)
}
