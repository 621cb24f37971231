// The plug of each machine of the development platform. The machines are the keeper's children, so the keeper is asked, by
// a socket in the folder that its owner alone may enter.

import { chmodSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Lab, LabNode } from '@holdfast/testkit'
import type { DevFolder } from './dev-folder.ts'

/** Engine, router and agent are up again well before this. */
const DEADLINE_MS = 60_000
const USAGE = 'npm run dev:node -- off NODE | on NODE'

/** In the keeper; orders are carried out one after the other. */
export function obeyPowerOrders({ powerSocket }: DevFolder, lab: Lab): void {
  const off = new Set<LabNode>()
  let last: Promise<unknown> = Promise.resolve()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    last = last
      .then(async () => switchPower(lab, off, (await text(socket)).split(' ')))
      .catch((error: unknown) => `It did not work: ${error instanceof Error ? error.message : String(error)}`)
      .then((answer) => socket.end(answer))
  })
  server.listen(powerSocket, () => chmodSync(powerSocket, 0o600))
}

async function switchPower(lab: Lab, off: Set<LabNode>, [order, name]: string[]): Promise<string> {
  const node = lab.nodes.find((each) => each.name === name)
  if (node === undefined) return `The nodes are ${lab.nodes.map((each) => each.name).join(', ')}.`
  if (order !== 'off' && order !== 'on') return USAGE
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
export async function orderPower({ powerSocket }: DevFolder, words: readonly string[]): Promise<string> {
  if (words.length !== 2) return USAGE
  const socket = connect(powerSocket)
  socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error('no answer in time')))
  socket.end(words.join(' '))
  try {
    return await text(socket)
  } catch (error) {
    return `No platform with nodes is up (${error instanceof Error ? error.message : String(error)}).`
  }
}
