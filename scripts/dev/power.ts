// The plug of each machine of the development platform, and the configuration of its agent. The machines are the keeper's
// children, so the keeper is asked, by a socket in the folder that its owner alone may enter.

import { chmodSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import type { LabNode } from '@holdfast/testkit'
import type { DevFolder } from './dev-folder.ts'
import type { DevMachines } from './start-nodes.ts'

/** Engine, router and agent are up again well before this. */
const DEADLINE_MS = 60_000
const USAGE = 'npm run dev:node -- off NODE | on NODE | label NODE KEY=VALUE...'

/** In the keeper; orders are carried out one after the other. */
export function obeyPowerOrders({ powerSocket }: DevFolder, { lab, agents }: DevMachines): void {
  const off = new Set<LabNode>()
  let last: Promise<unknown> = Promise.resolve()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    last = last
      .then(async () => obey({ lab, agents, off }, (await text(socket)).split(' ')))
      .catch((error: unknown) => undone(`It did not work: ${messageOf(error)}`))
      .then((answer) => socket.end(JSON.stringify(answer)))
  })
  server.listen(powerSocket, () => chmodSync(powerSocket, 0o600))
}

/** What became of an order, for whoever gave it. */
interface Answer {
  readonly done: boolean
  readonly text: string
}

const done = (words: string): Answer => ({ done: true, text: words })
const undone = (words: string): Answer => ({ done: false, text: words })
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface Machines extends DevMachines {
  readonly off: Set<LabNode>
}

async function obey(machines: Machines, [order, name, ...rest]: string[]): Promise<Answer> {
  const { nodes } = machines.lab
  const node = nodes.find((each) => each.name === name)
  if (node === undefined) return undone(`The nodes are ${nodes.map((each) => each.name).join(', ')}.`)
  if (order === 'label') return configure(machines, node, rest)
  const isPower = (order === 'off' || order === 'on') && rest.length === 0
  return isPower ? done(await switchPower(machines, node, order)) : undone(USAGE)
}

/** Its agent is started again and advertises these, and no others. */
async function configure({ lab, agents, off }: Machines, node: LabNode, words: string[]): Promise<Answer> {
  const pairs = words.map((word): [string, string] => {
    const at = word.indexOf('=')
    return at > 0 ? [word.slice(0, at), word.slice(at + 1)] : ['', word]
  })
  if (pairs.length === 0 || pairs.some(([key]) => key === '')) return undone(USAGE)
  agents.configure(node, Object.fromEntries(pairs))
  if (off.has(node)) return done(`${node.name} is off: its agent advertises them when it is on again.`)
  await lab.restartAgent(node)
  return done(`The agent of ${node.name} was started again with ${words.join(' ')}.`)
}

async function switchPower({ lab, off }: Machines, node: LabNode, order: 'off' | 'on'): Promise<string> {
  if ((order === 'off') === off.has(node)) return `${node.name} is ${order} already.`
  if (order === 'off') {
    await lab.powerOff(node)
    off.add(node)
  } else {
    await lab.powerOn(node)
    off.delete(node)
  }
  return `${node.name} is ${order}.`
}

/** Asks the keeper; what it answers. */
export async function orderPower({ powerSocket }: DevFolder, words: readonly string[]): Promise<Answer> {
  if (words.length < 2) return undone(USAGE)
  const socket = connect(powerSocket)
  socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error('no answer in time')))
  socket.end(words.join(' '))
  try {
    return JSON.parse(await text(socket))
  } catch (error) {
    return undone(`No platform with nodes is up: npm run dev:up, as root, starts one (${messageOf(error)}).`)
  }
}
