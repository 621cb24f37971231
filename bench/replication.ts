// How fast does replication copy a volume to another node, compared with `btrfs send` and `btrfs receive` over the same TLS
// link? bench/README.md explains how to run and read it.

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { asVolumeId, type DesiredCopy, ulid, type VolumeId } from '@holdfast/contract'
import { freePort, waitUntil } from '@holdfast/testkit'
import { coresWhileIdle } from './lib/cpu.ts'
import { startPair } from './lib/replication/start-pair.ts'
import { median } from './lib/stats.ts'

const { values } = parseArgs({
  options: {
    mib: { type: 'string', default: '512' },
    changed: { type: 'string', default: '64' },
    rounds: { type: 'string', default: '5' },
    check: { type: 'boolean', default: false },
  },
})
const MIB = 1024 ** 2
const FULL = Number(values.mib)
const CHANGED = Number(values.changed)
const ROUNDS = Number(values.rounds)
/** Least throughput, as a share of bare. */
const LEAST_RATIO = 0.8
/** Both sides have a volume and two checkpoints of it at once, and the kernel frees deleted ones later. */
const POOL_BYTES = (8 * (FULL + CHANGED) + 1024) * MIB

const pair = await startPair(POOL_BYTES)
const { primary, replica, folder } = pair
const data = join(folder, 'data')
const changes = join(folder, 'changes')
writeRandom(data, FULL)
writeRandom(changes, CHANGED)
makeBareKey()

function writeRandom(path: string, mib: number): void {
  writeFileSync(path, '')
  for (let written = 0; written < mib; written += 1) writeFileSync(path, randomBytes(MIB), { flag: 'a' })
}

function makeBareKey(): void {
  const words = ['req', '-x509', '-newkey', 'ed25519', '-nodes', '-subj', '/CN=bench', '-days', '2']
  execFileSync('openssl', [...words, '-keyout', `${folder}/key.pem`, '-out', `${folder}/cert.pem`], {
    stdio: 'ignore',
  })
}

const onPrimary = (script: string): Promise<unknown> => primary.ask({ kind: 'shell', script })
const onReplica = (script: string): Promise<unknown> => replica.ask({ kind: 'shell', script })

interface Figures {
  readonly ms: number
  /** CPU of the sending and of the receiving processes, in microseconds. */
  readonly cpu: readonly [number, number]
}

const cpuNow = async (): Promise<[number, number]> => [
  Number(await primary.ask({ kind: 'cpu' })),
  Number(await replica.ask({ kind: 'cpu' })),
]

async function timed(work: () => Promise<unknown>): Promise<Figures> {
  const [sent, received] = await cpuNow()
  const began = performance.now()
  await work()
  const ms = performance.now() - began
  const [sentNow, receivedNow] = await cpuNow()
  return { ms, cpu: [sentNow - sent, receivedNow - received] }
}

/** A side has a volume of its own in the same pools: filled, copied in full, changed, and copied again. */
interface Side {
  readonly path: string
  /** Starts the receiver of the next copy, unless it listens already. */
  listen(): Promise<void>
  copy(): Promise<unknown>
  remove(): Promise<unknown>
}

interface Measured {
  readonly full: Figures
  readonly changed: Figures
}

async function measure(side: Side): Promise<Measured> {
  await onPrimary(`cp ${data} ${side.path}/data; sync -f ${side.path}`)
  await side.listen()
  const full = await timed(side.copy)
  await onPrimary(
    `dd if=${changes} of=${side.path}/data bs=1M seek=${Math.floor((FULL - CHANGED) / 2)} conv=notrunc status=none; sync -f ${side.path}`,
  )
  await side.listen()
  const changed = await timed(side.copy)
  await side.remove()
  // The kernel frees deleted subvolumes in the background, which would disturb the next measurement.
  await onPrimary(`btrfs subvolume sync ${primary.root} >/dev/null; sync -f ${primary.root}`)
  await onReplica(`btrfs subvolume sync ${replica.root} >/dev/null; sync -f ${replica.root}`)
  return { full, changed }
}

const copyOf = (volume: VolumeId, role: DesiredCopy['role'], peer: string): DesiredCopy =>
  Object.assign(
    { volume, epoch: 1, role, desired: 'present' as const, mayCreate: true },
    { sizeBytes: 2 * (FULL + CHANGED) * MIB, peers: [asPeer(peer)] },
  )
const asPeer = (nodeId: string) =>
  nodeId === primary.peer.nodeId ? primary.peer.nodeId : replica.peer.nodeId

async function productSide(): Promise<Side> {
  const volume = asVolumeId(`vol_${ulid(Date.now(), randomBytes(10))}`)
  const bytes = 2 * (FULL + CHANGED) * MIB
  const path = String(await primary.ask({ kind: 'provision', volume, bytes }))
  return {
    path,
    async listen() {
      const ofReplica = copyOf(volume, 'replica', primary.peer.nodeId)
      await replica.ask({ kind: 'copy', copy: ofReplica, peer: primary.peer })
      const ofPrimary = copyOf(volume, 'primary', replica.peer.nodeId)
      await primary.ask({ kind: 'copy', copy: ofPrimary, peer: replica.peer })
    },
    copy: () => primary.ask({ kind: 'replicate', volume }),
    async remove() {
      await primary.ask({ kind: 'remove', volume })
      await replica.ask({ kind: 'remove', volume })
    },
  }
}

let bareCount = 0
async function bareSide(): Promise<Side> {
  bareCount += 1
  const name = `bare${bareCount}`
  const path = `${primary.root}/${name}`
  const port = await freePort()
  const tls = `openssl TOOL -tls1_3 -quiet`
  let number = 0
  let received: Promise<unknown> = Promise.resolve()
  await onPrimary(`btrfs subvolume create ${path} >/dev/null`)
  return {
    path,
    async listen() {
      number += 1
      const server = `${tls.replace('TOOL', 's_server')} -naccept 1 -accept 127.0.0.1:${port} -key ${folder}/key.pem -cert ${folder}/cert.pem`
      const isComplete = `[ "$(btrfs property get ${replica.root}/${name}.${number} ro)" = ro=true ]`
      received = onReplica(
        `${server} 2>/dev/null | btrfs receive -q ${replica.root}; btrfs filesystem sync ${replica.root}; ${isComplete}`,
      )
      await waitUntil(async () => execFileSync('ss', ['-ltn']).includes(`127.0.0.1:${port}`), {
        what: 'openssl listens',
      })
    },
    async copy() {
      const snapshot = `${path}.${number}`
      const parent = number === 1 ? '' : `-p ${path}.${number - 1}`
      const client = `${tls.replace('TOOL', 's_client')} -nocommands -no_ign_eof -connect 127.0.0.1:${port}`
      await onPrimary(
        `btrfs filesystem sync ${primary.root}; btrfs subvolume snapshot -r ${path} ${snapshot} >/dev/null; btrfs send -q ${parent} ${snapshot} | ${client} 2>/dev/null`,
      )
      await received
    },
    async remove() {
      await onPrimary(`btrfs subvolume delete ${path} ${path}.1 ${path}.2 >/dev/null`)
      await onReplica(`btrfs subvolume delete ${replica.root}/${name}.1 ${replica.root}/${name}.2 >/dev/null`)
    },
  }
}

const product: Measured[] = []
const bare: Measured[] = []
const idle = await coresWhileIdle()
for (let round = 0; round < ROUNDS; round += 1) {
  if (round % 2 === 1) bare.push(await measure(await bareSide()))
  product.push(await measure(await productSide()))
  if (round % 2 === 0) bare.push(await measure(await bareSide()))
}
await pair.stop()

console.log(`replication, ${ROUNDS} rounds, medians; cores busy while idle ${idle.toFixed(2)}`)
console.log(
  '  copy                 Holdfast       bare        ratio  CPU ms, sender and receiver: Holdfast, bare',
)
const ratios = [
  report(`full, ${FULL} MiB`, FULL, ({ full }) => full),
  report(`changes, ${CHANGED} MiB`, CHANGED, ({ changed }) => changed),
]
const reached = ratios.every((ratio) => ratio >= LEAST_RATIO)
const target = `at least ${LEAST_RATIO} of bare`
console.log(reached ? `target reached: ${target}` : `TARGET NOT REACHED: ${target}`)
if (values.check && !reached) process.exitCode = 1

function report(about: string, mib: number, pick: (measured: Measured) => Figures): number {
  const [ours, theirs] = [product.map(pick), bare.map(pick)]
  const rate = (figures: readonly Figures[]): number => mib / (median(figures.map(({ ms }) => ms)) / 1000)
  const cpu = (figures: readonly Figures[]): string =>
    [0, 1].map((at) => (median(figures.map((one) => one.cpu[at] ?? 0)) / 1000).toFixed(0)).join(' + ')
  // Each round's two sides ran one after the other, so drift of the machine cancels in their ratio.
  const ratio = median(ours.map(({ ms }, at) => (theirs[at]?.ms ?? Number.NaN) / ms))
  const cells = [`${rate(ours).toFixed(0)} MiB/s`, `${rate(theirs).toFixed(0)} MiB/s`]
  console.log(
    `  ${about.padEnd(18)} ${cells.map((cell) => cell.padStart(11)).join(' ')}   ${ratio.toFixed(2)}         ${cpu(ours)}, ${cpu(theirs)}`,
  )
  return ratio
}
