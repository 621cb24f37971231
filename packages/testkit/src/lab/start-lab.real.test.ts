import { createSocket, type Socket } from 'node:dgram'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEngineProcess } from '../engines/engine-process.ts'
import { isAlive } from '../engines/process-record.ts'
import { waitUntil } from '../wait-until.ts'
import { labLeftovers, labProcesses } from './lab-leftovers.ts'
import { inNamespace } from './lab-network.ts'
import type { LabNode } from './lab-node.ts'
import { type Lab, type LabParty, startLab } from './start-lab.ts'

const PORT = 7_999
const LISTEN = `const socket = require('node:dgram').createSocket('udp4')
  socket.on('message', (text) => console.log(String(text))).bind(${PORT}, () => console.log('listening'))`
const SEND = `const [address, text] = process.argv.slice(1)
  const socket = require('node:dgram').createSocket('udp4')
  socket.send(text, ${PORT}, address, () => socket.close())`
const SERVE = `require('node:net').createServer((socket) => socket.end()).listen(${PORT})`
const DIAL = `const socket = require('node:net').connect(${PORT}, process.argv[1], () => process.exit(0))
  socket.setTimeout(1000, () => process.exit(1)).on('error', () => process.exit(1))`

let lab: Lab
let image: string
let seconds: string
let acme1: LabNode
let acme2: LabNode
let globex1: LabNode
let host: Socket
const receivedByHost: string[] = []
const docker = async (node: LabNode, ...args: string[]) => (await node.exec(['docker', ...args])).trim()
function named(name: string): LabNode {
  const node = lab.nodes.find((one) => one.name === name)
  if (node === undefined) throw new Error(`node ${name} does not exist`)
  return node
}
/** Command of a node process that stands in for an agent; it also listens for datagrams. */
const listener = (node: LabNode) => ({
  binary: process.execPath,
  args: ['-e', LISTEN],
  logFile: receivedFile(node),
})
const receivedFile = (node: LabNode) => join(node.folder, 'received.log')

beforeAll(async () => {
  const begun = performance.now()
  const startAgent = async (node: LabNode) => node.startProcess(listener(node))
  lab = await startLab({ tenants: ['acme', 'globex'], nodesPerTenant: 2, serverMachines: 2, startAgent })
  seconds = ((performance.now() - begun) / 1000).toFixed(1)
  acme1 = named('acme-1')
  acme2 = named('acme-2')
  globex1 = named('globex-1')
  image = (await lab.registry.pushBusyboxImage('acme/web', '1.0')).reference
  host = createSocket('udp4').on('message', (text) => void receivedByHost.push(String(text)))
  host.bind(PORT, lab.hostAddress)
})
afterAll(async () => {
  host.close()
  await lab.stop()
})

test('starts two nodes for each of two tenants with alternating engine versions and a shared registry', async () => {
  process.stdout.write(`four nodes are up after ${seconds} s\n`)
  const lines = lab.nodes.map((node) => `${node.name} ${node.engine.line} ${node.engine.apiVersion}`)
  expect(lines).toEqual(['acme-1 old 1.41', 'acme-2 new 1.56', 'globex-1 old 1.41', 'globex-2 new 1.56'])
  const run = (node: LabNode) =>
    docker(node, 'run', '-d', '--restart', 'unless-stopped', '--name', 'web', image)
  expect(new Set(await Promise.all(lab.nodes.map(run))).size).toBe(4)
  const id = (node: LabNode) => docker(node, 'info', '--format', '{{.ID}}')
  expect(new Set(await Promise.all(lab.nodes.map(id))).size).toBe(4)
  for (const node of lab.nodes) expect(await docker(node, 'ps', '--format', '{{.Names}}')).toBe('web')
})

async function send(from: LabParty, to: LabParty, text: string): Promise<void> {
  const address = to === 'control-plane' ? lab.hostAddress : to.address
  if (from === 'control-plane') host.send(text, PORT, address)
  // A node whose own packet filter drops its packets gets an error when it sends.
  else await from.exec([process.execPath, '-e', SEND, address, text]).catch(() => {})
}
function receivedBy(by: LabParty): string {
  if (by === 'control-plane') return receivedByHost.join('\n')
  return existsSync(receivedFile(by)) ? readFileSync(receivedFile(by), 'utf8') : ''
}
const hears = (by: LabParty, text: string) =>
  waitUntil(() => receivedBy(by).includes(text), { what: `${text} is received` })

let sentCount = 0
/** Sends a datagram and returns whether it arrives. It is lost if a later datagram from another sender arrives first. */
async function arrives(from: LabParty, to: LabParty, witness: LabParty): Promise<boolean> {
  sentCount += 1
  await send(from, to, `word-${sentCount}.`)
  await waitUntil(
    async () => {
      await send(witness, to, `witness-${sentCount}.`)
      return receivedBy(to).includes(`witness-${sentCount}.`)
    },
    { what: 'the datagram of the witness arrives', intervalMs: 50 },
  )
  return receivedBy(to).includes(`word-${sentCount}.`)
}

test('a partition drops only the given direction, until it is healed', async () => {
  await Promise.all(lab.nodes.map((node) => hears(node, 'listening')))
  lab.partition(acme1, acme2, 'a-to-b')
  expect(await arrives(acme1, acme2, globex1)).toBe(false)
  expect(await arrives(acme2, acme1, globex1)).toBe(true)
  lab.partition(acme1, 'control-plane', 'a-to-b')
  expect(await arrives(acme1, 'control-plane', acme2)).toBe(false)
  expect(await arrives('control-plane', acme1, globex1)).toBe(true)
  lab.heal()
  lab.partition(acme1, 'control-plane', 'b-to-a')
  expect(await arrives('control-plane', acme1, acme2)).toBe(false)
  expect(await arrives(acme1, 'control-plane', acme2)).toBe(true)
  expect(await arrives(acme1, acme2, globex1)).toBe(true)
  lab.heal()
  expect(await arrives('control-plane', acme1, acme2)).toBe(true)
})

test('a partition cuts off the containers of the node as well', async () => {
  const [address = '', port = ''] = lab.registry.host.split(':')
  const dial = () => docker(acme2, 'exec', 'web', 'sh', '-c', `nc -w 1 ${address} ${port} </dev/null`)
  const getsThrough = () => waitUntil(() => dial().then(() => true), { what: 'the registry is reached' })
  await getsThrough()
  lab.partition('control-plane', acme2)
  await expect(dial()).rejects.toThrow()
  lab.heal()
  await getsThrough()
})

test('nodes, servers and this host reach each machine of servers, until a node is cut off from them', async () => {
  const [first, second] = lab.serverMachines
  if (first === undefined || second === undefined) throw new Error('the lab has two machines of servers')
  const logFile = join(dirname(acme1.folder), 'served.log')
  const server = startEngineProcess(
    inNamespace(first.namespace, { binary: process.execPath, args: ['-e', SERVE], logFile }),
  )
  const words = ['-e', DIAL, first.address]
  const fromNode = () => acme1.exec([process.execPath, ...words])
  const dial = { binary: process.execPath, args: words, logFile }
  await waitUntil(() => fromNode().then(() => true), { what: 'a node reaches the server' })
  expect(await startEngineProcess(inNamespace(second.namespace, dial)).exited).toBe(0)
  expect(await startEngineProcess(dial).exited).toBe(0)
  lab.partition('control-plane', acme1)
  await expect(fromNode()).rejects.toThrow()
  await acme2.exec([process.execPath, ...words])
  lab.heal()
  await fromNode()
  await server.kill()
})

test('a node that loses power stops at once and returns with its disk, agent and partitions', async () => {
  const pids = labProcesses(acme1.namespace)
  expect(pids.length).toBeGreaterThanOrEqual(5)
  const before = await docker(acme1, 'inspect', '--format', '{{.Id}}', 'web')
  lab.partition(acme2, acme1, 'a-to-b')
  await lab.powerOff(acme1)
  await waitUntil(() => !pids.some(isAlive), { what: 'its processes are gone' })
  expect(() => acme1.engine).toThrow(/acme-1: it is switched off/)
  expect(labLeftovers({ prefix: acme1.namespace, folder: join(acme1.folder, 'run'), pids })).toEqual([])

  await lab.powerOn(acme1)
  const running = () => docker(acme1, 'inspect', '--format', '{{.Id}} {{.State.Running}}', 'web')
  await waitUntil(async () => (await running()) === `${before} true`, { what: 'its container runs again' })
  await waitUntil(() => receivedBy(acme1).split('listening').length === 3, {
    what: 'its agent listens again',
  })
  expect(await arrives(acme2, acme1, globex1)).toBe(false)
  lab.heal()
  expect(await arrives(acme2, acme1, globex1)).toBe(true)
})

test('agents and engines of single nodes can be killed, paused and restarted', async () => {
  await lab.killAgent(globex1)
  await lab.restartAgent(globex1)
  await waitUntil(() => receivedBy(globex1).split('listening').length === 3, {
    what: 'the agent listens again',
  })
  lab.pauseAgent(globex1)
  lab.resumeAgent(globex1)
  await lab.killEngine(globex1)
  await expect(docker(globex1, 'ps')).rejects.toThrow()
  await lab.restartEngine(globex1)
  lab.pauseEngine(globex1)
  await expect(globex1.exec(['docker', 'ps'], { timeoutMs: 500 })).rejects.toThrow()
  lab.resumeEngine(globex1)
  expect(await docker(globex1, 'ps', '--format', '{{.Names}}')).toBe('web')
})

test('a stopped lab leaves nothing behind', async () => {
  const folder = dirname(acme1.folder)
  const prefix = acme1.namespace.replace(/-.*/, '')
  const pids = labProcesses(prefix)
  expect(labLeftovers({ prefix, folder, pids }).length).toBeGreaterThan(pids.length)
  const sockets = pids.flatMap(shimSockets)
  expect(sockets.length).toBeGreaterThanOrEqual(4)
  const begun = performance.now()
  await lab.stop()
  process.stdout.write(`four nodes are gone after ${((performance.now() - begun) / 1000).toFixed(1)} s\n`)
  await waitUntil(() => !pids.some(isAlive), { what: 'the processes are reaped' })
  expect(labLeftovers({ prefix, folder, pids })).toEqual([])
  expect(sockets.filter(existsSync)).toEqual([])
})

/** Shim sockets that this process has open. Other sockets are left out, because the whole machine shares the folder. */
function shimSockets(pid: number): string[] {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)))
  return readFileSync(`/proc/${pid}/net/unix`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/ +/))
    .filter(([, , , , , , inode]) => open.has(`socket:[${inode}]`))
    .flatMap(([, , , , , , , path]) => (path?.startsWith('/run/containerd/s/') ? [path] : []))
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
