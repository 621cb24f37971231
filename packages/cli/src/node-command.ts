// Shared code of the commands that change one node: find the node by name or id, change it, print one line.

import type { Client, Result } from '@holdfast/client'
import type { Node } from '@holdfast/contract'
import type { ArgumentSpec, Invocation } from './command.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { printFailure } from './print/failure.ts'
import { print } from './terminal/terminal.ts'

export const NODE_ARGUMENT: ArgumentSpec = {
  name: 'node',
  summary: 'name or id of the node',
  completes: 'nodes',
}

export async function changeNode(
  { terminal, args: [typed = ''] }: Invocation,
  client: Client,
  outcome: string,
  change: (node: Node) => Promise<Result<Node>>,
): Promise<ExitCode> {
  const { findNode } = await import('./resources/find-node.ts')
  const found = await findNode(client, typed.replace(/^node\//, ''))
  const changed = found.ok ? await change(found.value) : found
  if (!changed.ok) return printFailure(terminal, changed.failure)
  print(terminal, `node/${changed.value.name} ${outcome}`)
  return EXIT.ok
}
