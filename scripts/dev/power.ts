// Powers machines of the development platform off and on, and restarts their agents with other labels. The machines are
// children of the platform's parent process (keeper), which receives the commands over a private socket.

import { chmodSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import type { LabNode } from '@holdfast/testkit'
import type { DevFolder } from './dev-folder.ts'
import type { DevMachines } from './start-nodes.ts'

/** Deadline of a power command; longer than the start of engine, Caddy and agent. */
const DEADLINE_MS = 60_000
const USAGE = 'npm run dev:node -- off NODE | on NODE | label NODE KEY=VALUE...'

/** Executes power commands one after the other; runs in the platform's parent process (keeper). */
export function servePowerCommands({ powerSocket }: DevFolder, { lab, agents }: DevMachines): void {
  const off = new Set<LabNode>()
  let last: Promise<unknown> = Promise.resolve()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    last = last
      .then(async () => execute({ lab, agents, off }, (await text(socket)).split(' ')))
      .catch((error: unknown) => failed(`The command failed: ${messageOf(error)}`))
      .then((result) => socket.end(JSON.stringify(result)))
  })
  server.listen(powerSocket, () => chmodSync(powerSocket, 0o600))
}

/** The result of a power command. */
interface PowerResult {
  readonly done: boolean
  readonly text: string
}

const done = (words: string): PowerResult => ({ done: true, text: words })
const failed = (words: string): PowerResult => ({ done: false, text: words })
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface Machines extends DevMachines {
  readonly off: Set<LabNode>
}

async function execute(machines: Machines, [command, name, ...others]: string[]): Promise<PowerResult> {
  const { nodes } = machines.lab
  const node = nodes.find((each) => each.name === name)
  if (node === undefined) return failed(`The nodes are ${nodes.map((each) => each.name).join(', ')}.`)
  if (command === 'label') return configure(machines, node, others)
  const isPower = (command === 'off' || command === 'on') && others.length === 0
  return isPower ? done(await switchPower(machines, node, command)) : failed(USAGE)
}

/** Restarts the agent of a node with exactly these labels. */
async function configure(
  { lab, agents, off }: Machines,
  node: LabNode,
  words: string[],
): Promise<PowerResult> {
  const pairs = words.map((word): [string, string] => {
    const at = word.indexOf('=')
    return at > 0 ? [word.slice(0, at), word.slice(at + 1)] : ['', word]
  })
  if (pairs.length === 0 || pairs.some(([key]) => key === '')) return failed(USAGE)
  agents.configure(node, Object.fromEntries(pairs))
  if (off.has(node)) return done(`${node.name} is off; its agent will use these labels when it is on again.`)
  await lab.restartAgent(node)
  return done(`The agent of ${node.name} was restarted with ${words.join(' ')}.`)
}

async function switchPower({ lab, off }: Machines, node: LabNode, target: 'off' | 'on'): Promise<string> {
  if ((target === 'off') === off.has(node)) return `${node.name} is ${target} already.`
  if (target === 'off') {
    await lab.powerOff(node)
    off.add(node)
  } else {
    await lab.powerOn(node)
    off.delete(node)
  }
  return `${node.name} is ${target}.`
}

/** Sends a power command to the platform's parent process (keeper) and returns the result. */
export async function sendPowerCommand(
  { powerSocket }: DevFolder,
  words: readonly string[],
): Promise<PowerResult> {
  if (words.length < 2) return failed(USAGE)
  const socket = connect(powerSocket)
  socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error('no response in time')))
  socket.end(words.join(' '))
  try {
    return JSON.parse(await text(socket))
  } catch (error) {
    return failed(
      `No platform with nodes is running; start one as root with npm run dev:up (${messageOf(error)}).`,
    )
  }
}
