// `holdfast rollout undo`: stores an earlier revision again, as a new revision.

import type { Client, Result } from '@holdfast/client'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../args/deployment-argument.ts'
import { POSITIVE_NUMBER } from '../../args/forms.ts'
import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT } from '../../exit-codes.ts'
import { followWritten } from '../../follow/follow-written.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'
import { waitOptions } from '../apply.ts'

export const rolloutUndo: OnlineCommand = {
  name: 'rollout undo',
  aliases: ['rollback'],
  summary: 'roll a deployment back to an earlier revision',
  details: 'The archived manifest is validated like any other and becomes a new revision.',
  args: [DEPLOYMENT_ARGUMENT],
  options: [
    {
      flags: '--to-revision <number>',
      summary: 'revision to return to (default: the previous one)',
      form: POSITIVE_NUMBER,
    },
    DRY_RUN_OPTION,
    ...waitOptions(),
  ],
  examples: [
    ['holdfast rollout undo web', 'Reverts the last change.'],
    ['holdfast rollout undo web --to-revision 3 --wait', 'Returns to revision 3 and waits until it runs.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, text } = invocation
    const name = deploymentName(args[0])
    const target = await targetOf(client, name, text('to-revision'))
    if (!target.ok) return printFailure(terminal, target.failure)
    if (target.value === undefined) {
      printError(terminal, `${name} has no earlier stored revision`)
      return EXIT.notFound
    }
    const { revision, etag } = target.value
    if (invocation.flag('dry-run')) {
      const planned = await client.dryRuns.rollBack(name, revision, { ifMatch: etag })
      return printPlanned(
        terminal,
        `deployment/${name}`,
        `rolled back to revision ${revision}`,
        planned,
        name,
      )
    }
    const done = await client.deployments.rollBack(name, revision, { ifMatch: etag })
    if (!done.ok) return printFailure(terminal, done.failure)
    print(
      terminal,
      `deployment/${name} rolled back to revision ${revision}, as revision ${done.value.deployment.revision}`,
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
  const archived = await readAll((page) => client.deployments.archived(name, page))
  if (!archived.ok) return archived
  const before = archived.value.findLast(({ revision }) => revision < current.value.revision)
  return { ok: true, value: before === undefined ? undefined : { revision: before.revision, etag } }
}
