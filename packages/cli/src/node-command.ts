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

/** A change of a node, and its dry run. */
export interface NodeChange {
  change(node: Node): Promise<Result<Node>>
  plan(node: Node): ReturnType<Client['dryRuns']['changeNode']>
}

const PLANNED: { readonly [outcome: string]: string } = { draining: 'drained', 'being removed': 'removed' }

export async function changeNode(
  { terminal, args: [typed = ''], flag }: Invocation,
  client: Client,
  outcome: string,
  { change, plan }: NodeChange,
): Promise<ExitCode> {
  const { findNode } = await import('./resources/find-node.ts')
  const found = await findNode(client, typed.replace(/^node\//, ''))
  if (found.ok && flag('dry-run')) {
    const { printPlanned } = await import('./dry-run.ts')
    return printPlanned(
      terminal,
      `node/${found.value.name}`,
      PLANNED[outcome] ?? outcome,
      await plan(found.value),
    )
  }
  const changed = found.ok ? await change(found.value) : found
  if (!changed.ok) return printFailure(terminal, changed.failure)
  print(terminal, `node/${changed.value.name} ${outcome}`)
  return EXIT.ok
}
