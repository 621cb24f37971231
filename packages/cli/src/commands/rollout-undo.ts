// An earlier revision is stored again, as a new one.

import type { Client, Result } from '@holdfast/client'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import { POSITIVE_NUMBER } from '../args/forms.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { followWritten } from '../follow/follow-written.ts'
import { printError, printFailure } from '../print/failure.ts'
import { print } from '../terminal/terminal.ts'
import { waitOptions } from './apply.ts'

export const rolloutUndo: OnlineCommand = {
  name: 'rollout undo',
  summary: 'go back to an earlier revision of a deployment',
  details: 'The archived manifest is admitted like any other and becomes a new revision.',
  args: [DEPLOYMENT_ARGUMENT],
  options: [
    {
      flags: '--to-revision <number>',
      summary: 'which one (default: the one before)',
      form: POSITIVE_NUMBER,
    },
    ...waitOptions(),
  ],
  examples: [
    ['holdfast rollout undo web', 'What it was before the last change.'],
    ['holdfast rollout undo web --to-revision 3 --wait', 'The third, and waits until it runs.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, text } = invocation
    const name = deploymentName(args[0])
    const target = await targetOf(client, name, text('to-revision'))
    if (!target.ok) return printFailure(terminal, target.failure)
    if (target.value === undefined) {
      printError(terminal, `no revision of ${name} before the current one is kept`)
      return EXIT.notFound
    }
    const { revision, etag } = target.value
    const done = await client.deployments.rollBack(name, revision, { ifMatch: etag })
    if (!done.ok) return printFailure(terminal, done.failure)
    print(
      terminal,
      `deployment/${name} back to revision ${revision}, as revision ${done.value.deployment.revision}`,
    )
    return followWritten(invocation, client, done.value)
  },
}

interface Target {
  readonly revision: number
  readonly etag: string
}

async function targetOf(
  client: Client,
  name: string,
  typed: string | undefined,
): Promise<Result<Target | undefined>> {
  const current = await client.deployments.read(name)
  if (!current.ok) return current
  const etag = String(current.value.revision)
  if (typed !== undefined) return { ok: true, value: { revision: Number(typed), etag } }
  const { readAll } = await import('@holdfast/client')
  const kept = await readAll((page) => client.deployments.archived(name, page))
  if (!kept.ok) return kept
  const before = kept.value.findLast(({ revision }) => revision < current.value.revision)
  return { ok: true, value: before === undefined ? undefined : { revision: before.revision, etag } }
}
